//! GetServerInfo: requests may use what it names, and the server refuses what it does not name as not built.

use std::time::Duration;

use tetrion::engine::RULES_VERSION;
use tetrion::features::FeatureSet;
use tetrion::server::ServerConfig;
use tetrion::service::{EvaluationCapacity, NetworkLimits, StoreLimits};
use tetrion::wire::pb;
use tetrion::wire::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::wire::pb::evaluate_policies_request::Games;
use tonic::Code;
use tonic::transport::Channel;

use crate::evaluation::{Client, ask, connect_with};

async fn info(channel: &Channel, width: u32) -> Result<pb::GetServerInfoResponse, Code> {
    let request = pb::GetServerInfoRequest { width };
    let answer = EnvironmentServiceClient::new(channel.clone()).get_server_info(request).await;
    answer.map(tonic::Response::into_inner).map_err(|status| status.code())
}

#[tokio::test]
async fn it_reports_what_it_was_started_with() {
    let evaluations = EvaluationCapacity {
        max_evaluations: 7,
        max_per_caller: 5,
        memory: 88,
        max_unread: Duration::from_secs(3),
    };
    let max_call_work = Duration::from_secs(90);
    let network = NetworkLimits {
        max_calls: 9,
        request_memory: 200 << 20,
        answer_memory: 300 << 20,
        ..NetworkLimits::default()
    };
    let store = StoreLimits { memory: 77, ..StoreLimits::default() };
    let config = ServerConfig {
        num_threads: 3,
        evaluations,
        max_call_work,
        network,
        store,
        ..ServerConfig::default()
    };
    let (channel, _guard) = connect_with(config).await;
    let info = info(&channel, 0).await.unwrap();
    assert_eq!(
        (info.server_version.as_str(), info.rules_version.as_str()),
        (env!("CARGO_PKG_VERSION"), RULES_VERSION)
    );
    assert_eq!(info.num_threads, 3);
    let limits = info.limits.unwrap();
    assert_eq!((limits.max_evaluations, limits.max_sessions, limits.max_envs), (7, 1024, 262_144));
    assert_eq!(limits.max_evaluations_per_caller, 5);
    assert_eq!((limits.max_sessions_per_caller, limits.max_envs_per_caller), (1024, 262_144));
    assert_eq!((limits.max_unread_time.unwrap().seconds, limits.max_call_work.unwrap().seconds), (3, 90));
    assert_eq!((limits.max_connections, limits.max_calls, limits.max_calls_per_connection), (1024, 9, 1024));
    assert_eq!(limits.max_connections_per_address, 512);
    assert_eq!((limits.request_memory, limits.request_memory_per_connection), (200 << 20, 200 << 20));
    assert_eq!((limits.session_memory, limits.evaluation_memory), (77, 88));
    assert_eq!((limits.max_hidden_layers, limits.max_hidden_units), (4, 256));
    assert_eq!((limits.max_tuples, limits.max_tuple_positions), (256, 16));
    assert_eq!((limits.max_model_parameters, limits.max_request_parameters), (1 << 20, 1 << 22));
    assert_eq!(limits.max_model_work, 1 << 17);
    assert_eq!((limits.max_recorded_games, limits.max_recorded_steps), (16, 1 << 20));
    assert_eq!((limits.min_loss_trials, limits.max_loss_trials), (16, 1024));
    assert_eq!((limits.max_watches, limits.max_watches_per_session), (256, 8));
    assert_eq!(limits.max_watches_per_caller, 64);
    assert_eq!((limits.max_watched_envs, limits.max_frames_per_second), (64, 60));
    assert_eq!(limits.max_keys, 64);
    assert_eq!((limits.answer_memory, limits.answer_memory_per_connection), (300 << 20, 256 << 20));
    let seconds = |timeout: Option<prost_types::Duration>| timeout.map(|timeout| timeout.seconds);
    assert_eq!(
        [limits.first_request_timeout, limits.request_timeout, limits.answer_timeout, limits.idle_timeout]
            .map(seconds),
        [Some(30), Some(30), Some(600), Some(900)]
    );
    assert_eq!((limits.min_width, limits.max_width, limits.min_height, limits.max_height), (4, 32, 4, 40));
    assert_eq!(limits.default_ttl.unwrap().seconds, 600);
}

/// Names have underscores between their words. Only a controller's proper name may have hyphens, as `dt-10` has.
#[tokio::test]
async fn every_name_it_lists_is_spelled_by_one_rule() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    let info = info(&channel, 0).await.unwrap();
    let names: Vec<&str> = (info.rules_presets.iter().map(|preset| &preset.name))
        .chain(info.piece_sets.iter().map(|set| &set.name))
        .chain(info.features.iter().map(|feature| &feature.name))
        .chain(info.feature_sets.iter().map(|set| &set.name))
        .chain(info.observation_fields.iter().chain(&info.info_fields).map(|field| &field.name))
        .chain(info.agents.iter().map(|agent| &agent.name))
        .chain(info.agents.iter().flat_map(|agent| &agent.parameters).map(|parameter| &parameter.name))
        .map(String::as_str)
        .collect();
    let controllers: Vec<&str> = info.controllers.iter().map(|controller| controller.name.as_str()).collect();
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    for name in &names {
        assert!(name.split('_').all(is_word), "{name}");
    }
    for name in &controllers {
        assert!(name.split(['_', '-']).all(is_word), "{name}");
    }
    let agents = info.agents.iter().map(|agent| agent.name.as_str());
    let mut players: Vec<String> =
        controllers.iter().copied().chain(agents).map(|name| name.replace('-', "_")).collect();
    players.sort();
    for pair in players.windows(2) {
        assert_ne!(pair[0], pair[1], "two players of nearly one name");
    }
}

