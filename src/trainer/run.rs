//! The parts that runs of all methods share: the folder, the progress reports, and the end.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::games::best_game;
use super::rounds::Purpose;
use super::run_folder::{RunFolder, RunFolderError};
use super::score::Score;
use super::settings::Settings;
use super::unit::Unit;
use super::weights::MeasuredScore;
use tetrion_client::{Client, Evaluated, EvaluationProgress, EvaluationRequest};
use tetrion_core::summary::Statistics;
use tetrion_protocol::recording;

/// Progress of a run, for the caller's display.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// The next piece of work starts.
    Begins,
    /// Games for a purpose are in progress.
    Games(Purpose, EvaluationProgress),
    /// Pieces placed so far in a generation that learns from every step, and their total.
    Pieces(u64, u64),
}

/// The controller chosen at the end.
#[derive(Debug)]
pub struct Winner {
    /// Score in the last games.
    pub score: Score,
    /// Seed from which the seeds of these games are drawn.
    pub seed: u64,
    /// Lines of the best of these games, if the run folder holds its recording.
    pub best: Option<u64>,
    /// The reason why a requested recording of the best game failed.
    pub warning: Option<String>,
}

/// Saves the best of the last games in a run's folder. Returns its lines, or the reason why it was not saved. Estimates
/// have no game to save.
///
/// # Errors
/// If a file cannot be written.
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
            let problem = format!("the best of the last games is not saved: cannot record {name}: {error}");
            Ok((None, Some(problem)))
        }
    }
}

/// The first unused folder name in `runs`.
fn new_folder<M>(settings: &Settings<M>) -> Result<PathBuf, RunFolderError> {
    let (features, (width, height)) = (settings.features_title(), settings.size());
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

/// Creates the folder of a new run: the given one, or a new one in `runs`.
///
/// # Errors
/// If the folder already holds a run, or a file cannot be written.
pub fn create<M: Serialize>(out: Option<&Path>, settings: &Settings<M>) -> Result<RunFolder, RunFolderError> {
    let folder = match out {
        Some(folder) => folder.to_path_buf(),
        None => new_folder(settings)?,
    };
    RunFolder::create(&folder, settings)
}

/// A score in the form that files hold.
pub fn measured(score: &Score, unit: Unit) -> MeasuredScore {
    let statistics = statistics(score, unit);
    let spread = statistics.spread.expect("two games at least");
    MeasuredScore {
        unit: unit.name().to_owned(),
        num_games: score.games,
        num_truncated: score.truncated,
        mean: statistics.mean,
        std: spread.std,
        ci95_low: spread.ci95.0,
        ci95_high: spread.ci95.1,
    }
}

/// The statistics of a score in the given unit.
pub fn statistics(score: &Score, unit: Unit) -> &Statistics {
    match unit {
        Unit::Lines => &score.lines,
        Unit::Points => &score.points,
    }
}
