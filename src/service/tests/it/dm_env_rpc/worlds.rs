//! Worlds from their making to their end, and the callers that join them.

use std::time::Duration;

use tetrion_protocol::pb;
use tetrion_service::StoreLimits;
use tonic::Code;

use super::{Connection, INTERRUPTED, RUNNING, Settings, double, int32, refusal_of, settings, text, uint64};
use tetrion_service_testing::{TestServer, config, create, refused, start, start_with};

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
    let drawn = client
        .render(pb::RenderRequest { session: world.clone(), format, envs: None, ..Default::default() })
        .await;
    assert_eq!(drawn.unwrap().into_inner().frames.len(), 1);
    connection.leave().await;
    connection.destroy(&world).await.unwrap();
    client.create_session(request).await.expect("room again");

    let not_ours = connection.join(&session).await.map_err(refusal_of);
    assert_eq!(not_ours, Err((Code::InvalidArgument, "INVALID_FIELD".to_owned())), "a session is no world");
}

/// Waits until the server has as many sessions.
pub async fn until_there_are(server: &TestServer, sessions: u32) {
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
