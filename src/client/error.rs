//! What can go wrong between a client and its servers.

use std::error::Error as _;
use std::time::Duration;

use prost::Message;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use tetrion_protocol::{duration, rpc};

/// Why a server did not do what the client asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No address, or an invalid one.
    #[error("{address:?} is not a server address, expected HOST:PORT such as 127.0.0.1:50451")]
    Address { address: String },
    /// The token does not fit into a header.
    #[error("the token cannot be sent, expected printable ASCII characters, no space at either end")]
    UnsendableToken,
    /// No server listens at the address.
    #[error("no server answers at {address}: {reason}; start one with `tetrion serve`")]
    Connect { address: String, reason: String },
    /// The program at the address is not a Tetrion server.
    #[error("the program at {address} is not a Tetrion server: {reason}")]
    Foreign {
        address: String,
        /// Evidence that the program is another one, in words.
        reason: String,
    },
    /// The server answers but takes no calls: it is starting or draining.
    #[error("the server at {address} is not serving: it is starting or draining")]
    NotServing { address: String },
    /// A server that does not know all of the protocol that this client uses.
    #[error(
        "the server at {address} is Tetrion {version} with protocol_revision {got}, this client needs {expected}; use a newer server"
    )]
    Revision {
        address: String,
        version: String,
        got: u32,
        /// The revision that this client needs.
        expected: u32,
    },
    /// The server refused the request.
    #[error("{message}")]
    Refused {
        /// The reason by name, such as `UNKNOWN_NAME`; empty if the server gave none.
        reason: String,
        message: String,
        /// The status of the call, with everything else that the server said.
        status: Box<Status>,
    },
    /// A call broke on the way, or found the server busy or shutting down; another server may answer.
    #[error("lost the server at {address}: {message}")]
    Lost {
        address: String,
        message: String,
        /// The status of the call.
        status: Box<Status>,
    },
    /// A session was lost with its server, and the server that is there now plays by another version of the rules.
    #[error(
        "the session was lost with its server, and the one that is there now has the rules version {got:?} instead of {expected:?}"
    )]
    OtherRules {
        got: String,
        /// Version of the rules of the session.
        expected: String,
    },
    /// The client cannot read the server's answer.
    #[error("cannot read the server's answer: {0}")]
    Answer(String),
}

impl ClientError {
    /// Whether a server refused the content of the request: a field, a name, rules that contradict each other. Every
    /// server of this version would refuse it again.
    pub fn is_invalid_request(&self) -> bool {
        let ClientError::Refused { reason, .. } = self else { return false };
        ["INVALID_FIELD", "INVALID_TENSOR", "INVALID_RULES", "UNKNOWN_NAME"].contains(&reason.as_str())
    }

    /// Whether the server is gone, so that it may do the call when it is back. One that is late, or busy, is not.
    pub(super) fn is_gone(&self) -> bool {
        let ClientError::Lost { status, .. } = self else { return false };
        match (status.get_details_error_info(), status.code()) {
            (Some(info), _) => info.reason == "DRAINING",
            (None, Code::Unavailable) => true,
            // tonic's own deadline, which it reports as a broken call.
            (None, Code::Cancelled) if status.message() == "Timeout expired" => false,
            (None, Code::Cancelled | Code::Unknown) => status.source().is_some(),
            (None, _) => false,
        }
    }

    /// Whether the server does not have the session of the call.
    pub(super) fn is_session_lost(&self) -> bool {
        matches!(self, ClientError::Refused { reason, .. } if reason == "SESSION_NOT_FOUND" || reason == "SESSION_EXPIRED")
    }

    /// Whether a server runs no evaluations, because its limit on them is 0. Another server may run them.
    pub(super) fn is_without_places(&self) -> bool {
        matches!(self, ClientError::Refused { reason, .. } if reason == NO_PLACE)
    }
}

/// The reason of a server without a free place for an evaluation; a server that will have a place says when to try
/// again.
const NO_PLACE: &str = "EVALUATION_LIMIT";

/// Refusals that may end in a second, or that another server may not give.
const BUSY: [&str; 6] =
    ["ANSWER_LIMIT", "ANSWER_UNREAD", "CALL_LIMIT", "DRAINING", "REQUEST_LIMIT", "SLOW_REQUEST"];

/// How long the server asks a caller to wait before another try, if it does.
pub fn retry_delay(status: &Status) -> Option<Duration> {
    // Not by `StatusExt`, which overflows if a hostile server sends the longest time before now.
    let details = rpc::Status::decode(status.details()).ok()?.details;
    let info = details.iter().find(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"))?;
    duration::decode(&rpc::RetryInfo::decode(info.value.as_slice()).ok()?.retry_delay?)
}

/// An answer that the client cannot read.
pub(super) fn unreadable(problem: impl ToString) -> ClientError {
    ClientError::Answer(problem.to_string())
}

/// A call that ended too early.
pub(super) fn lost(address: &str, message: &str) -> ClientError {
    let status = Box::new(Status::unavailable(message));
    ClientError::Lost { address: address.to_owned(), message: message.to_owned(), status }
}

/// The error of a status. Every refusal by a server carries an `ErrorInfo`; an error without one happened on the way, or
/// is an answer that this side refuses, or comes from another program.
pub(super) fn error(address: &str, status: &Status) -> ClientError {
    let info = status.get_details_error_info();
    let lost = match (&info, status.code()) {
        (Some(info), _) if info.reason == NO_PLACE => retry_delay(status).is_some(),
        (Some(info), _) => BUSY.contains(&info.reason.as_str()),
        (None, Code::Cancelled | Code::DeadlineExceeded | Code::Unavailable) => true,
        (None, _) => status.source().is_some(),
    };
    let message = match status.message() {
        "" => status.code().to_string(),
        message => message.to_owned(),
    };
    let status = Box::new(status.clone());
    if lost {
        return ClientError::Lost { address: address.to_owned(), message, status };
    }
    ClientError::Refused { reason: info.map(|info| info.reason).unwrap_or_default(), message, status }
}

/// The error of a server's first answer: without an `ErrorInfo` it comes from another program, or from no program at
/// all.
pub(super) fn first(address: &str, status: &Status) -> ClientError {
    let address = address.to_owned();
    if status.get_details_error_info().is_some() {
        return error(&address, status);
    }
    match status.code() {
        Code::Unimplemented => {
            let reason = "it speaks gRPC and has no service tetrion.v1.EnvironmentService".to_owned();
            ClientError::Foreign { address, reason }
        }
        // A client without the right certificate learns so when the server closes the connection.
        Code::Unknown | Code::Cancelled if address.starts_with("https://") => {
            let problem = innermost(status);
            let reason = format!("{problem} (the server may want a certificate of its clients)");
            ClientError::Connect { address, reason }
        }
        Code::Cancelled | Code::DeadlineExceeded => {
            let reason = "it takes connections and answers nothing".to_owned();
            ClientError::Foreign { address, reason }
        }
        Code::Unavailable => ClientError::Connect { address, reason: innermost(status) },
        _ => {
            // A server with a certificate takes a call without encryption for a broken handshake, and hangs up.
            let hint = if address.starts_with("https://") {
                String::new()
            } else {
                format!("; if it has a certificate, its address is https://{}", plain(&address))
            };
            let reason = format!("it does not speak gRPC{hint} ({})", innermost(status));
            ClientError::Foreign { address, reason }
        }
    }
}

/// The host and the port of an address without encryption.
fn plain(address: &str) -> &str {
    address.strip_prefix("http://").unwrap_or(address)
}

/// The innermost cause of an error, since outer errors often say only that there was one.
pub fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
