//! `tetrion optimum`: computes the exact values of a small playfield, and writes them to a file.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use serde_json::json;

use super::options::{Size, check_writable};
use super::output::print;
use super::progress::WorkProgress;
use crate::input::UsageError;
use crate::text::numbers::{grouped, time};
use tetrion_core::engine::Rules;
use tetrion_core::pool::{MAX_THREADS, Pool};
use tetrion_toolkit::files;
use tetrion_toolkit::optimum::{MAX_AFTERSTATES, OptimumError, Pick, Process};

/// The options of `tetrion optimum`.
#[derive(Debug, clap::Args)]
pub struct OptimumArgs {
    /// Columns and rows of the playfield, such as 5x5
    #[arg(value_name = "SIZE", value_parser = size)]
    pub size: Size,

    /// File for the values, which --values loads
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Threads that compute, at most 512; 0 for one per core. The number does not change the values
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=MAX_THREADS as i64))]
    pub threads: u32,

    /// Most afterstates; each takes about 40 bytes of memory
    #[arg(long, value_name = "N", default_value_t = MAX_AFTERSTATES as u32, value_parser = clap::value_parser!(u32).range(1..=MAX_AFTERSTATES as i64))]
    pub max_afterstates: u32,

    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
}

/// Solves, writes the file and prints a line.
///
/// # Errors
/// If the playfield cannot be solved, or the file cannot be written.
pub fn run(args: &OptimumArgs) -> anyhow::Result<ExitCode> {
    let Size { width, height } = args.size;
    if let Some(path) = &args.out {
        check_writable(path)?;
    }
    let start = Instant::now();
    let mut progress = WorkProgress::new(&format!("optimum {}", args.size));
    let rules = Rules::simplified(width, height);
    let process = Process::of_every_placement(&rules, args.max_afterstates as usize, |found| {
        progress.show(&[format!("{} afterstates found", grouped(found as f64))]);
    });
    let process = process.map_err(|error| match error {
        OptimumError::Rules(_) | OptimumError::Cells { .. } => UsageError(error.to_string()).into(),
        error => anyhow::Error::from(error),
    })?;
    let pool = Pool::new(args.threads as usize)?;
    let solution = process.solve(Pick::Best, &pool, |now| {
        progress.show(&[format!("sweep {}", now.number), format!("known to {:.0e} lines", now.error)]);
    });
    drop(progress);
    let (value, sweeps, seconds) = (solution.of_game(), solution.sweeps(), start.elapsed());
    let afterstates = process.num_afterstates();
    if let Some(path) = &args.out {
        let values = solution.into_values();
        let written = files::write_with(path, |file| values.write(file));
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    let text = if args.json {
        let object = json!({
            "width": width,
            "height": height,
            "lines": value.lines,
            "low": value.low,
            "high": value.high,
            "afterstates": afterstates,
            "sweeps": sweeps,
            "seconds": seconds.as_secs_f64(),
        });
        format!("{object}\n")
    } else {
        format!(
            "{}: {:.9} lines per game, known to {:.0e}; {} afterstates, {sweeps} sweeps, {}\n",
            args.size,
            value.lines,
            value.high - value.lines,
            grouped(afterstates as f64),
            time(seconds)
        )
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a size such as `5x5`.
fn size(text: &str) -> Result<Size, String> {
    let sides = text
        .split_once('x')
        .and_then(|(width, height)| Some(Size { width: width.parse().ok()?, height: height.parse().ok()? }));
    sides.ok_or_else(|| "expected columns x rows, such as 5x5".to_owned())
}
