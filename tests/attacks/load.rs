//! Load as a habit: many callers that do nothing wrong, and some that vanish, for minutes.
//!
//! ```sh
//! cargo test --release --test attacks -- --load 10                          # ten minutes, against a server of its own
//! cargo test --release --test attacks -- --load 10 --server HOST:PORT       # or against another one
//! ```
//!
//! It holds a thousand sessions and a hundred streams, keeps evaluations running, and opens connections that are dropped in
//! the middle of a call. Steps of the sessions are made in an open loop: each begins when it is due, whether or not earlier
//! ones have been answered, and is timed from then. So a server that stops for a moment shows.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use prost::Message;
use tetrion::protocol::pb::enumerate_placements_request::Source;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion::protocol::pb::step_stream_request::Request as InStream;
use tetrion::protocol::{features, pb, seeding};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonic::transport::Channel;

use crate::arena::Arena;
use crate::bystander::{connect, session, step};
use crate::http2::{Connection, begin, call};
use crate::messages::{EVALUATE, STREAM, endless};
use crate::records::Records;
use crate::victim::{DESCRIPTORS, Victim};

/// The callers that a server has, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub duration: Duration,
    /// Sessions of 16 environments, stepped in turn in an open loop.
    pub sessions: usize,
    /// Steps per second of all sessions together.
    pub rate: u32,
    /// Streams of 16 environments, each with a few requests ahead.
    pub streams: usize,
    /// Evaluations at a time, each stopped after some seconds and begun anew.
    pub evaluations: usize,
    /// Connections a second that are dropped in the middle of a call.
    pub vanishing: u32,
}

impl Load {
    pub const FULL: Load = Load {
        duration: Duration::from_secs(600),
        sessions: 1000,
        rate: 1000,
        streams: 100,
        evaluations: 8,
        vanishing: 10,
    };
    const SHORT: Load = Load {
        duration: Duration::from_secs(2),
        sessions: 100,
        rate: 200,
        streams: 10,
        evaluations: 2,
        vanishing: 10,
    };
}

pub const ENVS: u32 = 16;
/// Connections that all sessions share, and those that all streams share.
pub const CONNECTIONS: usize = 10;
/// Requests of a stream that are under way.
pub const AHEAD: usize = 4;

/// The short form, one attack among the others.
pub async fn short(arena: &Arena) -> Result<()> {
    let records = run(arena.address, Load::SHORT).await?;
    ensure!(records.num_errors() == 0, "{}", records.table(Load::SHORT.duration));
    Ok(())
}

/// The program: prints the table, and the memory of the server if that is its own.
pub async fn program(load: Load, server: Option<SocketAddr>) -> Result<()> {
    let sessions = (load.sessions + load.streams + 500).to_string();
    let own = match server {
        Some(_) => None,
        None => Some(Victim::start(&["--max-sessions", &sessions], false, DESCRIPTORS, true)?),
    };
    let address = server.or(own.as_ref().map(|own| own.address)).context("an address")?;
    let watching = own.as_ref().map(|own| own.watch(load.duration / 10));
    let records = run(address, load).await?;
    println!("{load:?}\n\n{}", records.table(load.duration));
    if let Some(own) = own {
        let asked = Instant::now();
        own.stop().await?;
        println!("stopped within {:?} of SIGTERM", asked.elapsed());
    }
    if let Some(watching) = watching {
        println!("memory in MiB, over time: {:?}", watching.await?);
    }
    Ok(())
}

async fn run(address: SocketAddr, load: Load) -> Result<Records> {
    let records = Records::default();
    let (steps, streams) = (channels(address).await?, channels(address).await?);
    let mut sessions = Vec::new();
    for number in 0..load.sessions {
        sessions
            .push((steps[number % CONNECTIONS].clone(), make(&steps[number % CONNECTIONS], number).await?));
    }
    let mut running = JoinSet::new();
    for number in 0..load.streams {
        let channel = streams[number % CONNECTIONS].clone();
        let session = make(&channel, number).await?;
        running.spawn(keep_streaming(channel, session, records.clone()));
    }
    for number in 0..load.evaluations {
        running.spawn(keep_evaluating(connect(address).await?, number as u64, records.clone()));
    }
    running.spawn(keep_vanishing(address, load.vanishing, records.clone()));
    running.spawn(keep_coming_and_going(connect(address).await?, records.clone()));

    let begun = Instant::now();
    let mut calls = JoinSet::new();
    for number in 0.. {
        let due = begun + Duration::from_secs(1) * number / load.rate;
        if due > begun + load.duration {
            break;
        }
        tokio::time::sleep_until(due.into()).await;
        let (channel, session) = sessions[number as usize % sessions.len()].clone();
        let records = records.clone();
        calls.spawn(async move {
            let mut client = EnvironmentServiceClient::new(channel);
            // Every hundredth looks before it steps.
            let (kind, answer) = if number % 100 == 99 {
                let answer = client.enumerate_placements(placements(&session)).await;
                ("EnumeratePlacements of 16, open loop", answer.map(|_| ()))
            } else {
                ("Step of 16, open loop", client.step(step(&session, ENVS)).await.map(|_| ()))
            };
            records.note(kind, due, answer);
        });
        while calls.try_join_next().is_some() {}
    }
    calls.join_all().await;
    running.shutdown().await;
    Ok(records)
}

