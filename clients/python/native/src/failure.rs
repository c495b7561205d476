//! Failures on this side of a connection, with the codes of gRPC's own clients.

use std::error::Error;

use tonic::{Code, Status};

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

/// The innermost cause of an error, since outer errors often say only that there was one.
fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
