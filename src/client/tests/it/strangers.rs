//! Our own client recognises servers of a lower revision, and other services, when it connects.

use std::future::{Ready, ready};

use axum::extract::Request;
use axum::routing::post;
use bytes::Bytes;
use prost::Message;
use tetrion_client::{Client, ClientError, ConnectOptions, RawBytes};
use tetrion_core::engine::RULES_VERSION;
use tetrion_protocol::pb;
use tetrion_protocol::revision::PROTOCOL_REVISION;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tonic::server::{Grpc, UnaryService};
use tonic::service::Routes;
use tonic::transport::server::{Server, TcpIncoming};
use tonic::{Response, Status};

/// What a server answers to every caller.
#[derive(Clone)]
struct Answer(Result<Bytes, Status>);

impl UnaryService<Bytes> for Answer {
    type Response = Bytes;
    type Future = Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, _: tonic::Request<Bytes>) -> Self::Future {
        ready(self.0.clone().map(Response::new))
    }
}

/// The address of a server that has one call, which answers this.
fn serve(answer: Result<Bytes, Status>) -> String {
    let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = incoming.local_addr().unwrap().to_string();
    let handler = move |request: Request| {
        let answer = Answer(answer.clone());
        async move { Grpc::new(RawBytes).unary(answer, request).await.map(axum::body::Body::new) }
    };
    let router = axum::Router::new().route("/tetrion.v1.EnvironmentService/GetServerInfo", post(handler));
    let serving = Server::builder().add_routes(Routes::from(router)).serve_with_incoming(incoming);
    tokio::spawn(serving);
    address
}

/// A server that claims these versions. It is newer than its client: its answer has a field that the client does not
/// know.
fn versions(protocol_revision: u32, rules_version: &str) -> String {
    let known = pb::GetServerInfoResponse {
        server_version: "7.0.0".to_owned(),
        rules_version: rules_version.to_owned(),
        protocol_revision,
        ..Default::default()
    };
    serve(Ok([known.encode_to_vec(), b"\xc0\x3e\x01".to_vec()].concat().into()))
}

async fn connect(address: &str) -> Result<Client, ClientError> {
    Client::connect(&[address.to_owned()], ConnectOptions::default()).await
}

#[tokio::test]
async fn a_server_of_a_lower_revision_is_refused_unless_any_will_do() {
    let address = versions(PROTOCOL_REVISION - 1, RULES_VERSION);
    let error = connect(&address).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the server at {address} is Tetrion 7.0.0 with protocol_revision 0, this client needs 1; use a newer server"
        )
    );
    let options = ConnectOptions { any_version: true, ..ConnectOptions::default() };
    assert!(Client::connect(&[address], options).await.unwrap().warnings().is_empty());
    for revision in [PROTOCOL_REVISION, PROTOCOL_REVISION + 7] {
        let client = connect(&versions(revision, RULES_VERSION)).await.unwrap();
        assert!(client.warnings().is_empty(), "whatever the version of the program");
    }
}

#[tokio::test]
async fn a_server_of_other_rules_is_taken_with_a_warning() {
    let ours = versions(PROTOCOL_REVISION, RULES_VERSION);
    let other = versions(PROTOCOL_REVISION, "tetrion-rules-99");
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

#[tokio::test]
async fn an_address_with_a_user_is_refused() {
    for address in ["user@127.0.0.1:1", "http://user:secret@127.0.0.1:1"] {
        let error = connect(address).await.unwrap_err();
        assert!(matches!(&error, ClientError::Address { address: given } if given == address), "{error}");
    }
}