pub async fn channels(address: SocketAddr) -> Result<Vec<Channel>> {
    let mut channels = Vec::new();
    for _ in 0..CONNECTIONS {
        channels.push(connect(address).await?);
    }
    Ok(channels)
}

async fn make(channel: &Channel, number: usize) -> Result<String, Status> {
    let config = pb::SessionConfig {
        num_envs: ENVS,
        seeding: Some(seeding::from_seed(number as u64)),
        ..Default::default()
    };
    session(channel, config).await
}

pub fn placements(session: &str) -> pb::EnumeratePlacementsRequest {
    let envs = pb::SessionEnvs { session: session.to_owned(), envs: None };
    pb::EnumeratePlacementsRequest {
        source: Some(Source::SessionEnvs(envs)),
        features: Some(features::from_set("bcts8")),
        ..Default::default()
    }
}

/// Steps on a stream; where it ends, over a new one.
async fn keep_streaming(channel: Channel, session: String, records: Records) {
    const KIND: &str = "StepStream of 16, 4 ahead";
    let request = pb::StepStreamRequest { request: Some(InStream::Step(step(&session, ENVS))) };
    loop {
        let (sender, receiver) = mpsc::channel(AHEAD);
        let mut client = EnvironmentServiceClient::new(channel.clone());
        let begun = Instant::now();
        let mut answers = match client.step_stream(ReceiverStream::new(receiver)).await {
            Ok(answers) => answers.into_inner(),
            Err(status) => {
                records.note(KIND, begun, Err(status));
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        let mut sent = std::collections::VecDeque::new();
        loop {
            while sent.len() < AHEAD && sender.try_send(request.clone()).is_ok() {
                sent.push_back(Instant::now());
            }
            let answer = answers.next().await;
            let since = sent.pop_front().unwrap_or(begun);
            match answer {
                Some(Ok(_)) => records.note(KIND, since, Ok(())),
                Some(Err(status)) => {
                    records.note(KIND, since, Err(status));
                    break;
                }
                None => break,
            }
            // A learner that thinks: a hundred of them would otherwise take every core there is.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Begins evaluations, and leaves them after some seconds.
pub async fn keep_evaluating(channel: Channel, seed: u64, records: Records) {
    let mut client = EvaluationServiceClient::new(channel);
    loop {
        let begun = Instant::now();
        let first = async {
            let mut answers = client.evaluate_policies(endless()).await?.into_inner();
            answers.message().await?;
            Ok(answers)
        };
        match first.await {
            Ok(mut answers) => {
                records.note("EvaluatePolicies, to its first message", begun, Ok(()));
                let patience = Duration::from_millis(3000 + 500 * seed);
                let _ = tokio::time::timeout(patience, async {
                    while let Ok(Some(_)) = answers.message().await {}
                })
                .await;
            }
            Err(status) => {
                records.note("EvaluatePolicies, to its first message", begun, Err(status));
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Makes a session and deletes it, over and over.
pub async fn keep_coming_and_going(channel: Channel, records: Records) {
    for number in 0.. {
        let begun = Instant::now();
        let life = async {
            let name = make(&channel, number).await?;
            let mut client = EnvironmentServiceClient::new(channel.clone());
            client.step(step(&name, ENVS)).await?;
            client.delete_session(pb::DeleteSessionRequest { name, allow_missing: false }).await?;
            Ok(())
        };
        let answer = life.await;
        records.note("a session from creation to deletion", begun, answer);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Opens connections, begins a call, and drops them.
pub async fn keep_vanishing(address: SocketAddr, rate: u32, records: Records) {
    let evaluation = endless().encode_to_vec();
    for number in 0_u64.. {
        let begun = Instant::now();
        let vanish = async {
            let mut connection = Connection::open(address, &[]).await?;
            let frames =
                if number.is_multiple_of(2) { begin(1, STREAM, &[]) } else { call(1, EVALUATE, &evaluation) };
            connection.send(&frames).await?;
            connection.settle().await
        };
        let answer = vanish.await.map(|_| ()).map_err(|error| Status::unavailable(error.to_string()));
        records.note("a connection that breaks", begun, answer);
        tokio::time::sleep(Duration::from_secs(1) / rate).await;
    }
}
