//! Wrong servers fail the kit at the right line: a server whose answers are changed on their way, one thing at a time.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http_body::{Body as _, Frame};
use prost::Message;
use tetrion::client::{ConnectOptions, Link, RawClient};
use tetrion::conformance::Script;
use tetrion::protocol::pb;
use tetrion::protocol::pb::evaluate_policies_response::Event;
use tetrion::server::{Inside, ServerConfig};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic_types::{ErrorDetails, StatusExt};
use tower::Service;

use super::play;
use tetrion_service_testing::servers::listen_with;

/// A small kit: calls that are answered and refused, and streams.
const TEXT: &str = r#"> CreateSession {"config": {"rules": {"width": 4, "height": 4}, "seeding": {"pieceSequences": {"sequences": ["OOOO"]}}, "numEnvs": 2, "actionMaskFormat": "ACTION_MASK_FORMAT_BITS", "observationFields": {"names": ["heights"]}, "infoFields": {"names": ["episode_return"]}}}
< {"session": {"name": "$session", "...": "*"}}
> Reset {"session": "$session"}
< {"actionMask": "uint8[2,2] 7 0 7 0", "infos": ["float64[2] 0 0"], "observations": ["uint8[2,4] 0*8"], "sequenceNumber": "1"}
> Step {"session": "$session", "actions": {"values": [0, 2]}}
< {"actionMask": "uint8[2,2] 7 0 7 0", "infos": ["float64[2] 0 0"], "observations": ["uint8[2,4] 2 2 0 0 0 0 2 2"], "rewards": "float32[2] 0 0", "sequenceNumber": "2", "terminated": "bool[2] 0 0", "truncated": "bool[2] 0 0"}
> Step {"session": "$session", "actions": {"values": [2, 99]}}
! {"code": "INVALID_ARGUMENT", "fields": ["actions[1]"], "metadata": {"count": "1"}, "reason": "ACTION_OUT_OF_RANGE"}
> StepStream {"step": {"session": "$session", "actions": {"values": [2, 0]}}}
<< {"step": {"actionMask": "uint8[2,2] 7 0 7 0", "infos": ["float64[2] 2 2"], "observations": ["uint8[2,4] 0*8"], "rewards": "float32[2] 2 2", "sequenceNumber": "3", "terminated": "bool[2] 0 0", "truncated": "bool[2] 0 0"}}
>> {"step": {"session": "sessions/none", "actions": {"values": [2, 0]}}}
<< {"error": {"code": "NOT_FOUND", "reason": "SESSION_NOT_FOUND", "resource": {"type": "tetrion.v1.Session", "name": "sessions/none"}}}
<< end
> GetSession {"name": "$session"}
< {"session": {"name": "$session", "sequenceNumber": "3", "...": "*"}}
> EvaluatePolicies {"rules": {"width": 4, "height": 4}, "policies": [{"name": "dummy"}], "seeding": {"pieceSequences": {"sequences": ["O", "OO"]}}, "includeResults": true, "progressInterval": "0s"}
<< {"started": "*"}
<< {"results": {"policyIndices": "int32[2] 0 0", "seedIndices": "int32[2] 0 1", "episodeIndices": "int32[2] 0 0", "seeds": "uint64[2] 0 0", "lines": "int64[2] 0 0", "pieces": "int64[2] 1 2", "steps": "int64[2] 1 2", "scores": "float64[2] 0 0", "ends": "uint8[2] 6 6"}}
<< {"progress": "*"}
<< {"summary": "*"}
<< end
"#;

/// The line of the stream.
const STREAM: usize = 16;

/// What is changed in the answer to a call.
#[derive(Clone)]
enum Fault {
    Messages(fn(&mut Vec<Vec<u8>>)),
    /// The answer to a step.
    Step(fn(&mut pb::StepResponse)),
    Refusal(fn(&mut Status)),
    Headers(fn(&mut HeaderMap)),
    /// The call does not exist.
    NoCall,
    /// The connection breaks after the messages.
    Lost,
}

/// A server with a fault in the answer to the call on one line.
#[derive(Clone)]
struct Wrong {
    inner: Inside,
    line: usize,
    fault: Fault,
}

/// An answer's body, frame by frame.
struct Frames(VecDeque<Result<Frame<Bytes>, Status>>);

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Poll::Ready(self.0.pop_front())
    }
}

impl Service<Request<Body>> for Wrong {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let id = format!("conformance/wrong.txt:{}", self.line);
        let is_hit = request.headers().get("x-request-id").is_some_and(|value| *value == *id);
        let fault = self.fault.clone();
        let answer = self.inner.call(request);
        Box::pin(async move { if is_hit { Ok(fault.changed(answer.await?).await) } else { answer.await } })
    }
}

