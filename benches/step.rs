//! What a Step costs from end to end: the handler by itself, one call a step, and a stream with one request under way or
//! sixteen.
//!
//! Server and client share this process, and talk over a loopback socket; `tetrion bench` has the same with a process for
//! each. Figures are environment steps: `cargo bench --bench step`. Pieces are placed as they appear, so episodes are
//! short; they begin again in the step that ends them.

use std::sync::Arc;

use divan::counter::ItemsCount;
use tetrion::pool::Pool;
use tetrion::protocol::limits::DEFAULT_MAX_CALL_WORK;
use tetrion::protocol::pb;
use tetrion::protocol::pb::environment_service_server::EnvironmentService;
use tetrion::server::{Server, ServerConfig};
use tetrion::service::{CallPool, Clock, Environments, Pressure, ServerFacts, SessionStore, StoreLimits};
use tetrion::workloads::Remote;
use tetrion::workloads::remote::{RemoteSession, config, step_requests};
use tokio::runtime::Runtime;
use tonic::Request;

fn main() {
    divan::main();
}

const NUM_ENVS: [u32; 4] = [1, 64, 256, 4096];

/// The handler, without a socket: decode, call, encode.
#[divan::bench(args = NUM_ENVS)]
fn handler(bencher: divan::Bencher, num_envs: u32) {
    let runtime = Runtime::new().unwrap();
    let store = Arc::new(SessionStore::new(StoreLimits::default(), Clock::system(), &Pressure::default()));
    let calls = CallPool::new(Pool::new(0).unwrap(), DEFAULT_MAX_CALL_WORK, Pressure::default());
    let service = Environments::new(store, calls, ServerFacts::default());
    let requests = runtime.block_on(async {
        let create = pb::CreateSessionRequest { config: Some(config(num_envs, false)), ..Default::default() };
        let session = service.create_session(Request::new(create)).await.unwrap();
        let name = session.into_inner().session.unwrap().name;
        let reset = pb::ResetRequest { session: name.clone(), ..Default::default() };
        EnvironmentService::reset(&service, Request::new(reset)).await.unwrap();
        step_requests(&name, num_envs)
    });
    let mut requests = requests.iter().cycle();
    bencher.counter(ItemsCount::new(num_envs)).bench_local(|| {
        let request = Request::new(requests.next().unwrap().clone());
        runtime.block_on(EnvironmentService::step(&service, request)).unwrap()
    });
}

/// A server on threads of its own, and a session on it; the server ends with the runtime.
fn session(num_envs: u32) -> (Runtime, RemoteSession) {
    let runtime = Runtime::new().unwrap();
    let address = runtime.block_on(async {
        let listen = ([127, 0, 0, 1], 0).into();
        let server = Server::bind(ServerConfig { listen, ..ServerConfig::default() }).await.unwrap();
        let address = server.local_addr().to_string();
        tokio::spawn(server.run(std::future::pending()));
        address
    });
    let session = Remote::connect(&address).and_then(|remote| remote.session(num_envs, false)).unwrap();
    (runtime, session)
}

/// One call per step, the next after the answer.
#[divan::bench(args = NUM_ENVS)]
fn unary(bencher: divan::Bencher, num_envs: u32) {
    let (_server, mut session) = session(num_envs);
    bencher.counter(ItemsCount::new(num_envs)).bench_local(|| session.step().unwrap());
}

/// A stream with some requests under way at a time.
fn streamed(bencher: divan::Bencher, num_envs: u32, ahead: usize) {
    let (_server, session) = session(num_envs);
    let mut stream = session.stream(ahead).unwrap();
    bencher.counter(ItemsCount::new(num_envs)).bench_local(|| stream.step().unwrap());
}

/// A stream, each request sent when the answer before it has come.
#[divan::bench(args = NUM_ENVS)]
fn stream(bencher: divan::Bencher, num_envs: u32) {
    streamed(bencher, num_envs, 1);
}

/// A stream with sixteen requests under way.
#[divan::bench(args = NUM_ENVS)]
fn stream_16_ahead(bencher: divan::Bencher, num_envs: u32) {
    streamed(bencher, num_envs, 16);
}
