//! How far the measuring is: a bar on a terminal, a line for each group elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::interrupt::{Interrupt, Interrupted};
use crate::cli::output::say;
use crate::text::numbers::time;

/// The groups to measure, and how long they are expected to take. On stderr.
#[derive(Debug)]
pub struct BenchProgress {
    bar: Option<ProgressBar>,
    interrupt: Interrupt,
    /// Name and estimate of each.
    groups: Vec<(&'static str, Duration)>,
    /// Groups begun.
    begun: usize,
    /// How far into the group that was begun last.
    inside: Duration,
}

impl BenchProgress {
    /// Nothing has been measured yet.
    pub fn new(groups: Vec<(&'static str, Duration)>, interrupt: Interrupt) -> BenchProgress {
        let total: Duration = groups.iter().map(|(_, estimate)| estimate).sum();
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {msg}").expect("a template");
            let bar = ProgressBar::new(total.as_millis() as u64).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        BenchProgress { bar, interrupt, groups, begun: 0, inside: Duration::ZERO }
    }

    /// The next group begins.
    pub fn begin(&mut self) {
        self.begun += 1;
        self.inside = Duration::ZERO;
        if self.bar.is_none() {
            say(self.words());
        }
        self.show();
    }

    /// The group has taken this long so far.
    ///
    /// # Errors
    /// If Ctrl-C was pressed.
    pub fn advance(&mut self, took: Duration) -> Result<(), Interrupted> {
        let (_, estimate) = self.groups[self.begun - 1];
        self.inside = (self.inside + took).min(estimate);
        self.show();
        self.interrupt.check()
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

impl Drop for BenchProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
