//! Progress of long work: a moving bar on a terminal, otherwise an occasional line.
//!
//! The bar redraws its line many times per second, which works only if the line fits the terminal. So the line is a
//! list of parts, the most important first, and shows as many as fit.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output::{say, stderr_columns};
use crate::text::escapes::visible;
use crate::text::fitted;
use crate::text::numbers::{count, grouped, short, time};
use tetrion_client::EvaluationProgress;

/// Time between two lines if there is no bar.
pub const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Width of the bar in columns.
const BAR: usize = 16;
/// Most characters of a bar's label, which may be a whole formula.
const MAX_LABEL: usize = 30;

/// Columns of the terminal on stderr; 80 if unknown.
pub fn terminal_columns() -> usize {
    stderr_columns().unwrap_or(80)
}

/// Rows of the terminal on stderr; 24 if unknown.
pub fn terminal_rows() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(24, |(_, height)| height.0.into())
}

/// Estimated time for the remaining rows of a table, as text to append to the number of a row. The progress bar shows
/// the time of the current row.
pub fn rows_left(elapsed: Duration, rows_done: usize, num_rows: usize) -> String {
    if rows_done == 0 {
        return String::new();
    }
    let per_row = elapsed / rows_done as u32;
    format!(", about {} left", time(per_row * (num_rows - rows_done) as u32))
}

/// Progress of some work as text, on stderr. The line disappears from a terminal when this value is dropped.
#[derive(Debug)]
pub struct WorkProgress {
    label: String,
    line: Option<ProgressBar>,
    last_line: Instant,
}

impl WorkProgress {
    /// Starts showing the progress of `label`.
    pub fn new(label: &str) -> WorkProgress {
        let label = visible(label).into_owned();
        let line = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{prefix} {msg}").expect("a template");
            ProgressBar::new_spinner().with_style(style).with_prefix(label.clone())
        });
        WorkProgress { label, line, last_line: Instant::now() }
    }

    /// Shows the progress, the most important words first.
    pub fn show(&mut self, words: &[String]) {
        match &self.line {
            Some(line) => {
                let room = terminal_columns().saturating_sub(self.label.chars().count() + 2);
                line.set_message(visible(&fitted(words, room)).into_owned());
            }
            None if self.last_line.elapsed() >= LINE_INTERVAL => {
                say(format_args!("{}: {}", self.label, fitted(words, usize::MAX)));
                self.last_line = Instant::now();
            }
            None => {}
        }
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

/// Progress of an evaluation, on stderr. The bar disappears when this value is dropped.
#[derive(Debug)]
pub struct GamesProgress {
    label: String,
    start: Instant,
    bar: Option<ProgressBar>,
    last_line: Instant,
}

impl GamesProgress {
    /// Starts showing the progress of the games of `label`.
    pub fn new(label: &str) -> GamesProgress {
        let label: String = visible(label).chars().take(MAX_LABEL).collect();
        let start = Instant::now();
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(&format!("{{prefix}} {{bar:{BAR}}} {{msg}}"))
                .expect("a template");
            let bar = ProgressBar::new(0).with_style(style).with_prefix(label.clone());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        GamesProgress { label, start, bar, last_line: start }
    }

    /// Redraws the bar. Without a terminal, prints a line once per interval.
    pub fn show(&mut self, progress: EvaluationProgress) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(progress.num_games);
                bar.set_position(progress.games);
                let room = terminal_columns().saturating_sub(self.label.chars().count() + BAR + 3);
                bar.set_message(fitted(&self.words(progress), room));
            }
            None if self.last_line.elapsed() >= LINE_INTERVAL => {
                say(format_args!("{}: {}", self.label, fitted(&self.words(progress), usize::MAX)));
                self.last_line = Instant::now();
            }
            None => {}
        }
    }

    fn words(&self, progress: EvaluationProgress) -> [String; 3] {
        let elapsed = self.start.elapsed();
        let games = format!("{} of {}", grouped(progress.games as f64), count(progress.num_games, "game"));
        let left = match progress.games {
            0 => String::new(),
            games => {
                let share = (progress.num_games - games) as f64 / games as f64;
                format!("{} left", time(elapsed.mul_f64(share)))
            }
        };
        [games, left, pieces_per_second(progress, elapsed.as_secs_f64())]
    }
}

/// Speed as text; empty until the server reports pieces, which it does shortly after the first games.
pub fn pieces_per_second(progress: EvaluationProgress, seconds: f64) -> String {
    match progress.pieces {
        0 => String::new(),
        pieces => format!("{} pieces/s", short(pieces as f64 / seconds)),
    }
}

impl Drop for GamesProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
