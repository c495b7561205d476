//! GetServerInfo and GetCatalog: requests may use what the catalog names, and the server refuses other names.

use std::time::Duration;

use tetrion_core::agents::{AGENTS, CONTROLLERS};
use tetrion_core::engine::RULES_VERSION;
use tetrion_core::features::FeatureSet;
use tetrion_protocol::limits::MAX_FEATURES;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_protocol::pb::policy::Kind;
use tetrion_protocol::pb::search::Method;
use tetrion_protocol::{features, pb, seeding};
use tetrion_server::ServerConfig;
use tetrion_service::ServerLimits;
use tonic::transport::Channel;
use tonic::{Code, Status};

use tetrion_service_testing::evaluations::{Client, ask, named};
use tetrion_service_testing::refused;
use tetrion_service_testing::servers::connect_with;

async fn catalog(channel: &Channel, width: u32) -> Result<pb::GetCatalogResponse, Status> {
    let request = pb::GetCatalogRequest { width };
    let answer = EnvironmentServiceClient::new(channel.clone()).get_catalog(request).await;
    answer.map(tonic::Response::into_inner)
}

#[tokio::test]
async fn it_reports_what_it_was_started_with() {
    let limits = ServerLimits {
        max_evaluations: 7,
        max_evaluations_per_caller: 5,
        max_unread_time: Duration::from_secs(3),
        max_call_work: Duration::from_secs(90),
        ..ServerLimits::default()
    };
    let config = ServerConfig { num_threads: 3, limits, ..ServerConfig::default() };
    let (channel, _guard) = connect_with(config).await;
    let request = pb::GetServerInfoRequest {};
    let info = EnvironmentServiceClient::new(channel).get_server_info(request).await.unwrap().into_inner();
    assert_eq!(
        (info.server_version.as_str(), info.rules_version.as_str(), info.protocol_revision),
        (env!("CARGO_PKG_VERSION"), RULES_VERSION, 1)
    );
    assert_eq!(info.num_threads, 3);
    assert_eq!(
        info.limits.unwrap(),
        pb::Limits {
            sessions: Some(pb::SessionLimits {
                max_sessions: 1024,
                max_sessions_per_caller: 1024,
                max_envs: 262_144,
                max_envs_per_caller: 262_144,
                max_envs_per_session: 65_536,
                default_ttl: seconds(600),
                max_ttl: seconds(86_400),
                max_page_size: 1000,
                max_stream_requests: 64,
            }),
            rules: Some(pb::RulesLimits {
                min_width: 4,
                max_width: 32,
                min_height: 4,
                max_height: 40,
                max_preview: 6,
                max_sequence_pieces: 100_000,
                max_request_sequence_pieces: 1_000_000,
                max_points: 1e15,
            }),
            evaluations: Some(pb::EvaluationLimits {
                max_evaluations: 7,
                max_evaluations_per_caller: 5,
                max_policies: 16_384,
                max_games: 1 << 20,
                max_pieces: 1_000_000_000,
                max_steps: 1_000_000_000,
                max_playouts: 100_000,
                max_lookahead: 2,
                max_recorded_games: 16,
                max_recorded_steps: 1 << 20,
                min_loss_trials: 16,
                max_loss_trials: 1024,
                min_progress_interval: Some(prost_types::Duration { seconds: 0, nanos: 50_000_000 }),
            }),
            models: Some(pb::ModelLimits {
                max_features: MAX_FEATURES,
                max_weight: 1e300,
                max_hidden_layers: 4,
                max_hidden_units: 256,
                max_tuples: 256,
                max_tuple_positions: 16,
                max_model_parameters: 1 << 22,
                max_request_parameters: 1 << 22,
                max_model_work: 1 << 17,
            }),
            messages: Some(pb::MessageLimits {
                max_request_bytes: 64 << 20,
                max_small_request_bytes: 2 << 20,
                max_decoded_bytes: 128 << 20,
                default_response_bytes: 4 << 20,
                max_response_bytes: 64 << 20,
                max_name_bytes: 128,
                max_state_bytes: 103_072,
                max_positions: 65_536,
                max_keys: 64,
                max_call_work: seconds(90),
                max_unread_time: seconds(3),
            }),
            formulas: Some(pb::FormulaLimits {
                max_formula_bytes: 4096,
                max_formula_depth: 64,
                max_formula_cost: 256,
            }),
            watches: Some(pb::WatchLimits {
                max_watches: 256,
                max_watches_per_caller: 64,
                max_watches_per_session: 8,
                max_watched_envs: 64,
                max_frames_per_second: 60,
            }),
        }
    );
}

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

