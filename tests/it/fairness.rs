//! The requests of one caller do not hold up the others: short forms of attacks on a server's time.
//!
//! Nothing here is timed to the millisecond. A server that did the work of a call where the call arrives would do nothing
//! else meanwhile: everything runs on one thread, that of the test, except for the server's own pools.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tetrion::engine::{Playfield, Rules, Tetromino};
use tetrion::features::FeatureSet;
use tetrion::placements::{Options, Position, enumerate, nanoseconds};
use tetrion::protocol::limits::MAX_RESPONSE_BYTES;
use tetrion::protocol::pb::evaluate_policies_response::Event;
use tetrion::protocol::pb::step_stream_request::Request as Asked;
use tetrion::protocol::{features, pb, positions, seeding, tensor};
use tetrion::server::{ServerConfig, ServerError};
use tetrion::service::ServerLimits;
use tokio::task::{JoinHandle, JoinSet};
use tokio_stream::StreamExt;
use tokio_util::sync::CancellationToken;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

use crate::server::Process;
use crate::support::Command;
use tetrion_service_testing::evaluations::{self, ask, endless, request};
use tetrion_service_testing::servers;
use tetrion_service_testing::{Client, config, create, only, refused, reset, step};

/// A server and the means to stop it.
struct Served {
    address: SocketAddr,
    stop: CancellationToken,
    end: JoinHandle<Result<(), ServerError>>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn serve(config: ServerConfig) -> Served {
    let (address, stop, end) = servers::run(config).await;
    Served { address, stop, end }
}

impl Served {
    fn endpoint(&self) -> Endpoint {
        Channel::from_shared(format!("http://{}", self.address)).unwrap()
    }

    /// A connection: a caller of its own.
    async fn connect(&self) -> Channel {
        self.endpoint().connect().await.unwrap()
    }

    async fn client(&self) -> Client {
        Client::new(self.connect().await).max_decoding_message_size(MAX_RESPONSE_BYTES as usize)
    }

