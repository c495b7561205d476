use std::collections::HashSet;
use std::time::Duration;

use prost_types::{Duration as PbDuration, Timestamp};
use tetrion_protocol::limits::MAX_ENVS_PER_SESSION;
use tetrion_protocol::{pb, seeding};
use tetrion_service::ServerLimits;
use tonic::Code;

use crate::support::{field_names, numbers, start, start_with};
use tetrion_service_testing::{Client, config, create, refused, reset, step};

fn named(name: &str) -> pb::GetSessionRequest {
    pb::GetSessionRequest { name: name.to_owned() }
}

fn delete(name: &str) -> pb::DeleteSessionRequest {
    pb::DeleteSessionRequest { name: name.to_owned(), allow_missing: false }
}

fn leased(seconds: i64) -> pb::CreateSessionRequest {
    let ttl = Some(PbDuration { seconds, nanos: 0 });
    pb::CreateSessionRequest { config: Some(config(1, 0)), ttl, ..Default::default() }
}

async fn create_leased(client: &mut Client, seconds: i64) -> String {
    client.create_session(leased(seconds)).await.unwrap().into_inner().session.unwrap().name
}

async fn list(client: &mut Client, page_size: i32, page_token: &str) -> (Vec<String>, String) {
    let request = pb::ListSessionsRequest { page_size, page_token: page_token.to_owned() };
    let page = client.list_sessions(request).await.unwrap().into_inner();
    (page.sessions.into_iter().map(|session| session.name).collect(), page.next_page_token)
}

#[tokio::test]
async fn a_session_lives_from_create_to_delete() {
    let server = start().await;
    let mut client = server.client().await;
    let session = create(&mut client, config(3, 42)).await;
    let name = session.name.as_str();
    let first = client.reset(reset(name)).await.unwrap().into_inner();
    assert_eq!((session.sequence_number, first.sequence_number), (0, 1));
    assert_eq!(first.observations[0].shape, [3, 20, 10]);
    let after = client.step(step(name, &[0, 0, 0])).await.unwrap().into_inner();
    assert_eq!(after.sequence_number, 2);
    assert_eq!(numbers(&after.infos[1]), [1.0, 1.0, 1.0], "a piece landed in each");
    client.delete_session(delete(name)).await.unwrap();
    let gone = refused(client.step(step(name, &[0, 0, 0])).await, Code::NotFound, "SESSION_NOT_FOUND");
    assert_eq!(gone.details.resource_info().unwrap().resource_name, name);
    assert_eq!((server.store.num_sessions(), server.store.num_envs()), (0, 0));
}

#[tokio::test]
async fn an_empty_request_makes_one_simplified_environment() {
    let server = start().await;
    let mut client = server.client().await;
    let response = client.create_session(pb::CreateSessionRequest::default()).await.unwrap();
    let session = response.into_inner().session.unwrap();
    let config = session.config.unwrap();
    assert_eq!(config.num_envs, 1);
    assert_eq!(config.observation_fields, field_names(&["board", "current"]));
    let infos = ["lines", "pieces", "steps", "episode_return", "seed", "end"];
    assert_eq!(config.info_fields, field_names(&infos));
    assert_eq!(config.autoreset_mode(), pb::AutoresetMode::NextStep);
    assert_eq!(config.invalid_action_policy(), pb::InvalidActionPolicy::Reject);
    assert_eq!((config.max_episode_steps, config.action_mask_format()), (0, pb::ActionMaskFormat::None));
    assert_eq!(config.max_response_bytes, 4 << 20);
    assert!(
        config.seeding.as_ref().and_then(seeding::session_seed).is_some(),
        "the seed that was drawn is reported"
    );
    let rules = config.rules.unwrap();
    assert_eq!((rules.preset.as_str(), rules.width, rules.height), ("simplified", 10, 20));
    assert_eq!(session.ttl, Some(PbDuration { seconds: 600, nanos: 0 }));
    assert_eq!(session.rules_version, tetrion_core::engine::RULES_VERSION);
    assert!(session.feature_columns.is_none());
    let action = session.action_spec.unwrap();
    assert_eq!((action.low, action.high, action.shape), (Some(0.0), Some(39.0), vec![]));
    let another = client.create_session(pb::CreateSessionRequest::default()).await.unwrap();
    let another = another.into_inner().session.unwrap().config.unwrap();
    assert_ne!(another.seeding, config.seeding, "a seed of its own");
}

