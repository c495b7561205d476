//! The end of a failed command: its error message and its exit code.

use std::process::ExitCode;

use super::output::{READER_LEFT, ReaderLeft, say};
use crate::input::UsageError;
use crate::trainer::error::TrainError;
use tetrion_client::ClientError;

/// Prints the error, and chooses the exit code: see `main.rs`.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    if error.is::<ReaderLeft>() {
        return ExitCode::from(READER_LEFT);
    }
    say(format_args!("error: {error:#}"));
    let refused_request = error.downcast_ref().is_some_and(ClientError::is_invalid_request)
        || error.downcast_ref().is_some_and(TrainError::is_refusal)
        || matches!(error.downcast_ref(), Some(TrainError::Usage(_)));
    ExitCode::from(if refused_request || error.is::<UsageError>() { 2 } else { 1 })
}