impl Fault {
    /// The answer with the fault. Reads it to its end, so requests that follow in a stream are not waited for.
    async fn changed(self, answer: Response<Body>) -> Response<Body> {
        let (mut head, mut body) = answer.into_parts();
        match self {
            Fault::NoCall => return Status::unimplemented("no such call").into_http(),
            Fault::Headers(change) => {
                change(&mut head.headers);
                return Response::from_parts(head, body);
            }
            Fault::Refusal(change) => {
                let mut status = Status::from_header_map(&head.headers).expect("a refusal without a body");
                change(&mut status);
                let mut answer = status.into_http();
                if let Some(id) = head.headers.remove("x-request-id") {
                    answer.headers_mut().insert("x-request-id", id);
                }
                return answer;
            }
            _ => {}
        }
        let (mut messages, mut trailers) = (Vec::new(), None);
        let mut data = BytesMut::new();
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            match frame.unwrap().into_data() {
                Ok(bytes) => data.put(bytes),
                Err(frame) => trailers = frame.into_trailers().ok(),
            }
        }
        while data.len() >= 5 {
            data.advance(1); // not compressed
            let length = data.get_u32() as usize;
            messages.push(data.split_to(length).to_vec());
        }
        match self {
            Fault::Messages(change) => change(&mut messages),
            Fault::Step(change) => {
                let mut step = pb::StepResponse::decode(&*messages[0]).unwrap();
                change(&mut step);
                messages[0] = step.encode_to_vec();
            }
            _ => trailers = None,
        }
        let mut frames = VecDeque::new();
        for message in messages {
            let mut framed = BytesMut::new();
            framed.put_u8(0);
            framed.put_u32(message.len() as u32);
            framed.put_slice(&message);
            frames.push_back(Ok(Frame::data(framed.freeze())));
        }
        frames.push_back(trailers.map(Frame::trailers).ok_or_else(|| Status::unavailable("broken")));
        Response::from_parts(head, Body::new(Frames(frames)))
    }
}

/// The differences that the fault in the answer to one line makes.
async fn found(line: usize, fault: Fault) -> Vec<String> {
    let inner = Inside::start(&ServerConfig::default()).unwrap();
    let client = RawClient::new(Link::new(Wrong { inner, line, fault }), ConnectOptions::default().patience);
    let report = play(&client, &[Script::parse("wrong", TEXT).unwrap()]).await;
    report.differences.iter().map(ToString::to_string).collect()
}

/// Adds bytes to the encoded details of a refusal.
fn extend(status: &mut Status, bytes: &[u8]) {
    let details = [status.details(), bytes].concat();
    *status = Status::with_details(status.code(), status.message(), details.into());
}

fn data(tensor: &mut Option<pb::Tensor>, change: impl FnOnce(&mut [u8])) {
    let tensor = tensor.as_mut().unwrap();
    let mut bytes = tensor.data.to_vec();
    change(&mut bytes);
    tensor.data = bytes.into();
}

