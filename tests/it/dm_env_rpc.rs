//! dm_env_rpc over a real connection: what a world is, which callers may join it, and that it plays the games of a session.
//!
//! The protocol's own suite, which a learner's client passes through, runs with the Python client's tests.

use std::collections::HashMap;
use std::time::Duration;

use tetrion::service::StoreLimits;
use tetrion::wire::dm_env_rpc::pb as dm;
use tetrion::wire::dm_env_rpc::pb::environment_client::EnvironmentClient;
use tetrion::wire::dm_env_rpc::pb::environment_request::Payload as Asked;
use tetrion::wire::dm_env_rpc::pb::environment_response::Payload as Answered;
use tetrion::wire::dm_env_rpc::pb::tensor::{self, Payload};
use tetrion::wire::dm_env_rpc::settings::SETTINGS;
use tetrion::wire::limits::MAX_SMALL_REQUEST_BYTES;
use tetrion::wire::{pb, rpc};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::service::stream::reason;
use crate::support::{TestServer, config, create, numbers, refused, reset, start, start_with, step};

const RUNNING: dm::EnvironmentStateType = dm::EnvironmentStateType::Running;
const TERMINATED: dm::EnvironmentStateType = dm::EnvironmentStateType::Terminated;
const INTERRUPTED: dm::EnvironmentStateType = dm::EnvironmentStateType::Interrupted;

type Settings = HashMap<String, dm::Tensor>;

/// A connection: a stream of requests, and of answers in turn.
struct Connection {
    requests: mpsc::Sender<dm::EnvironmentRequest>,
    answers: Streaming<dm::EnvironmentResponse>,
}

/// The answer to a step, observations by name.
#[derive(Debug)]
struct Step {
    state: dm::EnvironmentStateType,
    seen: HashMap<String, dm::Tensor>,
}

impl Step {
    #[track_caller]
    fn number(&self, name: &str) -> f64 {
        self.numbers(name)[0]
    }

    #[track_caller]
    fn numbers(&self, name: &str) -> Vec<f64> {
        let tensor = self.seen.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.seen.keys()));
        elements(tensor)
    }
}

impl Connection {
    async fn open(server: &TestServer) -> Connection {
        let (requests, receiver) = mpsc::channel(16);
        let mut client = EnvironmentClient::new(server.channel().await).max_encoding_message_size(usize::MAX);
        let answers = client.process(ReceiverStream::new(receiver)).await.unwrap().into_inner();
        Connection { requests, answers }
    }

    async fn receive(&mut self, request: dm::EnvironmentRequest) -> Result<dm::EnvironmentResponse, Status> {
        self.requests.send(request).await.unwrap();
        let answer = tokio::time::timeout(Duration::from_secs(20), self.answers.message()).await;
        Ok(answer.expect("an answer in time")?.expect("an answer"))
    }

    async fn ask(&mut self, payload: Asked) -> Result<Answered, rpc::Status> {
        let answer = self.receive(dm::EnvironmentRequest { payload: Some(payload) }).await.unwrap();
        match answer.payload.expect("an answer") {
            Answered::Error(error) => Err(error),
            answered => Ok(answered),
        }
    }

    async fn create(&mut self, settings: Settings) -> Result<String, rpc::Status> {
        let answered = self.ask(Asked::CreateWorld(dm::CreateWorldRequest { settings })).await?;
        let Answered::CreateWorld(created) = answered else { panic!("{answered:?}") };
        Ok(created.world_name)
    }

    async fn join(&mut self, world_name: &str) -> Result<dm::ActionObservationSpecs, rpc::Status> {
        let request = dm::JoinWorldRequest { world_name: world_name.to_owned(), ..Default::default() };
        let answered = self.ask(Asked::JoinWorld(request)).await?;
        let Answered::JoinWorld(joined) = answered else { panic!("{answered:?}") };
        Ok(joined.specs.expect("specs"))
    }

    async fn leave(&mut self) {
        let answered = self.ask(Asked::LeaveWorld(dm::LeaveWorldRequest {})).await.unwrap();
        assert!(matches!(answered, Answered::LeaveWorld(_)), "{answered:?}");
    }

    async fn destroy(&mut self, world_name: &str) -> Result<(), rpc::Status> {
        let request = dm::DestroyWorldRequest { world_name: world_name.to_owned() };
        let answered = self.ask(Asked::DestroyWorld(request)).await?;
        assert!(matches!(answered, Answered::DestroyWorld(_)), "{answered:?}");
        Ok(())
    }