    async fn evaluations(&self) -> evaluations::Client {
        evaluations::Client::new(self.connect().await)
    }
}

const WIDE: (u8, u8) = (32, 40);

/// Rows of a playfield with many caves, on which a flood takes long.
fn caves(position: u32) -> impl Iterator<Item = u32> {
    (0..u32::from(WIDE.1)).map(move |row| match row {
        0..24 => 0x5A96_6996_u32.rotate_left(5 * row + position),
        _ => 0,
    })
}

/// Every placement of this many playfields with caves. On one core, 1,000 of them take half a second or more.
fn floods(num_positions: u32) -> pb::EnumeratePlacementsRequest {
    let rows: Vec<u32> = (0..num_positions).flat_map(caves).collect();
    let packed = pb::PackedPositions {
        boards: Some(tensor::encode(vec![num_positions, WIDE.1.into()], &rows)),
        pieces: Some(tensor::encode(
            vec![num_positions],
            &vec![Tetromino::T.number(); num_positions as usize],
        )),
        queues: None,
        held: None,
    };
    let (width, height) = (WIDE.0.into(), WIDE.1.into());
    let rules = Some(pb::Rules { width, height, ..Default::default() });
    let features = vec!["holes_enclosed".to_owned()];
    pb::EnumeratePlacementsRequest {
        features: Some(features::from_names(features)),
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..tetrion_service_testing::enumerate(pb::Positions { rules, ..positions::from_packed(packed) })
    }
}

/// This many such calls at once.
fn flood(client: &Client, calls: u32, num_positions: u32) -> JoinSet<Result<(), tonic::Status>> {
    let request = floods(num_positions);
    let call = |_| {
        let (mut client, request) = (client.clone(), request.clone());
        async move { client.enumerate_placements(request).await.map(|_| ()) }
    };
    (0..calls).map(call).collect()
}

#[tokio::test]
async fn another_callers_steps_go_on_while_heavy_calls_and_evaluations_run() {
    let served = serve(ServerConfig::default()).await;
    let mut client = served.client().await;
    let name = create(&mut client, config(256, 1)).await.name;
    client.reset(reset(&name)).await.unwrap();

    let mut thinkers = Vec::new();
    let kind = Some(pb::policy::Kind::MonteCarlo(pb::MonteCarlo { playouts: 1000, as_coded: false }));
    let thinker = pb::Policy { kind, ..Default::default() };
    let thinking = pb::EvaluatePoliciesRequest { policies: vec![thinker], ..endless() };
    let mut evaluations = served.evaluations().await;
    for _ in 0..4 {
        thinkers.push(evaluations.evaluate_policies(thinking.clone()).await.unwrap());
    }
    let mut heavy = flood(&served.client().await, 4, 2_500);
    let mut steps = 0;
    while heavy.try_join_next().is_none() {
        client.step(step(&name, &[0; 256])).await.unwrap();
        steps += 1;
    }
    assert!(steps >= 200, "{steps} steps while 4 calls of seconds were done");
}

#[tokio::test]
async fn a_streams_deadline_ends_the_work_on_its_request() {
    let served = serve(ServerConfig::default()).await;
    let mut client = served.client().await;
    let heavy = pb::StepStreamRequest { request: Some(Asked::EnumeratePlacements(floods(20_000))) };
    let requests = tokio_stream::once(heavy).chain(tokio_stream::pending());
    let mut request = tonic::Request::new(requests);
    request.metadata_mut().insert("grpc-timeout", "1S".parse().unwrap());
    let mut answers = client.step_stream(request).await.unwrap().into_inner();
    let end = answers.message().await.expect_err("no answer before the deadline");
    assert!(matches!(end.code(), Code::DeadlineExceeded | Code::Cancelled), "{end}");
}

#[tokio::test]
async fn a_drain_does_not_wait_for_heavy_calls_longer_than_it_may() {
    let served =
        serve(ServerConfig { drain_timeout: Duration::from_millis(500), ..Default::default() }).await;
    let mut heavy = flood(&served.client().await, 4, 10_000);
    let mut client = served.client().await;
    for _ in 0..100 {
        client.list_sessions(pb::ListSessionsRequest::default()).await.unwrap();
    }
    served.stop.cancel();
    let mut served = served;
    (&mut served.end).await.unwrap().unwrap();
    assert!(heavy.try_join_next().is_none(), "calls of many seconds were waited for");
}

#[tokio::test]
async fn work_in_slices_gives_the_librarys_own_answer() {
    let served = serve(ServerConfig::default()).await;
    let mut client = served.client().await;
    let asked = pb::EnumeratePlacementsRequest {
        include_afterstates: true,
        include_position_features: true,
        include_anchors: true,
        include_cells: true,
        include_preclear_boards: true,
        ..floods(60)
    };
    let answer = client.enumerate_placements(asked).await.unwrap().into_inner();

    let rules = Rules { width: WIDE.0, height: WIDE.1, ..Rules::default() };
    let set = FeatureSet::custom(&["holes_enclosed"], rules.width).unwrap();
    let position = |number| {
        let playfield = Playfield::from_rows(rules.width, rules.height, caves(number));
        Position::of(playfield, Some(tetrion::engine::Hand::only(Tetromino::T)))
    };
    let positions: Vec<Position> = (0..60).map(position).collect();
    let options = Options {
        afterstates: true,
        anchors: true,
        cells: true,
        preclear_boards: true,
        position_features: true,
        ..Options::default()
    };
    assert!(nanoseconds(&rules, 60, Some(&set), options) > 20_000_000, "this is work of one slice");
    let own = enumerate(&rules, &positions, Some(&set), options);
    let rows = own.actions.len() as u32;
    assert_eq!(answer.row_offsets, Some(tensor::encode_offsets(&own.row_offsets)));
    assert_eq!(answer.actions, Some(tensor::encode(vec![rows], &own.actions)));
    assert_eq!(answer.placements, Some(tensor::encode(vec![rows], &own.placements)));
    assert_eq!(answer.features, Some(tensor::encode(vec![rows, 1], &own.features)));
    assert_eq!(answer.rewards, Some(tensor::encode(vec![rows], &own.rewards)));
    assert_eq!(answer.lines, Some(tensor::encode(vec![rows], &own.lines)));
    assert_eq!(answer.terminated, Some(tensor::encode_bools(vec![rows], &own.terminated)));
    assert_eq!(answer.afterstates.unwrap().data, own.afterstates);
    assert_eq!(answer.preclear_boards.unwrap().data, own.preclear_boards);
    assert_eq!(answer.anchors, Some(tensor::encode(vec![rows, 2], &own.anchors)));
    assert_eq!(answer.cells, Some(tensor::encode(vec![rows, 4, 2], &own.cells)));
    assert_eq!(answer.position_features, Some(tensor::encode(vec![60, 1], &own.position_features)));
}

#[tokio::test]
async fn a_step_on_the_pool_is_the_same_as_steps_without_it() {
    const ENVS: u32 = 8_192;
    let served = serve(ServerConfig::default()).await;
    let mut client = served.client().await;
    let (whole, parts) =
        (create(&mut client, config(ENVS, 7)).await, create(&mut client, config(ENVS, 7)).await);
    for name in [&whole.name, &parts.name] {
        client.reset(reset(name)).await.unwrap();
    }
    let large = client.step(step(&whole.name, &[3; ENVS as usize])).await.unwrap().into_inner();
    let mut observations = vec![Vec::new(); large.observations.len()];
    for first in (0..ENVS).step_by(256) {
        let request = pb::StepRequest { envs: only(first..first + 256), ..step(&parts.name, &[3; 256]) };
        let small = client.step(request).await.unwrap().into_inner();
        for (all, part) in observations.iter_mut().zip(small.observations) {
            all.extend_from_slice(&part.data);
        }
    }
    for (large, parts) in large.observations.iter().zip(&observations) {
        assert!(large.data == parts, "the same environments, the same observations");
    }
}

#[tokio::test]
async fn the_work_of_a_call_is_limited() {
    let rules = Rules { width: WIDE.0, height: WIDE.1, ..Rules::default() };
    let set = FeatureSet::custom(&["holes_enclosed"], rules.width).unwrap();
    let work = nanoseconds(&rules, 100, Some(&set), Options::default());
    let max_call_work = Duration::from_nanos(work);
    let limits = ServerLimits { max_call_work, ..Default::default() };
    let served = serve(ServerConfig { limits, ..Default::default() }).await;
    let mut client = served.client().await;
    client.enumerate_placements(floods(100)).await.expect("as much work as may be");
    let reported =
        refused(client.enumerate_placements(floods(101)).await, Code::InvalidArgument, "TOO_MUCH_WORK");
    assert_eq!(reported.metadata("max_seconds"), max_call_work.as_secs_f64().to_string());
    assert!(reported.metadata("seconds").parse::<f64>().unwrap() > max_call_work.as_secs_f64());
}

#[tokio::test]
async fn the_evaluations_of_a_caller_are_limited_and_leave_room_for_others() {
    let limits = ServerLimits { max_evaluations_per_caller: 2, ..Default::default() };
    let served = serve(ServerConfig { limits, ..Default::default() }).await;
    let mut greedy = served.evaluations().await;
    let mut running = Vec::new();
    for _ in 0..2 {
        running.push(greedy.evaluate_policies(endless()).await.expect("one of two"));
    }
    let reported =
        refused(greedy.evaluate_policies(endless()).await, Code::ResourceExhausted, "EVALUATION_LIMIT");
    assert_eq!(reported.message, "this connection has reached its limit on evaluations, 2");
    ask(&mut served.evaluations().await, request()).await.expect("room for another caller");
}

#[tokio::test]
async fn an_answer_that_is_not_read_gives_up_its_place() {
    let limits = ServerLimits { max_evaluations: 1, max_unread_time: Duration::ZERO, ..Default::default() };
    let served = serve(ServerConfig { limits, ..Default::default() }).await;
    // Hardly a message fits into this window, and none is read.
    let deaf = served.endpoint().initial_stream_window_size(16).connect().await.unwrap();
    let progress_interval = Some(prost_types::Duration { seconds: 0, nanos: 1 });
    let unread = pb::EvaluatePoliciesRequest { progress_interval, ..endless() };
    let mut unread = evaluations::Client::new(deaf).evaluate_policies(unread).await.unwrap().into_inner();

    let mut client = served.evaluations().await;
    evaluations::until_there_is_room(&mut client).await;
    let end = loop {
        match unread.message().await {
            Ok(message) => assert!(message.is_some(), "an end without a word"),
            Err(status) => break status,
        }
    };
    refused(Err::<(), _>(end), Code::Aborted, "ANSWER_UNREAD");
}

#[tokio::test]
async fn evaluations_share_the_threads_per_caller() {
    let served = serve(ServerConfig { num_threads: 1, ..Default::default() }).await;
    let progress_interval = Some(prost_types::Duration { seconds: 0, nanos: 1 });
    let many = pb::EvaluatePoliciesRequest { progress_interval, include_results: false, ..endless() };
    // The pieces of eight evaluations of one caller, as the server reports them.
    let pieces: [Arc<AtomicU64>; 8] = Default::default();
    let mut greedy = served.evaluations().await;
    for pieces in pieces.clone() {
        let mut stream = greedy.evaluate_policies(many.clone()).await.unwrap().into_inner();
        tokio::spawn(async move {
            while let Ok(Some(answer)) = stream.message().await {
                if let Some(Event::Progress(progress)) = answer.event {
                    pieces.store(progress.pieces_done, Ordering::Relaxed);
                }
            }
        });
    }
    while pieces.iter().any(|pieces| pieces.load(Ordering::Relaxed) == 0) {
        tokio::task::yield_now().await;
    }
    let all = || pieces.iter().map(|pieces| pieces.load(Ordering::Relaxed)).sum::<u64>();
    let before = all();
    let one = pb::EvaluatePoliciesRequest {
        seeding: Some(seeding::from_drawn(1, 1)),
        episodes_per_seed: 1,
        max_pieces: 400_000,
        ..endless()
    };
    let mut modest = served.evaluations().await;
    let played = ask(&mut modest, one).await.unwrap().results[0].pieces;
    let others = all() - before;
    assert!(played >= 100_000, "a game of {played} pieces is too short for this");
    assert!(
        others <= 4 * played,
        "{others} pieces for eight evaluations of a caller, {played} for one of another"
    );
}

/// A server with one thread for calls, on which a size of playfield is not solved yet.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn the_first_task_of_a_size_delays_no_other_task() {
    let program = env!("CARGO_BIN_EXE_tetrion");
    let server = Process::spawn(Command::new("taskset").args([
        "--cpu-list",
        "0",
        program,
        "serve",
        "--listen",
        "127.0.0.1:0",
    ]));
    let (first, mut second) = (server.channel().await, Client::new(server.channel().await));
    let task = |index| pb::GetTaskRequest { split: "train".to_owned(), index };
    // On 4 x 5 and 5 x 4. The smaller size takes a moment only.
    for index in [7, 14] {
        let mut first = Client::new(first.clone());
        let solved = tokio::spawn(async move { first.get_task(task(index)).await });
        while !server
            .get("/metrics")
            .contains("calls_in_flight{method=\"tetrion.v1.EnvironmentService/GetTask\"} 1\n")
        {
            assert!(!solved.is_finished(), "it was in no hurry to be measured");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // A task of a group without exact values.
        second.get_task(task(2)).await.unwrap();
        assert!(!solved.is_finished(), "the other task waited");
        solved.await.unwrap().unwrap();
    }
}
