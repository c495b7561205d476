//! Messages that attacks begin with: valid ones, of every method.

use std::sync::OnceLock;

use prost::Message;
use tetrion::protocol::envs;
use tetrion::protocol::limits::MAX_RESPONSE_BYTES;
use tetrion::protocol::pb::enumerate_placements_request::Source;
use tetrion::protocol::pb::policy::Kind;
use tetrion::protocol::pb::step_stream_request::Request as InStream;
use tetrion::protocol::policies::Policy;
use tetrion::protocol::tensor;
use tetrion::protocol::{features, pb, positions, seeding};

use crate::bystander::step;

pub const INFO: &str = "/tetrion.v1.EnvironmentService/GetServerInfo";
pub const CATALOG: &str = "/tetrion.v1.EnvironmentService/GetCatalog";
pub const POLICY: &str = "/tetrion.v1.EnvironmentService/GetPolicy";
pub const CREATE: &str = "/tetrion.v1.EnvironmentService/CreateSession";
pub const RESET: &str = "/tetrion.v1.EnvironmentService/Reset";
pub const RESTORE: &str = "/tetrion.v1.EnvironmentService/RestoreState";
pub const STEP: &str = "/tetrion.v1.EnvironmentService/Step";
pub const RENDER: &str = "/tetrion.v1.EnvironmentService/Render";
pub const SAVE: &str = "/tetrion.v1.EnvironmentService/SaveState";
pub const PLACEMENTS: &str = "/tetrion.v1.EnvironmentService/EnumeratePlacements";
pub const STREAM: &str = "/tetrion.v1.EnvironmentService/StepStream";
pub const WATCH_SESSION: &str = "/tetrion.v1.EnvironmentService/WatchSession";
pub const EVALUATE: &str = "/tetrion.v1.EvaluationService/EvaluatePolicies";
pub const REFLECTION: &str = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
pub const WATCH: &str = "/grpc.health.v1.Health/Watch";

const WIDE: (u32, u32) = (32, 40);

/// Every placement of this many of the largest playfields, full of caves, with the feature that takes longest: with 28,000
/// of them, the work of a core for a quarter of a minute.
pub fn caves(num_positions: u32) -> Vec<u8> {
    static HUNDRED: OnceLock<Vec<u8>> = OnceLock::new();
    if num_positions == 100 {
        return HUNDRED.get_or_init(|| make_caves(100)).clone();
    }
    make_caves(num_positions)
}

fn make_caves(num_positions: u32) -> Vec<u8> {
    let row = |row: u32| if row < 24 { 0x5A96_6996_u32.rotate_left(5 * row) } else { 0 };
    let board: Vec<u32> = (0..WIDE.1).map(row).collect();
    let packed = pb::PackedPositions {
        boards: Some(tensor::encode(vec![num_positions, WIDE.1], &board.repeat(num_positions as usize))),
        pieces: Some(tensor::encode(vec![num_positions], &vec![2_u8; num_positions as usize])),
        queues: None,
        held: None,
    };
    let rules = Some(pb::Rules { width: WIDE.0, height: WIDE.1, ..Default::default() });
    let request = pb::EnumeratePlacementsRequest {
        source: Some(Source::Positions(pb::Positions { rules, ..positions::from_packed(packed) })),
        features: Some(selection(&["holes_enclosed"])),
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    };
    request.encode_to_vec()
}

fn selection(features: &[&str]) -> pb::FeatureSelection {
    let features = features.iter().map(|&name| name.to_owned()).collect();
    features::from_names(features)
}

/// Games that go on until they are stopped, with progress as often as may be.
pub fn endless() -> pb::EvaluatePoliciesRequest {
    pb::EvaluatePoliciesRequest {
        policies: vec![Policy::named("bcts").encode()],
        seeding: Some(seeding::from_drawn(1, 1000)),
        progress_interval: Some(prost_types::Duration { seconds: 0, nanos: 1 }),
        include_results: true,
        ..Default::default()
    }
}

