//! The only table from refusals to the errors that callers get.
//!
//! Each [`Refusal`] becomes a canonical code, a reason for programs (`ErrorInfo`), a message for people, and details of
//! a kind that depends on the reason. The table at the head of `environment_service.proto` says the same in prose.
//!
//! Details travel in an HTTP/2 header. Some client libraries refuse headers of more than 8 KiB and then report an
//! unrelated error. So the server truncates texts from the request before it repeats them: details never exceed
//! [`MAX_DETAILS_BYTES`].

use std::collections::HashMap;
use std::time::Duration;

use prost::Message;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

use tetrion_core::env::{ActionError, NotReset, RefusedAction};
use tetrion_protocol::codec::Unfit;
use tetrion_protocol::limits::MAX_DECODED_BYTES;
use tetrion_protocol::{DecodeError, Fault, rpc};

use super::context::CallContext;
use super::metrics::REFUSALS;
pub use super::refusal::Refusal;

/// `ErrorInfo.domain` of all our errors.
pub const DOMAIN: &str = "tetrion.dev";

/// Bytes of the details of one error.
pub const MAX_DETAILS_BYTES: usize = 4096;

/// Most entries of a list in details; the total number is given separately.
const MAX_ENTRIES: usize = 16;

/// Time after which to try again, if other callers may release what is missing at any moment.
const SHORTLY: Duration = Duration::from_secs(1);

/// Most bytes of a text in details or in a message, which may repeat parts of the request: enough for the names of all
/// features.
const MAX_TEXT_BYTES: usize = 1000;

/// A row of the table: code, reason and details.
struct StatusRow {
    code: Code,
    reason: &'static str,
    details: ErrorDetails,
    metadata: HashMap<String, String>,
}

impl StatusRow {
    fn new(code: Code, reason: &'static str) -> StatusRow {
        StatusRow { code, reason, details: ErrorDetails::new(), metadata: HashMap::new() }
    }

    fn with(mut self, key: &str, value: impl ToString) -> StatusRow {
        self.metadata.insert(key.to_owned(), cut(&value.to_string()));
        self
    }

    /// Adds the first entries of a list of environments.
    fn env_ids(self, env_ids: &[u32]) -> StatusRow {
        let shown: Vec<String> = env_ids.iter().take(MAX_ENTRIES).map(u32::to_string).collect();
        self.with("env_ids", shown.join(",")).with("count", env_ids.len())
    }

    fn field(mut self, field: &str, problem: &str) -> StatusRow {
        self.details.set_bad_request(vec![FieldViolation::new(cut(field), cut(problem))]);
        self
    }

    fn actions(mut self, actions: &[RefusedAction], problem: &str) -> StatusRow {
        let violation = |refused: &RefusedAction| {
            FieldViolation::new(format!("actions[{}]", refused.row), format!("{} {problem}", refused.action))
        };
        let shown: Vec<FieldViolation> = actions.iter().take(MAX_ENTRIES).map(violation).collect();
        self.details.set_bad_request(shown);
        self.with("count", actions.len())
    }

    fn session(mut self, name: &str, message: &str) -> StatusRow {
        self.details.set_resource_info("tetrion.v1.Session", cut(name), "", cut(message));
        self
    }

    fn retry(mut self, after: Duration) -> StatusRow {
        self.details.set_retry_info(Some(after));
        self
    }

    fn quota(mut self, subject: &str, message: &str) -> StatusRow {
        self.details.set_quota_failure(vec![tonic_types::QuotaViolation::new(subject, cut(message))]);
        self
    }
}

