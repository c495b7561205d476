//! Whole servers on free ports.

use std::fmt::Display;
use std::net::SocketAddr;

use bytes::Bytes;
use tetrion_client::RawBytes;
use tetrion_server::{Server, ServerConfig, ServerError};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Status};

/// A connection to this address.
pub async fn connect(address: impl Display) -> Channel {
    Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

/// A connection to a new server, which stops with the guard.
pub async fn connect_with(config: ServerConfig) -> (Channel, DropGuard) {
    let (address, guard) = listen_with(config).await;
    (connect(address).await, guard)
}

/// The address of a new server, which stops with the guard.
pub async fn listen_with(config: ServerConfig) -> (SocketAddr, DropGuard) {
    let (address, stop, _) = run(config).await;
    (address, stop.drop_guard())
}

/// The address of a new server, a token that stops it, and its end.
pub async fn run(
    config: ServerConfig,
) -> (SocketAddr, CancellationToken, JoinHandle<Result<(), ServerError>>) {
    let server = Server::bind(ServerConfig { listen: ([127, 0, 0, 1], 0).into(), ..config }).await.unwrap();
    let (address, stop) = (server.local_addr(), CancellationToken::new());
    let end = tokio::spawn(server.run(stop.clone().cancelled_owned()));
    (address, stop, end)
}

/// Sends these messages to a method and reads its answer to the end.
pub async fn send(channel: &Channel, method: &str, messages: Vec<Bytes>) -> Result<Vec<Bytes>, Status> {
    let mut client = Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let request = Request::new(tokio_stream::iter(messages));
    let answer = client.streaming(request, PathAndQuery::try_from(method).unwrap(), RawBytes).await;
    let mut answers = answer?.into_inner();
    let mut all = Vec::new();
    while let Some(answer) = answers.message().await? {
        all.push(answer);
    }
    Ok(all)
}

/// The address of a new server with one thread, as text; it stops with the guard.
pub async fn start() -> (String, DropGuard) {
    let (address, guard) = listen_with(ServerConfig { num_threads: 1, ..ServerConfig::default() }).await;
    (address.to_string(), guard)
}
