//! What is refused, and that it changes nothing.

use std::collections::HashMap;

use tetrion_protocol::dm_env_rpc::pb as dm;
use tetrion_protocol::dm_env_rpc::pb::environment_request::Payload as Asked;
use tetrion_protocol::dm_env_rpc::pb::environment_response::Payload as Answered;
use tetrion_protocol::dm_env_rpc::pb::tensor::{self, Payload};
use tetrion_protocol::limits::MAX_SMALL_REQUEST_BYTES;
use tonic::Code;

use super::worlds::until_there_are;
use super::{
    Connection, RUNNING, Settings, double, int32, int64, refusal_of, scalar, settings, shaped, text,
};
use tetrion_service_testing::start;

#[tokio::test]
async fn hostile_messages_are_refused_and_change_nothing() {
    let server = start().await;
    let mut connection = Connection::open(&server).await;
    let many = |shape: &[i32], count: usize| {
        shaped(shape, scalar(Payload::Int32s(tensor::Int32Array { array: vec![1; count] })))
    };
    let invalid = ["INVALID_FIELD", "INVALID_TENSOR", "INVALID_RULES", "UNKNOWN_NAME"];
    for (name, tensor) in [
        ("no such setting", int32(1)),
        ("", int32(1)),
        (&"x".repeat(1000), int32(1)),
        ("width", int32(3)),
        ("width", int64(i64::MIN)),
        ("width", double(10.0)),
        ("width", text("10")),
        ("width", dm::Tensor::default()),
        ("width", shaped(&[1], int32(10))),
        ("width", shaped(&[i32::MAX, i32::MAX, i32::MAX], int32(10))),
        ("width", shaped(&[-1], int32(10))),
        ("width", shaped(&[0], int32(10))),
        ("width", shaped(&vec![1; 10_000], int32(10))),
        ("width", many(&[], 0)),
        ("width", many(&[], 2)),
        ("seed", int64(-1)),
        ("seed", double(f64::NAN)),
        ("scoring.piece", double(f64::NAN)),
        ("scoring.piece", double(f64::INFINITY)),
        ("scoring.lines", double(1.0)),
        ("scoring.lines", many(&[-1, -1], 4)),
        ("scoring.lines", many(&[-1], 1_000)),
        ("scoring.lines", many(&[-4], 4)),
        ("scoring.lines", many(&[3], 3)),
        ("scoring.lines", many(&[4], 3)),
        ("ttl_seconds", double(f64::NAN)),
        ("ttl_seconds", double(1e300)),
        ("ttl_seconds", double(-1.0)),
        ("ttl_seconds", double(0.0)),
        ("preset", text("chess")),
        ("preset", text(&"x".repeat(1000))),
        ("randomizer", text("unspecified")),
        ("randomizer", text("dice")),
        ("features", text("no set")),
        ("features", shaped(&[i32::MAX], text("holes"))),
        ("features", scalar(Payload::Strings(tensor::StringArray { array: vec![] }))),
        ("pieces", text("IOX")),
        ("pieces", text("")),
        ("pieces", text(&"I".repeat(100_001))),
        ("preview", scalar(Payload::Protos(tensor::ProtoArray { array: vec![Default::default()] }))),
    ] {
        let reported = connection.create(settings([(name, tensor.clone())])).await.map_err(refusal_of);
        let (code, reason) = reported.expect_err(name);
        assert_eq!(code, Code::InvalidArgument, "{name} {reason}");
        assert!(invalid.contains(&reason.as_str()), "{name} {tensor:?}: {reason}");
    }
    for (name, value, meant) in [
        ("widht", int32(10), "no setting is called \"widht\", did you mean \"width\"? expected one of "),
        (
            "randomizer",
            text("bag"),
            "no randomizer is called \"bag\", did you mean \"bag7\"? expected one of uniform, ",
        ),
        (
            "top_out",
            text("overflows"),
            "no top out is called \"overflows\", did you mean \"overflow\"? expected one of ",
        ),
    ] {
        let refused = connection.create(settings([(name, value)])).await.unwrap_err();
        assert!(refused.message.contains(meant), "{}", refused.message);
    }
    let both = settings([("seed", int32(1)), ("pieces", text("I"))]);
    assert_eq!(connection.create(both).await.map_err(refusal_of).unwrap_err().1, "INVALID_FIELD");
    assert_eq!(server.store.num_sessions(), 0);

    let world = connection.create(settings([("seed", int32(5))])).await.unwrap();
    let specs = connection.join(&world).await.unwrap();
    let before = connection.step(&specs, None).await.unwrap();
    let at_creation = settings([("width", int32(12))]);
    assert_eq!(connection.reset(at_creation).await.map_err(refusal_of).unwrap_err().1, "UNKNOWN_NAME");
    for actions in [
        (2, int32(0)),
        (u64::MAX, int32(0)),
        (1, int32(-1)),
        (1, int32(40)),
        (1, int32(i32::MIN)),
        (1, int64(0)),
        (1, double(f64::NAN)),
        (1, shaped(&[1], int32(0))),
        (1, shaped(&[-1], int32(0))),
        (1, shaped(&[-1, -1], int32(0))),
        (1, many(&[], 2)),
        (1, many(&[], 0)),
        (1, dm::Tensor::default()),
    ] {
        let request = dm::StepRequest { actions: HashMap::from([actions.clone()]), ..Default::default() };
        let reported = connection.ask(Asked::Step(request)).await.map_err(refusal_of);
        assert_eq!(reported.expect_err("a refusal").0, Code::InvalidArgument, "{actions:?}");
    }
    let request = dm::StepRequest { requested_observations: vec![1, 77_777], ..Default::default() };
    let unknown = connection.ask(Asked::Step(request)).await.unwrap_err();
    assert!(unknown.message.contains("77777"), "{}", unknown.message);
    for (payload, code) in [
        (Some(Asked::Extension(Default::default())), Code::InvalidArgument),
        (Some(Asked::DestroyWorld(Default::default())), Code::InvalidArgument),
        (None, Code::InvalidArgument),
    ] {
        let answer = connection.receive(dm::EnvironmentRequest { payload }).await.unwrap();
        let Some(Answered::Error(error)) = answer.payload else { panic!("{answer:?}") };
        assert_eq!(Code::from(error.code), code);
    }
    // None of these calls has moved the world.
    let after = connection.step(&specs, Some(0)).await.unwrap();
    assert_eq!((after.state, after.number("steps")), (RUNNING, before.number("steps") + 1.0));
}

#[tokio::test]
async fn a_request_over_the_limit_ends_the_stream_and_its_worlds() {
    let server = start().await;
    let mut connection = Connection::open(&server).await;
    connection.create(Settings::new()).await.unwrap();
    let name = "x".repeat(MAX_SMALL_REQUEST_BYTES as usize);
    let request = dm::DestroyWorldRequest { world_name: name };
    let request = dm::EnvironmentRequest { payload: Some(Asked::DestroyWorld(request)) };
    let end = connection.receive(request).await.unwrap_err();
    assert_eq!(end.code(), Code::OutOfRange);
    until_there_are(&server, 0).await;
}
