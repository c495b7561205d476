//! `tetrion perft` under rules with kicks: counts reachable placements, with bit operations for the last piece.
//!
//! By default it counts like other programs: without hold, a game ends only when a piece is blocked, placements with
//! equal cells count once, and pieces appear in a fixed row. Flags can distinguish spins, or let a blocked piece appear
//! one row higher.

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};

use super::super::interrupt::{INTERRUPTED, Interrupt};
use super::super::options::Size;
use super::super::output::{print, say};
use super::display::SequenceProgress;
use crate::text::numbers::grouped;
use crate::trainer::rules::changes;
use tetrion_core::engine::reachable::perft::{Count, perft};
use tetrion_core::engine::{Movement, Playfield, Rules, Tetromino};

/// Counts, and prints one row per sequence, or JSON.
pub(super) fn run(
    preset: &str,
    rules: &Rules,
    json: bool,
    sequences: &[(String, Vec<Tetromino>)],
) -> anyhow::Result<ExitCode> {
    let start = Playfield::empty(rules.width, rules.height);
    let size = Size { width: rules.width, height: rules.visible_rows() };
    let interrupt = Interrupt::watch()?;
    let mut objects = Vec::new();
    if !json {
        print(&format!("size   sequence  {:>14} {:>13} {:>13}\n", "leaves", "positions", "leaves/s"))?;
    }
    for (sequence, pieces) in sequences {
        let began = Instant::now();
        let mut display = SequenceProgress::new(sequence);
        let mut stopped = None;
        let Count { leaves, positions } = perft(&Movement::of(rules), &start, pieces, &mut |progress| {
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
                "rules": preset,
                "rules_changes": changes(preset, rules),
                "width": rules.width,
                "height": rules.height,
                "rows_above": rules.rows_above,
                "sequence": sequence,
                "leaves": leaves,
                "positions": positions,
                "seconds": seconds,
                "leaves_per_second": rate,
            }));
        } else {
            let size = size.to_string();
            print(&format!("{size:<6} {sequence:<9} {leaves:>14} {positions:>13} {rate:>13.0}\n"))?;
        }
    }
    if json {
        print(&format!("{}\n", Value::from(objects)))?;
    }
    Ok(ExitCode::SUCCESS)
}