    async fn reset(&mut self, settings: Settings) -> Result<dm::ActionObservationSpecs, rpc::Status> {
        let answered = self.ask(Asked::Reset(dm::ResetRequest { settings })).await?;
        let Answered::Reset(reset) = answered else { panic!("{answered:?}") };
        Ok(reset.specs.expect("specs"))
    }

    async fn reset_world(&mut self, world_name: &str) -> Result<(), rpc::Status> {
        let request = dm::ResetWorldRequest { world_name: world_name.to_owned(), ..Default::default() };
        let answered = self.ask(Asked::ResetWorld(request)).await?;
        assert!(matches!(answered, Answered::ResetWorld(_)), "{answered:?}");
        Ok(())
    }

    /// A step that requests every observation.
    async fn step(
        &mut self,
        specs: &dm::ActionObservationSpecs,
        action: Option<i32>,
    ) -> Result<Step, rpc::Status> {
        let actions = action.map(|action| (1, int32(action))).into_iter().collect();
        let requested_observations = specs.observations.keys().copied().collect();
        let answered = self.ask(Asked::Step(dm::StepRequest { actions, requested_observations })).await?;
        let Answered::Step(step) = answered else { panic!("{answered:?}") };
        let state = step.state();
        let name = |uid: u64| specs.observations[&uid].name.clone();
        Ok(Step { state, seen: step.observations.into_iter().map(|(uid, seen)| (name(uid), seen)).collect() })
    }
}

fn int32(number: i32) -> dm::Tensor {
    scalar(Payload::Int32s(tensor::Int32Array { array: vec![number] }))
}

fn int64(number: i64) -> dm::Tensor {
    scalar(Payload::Int64s(tensor::Int64Array { array: vec![number] }))
}

fn uint64(number: u64) -> dm::Tensor {
    scalar(Payload::Uint64s(tensor::Uint64Array { array: vec![number] }))
}

fn double(number: f64) -> dm::Tensor {
    scalar(Payload::Doubles(tensor::DoubleArray { array: vec![number] }))
}

fn text(text: &str) -> dm::Tensor {
    scalar(Payload::Strings(tensor::StringArray { array: vec![text.to_owned()] }))
}

fn scalar(payload: Payload) -> dm::Tensor {
    dm::Tensor { payload: Some(payload), shape: vec![] }
}

fn shaped(shape: &[i32], tensor: dm::Tensor) -> dm::Tensor {
    dm::Tensor { shape: shape.to_vec(), ..tensor }
}

fn settings<const N: usize>(settings: [(&str, dm::Tensor); N]) -> Settings {
    settings.into_iter().map(|(name, tensor)| (name.to_owned(), tensor)).collect()
}

/// The elements of a tensor, as many as its shape says.
#[track_caller]
fn elements(tensor: &dm::Tensor) -> Vec<f64> {
    let elements: Vec<f64> = match tensor.payload.as_ref().expect("elements") {
        Payload::Floats(floats) => floats.array.iter().map(|&number| number.into()).collect(),
        Payload::Doubles(doubles) => doubles.array.clone(),
        Payload::Int8s(int8s) => int8s.array.iter().map(|&byte| f64::from(byte as i8)).collect(),
        Payload::Int32s(int32s) => int32s.array.iter().map(|&number| number.into()).collect(),
        Payload::Uint8s(uint8s) => uint8s.array.iter().map(|&byte| byte.into()).collect(),
        Payload::Uint32s(uint32s) => uint32s.array.iter().map(|&number| number.into()).collect(),
        Payload::Uint64s(uint64s) => uint64s.array.iter().map(|&number| number as f64).collect(),
        Payload::Bools(bools) => bools.array.iter().map(|&truth| f64::from(u8::from(truth))).collect(),
        other => panic!("{other:?}"),
    };
    assert_eq!(tensor.shape.iter().product::<i32>() as usize, elements.len(), "{:?}", tensor.shape);
    elements
}

#[track_caller]
fn refusal_of(error: rpc::Status) -> (Code, String) {
    (Code::from(error.code), reason(&error))
}

