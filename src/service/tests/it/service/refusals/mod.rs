//! Every row of the table of errors over the wire, and that a refused call has changed nothing.

mod names;
mod states;

use std::collections::BTreeSet;

use bytes::Bytes;
use tetrion_protocol::{features, pb, positions, seeding, tensor};
use tonic::{Code, Status};

use crate::support::{TestServer, drawing, field_names, restore, save, start};
use tetrion_service_testing::{
    Client, RefusalDetails, config, create, enumerate, only, refused, reset, step,
};

/// Sessions of two environments in which something has happened, and everything that can be known about them.
struct Witness {
    server: TestServer,
    client: Client,
    name: String,
    before: (Vec<Bytes>, u64, u32, u32),
}

impl Witness {
    async fn new() -> Witness {
        Witness::of(config(2, 11)).await
    }

    async fn of(config: pb::SessionConfig) -> Witness {
        let server = start().await;
        let mut client = server.client().await;
        let name = create(&mut client, config).await.name;
        client.reset(reset(&name)).await.unwrap();
        client.step(step(&name, &[0, 1])).await.unwrap();
        let before = (Vec::new(), 0, 0, 0);
        let mut witness = Witness { server, client, name, before };
        witness.before = witness.everything().await;
        witness
    }

    async fn everything(&mut self) -> (Vec<Bytes>, u64, u32, u32) {
        let saved = self.client.save_state(save(&self.name)).await.unwrap().into_inner();
        let (sessions, envs) = (self.server.store.num_sessions(), self.server.store.num_envs());
        (saved.states, saved.sequence_number, sessions, envs)
    }

    /// Expects a refusal, and that everything is as it was.
    async fn refused<T: std::fmt::Debug>(
        &mut self,
        got: Result<tonic::Response<T>, Status>,
        code: Code,
        reason: &str,
    ) -> RefusalDetails {
        let reported = refused(got, code, reason);
        let after = self.everything().await;
        assert_eq!(after, self.before, "a refused call has changed something: {}", reported.message);
        reported
    }

    /// Expects a refusal that names one field.
    async fn field<T: std::fmt::Debug>(
        &mut self,
        got: Result<tonic::Response<T>, Status>,
        reason: &str,
        field: &str,
    ) {
        let reported = self.refused(got, Code::InvalidArgument, reason).await;
        assert_eq!(reported.fields(), [field], "{}", reported.message);
    }

    async fn create(&mut self, config: pb::SessionConfig, reason: &str, field: &str) {
        let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
        let got = self.client.create_session(request).await;
        self.field(got, reason, field).await;
    }
}