#[tokio::test]
async fn what_a_session_echoes_makes_the_same_session_again() {
    let server = start().await;
    let mut client = server.client().await;
    let rules = pb::Rules { preset: "survey".into(), width: 17, preview: Some(2), ..Default::default() };
    let wanted = pb::SessionConfig {
        rules: Some(rules),
        observation_fields: field_names(&["queue", "board_bits", "heights"]),
        info_fields: field_names(&["seed"]),
        autoreset_mode: pb::AutoresetMode::SameStep.into(),
        invalid_action_policy: pb::InvalidActionPolicy::Terminate.into(),
        max_episode_steps: 7,
        action_mask_format: pb::ActionMaskFormat::Bytes.into(),
        max_response_bytes: 100_000,
        ..config(5, 0)
    };
    let session = create(&mut client, wanted).await;
    let echo = session.config.clone().unwrap();
    assert_eq!(echo.seeding, Some(seeding::from_seed(0)), "0 is a seed like any other");
    let names: Vec<&str> = session.observation_specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["queue", "board_bits", "heights"]);
    assert_eq!(
        session.observation_specs[1].dtype(),
        pb::DataType::Uint32,
        "17 columns need more than 16 bits"
    );
    let again = create(&mut client, echo.clone()).await;
    assert_eq!(again.config.unwrap(), echo);
    assert_eq!(again.observation_specs, session.observation_specs);
    let [one, two] = [session.name, again.name];
    let one = client.reset(reset(&one)).await.unwrap().into_inner();
    let two = client.reset(reset(&two)).await.unwrap().into_inner();
    assert_eq!(one, two);
    assert_eq!(one.action_mask.unwrap().shape, [5, 68]);
}

#[tokio::test]
async fn the_infos_of_a_session_that_names_none_say_why_an_action_ended_it() {
    let server = start().await;
    let mut client = server.client().await;
    let always = ["lines", "pieces", "steps", "episode_return", "seed", "end"];
    let and_invalid = [&always[..], &["invalid_action", "invalid_actions"]].concat();
    use pb::InvalidActionPolicy::{Ignore, Reject, Terminate};
    for (preset, policy, expected) in [
        ("simplified", Reject, &always[..]),
        ("simplified", Terminate, &and_invalid[..]),
        ("simplified", Ignore, &and_invalid[..]),
        ("lab", Terminate, &always[..]),
    ] {
        let wanted = pb::SessionConfig {
            rules: Some(pb::Rules { preset: preset.into(), ..Default::default() }),
            invalid_action_policy: policy.into(),
            ..config(1, 42)
        };
        let session = create(&mut client, wanted).await;
        let names: Vec<&str> = session.info_specs.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names, expected, "{preset}, {policy:?}");
    }
    let wanted = pb::SessionConfig {
        invalid_action_policy: Ignore.into(),
        invalid_action_reward: -0.5,
        info_fields: field_names(&["invalid_action", "invalid_actions"]),
        ..config(2, 42)
    };
    let session = create(&mut client, wanted.clone()).await;
    let echo = session.config.unwrap();
    assert_eq!((echo.invalid_action_policy(), echo.invalid_action_reward), (Ignore, -0.5));
    client.reset(reset(&session.name)).await.unwrap();
    // No piece has an orientation 1 in the last column.
    for (nth, actions, rewards) in [(1.0, [19, 0], [-0.5, 0.0]), (2.0, [19, 3], [-0.5, 0.0])] {
        let answer = client.step(step(&session.name, &actions)).await.unwrap().into_inner();
        assert_eq!(numbers(&answer.rewards.unwrap()), rewards);
        assert_eq!(answer.infos[0].dtype(), pb::DataType::Bool);
        assert_eq!([numbers(&answer.infos[0]), numbers(&answer.infos[1])], [vec![1.0, 0.0], vec![nth, 0.0]]);
    }
}

