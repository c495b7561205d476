//! Pages in browsers: no request that they can make a browser send reaches a session.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Frame;
use prost::Message;
use tetrion::protocol::pb;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::server::{Hosts, ServerConfig};
use tonic::body::Body;
use tonic::codegen::http;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tower::{Service, ServiceExt};

use crate::support::Command;
use tetrion_service_testing::refused;
use tetrion_service_testing::servers::{connect_with, listen_with};

/// A body that is complete.
struct Whole(Option<Bytes>);

impl http_body::Body for Whole {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// A CreateSession over HTTP/2 of a page from this origin, which declares this content type, if any.
async fn create_session_as(channel: &Channel, origin: &str, kind: Option<&str>) -> http::StatusCode {
    let message = pb::CreateSessionRequest::default().encode_to_vec();
    let body = [&[0; 5][..], &message].concat(); // an empty message has no length
    let request =
        http::Request::post("/tetrion.v1.EnvironmentService/CreateSession").header("origin", origin);
    let request = match kind {
        Some(kind) => request.header("content-type", kind),
        None => request,
    };
    let request = request.body(Body::new(Whole(Some(body.into())))).unwrap();
    channel.clone().ready().await.unwrap().call(request).await.unwrap().status()
}

#[tokio::test]
async fn what_a_page_may_send_without_asking_the_browser_is_not_a_call() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    for kind in [
        None,
        Some(""),
        Some("text/plain"),
        Some("text/plain; application/grpc"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
        Some("application/grpcx"),
    ] {
        let status = create_session_as(&channel, "http://localhost:3000", kind).await;
        assert_eq!(status, http::StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind:?}");
        let status = create_session_as(&channel, "https://evil.example", kind).await;
        assert_eq!(status, http::StatusCode::FORBIDDEN, "{kind:?}");
    }
    let mut client = EnvironmentServiceClient::new(channel.clone());
    let list = client.list_sessions(pb::ListSessionsRequest::default()).await.unwrap().into_inner();
    assert_eq!(list.sessions, [], "a page has made a session");
    for kind in ["application/grpc", "application/grpc+proto", "application/grpc;charset=x"] {
        let status = create_session_as(&channel, "https://evil.example", Some(kind)).await;
        assert_eq!(status, http::StatusCode::FORBIDDEN, "{kind}");
        let status = create_session_as(&channel, "http://localhost:3000", Some(kind)).await;
        assert_eq!(status, http::StatusCode::OK, "{kind}");
    }
}

/// The answer to a plain request for this page with this host.
async fn asked_as(address: SocketAddr, host: &str) -> String {
    let request = format!("GET / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    let ask = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    tokio::task::spawn_blocking(ask).await.unwrap()
}

/// How a call with this `:authority` ends.
async fn called_as(address: SocketAddr, host: &str) -> Result<(), Status> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let channel = endpoint.origin(format!("http://{host}").parse().unwrap()).connect().await.unwrap();
    let mut client = EnvironmentServiceClient::new(channel);
    client.get_server_info(pb::GetServerInfoRequest::default()).await.map(|_| ())
}

#[tokio::test]
async fn a_name_that_a_page_made_resolve_to_the_loopback_is_refused() {
    let hosts = Hosts::Local(vec!["tetris.lab".to_owned()]);
    let (address, _guard) = listen_with(ServerConfig { hosts, ..ServerConfig::default() }).await;
    for host in [
        "localhost",
        "LocalHost:50451",
        "127.0.0.1:50451",
        "127.8.9.1",
        "[::1]:50451",
        "tetris.lab:80",
        "Tetris.Lab",
    ] {
        let answer = asked_as(address, host).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{host}: {answer}");
        called_as(address, host).await.unwrap_or_else(|refusal| panic!("{host}: {refusal}"));
    }
    for host in [
        "evil.example",
        "evil.example:50451",
        "localhost.evil.example:50451",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "tetris.lab.evil.example",
    ] {
        let answer = asked_as(address, host).await;
        assert!(answer.starts_with("HTTP/1.1 421 Misdirected Request\r\n"), "{host}: {answer}");
        assert!(answer.contains("--allow-host"), "{answer}");
        let reported = refused(called_as(address, host).await, Code::PermissionDenied, "UNKNOWN_HOST");
        assert_eq!(reported.metadata("host"), host.split(':').next().unwrap());
        assert!(reported.message.contains("--allow-host"), "{}", reported.message);
    }
    // Browsers never send a host after a user, or no host at all.
    for host in ["tetris.lab@evil.example", "", "a b", "localhost\r\nhost: evil.example"] {
        let answer = asked_as(address, host).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{host:?}: {answer}");
    }
    let (address, _guard) = listen_with(ServerConfig { hosts: Hosts::Any, ..ServerConfig::default() }).await;
    called_as(address, "evil.example").await.expect("any host");
    assert!(asked_as(address, "evil.example").await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[test]
fn a_host_is_a_name_and_no_more() {
    for wrong in ["http://lab.example", "lab.example:80", "lab.example/", "a b", "user@lab", ""] {
        let output = Command::new(env!("CARGO_BIN_EXE_tetrion"))
            .args(["serve", "--listen", "127.0.0.1:0", "--allow-host", wrong])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("expected a name without a scheme, a port or a path"), "{said}");
    }
}
