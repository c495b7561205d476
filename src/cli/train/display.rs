//! The display of a training run, on stderr: on a terminal a growing curve above a line of numbers, otherwise one line
//! per generation. stdout is for the result. A page of this process also shows the curve.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::output::{clear_screen, say};
use crate::cli::progress::{pieces_per_second, terminal_columns, terminal_rows};
use crate::plot::Chart;
use crate::text::escapes::visible;
use crate::text::fitted;
use crate::text::numbers::{count, grouped, short, time};
use crate::trainer::learning::{Learning, Lesson};
use crate::trainer::record::Record;
use crate::trainer::rounds::Purpose;
use crate::trainer::run::Progress;
use crate::trainer::settings::{NUM_CHOICES, Settings};
use crate::trainer::unit::Unit;
use crate::trainer::weights::MeasuredScore;
use tetrion_client::EvaluationProgress;
use tetrion_server::TrainingCurve;

/// Size of the curve on a terminal, in characters: most columns, and most rows between its axes.
const CURVE: (usize, usize) = (76, 12);
const LEAST_CURVE: usize = 3;
/// Width of the bar in columns.
const BAR: usize = 16;

/// The display of one run.
#[derive(Debug)]
pub struct Display {
    bar: Option<ProgressBar>,
    generations: u32,
    /// The curve so far, unless no generation is complete.
    chart: Option<Chart>,
    /// The numbers of the last generation.
    numbers: Vec<String>,
    /// Lines that stay on the screen.
    said: Vec<String>,
    /// Columns and rows of the terminal in the last drawing.
    size: (usize, usize),
    left: Option<Duration>,
    /// Start of the games in progress.
    since: Instant,
    /// The curve on the page.
    page: TrainingCurve,
}

/// Results of a generation, as parts of a line.
#[derive(Debug)]
pub struct News {
    /// Numbers, most important first; a narrow terminal shows only the first ones.
    pub numbers: Vec<String>,
    /// Amount of work and time, shown after the numbers if there is room.
    pub effort: String,
    /// Time until the end of the run.
    pub left: Duration,
}

