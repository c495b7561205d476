//! Evaluations that hold as much as their requests allow, and what a server holds of each kind beside its estimate.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use prost::Message;
use tetrion::protocol::footprint::evaluation_bytes;
use tetrion::protocol::limits::{MAX_POLICIES, MAX_REQUEST_SEQUENCE_PIECES, MAX_RESPONSE_BYTES};
use tetrion::protocol::pb::policy::Kind;
use tetrion::protocol::policies::Policy;
use tetrion::protocol::tensor;
use tetrion::protocol::{features, pb, seeding};

use crate::arena::Arena;
use crate::bystander::metric;
use crate::http2::{Connection, INITIAL_WINDOW_SIZE, call};
use crate::messages::EVALUATE;
use crate::requests::compressed;
use crate::victim::{DESCRIPTORS, Victim};

/// How long evaluations may take to hold what they will.
const PATIENCE: Duration = Duration::from_secs(60);

/// Evaluations from many connections that read nothing, of all that a few bytes can ask for: hundreds of thousands of
/// sequences, the table of a million games, and thousands of policies. The server refuses what would be too much.
pub async fn unread(arena: &Arena) -> Result<()> {
    let requests = [sequences(400_000), table(), matrix(8192)].map(|request| zstd(&request.encode_to_vec()));
    for _ in 0..8 {
        let mut connection = Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
        for number in 0..15 {
            let request = &requests[number as usize % requests.len()];
            connection
                .push(&compressed(2 * number + 1, EVALUATE, "zstd", request, true), Duration::from_secs(5))
                .await;
        }
        arena.hold(connection);
    }
    settled(arena).await?;
    Ok(())
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory takes every write")
}

fn named(name: &str, count: usize) -> Vec<pb::Policy> {
    vec![Policy::named(name).encode(); count]
}

fn seeds(count: u32) -> Option<pb::Seeding> {
    Some(seeding::from_drawn(1, count))
}

/// Written sequences of one letter.
fn sequences(count: usize) -> pb::EvaluatePoliciesRequest {
    let sequences = vec!["I".to_owned(); count];
    pb::EvaluatePoliciesRequest {
        policies: named("dummy", 1),
        seeding: Some(seeding::from_sequences(sequences)),
        include_results: true,
        ..Default::default()
    }
}

/// A million games of one piece, of which only the sums are wanted.
fn table() -> pb::EvaluatePoliciesRequest {
    pb::EvaluatePoliciesRequest {
        policies: named("dummy", 1),
        seeding: seeds(1 << 20),
        max_pieces: 1,
        ..Default::default()
    }
}

/// An evaluation of as many policies as there are rows of weights.
fn matrix(rows: u32) -> pb::EvaluatePoliciesRequest {
    weights("bcts8", 8, rows, 1)
}

fn weights(set: &str, columns: u32, rows: u32, games: u32) -> pb::EvaluatePoliciesRequest {
    let values = vec![-0.25; (rows * columns) as usize];
    pb::EvaluatePoliciesRequest {
        policies: vec![pb::Policy {
            kind: Some(Kind::Weights(pb::Weights {
                features: Some(features::from_set(set)),
                weights: Some(tensor::encode(vec![rows, columns], &values)),
                ..Default::default()
            })),
            ..Default::default()
        }],
        seeding: seeds(games),
        include_results: true,
        max_pieces: 1,
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    }
}

/// Rows with a network each.
fn networks(rows: u32) -> pb::EvaluatePoliciesRequest {
    let hidden = vec![32, 16];
    let columns = 8 + (8 * 32 + 32) + (32 * 16 + 16) + 16 + 1;
    let mut request = weights("bcts8", columns, rows, 1);
    if let Some(Kind::Weights(matrix)) = &mut request.policies[0].kind {
        matrix.mlp = Some(pb::Mlp { hidden, ..Default::default() });
    }
    request
}

/// As many policies with this formula as a call allows.
fn formulas(text: &str, count: u32) -> pb::EvaluatePoliciesRequest {
    let formula =
        pb::Policy { kind: Some(Kind::Formula(pb::Formula { text: text.to_owned() })), ..Default::default() };
    pb::EvaluatePoliciesRequest {
        policies: vec![formula; count as usize],
        seeding: seeds(1),
        rules: Some(pb::Rules { width: 32, ..Default::default() }),
        include_results: true,
        max_pieces: 1,
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    }
}

