use std::time::Duration;

use tetrion_protocol::pb::step_stream_request::Request as Asked;
use tetrion_protocol::pb::step_stream_response::Response as Answered;
use tetrion_protocol::rpc;
use tetrion_protocol::{pb, seeding};
use tetrion_server::ServerConfig;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Streaming};

use crate::support::start;
use tetrion_service_testing::servers::connect_with;
use tetrion_service_testing::{Client, config, create, only, reason, refused, reset, step};

/// A stream, and the end that takes requests.
pub(super) struct Stream {
    requests: mpsc::Sender<pb::StepStreamRequest>,
    answers: Streaming<pb::StepStreamResponse>,
}

impl Stream {
    pub(super) async fn open(client: &mut Client) -> Stream {
        let (requests, receiver) = mpsc::channel(1024);
        let answers = client.step_stream(ReceiverStream::new(receiver)).await.unwrap().into_inner();
        Stream { requests, answers }
    }

    pub(super) async fn send(&self, request: impl Into<Option<Asked>>) {
        self.requests.send(pb::StepStreamRequest { request: request.into() }).await.unwrap();
    }

    pub(super) async fn receive(&mut self) -> Answered {
        let answer = tokio::time::timeout(Duration::from_secs(20), self.answers.message()).await;
        answer.expect("an answer in time").unwrap().expect("an answer").response.expect("an answer")
    }

    async fn ask(&mut self, request: Asked) -> Answered {
        self.send(request).await;
        self.receive().await
    }
}

#[track_caller]
fn stepped(answer: Answered) -> pb::StepResponse {
    match answer {
        Answered::Step(step) => step,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn error(answer: Answered) -> rpc::Status {
    match answer {
        Answered::Error(error) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_kind_of_request_gets_its_kind_of_answer() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(2, 3)).await.name;
    let mut stream = Stream::open(&mut client).await;
    assert!(
        matches!(stream.ask(Asked::Reset(reset(&name))).await, Answered::Reset(answer) if answer.sequence_number == 1)
    );
    assert_eq!(stepped(stream.ask(Asked::Step(step(&name, &[0, 1]))).await).sequence_number, 2);
    let envs = pb::SessionEnvs { session: name.clone(), envs: only([1]) };
    let source = Some(pb::enumerate_placements_request::Source::SessionEnvs(envs));
    let request = pb::EnumeratePlacementsRequest { source, ..Default::default() };
    let placements = stream.ask(Asked::EnumeratePlacements(request.clone())).await;
    let alone = client.enumerate_placements(request).await.unwrap().into_inner();
    assert_eq!(placements, Answered::EnumeratePlacements(alone));
    drop(stream.requests);
    assert!(stream.answers.message().await.unwrap().is_none(), "the stream ends when the requests do");
    assert_eq!(server.store.num_sessions(), 1, "the session lives on");
}

#[tokio::test]
async fn an_error_is_a_message_and_the_stream_lives_on() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(1, 3)).await.name;
    let mut stream = Stream::open(&mut client).await;
    let not_reset = error(stream.ask(Asked::Step(step(&name, &[0]))).await);
    assert_eq!((not_reset.code, reason(&not_reset).as_str()), (Code::FailedPrecondition as i32, "NOT_RESET"));
    // The same words as a call without a stream.
    let alone = client.step(step(&name, &[0])).await.unwrap_err();
    assert_eq!((alone.code() as i32, alone.message()), (not_reset.code, not_reset.message.as_str()));
    assert!(matches!(stream.ask(Asked::Reset(reset(&name))).await, Answered::Reset(_)));
    let out_of_range = error(stream.ask(Asked::Step(step(&name, &[-1]))).await);
    assert_eq!(reason(&out_of_range), "ACTION_OUT_OF_RANGE");
    let unknown = error(stream.ask(Asked::Step(step("sessions/none", &[0]))).await);
    assert_eq!((unknown.code, reason(&unknown).as_str()), (Code::NotFound as i32, "SESSION_NOT_FOUND"));
    stream.send(None).await;
    assert_eq!(reason(&error(stream.receive().await)), "INVALID_FIELD");
    assert_eq!(stepped(stream.ask(Asked::Step(step(&name, &[0]))).await).sequence_number, 2);
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order_and_none_is_lost() {
    let server = start().await;
    let mut client = server.client().await;
    let mut names = Vec::new();
    for seed in 0..3 {
        let mode = pb::AutoresetMode::NextStep.into();
        let config = pb::SessionConfig { autoreset_mode: mode, ..config(4, seed) };
        let name = create(&mut client, config).await.name;
        client.reset(reset(&name)).await.unwrap();
        names.push(name);
    }
    let mut stream = Stream::open(&mut client).await;
    let requests = stream.requests.clone();
    let sessions = names.clone();
    const COUNT: u64 = 1500;
    let sending = tokio::spawn(async move {
        for i in 0..COUNT {
            let session = &sessions[(i % 3) as usize];
            // Every tenth has a wrong number of actions.
            let actions: &[i32] = if i % 10 == 9 { &[0] } else { &[0, 1, 2, 3] };
            let request = Some(Asked::Step(step(session, actions)));
            requests.send(pb::StepStreamRequest { request }).await.unwrap();
        }
    });
    let mut sequences = [1; 3];
    for i in 0..COUNT {
        let answer = stream.receive().await;
        if i % 10 == 9 {
            assert_eq!(reason(&error(answer)), "INVALID_TENSOR", "request {i}");
        } else {
            sequences[(i % 3) as usize] += 1;
            assert_eq!(stepped(answer).sequence_number, sequences[(i % 3) as usize], "request {i}");
        }
    }
    sending.await.unwrap();
}

#[tokio::test]
async fn numbered_requests_sent_ahead_stop_at_the_first_that_fails() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(1, 0)).await.name;
    client.reset(pb::ResetRequest { sequence_number: 1, ..reset(&name) }).await.unwrap();
    let mut stream = Stream::open(&mut client).await;
    for (sequence_number, action) in [(2, 0), (3, 77), (4, 0), (5, 0)] {
        let request = pb::StepRequest { sequence_number, ..step(&name, &[action]) };
        stream.send(Asked::Step(request)).await;
    }
    assert_eq!(stepped(stream.receive().await).sequence_number, 2);
    assert_eq!(reason(&error(stream.receive().await)), "ACTION_OUT_OF_RANGE");
    for _ in 0..2 {
        assert_eq!(reason(&error(stream.receive().await)), "SEQUENCE_MISMATCH");
    }
    let again = pb::StepRequest { sequence_number: 3, ..step(&name, &[1]) };
    assert_eq!(stepped(stream.ask(Asked::Step(again)).await).sequence_number, 3);
}

