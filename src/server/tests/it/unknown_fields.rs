//! A server refuses what it does not know of `tetrion.v1`; a client reads answers of newer servers.

use bytes::{Bytes, BytesMut};
use prost::Message;
use prost::encoding::encode_varint;
use prost_types::FileDescriptorSet;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion_protocol::revision::PROTOCOL_REVISION;
use tetrion_protocol::{FILE_DESCRIPTOR_SET, pb, positions};
use tetrion_server::ServerConfig;
use tonic::{Code, Status};

use tetrion_service_testing::servers::{connect_with, send};
use tetrion_service_testing::{config, create, enumerate, reason, refusal_of, refused, reset, step};

const STREAM: &str = "/tetrion.v1.EnvironmentService/StepStream";
const CREATE: &str = "/tetrion.v1.EnvironmentService/CreateSession";

/// Encodes a field of wire type 2 with these bytes.
fn field(number: u32, bytes: &[u8]) -> Bytes {
    let mut out = BytesMut::new();
    encode_varint(u64::from(number) << 3 | 2, &mut out);
    encode_varint(bytes.len() as u64, &mut out);
    out.extend_from_slice(bytes);
    out.freeze()
}

#[track_caller]
fn check(status: &Status, message: &str, number: u32) {
    let reported = refusal_of(status);
    let expected = (Code::InvalidArgument, "UNKNOWN_FIELD");
    assert_eq!((reported.code, reported.reason.as_str()), expected, "{}", reported.message);
    assert_eq!((reported.metadata("message"), reported.metadata("number")), (message, &*number.to_string()));
    let problem = format!(
        "{message} has a field {number}, which this server does not know: its protocol_revision is {PROTOCOL_REVISION}"
    );
    assert_eq!(reported.message, problem);
}

#[tokio::test]
async fn every_call_refuses_a_field_that_its_request_does_not_have() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let services =
        set.file.iter().filter(|file| file.package() == "tetrion.v1").flat_map(|file| &file.service);
    let mut num_methods = 0;
    for service in services {
        for method in &service.method {
            let path = format!("/tetrion.v1.{}/{}", service.name(), method.name());
            let message = method.input_type().trim_start_matches('.');
            // Of every wire type, a group among them, which proto3 has no more.
            let unknown: [(u32, &[u8]); 5] = [
                (1000, b"\xc0\x3e\x01"),
                (1000, b"\xc1\x3e12345678"),
                (1000, b"\xc2\x3e\x02ab"),
                (1000, b"\xc3\x3e\x08\x01\xc4\x3e"),
                (536_870_911, b"\xfd\xff\xff\xff\x0f1234"),
            ];
            for (number, bytes) in unknown {
                let status = send(&channel, &path, vec![Bytes::from_static(bytes)]).await.unwrap_err();
                check(&status, message, number);
            }
            num_methods += 1;
        }
    }
    assert_eq!(num_methods, 19);
}

#[tokio::test]
async fn a_field_is_found_at_any_depth_and_nothing_has_happened() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    let garbage = field(21, &field(90, b"")); // in Rules
    for (bytes, message, number) in [
        (field(1, &field(2, b"\xe0\x03\x01")), "tetrion.v1.Rules", 60),
        (field(1, &field(2, &garbage)), "tetrion.v1.Garbage", 90),
        (field(1, &field(5, &field(9, b"x"))), "tetrion.v1.FeatureSelection", 9),
        (field(2, b"\x08\x3c\x18\x01"), "google.protobuf.Duration", 3),
    ] {
        // After fields that it knows.
        let request = pb::CreateSessionRequest { request_id: "one".to_owned(), ..Default::default() };
        let bytes = [request.encode_to_vec(), bytes.to_vec()].concat();
        check(&send(&channel, CREATE, vec![bytes.into()]).await.unwrap_err(), message, number);
    }
    let mut client = EnvironmentServiceClient::new(channel.clone());
    let list = client.list_sessions(pb::ListSessionsRequest::default()).await.unwrap().into_inner();
    assert!(list.sessions.is_empty());

    // In a stream, which it ends; the requests before it have their answers, and no environment has moved since.
    let name = create(&mut client, config(1, 1)).await.name;
    let wrap = |number, message: Vec<u8>| field(number, &message);
    let first = wrap(2, reset(&name).encode_to_vec());
    let second = wrap(1, [step(&name, &[0]).encode_to_vec(), b"\xc0\x3e\x01".to_vec()].concat());
    let third = wrap(1, step(&name, &[0]).encode_to_vec());
    check(
        &send(&channel, STREAM, vec![first, second, third]).await.unwrap_err(),
        "tetrion.v1.StepRequest",
        1000,
    );
    let session =
        client.get_session(pb::GetSessionRequest { name }).await.unwrap().into_inner().session.unwrap();
    assert_eq!(session.sequence_number, 1, "the reset");
}