#[tokio::test]
async fn a_world_is_made_joined_played_left_and_destroyed() {
    let server = start().await;
    let mut connection = Connection::open(&server).await;
    let world =
        connection.create(settings([("seed", int64(42)), ("width", int32(6)), ("height", int32(8))])).await;
    let world = world.unwrap();
    let specs = connection.join(&world).await.unwrap();

    let action = &specs.actions[&1];
    assert_eq!(
        (action.name.as_str(), action.dtype(), action.shape.len()),
        ("action", dm::DataType::Int32, 0)
    );
    let bound = |bound: &Option<dm::tensor_spec::Value>| bound.clone().expect("a bound").payload;
    use dm::tensor_spec::value::Payload as Bound;
    assert_eq!(bound(&action.min), Some(Bound::Int32s(tensor::Int32Array { array: vec![0] })));
    assert_eq!(bound(&action.max), Some(Bound::Int32s(tensor::Int32Array { array: vec![23] })));
    let mut reported: Vec<(u64, &str, Vec<i32>)> =
        specs.observations.iter().map(|(&uid, spec)| (uid, spec.name.as_str(), spec.shape.clone())).collect();
    reported.sort();
    let names: Vec<&str> = reported.iter().map(|(_, name, _)| *name).collect();
    // No queue without a preview, no features without a selection.
    let expected = [
        "reward",
        "board",
        "board_bits",
        "current",
        "heights",
        "action_mask",
        "lines",
        "pieces",
        "length",
        "episode_return",
        "seed",
        "invalid_action",
        "invalid_actions",
        "landing_row",
    ];
    assert_eq!(names, expected);
    assert_eq!(
        (reported[0].0, reported[1].0, &reported[1].2, &reported[5].2),
        (1, 2, &vec![8, 6], &vec![24])
    );

    // The first step begins the episode, whatever it holds.
    let first = connection.step(&specs, Some(1_000_000)).await.unwrap();
    assert_eq!((first.state, first.number("reward")), (RUNNING, 0.0));
    assert_eq!((first.number("seed"), first.number("pieces")), (42.0, 0.0));
    let mut last = first;
    while last.state == RUNNING {
        let mask = last.numbers("action_mask");
        let action = mask.iter().position(|&exists| exists == 1.0).expect("a placement");
        last = connection.step(&specs, Some(action as i32)).await.unwrap();
    }
    assert_eq!(last.state, TERMINATED);
    assert!(last.number("pieces") >= 4.0);
    // And so does the one after the last, with the next pieces.
    let next = connection.step(&specs, None).await.unwrap();
    assert_eq!((next.state, next.number("pieces"), next.number("reward")), (RUNNING, 0.0, 0.0));
    assert_ne!(next.number("seed"), 42.0);

    connection.leave().await;
    connection.leave().await; // without effect, and without an error
    connection.destroy(&world).await.unwrap();
    assert_eq!(server.store.num_sessions(), 0);
    assert_eq!(connection.join(&world).await.map_err(self::refusal_of).unwrap_err().0, Code::NotFound);
}

#[tokio::test]
async fn it_plays_the_very_games_of_a_session() {
    let server = start().await;
    let mut connection = Connection::open(&server).await;
    let world = connection
        .create(settings([
            ("preset", text("survey")),
            ("height", int32(7)),
            ("preview", int64(3)),
            ("seed", uint64(u64::MAX - 5)),
            ("features", text("bcts8")),
            ("max_episode_steps", int32(8)),
            ("scoring.game_end", double(-2.5)),
            ("scoring.lines", shaped(&[4], double(3.0))),
        ]))
        .await
        .unwrap();
    let specs = connection.join(&world).await.unwrap();

    let mut client = server.client().await;
    let rules = pb::Rules {
        preset: "survey".into(),
        height: Some(7),
        preview: Some(3),
        scoring: Some(pb::Scoring { piece: None, lines: vec![3.0; 4], game_end: Some(-2.5) }),
        ..Default::default()
    };
    let fields = ["board", "board_bits", "current", "queue", "heights", "features"];
    let session = create(
        &mut client,
        pb::SessionConfig {
            seed: None,
            env_seeds: vec![u64::MAX - 5],
            rules: Some(rules),
            observation_fields: fields.map(str::to_owned).to_vec(),
            features: Some(pb::FeatureSelection { set: "bcts8".into(), ..Default::default() }),
            autoreset_mode: pb::AutoresetMode::Disabled.into(),
            invalid_action_policy: pb::InvalidActionPolicy::Terminate.into(),
            max_episode_steps: 8,
            action_mask: true,
            ..config(1, 0)
        },
    )
    .await
    .name;

    let infos = ["lines", "pieces", "length", "episode_return", "seed"];
    let mut ends = [0; 3];
    let mut random = 1u64;
    for episode in 0..60 {
        let began = client.reset(reset(&session)).await.unwrap().into_inner();
        let (mut observations, mut told_infos, mut mask) =
            (began.observations, began.infos, began.action_mask.unwrap());
        let mut seen = connection.step(&specs, None).await.unwrap();
        loop {
            for (name, theirs) in fields.iter().zip(&observations).chain(infos.iter().zip(&told_infos)) {
                assert_eq!(seen.numbers(name), numbers(theirs), "{name} in episode {episode}");
            }
            assert_eq!(seen.numbers("action_mask"), numbers(&mask));
            if seen.state != RUNNING {
                break;
            }
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let existing: Vec<i32> =
                (0..).zip(numbers(&mask)).filter(|(_, is)| *is == 1.0).map(|(a, _)| a).collect();
            // Now and then an action that does not exist, which ends the episode.
            let action =
                if random >> 60 == 0 { 0 } else { existing[(random >> 33) as usize % existing.len()] };
            let stepped = client.step(step(&session, &[action])).await.unwrap().into_inner();
            seen = connection.step(&specs, Some(action)).await.unwrap();
            let flag = |tensor: Option<pb::Tensor>| numbers(&tensor.unwrap()) == [1.0];
            let state = match (flag(stepped.terminated), flag(stepped.truncated)) {
                (true, _) => TERMINATED,
                (_, true) => INTERRUPTED,
                _ => RUNNING,
            };
            assert_eq!(seen.state, state);
            assert_eq!(seen.numbers("reward"), numbers(&stepped.rewards.unwrap()));
            ends[state as usize - 1] += 1;
            (observations, told_infos, mask) =
                (stepped.observations, stepped.infos, stepped.action_mask.unwrap());
        }
    }
    assert!(ends.iter().all(|&count| count > 5), "running, terminated and interrupted steps: {ends:?}");
}