#[tokio::test]
async fn invalid_field_names_the_field() {
    let mut w = Witness::new().await;
    let name = w.name.clone();
    let plain = || config(2, 11);
    w.create(config(65_537, 1), "INVALID_FIELD", "config.num_envs").await;
    let rules = pb::Rules { width: 33, ..Default::default() };
    w.create(pb::SessionConfig { rules: Some(rules), ..plain() }, "INVALID_FIELD", "config.rules.width")
        .await;
    w.create(pb::SessionConfig { autoreset_mode: 9, ..plain() }, "INVALID_FIELD", "config.autoreset_mode")
        .await;
    let policy = pb::SessionConfig { invalid_action_policy: -1, ..plain() };
    w.create(policy, "INVALID_FIELD", "config.invalid_action_policy").await;
    use pb::InvalidActionPolicy::{Ignore, Reject, Terminate};
    for (policy, reward) in [(Reject, -1.0), (Terminate, f64::NAN), (Ignore, f64::INFINITY), (Ignore, 1.1e15)]
    {
        let config = pb::SessionConfig {
            invalid_action_policy: policy.into(),
            invalid_action_reward: reward,
            ..plain()
        };
        w.create(config, "INVALID_FIELD", "config.invalid_action_reward").await;
    }
    let fields = pb::SessionConfig { observation_fields: field_names(&["board", "board"]), ..plain() };
    w.create(fields, "INVALID_FIELD", "config.observation_fields.names[1]").await;
    let infos = pb::SessionConfig { info_fields: field_names(&["lines", "lines"]), ..plain() };
    w.create(infos, "INVALID_FIELD", "config.info_fields.names[1]").await;
    let seeds = pb::SessionConfig { seeding: Some(seeding::from_seeds(vec![1])), ..plain() };
    w.create(seeds, "INVALID_FIELD", "config.seeding.seeds.seeds").await;
    let drawn = pb::SessionConfig { seeding: Some(seeding::from_drawn(7, 3)), ..plain() };
    w.create(drawn, "INVALID_FIELD", "config.seeding.drawn.count").await;
    let matrix = pb::SessionConfig { seeding: Some(seeding::from_seeds_per_policy(vec![1, 2])), ..plain() };
    w.create(matrix, "INVALID_FIELD", "config.seeding.seeds.per_policy").await;
    let none = pb::SessionConfig { seeding: Some(pb::Seeding { kind: None }), ..plain() };
    w.create(none, "INVALID_FIELD", "config.seeding").await;
    let sequences = |sequences: &[&str]| pb::SessionConfig {
        seeding: Some(seeding::from_sequences(sequences.iter().map(|&letters| letters.to_owned()).collect())),
        ..plain()
    };
    w.create(sequences(&["I", "O", "T"]), "INVALID_FIELD", "config.seeding.piece_sequences.sequences").await;
    w.create(sequences(&["I", ""]), "INVALID_FIELD", "config.seeding.piece_sequences.sequences[1]").await;
    w.create(sequences(&["IOTX"]), "INVALID_FIELD", "config.seeding.piece_sequences.sequences[0]").await;
    let holes = |lines_per_piece: f64, holes: &[&[u32]]| pb::SessionConfig {
        rules: Some(pb::Rules {
            garbage: Some(pb::Garbage { lines_per_piece: Some(lines_per_piece), ..Default::default() }),
            ..Default::default()
        }),
        seeding: Some(seeding::from_sequences_with_holes(
            vec!["IOT".to_owned(); 2],
            holes.iter().map(|columns| columns.to_vec()).collect(),
        )),
        ..plain()
    };
    let field = "config.seeding.piece_sequences.hole_columns";
    w.create(holes(1.0, &[&[0]]), "INVALID_FIELD", field).await;
    w.create(holes(0.0, &[&[0], &[]]), "INVALID_FIELD", field).await;
    w.create(holes(1.0, &[&[], &[9, 10]]), "INVALID_FIELD", &format!("{field}[1].columns[1]")).await;
    w.create(holes(1.0, &[&[1 << 31], &[]]), "INVALID_FIELD", &format!("{field}[0].columns[0]")).await;

    let bare = pb::StepRequest { session: name.clone(), ..Default::default() };
    let got = w.client.step(bare).await;
    w.field(got, "INVALID_FIELD", "actions").await;
    let got = w.client.step(step("", &[0, 0])).await;
    w.field(got, "INVALID_FIELD", "session").await;
    for (env_ids, field) in
        [(vec![1, 2], "envs.ids[1]"), (vec![1, 1], "envs.ids[1]"), (vec![u32::MAX], "envs.ids[0]")]
    {
        let actions = vec![0; env_ids.len()];
        let got =
            w.client.step(pb::StepRequest { envs: only(env_ids.clone()), ..step(&name, &actions) }).await;
        w.field(got, "INVALID_FIELD", field).await;
        let got = w.client.reset(pb::ResetRequest { envs: only(env_ids.clone()), ..reset(&name) }).await;
        w.field(got, "INVALID_FIELD", field).await;
        let got =
            w.client.save_state(pb::SaveStateRequest { envs: only(env_ids.clone()), ..save(&name) }).await;
        w.field(got, "INVALID_FIELD", field).await;
        let format = pb::RenderFormat::Ascii.into();
        let request = pb::RenderRequest {
            session: name.clone(),
            envs: only(env_ids.clone()),
            format,
            ..Default::default()
        };
        let got = w.client.render(request).await;
        w.field(got, "INVALID_FIELD", field).await;
        let envs = pb::SessionEnvs { session: name.clone(), envs: only(env_ids) };
        let got = w.client.enumerate_placements(enumerate(envs)).await;
        w.field(got, "INVALID_FIELD", &format!("session_envs.{field}")).await;
    }
    let got = w
        .client
        .reset(pb::ResetRequest { seeding: Some(seeding::from_seeds(vec![1])), ..reset(&name) })
        .await;
    w.field(got, "INVALID_FIELD", "seeding.seeds.seeds").await;
    let seeding = Some(seeding::from_sequences(vec!["I".to_owned(); 3]));
    let got = w.client.reset(pb::ResetRequest { seeding, ..reset(&name) }).await;
    w.field(got, "INVALID_FIELD", "seeding.piece_sequences.sequences").await;
    let seeding = Some(seeding::from_sequences_with_holes(vec!["I".to_owned()], vec![vec![0]]));
    let got = w.client.reset(pb::ResetRequest { seeding, ..reset(&name) }).await;
    w.field(got, "INVALID_FIELD", "seeding.piece_sequences.hole_columns").await;
    let got = w.client.reset(pb::ResetRequest { swap_sides: true, ..reset(&name) }).await;
    w.field(got, "INVALID_FIELD", "swap_sides").await;
    let unspecified = pb::RenderRequest { session: name.clone(), ..Default::default() };
    let got = w.client.render(unspecified).await;
    w.field(got, "INVALID_FIELD", "format").await;
    let got = w.client.enumerate_placements(pb::EnumeratePlacementsRequest::default()).await;
    w.field(got, "INVALID_FIELD", "source").await;
    let got = w.client.enumerate_placements(enumerate(pb::Positions::default())).await;
    w.field(got, "INVALID_FIELD", "positions").await;
    let envs = pb::SessionEnvs { session: name.clone(), ..Default::default() };
    let featureless = pb::EnumeratePlacementsRequest { include_position_features: true, ..enumerate(envs) };
    let got = w.client.enumerate_placements(featureless).await;
    w.field(got, "INVALID_FIELD", "include_position_features").await;

    let got =
        w.client.restore_state(pb::RestoreStateRequest { session: name.clone(), ..Default::default() }).await;
    w.field(got, "INVALID_FIELD", "positions").await;
    let drawn = |drawings: Vec<pb::Drawing>| positions::from_drawings(drawings);
    let got = w.client.restore_state(restore(&name, drawn(vec![drawing(&[], "I"); 3]))).await;
    w.field(got, "INVALID_FIELD", "positions").await;
    for piece in ["", "X", "IO"] {
        let got = w.client.restore_state(restore(&name, drawn(vec![drawing(&[], piece)]))).await;
        w.field(got, "INVALID_FIELD", "positions.drawings.drawings[0].piece").await;
    }
    let queued = pb::Drawing { queue: "I".into(), ..drawing(&[], "I") };
    let got = w.client.restore_state(restore(&name, drawn(vec![queued]))).await;
    w.field(got, "INVALID_FIELD", "positions.drawings.drawings[0].queue").await;
}

