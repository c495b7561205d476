//! What a Step costs from end to end: the handler by itself, one call a step, and a stream with one request on its way or
//! sixteen.
//!
//! Server and client share this process and its threads, and talk over a loopback socket. Figures are environment steps:
//! `cargo bench --bench step`. Every piece goes into column 3, so episodes are short; they begin again in the step that ends
//! them.

use std::sync::Arc;

use divan::counter::ItemsCount;
use tetrion::server::{Server, ServerConfig};
use tetrion::service::{Clock, Environments, ServerFacts, SessionStore, StoreLimits};
use tetrion::wire::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::wire::pb::environment_service_server::EnvironmentService;
use tetrion::wire::pb::step_stream_request::Request as Asked;
use tetrion::wire::{pb, tensor};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Request, Streaming};

fn main() {
    divan::main();
}

const NUM_ENVS: [u32; 4] = [1, 64, 256, 4096];

fn config(num_envs: u32) -> pb::CreateSessionRequest {
    let config = pb::SessionConfig {
        num_envs: Some(num_envs),
        seed: Some(1),
        autoreset_mode: pb::AutoresetMode::SameStep.into(),
        observation_fields: vec!["board_bits".into(), "current".into()],
        ..Default::default()
    };
    pb::CreateSessionRequest { config: Some(config), ..Default::default() }
}

fn step(session: &str, num_envs: u32) -> pb::StepRequest {
    let actions = Some(tensor::encode(vec![num_envs], &vec![3i32; num_envs as usize]));
    pb::StepRequest { session: session.to_owned(), actions, ..Default::default() }
}

/// The handler, without a socket: decode, call, encode.
#[divan::bench(args = NUM_ENVS)]
fn handler(bencher: divan::Bencher, num_envs: u32) {
    let runtime = Runtime::new().unwrap();
    let store = Arc::new(SessionStore::new(StoreLimits::default(), Clock::system()));
    let service = Environments::new(store, ServerFacts { max_evaluations: 1, num_threads: 1 });
    let request = runtime.block_on(async {
        let session = service.create_session(Request::new(config(num_envs))).await.unwrap();
        let name = session.into_inner().session.unwrap().name;
        let reset = pb::ResetRequest { session: name.clone(), ..Default::default() };
        EnvironmentService::reset(&service, Request::new(reset)).await.unwrap();
        step(&name, num_envs)
    });
    bencher.counter(ItemsCount::new(num_envs)).bench_local(|| {
        runtime.block_on(EnvironmentService::step(&service, Request::new(request.clone()))).unwrap()
    });
}

/// A server, a client, and a session that has begun.
struct Session {
    runtime: Runtime,
    client: EnvironmentServiceClient<Channel>,
    request: pb::StepRequest,
}

impl Session {
    fn new(num_envs: u32) -> Session {
        let runtime = Runtime::new().unwrap();
        let (client, request) = runtime.block_on(async {
            let listen = ([127, 0, 0, 1], 0).into();
            let server = Server::bind(ServerConfig { listen, ..ServerConfig::default() }).await.unwrap();
            let address = format!("http://{}", server.local_addr());
            tokio::spawn(server.run(std::future::pending()));
            let channel = Channel::from_shared(address).unwrap().tcp_nodelay(true);
            let channel =
                channel.initial_stream_window_size(4 << 20).initial_connection_window_size(16 << 20);
            let mut client = EnvironmentServiceClient::new(channel.connect().await.unwrap());
            let session = client.create_session(config(num_envs)).await.unwrap();
            let name = session.into_inner().session.unwrap().name;
            client.reset(pb::ResetRequest { session: name.clone(), ..Default::default() }).await.unwrap();
            (client, step(&name, num_envs))
        });
        Session { runtime, client, request }
    }
}

/// One call a step.
#[divan::bench(args = NUM_ENVS)]
fn unary(bencher: divan::Bencher, num_envs: u32) {
    let Session { runtime, mut client, request } = Session::new(num_envs);
    bencher
        .counter(ItemsCount::new(num_envs))
        .bench_local(|| runtime.block_on(client.step(request.clone())).unwrap());
}

/// A stream with some requests on their way at a time.
fn streamed(bencher: divan::Bencher, num_envs: u32, ahead: usize) {
    let Session { runtime, mut client, request } = Session::new(num_envs);
    let (sender, receiver) = mpsc::channel(64);
    let ask = || pb::StepStreamRequest { request: Some(Asked::Step(request.clone())) };
    let mut answers: Streaming<pb::StepStreamResponse> = runtime.block_on(async {
        for _ in 0..ahead {
            sender.send(ask()).await.unwrap();
        }
        client.step_stream(ReceiverStream::new(receiver)).await.unwrap().into_inner()
    });
    bencher.counter(ItemsCount::new(num_envs)).bench_local(|| {
        runtime.block_on(async {
            let answer = answers.message().await.unwrap();
            sender.send(ask()).await.unwrap();
            answer
        })
    });
}

/// A stream, each request sent when the answer before it has come.
#[divan::bench(args = NUM_ENVS)]
fn stream(bencher: divan::Bencher, num_envs: u32) {
    streamed(bencher, num_envs, 1);
}

/// A stream with sixteen requests on their way.
#[divan::bench(args = NUM_ENVS)]
fn stream_16_ahead(bencher: divan::Bencher, num_envs: u32) {
    streamed(bencher, num_envs, 16);
}