#[tokio::test]
async fn a_stream_that_is_not_read_stops_the_work() {
    let server = start().await;
    let mut client = server.client().await;
    // 256 environments answer with 51 KiB of playfields each time.
    let name = create(&mut client, config(256, 0)).await.name;
    client.reset(reset(&name)).await.unwrap();
    let mut stream = Stream::open(&mut client).await;
    let actions = [0; 256];
    const COUNT: u64 = 1024;
    for _ in 0..COUNT {
        stream.send(Asked::Step(step(&name, &actions))).await;
    }
    // The windows of the connection hold some hundred answers; the rest of the requests must wait. When a hundred looks in a
    // row have found the server where it was, it has stopped.
    let (mut before, mut looks) = (0, 0);
    while looks < 100 {
        let request = pb::GetSessionRequest { name: name.clone() };
        let now = client.get_session(request).await.unwrap().into_inner().session.unwrap().sequence_number;
        (before, looks) = (now, if now == before { looks + 1 } else { 0 });
    }
    assert!(before < COUNT, "{before} of {COUNT} were done without a reader");
    for sequence_number in 2..=COUNT + 1 {
        assert_eq!(stepped(stream.receive().await).sequence_number, sequence_number);
    }
}

#[tokio::test]
async fn a_session_deleted_in_the_middle_is_gone_for_the_stream_too() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(1, 0)).await.name;
    let mut stream = Stream::open(&mut client).await;
    assert!(matches!(stream.ask(Asked::Reset(reset(&name))).await, Answered::Reset(_)));
    let delete = pb::DeleteSessionRequest { name: name.clone(), allow_missing: false };
    client.delete_session(delete).await.unwrap();
    assert_eq!(reason(&error(stream.ask(Asked::Step(step(&name, &[0]))).await)), "SESSION_NOT_FOUND");
    refused(client.step(step(&name, &[0])).await, Code::NotFound, "SESSION_NOT_FOUND");
}

#[tokio::test]
async fn a_message_that_is_none_ends_the_stream_and_nothing_else() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(1, 0)).await.name;
    let mut stream = Stream::open(&mut client).await;
    assert!(matches!(stream.ask(Asked::Reset(reset(&name))).await, Answered::Reset(_)));
    let letters = vec!["I".repeat(1 << 20); 65];
    let oversized = pb::ResetRequest { seeding: Some(seeding::from_sequences(letters)), ..reset(&name) };
    stream.send(Asked::Reset(oversized)).await;
    let end = stream.answers.message().await.unwrap_err();
    assert_eq!(end.code(), Code::OutOfRange, "{end:?}");
    assert_eq!(client.step(step(&name, &[0])).await.unwrap().into_inner().sequence_number, 2);
}

#[tokio::test]
async fn a_stream_that_waits_ends_with_the_server() {
    let config = ServerConfig { drain_timeout: Duration::from_secs(60), ..ServerConfig::default() };
    let (channel, stop) = connect_with(config).await;
    let mut client = Client::new(channel);
    let name = create(&mut client, tetrion_service_testing::config(1, 0)).await.name;
    let mut stream = Stream::open(&mut client).await;
    assert!(matches!(stream.ask(Asked::Reset(reset(&name))).await, Answered::Reset(_)));
    assert_eq!(stepped(stream.ask(Asked::Step(step(&name, &[0]))).await).sequence_number, 2);
    drop(stop);
    let end = tokio::time::timeout(Duration::from_secs(20), stream.answers.message()).await;
    let end = end.expect("an end in time").unwrap_err();
    assert_eq!(
        (end.code(), tetrion_service_testing::refusal_of(&end).reason.as_str()),
        (Code::Unavailable, "DRAINING")
    );
}
