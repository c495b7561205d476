//! Requests that are small on their way and large on arrival, that never end, or that take minutes of work.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use tetrion::protocol::envs;
use tetrion::protocol::limits::{MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, MAX_SEQUENCE_PIECES, STREAM_WINDOW};
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::protocol::{pb, positions, seeding};

use crate::arena::Arena;
use crate::bystander::{connect, session};
use crate::http2::{Connection, DATA, INITIAL_WINDOW_SIZE, RST_STREAM, begin, frame, message};
use crate::memory::goes_back;
use crate::messages::{CREATE, INFO, PLACEMENTS, RESET, RESTORE, STREAM, caves};

/// How long a server may take to answer a caller that it has heard.
const MOMENT: Duration = Duration::from_millis(500);

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes every write")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory takes every write")
}

/// A call with a compressed message.
pub fn compressed(stream: u32, path: &str, encoding: &str, bytes: &[u8], ends: bool) -> Vec<u8> {
    [begin(stream, path, &[("grpc-encoding", encoding)]), message(stream, true, bytes, ends)].concat()
}

/// One call that takes a core a quarter of a minute, in 644 bytes; then eight at once, whose caller leaves.
pub async fn heavy_work(arena: &Arena) -> Result<()> {
    let bytes = zstd(&caves(28_000));
    let deadline = ("grpc-timeout", "2S");
    for calls in [1, 8] {
        let mut connection = Connection::open(arena.address, &[]).await?;
        for number in 0..calls {
            let stream = 2 * number + 1;
            let head = begin(stream, PLACEMENTS, &[("grpc-encoding", "zstd"), deadline]);
            connection.send(&[head, message(stream, true, &bytes, true)].concat()).await?;
        }
        tokio::time::sleep(MOMENT).await;
        arena.serves_newcomers().await?;
    }
    // Both have left: the server must do nothing for them.
    tokio::time::sleep(MOMENT).await;
    let before = arena.victim.cpu_time();
    tokio::time::sleep(MOMENT).await;
    let used = arena.victim.cpu_time() - before;
    ensure!(used < MOMENT / 2, "{used:?} of work in {MOMENT:?} for callers that have left");
    // And one more, which the end of the server finds at work.
    let mut connection = Connection::open(arena.address, &[]).await?;
    for number in 0..8 {
        connection.send(&compressed(2 * number + 1, PLACEMENTS, "zstd", &bytes, true)).await?;
    }
    connection.settle().await?;
    arena.hold(connection);
    Ok(())
}

/// Streams whose first message is small and becomes as large as a message may be; they stay open.
pub async fn compressed_streams(arena: &Arena) -> Result<()> {
    let bytes = zstd(&vec![0; MAX_REQUEST_BYTES as usize - 1024]);
    for _ in 0..arena.times(20, 60) {
        let mut connection = Connection::open(arena.address, &[]).await?;
        for number in 0..3 {
            connection.send(&compressed(2 * number + 1, STREAM, "zstd", &bytes, false)).await?;
        }
        arena.hold(connection);
    }
    tokio::time::sleep(2 * MOMENT).await;
    Ok(())
}

/// Messages of 65 KB that become 64 MiB, 64 of them at once; some that would become more, and some that are not what they say.
pub async fn bombs(arena: &Arena) -> Result<()> {
    let large = vec![0; MAX_REQUEST_BYTES as usize];
    let gzipped = gzip(&large);
    let zstandard = zstd(&large);
    let many_members = gzip(&[]).repeat(3000);
    // A frame that wants a window of 128 MiB to be read, and has one block of nothing.
    let window = [0x28, 0xB5, 0x2F, 0xFD, 0x00, (27 - 10) << 3, 0x01, 0x00, 0x00];
    let endless_blocks = [&window[..6], &[0, 0, 0].repeat(20_000)].concat();
    let mut connection = Connection::open(arena.address, &[]).await?;
    for number in 0..64 {
        connection.push(&compressed(2 * number + 1, RESTORE, "gzip", &gzipped, true), MOMENT).await;
    }
    arena.hold(connection);
    let mut connection = Connection::open(arena.address, &[]).await?;
    let mut stream = 1;
    for _ in 0..arena.times(8, 200) {
        for (encoding, bytes) in [
            ("zstd", &zstandard[..]),
            ("gzip", &gzipped),
            ("gzip", &many_members),
            ("zstd", &window),
            ("zstd", &endless_blocks),
            ("gzip", &gzipped[..gzipped.len() / 2]),
            ("zstd", &gzipped),
            ("deflate", &gzipped),
        ] {
            connection.push(&compressed(stream, RESTORE, encoding, bytes, true), MOMENT).await;
            stream += 2;
        }
    }
    arena.hold(connection);
    tokio::time::sleep(MOMENT).await;
    Ok(())
}