/// A large message is walked and weighed, too: the field comes after megabytes of bytes.
#[tokio::test]
async fn a_field_is_found_behind_megabytes() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    let states = vec![Bytes::from(vec![7; 60_000]); 300];
    let positions = Some(positions::from_snapshots(states));
    let request = pb::RestoreStateRequest { positions, ..Default::default() };
    let bytes = [request.encode_to_vec(), b"\xc0\x3e\x01".to_vec()].concat();
    let method = "/tetrion.v1.EnvironmentService/RestoreState";
    let status = send(&channel, method, vec![bytes.into()]).await.unwrap_err();
    check(&status, "tetrion.v1.RestoreStateRequest", 1000);
}

#[tokio::test]
async fn a_request_that_needs_a_higher_revision_is_refused() {
    #[track_caller]
    fn check<T: std::fmt::Debug>(got: Result<T, Status>) {
        let refusal = refused(got, Code::FailedPrecondition, "REVISION_TOO_OLD");
        assert_eq!((refusal.metadata("expected"), refusal.metadata("got")), ("1", "2"));
        let problem = "min_revision is 2, expected at most 1, the protocol_revision of this server";
        assert_eq!(refusal.message, problem);
    }
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    let mut client = EnvironmentServiceClient::new(channel.clone());
    let min_revision = PROTOCOL_REVISION + 1;
    let create_with = |min_revision| pb::CreateSessionRequest {
        config: Some(pb::SessionConfig { min_revision, ..config(1, 1) }),
        ..Default::default()
    };
    check(client.create_session(create_with(min_revision)).await);
    let made = client.create_session(create_with(PROTOCOL_REVISION)).await.unwrap().into_inner();
    let session = made.session.unwrap();
    assert_eq!(session.config.unwrap().min_revision, 0, "it is for the request alone");

    client.reset(reset(&session.name)).await.unwrap();
    let envs = pb::SessionEnvs { session: session.name, envs: None };
    let list = pb::EnumeratePlacementsRequest { min_revision, ..enumerate(envs.clone()) };
    check(client.enumerate_placements(list.clone()).await);
    let list_now = pb::EnumeratePlacementsRequest { min_revision: PROTOCOL_REVISION, ..enumerate(envs) };
    client.enumerate_placements(list_now).await.unwrap();
    // A stream continues.
    let asked = pb::step_stream_request::Request::EnumeratePlacements(list);
    let requests = vec![pb::StepStreamRequest { request: Some(asked) }; 2];
    let mut answers = client.step_stream(tokio_stream::iter(requests)).await.unwrap().into_inner();
    for _ in 0..2 {
        let answer = answers.message().await.unwrap().unwrap().response.unwrap();
        let pb::step_stream_response::Response::Error(error) = answer else { panic!("{answer:?}") };
        assert_eq!(reason(&error), "REVISION_TOO_OLD");
    }

    let request =
        pb::EvaluatePoliciesRequest { min_revision, ..tetrion_service_testing::evaluations::request() };
    check(EvaluationServiceClient::new(channel).evaluate_policies(request).await.map(drop));
}
