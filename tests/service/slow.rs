//! Requests byte by byte, which end when their sender says so.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use http_body::Frame;
use tokio::sync::oneshot;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tower::{Service, ServiceExt};

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

/// Makes a call with these bytes, which ends when the returned sender says so; returns the code of its answer.
pub fn call(
    channel: &Channel,
    method: &str,
    chunks: &[Bytes],
) -> (oneshot::Sender<()>, impl Future<Output = Code> + Send + use<>) {
    call_encoded(channel, method, "zstd", chunks)
}

/// Makes a call like [`call`], whose messages may be compressed with this encoding. Returns the code of a stream's first
/// answer, if that is the refusal.
pub fn call_encoded(
    channel: &Channel,
    method: &str,
    encoding: &str,
    chunks: &[Bytes],
) -> (oneshot::Sender<()>, impl Future<Output = Code> + Send + use<>) {
    let (sender, end) = oneshot::channel();
    let body = Body::new(Slow { chunks: chunks.iter().cloned().collect(), end });
    let request = http::Request::post(format!("/tetrion.v1.EnvironmentService/{method}"))
        .header("content-type", "application/grpc")
        .header("grpc-encoding", encoding)
        .body(body)
        .unwrap();
    let mut channel = channel.clone();
    let answer = async move {
        let response = channel.ready().await.unwrap().call(request).await.unwrap();
        response.headers().get("grpc-status").map_or(Code::Ok, |code| Code::from_bytes(code.as_bytes()))
    };
    (sender, answer)
}