/// Messages that are announced and never come.
pub async fn announced(arena: &Arena) -> Result<()> {
    let prefix = [&[0][..], &(MAX_REQUEST_BYTES - 1).to_be_bytes()].concat();
    for _ in 0..arena.times(40, 400) {
        let mut connection = Connection::open(arena.address, &[]).await?;
        for number in 0..4 {
            let stream = 2 * number + 1;
            let frames = [begin(stream, RESTORE, &[]), frame(DATA, 0, stream, &prefix)].concat();
            connection.send(&frames).await?;
        }
        arena.hold(connection);
    }
    tokio::time::sleep(MOMENT).await;
    Ok(())
}

/// Messages that come nearly whole: from 16 connections, three times 64 MiB each but for the last byte.
pub async fn withheld(arena: &Arena) -> Result<()> {
    let mut bytes = [&[0][..], &(MAX_REQUEST_BYTES - 1).to_be_bytes()].concat();
    bytes.resize(MAX_REQUEST_BYTES as usize, 0);
    for _ in 0..16 {
        let mut connection = Connection::open(arena.address, &[]).await?;
        match withhold(&mut connection, &bytes).await {
            // A message that overruns a window is refused by closing the connection.
            Err(error) if is_closed(&error) => {}
            other => other?,
        }
        arena.hold(connection);
    }
    Ok(())
}

/// Three messages that come nearly whole, each until one has been refused.
async fn withhold(connection: &mut Connection, bytes: &[u8]) -> io::Result<()> {
    let mut refused = false;
    for number in 0..3 {
        let stream = 2 * number + 1;
        connection.send(&begin(stream, RESTORE, &[])).await?;
        // A quarter of the stream's window at a time, which is open again when the server has seen it.
        for part in bytes.chunks(STREAM_WINDOW as usize / 4) {
            let frames: Vec<u8> =
                part.chunks(16_384).flat_map(|chunk| frame(DATA, 0, stream, chunk)).collect();
            connection.send(&frames).await?;
            refused |= connection.settle().await?.iter().any(|frame| frame.kind == RST_STREAM);
            if refused {
                break;
            }
        }
    }
    Ok(())
}

/// Whether the server has closed the connection.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// 100,000 calls that are begun and not made, on a hundred connections; the attackers leave them, and begin again.
pub async fn begun_calls(arena: &Arena) -> Result<()> {
    let frames: Vec<u8> = (0..1000).flat_map(|number| begin(2 * number + 1, RESET, &[])).collect();
    for _ in 0..2 {
        for _ in 0..100 {
            let mut connection = Connection::open(arena.address, &[]).await?;
            connection.send(&frames).await?;
            arena.hold(connection);
        }
        tokio::time::sleep(MOMENT).await;
        arena.serves_newcomers().await?;
        arena.release();
        tokio::time::sleep(MOMENT).await;
    }
    goes_back(arena, 64).await
}

/// Calls whose headers are as large as they may be, in as many fields as that allows, and that are not made.
pub async fn heavy_headers(arena: &Arena) -> Result<()> {
    headers(arena, arena.times(8, 100)).await
}

/// The same over this many connections.
pub async fn headers(arena: &Arena, connections: usize) -> Result<()> {
    let fields: Vec<(String, String)> =
        (0..190).map(|number| (format!("x-{number}"), String::new())).collect();
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let frames: Vec<u8> = (0..1000).flat_map(|number| begin(2 * number + 1, RESET, &fields)).collect();
    for _ in 0..connections {
        let mut connection = Connection::open(arena.address, &[]).await?;
        connection.push(&frames, 4 * MOMENT).await;
        arena.hold(connection);
    }
    tokio::time::sleep(MOMENT).await;
    Ok(())
}

/// Streams whose callers send as much as the server's windows take, and read no answer: a byte at a time, too.
pub async fn full_windows(arena: &Arena) -> Result<()> {
    windows(arena, arena.times(200, 450)).await
}