#[tokio::test]
async fn names_cannot_be_guessed() {
    let server = start().await;
    let mut client = server.client().await;
    let mut names = HashSet::new();
    for seed in 0..20 {
        let name = create(&mut client, config(1, seed)).await.name;
        let digits = name.strip_prefix("sessions/").expect("a resource name");
        assert!(digits.len() == 32 && digits.chars().all(|digit| digit.is_ascii_hexdigit()), "{name}");
        assert!(names.insert(name));
    }
    for wrong in
        ["sessions/", "sessions/0", "0", "sessions/00000000000000000000000000000000", "sessions/\u{1F600}"]
    {
        refused(client.get_session(named(wrong)).await, Code::NotFound, "SESSION_NOT_FOUND");
    }
    let upper = names.iter().next().unwrap().to_uppercase();
    refused(client.get_session(named(&upper)).await, Code::NotFound, "SESSION_NOT_FOUND");
    let reported = refused(client.get_session(named("")).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(reported.fields(), ["name"]);
}

#[tokio::test]
async fn a_lease_runs_out_without_calls() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create_leased(&mut client, 60).await;
    server.clock.advance(Duration::from_secs(59));
    let session = client.get_session(named(&name)).await.unwrap().into_inner().session.unwrap();
    assert_eq!(session.expire_time, Some(Timestamp { seconds: 59 + 60, nanos: 0 }));
    assert_eq!(session.create_time, Some(Timestamp { seconds: 0, nanos: 0 }));
    // A refused call renews the lease too.
    server.clock.advance(Duration::from_secs(59));
    refused(client.step(step(&name, &[0])).await, Code::FailedPrecondition, "NOT_RESET");
    server.clock.advance(Duration::from_secs(59));
    client.reset(reset(&name)).await.unwrap();
    server.clock.advance(Duration::from_secs(60));
    let gone = refused(client.step(step(&name, &[0])).await, Code::NotFound, "SESSION_EXPIRED");
    assert_eq!(gone.details.resource_info().unwrap().resource_name, name);
    refused(client.delete_session(delete(&name)).await, Code::NotFound, "SESSION_EXPIRED");
    assert_eq!((server.store.num_sessions(), server.store.num_envs()), (0, 0));
}

#[tokio::test]
async fn the_last_4096_expired_sessions_are_remembered() {
    let limits = ServerLimits { max_sessions: 5000, max_envs: 5000, ..Default::default() };
    let server = start_with(limits).await;
    let mut client = server.client().await;
    let first = create_leased(&mut client, 1).await;
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(server.store.reap(), 1);
    let second = create_leased(&mut client, 1).await;
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(server.store.reap(), 1);
    for _ in 0..4095 {
        create_leased(&mut client, 1).await;
    }
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(server.store.reap(), 4095);
    refused(client.get_session(named(&second)).await, Code::NotFound, "SESSION_EXPIRED");
    refused(client.get_session(named(&first)).await, Code::NotFound, "SESSION_NOT_FOUND");
}

