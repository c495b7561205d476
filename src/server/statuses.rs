//! Statuses that no service has created: for panics, for the shutdown, and tonic's own, reworded.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, Response};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use super::codes::{CODES, code_of};
use super::panics::{self, Panic};
use super::request_id;
use tetrion_service::CallContext;
use tetrion_service::status::{Refusal, count};

/// Time after which callers should retry when the server shuts down: another one may be up by then.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Message of a call whose caller left before the request was complete.
const LEFT: &str = "the caller has left";

/// The error of a request whose connection or stream ended early. tonic takes CANCELLED for the end of the request, so
/// [`complete`] makes CANCELLED of it later.
pub(super) fn left() -> Status {
    Status::internal(LEFT)
}

/// Adds the id of its request to an answer.
pub(super) fn with_id<B>(mut response: Response<B>, call: &CallContext) -> Response<B> {
    let id = HeaderValue::from_str(call.request_id()).expect("an id of visible ASCII");
    response.headers_mut().insert(request_id::HEADER, id);
    response
}

/// An error that no service has created, with the id of its request.
fn with_request(code: Code, message: &str) -> Status {
    count(CODES[code as usize]);
    let mut details = ErrorDetails::new();
    if let Some(call) = CallContext::current() {
        details.set_request_info(call.request_id(), "");
    }
    Status::with_error_details(code, message, details)
}

/// Adds the details that all our errors have to an error that no service has created. Rewords tonic's INTERNAL: an
/// unreadable request is the caller's mistake, an answer that cannot be written is a bug.
pub(super) fn complete(headers: &mut HeaderMap) {
    let Some(code) = code_of(headers).filter(|code| *code != Code::Ok) else { return };
    // Our own errors already have details.
    let Some(status) = Status::from_header_map(headers).filter(|status| status.details().is_empty()) else {
        return;
    };
    if code == Code::Cancelled {
        return; // the caller does not read it
    }
    let is_answer =
        ["Error encoding", "Error compressing"].iter().any(|what| status.message().starts_with(what));
    let status = match code {
        // The translation of gRPC-Web wraps it.
        Code::Internal if status.message().contains(LEFT) => Status::cancelled(LEFT),
        Code::Internal if is_answer => Refusal::internal(status.message()).into(),
        Code::Internal => Refusal::Unreadable(status.message().to_owned()).into(),
        code => with_request(code, status.message()),
    };
    let mut completed = HeaderMap::new();
    if status.add_header(&mut completed).is_ok() {
        for (name, value) in &completed {
            headers.insert(name, value.clone());
        }
    }
}

/// Logs a panic, and returns its status.
pub(super) fn internal(panic: Panic) -> Status {
    Refusal::internal(&format!("a panic: {}", panics::text(&*panic))).into()
}

/// The status of a call that was not answered in time.
pub(super) fn deadline_passed() -> Status {
    with_request(Code::DeadlineExceeded, "the deadline of the call has passed")
}

pub(super) fn draining() -> Refusal {
    Refusal::Draining { retry_after: RETRY_AFTER }
}

pub(super) fn token_removed() -> Refusal {
    Refusal::InvalidToken("the token of this stream has been removed")
}