#[tokio::test]
async fn feature_sets_are_written_out_for_the_width_asked_for() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    for (width, columns) in [(0, 21), (4, 9), (32, 65)] {
        let info = info(&channel, width).await.unwrap();
        let bertsekas = info.feature_sets.iter().find(|set| set.name == "bertsekas").unwrap();
        // A height a column, a difference a pair, the maximum and the holes.
        assert_eq!(bertsekas.columns.len(), columns, "width {width}");
        assert_eq!(bertsekas.features[0], "column_height");
    }
    for width in [3, 33, 300] {
        assert_eq!(info(&channel, width).await, Err(Code::InvalidArgument), "width {width}");
    }
}

#[tokio::test]
async fn every_feature_it_names_exists_in_the_form_it_says() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    let info = info(&channel, 10).await.unwrap();
    assert!(info.features.len() > 40);
    for feature in &info.features {
        let stage = if feature.name.ends_with("_preclear") {
            pb::FeatureStage::BeforeClearing
        } else {
            pb::FeatureStage::AfterClearing
        };
        assert!([stage, pb::FeatureStage::Landing].contains(&feature.stage()), "{feature:?}");
        let member = |i: u32| format!("{}[{i}]", feature.name);
        let (name, last) = match feature.family() {
            pb::FeatureFamily::Single => (feature.name.clone(), None),
            pb::FeatureFamily::Columns => (member(9), Some(member(10))),
            pb::FeatureFamily::ColumnPairs => (member(8), Some(member(9))),
            pb::FeatureFamily::Fixed => (member(feature.size - 1), Some(member(feature.size))),
            pb::FeatureFamily::Unspecified => panic!("{feature:?}"),
        };
        assert_eq!(feature.size > 0, feature.family() == pb::FeatureFamily::Fixed, "{feature:?}");
        assert_eq!(FeatureSet::custom(&[&name], 10).map(|set| set.names()), Ok(vec![name]));
        assert!(last.is_none_or(|last| FeatureSet::custom(&[last], 10).is_err()), "{feature:?}");
        assert!(!feature.formula.is_empty() && !feature.source.is_empty(), "{feature:?}");
    }
}

#[tokio::test]
async fn every_controller_and_every_preset_can_be_played() {
    let (channel, _guard) = connect_with(ServerConfig { num_threads: 2, ..ServerConfig::default() }).await;
    let info = info(&channel, 0).await.unwrap();
    let request = |agent: pb::Agent, rules: pb::Rules| pb::EvaluatePoliciesRequest {
        rules: Some(rules),
        agents: vec![agent],
        games: Some(Games::SeedRange(pb::SeedRange { seed: 1, count: 1 })),
        max_pieces: 3,
        ..Default::default()
    };
    for controller in &info.controllers {
        let width = if controller.width == 0 { 10 } else { controller.width };
        // A controller that weighs two pieces must see the first of them.
        let pieces = controller.expectation.map_or(1, |own| own.pieces());
        let rules = pb::Rules { width: Some(width), preview: Some(pieces - 1), ..Default::default() };
        let agent = pb::Agent { name: controller.name.clone(), ..Default::default() };
        let answer = ask(&mut Client::new(channel.clone()), request(agent, rules)).await.unwrap();
        let [echo] = answer.started.agents.try_into().unwrap();
        assert_eq!(echo.weights, controller.weights, "{}", controller.name);
        assert_eq!(echo.terminal_value, controller.terminal_value, "{}", controller.name);
        assert_eq!(echo.expectation, controller.expectation, "{}", controller.name);
        let features = echo.features.unwrap();
        assert_eq!(
            (features.feature_set, features.feature_set_version),
            (controller.feature_set.clone(), controller.feature_set_version.clone())
        );
    }
    let bcts = pb::Agent { name: "bcts".to_owned(), ..Default::default() };
    for preset in &info.rules_presets {
        let config = pb::SessionConfig { rules: preset.rules.clone(), ..Default::default() };
        let create = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
        let made = EnvironmentServiceClient::new(channel.clone()).create_session(create).await;
        assert!(made.is_ok(), "{}: {made:?}", preset.name);
        let answer =
            ask(&mut Client::new(channel.clone()), request(bcts.clone(), preset.rules.clone().unwrap()))
                .await;
        assert_eq!(answer.unwrap().started.rules, preset.rules, "{}", preset.name);
    }
    let sets: Vec<&str> = info.piece_sets.iter().map(|set| set.name.as_str()).collect();
    assert_eq!(sets, ["tetrominoes", "melax", "trominoes", "sz", "pentominoes"]);
    assert_eq!(info.piece_sets[1].pieces, "M=X D=XX X=.X/X. L=.X/XX O=XX/XX");
    for set in &info.piece_sets {
        for piece_set in [&set.name, &set.pieces] {
            let rules = pb::Rules { piece_set: piece_set.clone(), ..Default::default() };
            let answer = ask(&mut Client::new(channel.clone()), request(bcts.clone(), rules)).await.unwrap();
            assert_eq!(answer.started.rules.unwrap().piece_set, *piece_set);
        }
    }
}