#[tokio::test]
async fn invalid_tensor_says_what_it_should_have_been() {
    let mut w = Witness::new().await;
    let name = w.name.clone();
    let tensors = [
        tensor::encode::<u8>(vec![2], &[0, 0]),
        tensor::encode::<i32>(vec![3], &[0, 0, 0]),
        tensor::encode::<i32>(vec![2, 1], &[0, 0]),
        tensor::encode::<i32>(vec![1], &[0]),
        pb::Tensor { values: vec![0.0, f64::NAN], ..Default::default() },
        pb::Tensor { values: vec![0.0, 0.5], ..Default::default() },
        pb::Tensor { data: Bytes::from_static(&[0; 7]), ..tensor::encode::<i32>(vec![2], &[0, 0]) },
        pb::Tensor::default(),
    ];
    for actions in tensors {
        let request = pb::StepRequest { actions: Some(actions), ..step(&name, &[]) };
        let got = w.client.step(request).await;
        w.field(got, "INVALID_TENSOR", "actions").await;
    }
    let boards = Some(tensor::encode::<u32>(vec![1, 20], &[0; 20]));
    let packed = pb::PackedPositions {
        boards,
        pieces: Some(tensor::encode::<u8>(vec![1], &[0])),
        queues: None,
        held: None,
    };
    let positions = positions::from_packed(packed);
    let got = w.client.restore_state(restore(&name, positions)).await;
    w.field(got, "INVALID_TENSOR", "positions.packed.boards").await;
}

#[tokio::test]
async fn invalid_rules_are_those_that_contradict_each_other() {
    let mut w = Witness::new().await;
    let by_keys = || pb::Rules { preset: "lab".into(), ..Default::default() };
    let rules = [
        pb::Rules { action_model: pb::ActionModel::Keypress.into(), ..Default::default() },
        pb::Rules { reach: pb::Reach::StraightDrop.into(), ..by_keys() },
        pb::Rules { orientation_table: pb::OrientationTable::Literature.into(), ..by_keys() },
    ];
    for rules in rules {
        let config = pb::SessionConfig { rules: Some(rules), ..config(1, 1) };
        w.create(config, "INVALID_RULES", "config.rules").await;
    }
}