#[tokio::test]
async fn every_field_has_a_type_and_dimensions() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    let catalog = catalog(&channel, 0).await.unwrap();
    let fields: Vec<_> = catalog.observation_fields.iter().chain(&catalog.info_fields).collect();
    assert!(fields.iter().all(|field| field.dtype() != pb::DataType::Unspecified));
    let of = |name: &str| {
        let field = fields.iter().find(|field| field.name == name).unwrap();
        (field.dtype(), field.dims.join(", "))
    };
    assert_eq!(of("board"), (pb::DataType::Uint8, "height, width".to_owned()));
    assert_eq!(of("board_bits"), (pb::DataType::Uint16, "height".to_owned()));
    assert_eq!(of("queue"), (pb::DataType::Int8, "preview".to_owned()));
    assert_eq!(of("garbage"), (pb::DataType::Uint8, "garbage.delay_pieces + 1".to_owned()));
    assert_eq!(of("falling_cells"), (pb::DataType::Int8, "4, 2".to_owned()));
    assert_eq!(of("episode_return"), (pb::DataType::Float64, String::new()));
}

/// Names have underscores between their words. Only a controller's proper name may have hyphens, as `dt-10` has.
#[tokio::test]
async fn every_name_it_lists_is_spelled_by_one_rule() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    let catalog = catalog(&channel, 0).await.unwrap();
    let names: Vec<&str> = (catalog.rules_presets.iter().map(|preset| &preset.name))
        .chain(catalog.piece_sets.iter().map(|set| &set.name))
        .chain(catalog.features.iter().map(|feature| &feature.name))
        .chain(catalog.feature_sets.iter().map(|set| &set.name))
        .chain(catalog.observation_fields.iter().chain(&catalog.info_fields).map(|field| &field.name))
        .chain(catalog.policies.iter().filter(|policy| policy.search.is_none()).map(|policy| &policy.name))
        .map(String::as_str)
        .chain(
            catalog
                .policies
                .iter()
                .flat_map(|policy| policy.parameters.iter().flat_map(|path| path.split('.'))),
        )
        .collect();
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    for name in &names {
        assert!(name.split('_').all(is_word), "{name}");
    }
    for policy in &catalog.policies {
        assert!(policy.name.split(['_', '-']).all(is_word), "{}", policy.name);
    }
    let mut policies: Vec<String> =
        catalog.policies.iter().map(|policy| policy.name.replace('-', "_")).collect();
    policies.sort();
    for pair in policies.windows(2) {
        assert_ne!(pair[0], pair[1], "two policies of nearly one name");
    }
}

#[tokio::test]
async fn feature_sets_are_written_out_for_the_width_asked_for() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    for (width, columns) in [(0, 21), (4, 9), (32, 65)] {
        let catalog = catalog(&channel, width).await.unwrap();
        let bertsekas = catalog.feature_sets.iter().find(|set| set.name == "bertsekas").unwrap();
        // A height a column, a difference a pair, the maximum and the holes.
        assert_eq!(bertsekas.columns.len(), columns, "width {width}");
        assert_eq!(bertsekas.features[0], "column_height");
    }
    for width in [3, 33, 300] {
        let refusal = refused(catalog(&channel, width).await, Code::InvalidArgument, "INVALID_FIELD");
        assert_eq!(refusal.message, format!("width: is {width}, expected 4 to 32, or 0"));
    }
}

