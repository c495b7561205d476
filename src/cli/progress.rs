//! How far a long job is: a bar that moves on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::numbers::{grouped, short, time};
use crate::client::Progress;

/// How often a line is written where no bar can move.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// How far an evaluation is, on stderr. A bar disappears when this is dropped.
#[derive(Debug)]
pub struct GamesProgress {
    label: String,
    start: Instant,
    bar: Option<ProgressBar>,
    last_line: Instant,
}

impl GamesProgress {
    /// Begins to show how far the games of `label` are.
    pub fn new(label: &str) -> GamesProgress {
        let start = Instant::now();
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{prefix} {bar:30} {msg}").expect("a template");
            let bar = ProgressBar::new(0).with_style(style).with_prefix(label.to_owned());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        GamesProgress { label: label.to_owned(), start, bar, last_line: start }
    }

    /// Tells how far they are.
    pub fn show(&mut self, progress: Progress) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(progress.num_games);
                bar.set_position(progress.games);
                bar.set_message(self.words(progress));
            }
            None if self.last_line.elapsed() >= LINE_INTERVAL => {
                eprintln!("{}: {}", self.label, self.words(progress));
                self.last_line = Instant::now();
            }
            None => {}
        }
    }

    fn words(&self, progress: Progress) -> String {
        let elapsed = self.start.elapsed();
        let games =
            format!("{} of {} games", grouped(progress.games as f64), grouped(progress.num_games as f64));
        // Pieces are told a little later than games.
        let speed = match progress.pieces {
            0 => String::new(),
            pieces => format!(", {} pieces/s", short(pieces as f64 / elapsed.as_secs_f64())),
        };
        let left = match progress.games {
            0 => String::new(),
            games => {
                let share = (progress.num_games - games) as f64 / games as f64;
                format!(", {} left", time(elapsed.mul_f64(share)))
            }
        };
        format!("{games}{speed}{left}")
    }
}

impl Drop for GamesProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
