//! Progress of a count, on stderr.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::super::output::say;
use super::super::progress::{LINE_INTERVAL, terminal_columns};
use crate::text::fitted;
use crate::text::numbers::{short, time};

/// Progress of a sequence, on stderr: a moving line on a terminal, otherwise an occasional line.
pub(super) struct SequenceProgress {
    sequence: String,
    bar: Option<ProgressBar>,
    last_line: Instant,
    pass: u32,
    pass_start: Instant,
}

impl SequenceProgress {
    /// Shows the sequence as in progress, in its first pass.
    pub fn new(sequence: &str) -> SequenceProgress {
        let now = Instant::now();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.with_style(ProgressStyle::with_template("{msg}").expect("a template"))
        });
        SequenceProgress { sequence: sequence.to_owned(), bar, last_line: now, pass: 1, pass_start: now }
    }

    /// Shows the counted leaves, and the share of the pass that is done. Redraws only after an interval.
    pub fn show(&mut self, leaves: u64, pass: u32, share: f64) {
        let interval = if self.bar.is_some() { Duration::from_millis(200) } else { LINE_INTERVAL };
        if pass != self.pass {
            (self.pass, self.pass_start) = (pass, Instant::now());
        }
        if self.last_line.elapsed() < interval {
            return;
        }
        self.last_line = Instant::now();
        let took = self.pass_start.elapsed().as_secs_f64();
        // Clamped, so that a count that would take years shows years instead of failing.
        let left = (took * (1.0 - share) / share.max(1e-9)).clamp(0.0, 1e12);
        let pass = if self.pass == 1 { String::new() } else { format!(", pass {}", self.pass) };
        let parts = [
            format!("{}{pass}: {:.1} %", self.sequence, share * 100.0),
            format!("about {} left", time(Duration::from_secs_f64(left))),
            format!("{} leaves", short(leaves as f64)),
        ];
        match &self.bar {
            Some(bar) => bar.set_message(fitted(&parts, terminal_columns().saturating_sub(1))),
            None => say(fitted(&parts, usize::MAX)),
        }
    }
}

impl Drop for SequenceProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
