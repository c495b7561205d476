//! What a connection can hold before it has made a request: hostile clients over real sockets.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;
use tetrion_protocol::limits::{
    MAX_DECODED_BYTES, MAX_ENVS_PER_SESSION, MAX_REQUEST_SEQUENCE_PIECES, MAX_SMALL_REQUEST_BYTES,
};
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_protocol::{pb, seeding};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tonic::Code;
use tonic::codec::CompressionEncoding;
use tonic::transport::Channel;

use tetrion_service_testing::servers::{connect, send, start};
use tetrion_service_testing::slow::{announced, call, call_encoded};
use tetrion_service_testing::{only, refused};

const MIB: u32 = 1 << 20;
/// How long a test watches a call that must not end: a refusal comes within a millisecond or two.
const WATCHED: Duration = Duration::from_millis(300);
/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A whole request of this many bytes, on a session that does not exist.
async fn whole(channel: &Channel, bytes: usize) -> Code {
    let request = pb::RestoreStateRequest { session: "x".repeat(bytes), ..Default::default() };
    let mut client = EnvironmentServiceClient::new(channel.clone()).max_encoding_message_size(usize::MAX);
    client.restore_state(request).await.unwrap_err().code()
}

#[tokio::test]
async fn announced_messages_have_limited_room_on_a_connection() {
    let (address, _guard) = start().await;
    let hostile = connect(&address).await;
    let mut calls = JoinSet::new();
    let mut open = Vec::new();
    for _ in 0..40 {
        let (end, answer) = call(&hostile, "RestoreState", &[announced(false, 10 * MIB, 1000)]);
        open.push(end);
        calls.spawn(answer);
    }
    // Twenty-five have room in 256 MiB.
    for _ in 0..15 {
        let refused = timeout(PATIENCE, calls.join_next()).await.expect("15 calls have no room");
        assert_eq!(refused.unwrap().unwrap(), Code::ResourceExhausted);
    }
    assert!(timeout(WATCHED, calls.join_next()).await.is_err(), "one of the 25 was answered");
    // The server serves what has room, on this connection and on others.
    // A text counts twice: as it came, and as it is read.
    assert_eq!(whole(&hostile, 2 << 20).await, Code::InvalidArgument);
    assert_eq!(whole(&hostile, 4 << 20).await, Code::ResourceExhausted);
    assert_eq!(whole(&connect(&address).await, 60 << 20).await, Code::InvalidArgument);
    // The room comes back when the calls end.
    calls.shutdown().await;
    let given_back = async {
        while whole(&hostile, 60 << 20).await == Code::ResourceExhausted {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, given_back).await.expect("the room of calls that have been left");
}

/// A message of this many bytes that stands for this many zeros.
fn compressed(encoding: &str, zeros: usize) -> Bytes {
    let zeros = vec![0; zeros];
    let data = match encoding {
        "gzip" => {
            let mut encoder = flate2::read::GzEncoder::new(&zeros[..], flate2::Compression::best());
            let mut data = Vec::new();
            encoder.read_to_end(&mut data).unwrap();
            data
        }
        _ => zstd::encode_all(&zeros[..], 3).unwrap(),
    };
    let mut bytes = BytesMut::new();
    bytes.put_u8(1);
    bytes.put_u32(data.len() as u32);
    bytes.put_slice(&data);
    bytes.freeze()
}

/// A step of a session that does not exist, and how long its answer took.
async fn step_of_another(channel: &Channel) -> Duration {
    let start = std::time::Instant::now();
    let request = tetrion_service_testing::step("sessions/none", &[0]);
    let refusal = EnvironmentServiceClient::new(channel.clone()).step(request).await.unwrap_err();
    assert_eq!(refusal.code(), Code::NotFound);
    start.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compressed_messages_have_the_room_of_what_they_become() {
    let (address, _guard) = start().await;
    let hostile = connect(&address).await;
    for encoding in ["gzip", "zstd"] {
        let bomb = compressed(encoding, 60 << 20);
        assert!(bomb.len() < 70_000, "{} bytes", bomb.len());
        let (mut calls, mut open) = (JoinSet::new(), Vec::new());
        for _ in 0..16 {
            let (end, answer) = call_encoded(&hostile, "RestoreState", encoding, std::slice::from_ref(&bomb));
            end.send(()).unwrap();
            calls.spawn(answer);
            let (end, answer) = call_encoded(&hostile, "StepStream", encoding, std::slice::from_ref(&bomb));
            open.push(end);
            calls.spawn(answer);
        }
        // They take turns, and other callers do not wait for them.
        let other = connect(&address).await;
        let (start, mut waits) = (Instant::now(), Vec::new());
        let mut codes = Vec::new();
        while !calls.is_empty() {
            tokio::select! {
                Some(code) = calls.join_next() => codes.push(code.unwrap()),
                took = step_of_another(&other) => waits.push(took),
            }
        }
        // However slow or busy the machine is: a caller that waits for all of them steps once.
        let took = start.elapsed();
        assert!(
            waits.len() >= 5 || took < Duration::from_secs(1),
            "in {took:?} another caller waited for {waits:?}"
        );
        assert!(codes.contains(&Code::ResourceExhausted), "{codes:?}");
        drop((open, calls));
        // All of the room comes back.
        let given_back = async {
            while whole(&hostile, 60 << 20).await == Code::ResourceExhausted {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, given_back).await.expect("the room of calls that have ended");
    }
}

#[tokio::test]
async fn a_compressed_message_is_what_it_was() {
    let (address, _guard) = start().await;
    let channel = connect(&address).await;
    for encoding in [CompressionEncoding::Gzip, CompressionEncoding::Zstd] {
        let mut client = EnvironmentServiceClient::new(channel.clone()).send_compressed(encoding);
        // Small enough to be read at once, and large enough for the pool.
        for length in [0_u64, 200, 60_000, 70_000, 5 << 20] {
            let name: String = (0..length).map(|i| char::from(b'a' + (i * i % 23) as u8)).collect();
            let request = pb::RestoreStateRequest { session: name, ..Default::default() };
            let refusal = client.restore_state(request).await.unwrap_err();
            let reported = tetrion_service_testing::refusal_of(&refusal);
            let violation = &reported.details.bad_request().unwrap().field_violations[0];
            assert_eq!(violation.field, "session", "{refusal}");
            if length > 128 {
                assert!(violation.description.contains(&format!("{length} bytes")), "{refusal}");
            }
        }
        // One message after the other on a stream.
        let requests = tokio_stream::iter((0..5).map(|_| pb::StepStreamRequest::default()));
        let mut stream = client.step_stream(requests).await.unwrap().into_inner();
        let mut count = 0;
        while stream.message().await.unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 5);
    }
}

#[tokio::test]
async fn compressed_messages_that_are_too_long_or_damaged_are_refused() {
    let (address, _guard) = start().await;
    let channel = connect(&address).await;
    for encoding in ["gzip", "zstd"] {
        let max = MAX_SMALL_REQUEST_BYTES as usize;
        for (zeros, is_too_long) in [(max, false), (max + 1, true)] {
            // Zeros are not a message: the error shows that the server has read them.
            let bomb = compressed(encoding, zeros);
            let (end, answer) = call_encoded(&channel, "Step", encoding, &[bomb]);
            end.send(()).unwrap();
            let answered = timeout(PATIENCE, answer).await.expect("an answer");
            assert_eq!(answered == Code::ResourceExhausted, is_too_long, "{zeros} {answered:?}");
        }
        let (end, answer) = call_encoded(&channel, "Step", encoding, &[announced(true, 10, 10)]);
        end.send(()).unwrap();
        assert_eq!(timeout(PATIENCE, answer).await.expect("an answer"), Code::InvalidArgument);
    }
    // The server would have to allocate a window larger than any usual level's before the first byte arrives.
    let mut encoder = zstd::Encoder::new(Vec::new(), 22).unwrap();
    encoder.window_log(27).unwrap();
    encoder.include_contentsize(false).unwrap();
    encoder.write_all(&[0; 1000]).unwrap();
    let data = encoder.finish().unwrap();
    let mut bytes = BytesMut::new();
    bytes.put_u8(1);
    bytes.put_u32(data.len() as u32);
    bytes.put_slice(&data);
    let (end, answer) = call_encoded(&channel, "Step", "zstd", &[bytes.freeze()]);
    end.send(()).unwrap();
    assert_eq!(timeout(PATIENCE, answer).await.expect("an answer"), Code::InvalidArgument);
}

#[tokio::test]
async fn a_single_message_is_read_when_its_request_has_ended() {
    let (address, _guard) = start().await;
    let channel = connect(&address).await;
    // Complete, and unreadable: 0xff is the beginning of a number.
    let unreadable = announced(false, 1, 1);
    let (end, answer) = call(&channel, "GetServerInfo", std::slice::from_ref(&unreadable));
    let mut answer = std::pin::pin!(answer);
    assert!(timeout(WATCHED, answer.as_mut()).await.is_err(), "it was read before its request had ended");
    end.send(()).unwrap();
    assert_eq!(timeout(PATIENCE, answer).await.expect("an answer"), Code::InvalidArgument);

    // In pieces, the prefix too; the end comes by itself.
    let pieces: Vec<Bytes> = announced(false, 0, 0).chunks(2).map(Bytes::copy_from_slice).collect();
    let (end, answer) = call(&channel, "GetServerInfo", &pieces);
    end.send(()).unwrap();
    assert_eq!(timeout(PATIENCE, answer).await.expect("an answer"), Code::Ok);

    let (_end, answer) = call(&channel, "GetServerInfo", &[unreadable.clone(), unreadable]);
    assert_eq!(timeout(PATIENCE, answer).await.expect("a refusal"), Code::InvalidArgument);
}

#[tokio::test]
async fn calls_without_bulk_take_small_messages() {
    let (address, _guard) = start().await;
    let mut client = EnvironmentServiceClient::new(connect(&address).await);
    // A tag, three bytes of length, and this many bytes.
    let token = |length: usize| pb::ListSessionsRequest { page_size: 0, page_token: "x".repeat(length) };
    let at = token(MAX_SMALL_REQUEST_BYTES as usize - 4);
    assert_eq!(at.encoded_len(), MAX_SMALL_REQUEST_BYTES as usize);
    assert_eq!(client.list_sessions(at).await.unwrap_err().code(), Code::InvalidArgument);
    let past = token(MAX_SMALL_REQUEST_BYTES as usize - 3);
    let refusal = refused(client.list_sessions(past).await, Code::ResourceExhausted, "REQUEST_TOO_LARGE");
    assert_eq!(refusal.metadata("max_bytes"), MAX_SMALL_REQUEST_BYTES.to_string());
}

#[tokio::test]
async fn a_message_of_many_small_parts_is_too_large() {
    let (address, _guard) = start().await;
    let drawings = b"\x12\x04\x1a\x02\x0a\0".repeat(4 << 20); // positions.drawings.drawings, 24 MiB
    let method = "/tetrion.v1.EnvironmentService/EnumeratePlacements";
    let got = send(&connect(&address).await, method, vec![drawings.into()]).await;
    let refusal = refused(got, Code::ResourceExhausted, "REQUEST_TOO_LARGE");
    assert_eq!(refusal.metadata("max_bytes"), MAX_DECODED_BYTES.to_string());
    assert!(refusal.message.starts_with("the message of 25165824 bytes would take "), "{}", refusal.message);
}

#[tokio::test]
async fn all_environments_of_the_largest_session_are_reset_in_a_small_message() {
    let (address, _guard) = start().await;
    let mut client = EnvironmentServiceClient::new(connect(&address).await);
    let per_env = (MAX_REQUEST_SEQUENCE_PIECES / MAX_ENVS_PER_SESSION) as usize;
    let reset = pb::ResetRequest {
        session: "sessions/none".to_owned(),
        envs: only(0..MAX_ENVS_PER_SESSION),
        seeding: Some(seeding::from_sequences(vec!["T".repeat(per_env); MAX_ENVS_PER_SESSION as usize])),
        ..Default::default()
    };
    assert!(reset.encoded_len() <= MAX_SMALL_REQUEST_BYTES as usize);
    assert_eq!(client.reset(reset).await.unwrap_err().code(), Code::NotFound, "it was read");
}