#[tokio::test]
async fn worlds_and_sessions_share_the_limits() {
    let server = start_with(StoreLimits { max_sessions: 2, max_envs: 2, ..Default::default() }).await;
    let mut connection = Connection::open(&server).await;
    let mut client = server.client().await;
    let session = create(&mut client, config(1, 1)).await.name;
    let world = connection.create(Settings::new()).await.unwrap();
    let full = connection.create(Settings::new()).await.map_err(refusal_of);
    assert_eq!(full, Err((Code::ResourceExhausted, "SESSION_LIMIT".to_owned())));
    let request = pb::CreateSessionRequest::default();
    refused(client.create_session(request.clone()).await, Code::ResourceExhausted, "SESSION_LIMIT");
    // Operators see both.
    let listed = client.list_sessions(pb::ListSessionsRequest::default()).await.unwrap().into_inner();
    let names: Vec<String> = listed.sessions.into_iter().map(|session| session.name).collect();
    assert_eq!(names, [session.clone(), world.clone()]);
    // And the calls of the one protocol work on the worlds of the other.
    let specs = connection.join(&world).await.unwrap();
    connection.step(&specs, None).await.unwrap();
    let format = pb::RenderFormat::Ascii.into();
    let drawn = client.render(pb::RenderRequest { session: world.clone(), format, env_ids: vec![] }).await;
    assert_eq!(drawn.unwrap().into_inner().frames.len(), 1);
    connection.leave().await;
    connection.destroy(&world).await.unwrap();
    client.create_session(request).await.expect("room again");

    let not_ours = connection.join(&session).await.map_err(refusal_of);
    assert_eq!(not_ours, Err((Code::InvalidArgument, "INVALID_FIELD".to_owned())), "a session is no world");
}