/// The same over this many connections.
pub async fn windows(arena: &Arena, connections: usize) -> Result<()> {
    for number in 0..connections {
        let mut connection = Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
        let part = if number % 2 == 0 { 1 } else { 16_384 };
        // An answer that no reader takes, and requests after it.
        let mut frames = begin(1, STREAM, &[]);
        for _ in 0..4 {
            frames.extend(message(1, false, &[], false));
        }
        let mut rest = [&[0][..], &(1_u32 << 20).to_be_bytes()].concat();
        rest.resize(STREAM_WINDOW as usize - 1000, 0);
        frames.extend(rest.chunks(part).take(1000).flat_map(|chunk| frame(DATA, 0, 1, chunk)));
        connection.push(&frames, MOMENT).await;
        arena.hold(connection);
    }
    Ok(())
}

/// Piece sequences, the longest there may be, for every environment of a session: by Reset, and by snapshots.
pub async fn sequences(arena: &Arena) -> Result<()> {
    let channel = connect(arena.address).await?;
    let config = pb::SessionConfig {
        num_envs: 65_536,
        seeding: Some(seeding::from_seed(1)),
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    };
    let name = session(&channel, config).await?;
    let mut client = EnvironmentServiceClient::new(channel);
    let reset = pb::ResetRequest {
        session: name.clone(),
        envs: envs::encode(Some(&[0])),
        seeding: Some(seeding::from_sequences(vec!["T".repeat(MAX_SEQUENCE_PIECES as usize)])),
        ..Default::default()
    };
    client.reset(reset.clone()).await?;
    let save = pb::SaveStateRequest { session: name.clone(), envs: envs::encode(Some(&[0])) };
    let state = client.save_state(save).await?.into_inner().states.pop().context("a snapshot")?;

    let mut connection = Connection::open(arena.address, &[]).await?;
    let mut stream = 1;
    let mut send = async |path: &str, bytes: &[u8]| {
        connection.push(&compressed(stream, path, "zstd", &zstd(bytes), true), 4 * MOMENT).await;
        stream += 2;
    };
    for first in (0..arena.times(200, 2000) as u32).step_by(10) {
        let env_ids: Vec<u32> = (first..first + 10).collect();
        let piece_sequences = vec!["TOILSJZ".repeat(MAX_SEQUENCE_PIECES as usize / 7); 10];
        let request = pb::ResetRequest {
            envs: envs::encode(Some(&env_ids)),
            seeding: Some(seeding::from_sequences(piece_sequences)),
            ..reset.clone()
        };
        send(RESET, &request.encode_to_vec()).await;
    }
    for first in (2000..arena.times(26_000, 64_000) as u32).step_by(600) {
        let request = pb::RestoreStateRequest {
            session: name.clone(),
            envs: envs::encode(Some(&(first..first + 600).collect::<Vec<u32>>())),
            positions: Some(positions::from_snapshots(vec![state.clone(); 600])),
            ..Default::default()
        };
        send(RESTORE, &request.encode_to_vec()).await;
    }
    tokio::time::sleep(4 * MOMENT).await;
    arena.hold(connection);
    Ok(())
}

/// Sessions, the largest possible, until there is no room; their memory, and that of everything they can be made to hold.
pub async fn sessions(arena: &Arena) -> Result<()> {
    let config = pb::SessionConfig {
        num_envs: 65_536,
        rules: Some(pb::Rules { width: 32, height: 40, preview: Some(6), ..Default::default() }),
        ..Default::default()
    };
    let bytes = pb::CreateSessionRequest { config: Some(config), ..Default::default() }.encode_to_vec();
    let mut connection = Connection::open(arena.address, &[]).await?;
    for number in 0..arena.times(30, 300) as u32 {
        connection.send(&crate::http2::call(2 * number + 1, CREATE, &bytes)).await?;
    }
    connection.settle().await?;
    tokio::time::sleep(MOMENT).await;
    arena.hold(connection);
    Ok(())
}

/// Callers that vanish in the middle of a call.
pub async fn vanishing(arena: &Arena) -> Result<()> {
    let work = caves(300);
    for number in 0..arena.times(600, 20_000) {
        let mut connection = Connection::open(arena.address, &[]).await?;
        let frames = match number % 4 {
            0 => crate::http2::call(1, PLACEMENTS, &work),
            1 => {
                crate::http2::call(1, crate::messages::EVALUATE, &crate::messages::endless().encode_to_vec())
            }
            2 => begin(1, STREAM, &[]),
            _ => begin(1, INFO, &[])[..20].to_vec(),
        };
        connection.push(&frames, MOMENT).await;
    }
    Ok(())
}