#[tokio::test]
async fn a_change_of_one_thing_is_found_at_its_line_and_named() {
    let unchanged = found(99, Fault::NoCall).await;
    assert_eq!(unchanged, Vec::<String>::new(), "the small kit passes without a fault");
    let step = Fault::Step;
    let faults: [(usize, Fault, &str); 32] = [
        (
            5,
            step(|step| data(&mut step.rewards, |bytes| bytes[4] = 1)),
            "6: rewards[1]: 0 expected, 0.000000000000000000000000000000000000000000001 found",
        ),
        (
            5,
            step(|step| data(&mut step.action_mask, |bytes| bytes[2] ^= 2)),
            "6: actionMask[1,0]: 7 expected, 5 found",
        ),
        (
            5,
            step(|step| data(&mut step.terminated, |bytes| bytes[0] = 1)),
            "6: terminated[0]: 0 expected, 1 found",
        ),
        (5, step(|step| step.sequence_number = 3), "6: sequenceNumber: 2 expected, 3 found"),
        (5, step(|step| step.truncated = None), "6: truncated: bool[2] 0 0 expected, nothing found"),
        (5, step(|step| step.infos.clear()), "6: infos: [\"float64[2] 0 0\"] expected, nothing found"),
        (
            5,
            step(|step| step.rewards.as_mut().unwrap().shape = vec![2, 1]),
            "6: rewards: float32[2] 0 0 expected, float32[2,1] 0 0 found",
        ),
        (
            5,
            step(|step| step.rewards.as_mut().unwrap().dtype = 6),
            "6: rewards: float32[2] 0 0 expected, int32[2] 0 0 found",
        ),
        (
            5,
            step(|step| step.actions = step.rewards.clone()),
            "6: actions: nothing expected, float32[2] 0 0 found",
        ),
        (
            5,
            Fault::Messages(|all| all[0].extend(b"\xc0\x3e\x01")),
            "6: #1000: nothing expected, a field that the protocol does not have found",
        ),
        (
            5,
            Fault::Messages(|all| all[0] = vec![0x0f]),
            "6: an answer expected, bytes that are no StepResponse found",
        ),
        (
            5,
            Fault::Messages(|all| all.push(all[0].clone())),
            "6: an answer expected, more than one answer found",
        ),
        (
            5,
            Fault::Headers(|headers| drop(headers.remove("x-request-id"))),
            "5: metadata x-request-id: conformance/wrong.txt:5 expected, nothing found",
        ),
        (
            7,
            Fault::Refusal(|status| {
                let mut details = status.get_error_details();
                let info = details.error_info().unwrap().clone();
                details.set_error_info("ILLEGAL_ACTION", info.domain, info.metadata);
                *status = Status::with_error_details(status.code(), status.message(), details);
            }),
            "8: reason: ACTION_OUT_OF_RANGE expected, ILLEGAL_ACTION found",
        ),
        (
            7,
            Fault::Refusal(|status| {
                *status = Status::with_error_details(status.code(), status.message(), ErrorDetails::new());
            }),
            "8: ",
        ),
        (
            7,
            Fault::Refusal(|status| extend(status, b"\x1a\x07\x0a\x05x/y.Z")),
            "8: fields: [\"actions[1]\"] expected, nothing found",
        ),
        (
            7,
            Fault::Refusal(|status| extend(status, b"\xc0\x3e\x01")),
            "8: #1000: nothing expected, a field that the protocol does not have found",
        ),
        (
            7,
            Fault::Refusal(|status| {
                extend(status, b"\x1a\x1f\x0a\x18x/google.rpc.RequestInfo\x12\x03\xc0\x3e\x01");
            }),
            "8: #RequestInfo: nothing expected, more than one found",
        ),
        (
            7,
            Fault::Refusal(|status| {
                extend(status, b"\x1a\x1d\x0a\x16x/google.rpc.RetryInfo\x12\x03\xc0\x3e\x01");
            }),
            "8: RetryInfo.#1000: nothing expected, a field that the protocol does not have found",
        ),
        (
            14,
            Fault::Messages(|all| {
                all[0].extend(b"\x0a\x0c\x5a\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"); // the createTime
            }),
            "15: an answer expected, a GetSessionResponse without a JSON form: ",
        ),
        (
            14,
            Fault::NoCall,
            "15: an answer expected, {\"#message\":\"no such call\",\"code\":\"UNIMPLEMENTED\"} found",
        ),
        (STREAM, Fault::Messages(|all| drop(all.pop())), "20: "),
        (STREAM, Fault::Messages(|all| all.push(all[0].clone())), "21: "),
        (STREAM, Fault::Messages(|all| drop(all.drain(1..all.len() - 2))), "18: "),
        (STREAM, Fault::Lost, "21: "),
        (
            STREAM,
            Fault::Messages(|all| in_two(all, |game| game.lines.as_mut().unwrap().shape.push(1), b"")),
            "18: results.ends: ",
        ),
        (
            STREAM,
            Fault::Messages(|all| in_two(all, |game| game.lines.as_mut().unwrap().dtype = 9, b"")),
            "18: results.ends: ",
        ),
        (STREAM, Fault::Messages(|all| in_two(all, |game| game.scores = None, b"")), "18: results.ends: "),
        (STREAM, Fault::Messages(|all| in_two(all, |_| (), b"\xc0\x3e\x01")), "18: results.ends: "),
        (STREAM, Fault::Messages(|all| in_two(all, |_| (), b"\x1a\x03\xc0\x3e\x01")), "18: results.ends: "),
        (STREAM, Fault::Messages(|all| all.splice(1..1, vec![Vec::new(); 1000]).for_each(drop)), "18: "),
        (
            9,
            Fault::NoCall,
            "10: an answer expected, {\"#message\":\"no such call\",\"code\":\"UNIMPLEMENTED\"} found",
        ),
    ];
    for (line, fault, expected) in faults {
        let found = found(line, fault).await;
        let first = format!("conformance/wrong.txt:{expected}");
        assert!(found.first().is_some_and(|found| found.starts_with(&first)), "{first}: {found:#?}");
        let at = first.split(": ").next().unwrap();
        let is_shifted = [9, STREAM].contains(&line); // a lost message moves the ones after it
        assert!(is_shifted || found.iter().all(|found| found.starts_with(&format!("{at}: "))), "{found:#?}");
    }
}