/// Waits until the server has as many sessions.
async fn until_there_are(server: &TestServer, sessions: u32) {
    let waiting = async {
        while server.store.num_sessions() != sessions {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    waited.unwrap_or_else(|_| panic!("{} sessions, expected {sessions}", server.store.num_sessions()));
}

#[tokio::test]
async fn a_connection_that_ends_leaves_nothing_behind() {
    let server = start().await;
    let mut maker = Connection::open(&server).await;
    let worlds = [maker.create(Settings::new()).await.unwrap(), maker.create(Settings::new()).await.unwrap()];
    let specs = maker.join(&worlds[0]).await.unwrap();
    maker.step(&specs, None).await.unwrap();
    assert_eq!(server.store.num_sessions(), 2);
    // The second of them has another connection in it: it stays for as long as that connection does.
    let mut other = Connection::open(&server).await;
    let specs = other.join(&worlds[1]).await.unwrap();
    drop(maker);
    until_there_are(&server, 1).await;
    assert_eq!(other.step(&specs, None).await.unwrap().state, RUNNING);
    assert_eq!(other.join(&worlds[0]).await.map_err(refusal_of).unwrap_err().1, "ALREADY_JOINED");
    other.leave().await;
    assert_eq!(server.store.num_sessions(), 0, "with the last of its people it is gone");
    assert_eq!(other.join(&worlds[1]).await.map_err(refusal_of).unwrap_err().1, "SESSION_NOT_FOUND");
    // Half-closed in order instead of dropped.
    other.create(Settings::new()).await.unwrap();
    drop(other.requests);
    assert!(other.answers.message().await.unwrap().is_none());
    until_there_are(&server, 0).await;
}

#[tokio::test]
async fn a_world_is_for_one_agent_at_a_time() {
    let server = start().await;
    let (mut first, mut second) = (Connection::open(&server).await, Connection::open(&server).await);
    let world = first.create(Settings::new()).await.unwrap();
    let spare = first.create(Settings::new()).await.unwrap();
    assert_eq!(first.reset(Settings::new()).await.map_err(refusal_of).unwrap_err().1, "NOT_JOINED");
    let specs = first.join(&world).await.unwrap();
    for world in [&world, &spare] {
        assert_eq!(first.join(world).await.map_err(refusal_of).unwrap_err().1, "ALREADY_JOINED");
    }
    assert_eq!(second.join(&world).await.map_err(refusal_of).unwrap_err().1, "WORLD_IN_USE");
    for connection in [&mut first, &mut second] {
        assert_eq!(connection.destroy(&world).await.map_err(refusal_of).unwrap_err().1, "WORLD_IN_USE");
    }
    assert_eq!(second.step(&specs, None).await.map_err(refusal_of).unwrap_err().1, "NOT_JOINED");
    let before = first.step(&specs, None).await.unwrap();
    first.leave().await;
    // The next agent begins an episode of its own.
    assert_eq!(second.join(&world).await.unwrap(), specs);
    let after = second.step(&specs, Some(3)).await.unwrap();
    assert_eq!((after.state, after.number("pieces")), (RUNNING, 0.0));
    assert_ne!(after.number("seed"), before.number("seed"));
}

#[tokio::test]
async fn resets_begin_episodes_of_their_own() {
    let server = start().await;
    let (mut agent, mut other) = (Connection::open(&server).await, Connection::open(&server).await);
    let world = agent.create(settings([("seed", uint64(7))])).await.unwrap();
    let specs = agent.join(&world).await.unwrap();
    let pieces = async |agent: &mut Connection| {
        let mut pieces = vec![agent.step(&specs, None).await.unwrap().number("current")];
        for _ in 0..5 {
            let step = agent.step(&specs, Some(4)).await.unwrap();
            assert_eq!(step.state, RUNNING);
            pieces.push(step.number("current"));
        }
        pieces
    };
    let first = pieces(&mut agent).await;
    assert_eq!(agent.reset(Settings::new()).await.unwrap(), specs, "the specs once more");
    let second = pieces(&mut agent).await;
    agent.reset(settings([("seed", int32(7))])).await.unwrap();
    assert_eq!(pieces(&mut agent).await, first);
    agent.reset(Settings::new()).await.unwrap();
    assert_eq!(pieces(&mut agent).await, second, "and the one after it as before");
    agent.reset(settings([("pieces", text("OISOLTZ"))])).await.unwrap();
    assert_eq!(pieces(&mut agent).await, [1.0, 0.0, 4.0, 1.0, 6.0, 2.0]);

    // A reset from outside: the agent learns of it once, and then plays another episode.
    other.reset_world(&world).await.unwrap();
    let cut = agent.step(&specs, Some(0)).await.unwrap();
    assert_eq!((cut.state, cut.number("reward")), (INTERRUPTED, 0.0));
    assert_eq!(cut.number("pieces"), 5.0, "the last state of the episode that was cut");
    let next = agent.step(&specs, Some(0)).await.unwrap();
    assert_eq!((next.state, next.number("pieces")), (RUNNING, 0.0));
    // Where no episode is under way the agent learns nothing.
    agent.reset(Settings::new()).await.unwrap();
    other.reset_world(&world).await.unwrap();
    assert_eq!(agent.step(&specs, None).await.unwrap().state, RUNNING);
    assert_eq!(other.reset_world("sessions/0").await.map_err(refusal_of).unwrap_err().1, "SESSION_NOT_FOUND");
}

#[tokio::test]
async fn a_world_ends_with_its_lease() {
    let server = start().await;
    let mut connection = Connection::open(&server).await;
    let short = connection.create(settings([("ttl_seconds", double(2.5))])).await.unwrap();
    let long = connection.create(Settings::new()).await.unwrap();
    let specs = connection.join(&short).await.unwrap();
    server.clock.advance(Duration::from_secs(2));
    assert_eq!(connection.step(&specs, None).await.unwrap().state, RUNNING, "and renewed");
    server.clock.advance(Duration::from_secs(2));
    assert_eq!(connection.step(&specs, None).await.unwrap().state, RUNNING);
    server.clock.advance(Duration::from_secs(3));
    assert_eq!(server.store.reap(), 1, "no connection holds it");
    assert_eq!(
        connection.step(&specs, None).await.map_err(refusal_of).unwrap_err(),
        (Code::NotFound, "SESSION_EXPIRED".to_owned())
    );
    connection.join(&long).await.expect("another one");
}

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
        (Some(Asked::Extension(Default::default())), Code::Unimplemented),
        (Some(Asked::DestroyWorld(Default::default())), Code::InvalidArgument),
        (None, Code::InvalidArgument),
    ] {
        let answer = connection.receive(dm::EnvironmentRequest { payload }).await.unwrap();
        let Some(Answered::Error(error)) = answer.payload else { panic!("{answer:?}") };
        assert_eq!(Code::from(error.code), code);
    }
    // None of these calls has moved the world.
    let after = connection.step(&specs, Some(0)).await.unwrap();
    assert_eq!((after.state, after.number("length")), (RUNNING, before.number("length") + 1.0));
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

#[tokio::test]
async fn every_setting_does_what_it_says() {
    let server = start().await;
    let mut connection = Connection::open(&server).await;
    let mut client = server.client().await;
    let row = |names: &[&str]| {
        let array = names.iter().map(|&name| name.to_owned()).collect();
        shaped(&[names.len() as i32], scalar(Payload::Strings(tensor::StringArray { array })))
    };
    let given = settings([
        ("preset", text("genetic")),
        ("width", int64(12)),
        ("height", scalar(Payload::Uint8s(tensor::Uint8Array { array: vec![18].into() }))),
        ("preview", scalar(Payload::Int8s(tensor::Int8Array { array: vec![2].into() }))),
        ("randomizer", text("bag7")),
        ("action_model", text("placement")),
        ("top_out", text("overflow")),
        ("orientation_table", text("guideline")),
        ("reach", text("srs")),
        ("rows_above", int64(3)),
        ("rotation", text("srs_plus")),
        ("half_turns", text("cobra")),
        ("spins", text("all_spins")),
        ("hold", int64(1)),
        ("clear_points", text("attack")),
        ("attack", text("cold_clear")),
        ("scoring.piece", double(0.5)),
        ("scoring.lines", scalar(Payload::Floats(tensor::FloatArray { array: vec![1.0, 2.0, 4.0, 8.0] }))),
        ("scoring.game_end", int32(-3)),
        ("features", row(&["holes", "column_height"])),
        ("max_episode_steps", scalar(Payload::Uint32s(tensor::Uint32Array { array: vec![99] }))),
        ("invalid_action_policy", text("ignore")),
        ("invalid_action_reward", double(-0.5)),
        ("ttl_seconds", int32(60)),
        ("seed", uint64(u64::MAX)),
    ]);
    let lines = given["scoring.lines"].clone();
    let given: Settings = given
        .into_iter()
        .map(
            |(name, tensor)| {
                if name == "scoring.lines" { (name, shaped(&[-1], lines.clone())) } else { (name, tensor) }
            },
        )
        .collect();
    let untried: Vec<&str> =
        SETTINGS.iter().map(|setting| setting.name).filter(|name| !given.contains_key(*name)).collect();
    assert_eq!(untried, ["pieces"]);
    let name = connection.create(given).await.unwrap();
    let session =
        client.get_session(pb::GetSessionRequest { name }).await.unwrap().into_inner().session.unwrap();
    let config = session.config.unwrap();
    let rules = config.rules.unwrap();
    let scoring = rules.scoring.clone().unwrap();
    assert_eq!(
        (rules.preset.as_str(), rules.width(), rules.height(), rules.preview()),
        ("genetic", 12, 18, 2)
    );
    assert_eq!(rules.randomizer(), pb::Randomizer::Bag7);
    assert_eq!(rules.action_model(), pb::ActionModel::Placement);
    assert_eq!(rules.top_out(), pb::TopOut::Overflow);
    assert_eq!(rules.orientation_table(), pb::OrientationTable::Guideline);
    assert_eq!(rules.reach(), pb::Reach::Srs);
    assert_eq!((rules.rows_above(), rules.hold()), (3, true));
    assert_eq!(rules.rotation(), pb::RotationSystem::SrsPlus);
    assert_eq!(rules.half_turns(), pb::HalfTurns::Cobra);
    assert_eq!(rules.spins(), pb::SpinRule::AllSpins);
    assert_eq!(rules.clear_points(), pb::ClearPoints::Attack);
    assert_eq!(rules.attack(), pb::AttackTable::ColdClear);
    assert_eq!((scoring.piece(), scoring.game_end()), (0.5, -3.0));
    assert_eq!(scoring.lines, [1.0, 2.0, 4.0, 8.0]);
    assert_eq!(config.features.unwrap().features.len(), 13);
    assert_eq!((config.max_episode_steps, session.ttl.unwrap().seconds), (99, 60));
    assert_eq!(config.autoreset_mode, i32::from(pb::AutoresetMode::Disabled));
    assert_eq!(config.invalid_action_policy, i32::from(pb::InvalidActionPolicy::Ignore));
    assert_eq!(config.invalid_action_reward, -0.5);

    // An explicit sequence is dealt in every episode, and the step that uses it up interrupts.
    let world = connection.create(settings([("pieces", text("IO"))])).await.unwrap();
    let specs = connection.join(&world).await.unwrap();
    for _ in 0..2 {
        assert_eq!(connection.step(&specs, None).await.unwrap().number("current"), 0.0);
        assert_eq!(connection.step(&specs, None).await.unwrap().number("current"), 1.0);
        let last = connection.step(&specs, Some(4)).await.unwrap();
        assert_eq!((last.state, last.number("current")), (INTERRUPTED, -1.0));
    }
}

#[tokio::test]
async fn an_action_that_does_not_exist_does_what_the_setting_says() {
    let server = start().await;
    let mut connection = Connection::open(&server).await;
    let terminate = settings([("pieces", text("OIT"))]);
    let ignore = settings([
        ("pieces", text("OIT")),
        ("invalid_action_policy", text("ignore")),
        ("invalid_action_reward", double(-0.5)),
    ]);
    for (given, state, reward) in [(terminate, TERMINATED, 0.0), (ignore, RUNNING, -0.5)] {
        let world = connection.create(given).await.unwrap();
        let specs = connection.join(&world).await.unwrap();
        let first = connection.step(&specs, None).await.unwrap();
        assert_eq!((first.number("invalid_action"), first.number("invalid_actions")), (0.0, 0.0));
        // An O has one orientation.
        let seen = connection.step(&specs, Some(10)).await.unwrap();
        assert_eq!((seen.state, seen.number("reward")), (state, reward));
        assert_eq!((seen.number("invalid_action"), seen.number("invalid_actions")), (1.0, 1.0));
        connection.leave().await;
    }
    let given = settings([("invalid_action_reward", double(-0.5))]);
    let refused = connection.create(given).await.map_err(refusal_of).unwrap_err();
    assert_eq!(refused.0, Code::InvalidArgument, "there is nothing to ignore");
    let given = settings([("invalid_action_policy", text("forgive"))]);
    assert_eq!(connection.create(given).await.map_err(refusal_of).unwrap_err().1, "UNKNOWN_NAME");
}

#[tokio::test]
async fn keys_are_pressed_as_in_a_session() {
    let server = start().await;
    let mut connection = Connection::open(&server).await;
    let given = settings([("preset", text("lab")), ("height", int32(8)), ("seed", int32(3))]);
    let world = connection.create(given).await.unwrap();
    let specs = connection.join(&world).await.unwrap();
    let names: Vec<&str> = specs.observations.values().map(|spec| spec.name.as_str()).collect();
    assert!(names.contains(&"falling") && names.contains(&"falling_cells"), "{names:?}");

    let mut client = server.client().await;
    let rules = pb::Rules { preset: "lab".into(), height: Some(8), ..Default::default() };
    let fields = ["board", "current", "falling", "falling_cells"];
    let session = create(
        &mut client,
        pb::SessionConfig {
            seed: None,
            env_seeds: vec![3],
            rules: Some(rules),
            observation_fields: fields.map(str::to_owned).to_vec(),
            autoreset_mode: pb::AutoresetMode::Disabled.into(),
            ..config(1, 0)
        },
    )
    .await
    .name;
    let mut ends = 0;
    for episode in 0..3 {
        client.reset(reset(&session)).await.unwrap();
        assert_eq!(connection.step(&specs, None).await.unwrap().state, RUNNING);
        // One key of six, whatever it does.
        for press in 0.. {
            let key = (press * 5 + episode) % 7 % 6;
            let stepped = client.step(step(&session, &[key])).await.unwrap().into_inner();
            let seen = connection.step(&specs, Some(key)).await.unwrap();
            for (name, theirs) in fields.iter().zip(&stepped.observations) {
                assert_eq!(seen.numbers(name), numbers(theirs), "{name}, press {press} of episode {episode}");
            }
            assert_eq!(seen.numbers("reward"), numbers(&stepped.rewards.unwrap()));
            if seen.state != RUNNING {
                assert_eq!(numbers(&stepped.terminated.unwrap()), [1.0]);
                ends += 1;
                break;
            }
        }
    }
    assert_eq!(ends, 3);
    let too_far = connection.step(&specs, None).await.unwrap();
    assert_eq!(too_far.state, RUNNING);
    assert_eq!(
        connection.step(&specs, Some(6)).await.map_err(refusal_of).unwrap_err().1,
        "ACTION_OUT_OF_RANGE"
    );
}

/// The rows of a table in the head of the proto file, cut where two blanks or more stand: those under the line that ends with
/// `heading`, up to an empty one. What goes on in a second line has no first column.
fn table_under(heading: &str) -> Vec<Vec<&'static str>> {
    let file = include_str!("../../proto/dm_env_rpc/v1/dm_env_rpc.proto");
    let mut lines = file.lines().skip_while(|line| !line.ends_with(heading));
    assert!(lines.next().is_some(), "no line ends with {heading:?}");
    let rows = lines.skip(1).take_while(|line| *line != "//").map(|line| line.trim_start_matches("//   "));
    let cells = |row: &'static str| row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    rows.filter(|row| !row.starts_with(' ')).map(cells).collect()
}