impl Refusal {
    fn row(&self, message: &str) -> StatusRow {
        use Code::*;
        match self {
            Refusal::Decode(DecodeError::Invalid { fault, field, problem }) => {
                let reason = match fault {
                    Fault::Field => "INVALID_FIELD",
                    Fault::Tensor => "INVALID_TENSOR",
                    Fault::Rules => "INVALID_RULES",
                    Fault::Position => "INVALID_POSITION",
                    Fault::State => "INVALID_STATE",
                    Fault::UnknownName => "UNKNOWN_NAME",
                };
                StatusRow::new(InvalidArgument, reason).field(field, problem)
            }
            Refusal::Action(ActionError::OutOfRange { actions, num_actions }) => {
                StatusRow::new(InvalidArgument, "ACTION_OUT_OF_RANGE")
                    .actions(actions, &format!("is outside 0 to {}", num_actions - 1))
            }
            Refusal::Action(ActionError::Illegal { actions }) => {
                StatusRow::new(InvalidArgument, "ILLEGAL_ACTION")
                    .actions(actions, "is not in the action mask")
            }
            Refusal::TextAction { row, unknown } => StatusRow::new(InvalidArgument, "ILLEGAL_ACTION")
                .field(&format!("text_actions[{row}]"), &unknown.to_string()),
            Refusal::Unreadable(_) => StatusRow::new(InvalidArgument, "INVALID_MESSAGE"),
            Refusal::ResponseTooLarge { max_rows, max_bytes } => {
                StatusRow::new(InvalidArgument, "RESPONSE_TOO_LARGE")
                    .with("max_rows", max_rows)
                    .with("max_bytes", max_bytes)
            }
            Refusal::TooMuchWork { work, limit } => StatusRow::new(InvalidArgument, "TOO_MUCH_WORK")
                .with("seconds", work.as_secs_f64())
                .with("max_seconds", limit.as_secs_f64()),
            Refusal::InvalidToken(_) => StatusRow::new(Unauthenticated, "INVALID_TOKEN"),
            Refusal::UnknownHost { host } => {
                StatusRow::new(PermissionDenied, "UNKNOWN_HOST").with("host", host)
            }
            Refusal::SessionNotFound(name) => {
                StatusRow::new(NotFound, "SESSION_NOT_FOUND").session(name, message)
            }
            Refusal::SessionExpired(name) => {
                StatusRow::new(NotFound, "SESSION_EXPIRED").session(name, message)
            }
            Refusal::RequestIdReused(_) => {
                StatusRow::new(AlreadyExists, "REQUEST_ID_REUSED").session("", message)
            }
            Refusal::NotReset(NotReset { env_ids }) => {
                StatusRow::new(FailedPrecondition, "NOT_RESET").env_ids(env_ids)
            }
            Refusal::Action(ActionError::EpisodeEnded { env_ids }) => {
                StatusRow::new(FailedPrecondition, "EPISODE_ENDED").env_ids(env_ids)
            }
            Refusal::Decode(DecodeError::RulesMismatch(_)) => {
                StatusRow::new(FailedPrecondition, "RULES_MISMATCH")
            }
            Refusal::Decode(DecodeError::RulesVersionMismatch { expected, got }) => {
                StatusRow::new(FailedPrecondition, "RULES_VERSION_MISMATCH")
                    .with("expected", expected)
                    .with("got", got)
            }
            Refusal::Decode(DecodeError::FeatureSetMismatch { expected, got }) => {
                StatusRow::new(FailedPrecondition, "FEATURE_SET_MISMATCH")
                    .with("expected", expected)
                    .with("got", got)
            }
            Refusal::Decode(DecodeError::RevisionTooOld { expected, got }) => {
                StatusRow::new(FailedPrecondition, "REVISION_TOO_OLD")
                    .with("expected", expected)
                    .with("got", got)
            }
            Refusal::Unfit(Unfit::UnknownField { message, number }) => {
                StatusRow::new(InvalidArgument, "UNKNOWN_FIELD")
                    .with("message", message)
                    .with("number", number)
            }
            Refusal::Unfit(Unfit::TooHeavy { .. }) => {
                StatusRow::new(ResourceExhausted, "REQUEST_TOO_LARGE").with("max_bytes", MAX_DECODED_BYTES)
            }
            Refusal::RequestTooLarge { max_bytes, .. } => {
                StatusRow::new(ResourceExhausted, "REQUEST_TOO_LARGE").with("max_bytes", max_bytes)
            }
            Refusal::SequenceMismatch { expected, got } => {
                StatusRow::new(Aborted, "SEQUENCE_MISMATCH").with("expected", expected).with("got", got)
            }
            Refusal::AnswerUnread(_) => StatusRow::new(Aborted, "ANSWER_UNREAD"),
            Refusal::SessionLimit { retry_after, .. } => StatusRow::new(ResourceExhausted, "SESSION_LIMIT")
                .retry(*retry_after)
                .quota("sessions", message),
            Refusal::EnvLimit { retry_after, .. } => StatusRow::new(ResourceExhausted, "ENV_LIMIT")
                .retry(*retry_after)
                .quota("environments", message),
            Refusal::EvaluationLimit { retry_after, .. } => {
                StatusRow::new(ResourceExhausted, "EVALUATION_LIMIT")
                    .retry(*retry_after)
                    .quota("evaluations", message)
            }
            // Waiting does not help, so there is no RetryInfo.
            Refusal::NoEvaluations { .. } => {
                StatusRow::new(ResourceExhausted, "EVALUATION_LIMIT").quota("evaluations", message)
            }
            Refusal::WatchLimit { limit, .. } => {
                let row = StatusRow::new(ResourceExhausted, "WATCH_LIMIT").quota("watches", message);
                if *limit == 0 { row } else { row.retry(SHORTLY) }
            }
            Refusal::CallLimit { .. } => {
                StatusRow::new(ResourceExhausted, "CALL_LIMIT").retry(SHORTLY).quota("calls", message)
            }
            Refusal::RequestLimit { .. } => {
                StatusRow::new(ResourceExhausted, "REQUEST_LIMIT").retry(SHORTLY).quota("requests", message)
            }
            Refusal::MemoryLimit { .. } => StatusRow::new(ResourceExhausted, "MEMORY_LIMIT")
                .retry(SHORTLY)
                .quota("session_memory", message),
            Refusal::EvaluationMemoryLimit { bytes, limit, .. } => {
                let row =
                    StatusRow::new(ResourceExhausted, "MEMORY_LIMIT").quota("evaluation_memory", message);
                // Waiting does not help a request that is larger than the whole budget.
                if bytes > limit { row } else { row.retry(SHORTLY) }
            }
            Refusal::MemoryPressure { .. } => {
                StatusRow::new(ResourceExhausted, "MEMORY_LIMIT").retry(SHORTLY).quota("memory", message)
            }
            Refusal::AnswerLimit { .. } => {
                StatusRow::new(ResourceExhausted, "ANSWER_LIMIT").retry(SHORTLY).quota("answers", message)
            }
            Refusal::SlowRequest { .. } => StatusRow::new(DeadlineExceeded, "SLOW_REQUEST"),
            Refusal::Draining { retry_after } => StatusRow::new(Unavailable, "DRAINING").retry(*retry_after),
            Refusal::Internal { .. } => StatusRow::new(Internal, "INTERNAL"),
        }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Status {
        let message = cut(&refusal.to_string());
        let StatusRow { code, reason, mut details, metadata } = refusal.row(&message);
        details.set_error_info(reason, DOMAIN, metadata);
        if let Some(call) = CallContext::current() {
            details.set_request_info(call.request_id(), "");
        }
        count(reason);
        let status = Status::with_error_details(code, message, details);
        debug_assert!(
            status.details().len() <= MAX_DETAILS_BYTES,
            "{reason}: {} bytes",
            status.details().len()
        );
        status
    }
}

/// Counts this error in the metrics, and notes its reason in the current call.
pub fn count(reason: &'static str) {
    metrics::counter!(REFUSALS, "reason" => reason).increment(1);
    CallContext::note_reason(reason);
}

/// Converts a refusal to a message, for streams that continue after an error.
impl From<Refusal> for rpc::Status {
    fn from(refusal: Refusal) -> rpc::Status {
        let status = Status::from(refusal);
        rpc::Status::decode(status.details()).expect("details are a google.rpc.Status of our own making")
    }
}

/// The beginning of a text, with a mark if it is truncated.
fn cut(text: &str) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text.to_owned();
    }
    let end = (0..=MAX_TEXT_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}...", &text[..end])
}
