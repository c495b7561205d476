//! `tetrion perft`: all ways of placing a sequence of pieces, counted. It needs no server.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use serde_json::json;

use super::args::Size;
use crate::engine::{PRESETS, Rules, parse_sequence, perft};

/// The options of `tetrion perft`.
#[derive(Debug, clap::Args)]
pub struct PerftArgs {
    /// The sequences of pieces, such as IOTS; each one more makes about 23 times the work
    #[arg(required = true, value_name = "SEQUENCE")]
    pub sequences: Vec<String>,

    /// The playfield, columns x rows
    #[arg(long, default_value = "10x20")]
    pub size: Size,

    /// The rules preset
    #[arg(long, value_name = "PRESET", default_value = PRESETS[0].name)]
    pub rules: String,

    /// Print a JSON array with an object for each sequence
    #[arg(long)]
    pub json: bool,
}

/// Counts, and prints a row for each sequence.
///
/// # Errors
/// If the rules cannot be played, or a sequence has other letters than IOTZSJL.
pub fn run(args: PerftArgs) -> anyhow::Result<ExitCode> {
    let preset =
        Rules::preset(&args.rules).with_context(|| format!("there are no rules named {}", args.rules))?;
    let rules = Rules { width: args.size.width, height: args.size.height, ..preset };
    rules.check()?;
    let mut stdout = std::io::stdout().lock();
    let mut objects = Vec::new();
    if !args.json {
        writeln!(
            stdout,
            "size   sequence  {:>11} {:>10} {:>10} {:>11} {:>12} {:>12}",
            "leaves", "distinct", "lines", "holes", "placements", "placements/s"
        )?;
    }
    for sequence in &args.sequences {
        let pieces = parse_sequence(sequence)?;
        let start = Instant::now();
        let count = perft(&rules, &pieces);
        let seconds = start.elapsed().as_secs_f64();
        let rate = count.placements as f64 / seconds;
        if args.json {
            objects.push(json!({
                "rules": args.rules,
                "width": rules.width,
                "height": rules.height,
                "sequence": sequence,
                "leaves": count.leaves,
                "distinct": count.distinct,
                "lines": count.lines,
                "holes": count.holes,
                "placements": count.placements,
                "seconds": seconds,
                "placements_per_second": rate,
            }));
        } else {
            writeln!(
                stdout,
                "{:<6} {sequence:<9} {:>11} {:>10} {:>10} {:>11} {:>12} {rate:>12.0}",
                args.size.to_string(),
                count.leaves,
                count.distinct,
                count.lines,
                count.holes,
                count.placements
            )?;
        }
    }
    if args.json {
        writeln!(stdout, "{}", serde_json::Value::from(objects))?;
    }
    Ok(ExitCode::SUCCESS)
}
