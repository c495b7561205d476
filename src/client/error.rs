//! What can go wrong between a client and its servers.

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// Why a server did not do what it was asked for.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ClientError {
    /// No address at all, or one that cannot be read.
    #[error("{address:?} is no address of a server, expected HOST:PORT such as 127.0.0.1:50451")]
    Address {
        /// What was given.
        address: String,
    },
    /// A token that no header can hold.
    #[error("the token cannot be sent, expected printable ASCII characters, no space at either end")]
    UnsendableToken,
    /// Nobody listens there.
    #[error("no server answers at {address}: {reason}; start one with `tetrion serve`")]
    Connect {
        /// Where.
        address: String,
        /// What the system says.
        reason: String,
    },
    /// What answers there is something else.
    #[error("what answers at {address} is no Tetrion server: {reason}")]
    Foreign {
        /// Where.
        address: String,
        /// How it shows.
        reason: String,
    },
    /// The server answers and takes no calls: it has not begun, or it is about to end.
    #[error("the server at {address} is not serving: it is starting or draining")]
    NotServing {
        /// Where.
        address: String,
    },
    /// The server is of a version that this client is not made for.
    #[error(
        "the server at {address} is Tetrion {server}, and this client is Tetrion {client}: use one version on both sides"
    )]
    Version {
        /// Where.
        address: String,
        /// Its version.
        server: String,
        /// Ours.
        client: &'static str,
    },
    /// The server was asked for something that it will not do.
    #[error("{message}")]
    Refused {
        /// The reason by name, such as `UNKNOWN_NAME`; empty if it gave none.
        reason: String,
        /// What it says.
        message: String,
    },
    /// A call broke on the way, or found the server busy or going down; another one may do better.
    #[error("lost the server at {address}: {message}")]
    Lost {
        /// Where.
        address: String,
        /// How.
        message: String,
    },
    /// The server said something that this client cannot read.
    #[error("cannot read the server's answer: {0}")]
    Answer(String),
}

impl ClientError {
    /// Whether a server refused what the request itself says: a field, a name, rules that contradict each other. Asked
    /// again, or asked of another server of this version, it is refused again.
    pub fn is_invalid_request(&self) -> bool {
        let ClientError::Refused { reason, .. } = self else { return false };
        ["INVALID_FIELD", "INVALID_TENSOR", "INVALID_RULES", "UNKNOWN_NAME"].contains(&reason.as_str())
    }
}

/// Refusals that may be over in a second, or on another server.
const BUSY: [&str; 7] = [
    "ANSWER_LIMIT",
    "ANSWER_UNREAD",
    "CALL_LIMIT",
    "DRAINING",
    "EVALUATION_LIMIT",
    "REQUEST_LIMIT",
    "SLOW_REQUEST",
];

/// What a server refuses on purpose carries an `ErrorInfo`; what carries none happened on the way.
pub(super) fn error(address: &str, status: &Status) -> ClientError {
    let info = status.get_details_error_info();
    let lost = match (&info, status.code()) {
        (Some(info), _) => BUSY.contains(&info.reason.as_str()),
        (None, Code::Unimplemented | Code::OutOfRange | Code::InvalidArgument) => false,
        (None, _) => true,
    };
    let message = match status.message() {
        "" => status.code().to_string(),
        message => message.to_owned(),
    };
    if lost {
        return ClientError::Lost { address: address.to_owned(), message };
    }
    ClientError::Refused { reason: info.map(|info| info.reason).unwrap_or_default(), message }
}

/// What a server's first answer says: with no `ErrorInfo` it comes from something else, or from nothing at all.
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
        // A client without the right certificate learns of it when the server ends the connection.
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
            let reason = format!("it does not speak gRPC ({})", innermost(status));
            ClientError::Foreign { address, reason }
        }
    }
}

/// What lies under an error that says no more than that there was one.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
