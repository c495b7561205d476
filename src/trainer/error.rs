//! Errors that stop a run.

use std::path::{Path, PathBuf};

use super::run_folder::{CHECKPOINT, CONFIG, RunFolderError};
use crate::input::UsageError;
use tetrion_client::ClientError;
use tetrion_toolkit::optimizers::{InvalidParameter, TellError};

/// The reason why a run cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// A call to a server failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A file of the run cannot be read or written.
    #[error(transparent)]
    Folder(#[from] RunFolderError),
    /// The settings do not fit the run.
    #[error("{0}")]
    Settings(String),
    /// A parameter is out of its range.
    #[error(transparent)]
    Parameter(#[from] InvalidParameter),
    /// The search refuses the scores.
    #[error(transparent)]
    Scores(#[from] TellError),
    /// The checkpoint belongs to another run.
    #[error("{}: {reason}", mismatch(folder))]
    Mismatch {
        folder: PathBuf,
        /// Difference between the settings and the checkpoint.
        reason: String,
    },
}

impl TrainError {
    /// The error for a checkpoint that belongs to another run.
    pub fn mismatch(folder: &Path, reason: impl ToString) -> TrainError {
        TrainError::Mismatch { folder: folder.to_path_buf(), reason: reason.to_string() }
    }

    /// Whether a server refused to play the games of the run.
    pub fn is_refusal(&self) -> bool {
        matches!(self, TrainError::Client(error) if error.is_invalid_request())
    }
}

fn mismatch(folder: &Path) -> String {
    let (checkpoint, config) = (folder.join(CHECKPOINT), folder.join(CONFIG));
    format!(
        "{} does not belong to the run of {}: restore the checkpoint of this run, or begin a new run",
        checkpoint.display(),
        config.display()
    )
}