impl Display {
    /// A display of a run of this length. `done` generations are complete, and `chart` shows them.
    pub fn new(generations: u32, done: usize, chart: &Chart, page: TrainingCurve) -> Display {
        let bar = std::io::stderr().is_terminal().then(|| {
            let template = format!("{{prefix}}{{bar:{BAR}}} generation {{pos}} of {{len}}{{msg}}");
            let style = ProgressStyle::with_template(&template);
            let bar = ProgressBar::new(generations.into()).with_style(style.expect("a template"));
            bar.set_position(done as u64);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let since = Instant::now();
        let display = Display {
            bar,
            generations,
            chart: (done > 0).then(|| chart.clone()),
            numbers: Vec::new(),
            said: Vec::new(),
            size: (terminal_columns(), terminal_rows()),
            left: None,
            since,
            page,
        };
        display.show_on_page(done, chart);
        display.draw_curve();
        display
    }

    /// Prints a line that stays on the screen.
    pub fn say(&mut self, line: &str) {
        match &self.bar {
            Some(bar) => {
                bar.println(visible(line));
                self.said.push(line.to_owned());
            }
            None => say(line),
        }
    }

    /// Shows the progress of the work.
    pub fn show(&mut self, progress: Progress) {
        match progress {
            Progress::Begins => self.since = Instant::now(),
            Progress::Games(purpose, now) => self.progress(what(purpose), now),
            Progress::Pieces(done, all) => self.pieces("learning", done, all),
        }
    }

    /// Shows the progress of the games.
    fn progress(&mut self, what: &str, progress: EvaluationProgress) {
        let seconds = self.since.elapsed().as_secs_f64();
        let games = format!("{} of {}", grouped(progress.games as f64), count(progress.num_games, "game"));
        let games_per_second = format!("{} games/s", short(progress.games as f64 / seconds));
        self.work(what, games, [pieces_per_second(progress, seconds), games_per_second]);
    }

    /// Shows the progress of a generation's pieces.
    fn pieces(&mut self, what: &str, done: u64, all: u64) {
        let seconds = self.since.elapsed().as_secs_f64();
        let pieces = format!("{} of {}", grouped(done as f64), count(all, "piece"));
        self.work(what, pieces, [format!("{} pieces/s", short(done as f64 / seconds)), String::new()]);
    }

    fn work(&mut self, what: &str, done: String, [speed, other_speed]: [String; 2]) {
        self.follow_size();
        let Some(bar) = &self.bar else { return };
        let left = match self.left {
            Some(left) => format!("{} left", time(left.saturating_sub(self.since.elapsed()))),
            None => String::new(),
        };
        let parts = [left, format!("{what}: {done}"), speed, other_speed];
        let before = format!(" generation {0} of {0}, ", self.generations).len() + BAR;
        let words = fitted(&parts, terminal_columns().saturating_sub(before + 1));
        bar.set_message(if words.is_empty() { words } else { format!(", {words}") });
    }

    /// Shows a completed generation: the curve and the numbers on a terminal, otherwise a line. `done` generations are
    /// complete, including this one.
    pub fn generation(&mut self, done: usize, News { numbers, effort, left }: News, chart: &Chart) {
        self.left = Some(left);
        self.show_on_page(done, chart);
        match &self.bar {
            Some(bar) => {
                (self.chart, self.numbers) = (Some(chart.clone()), numbers);
                bar.set_position(done as u64);
                self.draw_curve();
            }
            None => say(format_args!(
                "generation {done} of {}: {}{effort}, {} left",
                self.generations,
                fitted(&numbers, usize::MAX),
                time(left)
            )),
        }
    }

    /// Draws the curve above the bar and the numbers of the last generation. The curve gets the remaining rows of the
    /// terminal, because the terminal cuts off lines at the bottom.
    fn draw_curve(&self) {
        let (Some(bar), Some(chart)) = (&self.bar, &self.chart) else { return };
        let (columns, rows) = self.size;
        let curve = |rows| chart.to_text(CURVE.0.min(columns.saturating_sub(1)), rows, true);
        let around = curve(LEAST_CURVE).lines().count() - LEAST_CURVE;
        // The numbers, the bar, and the cursor's line.
        let room = rows.saturating_sub(around + 3);
        let curve = if room < LEAST_CURVE { String::new() } else { curve(room.min(CURVE.1)) };
        let numbers = fitted(&self.numbers, columns.saturating_sub(1));
        bar.set_prefix(format!("{curve}{}\n", visible(&numbers)));
    }

    /// Draws everything again if the terminal has another size. It has moved the lines, so the bar cannot find them.
    fn follow_size(&mut self) {
        let size = (terminal_columns(), terminal_rows());
        let Some(bar) = self.bar.as_ref().filter(|_| size != self.size) else { return };
        self.size = size;
        // First, because the bar draws itself at the end of the pause.
        self.draw_curve();
        bar.suspend(|| {
            clear_screen();
            self.said.iter().for_each(say);
        });
    }

    fn show_on_page(&self, done: usize, chart: &Chart) {
        let mut json = chart.to_json();
        json["generations"] = self.generations.into();
        json["done"] = done.into();
        self.page.put(json.to_string());
    }

    /// Removes the moving lines from the terminal.
    pub fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Leaves the curve and the numbers on the terminal, as they are: after the echo of Ctrl-C, a last drawing would be a
    /// line too low.
    pub fn leave(&self) {
        if let Some(bar) = &self.bar {
            bar.disable_steady_tick();
            bar.set_draw_target(ProgressDrawTarget::hidden());
            say("");
        }
    }
}

/// Summary of a generation of a search that took this long.
pub fn news(settings: &Settings, record: &Record, took: Duration) -> News {
    let generation = &record.generation;
    let numbers = vec![
        result_so_far(&record.check),
        format!("best {}", grouped(generation.best_score)),
        format!("elite {}", grouped(record.elite_score)),
        format!("mean {}", grouped(generation.mean_score)),
        format!("deviation {}", grouped(generation.std_score)),
    ];
    let what = if settings.loss_trials > 0 { "estimate" } else { "game" };
    let effort = format!(
        " {} per game; {} in {:.1} s, {} pieces/s",
        settings.score_by.name(),
        count(record.games, what),
        took.as_secs_f64(),
        short(record.pieces as f64 / took.as_secs_f64())
    );
    News { numbers, effort, left: time_left(settings, record, took) }
}

/// Name of the games for a purpose.
fn what(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::First(_) => "all candidates",
        Purpose::Second(_) => "better candidates again",
        Purpose::Check(_) => "current result",
        Purpose::Choice => "finalists",
        Purpose::Score => "final result",
    }
}

/// Summary of a generation of a run that learns from every step.
pub fn news_of_lesson(learning: &Learning, lesson: &Lesson) -> News {
    let (settings, record) =
        (learning.settings(), learning.records().last().expect("a generation is complete"));
    let Lesson { learned_in, took, score } = lesson;
    let mut numbers = vec![result_so_far(&record.check)];
    numbers.extend(record.lines.map(|lines| format!("while learning {}", grouped(lines))));
    numbers.push(format!("error {:.3}", record.error));
    let pieces = record.pieces as f64;
    let seconds = learned_in.as_secs_f64();
    let effort = format!(
        "; {} in {seconds:.1} s, {} pieces/s",
        count(record.pieces, "piece"),
        short(pieces / seconds)
    );
    let to_come = settings.generations.saturating_sub(record.generation + 1);
    let last_games = score.pieces_played as f64 / score.games as f64 * f64::from(settings.final_games);
    let end = Duration::try_from_secs_f64(last_games / score.pieces_per_second).unwrap_or_default();
    News { numbers, effort, left: took.mul_f64(to_come.into()).saturating_add(end) }
}

/// The score of the current result, as text.
pub fn result_so_far(check: &MeasuredScore) -> String {
    let (low, high) = (check.ci95_low, check.ci95_high);
    format!("result so far {} {} ({} to {})", grouped(check.mean), check.unit, grouped(low), grouped(high))
}

/// Estimated time left. Assumes that each remaining generation takes as long as the last, and the final games as long
/// as their pieces.
fn time_left(settings: &Settings, last: &Record, took: Duration) -> Duration {
    let done = last.generation.generation + 1;
    let generations = took.mul_f64(f64::from(settings.generations.saturating_sub(done)));
    let pieces_per_game = match settings.score_by {
        // A line has `width` cells, a piece four.
        Unit::Lines if settings.loss_trials == 0 => last.check.mean * f64::from(settings.size().0) / 4.0,
        // Estimates play as many pieces at the end as before.
        Unit::Lines | Unit::Points => last.pieces as f64 / last.games as f64,
    };
    let games = f64::from(settings.final_games) * (1.0 + NUM_CHOICES as f64 / 2.0);
    let speed = last.pieces.max(1) as f64 / took.as_secs_f64();
    // The server's numbers are not trusted.
    let end = Duration::try_from_secs_f64(games * pieces_per_game / speed).unwrap_or_default();
    generations.saturating_add(end)
}