#[tokio::test]
async fn what_depends_on_a_missing_answer_is_reported_once() {
    let expected = [
        "2: an answer expected, {\"#message\":\"no such call\",\"code\":\"UNIMPLEMENTED\"} found",
        "3: not run: no answer has given $session",
    ];
    let expected = expected.map(|difference| format!("conformance/wrong.txt:{difference}"));
    assert_eq!(found(1, Fault::NoCall).await, expected);
}

#[tokio::test]
async fn an_answer_may_take_as_long_as_the_client_is_told() {
    let silent = tower::service_fn(|_| std::future::pending::<Result<Response<Body>, Infallible>>());
    let client = RawClient::new(Link::new(silent), Duration::from_millis(10));
    let report = play(&client, &[Script::parse("wrong", TEXT).unwrap()]).await;
    let found: Vec<String> = report.differences.iter().map(ToString::to_string).collect();
    let refusal = r##"{"#message":"no answer within 10ms","code":"DEADLINE_EXCEEDED"}"##;
    assert_eq!(found, [format!("conformance/wrong.txt:2: an answer expected, {refusal} found")]);
}

#[tokio::test]
async fn a_server_that_is_gone_ends_the_run() {
    let (address, guard) = listen_with(ServerConfig::default()).await;
    let client = RawClient::connect(&address.to_string(), &ConnectOptions::default(), false).await.unwrap();
    drop(guard);
    let scripts = vec![Script::parse("wrong", TEXT).unwrap(); 3];
    let last = "conformance/wrong.txt:1: not run, nor is the rest of the kit: the server does not answer";
    let stopped = async {
        loop {
            let report = play(&client, &scripts).await;
            // Until then, the server drains.
            if report.num_calls == 2 && report.differences.len() == 3 {
                break report.differences[2].to_string();
            }
        }
    };
    assert_eq!(tokio::time::timeout(Duration::from_secs(60), stopped).await.unwrap(), last);
}

/// Results one by one after the start, the last game first, and a report of progress in between. A busy
/// server may send each game in a separate message.
fn in_another_order(messages: &mut Vec<Vec<u8>>) {
    let message = |event| pb::EvaluatePoliciesResponse { event: Some(event) }.encode_to_vec();
    let results_of = |message: &Vec<u8>| match pb::EvaluatePoliciesResponse::decode(&**message).unwrap().event
    {
        Some(Event::Results(results)) => Some(results),
        _ => None,
    };
    let row = |all: &pb::EvaluationResults, row: usize| {
        let of = |tensor: &Option<pb::Tensor>| {
            let tensor = tensor.clone().unwrap();
            let size = tensor.data.len() / tensor.shape[0] as usize;
            let data = tensor.data.slice(row * size..(row + 1) * size);
            Some(pb::Tensor { shape: vec![1], data, ..tensor })
        };
        message(Event::Results(pb::EvaluationResults {
            policy_indices: of(&all.policy_indices),
            seed_indices: of(&all.seed_indices),
            episode_indices: of(&all.episode_indices),
            seeds: of(&all.seeds),
            lines: of(&all.lines),
            pieces: of(&all.pieces),
            steps: of(&all.steps),
            scores: of(&all.scores),
            ends: of(&all.ends),
        }))
    };
    let results: Vec<pb::EvaluationResults> = messages.iter().filter_map(results_of).collect();
    let num_games = |results: &pb::EvaluationResults| results.lines.as_ref().unwrap().shape[0] as usize;
    let games = results.iter().flat_map(|results| (0..num_games(results)).map(|game| row(results, game)));
    let [first, second] = games.collect::<Vec<_>>().try_into().expect("two games");
    messages.retain(|message| results_of(message).is_none());
    messages.splice(1..1, [second, message(Event::Progress(pb::EvaluationProgress::default())), first]);
}

/// Results one by one, the later with a change and further bytes.
fn in_two(messages: &mut Vec<Vec<u8>>, change: fn(&mut pb::EvaluationResults), bytes: &[u8]) {
    in_another_order(messages);
    let mut message = pb::EvaluatePoliciesResponse::decode(&*messages[3]).unwrap();
    let Some(Event::Results(results)) = &mut message.event else { panic!("{message:?}") };
    change(results);
    messages[3] = [&message.encode_to_vec(), bytes].concat();
}

#[tokio::test]
async fn games_of_an_evaluation_may_come_in_any_order() {
    assert_eq!(found(STREAM, Fault::Messages(in_another_order)).await, Vec::<String>::new());
}
