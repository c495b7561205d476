//! Answers that a client requests and does not read: those that the server has ready must not pile up.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use prost::Message;
use tetrion::protocol::limits::{MAX_RESPONSE_BYTES, MAX_STREAM_REQUESTS};
use tetrion::protocol::pb::enumerate_placements_request::Source;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion::protocol::pb::step_stream_request::Request as InStream;
use tetrion::protocol::{pb, seeding};

use crate::arena::Arena;
use crate::bystander::{connect, session};
use crate::http2::{
    Connection, END_HEADERS, END_STREAM, HEADERS, INITIAL_WINDOW_SIZE, begin, block, call, frame, message,
};
use crate::messages::{CATALOG, EVALUATE, PLACEMENTS, REFLECTION, STREAM, WATCH, WATCH_SESSION, endless};

/// A session whose every placement is an answer of some 40 MB, and the 43 bytes that request it.
async fn large(arena: &Arena) -> Result<(String, pb::EnumeratePlacementsRequest)> {
    let channel = connect(arena.address).await?;
    let config = pb::SessionConfig {
        num_envs: 32_768,
        seeding: Some(seeding::from_seed(1)),
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    };
    let session = session(&channel, config).await?;
    let envs = pb::SessionEnvs { session: session.clone(), envs: None };
    let request = pb::EnumeratePlacementsRequest {
        source: Some(Source::SessionEnvs(envs)),
        include_afterstates: true,
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    };
    Ok((session, request))
}

/// Sixty of them on one connection whose streams have a window of nothing.
pub async fn with_no_window(arena: &Arena) -> Result<()> {
    let (_, request) = large(arena).await?;
    ask(arena, &request, &[(INITIAL_WINDOW_SIZE, 0)], 1, 60).await
}

/// The same from twenty connections, three each, with windows as large as they can be and sockets that are not read.
pub async fn with_a_full_socket(arena: &Arena) -> Result<()> {
    let (_, request) = large(arena).await?;
    ask(arena, &request, &[(INITIAL_WINDOW_SIZE, 0x7FFF_FFFF)], 20, 3).await
}

async fn ask(
    arena: &Arena,
    request: &pb::EnumeratePlacementsRequest,
    settings: &[(u16, u32)],
    connections: usize,
    calls: u32,
) -> Result<()> {
    let bytes = request.encode_to_vec();
    for _ in 0..connections {
        let mut connection = Connection::open(arena.address, settings).await?;
        for number in 0..calls {
            connection.send(&call(2 * number + 1, PLACEMENTS, &bytes)).await?;
        }
        arena.hold(connection);
    }
    until_idle(arena).await
}

/// Waits until the server has nothing to do any more, or for a while.
pub async fn until_idle(arena: &Arena) -> Result<()> {
    let patience = Duration::from_secs(15);
    let begun = Instant::now();
    let slice = Duration::from_millis(300);
    while begun.elapsed() < patience {
        let before = arena.victim.cpu_time();
        tokio::time::sleep(slice).await;
        if arena.victim.cpu_time() - before < slice / 5 {
            return Ok(());
        }
    }
    Ok(())
}

/// Streams that request one answer after the other: as many as wait in their queues, and then some.
pub async fn of_streams(arena: &Arena) -> Result<()> {
    let (_, request) = large(arena).await?;
    let bytes =
        pb::StepStreamRequest { request: Some(InStream::EnumeratePlacements(request)) }.encode_to_vec();
    // Few enough on a connection that HTTP/2 does not end it for its small frames.
    for _ in 0..7 {
        let mut connection = Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
        for number in 0..12 {
            let stream = 2 * number + 1;
            let mut frames = begin(stream, STREAM, &[]);
            for _ in 0..2 * MAX_STREAM_REQUESTS {
                frames.extend(message(stream, false, &bytes, false));
            }
            connection.send(&frames).await?;
        }
        arena.hold(connection);
    }
    until_idle(arena).await
}

