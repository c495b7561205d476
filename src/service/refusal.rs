//! Refusals: every error that a handler can return, as a plain value with a message for people.
//!
//! Errors of lower modules become refusals here, where the path of the wrong field is known. Codes, reasons and headers
//! are in [`super::status`].

use std::sync::Arc;
use std::time::Duration;

use tetrion_core::env::{
    ActionError, CreateError, EnvIdError, NotReset, ReadError, ResetError, RestoreError, StepError,
    WrongLength,
};
use tetrion_protocol::codec::Unfit;
use tetrion_protocol::{DecodeError, Fault, InField};
use tetrion_toolkit::prompts::UnknownAction;

use super::brake::Brake;
use super::budget::Spent;
use super::context::CallContext;
use super::pressure::Pressed;

/// Limit on log lines about bugs.
static BUGS: Brake = Brake::new(20);

/// The reason why a call is refused: every error that a handler can return.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The server cannot understand the request.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The bytes are not a message of the type that the call takes.
    #[error("the request cannot be read: {0}")]
    Unreadable(String),
    /// A message of the request is too heavy or has an unknown field.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A request message is too long for its method.
    #[error("the message has {length} bytes, expected at most {max_bytes}")]
    RequestTooLarge {
        /// Length of the message, as far as it is known.
        length: String,
        /// Most bytes of a message for this method.
        max_bytes: u32,
    },
    /// No session has this name.
    #[error("there is no session {0:?}")]
    SessionNotFound(String),
    /// The session's lease ran out.
    #[error("the lease of session {0:?} has run out")]
    SessionExpired(String),
    /// The request_id belongs to an earlier request.
    #[error("request_id {0:?} belongs to an earlier request")]
    RequestIdReused(String),
    /// The server or the caller has reached its limit on sessions.
    #[error("{scope} has reached its limit on sessions, {limit}")]
    SessionLimit {
        /// The owner of the limit.
        scope: Scope,
        limit: u32,
        /// Time until the next lease may expire.
        retry_after: Duration,
    },
    /// The server or the caller has reached its limit on environments.
    #[error("{scope} has {used} environments of at most {limit}; the request needs {wanted} more")]
    EnvLimit {
        /// The owner of the limit.
        scope: Scope,
        /// Number of environments in use.
        used: u32,
        limit: u32,
        /// Number of environments that the request adds.
        wanted: u32,
        /// Time until the next lease may expire.
        retry_after: Duration,
    },
    /// The limit on evaluations is reached.
    #[error("{scope} has reached its limit on evaluations, {limit}")]
    EvaluationLimit {
        /// The owner of the limit.
        scope: Scope,
        limit: u32,
        /// Time after which to try again.
        retry_after: Duration,
    },
    /// No evaluation may run, now or later.
    #[error("{scope} may run no evaluations: {limit} is 0; raise it, or use another server")]
    NoEvaluations {
        /// The owner of the limit.
        scope: Scope,
        /// The limit, under the name that the operator knows.
        limit: &'static str,
    },
    /// The limit on watches is reached.
    #[error("{scope} has reached its limit on watches, {limit}")]
    WatchLimit {
        /// The owner of the limit.
        scope: Scope,
        limit: u32,
    },
    /// The answer stayed unread for so long that another call took over the place.
    #[error("the answer was not read for {} s, and other calls waited", .0.as_secs_f64())]
    AnswerUnread(Duration),
    /// The call would occupy the threads for too long.
    #[error(
        "the call would take about {:.3} s of one core, expected at most {:.3} s",
        .work.as_secs_f64(),
        .limit.as_secs_f64()
    )]
    TooMuchWork {
        /// Estimated time on one core.
        work: Duration,
        /// Longest time that a call may take.
        limit: Duration,
    },
    /// The process uses nearly all of the memory that it may use.
    #[error("the server uses {used} of {memory} bytes of memory; try again later, or ask for less at a time")]
    MemoryPressure {
        /// Bytes that the process uses.
        used: u64,
        /// Bytes that it may use.
        memory: u64,
    },
    /// Too little memory for a session.
    #[error("{field} needs {bytes} more bytes: sessions take {taken} of {limit} bytes")]
    MemoryLimit {
        /// Field of the request that needs the memory.
        field: &'static str,
        /// Bytes that the call needs.
        bytes: u64,
        /// Limit on the bytes of all sessions.
        limit: u64,
        taken: u64,
    },
    /// Too little memory for an evaluation.
    #[error(
        "the evaluation could need {bytes} bytes: evaluations hold {taken} of {limit} bytes, and this caller has used its share of the rest"
    )]
    EvaluationMemoryLimit {
        /// Most bytes that the evaluation may need.
        bytes: u64,
        /// Limit on the bytes of evaluations, of this caller or of all.
        limit: u64,
        taken: u64,
    },
    /// Too little memory for an answer.
    #[error(
        "no room for an answer of up to {bytes} bytes: unread answers hold {taken} of {limit} bytes, and this connection has used its share of the rest"
    )]
    AnswerLimit {
        /// Most bytes of the answer.
        bytes: u64,
        /// Limit on the bytes of answers, of this connection or of the server.
        limit: u64,
        taken: u64,
    },
    /// Too little memory for a request.
    #[error(
        "no room for a message of {bytes} bytes: incoming requests hold {taken} of {limit} bytes, and this connection has used its share of the rest"
    )]
    RequestLimit {
        bytes: u64,
        /// Limit on the bytes of requests, of this connection or of the server.
        limit: u64,
        taken: u64,
    },
    /// The rest of the request did not arrive.
    #[error("the rest of the request did not arrive within {} s", .patience.as_secs_f64())]
    SlowRequest {
        /// Time that the server has waited.
        patience: Duration,
    },
    /// The connection has used its share of the calls in progress.
    #[error("this connection has used its share of the {limit} calls in progress")]
    CallLimit { limit: u64 },
    /// A sequence number that is neither the next one nor the last one with an identical request.
    #[error(
        "sequence_number is {got}, expected {expected}, or the last request again with its sequence_number"
    )]
    SequenceMismatch {
        /// The number that the session would take next.
        expected: u64,
        /// The number in the request.
        got: u64,
    },
    /// The answer could be larger than the client accepts.
    #[error("the answer could exceed {max_bytes} bytes; {max_rows} rows would fit")]
    ResponseTooLarge {
        /// Rows that fit into an answer of the largest accepted size.
        max_rows: u64,
        /// Largest accepted size: the client's limit, or the server's default.
        max_bytes: u32,
    },
    /// Environments in which no episode has started.
    #[error(transparent)]
    NotReset(#[from] NotReset),
    /// Actions that the environments refuse.
    #[error(transparent)]
    Action(#[from] ActionError),
    /// A text that is no legal action.
    #[error("text_actions[{row}]: {unknown}")]
    TextAction {
        /// Index in the list of texts.
        row: u32,
        /// The text and the legal actions.
        unknown: UnknownAction,
    },
    /// The server requires a token, and the call has no token or an unknown one.
    #[error("{0}: this server expects the metadata `authorization: Bearer TOKEN`")]
    InvalidToken(&'static str),
    /// The request names an unknown host.
    #[error(
        "the host {host:?} is unknown, expected localhost, a loopback address, or a name given with --allow-host"
    )]
    UnknownHost {
        /// The host that the request names.
        host: String,
    },
    /// The server is shutting down.
    #[error("the server is going down")]
    Draining {
        /// Time after which to try again.
        retry_after: Duration,
    },
    /// A bug. The server's log has it, with the id of the request.
    #[error("internal error{}", .id.as_ref().map(|id| format!(" in request {id}")).unwrap_or_default())]
    Internal {
        /// The id of the request; `None` for a service without a server around it.
        id: Option<String>,
    },
}

