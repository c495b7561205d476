//! What a run of `train` has found so far: the weights in its folder, which a training under way replaces after every
//! generation; or the weights of a file by themselves.
//!
//! This file only reads, and takes no lock: a file that is replaced is whole, the old one or the new one. The file says which generation
//! its weights are of, so the number and the weights belong together even if the training goes on between two reads.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::rules::RulesNote;
use super::run_folder::{RunFolderError, WEIGHTS, num_generations_planned};
use super::weights::Weights;
use crate::agents::{Agent, AgentRow, Controller, Play};
use crate::client::PlayChoice;
use crate::engine::Rules;
use crate::input::UsageError;

/// The weights of a run.
#[derive(Clone, Debug)]
pub struct Found {
    /// The folder of the run, or the file.
    place: PathBuf,
    name: String,
    weights: Weights,
    stage: Option<Stage>,
    /// How many generations the run will have, as its settings say.
    planned: Option<u32>,
    /// What the file was like when it was read.
    mark: Option<Mark>,
}

/// How far a run was when it wrote its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// After this many generations.
    Generation(u32),
    /// At its end: the result.
    Result,
}

/// What tells a file from the one that replaces it, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    modified: Option<SystemTime>,
    len: u64,
}

impl Found {
    /// Reads the folder of a run, or a file of weights.
    ///
    /// # Errors
    /// No run, one whose first generation is not complete, or a file that cannot be read or is not what `train` writes.
    pub fn read(place: &Path) -> Result<Found, UsageError> {
        if place.is_file() {
            let (mark, weights) = (mark(place), read_weights(place)?);
            let (place, name) = (place.to_path_buf(), name(place));
            return Ok(Found { place, name, weights, stage: None, planned: None, mark });
        }
        let folder = place;
        let wrong = |error: RunFolderError| UsageError(error.to_string());
        let planned = num_generations_planned(folder).map_err(wrong)?;
        let path = folder.join(WEIGHTS);
        // Taken first: weights that are replaced meanwhile are read again.
        let mark = mark(&path);
        if mark.is_none() {
            let folder = folder.display();
            return Err(UsageError(format!(
                "{folder} has no weights yet: its first generation is not complete"
            )));
        }
        let weights = read_weights(&path)?;
        let stage = Some(weights.generation.map_or(Stage::Result, Stage::Generation));
        Ok(Found { place: folder.to_path_buf(), name: name(folder), weights, stage, planned, mark })
    }

    /// Reads it again, if the weights have been replaced.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub fn read_newer(&self) -> Result<Option<Found>, UsageError> {
        if mark(&self.file()) == self.mark {
            return Ok(None);
        }
        Found::read(&self.place).map(Some)
    }

    /// The file with the weights.
    fn file(&self) -> PathBuf {
        if self.place.is_dir() { self.place.join(WEIGHTS) } else { self.place.clone() }
    }

    /// What a player with these weights is called: as the folder or the file is.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How far the run was; none for a file by itself.
    pub fn stage(&self) -> Option<Stage> {
        self.stage
    }

    /// How far the run was, and how far it goes.
    pub fn stage_in_words(&self) -> Option<String> {
        let of = |planned: u32| format!(" of {planned}");
        Some(match self.stage? {
            stage @ Stage::Generation(_) => format!("{stage}{}", self.planned.map_or(String::new(), of)),
            stage @ Stage::Result => stage.to_string(),
        })
    }

    /// The rules that they were found under.
    pub fn rules(&self) -> &RulesNote {
        &self.weights.rules
    }

    /// The controller that a server would play, playing as a caller chose, and else as the weights were trained.
    ///
    /// # Errors
    /// [`UsageError`] if it cannot play by these rules.
    pub fn agent(&self, rules: &Rules, choice: PlayChoice) -> Result<Agent, UsageError> {
        let wrong = |error: String| UsageError(format!("{}: {error}", self.file().display()));
        let policies = self.weights.policies(choice).map_err(|error| wrong(error.to_string()))?;
        let agents = policies.agents(rules).map_err(|error| wrong(error.to_string()))?;
        Ok(agents.into_iter().next().expect("one agent per row"))
    }

    /// The weights, with everything that their file says of them.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// How the weights were trained to play.
    pub fn play(&self) -> Play {
        self.weights.play()
    }
}

/// Whether a player is meant by where its weights are: a folder or a file, and not the name of an agent or a controller.
pub fn is_place(player: &str) -> bool {
    let is_known = AgentRow::named(player).is_some() || Controller::named(player).is_ok();
    !is_known && (Path::new(player).exists() || player.contains(std::path::is_separator))
}

fn read_weights(path: &Path) -> Result<Weights, UsageError> {
    Weights::read(path).map_err(|error| UsageError(format!("{}: {error}", path.display())))
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stage::Generation(number) => write!(f, "generation {number}"),
            Stage::Result => f.write_str("the result"),
        }
    }
}

/// The last name of a folder or a file, whatever path leads there.
fn name(place: &Path) -> String {
    let full = place.canonicalize().ok();
    let name = full.as_deref().and_then(Path::file_name).unwrap_or(place.as_os_str());
    name.to_string_lossy().into_owned()
}

fn mark(path: &Path) -> Option<Mark> {
    let file = path.metadata().ok()?;
    Some(Mark { modified: file.modified().ok(), len: file.len() })
}
