//! What every run has, whatever its method is: its folder, the progress that it reports, and its end.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::games::best_game;
use super::run_folder::{RunFolder, RunFolderError};
use super::score::Score;
use super::settings::{Purpose, Settings};
use super::unit::Unit;
use super::weights::ScoreNote;
use crate::client::{Client, Evaluated, EvaluationProgress, EvaluationRequest};
use crate::summary::Statistics;
use crate::wire::recording;

/// How far the work of a run is, for whoever waits.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// Work for another purpose begins.
    Begins,
    /// Games for a purpose are under way.
    Games(Purpose, EvaluationProgress),
    /// So many pieces of a generation that learns from every step are placed, of so many.
    Pieces(u64, u64),
}

/// The controller chosen in the end.
#[derive(Debug)]
pub struct Winner {
    /// In the last games.
    pub score: Score,
    /// What the seeds of these are drawn from.
    pub seed: u64,
    /// The lines of the best of them, if it is in the folder of the run.
    pub best: Option<u64>,
    /// Why the best of them is not kept, if a recording was wanted and failed.
    pub warning: Option<String>,
}

/// Keeps the best of the last games, which this was, in the folder of a run; returns its lines, or why it is
/// not kept. Estimates have no game to keep.
///
/// # Errors
/// A file that cannot be written.
pub async fn keep_best(
    client: &Client,
    (request, evaluated): (&EvaluationRequest, &Evaluated),
    name: &str,
    run: &RunFolder,
) -> Result<(Option<u64>, Option<String>), RunFolderError> {
    if request.loss_trials > 0 {
        run.write_best(None)?;
        return Ok((None, None));
    }
    match best_game(client, request, evaluated, name).await {
        Ok(game) => {
            run.write_best(Some(&recording::to_json(&game)))?;
            Ok((Some(game.outcome.lines), None))
        }
        Err(error) => {
            run.write_best(None)?;
            let problem = format!("the best of the last games is not kept: cannot record {name}: {error}");
            Ok((None, Some(problem)))
        }
    }
}

/// The first free name of a folder in `runs`.
fn new_folder<M>(settings: &Settings<M>) -> Result<PathBuf, RunFolderError> {
    let (features, Settings { width, height, .. }) = (settings.features_title(), settings);
    std::fs::create_dir_all("runs").map_err(|error| RunFolderError::no_folder(Path::new("runs"), error))?;
    let mut number = 1;
    loop {
        let folder = Path::new("runs").join(format!("{features}-{width}x{height}-{number}"));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(RunFolderError::no_folder(&folder, error));
            }
        }
    }
}

/// Makes the folder of a new run: this one, or a new one in `runs`.
///
/// # Errors
/// If there is a run already, or a file cannot be written.
pub fn create<M: Serialize>(out: Option<&Path>, settings: &Settings<M>) -> Result<RunFolder, RunFolderError> {
    let folder = match out {
        Some(folder) => folder.to_path_buf(),
        None => new_folder(settings)?,
    };
    RunFolder::create(&folder, settings)
}

/// A score as files keep it.
pub fn note(score: &Score, unit: Unit) -> ScoreNote {
    let statistics = statistics(score, unit);
    let spread = statistics.spread.expect("two games at least");
    ScoreNote {
        unit: unit.name().to_owned(),
        num_games: score.games,
        num_truncated: score.truncated,
        mean: statistics.mean,
        std: spread.std,
        ci95_low: spread.ci95.0,
        ci95_high: spread.ci95.1,
    }
}

/// The statistics of what a game is scored by.
pub fn statistics(score: &Score, unit: Unit) -> &Statistics {
    match unit {
        Unit::Lines => &score.lines,
        Unit::Points => &score.points,
    }
}