#[tokio::test]
async fn a_full_server_says_when_to_try_again() {
    let server = start_with(ServerLimits { max_sessions: 2, max_envs: 10, ..Default::default() }).await;
    let mut client = server.client().await;
    let six = create(&mut client, config(6, 1)).await;
    let request = |num_envs| pb::CreateSessionRequest {
        config: Some(config(num_envs, 1)),
        ttl: Some(PbDuration { seconds: 30, nanos: 0 }),
        ..Default::default()
    };
    let reported = refused(client.create_session(request(5)).await, Code::ResourceExhausted, "ENV_LIMIT");
    assert_eq!(reported.details.retry_info().unwrap().retry_delay, Some(Duration::from_secs(600)));
    assert_eq!(reported.details.quota_failure().unwrap().violations[0].subject, "environments");
    assert_eq!((server.store.num_sessions(), server.store.num_envs()), (1, 6));
    client.create_session(request(4)).await.expect("exactly what is left");
    server.clock.advance(Duration::from_secs(10));
    let reported = refused(client.create_session(request(1)).await, Code::ResourceExhausted, "SESSION_LIMIT");
    assert_eq!(reported.details.retry_info().unwrap().retry_delay, Some(Duration::from_secs(20)));
    assert_eq!(reported.details.quota_failure().unwrap().violations[0].subject, "sessions");
    // A lease that has run out makes room, noticed or not.
    server.clock.advance(Duration::from_secs(20));
    client.create_session(request(4)).await.expect("the room of the one that ran out");
    client.delete_session(delete(&six.name)).await.unwrap();
    client.create_session(request(6)).await.expect("the room of the one that was deleted");
    assert_eq!((server.store.num_sessions(), server.store.num_envs()), (2, 10));
}

#[tokio::test]
async fn a_request_id_makes_one_session() {
    let server = start().await;
    let mut client = server.client().await;
    let request = |seed| pb::CreateSessionRequest {
        config: Some(config(2, seed)),
        request_id: "e2a1".into(),
        ..Default::default()
    };
    let first = client.create_session(request(7)).await.unwrap().into_inner().session.unwrap();
    client.reset(reset(&first.name)).await.unwrap();
    let again = client.create_session(request(7)).await.unwrap().into_inner().session.unwrap();
    assert_eq!((&again.name, again.sequence_number), (&first.name, 1), "the same session, as it is now");
    let reported = refused(client.create_session(request(8)).await, Code::AlreadyExists, "REQUEST_ID_REUSED");
    assert_eq!(reported.details.resource_info().unwrap().resource_type, "tetrion.v1.Session");
    assert_eq!(server.store.num_sessions(), 1);
    client.delete_session(delete(&first.name)).await.unwrap();
    let other = client.create_session(request(8)).await.unwrap().into_inner().session.unwrap();
    assert_ne!(other.name, first.name, "the name of a request is free when its session is gone");
}

#[tokio::test]
async fn the_same_request_at_the_same_time_makes_one_session() {
    let server = start().await;
    let request = pb::CreateSessionRequest { request_id: "all at once".into(), ..Default::default() };
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (mut client, request) = (server.client().await, request.clone());
        calls.spawn(
            async move { client.create_session(request).await.unwrap().into_inner().session.unwrap() },
        );
    }
    let names: HashSet<String> = calls.join_all().await.into_iter().map(|session| session.name).collect();
    assert_eq!((names.len(), server.store.num_sessions()), (1, 1));
}

