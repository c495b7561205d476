//! The current weights of a training run, which a run in progress replaces after every generation, or of a single file.
//!
//! This file only reads, and takes no lock, because weight files are replaced as a whole. Each contains the number of
//! its generation, so number and weights match even if the run progresses between two reads.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::run_folder::{RunFolderError, WEIGHTS, num_generations_planned};
use super::weights::Weights;
use crate::input::UsageError;
use tetrion_client::{PlayChoice, RulesChoice};
use tetrion_core::agents::{Agent, AgentRow, Controller, Play};
use tetrion_core::engine::Rules;

/// The weights of a training run or a file.
#[derive(Clone, Debug)]
pub struct TrainedWeights {
    /// Folder of the run, or the file.
    place: PathBuf,
    name: String,
    weights: Weights,
    stage: Option<RunStage>,
    /// Planned number of generations, from the settings of the run.
    planned: Option<u32>,
    /// Mark of the file at the time it was read.
    mark: Option<FileStamp>,
}

/// Progress of a run when it wrote its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStage {
    /// After this many generations, while the run goes on.
    Generation(u32),
    /// The result, after the end of the run.
    Result,
}

/// Distinguishes a file from its replacement without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    modified: Option<SystemTime>,
    len: u64,
}

impl TrainedWeights {
    /// Reads the folder of a run, or a file of weights.
    ///
    /// # Errors
    /// If there is no run, its first generation is not complete, or the file cannot be read or was not written by
    /// `train`.
    pub fn read(place: &Path) -> Result<TrainedWeights, UsageError> {
        if place.is_file() {
            let (mark, weights) = (mark(place), read_weights(place)?);
            let (place, name) = (place.to_path_buf(), name(place));
            return Ok(TrainedWeights { place, name, weights, stage: None, planned: None, mark });
        }
        let folder = place;
        let wrong = |error: RunFolderError| UsageError(error.to_string());
        let planned = num_generations_planned(folder).map_err(wrong)?;
        let path = folder.join(WEIGHTS);
        // Taken first, so that weights replaced in the meantime are read again.
        let mark = mark(&path);
        if mark.is_none() {
            let folder = folder.display();
            return Err(UsageError(format!(
                "{folder} has no weights yet: its first generation is not complete"
            )));
        }
        let weights = read_weights(&path)?;
        let stage = Some(weights.generation.map_or(RunStage::Result, RunStage::Generation));
        Ok(TrainedWeights { place: folder.to_path_buf(), name: name(folder), weights, stage, planned, mark })
    }

    /// Reads the weights again if they have been replaced.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub fn read_newer(&self) -> Result<Option<TrainedWeights>, UsageError> {
        if mark(&self.file()) == self.mark {
            return Ok(None);
        }
        TrainedWeights::read(&self.place).map(Some)
    }

    /// The file with the weights.
    fn file(&self) -> PathBuf {
        if self.place.is_dir() { self.place.join(WEIGHTS) } else { self.place.clone() }
    }

    /// Name of a player with these weights: the name of the folder or the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Progress of the run; `None` for a single file.
    pub fn stage(&self) -> Option<RunStage> {
        self.stage
    }

    /// Progress of the run, with its planned number of generations.
    pub fn stage_in_words(&self) -> Option<String> {
        let of = |planned: u32| format!(" of {planned}");
        Some(match self.stage? {
            stage @ RunStage::Generation(_) => format!("{stage}{}", self.planned.map_or(String::new(), of)),
            stage @ RunStage::Result => stage.to_string(),
        })
    }

    /// Rules of the training games.
    pub fn rules(&self) -> &RulesChoice {
        &self.weights.rules
    }

    /// The controller that a server would play: the caller's choice, or else the way of playing in training.
    ///
    /// # Errors
    /// [`UsageError`] if the controller cannot play under these rules.
    pub fn agent(&self, rules: &Rules, choice: PlayChoice) -> Result<Agent, UsageError> {
        let wrong = |error| UsageError(format!("{}: {error}", self.file().display()));
        let agents = self.weights.policy(choice).agents(rules).map_err(wrong)?;
        Ok(agents.into_iter().next().expect("one agent per row"))
    }

    /// The weights with everything else in their file.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Way of playing in training.
    pub fn play(&self) -> Play {
        self.weights.policy.play
    }
}

/// Whether a player's name is a path, not an agent or a controller.
pub fn is_place(player: &str) -> bool {
    let is_known = AgentRow::named(player).is_some() || Controller::named(player).is_ok();
    !is_known && (Path::new(player).exists() || player.contains(std::path::is_separator))
}

fn read_weights(path: &Path) -> Result<Weights, UsageError> {
    Weights::read(path).map_err(|error| UsageError(format!("{}: {error}", path.display())))
}

impl fmt::Display for RunStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunStage::Generation(number) => write!(f, "generation {number}"),
            RunStage::Result => f.write_str("the result"),
        }
    }
}

/// The last component of a path.
fn name(place: &Path) -> String {
    let full = place.canonicalize().ok();
    let name = full.as_deref().and_then(Path::file_name).unwrap_or(place.as_os_str());
    name.to_string_lossy().into_owned()
}

fn mark(path: &Path) -> Option<FileStamp> {
    let file = path.metadata().ok()?;
    Some(FileStamp { modified: file.modified().ok(), len: file.len() })
}
