//! Whole servers on free ports.

use std::net::SocketAddr;

use bytes::Bytes;
use tetrion_client::RawBytes;
use tetrion_server::{Server, ServerConfig};
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Status};

use crate::evaluations::EvaluationClient;

/// A server of our own with this many threads, which stops with the guard.
pub async fn evaluating(num_threads: usize) -> (EvaluationClient, DropGuard) {
    evaluating_with(ServerConfig { num_threads, ..ServerConfig::default() }).await
}

pub async fn evaluating_with(config: ServerConfig) -> (EvaluationClient, DropGuard) {
    let (channel, guard) = connect_with(config).await;
    (EvaluationClient::new(channel), guard)
}

/// A connection to a server of our own, which stops with the guard.
pub async fn connect_with(config: ServerConfig) -> (Channel, DropGuard) {
    let (address, guard) = listen_with(config).await;
    (Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap(), guard)
}

/// The address of a server of our own, which stops with the guard.
pub async fn listen_with(config: ServerConfig) -> (SocketAddr, DropGuard) {
    let server = Server::bind(ServerConfig { listen: ([127, 0, 0, 1], 0).into(), ..config }).await.unwrap();
    let address = server.local_addr();
    let stop = CancellationToken::new();
    tokio::spawn(server.run(stop.clone().cancelled_owned()));
    (address, stop.drop_guard())
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

/// The address of a server of our own with one thread, as text; it stops with the guard.
pub async fn serve() -> (String, DropGuard) {
    let (address, guard) = listen_with(ServerConfig { num_threads: 1, ..ServerConfig::default() }).await;
    (address.to_string(), guard)
}
