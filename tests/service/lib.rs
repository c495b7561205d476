//! What tests say to a server: requests and refusals here, whole servers in [`servers`], whole games in [`evaluations`], requests
//! byte by byte in [`slow`].

pub mod evaluations;
pub mod servers;
pub mod slow;

use prost::Message;
use tetrion_protocol::pb::enumerate_placements_request::Source;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_protocol::{pb, rpc, seeding};
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// The client that a test calls with.
pub type Client = EnvironmentServiceClient<Channel>;

/// Names environments in a request.
pub fn only(ids: impl IntoIterator<Item = u32>) -> Option<pb::EnvIds> {
    Some(pb::EnvIds { ids: ids.into_iter().collect() })
}

/// What an error says: its code, its reason and its details.
#[derive(Debug)]
pub struct RefusalDetails {
    pub code: Code,
    /// `ErrorInfo.reason`.
    pub reason: String,
    pub message: String,
    pub details: ErrorDetails,
}

impl RefusalDetails {
    /// An entry of `ErrorInfo.metadata`, which the error must have.
    #[track_caller]
    pub fn metadata(&self, key: &str) -> &str {
        let info = self.details.error_info().expect("ErrorInfo");
        info.metadata.get(key).unwrap_or_else(|| panic!("no {key} in {:?}", info.metadata))
    }

    /// Paths of the fields that BadRequest names.
    pub fn fields(&self) -> Vec<&str> {
        let violations = self.details.bad_request().map(|bad| bad.field_violations.as_slice());
        violations.unwrap_or_default().iter().map(|violation| violation.field.as_str()).collect()
    }
}

/// Reads an error, and checks what all errors have in common.
#[track_caller]
pub fn refusal_of(status: &Status) -> RefusalDetails {
    let details = status.get_error_details();
    let info = details.error_info().unwrap_or_else(|| panic!("no ErrorInfo in {status:?}"));
    assert_eq!(info.domain, "tetrion.dev", "{status:?}");
    assert!(status.details().len() <= 4096, "{} bytes of details", status.details().len());
    assert!(!status.message().is_empty());
    let reason = info.reason.clone();
    RefusalDetails { code: status.code(), reason, message: status.message().to_owned(), details }
}

/// The reason in the details of an error that arrived as a message.
pub fn reason(error: &rpc::Status) -> String {
    let status =
        tonic::Status::with_details(error.code.into(), &*error.message, error.encode_to_vec().into());
    refusal_of(&status).reason
}

/// Expects a refusal with a code and a reason.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(got: Result<T, Status>, code: Code, reason: &str) -> RefusalDetails {
    let reported = refusal_of(&got.expect_err("a refusal"));
    assert_eq!((reported.code, reported.reason.as_str()), (code, reason), "{}", reported.message);
    reported
}

/// A session configuration from the fields that matter.
pub fn config(num_envs: u32, seed: u64) -> pb::SessionConfig {
    pb::SessionConfig { num_envs, seeding: Some(seeding::from_seed(seed)), ..Default::default() }
}

/// Creates a session, for which there must be room.
pub async fn create(client: &mut Client, config: pb::SessionConfig) -> pb::Session {
    let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
    let response = client.create_session(request).await.expect("room for a session");
    response.into_inner().session.expect("a session")
}

/// A request to reset all environments of a session.
pub fn reset(session: &str) -> pb::ResetRequest {
    pb::ResetRequest { session: session.to_owned(), ..Default::default() }
}

/// A request to step all environments of a session.
pub fn step(session: &str, actions: &[i32]) -> pb::StepRequest {
    let actions = Some(tetrion_protocol::tensor::encode(vec![actions.len() as u32], actions));
    pb::StepRequest { session: session.to_owned(), actions, ..Default::default() }
}

/// A request for every placement, of environments or of positions.
pub fn enumerate(source: impl Into<Asked>) -> pb::EnumeratePlacementsRequest {
    let source = match source.into() {
        Asked::Envs(envs) => Source::SessionEnvs(envs),
        Asked::Positions(positions) => Source::Positions(*positions),
    };
    pb::EnumeratePlacementsRequest { source: Some(source), ..Default::default() }
}

/// Whose placements a request asks for.
#[derive(Debug)]
pub enum Asked {
    /// The environments of a session.
    Envs(pb::SessionEnvs),
    /// Positions that the request contains.
    Positions(Box<pb::Positions>),
}

impl From<pb::SessionEnvs> for Asked {
    fn from(envs: pb::SessionEnvs) -> Asked {
        Asked::Envs(envs)
    }
}

impl From<pb::Positions> for Asked {
    fn from(positions: pb::Positions) -> Asked {
        Asked::Positions(Box::new(positions))
    }
}
