//! How long a Step takes while the server has nothing else to do, and while an evaluation uses every core.
//!
//! Open loop: calls begin at fixed times, whether or not earlier ones have been answered, and each is timed from when it
//! should have begun. A closed loop would stop asking whenever the server stops answering, and see nothing. The server is a
//! process of its own; server, evaluation and client share the cores of the machine: `cargo bench --bench latency`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tetrion::wire::pb;
use tetrion::wire::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::wire::pb::evaluate_policies_request::Games;
use tetrion::wire::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion::wire::tensor;
use tokio::sync::mpsc;
use tonic::Streaming;
use tonic::transport::Channel;

/// Calls a second, and for how long.
const RATE: u32 = 200;
const TIME: Duration = Duration::from_secs(5);
/// Sessions that are stepped in turn, so that one call does not wait for the one before.
const NUM_SESSIONS: usize = 16;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    println!("{RATE} Steps a second, microseconds from when a call should have begun to its answer");
    println!("{:>6} {:<24} {:>8} {:>8} {:>8} {:>8}", "envs", "meanwhile", "p50", "p90", "p99", "max");
    for num_envs in [1, 256] {
        for evaluations in [0, 1, 4] {
            let server = Server::start();
            let channel = runtime.block_on(server.connect());
            let running = runtime.block_on(start_evaluations(channel.clone(), evaluations));
            let mut times = measure(&runtime, &channel, num_envs);
            drop(running);
            times.sort_unstable();
            let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_micros();
            let meanwhile = match evaluations {
                0 => "nothing".to_owned(),
                1 => "an evaluation".to_owned(),
                n => format!("{n} evaluations"),
            };
            let (p50, p90, p99, max) = (at(0.5), at(0.9), at(0.99), at(1.0));
            println!("{num_envs:>6} {meanwhile:<24} {p50:>8} {p90:>8} {p99:>8} {max:>8}");
        }
    }
}

/// `tetrion serve`, ended with this.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start() -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tetrion"))
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--exit-on-stdin-eof"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let address = line.trim_end().trim_start_matches("tetrion listening on ").to_owned();
        Server { child, address }
    }

    async fn connect(&self) -> Channel {
        let endpoint = Channel::from_shared(format!("http://{}", self.address)).expect("an address");
        endpoint.tcp_nodelay(true).connect().await.expect("a connection")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Evaluations that are never done, each with a game for every thread.
async fn start_evaluations(channel: Channel, number: usize) -> Vec<Streaming<pb::EvaluatePoliciesResponse>> {
    let mut running = Vec::new();
    for seed in 0..number as u64 {
        let request = pb::EvaluatePoliciesRequest {
            agents: vec![pb::Agent { name: "bcts".to_owned(), ..Default::default() }],
            games: Some(Games::SeedRange(pb::SeedRange { seed, count: 1000 })),
            ..Default::default()
        };
        let answer = EvaluationServiceClient::new(channel.clone()).evaluate_policies(request).await;
        running.push(answer.expect("a place").into_inner());
    }
    running
}

fn measure(runtime: &tokio::runtime::Runtime, channel: &Channel, num_envs: u32) -> Vec<Duration> {
    let client = EnvironmentServiceClient::new(channel.clone());
    let sessions: Vec<String> = runtime.block_on(async { create_sessions(client.clone(), num_envs).await });
    let actions = Arc::new(tensor::encode(vec![num_envs], &vec![0i32; num_envs as usize]));
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let start = Instant::now() + Duration::from_millis(100);
    let calls = RATE * TIME.as_secs() as u32;
    // tokio's timers are a millisecond coarse; a thread's are not.
    for call in 0..calls {
        let due = start + call * (Duration::from_secs(1) / RATE);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let session = sessions[call as usize % NUM_SESSIONS].clone();
        let (mut client, actions, sender) = (client.clone(), actions.clone(), sender.clone());
        runtime.spawn(async move {
            let request =
                pb::StepRequest { session, actions: Some((*actions).clone()), ..Default::default() };
            client.step(request).await.expect("a step");
            let _ = sender.send(due.elapsed());
        });
    }
    drop(sender);
    let mut times = Vec::new();
    while let Some(time) = receiver.blocking_recv() {
        times.push(time);
    }
    times
}

async fn create_sessions(mut client: EnvironmentServiceClient<Channel>, num_envs: u32) -> Vec<String> {
    let mut sessions = Vec::new();
    for _ in 0..NUM_SESSIONS {
        let config = pb::SessionConfig { num_envs: Some(num_envs), action_mask: true, ..Default::default() };
        let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
        let created = client.create_session(request).await.expect("a session").into_inner();
        let session = created.session.expect("a session").name;
        client
            .reset(pb::ResetRequest { session: session.clone(), ..Default::default() })
            .await
            .expect("a reset");
        sessions.push(session);
    }
    sessions
}
