//! A server on a free port, a clock that only tests move, and the sentences that tests repeat.

mod evaluations;
mod servers;
mod slow;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use prost::Message;
use tetrion_core::pool::Pool;
use tetrion_protocol::limits::{DEFAULT_MAX_CALL_WORK, MAX_RESPONSE_BYTES};
use tetrion_protocol::pb::enumerate_placements_request::Source;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_protocol::{pb, rpc, seeding};
use tetrion_service::{
    CallPool, Caller, CallerLimits, Clock, Environments, Pressure, ServerFacts, SessionStore, StoreLimits,
};
use tonic::metadata::MetadataValue;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Status};
use tonic_types::{ErrorDetails, StatusExt};

pub use evaluations::{
    Answer, EvaluationClient, Refused, WEIGHTS, ask, column, endless, evaluated, matrix, named, next, rows,
    rules, until_there_is_room, weighing,
};
pub use servers::{connect_with, evaluating, evaluating_with, listen_with, send, serve};
pub use slow::{announced, call, call_encoded};

/// The client that a test calls with.
pub type Client = EnvironmentServiceClient<Channel>;

/// A clock that stands still until a test moves it.
#[derive(Clone, Debug, Default)]
pub struct TestClock(Arc<AtomicU64>);

impl TestClock {
    /// Moves the clock forward, without waiting.
    pub fn advance(&self, time: Duration) {
        self.0.fetch_add(time.as_nanos() as u64, Ordering::SeqCst);
    }

    fn clock(&self) -> Clock {
        let nanoseconds = self.0.clone();
        Clock::new(SystemTime::UNIX_EPOCH, move || Duration::from_nanos(nanoseconds.load(Ordering::SeqCst)))
    }
}

/// A running server; it stops when it goes out of scope.
#[derive(Debug)]
pub struct TestServer {
    addr: SocketAddr,
    /// What its leases run on.
    pub clock: TestClock,
    /// Sessions of the server, as the server itself sees them.
    pub store: Arc<SessionStore>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A server with the limits that servers have.
pub async fn start() -> TestServer {
    start_with(StoreLimits::default()).await
}

/// A server with these limits.
pub async fn start_with(limits: StoreLimits) -> TestServer {
    let clock = TestClock::default();
    let store = Arc::new(SessionStore::new(limits, clock.clock(), &Pressure::default()));
    let incoming =
        TcpIncoming::bind(([127, 0, 0, 1], 0).into()).expect("a free port").with_nodelay(Some(true));
    let addr = incoming.local_addr().expect("an address");
    let calls = CallPool::new(Pool::new(1).expect("a thread"), DEFAULT_MAX_CALL_WORK, Pressure::default());
    let service = Environments::new(store.clone(), calls, ServerFacts::default()).into_server();
    let service = InterceptedService::new(service, name_caller);
    let serving = Server::builder()
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(16 << 20)
        .add_service(service)
        .serve_with_incoming(incoming);
    let serving = tokio::spawn(async move { serving.await.expect("a server that serves") });
    TestServer { addr, clock, store, serving }
}

/// The limits of the caller `small`; other callers have the limits of the server.
pub const SMALL: CallerLimits =
    CallerLimits { max_sessions: Some(2), max_envs: Some(5), max_evaluations: Some(1), max_watches: Some(1) };

/// Takes the caller from the metadata, as the layer around the calls takes it from the token.
fn name_caller(mut request: Request<()>) -> Result<Request<()>, Status> {
    if let Some(name) = request.metadata().get("x-caller") {
        let caller = Caller::named(name.to_str().expect("a name"));
        if caller.name() == "small" {
            request.extensions_mut().insert(SMALL);
        }
        request.extensions_mut().insert(caller);
    }
    Ok(request)
}

/// A request of the caller with this name.
pub fn by<T>(caller: &'static str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("x-caller", MetadataValue::from_static(caller));
    request
}

impl TestServer {
    /// A client with a connection of its own.
    pub async fn client(&self) -> Client {
        let channel = self.channel().await;
        EnvironmentServiceClient::new(channel).max_decoding_message_size(MAX_RESPONSE_BYTES as usize)
    }

    /// Opens a connection with windows for large messages.
    pub async fn channel(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.addr)).expect("an address");
        let endpoint = endpoint
            .tcp_nodelay(true)
            .initial_stream_window_size(4 << 20)
            .initial_connection_window_size(16 << 20);
        endpoint.connect().await.expect("a server that listens")
    }
}

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

/// Names of observations or infos.
pub fn field_names(names: &[&str]) -> Option<pb::FieldNames> {
    Some(pb::FieldNames { names: names.iter().map(|&name| name.to_owned()).collect() })
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

/// The numbers of a tensor.
#[track_caller]
pub fn numbers(tensor: &pb::Tensor) -> Vec<f64> {
    use pb::DataType::*;
    use tetrion_protocol::tensor::Element;
    fn read<T: Element>(data: &[u8], widen: impl Fn(T) -> f64) -> Vec<f64> {
        data.chunks_exact(T::SIZE).map(|bytes| widen(T::from_le(bytes))).collect()
    }
    let data = &tensor.data;
    let numbers = match tensor.dtype() {
        Uint8 | Bool => read::<u8>(data, f64::from),
        Int8 => read::<i8>(data, f64::from),
        Uint16 => read::<u16>(data, f64::from),
        Int32 => read::<i32>(data, f64::from),
        Uint32 => read::<u32>(data, f64::from),
        Int64 => read::<i64>(data, |number| number as f64),
        Uint64 => read::<u64>(data, |number| number as f64),
        Float32 => read::<f32>(data, f64::from),
        Float64 => read::<f64>(data, |number| number),
        Int16 | Float16 | Bfloat16 => panic!("no field has the type {:?}", tensor.dtype()),
        Unspecified => panic!("a tensor without an element type"),
    };
    assert_eq!(tensor.shape.iter().product::<u32>() as usize, numbers.len(), "{:?}", tensor.shape);
    assert!(tensor.values.is_empty(), "answers have no values");
    numbers
}

/// A request for snapshots of all environments.
pub fn save(session: &str) -> pb::SaveStateRequest {
    pb::SaveStateRequest { session: session.to_owned(), ..Default::default() }
}

/// A request to put all environments into positions.
pub fn restore(session: &str, positions: pb::Positions) -> pb::RestoreStateRequest {
    pb::RestoreStateRequest { session: session.to_owned(), positions: Some(positions), ..Default::default() }
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

/// A drawn playfield and its current piece.
pub fn drawing(rows: &[&str], piece: &str) -> pb::Drawing {
    let rows = rows.iter().map(|&row| row.to_owned()).collect();
    pb::Drawing { rows, piece: piece.to_owned(), queue: String::new(), held: String::new() }
}
