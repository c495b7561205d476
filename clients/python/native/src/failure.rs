//! Failures on this side of a connection, with the codes of gRPC's own clients.

use std::collections::HashMap;
use std::error::Error;

use pyo3::prelude::*;
use tetrion::client::{ClientError, code_name, innermost, retry_delay};
use tetrion::protocol::DecodeError;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use super::CallError;
use super::call::closed;

pyo3::create_exception!(
    tetrion._native,
    AnswerError,
    pyo3::exceptions::PyException,
    "An answer that does not fit its request: the problem."
);

/// Why a call of the Rust client failed.
pub(crate) enum Failed {
    Call(Box<Status>),
    Answer(String),
}

impl Failed {
    /// The connection was closed.
    pub(crate) fn disconnected() -> Failed {
        Failed::Call(Box::new(closed()))
    }

    /// The status of the call; a made-up one if its answer does not fit.
    pub(crate) fn status(self) -> Status {
        match self {
            Failed::Call(status) => failure(*status),
            Failed::Answer(problem) => Status::internal(problem),
        }
    }

    /// The exception for it.
    pub(crate) fn raised(self) -> PyErr {
        match self {
            Failed::Answer(problem) => AnswerError::new_err(problem),
            Failed::Call(_) => CallError::new_err(described(&self.status())),
        }
    }
}

impl From<ClientError> for Failed {
    fn from(error: ClientError) -> Failed {
        match error {
            ClientError::Lost { status, .. } | ClientError::Refused { status, .. } => Failed::Call(status),
            ClientError::Answer(problem) => Failed::Answer(problem),
            ClientError::OtherRules { .. } => {
                let details = ErrorDetails::with_error_info("RULES_VERSION_MISMATCH", "", []);
                let status = Status::with_error_details(Code::FailedPrecondition, error.to_string(), details);
                Failed::Call(Box::new(status))
            }
            error => Failed::Answer(error.to_string()),
        }
    }
}

/// The exception for an answer that does not fit.
pub(crate) fn unfit(error: DecodeError) -> PyErr {
    AnswerError::new_err(error.to_string())
}

/// The exception for a failed call of the Rust client.
pub(crate) fn raised(error: ClientError) -> PyErr {
    Failed::from(error).raised()
}

/// What Python learns of a failure: the name of its code, its message, its reason, metadata, violations as pairs of a field
/// and a problem, the seconds to wait before another try, and the id of the request.
pub(crate) type Failure =
    (&'static str, String, String, HashMap<String, String>, Vec<(String, String)>, Option<f64>, String);

/// What the status of a failed call says. The code of success, with which nothing fails, is of no known kind.
pub(crate) fn described(status: &Status) -> Failure {
    let info = status.get_details_error_info();
    let (reason, metadata) = info.map(|info| (info.reason, info.metadata)).unwrap_or_default();
    let violations =
        status.get_details_bad_request().map(|request| request.field_violations).unwrap_or_default();
    let request_id = status.get_details_request_info().map(|info| info.request_id).unwrap_or_default();
    (
        match status.code() {
            Code::Ok => "UNKNOWN",
            code => code_name(code as i32),
        },
        status.message().to_owned(),
        reason,
        metadata,
        violations.into_iter().map(|violation| (violation.field, violation.description)).collect(),
        retry_delay(status).map(|delay| delay.as_secs_f64()),
        request_id,
    )
}

/// The status of a failed call. The status of a server stays as it is.
///
/// tonic reports a broken connection by several codes, gRPC by `UNAVAILABLE` alone. Other codes of both stand for peers that
/// violate HTTP/2.
pub(crate) fn failure(status: Status) -> Status {
    let Some(cause) = status.source() else { return refused_here(status) };
    match status.code() {
        Code::Cancelled if status.message() == "Timeout expired" => {
            Status::deadline_exceeded("Deadline Exceeded")
        }
        Code::Cancelled | Code::Unknown | Code::Unavailable => {
            Status::unavailable(format!("the connection failed: {}", innermost(cause)))
        }
        code => Status::new(code, innermost(cause)),
    }
}

/// The status of an answer that this side refuses because it is too large or compressed.
fn refused_here(status: Status) -> Status {
    match status.code() {
        Code::OutOfRange if status.message().starts_with("Error, decoded message length too large") => {
            Status::resource_exhausted(format!("Received message larger than max: {}", status.message()))
        }
        Code::Unimplemented if status.message().starts_with("Content is compressed") => {
            Status::unimplemented(format!("Compression algorithm not accepted: {}", status.message()))
        }
        _ => status,
    }
}
