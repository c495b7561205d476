//! How long a small learner waits for a step while others do all sorts of things: `cargo test --test attacks -- --mixes`.
//!
//! A `Step` of 256 environments is due every 5 ms, answered or not, and is timed from then. Each mix of other calls has a few
//! seconds in each round, so that what else the machine does falls on all of them. The learner has a thread of its own;
//! the callers of the mix share two, which have to wait for it and for the server.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use prost::Message;
use rustix::process::nice;
use tetrion::protocol::limits::MAX_RESPONSE_BYTES;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion::protocol::pb::step_stream_request::Request as InStream;
use tetrion::protocol::{pb, positions, seeding};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

use crate::bystander::{Seen, connect, session, step};
use crate::messages::{caves, endless};
use crate::victim::{DESCRIPTORS, Victim};

/// The learner's environments, and the time between its steps.
const ENVS: u32 = 256;
const EVERY: Duration = Duration::from_millis(5);
/// Environments of a large session.
const MANY: u32 = 16_384;
const ROUNDS: usize = 7;
const SLICE: Duration = Duration::from_secs(3);

/// The calls of others while the learner steps.
#[derive(Clone, Copy, Debug)]
enum Mix {
    Nothing,
    Evaluations,
    Enumerations,
    Streams,
    LargeSteps,
    LargeRequests,
    Sessions,
}

impl Mix {
    const ALL: [Mix; 7] = [
        Mix::Nothing,
        Mix::Evaluations,
        Mix::Enumerations,
        Mix::Streams,
        Mix::LargeSteps,
        Mix::LargeRequests,
        Mix::Sessions,
    ];

    fn name(self) -> &'static str {
        match self {
            Mix::Nothing => "nothing",
            Mix::Evaluations => "4 evaluations without end",
            Mix::Enumerations => "4 enumerations of 28,000 playfields of 32 x 40",
            Mix::Streams => "8 streams of 256, 4 ahead",
            Mix::LargeSteps => "2 callers that step 16,384",
            Mix::LargeRequests => "2 callers that save and restore 16,384",
            Mix::Sessions => "4 callers that make sessions of 256 and delete them",
        }
    }

    /// How many callers, each with a connection of its own.
    fn num_callers(self) -> usize {
        match self {
            Mix::Nothing => 0,
            Mix::Evaluations | Mix::Enumerations | Mix::Sessions => 4,
            Mix::Streams => 8,
            Mix::LargeSteps | Mix::LargeRequests => 2,
        }
    }

    /// One of the callers, until it is stopped.
    async fn call(self, channel: Channel) -> Result<()> {
        match self {
            Mix::Nothing => Ok(()),
            Mix::Evaluations => keep_evaluating(channel).await,
            Mix::Enumerations => keep_enumerating(channel).await,
            Mix::Streams => keep_streaming(channel).await,
            Mix::LargeSteps => keep_stepping(channel).await,
            Mix::LargeRequests => keep_restoring(channel).await,
            Mix::Sessions => keep_making(channel).await,
        }
    }
}

/// The program: prints the table.
pub fn program() -> Result<()> {
    let learner = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let niced = || {
        let _ = nice(5); // the worse for the figures if it fails
    };
    let others = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(niced)
        .enable_all()
        .build()?;
    let mut seen: Vec<Seen> = vec![Seen::default(); Mix::ALL.len()];
    for _ in 0..ROUNDS {
        for (mix, seen) in Mix::ALL.into_iter().zip(&mut seen) {
            // A server for each: what a mix has begun does not end the moment its callers leave.
            let victim = Victim::start(&[], false, DESCRIPTORS, true)?;
            let address = victim.address;
            let calling = others.spawn(async move {
                let mut callers = JoinSet::new();
                for _ in 0..mix.num_callers() {
                    callers.spawn(mix.call(connect(address).await?));
                }
                while let Some(ended) = callers.join_next().await {
                    ended??;
                }
                anyhow::Ok(())
            });
            let times = learner.block_on(learn(address)).with_context(|| format!("beside {}", mix.name()))?;
            if calling.is_finished() && mix.num_callers() > 0 {
                others.block_on(calling)?.with_context(|| mix.name())?;
            } else {
                calling.abort();
            }
            seen.times.extend(times);
            learner.block_on(victim.stop())?;
        }
    }
    println!(
        "| what others do | p50 | p99 | over nothing | p99.9 | worst |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    );
    let idle = seen[0].quantile(0.99);
    for (mix, seen) in Mix::ALL.into_iter().zip(&seen) {
        let [p50, p99, p999, worst] = [0.5, 0.99, 0.999, 1.0].map(|part| seen.quantile(part));
        let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1000.0);
        println!(
            "| {} | {} | {} | {:.1} x | {} | {} |",
            mix.name(),
            ms(p50),
            ms(p99),
            p99.as_secs_f64() / idle.as_secs_f64(),
            ms(p999),
            ms(worst),
        );
    }
    Ok(())
}

