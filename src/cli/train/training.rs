//! Runs a training of any method to its end, and prints the result.

use std::io::IsTerminal;
use std::process::ExitCode;

use serde_json::json;

use super::display::{Display, News, news, news_of_lesson};
use super::run::RunArgs;
use crate::cli::connection::TrainingPage;
use crate::cli::evaluate::interval;
use crate::cli::failure::fail;
use crate::cli::interrupt::INTERRUPTED;
use crate::cli::output::{print, print_drawing, say, shell_path};
use crate::plot::Chart;
use crate::text::numbers::{count, grouped};
use crate::trainer::error::TrainError;
use crate::trainer::learning::Learning;
use crate::trainer::lessons::Lessons;
use crate::trainer::run::{Winner, statistics};
use crate::trainer::run_folder::{BEST, RunFolder, WEIGHTS};
use crate::trainer::search::SearchRun;
use crate::trainer::settings::Settings;
use crate::trainer::unit::Unit;
use tetrion_client::Client;
use tetrion_toolkit::optimizers::Config;

/// A training run of any method.
pub trait Training {
    /// Parameters of the search, or of learning.
    type Parameters;

    fn settings(&self) -> &Settings<Self::Parameters>;
    fn folder(&self) -> &RunFolder;
    /// The learning curve of all complete generations.
    fn chart(&self) -> Chart;
    /// Runs one generation. Returns its summary.
    async fn next(&mut self, display: &mut Display) -> anyhow::Result<News>;
    /// Chooses the winner, and scores it on games that no choice has used.
    async fn end(&mut self, display: &mut Display) -> anyhow::Result<Winner>;
}

impl Training for SearchRun {
    type Parameters = Config;

    fn settings(&self) -> &Settings<Config> {
        self.settings()
    }

    fn folder(&self) -> &RunFolder {
        self.run()
    }

    fn chart(&self) -> Chart {
        self.curve()
    }

    async fn next(&mut self, display: &mut Display) -> anyhow::Result<News> {
        let took = self.generation(&mut |progress| display.show(progress)).await?;
        Ok(news(self.settings(), self.records().last().expect("a generation is complete"), took))
    }

    async fn end(&mut self, display: &mut Display) -> anyhow::Result<Winner> {
        Ok(self.finish(&mut |progress| display.show(progress)).await?)
    }
}

impl Training for Learning {
    type Parameters = Lessons;

    fn settings(&self) -> &Settings<Lessons> {
        self.settings()
    }

    fn folder(&self) -> &RunFolder {
        self.run()
    }

    fn chart(&self) -> Chart {
        self.curve()
    }

    async fn next(&mut self, display: &mut Display) -> anyhow::Result<News> {
        let lesson = self.generation(&mut |progress| display.show(progress)).await?;
        Ok(news_of_lesson(self, &lesson))
    }

    async fn end(&mut self, display: &mut Display) -> anyhow::Result<Winner> {
        Ok(self.finish(&mut |progress| display.show(progress)).await?)
    }
}

/// Runs the remaining generations, then scores the result.
async fn train(training: &mut impl Training, display: &mut Display) -> anyhow::Result<Winner> {
    while training.folder().num_generations() < training.settings().generations.into() {
        let news = training.next(display).await?;
        display.generation(training.folder().num_generations() as usize, news, &training.chart());
    }
    let winner = training.end(display).await?;
    if let Some(warning) = &winner.warning {
        display.say(&format!("warning: {warning}"));
    }
    Ok(winner)
}

