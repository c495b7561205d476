//! `tetrion perft`: counts all ways to place a sequence of pieces, without a server.

mod display;
mod reachable;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};

use super::interrupt::{INTERRUPTED, Interrupt};
use super::options::Size;
use super::output::{print, say};
use super::rules::{RulesArgs, rules_by_default};
use crate::input::UsageError;
use crate::text::numbers::{count, grouped, short};
use crate::trainer::rules::changes;
use display::SequenceProgress;
use tetrion_client::RulesChoice;
use tetrion_core::engine::perft::MAX_PIECES;
use tetrion_core::engine::{Perft, Piece, PieceSet, Rules, SpinRule, perft};
use tetrion_protocol::DecodeError;
use tetrion_protocol::rules::ResolvedRules;

/// The options of `tetrion perft`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("rules", |arg| rules_by_default(arg, "simplified, without spins, and under reach moves with pieces that appear in the highest visible row")),
)]
pub struct PerftArgs {
    /// Sequences of pieces such as IOTS; each further piece takes about 23 times the work
    #[arg(required = true, value_name = "SEQUENCE")]
    pub sequences: Vec<String>,

    #[command(flatten)]
    pub rules: RulesArgs,

    /// Count only the first N pieces of each sequence
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_PIECES as i64))]
    pub depth: Option<u32>,

    /// Memory for comparing playfields, in MiB. Less memory takes more passes and gives the same counts
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub memory: u32,

    /// Skip the count of distinct playfields, which needs the memory and the passes
    #[arg(long)]
    pub no_distinct: bool,

    /// Print a JSON array with one object per sequence
    #[arg(long)]
    pub json: bool,
}

/// Counts, and prints one row per sequence.
///
/// # Errors
/// If the rules cannot be played, or a sequence has unknown letters or too many.
pub fn run(args: PerftArgs) -> anyhow::Result<ExitCode> {
    let ResolvedRules { preset, rules } = rules(&args)?;
    if rules.garbage.is_some() {
        let problem =
            "perft cannot count games with random garbage; remove garbage.lines_per_piece from --rules";
        return Err(UsageError(problem.to_owned()).into());
    }
    let sequences: Vec<(String, Vec<Piece>)> = args
        .sequences
        .iter()
        .map(|sequence| pieces(&rules.pieces, sequence, args.depth))
        .collect::<Result<_, _>>()?;
    if rules.names_spots() {
        return reachable::run(preset, &rules, args.json, &sequences);
    }
    let distinct_bytes = (!args.no_distinct).then_some((args.memory as usize) << 20);
    let interrupt = Interrupt::watch()?;
    let mut objects = Vec::new();
    if !args.json {
        print(&format!(
            "size   sequence {:>11} {:>9} {:>9} {:>10} {:>11} {:>9}\n",
            "leaves", "distinct", "lines", "holes", "placements", "pieces/s"
        ))?;
    }
    let mut stopped = false;
    for (sequence, pieces) in &sequences {
        let start = Instant::now();
        let mut display = SequenceProgress::new(sequence);
        let mut share = 0.0;
        let count = perft(&rules, pieces, distinct_bytes, &mut |progress| {
            share = progress.share;
            stopped = interrupt.is_pressed();
            display.show(progress.counted.leaves, progress.counted.passes, progress.share);
            if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        drop(display);
        if stopped {
            say(format_args!("stopped at {}", words(sequence, &count, share)));
            break;
        }
        let seconds = start.elapsed().as_secs_f64();
        let row = CountedSequence { sequence, count, seconds };
        if args.json {
            objects.push(row.to_json(preset, &rules));
        } else {
            print(&row.to_text(&rules))?;
        }
    }
    if args.json {
        print(&format!("{}\n", Value::from(objects)))?;
    }
    Ok(if stopped { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

fn rules(args: &PerftArgs) -> Result<ResolvedRules, UsageError> {
    let mut rules = args.rules.choice(RulesChoice::default());
    let mut resolved = ResolvedRules::try_from(&rules);
    if let Ok(known) = &resolved
        && known.rules.names_spots()
    {
        // Count like other programs: by cells only, with pieces that appear in a fixed row.
        let highest = u32::from(known.rules.visible_rows() - 1);
        let others = RulesChoice::default().with("spin_rule", SpinRule::None);
        let others =
            others.and_then(|others| others.with("spawn_row", highest)).expect("fields of the rules");
        rules.changes = rules.changes.or(&others.changes);
        resolved = ResolvedRules::try_from(&rules);
    }
    resolved.map_err(|error| match &error {
        DecodeError::Invalid { field, problem, .. } if ["", "preset"].contains(&field.as_str()) => {
            UsageError(problem.clone())
        }
        _ => UsageError(error.to_string()),
    })
}

/// The pieces of a sequence to count, with their letters.
fn pieces(set: &PieceSet, sequence: &str, depth: Option<u32>) -> Result<(String, Vec<Piece>), UsageError> {
    let mut pieces =
        set.parse_sequence(sequence).map_err(|error| UsageError(format!("{sequence:?}: {error}")))?;
    if pieces.len() > MAX_PIECES {
        let problem = format!("a sequence has {} pieces, expected at most {MAX_PIECES}", pieces.len());
        return Err(UsageError(problem));
    }
    let Some(depth) = depth.map(|depth| depth as usize) else { return Ok((sequence.to_owned(), pieces)) };
    if depth > pieces.len() {
        let problem = format!("--depth {depth}: {sequence:?} has {}", count(pieces.len() as u64, "piece"));
        return Err(UsageError(problem));
    }
    pieces.truncate(depth);
    Ok((set.written(&pieces), pieces))
}

/// A sequence with its counts and the time that they took.
struct CountedSequence<'a> {
    sequence: &'a str,
    count: Perft,
    seconds: f64,
}

impl CountedSequence<'_> {
    /// Placements per second, including those that later passes repeat.
    fn placements_per_second(&self) -> f64 {
        self.count.placements as f64 * f64::from(self.count.passes) / self.seconds
    }

    fn to_text(&self, &Rules { width, height, .. }: &Rules) -> String {
        let size = Size { width, height };
        let Perft { leaves, distinct, lines, holes, placements, .. } = self.count;
        let distinct = distinct.map_or("-".to_owned(), |distinct| distinct.to_string());
        format!(
            "{:<6} {:<8} {leaves:>11} {distinct:>9} {lines:>9} {holes:>10} {placements:>11} {:>9}\n",
            size.to_string(),
            self.sequence,
            short(self.placements_per_second())
        )
    }

    fn to_json(&self, preset: &str, rules: &Rules) -> Value {
        json!({
            "rules": preset,
            "rules_changes": changes(preset, rules),
            "width": rules.width,
            "height": rules.height,
            "sequence": self.sequence,
            "leaves": self.count.leaves,
            "distinct": self.count.distinct,
            "lines": self.count.lines,
            "holes": self.count.holes,
            "placements": self.count.placements,
            "passes": self.count.passes,
            "seconds": self.seconds,
            "placements_per_second": self.placements_per_second(),
        })
    }
}

/// Progress of a sequence and its counts so far, as text.
fn words(sequence: &str, counted: &Perft, share: f64) -> String {
    let pass = match counted.passes {
        1 => String::new(),
        pass => format!(" of pass {pass}, for more of the distinct playfields"),
    };
    format!(
        "{:.1} % of {sequence}{pass}: so far {} leaves, {}, {}, {}",
        share * 100.0,
        grouped(counted.leaves as f64),
        count(counted.lines, "line"),
        count(counted.holes, "hole"),
        count(counted.placements, "placement"),
    )
}
