//! A server on a free port, a clock that only tests move, and the requests that only these tests make.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tetrion_core::pool::Pool;
use tetrion_protocol::limits::MAX_RESPONSE_BYTES;
use tetrion_protocol::pb;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_service::{
    CallPool, Caller, CallerLimits, Clock, Environments, Pressure, ServerFacts, ServerLimits, SessionStore,
};
use tetrion_service_testing::Client;
use tonic::metadata::MetadataValue;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Status};

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
    /// Clock of the leases.
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
    start_with(ServerLimits::default()).await
}

/// A server with these limits.
pub async fn start_with(limits: ServerLimits) -> TestServer {
    let clock = TestClock::default();
    let store = Arc::new(SessionStore::new(limits, clock.clock(), &Pressure::default()));
    let incoming =
        TcpIncoming::bind(([127, 0, 0, 1], 0).into()).expect("a free port").with_nodelay(Some(true));
    let addr = incoming.local_addr().expect("an address");
    let calls = CallPool::new(Pool::new(1).expect("a thread"), limits.max_call_work, Pressure::default());
    let facts = ServerFacts { limits, ..ServerFacts::default() };
    let service = Environments::new(store.clone(), calls, facts).into_server();
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
    /// A client over a new connection.
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

/// Names of observations or infos.
pub fn field_names(names: &[&str]) -> Option<pb::FieldNames> {
    Some(pb::FieldNames { names: names.iter().map(|&name| name.to_owned()).collect() })
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

/// A drawn playfield and its current piece.
pub fn drawing(rows: &[&str], piece: &str) -> pb::Drawing {
    let rows = rows.iter().map(|&row| row.to_owned()).collect();
    pb::Drawing { rows, piece: piece.to_owned(), queue: String::new(), held: String::new() }
}
