//! A session belongs to the caller that made it, and does not exist for others.

use std::time::Duration;

use tetrion_protocol::pb;
use tetrion_service::ServerLimits;
use tonic::Code;

use crate::support::{SMALL, by, save, start, start_with};
use tetrion_service_testing::{Client, config, refused, reset, step};

async fn made_by(client: &mut Client, caller: &'static str, request: pb::CreateSessionRequest) -> String {
    client.create_session(by(caller, request)).await.unwrap().into_inner().session.unwrap().name
}

async fn listed_for(client: &mut Client, caller: &'static str) -> Vec<String> {
    let request = pb::ListSessionsRequest { page_size: 2, ..Default::default() };
    let list = client.list_sessions(by(caller, request)).await.unwrap().into_inner();
    assert_eq!(list.next_page_token, "", "no more pages than sessions of one's own");
    list.sessions.into_iter().map(|session| session.name).collect()
}

#[tokio::test]
async fn a_session_does_not_exist_for_other_callers() {
    let server = start().await;
    let mut client = server.client().await;
    let request = || pb::CreateSessionRequest { config: Some(config(1, 1)), ..Default::default() };
    let ann = made_by(&mut client, "ann", request()).await;
    let bob = made_by(&mut client, "bob", request()).await;
    client.reset(by("ann", reset(&ann))).await.unwrap();

    assert_eq!(listed_for(&mut client, "ann").await, [ann.as_str()]);
    assert_eq!(listed_for(&mut client, "bob").await, [bob]);
    assert_eq!(listed_for(&mut client, "eve").await, [""; 0]);

    let get = pb::GetSessionRequest { name: ann.clone() };
    let delete = pb::DeleteSessionRequest { name: ann.clone(), allow_missing: false };
    let enumerate = tetrion_service_testing::enumerate(pb::SessionEnvs { session: ann.clone(), envs: None });
    let render = pb::RenderRequest { session: ann.clone(), format: 1, ..Default::default() };
    let restore = crate::support::restore(&ann, pb::Positions::default());
    let missing = "SESSION_NOT_FOUND";
    refused(client.get_session(by("bob", get.clone())).await, Code::NotFound, missing);
    refused(client.reset(by("bob", reset(&ann))).await, Code::NotFound, missing);
    refused(client.step(by("bob", step(&ann, &[0]))).await, Code::NotFound, missing);
    refused(client.save_state(by("bob", save(&ann))).await, Code::NotFound, missing);
    refused(client.restore_state(by("bob", restore)).await, Code::NotFound, missing);
    refused(client.render(by("bob", render)).await, Code::NotFound, missing);
    refused(client.enumerate_placements(by("bob", enumerate)).await, Code::NotFound, missing);
    refused(client.delete_session(by("bob", delete)).await, Code::NotFound, missing);
    let request =
        pb::StepStreamRequest { request: Some(pb::step_stream_request::Request::Step(step(&ann, &[0]))) };
    let stream = client.step_stream(by("bob", tokio_stream::once(request))).await.unwrap();
    let answer = stream.into_inner().message().await.unwrap().unwrap().response;
    let Some(pb::step_stream_response::Response::Error(error)) = answer else { panic!("{answer:?}") };
    assert_eq!(error.code, Code::NotFound as i32);

    let session = client.get_session(by("ann", get)).await.unwrap().into_inner().session.unwrap();
    assert_eq!(session.sequence_number, 1, "ann's own reset and no more");
}

#[tokio::test]
async fn the_lease_of_a_session_is_renewed_by_and_shown_to_its_caller_only() {
    let server = start().await;
    let mut client = server.client().await;
    let ttl = Some(prost_types::Duration { seconds: 100, nanos: 0 });
    let request = pb::CreateSessionRequest { config: Some(config(1, 1)), ttl, ..Default::default() };
    let ann = made_by(&mut client, "ann", request).await;
    let get = || pb::GetSessionRequest { name: ann.clone() };
    server.clock.advance(Duration::from_secs(60));
    refused(client.get_session(by("bob", get())).await, Code::NotFound, "SESSION_NOT_FOUND");
    server.clock.advance(Duration::from_secs(60));
    refused(client.get_session(by("ann", get())).await, Code::NotFound, "SESSION_EXPIRED");
    refused(client.get_session(by("bob", get())).await, Code::NotFound, "SESSION_NOT_FOUND");
}