#[tokio::test]
async fn keys_are_refused_when_they_are_none_and_no_piece_falls_where_pieces_are_placed() {
    let rules = || Some(pb::Rules { preset: "lab".into(), ..Default::default() });
    let mut w = Witness::of(pb::SessionConfig { rules: rules(), ..config(2, 11) }).await;
    let name = w.name.clone();
    for (actions, field) in [([0, 6], "actions[1]"), ([-1, 5], "actions[0]")] {
        let got = w.client.step(step(&name, &actions)).await;
        w.field(got, "ACTION_OUT_OF_RANGE", field).await;
    }
    for (fields, path) in [
        (vec!["board", "falling"], "config.observation_fields.names[1]"),
        (vec!["falling_cells"], "config.observation_fields.names[0]"),
    ] {
        let falls = pb::SessionConfig { observation_fields: field_names(&fields), ..config(2, 11) };
        w.create(falls.clone(), "INVALID_FIELD", path).await;
        let session = create(&mut w.client, pb::SessionConfig { rules: rules(), ..falls }).await;
        let request = pb::DeleteSessionRequest { name: session.name, allow_missing: false };
        w.client.delete_session(request).await.unwrap();
    }
    let blocked = positions::from_drawings(vec![drawing(&["....######"; 20], "T")]);
    let got = w.client.restore_state(restore(&name, blocked)).await;
    w.field(got, "INVALID_POSITION", "positions.drawings.drawings[0]").await;
}

#[tokio::test]
async fn invalid_position_says_where() {
    let mut w = Witness::new().await;
    let name = w.name.clone();
    let rows_of = |drawings: Vec<pb::Drawing>| positions::from_drawings(drawings);
    let narrow = rows_of(vec![drawing(&[], "I"), drawing(&["#########"], "I")]);
    let got = w.client.restore_state(restore(&name, narrow.clone())).await;
    w.field(got, "INVALID_POSITION", "positions.drawings.drawings[1].rows").await;
    let got = w.client.enumerate_placements(enumerate(narrow)).await;
    w.field(got, "INVALID_POSITION", "positions.drawings.drawings[1].rows").await;
    let high = rows_of(vec![drawing(&[".........."; 21], "I")]);
    let got = w.client.restore_state(restore(&name, high)).await;
    w.field(got, "INVALID_POSITION", "positions.drawings.drawings[0].rows").await;
    let mut rows = [0u16; 40];
    rows[25] = 1 << 10;
    let packed = pb::PackedPositions {
        boards: Some(tensor::encode(vec![2, 20], &rows)),
        pieces: Some(tensor::encode::<u8>(vec![2], &[0, 6])),
        queues: None,
        held: None,
    };
    let outside = positions::from_packed(packed.clone());
    let got = w.client.restore_state(restore(&name, outside)).await;
    w.field(got, "INVALID_POSITION", "positions.packed.boards[1]").await;
    let boards = Some(tensor::encode(vec![2, 20], &[0u16; 40]));
    let pieces = Some(tensor::encode::<u8>(vec![2], &[0, 7]));
    let no_piece = pb::PackedPositions { boards: boards.clone(), pieces, ..packed.clone() };
    let positions = positions::from_packed(no_piece);
    let got = w.client.restore_state(restore(&name, positions)).await;
    w.field(got, "INVALID_FIELD", "positions.packed.pieces[1]").await;
}

#[tokio::test]
async fn actions_out_of_range_are_listed_up_to_sixteen() {
    for policy in [pb::InvalidActionPolicy::Reject, pb::InvalidActionPolicy::Terminate] {
        let policy = pb::SessionConfig { invalid_action_policy: policy.into(), ..config(40, 4) };
        let server = start().await;
        let mut client = server.client().await;
        let name = create(&mut client, policy).await.name;
        let first = client.reset(reset(&name)).await.unwrap().into_inner();
        let mut actions = [0; 40];
        for row in (1..40).step_by(2) {
            actions[row] = if row % 4 == 1 { 40 } else { -1 };
        }
        let reported =
            refused(client.step(step(&name, &actions)).await, Code::InvalidArgument, "ACTION_OUT_OF_RANGE");
        assert_eq!(reported.fields().len(), 16);
        assert_eq!(reported.fields()[..2], ["actions[1]", "actions[3]"]);
        assert_eq!(reported.metadata("count"), "20");
        let zeros = client.step(step(&name, &[0; 40])).await.unwrap().into_inner();
        assert_eq!((zeros.sequence_number, first.sequence_number), (2, 1));
        assert_eq!(crate::support::numbers(&zeros.infos[1]), [1.0; 40], "the first piece of each");
    }
}

