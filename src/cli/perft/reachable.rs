//! `tetrion perft --rules guideline`: placements with kicks, those of the last piece counted as bits.

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};

use super::super::interrupt::{INTERRUPTED, Interrupt};
use super::super::numbers::grouped;
use super::super::options::{Size, UsageError};
use super::super::output::{print, say};
use super::super::rules::RulesArgs;
use super::display::Display;
use crate::engine::reachable::perft::{Count, perft};
use crate::engine::{Movement, Playfield, Tetromino};

/// The name of these rules.
const RULES: &str = "guideline";
/// The rows of its playfield, those above the visible ones included.
const ROWS: u8 = 40;

/// Whether the rules are these.
pub(super) fn is_asked_for(rules: &RulesArgs) -> bool {
    rules.rules.as_deref() == Some(RULES)
}

/// Counts, and prints a row for each sequence, or JSON.
pub(super) fn run(
    rules: &RulesArgs,
    size: Size,
    json: bool,
    sequences: &[(String, Vec<Tetromino>)],
) -> anyhow::Result<ExitCode> {
    if *rules != (RulesArgs { rules: rules.rules.clone(), ..RulesArgs::default() }) {
        return Err(UsageError(format!("--rules {RULES} takes no other flags for the rules")).into());
    }
    if (size.width, size.height) != (10, 20) {
        let problem = format!("--size {size}: --rules {RULES} has 10x20, and {ROWS} rows in all");
        return Err(UsageError(problem).into());
    }
    let start = Playfield::empty(10, ROWS);
    let interrupt = Interrupt::watch()?;
    let mut objects = Vec::new();
    if !json {
        print(&format!("size   sequence  {:>14} {:>13} {:>13}\n", "leaves", "positions", "leaves/s"))?;
    }
    for (sequence, pieces) in sequences {
        let began = Instant::now();
        let mut display = Display::new(sequence);
        let mut stopped = None;
        let Count { leaves, positions } = perft(&Movement::default(), &start, pieces, &mut |progress| {
            display.show(progress.counted.leaves, 1, progress.share);
            if interrupt.is_pressed() {
                stopped = Some(progress);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        drop(display);
        if let Some(progress) = stopped {
            say(format_args!(
                "stopped at {:.1} % of {sequence}: so far {} leaves",
                progress.share * 100.0,
                grouped(leaves as f64)
            ));
            if json {
                print(&format!("{}\n", Value::from(objects)))?;
            }
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let seconds = began.elapsed().as_secs_f64();
        let rate = leaves as f64 / seconds;
        if json {
            objects.push(json!({
                "rules": RULES,
                "width": 10,
                "height": 20,
                "sequence": sequence,
                "leaves": leaves,
                "positions": positions,
                "seconds": seconds,
                "leaves_per_second": rate,
            }));
        } else {
            print(&format!("10x20  {sequence:<9} {leaves:>14} {positions:>13} {rate:>13.0}\n"))?;
        }
    }
    if json {
        print(&format!("{}\n", Value::from(objects)))?;
    }
    Ok(ExitCode::SUCCESS)
}