#[tokio::test]
async fn two_callers_may_give_a_request_the_same_name() {
    let server = start().await;
    let mut client = server.client().await;
    let request = |seed| pb::CreateSessionRequest {
        config: Some(config(1, seed)),
        request_id: "first".to_owned(),
        ..Default::default()
    };
    let ann = made_by(&mut client, "ann", request(1)).await;
    let bob = made_by(&mut client, "bob", request(2)).await;
    assert_ne!(ann, bob);
    assert_eq!(made_by(&mut client, "ann", request(1)).await, ann);
    assert_eq!(made_by(&mut client, "bob", request(2)).await, bob);
}

#[tokio::test]
async fn a_caller_has_its_own_sessions_and_environments_at_most() {
    let server = start().await;
    let mut client = server.client().await;
    let request =
        |num_envs| pb::CreateSessionRequest { config: Some(config(num_envs, 1)), ..Default::default() };
    made_by(&mut client, "other", request(5)).await;
    let five = made_by(&mut client, "small", request(5)).await;
    let refusal = client.create_session(by("small", request(1))).await;
    let reported = refused(refusal, Code::ResourceExhausted, "ENV_LIMIT");
    assert_eq!(
        reported.message,
        "the token \"small\" has 5 environments of at most 5; the request needs 1 more"
    );
    let delete = pb::DeleteSessionRequest { name: five, allow_missing: false };
    client.delete_session(by("small", delete)).await.unwrap();

    made_by(&mut client, "small", request(2)).await;
    made_by(&mut client, "small", request(2)).await;
    let refusal = client.create_session(by("small", request(1))).await;
    let reported = refused(refusal, Code::ResourceExhausted, "SESSION_LIMIT");
    assert_eq!(reported.message, "the token \"small\" has reached its limit on sessions, 2");
    made_by(&mut client, "other", request(5)).await;
    // The lease of one of its own gives room, and a refusal says when.
    let retry = reported.details.retry_info().unwrap().retry_delay.unwrap();
    server.clock.advance(retry);
    made_by(&mut client, "small", request(2)).await;
}

#[tokio::test]
async fn the_limits_of_the_server_hold_for_a_caller_with_more_of_its_own() {
    let server = start_with(ServerLimits { max_sessions: 1, max_envs: 3, ..Default::default() }).await;
    let mut client = server.client().await;
    let request =
        |num_envs| pb::CreateSessionRequest { config: Some(config(num_envs, 1)), ..Default::default() };
    let refusal = client.create_session(by("small", request(4))).await;
    let reported = refused(refusal, Code::ResourceExhausted, "ENV_LIMIT");
    assert!(
        reported.message.starts_with("the server has 0 environments of at most 3"),
        "{}",
        reported.message
    );
    let limits = async |client: &mut Client, caller| {
        let info = client.get_server_info(by(caller, pb::GetServerInfoRequest::default())).await.unwrap();
        info.into_inner().limits.unwrap()
    };
    let pb::Limits { sessions, evaluations, .. } = limits(&mut client, "small").await;
    let sessions = sessions.unwrap();
    assert_eq!((sessions.max_sessions_per_caller, sessions.max_envs_per_caller), (1, 3));
    assert_eq!(Some(evaluations.unwrap().max_evaluations_per_caller), SMALL.max_evaluations);

    let server = start().await;
    let mut client = server.client().await;
    let reported = limits(&mut client, "small").await.sessions.unwrap();
    let own = (Some(reported.max_sessions_per_caller), Some(reported.max_envs_per_caller));
    assert_eq!(own, (SMALL.max_sessions, SMALL.max_envs));
    let reported = limits(&mut client, "other").await.sessions.unwrap();
    assert_eq!(
        (reported.max_sessions_per_caller, reported.max_envs_per_caller),
        (reported.max_sessions, reported.max_envs)
    );
}
