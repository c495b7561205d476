//! The reasons why a measurement fails.

use std::io;

use tetrion_core::pool::PoolError;
use tonic::Status;

/// The reason why a measurement fails.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error("cannot {act}")]
    System { act: String, source: io::Error },
    #[error(transparent)]
    Threads(#[from] PoolError),
    #[error("the server did not start: {0}")]
    Server(String),
    #[error("cannot connect to the server")]
    Connect(#[from] tonic::transport::Error),
    #[error("a call failed")]
    Call(#[from] Status),
    /// The answer of a call lacks this field.
    #[error("an answer has no {0}")]
    Answer(&'static str),
    #[error("interrupted")]
    Interrupted,
    #[error("measuring {group}")]
    Group { group: &'static str, source: Box<BenchError> },
}

impl BenchError {
    /// The error of the system when the program tried to do this, for `map_err`.
    pub fn system(act: impl Into<String>) -> impl FnOnce(io::Error) -> BenchError {
        |source| BenchError::System { act: act.into(), source }
    }
}