/// The largest of the small answers, a thousand on each of many connections.
pub async fn of_small_calls(arena: &Arena) -> Result<()> {
    let bytes = pb::GetCatalogRequest { width: 32 }.encode_to_vec();
    for _ in 0..arena.times(40, 200) {
        let mut connection = Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
        let frames: Vec<u8> = (0..1000).flat_map(|number| call(2 * number + 1, CATALOG, &bytes)).collect();
        connection.send(&frames).await?;
        arena.hold(connection);
    }
    until_idle(arena).await
}

/// Reflection and health: streams that any caller may open, without a token too.
pub async fn of_open_doors(arena: &Arena) -> Result<()> {
    // file_containing_symbol: "tetrion.v1.EnvironmentService"
    let symbol = b"tetrion.v1.EnvironmentService";
    let question = [&[0x22, symbol.len() as u8], &symbol[..]].concat();
    for _ in 0..arena.times(20, 100) {
        let mut connection = Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
        let mut frames = Vec::new();
        for number in 0..500 {
            let stream = 4 * number + 1;
            frames.extend(call(stream, WATCH, &[]));
            frames.extend(begin(stream + 2, REFLECTION, &[]));
            for _ in 0..20 {
                frames.extend(message(stream + 2, false, &question, false));
            }
        }
        connection.push(&frames, Duration::from_secs(1)).await;
        arena.hold(connection);
    }
    until_idle(arena).await
}

/// Pages and metrics over HTTP/2 that are never read, a thousand on each of many connections.
pub async fn of_pages(arena: &Arena) -> Result<()> {
    pages(arena, arena.times(20, 200)).await
}

/// The same over this many connections.
pub async fn pages(arena: &Arena, connections: usize) -> Result<()> {
    let ask = |stream: u32, path: &str| {
        let fields = [(":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "localhost")];
        frame(HEADERS, END_HEADERS | END_STREAM, stream, &block(&fields))
    };
    for _ in 0..connections {
        let mut connection = Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
        let frames: Vec<u8> = (0..500)
            .flat_map(|number| [ask(4 * number + 1, "/metrics"), ask(4 * number + 3, "/page.js")].concat())
            .collect();
        connection.send(&frames).await?;
        arena.hold(connection);
    }
    until_idle(arena).await
}

/// Viewers of many sessions that read nothing, from one caller: others find a place when they come.
pub async fn of_watches(arena: &Arena) -> Result<()> {
    let channel = connect(arena.address).await?;
    let mut names = Vec::new();
    for seed in 0..32 {
        let config =
            pb::SessionConfig { num_envs: 64, seeding: Some(seeding::from_seed(seed)), ..Default::default() };
        names.push(session(&channel, config).await?);
    }
    for _ in 0..8 {
        let mut connection = Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
        for (number, session) in (0..).zip(&names) {
            let request = pb::WatchSessionRequest { session: session.clone(), ..Default::default() };
            connection.send(&call(2 * number + 1, WATCH_SESSION, &request.encode_to_vec())).await?;
        }
        connection.settle().await?;
        arena.hold(connection);
    }
    let patience = Instant::now() + Duration::from_secs(10);
    let mut client = EnvironmentServiceClient::new(channel);
    loop {
        let request = pb::WatchSessionRequest { session: names[0].clone(), ..Default::default() };
        let status = match client.watch_session(request).await {
            Ok(answer) => {
                answer.into_inner().message().await?.context("a first message")?;
                return Ok(());
            }
            Err(status) => status,
        };
        ensure!(Instant::now() < patience, "no place for a caller that reads: {}", status.message());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// One connection takes all places for evaluations and never reads: its places go to callers that do.
pub async fn of_evaluations(arena: &Arena) -> Result<()> {
    let bytes = endless().encode_to_vec();
    for _ in 0..8 {
        let mut connection = Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
        for number in 0..16 {
            connection.send(&call(2 * number + 1, EVALUATE, &bytes)).await?;
        }
        arena.hold(connection);
    }
    let patience = Instant::now() + Duration::from_secs(10);
    let mut client = EvaluationServiceClient::new(connect(arena.address).await?);
    loop {
        let status = match client.evaluate_policies(endless()).await {
            Ok(answer) => {
                let mut stream = answer.into_inner();
                stream.message().await?.context("a first message")?;
                return Ok(());
            }
            Err(status) => status,
        };
        ensure!(Instant::now() < patience, "no place for a caller that reads: {}", status.message());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
