//! Progress of the measurements: a bar on a terminal, one line per group elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::error::BenchError;
use crate::text::numbers::time;

/// Progress on stderr through the groups and their estimated times.
pub struct BenchProgress<'a> {
    bar: Option<ProgressBar>,
    say: fn(String),
    is_interrupted: &'a dyn Fn() -> bool,
    /// Name and estimated time of each group.
    groups: Vec<(&'static str, Duration)>,
    /// Number of groups that have begun.
    begun: usize,
    /// Time spent in the current group.
    inside: Duration,
}

impl<'a> BenchProgress<'a> {
    /// Starts before the first group.
    pub fn new(
        groups: Vec<(&'static str, Duration)>,
        say: fn(String),
        is_interrupted: &'a dyn Fn() -> bool,
    ) -> BenchProgress<'a> {
        let total: Duration = groups.iter().map(|(_, estimate)| estimate).sum();
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {msg}").expect("a template");
            let bar = ProgressBar::new(total.as_millis() as u64).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        BenchProgress { bar, say, is_interrupted, groups, begun: 0, inside: Duration::ZERO }
    }

    /// Starts the next group. Prints its line if stderr is no terminal.
    pub fn begin(&mut self) {
        self.begun += 1;
        self.inside = Duration::ZERO;
        if self.bar.is_none() {
            (self.say)(self.words());
        }
        self.show();
    }

    /// Adds this time to the current group.
    ///
    /// # Errors
    /// [`BenchError::Interrupted`] after Ctrl-C.
    pub fn advance(&mut self, took: Duration) -> Result<(), BenchError> {
        let (_, estimate) = self.groups[self.begun - 1];
        self.inside = (self.inside + took).min(estimate);
        self.show();
        if (self.is_interrupted)() { Err(BenchError::Interrupted) } else { Ok(()) }
    }

    fn show(&self) {
        if let Some(bar) = &self.bar {
            bar.set_position((self.sum(0..self.begun - 1) + self.inside).as_millis() as u64);
            bar.set_message(self.words());
        }
    }

    fn words(&self) -> String {
        let left = self.sum(self.begun - 1..self.groups.len()) - self.inside;
        let (name, _) = self.groups[self.begun - 1];
        format!("{name} ({} of {}), about {} left", self.begun, self.groups.len(), time(left))
    }

    fn sum(&self, range: std::ops::Range<usize>) -> Duration {
        self.groups[range].iter().map(|(_, estimate)| estimate).sum()
    }
}

impl Drop for BenchProgress<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