#[tokio::test]
async fn an_illegal_action_moves_no_environment_under_reject() {
    let mut w = Witness::new().await;
    // No piece fits into column 9 in orientation 3, which only T, J and L have.
    let got = w.client.step(step(&w.name.clone(), &[0, 39])).await;
    let reported = w.refused(got, Code::InvalidArgument, "ILLEGAL_ACTION").await;
    assert_eq!((reported.fields(), reported.metadata("count")), (vec!["actions[1]"], "1"));
}

#[tokio::test]
async fn nothing_goes_on_before_the_first_reset() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(20, 4)).await.name;
    let refuse = |reported: RefusalDetails| {
        assert_eq!(reported.metadata("count"), "20");
        assert_eq!(reported.metadata("env_ids"), "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
    };
    refuse(refused(client.step(step(&name, &[0; 20])).await, Code::FailedPrecondition, "NOT_RESET"));
    refuse(refused(client.save_state(save(&name)).await, Code::FailedPrecondition, "NOT_RESET"));
    let format = pb::RenderFormat::Lab.into();
    let request = pb::RenderRequest { session: name.clone(), envs: None, format, ..Default::default() };
    refuse(refused(client.render(request).await, Code::FailedPrecondition, "NOT_RESET"));
    let envs = pb::SessionEnvs { session: name.clone(), ..Default::default() };
    refuse(refused(
        client.enumerate_placements(enumerate(envs)).await,
        Code::FailedPrecondition,
        "NOT_RESET",
    ));
    // One of two.
    client.reset(pb::ResetRequest { envs: only([3]), ..reset(&name) }).await.unwrap();
    let both = pb::StepRequest { envs: only([3, 7]), ..step(&name, &[0, 0]) };
    let reported = refused(client.step(both).await, Code::FailedPrecondition, "NOT_RESET");
    assert_eq!(reported.metadata("env_ids"), "7");
    let one = pb::StepRequest { envs: only([3]), ..step(&name, &[0]) };
    assert_eq!(client.step(one).await.unwrap().into_inner().sequence_number, 2);
}

#[tokio::test]
async fn an_ended_episode_waits_for_its_reset_in_disabled_mode() {
    let mode = pb::AutoresetMode::Disabled.into();
    let ending = pb::SessionConfig { autoreset_mode: mode, max_episode_steps: 2, ..config(2, 11) };
    let mut w = Witness::of(ending).await;
    let name = w.name.clone();
    let half = pb::StepRequest { envs: only([1]), ..step(&name, &[0]) };
    let ended = w.client.step(half).await.unwrap().into_inner();
    assert_eq!(crate::support::numbers(&ended.truncated.unwrap()), [1.0]);
    w.before = w.everything().await;
    let got = w.client.step(step(&name, &[0, 0])).await;
    let reported = w.refused(got, Code::FailedPrecondition, "EPISODE_ENDED").await;
    assert_eq!((reported.metadata("env_ids"), reported.metadata("count")), ("1", "1"));
    w.client.reset(pb::ResetRequest { envs: only([1]), ..reset(&name) }).await.unwrap();
    w.client.step(step(&name, &[0, 0])).await.expect("it goes on after its reset");
}

#[tokio::test]
async fn an_answer_that_would_be_too_large_is_refused_before_the_work() {
    let mut w = Witness::new().await;
    let cramped = pb::SessionConfig { max_response_bytes: 20_000, ..config(200, 1) };
    let request = pb::CreateSessionRequest { config: Some(cramped), ..Default::default() };
    let got = w.client.create_session(request).await;
    let reported = w.refused(got, Code::InvalidArgument, "RESPONSE_TOO_LARGE").await;
    assert_eq!(reported.metadata("max_bytes"), "20000");
    assert!(reported.metadata("max_rows").parse::<u32>().unwrap() < 100, "{}", reported.metadata("max_rows"));
    let envs = pb::SessionEnvs { session: w.name.clone(), ..Default::default() };
    let cramped = pb::EnumeratePlacementsRequest { max_response_bytes: 500, ..enumerate(envs) };
    let got = w.client.enumerate_placements(cramped).await;
    let reported = w.refused(got, Code::InvalidArgument, "RESPONSE_TOO_LARGE").await;
    assert_eq!(reported.metadata("max_bytes"), "500");
}