/// The owner of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The server: other callers may have used up the limit.
    Server,
    Session,
    /// The caller: a connection, for tokens without names.
    Connection,
    /// The caller: the token with this name.
    Token(Arc<str>),
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scope::Server => f.write_str("the server"),
            Scope::Session => f.write_str("the session"),
            Scope::Connection => f.write_str("this connection"),
            Scope::Token(name) => write!(f, "the token {name:?}"),
        }
    }
}

impl Refusal {
    /// A refusal of an argument, with the path of its field.
    pub fn field(field: impl Into<String>, problem: impl Into<String>) -> Refusal {
        DecodeError::field(field, problem).into()
    }

    /// This refusal for a message that is the field `name` of another message.
    #[must_use]
    pub fn in_field(self, name: &str) -> Refusal {
        match self {
            Refusal::Decode(error) => Refusal::Decode(error.in_field(name)),
            other => other,
        }
    }

    /// Refuses a call that hit a bug. Logs `what` with the id of the request, which the caller gets too.
    pub fn internal(what: &str) -> Refusal {
        if let Some(withheld) = BUGS.pass() {
            CallContext::log(|| tracing::error!(what, withheld, "a bug"));
        }
        Refusal::Internal { id: CallContext::current().map(|call| call.request_id().to_owned()) }
    }
}