/// Games that are over soon.
fn short() -> pb::EvaluatePoliciesRequest {
    pb::EvaluatePoliciesRequest {
        policies: vec![
            pb::Policy {
                kind: Some(Kind::Weights(pb::Weights {
                    features: Some(features::from_set("height4")),
                    weights: Some(tensor::encode(vec![1, 4], &[-0.5, 0.8, -0.2, -0.2])),
                    ..Default::default()
                })),
                ..Default::default()
            },
            Policy::named("random").encode(),
        ],
        seeding: Some(seeding::from_seeds(vec![3, 1])),
        max_pieces: 20,
        baseline: 0,
        include_results: true,
        ..Default::default()
    }
}

/// A request of every kind to every method, on a session and with a snapshot that the server knows.
pub fn samples(session: &str, num_envs: u32, state: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let session = session.to_owned();
    let env_ids: Vec<u32> = (0..num_envs.min(3)).collect();
    let name = |method: &str| -> &'static str {
        let all = [INFO, CREATE, RESET, RESTORE, SAVE, PLACEMENTS, STREAM, EVALUATE];
        all.into_iter().find(|path| path.ends_with(method)).expect("one of them")
    };
    let drawing = pb::Drawing {
        rows: vec!["#....#####".to_owned(), "##.#######".to_owned()],
        piece: "T".to_owned(),
        queue: String::new(),
        held: String::new(),
    };
    let packed = pb::PackedPositions {
        boards: Some(tensor::encode(vec![env_ids.len() as u32, 20], &vec![0x155_u16; 20 * env_ids.len()])),
        pieces: Some(tensor::encode(vec![env_ids.len() as u32], &vec![6_u8; env_ids.len()])),
        queues: None,
        held: None,
    };
    let positions = [
        positions::from_snapshots(vec![state.to_vec().into(); env_ids.len()]),
        positions::from_drawings(vec![drawing; env_ids.len()]),
        positions::from_packed(packed),
    ];
    let names = |names: [&str; 2]| Some(pb::FieldNames { names: names.map(str::to_owned).to_vec() });
    let create = pb::CreateSessionRequest {
        config: Some(pb::SessionConfig {
            num_envs: 3,
            rules: Some(rules()),
            observation_fields: names(["board", "features"]),
            info_fields: names(["lines", "seed"]),
            features: Some(selection(&["holes", "bumpiness"])),
            autoreset_mode: pb::AutoresetMode::SameStep.into(),
            invalid_action_policy: pb::InvalidActionPolicy::Terminate.into(),
            seeding: Some(seeding::from_seeds(vec![1, 2, 3])),
            max_episode_steps: 100,
            action_mask_format: pb::ActionMaskFormat::Bytes.into(),
            ..Default::default()
        }),
        ttl: Some(prost_types::Duration { seconds: 5, nanos: 0 }),
        request_id: String::new(),
    };
    let reset = pb::ResetRequest {
        session: session.clone(),
        envs: envs::encode(Some(&env_ids)),
        seeding: Some(seeding::from_sequences(vec!["IOTZSJL".to_owned(); env_ids.len()])),
        ..Default::default()
    };
    let save = pb::SaveStateRequest { session: session.clone(), envs: envs::encode(Some(&env_ids)) };
    let envs = pb::SessionEnvs { session: session.clone(), envs: envs::encode(Some(&env_ids)) };
    let enumerate = |source| pb::EnumeratePlacementsRequest {
        source: Some(source),
        features: Some(features::from_set("bcts8")),
        include_afterstates: true,
        include_position_features: true,
        include_anchors: true,
        include_cells: true,
        include_preclear_boards: true,
        max_response_bytes: 1 << 20,
        ..Default::default()
    };
    let keys = pb::EnumeratePlacementsRequest {
        source: Some(Source::Positions(pb::Positions {
            rules: Some(pb::Rules { preset: "guideline".to_owned(), ..Default::default() }),
            ..positions::from_drawings(vec![pb::Drawing { piece: "T".to_owned(), ..Default::default() }])
        })),
        include_keys: true,
        actions: Some(tensor::encode(vec![1], &[0])),
        ..Default::default()
    };
    let render = pb::RenderRequest {
        session: session.clone(),
        envs: envs::encode(Some(&env_ids)),
        format: pb::RenderFormat::Rgb.into(),
        palette: pb::Palette::ColorBlind.into(),
        cell_pixels: 8,
    };
    let watch = pb::WatchSessionRequest {
        session: session.clone(),
        envs: envs::encode(Some(&env_ids)),
        max_frames_per_second: 60,
    };
    let score =
        pb::ScoreTaskRequest { split: "train".into(), index: 5, actions: vec![0, 1], ..Default::default() };
    let step = step(&session, num_envs);
    let mut samples = vec![
        (INFO, pb::GetServerInfoRequest {}.encode_to_vec()),
        (CATALOG, pb::GetCatalogRequest { width: 7 }.encode_to_vec()),
        (POLICY, pb::GetPolicyRequest { name: "dt-10".into() }.encode_to_vec()),
        (
            "/tetrion.v1.EnvironmentService/GetTask",
            pb::GetTaskRequest { split: "test".into(), index: 2 }.encode_to_vec(),
        ),
        ("/tetrion.v1.EnvironmentService/ScoreTask", score.encode_to_vec()),
        (CREATE, create.encode_to_vec()),
        (
            "/tetrion.v1.EnvironmentService/GetSession",
            pb::GetSessionRequest { name: session.clone() }.encode_to_vec(),
        ),
        (
            "/tetrion.v1.EnvironmentService/ListSessions",
            pb::ListSessionsRequest { page_size: 2, page_token: String::new() }.encode_to_vec(),
        ),
        (
            "/tetrion.v1.EnvironmentService/DeleteSession",
            pb::DeleteSessionRequest { name: "sessions/none".to_owned(), allow_missing: true }
                .encode_to_vec(),
        ),
        (RESET, reset.encode_to_vec()),
        ("/tetrion.v1.EnvironmentService/Step", step.encode_to_vec()),
        ("/tetrion.v1.EnvironmentService/Render", render.encode_to_vec()),
        ("/tetrion.v1.EnvironmentService/WatchSession", watch.encode_to_vec()),
        (
            "/tetrion.v1.EnvironmentService/GetHistory",
            pb::GetHistoryRequest { session: session.clone() }.encode_to_vec(),
        ),
        (SAVE, save.encode_to_vec()),
        (PLACEMENTS, enumerate(Source::SessionEnvs(envs.clone())).encode_to_vec()),
        (PLACEMENTS, keys.encode_to_vec()),
        (EVALUATE, short().encode_to_vec()),
    ];
    for positions in positions {
        let restore = pb::RestoreStateRequest {
            session: session.clone(),
            envs: envs::encode(Some(&env_ids)),
            positions: Some(positions.clone()),
            reseed: Some(7),
            sequence_number: 0,
        };
        samples.push((name("RestoreState"), restore.encode_to_vec()));
        samples.push((PLACEMENTS, enumerate(Source::Positions(positions)).encode_to_vec()));
        samples.push((STREAM, in_stream(InStream::RestoreState(restore))));
    }
    samples.push((STREAM, in_stream(InStream::Step(step))));
    samples.push((STREAM, in_stream(InStream::Reset(reset))));
    samples.push((STREAM, in_stream(InStream::SaveState(save))));
    samples.push((STREAM, in_stream(InStream::EnumeratePlacements(enumerate(Source::SessionEnvs(envs))))));
    samples
}

fn rules() -> pb::Rules {
    pb::Rules {
        preset: "lab".to_owned(),
        width: 8,
        height: 14,
        randomizer: pb::Randomizer::Bag7.into(),
        action_model: pb::ActionModel::Keypress.into(),
        scoring: Some(pb::Scoring {
            piece: Some(1.0),
            lines: vec![1.0, 2.0, 3.0, 4.0],
            game_end: Some(-1.0),
        }),
        preview: Some(3),
        ..Default::default()
    }
}

fn in_stream(request: InStream) -> Vec<u8> {
    pb::StepStreamRequest { request: Some(request) }.encode_to_vec()
}
