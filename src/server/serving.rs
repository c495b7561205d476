//! HTTP on a connection: HTTP/2 or HTTP/1.1, detected by its first bytes, with limits on headers and windows.
//!
//! tonic's own server has no limit on the headers of HTTP/1.1: each connection could make it hold 400 KB without any
//! call. So this file serves connections, with hyper like tonic. [`CONNECTION_BYTES`] is the sum of these limits.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::{Request, Response};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio_stream::StreamExt;
use tonic::body::Body;
use tonic::transport::server::Connected;
use tower::{BoxError, Service};

use super::connection::Peer;
use super::front::Front;
use super::incoming::IncomingConnections;
use super::statuses::left;
use tetrion_protocol::limits::{CONNECTION_WINDOW, MAX_HEADER_BYTES, MAX_HTTP1_BYTES, STREAM_WINDOW};

/// Interval of pings on a silent connection, and longest wait for their answer.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(10));

/// Serves connections until `shutdown` completes. Then it accepts no new ones, and returns when the open ones have
/// ended.
pub(super) async fn serve(
    front: Front,
    incoming: IncomingConnections,
    max_calls: u32,
    shutdown: impl Future<Output = ()>,
) {
    let mut http = Builder::new(TokioExecutor::new());
    // The timer ends a connection whose headers do not arrive within 30 s.
    http.http1().timer(TokioTimer::new()).max_buf_size(MAX_HTTP1_BYTES);
    http.http2()
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(MAX_HEADER_BYTES)
        .max_concurrent_streams(max_calls)
        .keep_alive_interval(KEEPALIVE.0)
        .keep_alive_timeout(KEEPALIVE.1);
    let connections = GracefulShutdown::new();
    {
        // Drop the listener before the open connections end, so that new clients are refused and need not wait.
        let (mut incoming, mut shutdown) = (incoming, pin!(shutdown));
        loop {
            let connection = tokio::select! {
                () = &mut shutdown => break,
                Some(connection) = incoming.next() => connection,
                else => break,
            };
            let service = OfConnection { front: front.clone(), peer: connection.connect_info() };
            let served = http.serve_connection(TokioIo::new(connection), TowerToHyperService::new(service));
            let served = connections.watch(served.into_owned());
            tokio::spawn(async move {
                if let Err(error) = served.await {
                    tracing::debug!(error, "a connection failed");
                }
            });
        }
    }
    connections.shutdown().await;
}

/// The server for the requests of one connection.
#[derive(Clone)]
struct OfConnection {
    front: Front,
    peer: Peer,
}

impl<B> Service<Request<B>> for OfConnection
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = <Front as Service<Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.front.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // No error of a connection is the server's fault.
        let mut request = request.map(|body| Body::new(body.map_err(|_| left())));
        request.extensions_mut().insert(self.peer.clone());
        self.front.call(request)
    }
}