#[tokio::test]
async fn whatever_a_request_says_its_error_stays_small() {
    let server = start().await;
    let mut client = server.client().await;
    // The longest names that the server looks up, and some longer ones; `reported` checks the size of the details.
    let long = "\u{1F600}".repeat(32);
    let endless = "\u{1F600}".repeat(1 << 20);
    for name in [long, endless] {
        let set = features::from_set(&name);
        let list = features::from_names(vec![name.clone()]);
        let version =
            pb::FeatureSelection { feature_set_version: name.clone(), ..features::from_set("bcts8") };
        let rules = pb::Rules { preset: name.clone(), ..Default::default() };
        let configs = [
            pb::SessionConfig { features: Some(set), ..config(1, 1) },
            pb::SessionConfig { features: Some(list), ..config(1, 1) },
            pb::SessionConfig { features: Some(version), ..config(1, 1) },
            pb::SessionConfig { rules: Some(rules), ..config(1, 1) },
            pb::SessionConfig { observation_fields: field_names(&[&name]), ..config(1, 1) },
            pb::SessionConfig { info_fields: field_names(&[&name]), ..config(1, 1) },
            pb::SessionConfig { seeding: Some(seeding::from_sequences(vec![name.clone()])), ..config(1, 1) },
        ];
        for config in configs {
            let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
            tetrion_service_testing::refusal_of(&client.create_session(request).await.unwrap_err());
        }
        tetrion_service_testing::refusal_of(&client.step(step(&name, &[0])).await.unwrap_err());
        let request = pb::ListSessionsRequest { page_size: 0, page_token: name.clone() };
        tetrion_service_testing::refusal_of(&client.list_sessions(request).await.unwrap_err());
        let drawn =
            positions::from_drawings(vec![pb::Drawing { piece: name.clone(), ..drawing(&[&name], "I") }]);
        tetrion_service_testing::refusal_of(
            &client.enumerate_placements(enumerate(drawn)).await.unwrap_err(),
        );
        let request = pb::GetSessionRequest { name: format!("sessions/{name}") };
        tetrion_service_testing::refusal_of(&client.get_session(request).await.unwrap_err());
    }
    assert_eq!(server.store.num_sessions(), 0);
}

#[test]
fn the_table_in_the_proto_file_is_the_table_of_the_service() {
    let proto = include_str!("../../../../../../proto/tetrion/v1/environment_service.proto");
    let service = include_str!("../../../../status.rs");
    let codes = [
        "INVALID_ARGUMENT",
        "UNAUTHENTICATED",
        "PERMISSION_DENIED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "FAILED_PRECONDITION",
        "ABORTED",
        "RESOURCE_EXHAUSTED",
        "DEADLINE_EXCEEDED",
        "UNAVAILABLE",
        "UNIMPLEMENTED",
        "INTERNAL",
    ];
    let written: BTreeSet<(String, String)> = proto
        .lines()
        .filter_map(|line| line.strip_prefix("//   "))
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.len() > 2 && codes.contains(&words[0]))
        .map(|words| (words[0].replace('_', "").to_lowercase(), words[1].to_owned()))
        .collect();
    assert!(written.len() > 20, "{written:?}");
    // `Row::new(InvalidArgument, "ILLEGAL_ACTION")`, or a reason by itself where several share a row.
    let mut done = BTreeSet::new();
    let mut code = String::new();
    for (i, quoted) in service.split('"').enumerate() {
        if i % 2 == 0 {
            if let Some((_, after)) = quoted.rsplit_once("Row::new(") {
                code = after.trim().trim_end_matches(',').to_lowercase();
            } else if quoted.contains("Fault::") {
                code = "invalidargument".to_owned();
            }
        } else if quoted.len() > 3 && quoted.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
            done.insert((code.clone(), quoted.to_owned()));
        }
    }
    assert_eq!(done, written);
}
