//! dm_env_rpc over a real connection: a world plays the games of a session.
//!
//! The protocol's own suite, which a learner's client passes through, runs with the Python client's tests.

/// Worlds from their making to their end, and the callers that join them.
mod worlds;

/// What is refused, and that it changes nothing.
mod refusals;

/// What the settings do, and the tables of the proto file.
mod settings;

use std::collections::HashMap;
use std::time::Duration;

use tetrion_protocol::dm_env_rpc::pb as dm;
use tetrion_protocol::dm_env_rpc::pb::environment_client::EnvironmentClient;
use tetrion_protocol::dm_env_rpc::pb::environment_request::Payload as Asked;
use tetrion_protocol::dm_env_rpc::pb::environment_response::Payload as Answered;
use tetrion_protocol::dm_env_rpc::pb::tensor::{self, Payload};
use tetrion_protocol::{features, pb, rpc, seeding};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use tetrion_service_testing::reason;
use tetrion_service_testing::{TestServer, config, create, field_names, numbers, reset, start, step};

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
        Payload::Int64s(int64s) => int64s.array.iter().map(|&number| number as f64).collect(),
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
        "steps",
        "episode_return",
        "seed",
        "invalid_action",
        "invalid_actions",
        "landing_row",
        "end",
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
        height: 7,
        preview: Some(3),
        scoring: Some(pb::Scoring { piece: None, lines: vec![3.0; 4], game_end: Some(-2.5) }),
        ..Default::default()
    };
    let fields = ["board", "board_bits", "current", "queue", "heights", "features"];
    let session = create(
        &mut client,
        pb::SessionConfig {
            seeding: Some(seeding::from_seeds(vec![u64::MAX - 5])),
            rules: Some(rules),
            observation_fields: field_names(&fields),
            features: Some(features::from_set("bcts8")),
            autoreset_mode: pb::AutoresetMode::Disabled.into(),
            invalid_action_policy: pb::InvalidActionPolicy::Terminate.into(),
            max_episode_steps: 8,
            action_mask_format: pb::ActionMaskFormat::Bytes.into(),
            ..config(1, 0)
        },
    )
    .await
    .name;

    let infos = ["lines", "pieces", "steps", "episode_return", "seed", "end"];
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