#[tokio::test]
async fn every_feature_it_names_exists_in_the_form_it_says() {
    let (channel, _guard) = connect_with(ServerConfig::default()).await;
    let catalog = catalog(&channel, 10).await.unwrap();
    assert!(catalog.features.len() > 40);
    for feature in &catalog.features {
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
async fn every_policy_and_every_preset_can_be_played() {
    let (channel, _guard) = connect_with(ServerConfig { num_threads: 2, ..ServerConfig::default() }).await;
    let catalog = catalog(&channel, 0).await.unwrap();
    let request = |policy: pb::Policy, rules: pb::Rules| pb::EvaluatePoliciesRequest {
        rules: Some(rules),
        policies: vec![policy],
        seeding: Some(seeding::from_drawn(1, 1)),
        max_pieces: 3,
        ..Default::default()
    };
    let mut controllers = 0;
    for listed in &catalog.policies {
        let get = pb::GetPolicyRequest { name: listed.name.clone() };
        let got = EnvironmentServiceClient::new(channel.clone()).get_policy(get).await.unwrap().into_inner();
        assert_eq!(got.info.as_ref(), Some(listed));
        assert!(!listed.description.is_empty() && !listed.source.is_empty(), "{listed:?}");
        let policy = got.policy.unwrap();
        assert_eq!(
            (&policy.label, policy.search, policy.terminal_value),
            (&listed.name, listed.search, listed.terminal_value)
        );
        let Some(Kind::Weights(weights)) = &policy.kind else {
            assert_eq!((listed.search, listed.feature_set.as_str()), (None, ""), "{listed:?}");
            continue;
        };
        controllers += 1;
        let width = if listed.width == 0 { 10 } else { listed.width };
        // A controller that weighs two pieces must see the first of them.
        let pieces = match listed.search.unwrap().method.unwrap() {
            Method::Expectation(own) => own.pieces,
            _ => 1,
        };
        let rules = pb::Rules { width, preview: Some(pieces - 1), ..Default::default() };
        let asked = request(named(&listed.name), rules);
        let answer = ask(&mut Client::new(channel.clone()), asked).await.unwrap();
        let [echo] = answer.started.policies.try_into().unwrap();
        let echo = echo.policy.unwrap();
        assert_eq!((echo.search, echo.terminal_value), (listed.search, listed.terminal_value), "{listed:?}");
        let set = pb::FeatureSelection {
            feature_set_version: listed.feature_set_version.clone(),
            ..features::from_set(&listed.feature_set)
        };
        assert_eq!(weights.features, Some(set));
        let columns = FeatureSet::named(&listed.feature_set, width as u8).unwrap().len() as u32;
        assert_eq!(weights.weights.as_ref().unwrap().shape, [columns]);
    }
    assert_eq!((controllers, catalog.policies.len()), (CONTROLLERS.len(), CONTROLLERS.len() + AGENTS.len()));
    let bcts = named("bcts");
    for preset in &catalog.rules_presets {
        let config = pb::SessionConfig { rules: preset.rules.clone(), ..Default::default() };
        let create = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
        let made = EnvironmentServiceClient::new(channel.clone()).create_session(create).await;
        assert!(made.is_ok(), "{}: {made:?}", preset.name);
        let answer =
            ask(&mut Client::new(channel.clone()), request(bcts.clone(), preset.rules.clone().unwrap()))
                .await;
        assert_eq!(answer.unwrap().started.rules, preset.rules, "{}", preset.name);
    }
    let sets: Vec<&str> = catalog.piece_sets.iter().map(|set| set.name.as_str()).collect();
    assert_eq!(sets, ["tetrominoes", "melax", "trominoes", "sz", "pentominoes"]);
    assert_eq!(catalog.piece_sets[1].pieces, "M=X D=XX X=.X/X. L=.X/XX O=XX/XX");
    for set in &catalog.piece_sets {
        for piece_set in [&set.name, &set.pieces] {
            let rules = pb::Rules { piece_set: piece_set.clone(), ..Default::default() };
            let answer = ask(&mut Client::new(channel.clone()), request(bcts.clone(), rules)).await.unwrap();
            assert_eq!(answer.started.rules.unwrap().piece_set, *piece_set);
        }
    }
}
