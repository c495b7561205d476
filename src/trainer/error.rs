//! Why a run cannot begin or go on.

use std::path::{Path, PathBuf};

use super::run_folder::{CHECKPOINT, CONFIG, RunFolderError};
use crate::client::ClientError;
use crate::input::UsageError;
use crate::optimizers::{InvalidParameter, TellError};

/// Why a run cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A setting that cannot be.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// What a server says.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A file of the run.
    #[error(transparent)]
    Folder(#[from] RunFolderError),
    /// Settings that do not fit the run.
    #[error("{0}")]
    Settings(String),
    /// A number out of its range.
    #[error(transparent)]
    Parameter(#[from] InvalidParameter),
    /// Scores that the search does not take.
    #[error(transparent)]
    Scores(#[from] TellError),
    /// A checkpoint of another run.
    #[error("{}: {reason}", mismatch(folder))]
    Mismatch {
        /// The folder of the run.
        folder: PathBuf,
        /// What differs.
        reason: String,
    },
}

impl TrainError {
    /// The refusal of a checkpoint of another run.
    pub fn mismatch(folder: &Path, reason: impl ToString) -> TrainError {
        TrainError::Mismatch { folder: folder.to_path_buf(), reason: reason.to_string() }
    }

    /// Whether a server refuses the games of the run.
    pub fn is_refusal(&self) -> bool {
        matches!(self, TrainError::Client(error) if error.is_invalid_request())
    }
}

fn mismatch(folder: &Path) -> String {
    let (checkpoint, config) = (folder.join(CHECKPOINT), folder.join(CONFIG));
    format!(
        "{} does not belong to the run of {}: put the one that does back, or begin a new run",
        checkpoint.display(),
        config.display()
    )
}
