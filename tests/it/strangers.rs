//! Our own client recognises servers of another version, and other services, when it connects.

use std::future::{Ready, ready};

use axum::extract::Request;
use axum::routing::post;
use tetrion::client::{Client, ClientError, ConnectOptions};
use tetrion::engine::RULES_VERSION;
use tetrion::wire::pb;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tonic::server::{Grpc, UnaryService};
use tonic::service::Routes;
use tonic::transport::server::{Server, TcpIncoming};
use tonic::{Response, Status};
use tonic_prost::ProstCodec;

/// What a server answers to every caller.
#[derive(Clone)]
struct Answer(Result<pb::GetServerInfoResponse, Status>);

impl UnaryService<pb::GetServerInfoRequest> for Answer {
    type Response = pb::GetServerInfoResponse;
    type Future = Ready<Result<Response<pb::GetServerInfoResponse>, Status>>;

    fn call(&mut self, _: tonic::Request<pb::GetServerInfoRequest>) -> Self::Future {
        ready(self.0.clone().map(Response::new))
    }
}

/// The address of a server that has one call, which answers this.
fn serve(answer: Result<pb::GetServerInfoResponse, Status>) -> String {
    let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = incoming.local_addr().unwrap().to_string();
    let handler = move |request: Request| {
        let answer = Answer(answer.clone());
        async move {
            let codec = ProstCodec::<pb::GetServerInfoResponse, pb::GetServerInfoRequest>::default();
            Grpc::new(codec).unary(answer, request).await.map(axum::body::Body::new)
        }
    };
    let router = axum::Router::new().route("/tetrion.v1.EnvironmentService/GetServerInfo", post(handler));
    let serving = Server::builder().add_routes(Routes::from(router)).serve_with_incoming(incoming);
    tokio::spawn(serving);
    address
}

/// A server that claims these versions.
fn versions(server_version: &str, rules_version: &str) -> String {
    serve(Ok(pb::GetServerInfoResponse {
        server_version: server_version.to_owned(),
        rules_version: rules_version.to_owned(),
        ..Default::default()
    }))
}

async fn connect(address: &str) -> Result<Client, ClientError> {
    Client::connect(&[address.to_owned()], ConnectOptions::default()).await
}

#[tokio::test]
async fn a_server_of_another_version_is_refused_unless_any_will_do() {
    let address = versions("7.0.0", RULES_VERSION);
    let error = connect(&address).await.unwrap_err();
    let ours = env!("CARGO_PKG_VERSION");
    assert_eq!(
        error.to_string(),
        format!(
            "the server at {address} is Tetrion 7.0.0, and this client is Tetrion {ours}: use one version on both sides"
        )
    );
    let options = ConnectOptions { any_version: true, ..ConnectOptions::default() };
    assert!(Client::connect(&[address], options).await.unwrap().warnings().is_empty());
    assert!(connect(&versions(ours, RULES_VERSION)).await.unwrap().warnings().is_empty());
}

#[tokio::test]
async fn a_server_of_other_rules_is_taken_with_a_warning() {
    let ours = versions(env!("CARGO_PKG_VERSION"), RULES_VERSION);
    let other = versions(env!("CARGO_PKG_VERSION"), "tetrion-rules-99");
    let client = Client::connect(&[ours, other.clone()], ConnectOptions::default()).await.unwrap();
    assert_eq!(
        client.warnings(),
        [format!(
            "the server at {other} has the rules version tetrion-rules-99, and this client is made for {RULES_VERSION}: \
             equal seeds and actions may give other games"
        )]
    );
}

#[tokio::test]
async fn a_server_of_another_kind_is_recognised() {
    #[track_caller]
    fn check(error: &ClientError, part: &str) {
        assert!(matches!(error, ClientError::Foreign { .. }), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
    }
    let foreign = serve(Err(Status::unimplemented("unknown service")));
    check(
        &connect(&foreign).await.unwrap_err(),
        "it speaks gRPC and has no service tetrion.v1.EnvironmentService",
    );

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 256]).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
        }
    });
    let why = format!("it does not speak gRPC; if it has a certificate, its address is https://{address}");
    check(&connect(&address).await.unwrap_err(), &why);
}