/// The kinds of evaluations whose estimates are compared.
fn kinds() -> Vec<(&'static str, pb::EvaluatePoliciesRequest)> {
    let record = |request: pb::EvaluatePoliciesRequest| pb::EvaluatePoliciesRequest {
        include_recordings: true,
        ..request
    };
    vec![
        ("100 policies x 1,000 games", weights("bcts8", 8, 100, 1000)),
        ("1 policy x 1,048,576 games", table()),
        ("1,000,000 sequences of one letter", sequences(MAX_REQUEST_SEQUENCE_PIECES as usize)),
        ("16,384 rows of 8 weights", matrix(MAX_POLICIES)),
        ("4,096 rows of 65 weights", {
            let mut request = weights("bertsekas", 65, 4096, 1);
            request.rules = Some(pb::Rules { width: 32, ..Default::default() });
            request
        }),
        (
            "16,384 policies named bcts",
            pb::EvaluatePoliciesRequest {
                policies: named("bcts", MAX_POLICIES as usize),
                seeding: seeds(1),
                max_pieces: 1,
                include_results: true,
                max_response_bytes: MAX_RESPONSE_BYTES,
                ..Default::default()
            },
        ),
        ("2,048 rows with a network", networks(2048)),
        ("16,384 short formulas", formulas("holes^2", MAX_POLICIES)),
        ("8,192 formulas of 63 features", formulas("(sum(column_height) + sum(height_difference))^2", 8192)),
        ("8,192 formulas that are weights", formulas("sum(column_height) + sum(height_difference)", 8192)),
        ("4,096 long formulas", {
            let terms: Vec<_> =
                (0..32).map(|column| format!("{column}.5 * column_height[{column}]^2")).collect();
            formulas(&terms.join(" + "), 4096)
        }),
        (
            "16 recorded games",
            record(pb::EvaluatePoliciesRequest {
                policies: named("bcts", 1),
                seeding: seeds(16),
                include_results: true,
                max_steps: 500_000,
                max_response_bytes: MAX_RESPONSE_BYTES,
                ..Default::default()
            }),
        ),
    ]
}

/// What the server holds of an evaluation of each kind whose caller does not read, beside what it counts for it.
pub async fn estimates(_: &Arena) -> Result<()> {
    let mut table = "| evaluation | estimate | held |\n| --- | ---: | ---: |\n".to_owned();
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let mut wrong = Vec::new();
    for (name, request) in kinds() {
        let victim = Victim::start(&[], false, DESCRIPTORS, true)?;
        let address = victim.address;
        // What a first evaluation takes once and for all.
        let mut warm = Connection::open(address, &[]).await?;
        warm.send(&call(1, EVALUATE, &weights("bcts8", 8, 1, 2).encode_to_vec())).await?;
        warm.settle().await?;
        until_quiet(&victim).await;
        let before = victim.memory().0;
        let mut connection = Connection::open(address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
        connection.send(&compressed(1, EVALUATE, "zstd", &zstd(&request.encode_to_vec()), true)).await?;
        let estimate = settled_at(address).await?;
        let held = settled_memory(&victim).await.saturating_sub(before);
        let _ = writeln!(table, "| {name} | {:.1} MiB | {:.1} MiB |", mib(estimate), mib(held));
        let threads = std::thread::available_parallelism()?.get();
        ensure!(estimate == evaluation_bytes(&request, threads), "{name}: {estimate} bytes are counted");
        // The request counts as one, not as an evaluation; and the allocator keeps a part of what was freed.
        if held > estimate + request.encoded_len() as u64 + (4 << 20) {
            wrong.push(format!("{name}: {estimate} bytes are counted, {held} are held"));
        }
        drop(connection);
        let given_back = Instant::now();
        while metric(address, "tetrion_evaluation_bytes").await? > 0 {
            ensure!(given_back.elapsed() < PATIENCE, "{name}: its memory is not given back");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        victim.stop().await?;
    }
    println!("{table}");
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}

/// Waits until evaluations hold something; returns how much is counted.
async fn settled_at(address: SocketAddr) -> Result<u64> {
    let begun = Instant::now();
    loop {
        let bytes = metric(address, "tetrion_evaluation_bytes").await.context("the metrics")?;
        if bytes > 0 {
            return Ok(bytes);
        }
        ensure!(begun.elapsed() < PATIENCE, "no evaluation has begun");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn settled(arena: &Arena) -> Result<()> {
    settled_at(arena.address).await?;
    until_quiet(&arena.victim).await;
    Ok(())
}

/// The memory of a server once it has been about the same for three seconds.
async fn settled_memory(victim: &Victim) -> u64 {
    let (begun, mut since) = (Instant::now(), Instant::now());
    let mut last = victim.memory().0;
    while since.elapsed() < Duration::from_secs(3) && begun.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = victim.memory().0;
        if now.abs_diff(last) > 1 << 20 {
            (last, since) = (now, Instant::now());
        }
    }
    victim.memory().0
}

/// Waits until the server has nothing to do any more, or for a while.
async fn until_quiet(victim: &Victim) {
    let (begun, slice) = (Instant::now(), Duration::from_millis(300));
    while begun.elapsed() < PATIENCE {
        let before = victim.cpu_time();
        tokio::time::sleep(slice).await;
        if victim.cpu_time() - before < slice / 5 {
            return;
        }
    }
}
