//! What the settings do, and that the tables of the proto file are those of the code.

use tetrion_core::engine::RulesField;
use tetrion_protocol::dm_env_rpc::pb as dm;
use tetrion_protocol::dm_env_rpc::pb::tensor::{self, Payload};
use tetrion_protocol::dm_env_rpc::settings::SETTINGS;
use tetrion_protocol::pb::feature_selection::Kind;
use tetrion_protocol::{pb, seeding};
use tonic::Code;

use super::{
    Connection, INTERRUPTED, RUNNING, Settings, TERMINATED, double, int32, int64, refusal_of, scalar,
    settings, shaped, text, uint64,
};
use tetrion_service_testing::{config, create, field_names, numbers, reset, start, step};

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
        ("piece_set", text("tetrominoes")),
        ("preview", scalar(Payload::Int8s(tensor::Int8Array { array: vec![2].into() }))),
        ("randomizer", text("bag7")),
        ("action_model", text("keypress")),
        ("top_out", text("overflow")),
        ("orientation_table", text("guideline")),
        ("reach", text("moves")),
        ("rows_above", int64(3)),
        ("rotation_system", text("srs_plus")),
        ("half_turns", text("cobra")),
        ("spin_rule", text("all_spins")),
        ("spawn_row", int64(12)),
        ("hold", int64(1)),
        ("clear_points", text("attack")),
        ("attack_table", text("cold_clear")),
        ("fall_delay", int64(7)),
        ("lock_delay", int32(8)),
        ("lock_resets", int64(0)),
        ("garbage.lines_per_piece", double(1.5)),
        ("garbage.hole_move_chance", int32(1)),
        ("garbage.delay_pieces", int64(7)),
        ("scoring.piece", double(0.5)),
        ("scoring.lines", scalar(Payload::Floats(tensor::FloatArray { array: vec![1.0, 2.0, 4.0, 8.0] }))),
        ("scoring.game_end", int32(-3)),
        ("features", row(&["holes", "column_height"])),
        ("max_episode_steps", scalar(Payload::Uint32s(tensor::Uint32Array { array: vec![99] }))),
        ("invalid_action_policy", text("ignore")),
        ("invalid_action_reward", double(-0.5)),
        ("label", text("agent 7")),
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
    assert_eq!((rules.preset.as_str(), rules.width, rules.height, rules.preview()), ("genetic", 12, 18, 2));
    assert_eq!(rules.randomizer(), pb::Randomizer::Bag7);
    assert_eq!(rules.action_model(), pb::ActionModel::Keypress);
    assert_eq!((rules.fall_delay, rules.lock_delay, rules.lock_resets()), (7, 8, 0));
    let garbage =
        pb::Garbage { lines_per_piece: Some(1.5), hole_move_chance: Some(1.0), delay_pieces: Some(7) };
    assert_eq!(rules.garbage, Some(garbage));
    assert_eq!(rules.top_out(), pb::TopOut::Overflow);
    assert_eq!(rules.orientation_table(), pb::OrientationTable::Guideline);
    assert_eq!(rules.reach(), pb::Reach::Moves);
    assert_eq!((rules.rows_above(), rules.hold(), rules.spawn_row), (3, true, Some(12)));
    assert_eq!(rules.rotation_system(), pb::RotationSystem::SrsPlus);
    assert_eq!(rules.half_turns(), pb::HalfTurns::Cobra);
    assert_eq!(rules.spin_rule(), pb::SpinRule::AllSpins);
    assert_eq!(rules.clear_points(), pb::ClearPoints::Attack);
    assert_eq!(rules.attack_table(), pb::AttackTable::ColdClear);
    assert_eq!((scoring.piece(), scoring.game_end()), (0.5, -3.0));
    assert_eq!(scoring.lines, [1.0, 2.0, 4.0, 8.0]);
    let Some(Kind::Names(list)) = config.features.unwrap().kind else { panic!("a list of features") };
    assert_eq!(list.names.len(), 13);
    assert_eq!((config.max_episode_steps, session.ttl.unwrap().seconds), (99, 60));
    assert_eq!(config.autoreset_mode, i32::from(pb::AutoresetMode::Disabled));
    assert_eq!(config.invalid_action_policy, i32::from(pb::InvalidActionPolicy::Ignore));
    assert_eq!((config.invalid_action_reward, config.label.as_str()), (-0.5, "agent 7"));

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
    let rules = pb::Rules { preset: "lab".into(), height: 8, ..Default::default() };
    let fields = ["board", "current", "falling", "falling_cells"];
    let session = create(
        &mut client,
        pb::SessionConfig {
            seeding: Some(seeding::from_seeds(vec![3])),
            rules: Some(rules),
            observation_fields: field_names(&fields),
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
    let file = include_str!("../../../../../proto/dm_env_rpc/v1/dm_env_rpc.proto");
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
    let settings = SETTINGS.iter().filter(|setting| RulesField::named(setting.name).is_none());
    let settings: Vec<_> = settings.map(|setting| (setting.name, setting.takes)).collect();
    let reported: Vec<_> = reported.into_iter().filter(|(name, _)| *name != "width, height, ...").collect();
    assert_eq!(reported, settings);
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
    // And one in which a piece can be held, clears are worth more than their lines, keys steer, and rows rise.
    let mut other = Connection::open(&server).await;
    let modern = settings([
        ("preset", text("guideline")),
        ("action_model", text("keypress")),
        ("garbage.lines_per_piece", int32(1)),
    ]);
    let held = other.create(modern).await.unwrap();
    let specs = other.join(&held).await.unwrap();
    reported.extend(rows(&specs).into_iter().filter(|(uid, ..)| uid.parse::<u64>().unwrap() >= 19));
    reported.sort_by_key(|(uid, ..)| uid.parse::<u64>().unwrap());
    reported.dedup();
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
        "steps",
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
