//! Bytes that are not a message, by every way in: INVALID_ARGUMENT with our own details, and the server serves on.

use std::io::{Read, Write};
use std::net::TcpStream;

use bytes::Bytes;
use tetrion_server::ServerConfig;
use tonic::{Code, Status};

use tetrion_service_testing::refusal_of;
use tetrion_service_testing::servers::{connect_with, listen_with, send};

#[track_caller]
fn check(status: &Status, what: &str) {
    let reported = refusal_of(status);
    assert_eq!(
        (reported.code, reported.reason.as_str()),
        (Code::InvalidArgument, "INVALID_MESSAGE"),
        "{what}"
    );
    assert!(reported.message.starts_with("the request cannot be read: "), "{what}: {}", reported.message);
}

/// Of every kind. Reflection is not among them: it ends its stream without an answer.
const METHODS: [&str; 7] = [
    "/tetrion.v1.EnvironmentService/GetCatalog",
    "/tetrion.v1.EnvironmentService/Step",
    "/tetrion.v1.EnvironmentService/EnumeratePlacements",
    "/tetrion.v1.EnvironmentService/StepStream",
    "/tetrion.v1.EnvironmentService/WatchSession",
    "/tetrion.v1.EvaluationService/EvaluatePolicies",
    "/grpc.health.v1.Health/Check",
];

/// A tag of wire type 7, which does not exist; a length without the bytes; a number that does not end; a wrong type.
const NO_MESSAGES: [&[u8]; 4] = [b"\x0f", b"\x0a\x05ab", b"\x08\xff\xff\xff", b"\x0d\x01"];

#[tokio::test]
async fn bytes_that_are_no_message_are_the_callers_mistake() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    for method in METHODS {
        for bytes in NO_MESSAGES {
            let status = send(&channel, method, vec![Bytes::from_static(bytes)]).await.unwrap_err();
            check(&status, &format!("{bytes:?} to {method}"));
        }
    }
    // In the middle of a stream: the server answers what came before.
    let stream = "/tetrion.v1.EnvironmentService/StepStream";
    let messages = vec![Bytes::new(), Bytes::from_static(NO_MESSAGES[0])];
    let status = send(&channel, stream, messages).await.unwrap_err();
    check(&status, "the second message of a stream");
    // A call without its message.
    let status = send(&channel, METHODS[0], vec![]).await.unwrap_err();
    check(&status, "no message");
    let well = send(&channel, METHODS[0], vec![Bytes::new()]).await.unwrap();
    assert_eq!(well.len(), 1, "the server serves on");
}

/// Over gRPC-Web, where the caller writes the frames: bytes that are not a message, and frames that are not frames.
#[tokio::test]
async fn a_browsers_broken_request_is_the_callers_mistake() {
    let (address, _guard) = listen_with(ServerConfig::default()).await;
    let broken: [&[u8]; 6] = [
        b"\0\0\0\0\x01\x0f",   // not a message
        b"\0\0\0\0\x05\x08",   // a message that ends early
        b"\0\0",               // a frame that ends early
        b"",                   // no frame
        b"\x01\0\0\0\x01\x08", // compressed, and by nothing
        b"\x02\0\0\0\0",       // a flag that does not exist
    ];
    for method in ["/tetrion.v1.EnvironmentService/Step", "/tetrion.v1.EvaluationService/EvaluatePolicies"] {
        for body in broken {
            let head = format!(
                "POST {method} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                 content-type: application/grpc-web+proto\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let answer = tokio::task::spawn_blocking(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(head.as_bytes()).unwrap();
                stream.write_all(body).unwrap();
                let mut answer = Vec::new();
                stream.read_to_end(&mut answer).unwrap();
                String::from_utf8_lossy(&answer).to_lowercase()
            });
            let answer = answer.await.unwrap();
            assert!(answer.contains("grpc-status: 3\r\n"), "{body:?} to {method}: {answer}");
            assert!(answer.contains("grpc-status-details-bin: "), "{body:?} to {method}: {answer}");
        }
    }
}
