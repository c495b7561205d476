//! What every run has, whatever its method is: how it is followed, what is said of its end, where it is kept.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;
use serde_json::json;

use super::args::TrainArgs;
use super::display::Display;
use super::settings::Settings;
use super::unit::Unit;
use crate::cli::connection::Connection;
use crate::cli::evaluate::interval;
use crate::cli::failure::fail;
use crate::cli::interrupt::INTERRUPTED;
use crate::cli::output::{print, print_drawing, say, shell_word};
use crate::client::{Client, ClientError, Evaluated, EvaluationRequest};
use crate::plot::Chart;
use crate::summary::Statistics;
use crate::text::numbers::{count, grouped};
use crate::trainer::games::best_game;
use crate::trainer::run_folder::{BEST, CHECKPOINT, CONFIG, RunFolder, WEIGHTS};
use crate::trainer::score::Score;
use crate::trainer::weights::ScoreNote;
use crate::wire::recording;

/// A run under way, whatever its method is.
pub trait Training {
    /// Its folder.
    fn folder(&self) -> &RunFolder;
    /// What a person sees of it.
    fn display(&self) -> &Display;
    /// Plays what is left of it, and scores the result.
    async fn train(&mut self) -> anyhow::Result<Winner>;
    /// Says what came of it.
    fn print(&self, winner: &Winner, json: bool) -> anyhow::Result<()>;
}

/// Sees a run to its end, or until it is interrupted.
pub async fn follow(
    mut training: impl Training,
    args: &TrainArgs,
    connection: &Connection,
) -> anyhow::Result<ExitCode> {
    let folder = training.folder().folder().display().to_string();
    training.display().say(&match (&args.resume, training.folder().num_generations()) {
        (None, _) => format!("the run is kept in {folder}"),
        (Some(_), 0) => format!("no generation of {folder} was complete: it begins again"),
        (Some(_), generations) => format!("going on with {folder} after generation {generations}"),
    });
    if let Some(own) = &connection.own {
        training.display().say(&format!("its learning curve grows at {}#training", own.page()));
    }
    if !args.connection.server.is_empty() {
        // Evaluations are calls like any other: a server does not know what they are for, and shows no curve of them.
        let pages = connection.client.pages().await;
        if !pages.is_empty() {
            training.display().say(&format!("the pages of the servers that play: {}", pages.join(", ")));
        }
    }
    let winner = tokio::select! {
        winner = training.train() => Some(winner),
        _ = tokio::signal::ctrl_c() => None,
    };
    match winner {
        Some(Ok(winner)) => {
            training.display().close();
            training.print(&winner, args.json).map(|()| ExitCode::SUCCESS)
        }
        Some(Err(error)) if error.downcast_ref().is_some_and(ClientError::is_invalid_request) => {
            Err(error.context(format!("the run in {folder} cannot go on with its settings")))
        }
        Some(Err(error)) => {
            training.display().close();
            let code = fail(&error);
            say(how_to_resume(training.folder()));
            Ok(code)
        }
        None => {
            say(format_args!("\n{}", how_to_resume(training.folder())));
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

/// A generation that was under way is played again: the checkpoint is the one before.
fn how_to_resume(run: &RunFolder) -> String {
    let (generations, folder) = (run.num_generations(), shell_word(run.folder()));
    format!("stopped after generation {generations}; go on with: tetrion train --resume {folder}")
}

/// The controller chosen in the end.
pub struct Winner {
    /// In the last games.
    pub score: Score,
    /// What the seeds of these are drawn from.
    pub seed: u64,
    /// The lines of the best of them, if it is in the folder of the run.
    pub best: Option<u64>,
}

/// Keeps the best of the last games, which this was, in the folder of a run; returns its lines. The run has its result by then,
/// so what stands in the way of a recording is said, and nothing fails. Estimates have no game to keep.
///
/// # Errors
/// A file that cannot be written.
pub async fn keep_best(
    client: &Client,
    (request, evaluated): (&EvaluationRequest, &Evaluated),
    name: &str,
    (run, display): (&RunFolder, &Display),
) -> anyhow::Result<Option<u64>> {
    if request.loss_trials > 0 {
        run.write_best(None)?;
        return Ok(None);
    }
    match best_game(client, request, evaluated, name).await {
        Ok(game) => {
            run.write_best(Some(&recording::to_json(&game)))?;
            Ok(Some(game.outcome.lines))
        }
        Err(error) => {
            run.write_best(None)?;
            display.say(&format!("warning: the best of the last games is not kept: {error:#}"));
            Ok(None)
        }
    }
}

/// Says what came of a run.
pub fn print_winner<M>(
    settings: &Settings<M>,
    run: &RunFolder,
    chart: &Chart,
    Winner { score, seed, best }: &Winner,
    json: bool,
) -> anyhow::Result<()> {
    let Settings { width, height, unit, loss_trials, max_pieces, max_steps, .. } = settings;
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
    // A limit that no game came to need not be typed.
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
        "{features} on {width} x {height} after {}: {} {} a game, 95 % interval {}, over {} fresh {what}{cut}\n\
         the weights are in {}; play them again with:\n\
         tetrion evaluate --weights {} --games {} --seed {seed}{cut_at}\n",
        count(generations, "generation"),
        grouped(statistics(score, *unit).mean),
        unit.name(),
        interval(statistics(score, *unit)),
        grouped(score.games as f64),
        weights.display(),
        shell_word(&weights),
        score.games,
    );
    if let Some(lines) = best {
        let (game, picture) = (folder.join(BEST), folder.join("best.gif"));
        text += &format!(
            "the best of these games, with {}, is in {}; make a moving picture of its end with:\n\
             tetrion export {} -o {} --last 200\n",
            count(*lines, "line"),
            game.display(),
            shell_word(&game),
            shell_word(&picture),
        );
    }
    print(&text)
}

/// The message that refuses a checkpoint of another run; the reason follows it.
pub fn mismatch(folder: &Path) -> String {
    let (checkpoint, config) = (folder.join(CHECKPOINT), folder.join(CONFIG));
    format!(
        "{} does not belong to the run of {}: put the one that does back, or begin a new run",
        checkpoint.display(),
        config.display()
    )
}

/// The first free name of a folder in `runs`.
fn new_folder<M>(settings: &Settings<M>) -> anyhow::Result<PathBuf> {
    let (features, Settings { width, height, .. }) = (settings.features_title(), settings);
    std::fs::create_dir_all("runs").context("cannot create the folder runs")?;
    let mut number = 1;
    loop {
        let folder = Path::new("runs").join(format!("{features}-{width}x{height}-{number}"));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot create {}", folder.display()));
            }
        }
    }
}

/// Makes the folder of a new run: the one of the flags, or a new one in `runs`.
pub fn create<M: Serialize>(args: &TrainArgs, settings: &Settings<M>) -> anyhow::Result<RunFolder> {
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => new_folder(settings)?,
    };
    Ok(RunFolder::create(&folder, settings)?)
}

/// A score as files keep it.
pub fn note(score: &Score, unit: Unit) -> ScoreNote {
    let statistics = statistics(score, unit);
    let spread = statistics.spread.expect("two games at least");
    ScoreNote {
        unit: unit.name().to_owned(),
        mean: statistics.mean,
        std: spread.std,
        ci95: [spread.ci95.0, spread.ci95.1],
        games: score.games,
        truncated: score.truncated,
    }
}

fn statistics(score: &Score, unit: Unit) -> &Statistics {
    match unit {
        Unit::Lines => &score.lines,
        Unit::Points => &score.points,
    }
}