impl From<EnvIdError> for Refusal {
    fn from(error: EnvIdError) -> Refusal {
        let (EnvIdError::Unknown { row, .. }
        | EnvIdError::Repeated { row, .. }
        | EnvIdError::Alone { row, .. }) = error;
        Refusal::field(format!("envs.ids[{row}]"), error.to_string())
    }
}

impl From<WrongLength> for Refusal {
    fn from(error: WrongLength) -> Refusal {
        Refusal::field(error.what.replace(' ', "_"), error.to_string())
    }
}

impl From<CreateError> for Refusal {
    fn from(error: CreateError) -> Refusal {
        match error {
            CreateError::Rules(error) => DecodeError::from(error).into(),
            CreateError::NoEnvironments | CreateError::OddMatch(_) => {
                Refusal::field("num_envs", error.to_string())
            }
            CreateError::FeatureWidth { .. } => Refusal::field("features", error.to_string()),
            CreateError::Seeding(error) => Refusal::field("seeding", error.to_string()),
        }
    }
}

impl From<ResetError> for Refusal {
    fn from(error: ResetError) -> Refusal {
        match error {
            ResetError::EnvIds(error) => error.into(),
            ResetError::Seeding(error) => Refusal::field("seeding", error.to_string()),
        }
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Refusal {
        match error {
            ReadError::EnvIds(error) => error.into(),
            ReadError::NotReset(error) => error.into(),
        }
    }
}

impl From<RestoreError> for Refusal {
    fn from(error: RestoreError) -> Refusal {
        let text = error.to_string();
        match error {
            RestoreError::EnvIds(error) => error.into(),
            RestoreError::WrongLength(_) => Refusal::field("positions", text),
            RestoreError::OtherRules { .. } => DecodeError::RulesMismatch(text).into(),
            RestoreError::OtherMatch { row, .. } => {
                Refusal::field(format!("positions.snapshots.states[{row}]"), text)
            }
            RestoreError::Position { row, error } => {
                let field = format!("positions.drawings.drawings[{row}]");
                DecodeError::invalid(Fault::Position, field, error.to_string()).into()
            }
        }
    }
}

impl From<StepError> for Refusal {
    fn from(error: StepError) -> Refusal {
        match error {
            StepError::EnvIds(error) => error.into(),
            StepError::WrongLength(error) => error.into(),
            StepError::NotReset(error) => error.into(),
            StepError::Action(error) => error.into(),
        }
    }
}

impl Refusal {
    /// The refusal of an amount that a budget does not grant. `limit` makes it from the budget's limit and the amount
    /// taken from the budget.
    pub fn spent(spent: Spent, limit: impl FnOnce(u64, u64) -> Refusal) -> Refusal {
        match spent {
            Spent::Limit { limit: of_budget, taken } => limit(of_budget, taken),
            Spent::Pressure(pressed) => pressed.into(),
        }
    }
}

impl From<Pressed> for Refusal {
    fn from(Pressed { used, memory }: Pressed) -> Refusal {
        Refusal::MemoryPressure { used, memory }
    }
}
