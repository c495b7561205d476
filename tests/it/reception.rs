//! What a connection can hold without having made a request: hostile clients over real sockets.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http_body::Frame;
use prost::Message;
use tetrion::wire::limits::{
    MAX_ENVS_PER_SESSION, MAX_REQUEST_BYTES, MAX_REQUEST_SEQUENCE_PIECES, MAX_SMALL_REQUEST_BYTES,
};
use tetrion::wire::pb;
use tetrion::wire::pb::environment_service_client::EnvironmentServiceClient;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tonic::body::Body;
use tonic::codec::CompressionEncoding;
use tonic::codegen::http;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tower::{Service, ServiceExt};

use crate::sessions_client::start;

const MIB: u32 = 1 << 20;
/// How long a call that must not end is watched: one that is refused is so within a millisecond or two.
const WATCHED: Duration = Duration::from_millis(300);
/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request that ends when its sender says so, or never.
struct Slow {
    chunks: VecDeque<Bytes>,
    end: oneshot::Receiver<()>,
}

impl http_body::Body for Slow {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match self.chunks.pop_front() {
            Some(chunk) => Poll::Ready(Some(Ok(Frame::data(chunk)))),
            None => Pin::new(&mut self.end).poll(cx).map(|_| None),
        }
    }
}

/// The beginning of a message: its prefix, and a few of the bytes that it announces.
pub fn announced(compressed: bool, length: u32, sent: usize) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(compressed.into());
    bytes.put_u32(length);
    bytes.put_bytes(0xff, sent);
    bytes.freeze()
}

async fn connect(address: &str) -> Channel {
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

/// Makes a call with these bytes, which ends with the sender returned; gives the code it is answered with.
pub fn call(
    channel: &Channel,
    method: &str,
    chunks: &[Bytes],
) -> (oneshot::Sender<()>, impl Future<Output = Code> + Send + use<>) {
    let (sender, end) = oneshot::channel();
    let body = Body::new(Slow { chunks: chunks.iter().cloned().collect(), end });
    let request = http::Request::post(format!("/tetrion.v1.EnvironmentService/{method}"))
        .header("content-type", "application/grpc")
        .header("grpc-encoding", "zstd")
        .body(body)
        .unwrap();
    let mut channel = channel.clone();
    let answer = async move {
        let response = channel.ready().await.unwrap().call(request).await.unwrap();
        response.headers().get("grpc-status").map_or(Code::Ok, |code| Code::from_bytes(code.as_bytes()))
    };
    (sender, answer)
}

/// A whole request of so many bytes, on a session that does not exist.
async fn whole(channel: &Channel, bytes: usize) -> Code {
    let request = pb::RestoreStateRequest { session: "x".repeat(bytes), ..Default::default() };
    let mut client = EnvironmentServiceClient::new(channel.clone()).max_encoding_message_size(usize::MAX);
    client.restore_state(request).await.unwrap_err().code()
}

#[tokio::test]
async fn announced_messages_have_so_much_room_on_a_connection() {
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
    // What has room is served, on this connection and on others.
    assert_eq!(whole(&hostile, 5 << 20).await, Code::InvalidArgument);
    assert_eq!(whole(&hostile, 7 << 20).await, Code::ResourceExhausted);
    assert_eq!(whole(&connect(&address).await, 60 << 20).await, Code::InvalidArgument);
    // It is given back when the calls are.
    calls.shutdown().await;
    let given_back = async {
        while whole(&hostile, 60 << 20).await == Code::ResourceExhausted {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, given_back).await.expect("the room of calls that have been left");
}

#[tokio::test]
async fn a_compressed_stream_has_the_room_of_the_largest_message() {
    let (address, _guard) = start().await;
    let hostile = connect(&address).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let (end, answer) = call(&hostile, "StepStream", &[announced(true, 100, 10)]);
        assert_eq!(timeout(PATIENCE, answer).await.expect("an answer that begins"), Code::Ok);
        open.push(end);
    }
    // Answers have begun before requests are read, so it takes a moment until no room is left for the largest message.
    let none_left = async {
        while whole(&hostile, MAX_REQUEST_BYTES as usize - 5).await != Code::ResourceExhausted {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, none_left).await.expect("three times 64 MiB and 100 bytes of the 256 MiB taken");
    assert_eq!(whole(&hostile, 60 << 20).await, Code::InvalidArgument);
    // A fourth one ends with the refusal, where an answer would be.
    let mut client =
        EnvironmentServiceClient::new(hostile.clone()).send_compressed(CompressionEncoding::Zstd);
    let requests = tokio_stream::iter([pb::StepStreamRequest::default()]);
    let fourth = async { client.step_stream(requests).await?.into_inner().message().await };
    assert_eq!(fourth.await.unwrap_err().code(), Code::ResourceExhausted);
}

#[tokio::test]
async fn a_single_message_is_read_when_its_request_has_ended() {
    let (address, _guard) = start().await;
    let channel = connect(&address).await;
    // Complete, and nothing that could be read: 0xff is the beginning of a number.
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
    // A tag, three bytes of length, and so many bytes.
    let token = |length: usize| pb::ListSessionsRequest { page_size: 0, page_token: "x".repeat(length) };
    let at = token(MAX_SMALL_REQUEST_BYTES as usize - 4);
    assert_eq!(at.encoded_len(), MAX_SMALL_REQUEST_BYTES as usize);
    assert_eq!(client.list_sessions(at).await.unwrap_err().code(), Code::InvalidArgument);
    let past = token(MAX_SMALL_REQUEST_BYTES as usize - 3);
    assert_eq!(client.list_sessions(past).await.unwrap_err().code(), Code::OutOfRange);
}

#[tokio::test]
async fn all_environments_of_the_largest_session_are_reset_in_a_small_message() {
    let (address, _guard) = start().await;
    let mut client = EnvironmentServiceClient::new(connect(&address).await);
    let per_env = (MAX_REQUEST_SEQUENCE_PIECES / MAX_ENVS_PER_SESSION) as usize;
    let reset = pb::ResetRequest {
        session: "sessions/none".to_owned(),
        env_ids: (0..MAX_ENVS_PER_SESSION).collect(),
        piece_sequences: vec!["T".repeat(per_env); MAX_ENVS_PER_SESSION as usize],
        ..Default::default()
    };
    assert!(reset.encoded_len() <= MAX_SMALL_REQUEST_BYTES as usize);
    assert_eq!(client.reset(reset).await.unwrap_err().code(), Code::NotFound, "it was read");
}