#[test]
fn the_settings_are_those_of_the_proto_file() {
    let reported: Vec<_> =
        table_under("a number in any numeric type:").iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(reported, SETTINGS.map(|setting| (setting.name, setting.takes)));
}

#[tokio::test]
async fn every_uid_is_the_one_that_the_proto_file_names() {
    let server = start().await;
    let mut connection = Connection::open(&server).await;
    // Key presses, a preview and features: a world that has most observations.
    let all = settings([
        ("preset", text("lab")),
        ("preview", int32(2)),
        ("features", text("bcts8")),
        ("width", int32(10)),
    ]);
    let world = connection.create(all).await.unwrap();
    let specs = connection.join(&world).await.unwrap();
    let rows = |specs: &dm::ActionObservationSpecs| -> Vec<(String, String, String)> {
        let row = |(uid, spec): (&u64, &dm::TensorSpec)| {
            (uid.to_string(), spec.name.clone(), spec.dtype().as_str_name().to_owned())
        };
        specs.observations.iter().map(row).collect()
    };
    let mut reported = rows(&specs);
    // And one in which a piece can be held and clears are worth more than their lines, where there are no keys.
    let mut other = Connection::open(&server).await;
    let held = other.create(settings([("preset", text("guideline"))])).await.unwrap();
    let specs = other.join(&held).await.unwrap();
    reported.extend(rows(&specs).into_iter().filter(|(uid, ..)| uid.parse::<u64>().unwrap() >= 19));
    reported.sort_by_key(|(uid, ..)| uid.parse::<u64>().unwrap());
    let written = table_under("list those that a world has:");
    let expected: Vec<(String, String, String)> = written
        .iter()
        .map(|row| (row[0].to_owned(), row[1].to_owned(), row[2].split(' ').next().unwrap().to_owned()))
        .collect();
    assert_eq!(reported, expected);
    // Learners have stored these numbers: they stay.
    let pinned = [
        "reward",
        "board",
        "board_bits",
        "current",
        "queue",
        "heights",
        "features",
        "falling",
        "falling_cells",
        "action_mask",
        "lines",
        "pieces",
        "length",
        "episode_return",
        "seed",
        "invalid_action",
        "invalid_actions",
        "landing_row",
    ];
    let numbered: Vec<(u64, &str)> = (1..).zip(pinned).collect();
    let reported: Vec<(u64, &str)> =
        reported.iter().map(|(uid, name, _)| (uid.parse().unwrap(), name.as_str())).collect();
    assert_eq!(reported[..pinned.len()], numbered);
    assert_eq!(specs.actions.keys().collect::<Vec<_>>(), [&1]);
}
