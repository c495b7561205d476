//! The id of a request is in its answer, its errors and its lines in the log; and callers cannot flood that log.

use std::time::{Duration, Instant};

use prost::Message;
use serde_json::Value;
use tetrion::protocol::pb;
use tetrion::protocol::pb::step_stream_response::Response as Answered;
use tetrion::protocol::rpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

use super::{NO_SESSION, Process, missing, request_id, under};

/// The lines of the log about failed calls.
fn failures(log: &[Value]) -> Vec<&Value> {
    log.iter().filter(|line| line["fields"]["message"] == "a call failed").collect()
}

#[tokio::test]
async fn an_id_that_the_caller_gives_is_everywhere() {
    let process = Process::start(&[]);
    let mut client = process.client().await;
    let answer = client.get_server_info(under("run-7/step.1", Default::default())).await.unwrap();
    assert_eq!(answer.metadata().get("x-request-id").unwrap(), "run-7/step.1");
    let error = client.get_session(under("run-7/step.2", missing())).await.unwrap_err();
    assert_eq!(error.metadata().get("x-request-id").unwrap(), "run-7/step.2");
    assert_eq!(request_id(&error), "run-7/step.2");
    // Over gRPC-Web too, from pages, which may read it.
    let body = "\0\0\0\0\0";
    let answer = process.http(&format!(
        "POST /tetrion.v1.EnvironmentService/GetServerInfo HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         origin: http://localhost\r\nx-request-id: page-1\r\ncontent-type: application/grpc-web+proto\r\n\
         content-length: 5\r\n\r\n{body}"
    ));
    assert!(answer.contains("x-request-id: page-1\r\n"), "{answer}");
    assert!(
        answer.lines().any(|line| line.contains("expose-headers") && line.contains("x-request-id")),
        "{answer}"
    );

    let log = process.stop();
    let [line] = failures(&log)[..] else { panic!("{log:?}") };
    assert_eq!(line["level"], "INFO");
    assert_eq!(line["span"]["request_id"], "run-7/step.2");
    assert_eq!(line["span"]["method"], "tetrion.v1.EnvironmentService/GetSession");
    assert_eq!(
        (&line["fields"]["code"], &line["fields"]["reason"]),
        (&"NOT_FOUND".into(), &"SESSION_NOT_FOUND".into())
    );
    let text = format!("{log:?}");
    assert!(
        !text.contains(NO_SESSION.strip_prefix("sessions/").unwrap()),
        "names of sessions open them: {text}"
    );
}

#[tokio::test]
async fn calls_without_an_id_or_with_one_that_cannot_be_logged_get_one() {
    let process = Process::start(&[]);
    let mut client = process.client().await;
    let mut ids = Vec::new();
    for given in [None, None, Some(""), Some("two words"), Some("tab\there"), Some(&*"a".repeat(129))] {
        let mut request = Request::new(missing());
        if let Some(given) = given {
            request.metadata_mut().insert("x-request-id", given.parse().unwrap());
        }
        let error = client.get_session(request).await.unwrap_err();
        let id = request_id(&error);
        assert_eq!(id.len(), 32, "{given:?} became {id}");
        assert!(id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        ids.push(id);
    }
    let longest = "a".repeat(128);
    assert_eq!(request_id(&client.get_session(under(&longest, missing())).await.unwrap_err()), longest);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6, "each call has its own");
}

/// An error that came as a message, as if it had ended a call.
fn as_status(error: &rpc::Status) -> Status {
    Status::with_details(Code::from(error.code), error.message.clone(), error.encode_to_vec().into())
}

#[tokio::test]
async fn errors_within_streams_have_the_id_of_the_stream() {
    let process = Process::start(&[]);
    let mut client = process.client().await;
    let requests =
        || tokio_stream::iter([pb::StepStreamRequest::default(), pb::StepStreamRequest::default()]);
    let mut answers = client.step_stream(under("stream-1", requests())).await.unwrap().into_inner();
    for _ in 0..2 {
        let Some(Answered::Error(error)) = answers.message().await.unwrap().unwrap().response else {
            panic!("an error");
        };
        assert_eq!(request_id(&as_status(&error)), "stream-1");
    }
    assert!(process.metrics().contains("tetrion_refusals_total{reason=\"INVALID_FIELD\"} 2\n"));
}

#[tokio::test]
async fn errors_that_no_service_makes_have_it_too() {
    let process = Process::start(&[]);
    let mut grpc = tonic::client::Grpc::new(process.channel().await);
    grpc.ready().await.unwrap();
    let path = PathAndQuery::from_static("/tetrion.v1.EnvironmentService/NoSuchMethod");
    let codec = ProstCodec::<pb::GetServerInfoRequest, pb::GetServerInfoResponse>::default();
    let error = grpc.unary(under("no-method", Default::default()), path, codec).await.unwrap_err();
    assert_eq!((error.code(), request_id(&error).as_str()), (Code::Unimplemented, "no-method"));

    // A stream that waits until its deadline; the client itself would give up at the same time, so it does not know.
    let mut request = under("too-late", tokio_stream::pending::<pb::StepStreamRequest>());
    request.metadata_mut().insert("grpc-timeout", "50m".parse().unwrap());
    let mut answers = process.client().await.step_stream(request).await.unwrap().into_inner();
    let error = answers.message().await.unwrap_err();
    assert_eq!((error.code(), request_id(&error).as_str()), (Code::DeadlineExceeded, "too-late"));
    let metrics = process.metrics();
    for reason in ["UNIMPLEMENTED", "DEADLINE_EXCEEDED"] {
        assert!(metrics.contains(&format!("tetrion_refusals_total{{reason=\"{reason}\"}} 1\n")), "{metrics}");
    }
}

#[tokio::test]
async fn refused_calls_do_not_flood_the_log() {
    const CALLS: usize = 2000;
    let process = Process::start(&[]);
    let mut client = process.client().await;
    let start = Instant::now();
    for _ in 0..CALLS {
        client.get_session(missing()).await.unwrap_err();
    }
    let seconds = start.elapsed().as_secs() as usize + 1;
    // The first line of the next second says how many were left out.
    tokio::time::sleep(Duration::from_secs(1)).await;
    client.get_session(missing()).await.unwrap_err();
    let metrics = process.metrics();
    let log = process.stop();
    let lines = failures(&log);
    assert!((20..=20 * (seconds + 1)).contains(&lines.len()), "{} lines in {seconds} s", lines.len());
    let withheld: u64 = lines.iter().map(|line| line["fields"]["withheld"].as_u64().unwrap()).sum();
    assert_eq!(lines.len() + withheld as usize, CALLS + 1);
    assert!(metrics.contains(&format!("tetrion_log_lines_withheld_total {withheld}\n")), "{metrics}");
}