/// The times of the learner's steps.
async fn learn(address: SocketAddr) -> Result<Vec<Duration>> {
    let channel = connect(address).await?;
    let config =
        pb::SessionConfig { num_envs: ENVS, seeding: Some(seeding::from_seed(1)), ..Default::default() };
    let request = step(&session(&channel, config).await?, ENVS);
    let begun = Instant::now();
    let mut calls = JoinSet::new();
    let mut due = begun + SLICE / 10;
    while due < begun + SLICE {
        tokio::time::sleep_until(due.into()).await;
        let (mut client, request) = (EnvironmentServiceClient::new(channel.clone()), request.clone());
        calls.spawn(async move { client.step(request).await.map(|_| due.elapsed()) });
        due += EVERY;
    }
    let mut times = Vec::new();
    while let Some(time) = calls.join_next().await {
        times.push(time??);
    }
    Ok(times)
}

fn client(channel: Channel) -> EnvironmentServiceClient<Channel> {
    let most = MAX_RESPONSE_BYTES as usize;
    EnvironmentServiceClient::new(channel).max_decoding_message_size(most).max_encoding_message_size(most)
}

async fn make(channel: &Channel, num_envs: u32) -> Result<String> {
    let config = pb::SessionConfig {
        num_envs,
        seeding: Some(seeding::from_seed(2)),
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    };
    Ok(session(channel, config).await?)
}

async fn keep_evaluating(channel: Channel) -> Result<()> {
    let request = pb::EvaluatePoliciesRequest { progress_interval: None, ..endless() };
    let mut answers = EvaluationServiceClient::new(channel).evaluate_policies(request).await?.into_inner();
    while answers.message().await?.is_some() {}
    Ok(())
}

async fn keep_enumerating(channel: Channel) -> Result<()> {
    let request = pb::EnumeratePlacementsRequest::decode(caves(28_000).as_slice())?;
    loop {
        client(channel.clone()).enumerate_placements(request.clone()).await?;
    }
}

async fn keep_streaming(channel: Channel) -> Result<()> {
    let session = make(&channel, ENVS).await?;
    let request = pb::StepStreamRequest { request: Some(InStream::Step(step(&session, ENVS))) };
    let (sender, receiver) = mpsc::channel(4);
    let mut answers = client(channel).step_stream(ReceiverStream::new(receiver)).await?.into_inner();
    for _ in 0..4 {
        sender.send(request.clone()).await?;
    }
    while let Some(answer) = answers.next().await {
        answer?;
        sender.send(request.clone()).await?;
    }
    Ok(())
}

async fn keep_stepping(channel: Channel) -> Result<()> {
    let request = step(&make(&channel, MANY).await?, MANY);
    loop {
        client(channel.clone()).step(request.clone()).await?;
    }
}

async fn keep_restoring(channel: Channel) -> Result<()> {
    let session = make(&channel, MANY).await?;
    let mut client = client(channel);
    loop {
        let save = pb::SaveStateRequest { session: session.clone(), envs: None };
        let states = client.save_state(save).await?.into_inner().states;
        let positions = Some(positions::from_snapshots(states));
        let restore = pb::RestoreStateRequest { session: session.clone(), positions, ..Default::default() };
        client.restore_state(restore).await?;
    }
}

async fn keep_making(channel: Channel) -> Result<()> {
    loop {
        let name = make(&channel, ENVS).await?;
        client(channel.clone())
            .delete_session(pb::DeleteSessionRequest { name, allow_missing: false })
            .await?;
    }
}
