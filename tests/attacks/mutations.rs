//! Thousands of valid messages with small errors in them: the server answers every one, and none with INTERNAL.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use tetrion::client::RawBytes;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::protocol::{envs, pb, positions, seeding};
use tokio::task::JoinSet;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use xxhash_rust::xxh3::xxh3_64;

use crate::arena::{Arena, Dice};
use crate::bystander::{connect, session, step};
use crate::messages::samples;

const ENVS: u32 = 3;
/// Calls that are open at a time.
const AT_ONCE: usize = 16;
/// How long one may take: a mutated game may be endless.
const DEADLINE: Duration = Duration::from_millis(100);
/// How long one that is sent again, alone, may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends a message, and reads the answer to its end or to the deadline.
async fn send(
    channel: &Channel,
    method: &'static str,
    message: Bytes,
    deadline: Duration,
) -> Result<(), Status> {
    let mut client = Grpc::new(channel.clone());
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let mut request = Request::new(tokio_stream::iter([message]));
    request.set_timeout(deadline);
    let answer = client.streaming(request, PathAndQuery::from_static(method), RawBytes).await;
    let mut answers = answer?.into_inner();
    while answers.message().await?.is_some() {}
    Ok(())
}

/// Whether the server failed to answer, or answered that it is broken.
fn is_failure(status: &Status) -> bool {
    matches!(status.code(), Code::Internal | Code::Unknown | Code::Unavailable | Code::DataLoss)
}

/// Changes a little: bits, bytes, lengths, order. Numbers at the edges are likelier than others.
pub fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    const EDGES: [&[u8]; 8] = [
        b"\x00",
        b"\x7f",
        b"\xff\xff\xff\xff\x0f",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",
        b"\x00\x00\x00\x00\x00\x00\xf8\x7f",
        b"\xff\xff\xff\xff",
        b"\x80",
    ];
    for _ in 0..1 + dice.below(4) {
        if bytes.is_empty() {
            bytes.push(dice.word() as u8);
            continue;
        }
        let at = dice.below(bytes.len());
        let length = dice.below((bytes.len() - at).min(16)) + 1;
        match dice.below(8) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at] = dice.word() as u8,
            2 => bytes[at] = bytes[at].wrapping_add(dice.below(3) as u8).wrapping_sub(1),
            3 => drop(bytes.drain(at..at + length)),
            4 => {
                let part = bytes[at..at + length].to_vec();
                let to = dice.below(bytes.len());
                bytes.splice(to..to, part);
            }
            5 => drop(bytes.splice(at..at, EDGES[dice.below(EDGES.len())].iter().copied())),
            6 => drop(bytes.splice(at..at + length, EDGES[dice.below(EDGES.len())].iter().copied())),
            _ => bytes.truncate(at),
        }
    }
}

/// Sends `number` messages, made by their numbers, at most `AT_ONCE` at a time.
///
/// A server that gets no processor for a while finds more than a few calls whose caller has given up at the deadline before
/// they were accepted, and closes the connection: to HTTP/2 that is a flood. So a message that failed is sent once more,
/// alone and on a connection of its own.
async fn send_all(
    arena: &Arena,
    number: usize,
    make: impl Fn(&mut Dice) -> (&'static str, Vec<u8>),
) -> Result<()> {
    let channel = connect(arena.address).await?;
    let mut sending = JoinSet::new();
    for at in 0..number {
        let mut dice = Dice::new(arena.seed.wrapping_mul(1 << 32).wrapping_add(at as u64));
        let (method, bytes) = make(&mut dice);
        let channel = channel.clone();
        sending.spawn(async move {
            let bytes = Bytes::from(bytes);
            (at, method, bytes.clone(), send(&channel, method, bytes, DEADLINE).await)
        });
        while sending.len() >= AT_ONCE || (at + 1 == number && !sending.is_empty()) {
            let (at, method, bytes, answer) = sending.join_next().await.context("one of them")??;
            if !answer.is_err_and(|status| is_failure(&status)) {
                continue;
            }
            let alone = connect(arena.address).await?;
            if let Err(status) = send(&alone, method, bytes.clone(), PATIENCE).await
                && is_failure(&status)
            {
                bail!("message {at} to {method}, {bytes:02x?}: {:?}: {}", status.code(), status.message());
            }
        }
    }
    Ok(())
}

/// A session to aim at, and the snapshot of one of its environments.
async fn target(channel: &Channel) -> Result<(String, Bytes)> {
    let config = pb::SessionConfig {
        num_envs: ENVS,
        seeding: Some(seeding::from_seed(1)),
        invalid_action_policy: pb::InvalidActionPolicy::Ignore.into(),
        ..Default::default()
    };
    let name = session(channel, config).await?;
    let mut client = EnvironmentServiceClient::new(channel.clone());
    client.step(step(&name, ENVS)).await?;
    let save = pb::SaveStateRequest { session: name.clone(), envs: envs::encode(Some(&[1])) };
    let state = client.save_state(save).await?.into_inner().states.pop().context("a snapshot")?;
    Ok((name, state))
}

/// Sends mutated messages to every method that takes one.
pub async fn messages(arena: &Arena) -> Result<()> {
    let channel = connect(arena.address).await?;
    let (name, state) = target(&channel).await?;
    let samples = Arc::new(samples(&name, ENVS, &state));
    for (method, bytes) in samples.iter() {
        let answer = send(&channel, method, Bytes::from(bytes.clone()), DEADLINE).await;
        if let Err(status) = answer
            && !matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled)
        {
            bail!("{method} refuses a valid message: {:?}: {}", status.code(), status.message());
        }
    }
    send_all(arena, arena.times(6000, 300_000), |dice| {
        let (method, mut bytes) = samples[dice.below(samples.len())].clone();
        mutate(&mut bytes, dice);
        (method, bytes)
    })
    .await
}

/// Snapshots, with a checksum that fits their new bytes; the accepted ones are played on.
pub async fn snapshots(arena: &Arena) -> Result<()> {
    let channel = connect(arena.address).await?;
    let (name, state) = target(&channel).await?;
    let content = state[..state.len() - 8].to_vec();
    let number = arena.times(5000, 200_000);
    let then: Vec<_> = samples(&name, ENVS, &state);
    send_all(arena, number, |dice| {
        // Every fourth call does something with what has been restored.
        if dice.below(4) == 0 {
            return then[dice.below(then.len())].clone();
        }
        let mut bytes = content.clone();
        mutate(&mut bytes, dice);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        let request = pb::RestoreStateRequest {
            session: name.clone(),
            envs: envs::encode(Some(&[dice.below(ENVS as usize) as u32])),
            positions: Some(positions::from_snapshots(vec![bytes.into()])),
            ..Default::default()
        };
        (crate::messages::RESTORE, prost::Message::encode_to_vec(&request))
    })
    .await
}