/// Follows a run to its end, or until an interrupt.
pub async fn follow(
    mut training: impl Training,
    is_resumed: bool,
    args: &RunArgs,
    client: &Client,
    page: &TrainingPage,
) -> anyhow::Result<ExitCode> {
    let folder = training.folder().folder().display().to_string();
    let done = training.folder().num_generations() as usize;
    let mut display =
        Display::new(training.settings().generations, done, &training.chart(), page.curve.clone());
    display.say(&match (is_resumed, training.folder().num_generations()) {
        (false, _) => format!("the run is in {folder}"),
        (true, 0) => format!("{folder} has no complete generation: starting again"),
        (true, generations) => format!("resuming {folder} after generation {generations}"),
    });
    display.say(&format!("its learning curve grows at {}", page.url));
    if !args.playing.connection.server.is_empty() {
        // Evaluations are ordinary calls, so a server's page shows the calls but no learning curve.
        let pages = client.pages().await;
        if !pages.is_empty() {
            display.say(&format!("pages of the servers: {}", pages.join(", ")));
        }
    }
    let winner = tokio::select! {
        winner = train(&mut training, &mut display) => Some(winner),
        _ = tokio::signal::ctrl_c() => None,
    };
    match winner {
        Some(Ok(winner)) => {
            display.close();
            print_winner(&training, &winner, args.json).map(|()| ExitCode::SUCCESS)
        }
        Some(Err(error)) if error.downcast_ref().is_some_and(TrainError::is_refusal) => {
            Err(error.context(format!("the run in {folder} cannot continue with its settings")))
        }
        Some(Err(error)) => {
            display.leave();
            let code = fail(&error);
            say(how_to_resume(training.folder()));
            Ok(code)
        }
        None => {
            display.leave();
            say(how_to_resume(training.folder()));
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

/// The command that resumes the run from its last checkpoint. An unfinished generation is repeated.
fn how_to_resume(run: &RunFolder) -> String {
    let (generations, folder) = (run.num_generations(), shell_path(run.folder()));
    format!("stopped after generation {generations}; resume with:\ntetrion train --resume {folder}")
}

/// Prints the result of a run.
fn print_winner(
    training: &impl Training,
    Winner { score, seed, best, .. }: &Winner,
    json: bool,
) -> anyhow::Result<()> {
    let (settings, run, chart) = (training.settings(), training.folder(), training.chart());
    let (width, height) = settings.size();
    let Settings { score_by: unit, loss_trials, max_pieces, max_steps, .. } = settings;
    let features = settings.features_title();
    let folder = run.folder();
    let weights = folder.join(WEIGHTS);
    let generations = run.num_generations();
    if json {
        let mut object = score.to_json();
        object["run"] = json!(folder);
        object["weights"] = json!(weights);
        object["generations"] = json!(generations);
        object["best"] = json!(best.map(|_| folder.join(BEST)));
        return print(&format!("{object}\n"));
    }
    if std::io::stdout().is_terminal() {
        print_drawing(&format!("{}\n", chart.to_text(76, 14, true)))?;
    }
    let (what, cut) = match (score.is_estimate, score.truncated) {
        (true, _) => ("estimates", "did not get to a loss"),
        (false, 1) => ("games", "was cut"),
        (false, _) => ("games", "were cut"),
    };
    let cut = match score.truncated {
        0 => String::new(),
        games if *unit == Unit::Lines => {
            format!("\n{games} of the {what} {cut}: the mean is a lower bound")
        }
        games => format!("\n{games} of the {what} {cut}"),
    };
    // A limit that no game has reached can be omitted from the command.
    let most_pieces = if score.truncated > 0 { *max_pieces } else { 0 };
    let limits = [
        ("--loss-trials", u64::from(*loss_trials)),
        ("--max-pieces", most_pieces),
        ("--max-steps", *max_steps),
    ]
    .into_iter();
    let cut_at: String =
        limits.filter(|(_, most)| *most > 0).map(|(flag, most)| format!(" {flag} {most}")).collect();
    let mut text = format!(
        "{features} on {width} x {height} after {}: {} {} per game, 95 % interval {}, over {} fresh {what}{cut}\n\
         the weights are in {}; play them again with:\n\
         tetrion evaluate {} --games {} --seed {seed}{cut_at}\n",
        count(generations, "generation"),
        grouped(statistics(score, *unit).mean),
        unit.name(),
        interval(statistics(score, *unit)),
        grouped(score.games as f64),
        weights.display(),
        shell_path(&weights),
        score.games,
    );
    if let Some(lines) = best {
        let (game, picture) = (folder.join(BEST), folder.join("best.gif"));
        text += &format!(
            "the best of these games, with {}, is in {}; export its end as a GIF with:\n\
             tetrion export {} -o {} --last 200\n",
            count(*lines, "line"),
            game.display(),
            shell_path(&game),
            shell_path(&picture),
        );
    }
    print(&text)
}