#[tokio::test]
async fn lists_go_by_age_page_by_page() {
    let server = start().await;
    let mut client = server.client().await;
    let mut names = Vec::new();
    for seed in 0..5 {
        names.push(create(&mut client, config(1, seed)).await.name);
    }
    assert_eq!(list(&mut client, 0, "").await, (names.clone(), String::new()));
    let (page, token) = list(&mut client, 2, "").await;
    assert_eq!(page, names[..2]);
    // What happens between pages makes the list miss or repeat no other session.
    client.delete_session(delete(&names[1])).await.unwrap();
    client.delete_session(delete(&names[3])).await.unwrap();
    let newest = create(&mut client, config(1, 9)).await.name;
    let (page, token) = list(&mut client, 2, &token).await;
    assert_eq!(page, [names[2].clone(), names[4].clone()]);
    let (page, token) = list(&mut client, 2, &token).await;
    assert_eq!((page, token), (vec![newest], String::new()));

    let response = client.list_sessions(pb::ListSessionsRequest::default()).await.unwrap().into_inner();
    let listed = &response.sessions[0];
    assert!(listed.observation_specs.is_empty() && listed.info_specs.is_empty());
    assert!(listed.config.is_some() && listed.expire_time.is_some());
    let negative = pb::ListSessionsRequest { page_size: -1, ..Default::default() };
    let reported = refused(client.list_sessions(negative).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(reported.fields(), ["page_size"]);
    let strange = pb::ListSessionsRequest { page_token: "next".into(), ..Default::default() };
    let reported = refused(client.list_sessions(strange).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(reported.fields(), ["page_token"]);
}

#[tokio::test]
async fn listing_renews_no_lease() {
    let server = start().await;
    let mut client = server.client().await;
    create_leased(&mut client, 10).await;
    server.clock.advance(Duration::from_secs(9));
    assert_eq!(list(&mut client, 0, "").await.0.len(), 1);
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(list(&mut client, 0, "").await.0.len(), 0);
}

#[tokio::test]
async fn deleting_twice_is_an_error_unless_it_may_be_missing() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(1, 0)).await.name;
    client.delete_session(delete(&name)).await.unwrap();
    refused(client.delete_session(delete(&name)).await, Code::NotFound, "SESSION_NOT_FOUND");
    let missing = pb::DeleteSessionRequest { name: name.clone(), allow_missing: true };
    client.delete_session(missing).await.unwrap();
    let nameless = pb::DeleteSessionRequest { name: String::new(), allow_missing: true };
    refused(client.delete_session(nameless).await, Code::InvalidArgument, "INVALID_FIELD");
}

#[tokio::test]
async fn a_large_session_is_made_once_for_the_same_request_and_leaves_no_room_taken() {
    let server = start_with(ServerLimits {
        max_sessions: 2,
        max_envs: 2 * MAX_ENVS_PER_SESSION,
        ..Default::default()
    })
    .await;
    let narrow = |num_envs| pb::SessionConfig {
        observation_fields: field_names(&["current"]),
        max_response_bytes: 8 << 20,
        ..config(num_envs, 1)
    };
    let request = pb::CreateSessionRequest {
        config: Some(narrow(MAX_ENVS_PER_SESSION)),
        request_id: "once".to_owned(),
        ..Default::default()
    };
    let (mut one, mut two) = (server.client().await, server.client().await);
    let (first, second) = tokio::join!(one.create_session(request.clone()), two.create_session(request));
    let name = |made: Result<tonic::Response<pb::CreateSessionResponse>, tonic::Status>| {
        made.unwrap().into_inner().session.unwrap().name
    };
    assert_eq!(name(first), name(second));
    assert_eq!((server.store.num_sessions(), server.store.num_envs()), (1, MAX_ENVS_PER_SESSION));
    // Refused after its room was taken: its answers would be too large.
    let config = pb::SessionConfig { max_response_bytes: 1000, ..narrow(MAX_ENVS_PER_SESSION) };
    let refusal = one.create_session(pb::CreateSessionRequest { config: Some(config), ..Default::default() });
    refused(refusal.await, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
    assert_eq!((server.store.num_sessions(), server.store.num_envs()), (1, MAX_ENVS_PER_SESSION));
}

#[tokio::test]
async fn no_names_are_no_fields() {
    let server = start().await;
    let mut client = server.client().await;
    let (observation_fields, info_fields) = (field_names(&[]), field_names(&[]));
    let bare = pb::SessionConfig { observation_fields, info_fields, ..config(2, 5) };
    let session = create(&mut client, bare.clone()).await;
    assert!(session.observation_specs.is_empty() && session.info_specs.is_empty());
    assert_eq!(session.config.unwrap().info_fields, bare.info_fields);
    let begun = client.reset(reset(&session.name)).await.unwrap().into_inner();
    assert!(begun.observations.is_empty() && begun.infos.is_empty());
    let stepped = client.step(step(&session.name, &[0, 1])).await.unwrap().into_inner();
    assert!(stepped.observations.is_empty() && stepped.infos.is_empty());
    assert_eq!(numbers(stepped.rewards.as_ref().unwrap()), [0.0, 0.0]);
}
