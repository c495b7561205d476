//! Answers that clients do not read have a limited amount of room: hostile clients over real sockets.

use std::net::SocketAddr;
use std::time::Duration;

use prost::Message;
use tetrion_protocol::pb;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_server::ServerConfig;
use tetrion_service::ServerLimits;
use tetrion_service::answers::{Answers, SMALL_ANSWER_BYTES};
use tetrion_service::budget::Budget;
use tetrion_service::refusal::Refusal;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

use tetrion_service_testing::servers::{connect, listen_with};
use tetrion_service_testing::{Client, config, create, only, refused, reset, step};

/// How long a call that must not end is watched.
const WATCHED: Duration = Duration::from_millis(300);
/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// A request that takes no work.
const INFO: pb::GetServerInfoRequest = pb::GetServerInfoRequest {};

/// A server with this much memory for answers, which may lie unread for this long while it is scarce.
async fn start(answer_memory: u64, max_unread_time: Duration) -> (SocketAddr, DropGuard) {
    let limits = ServerLimits { answer_memory, max_unread_time, ..ServerLimits::default() };
    listen_with(ServerConfig { limits, num_threads: 1, ..ServerConfig::default() }).await
}

async fn client(address: SocketAddr) -> Client {
    EnvironmentServiceClient::new(connect(address).await).max_decoding_message_size(64 << 20)
}

/// A connection whose window lets no byte of an answer through.
async fn closed_window(address: SocketAddr) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    endpoint.initial_stream_window_size(0).connect().await.unwrap()
}

/// A session whose answers are large, and their size.
async fn bulky_session(client: &mut Client) -> (String, usize) {
    let config = pb::SessionConfig { max_response_bytes: 64 << 20, ..config(65_536, 1) };
    let name = create(client, config).await.name;
    let answer = client.reset(reset(&name)).await.unwrap().into_inner();
    (name, answer.encoded_len())
}

/// This many resets of a session, whose answers stay unread.
fn unread_resets(channel: &Channel, session: &str, number: usize) -> JoinSet<Status> {
    let mut calls = JoinSet::new();
    for _ in 0..number {
        let (mut client, request) = (EnvironmentServiceClient::new(channel.clone()), reset(session));
        calls.spawn(async move { client.reset(request).await.map(|_| ()).unwrap_err() });
    }
    calls
}

async fn next_refusal(calls: &mut JoinSet<Status>) -> Status {
    timeout(PATIENCE, calls.join_next()).await.expect("they have no room").unwrap().unwrap()
}

/// Pictures reserve their memory before they are painted.
#[tokio::test]
async fn pictures_for_which_there_is_no_room_are_refused() {
    let (address, _guard) = start(16 << 20, PATIENCE).await;
    let mut client = client(address).await;
    let config = pb::SessionConfig { max_response_bytes: 64 << 20, ..config(10, 1) };
    let session = create(&mut client, config).await.name;
    client.reset(reset(&session)).await.unwrap();
    let render = |num_envs| pb::RenderRequest {
        session: session.clone(),
        envs: only(0..num_envs),
        format: pb::RenderFormat::Rgb.into(),
        cell_pixels: 64,
        ..Default::default()
    };
    // A connection may hold half of the memory.
    let one = client.render(render(1)).await.unwrap().into_inner().encoded_len() as u32;
    let most = (8 << 20) / one;
    client.render(render(most)).await.expect("as many as there is room for");
    refused(client.render(render(most + 1)).await, Code::ResourceExhausted, "ANSWER_LIMIT");
}

#[tokio::test]
async fn unread_answers_have_limited_room_on_a_connection_and_in_all() {
    let (address, _guard) = start(300 << 20, PATIENCE).await;
    let mut other = client(address).await;
    let (session, bytes) = bulky_session(&mut other).await;
    let single = create(&mut other, config(1, 1)).await.name;
    other.reset(reset(&single)).await.unwrap();

    let hostile = closed_window(address).await;
    let mut calls = unread_resets(&hostile, &session, 40);
    // Half of the room: as much as it leaves to others.
    let most = (150 << 20) / bytes;
    for _ in most..40 {
        refused::<()>(Err(next_refusal(&mut calls).await), Code::ResourceExhausted, "ANSWER_LIMIT");
    }
    let held = calls.len() as u64;
    assert!(held >= most as u64 / 2, "{held} answers of {bytes} bytes");
    assert!(timeout(WATCHED, calls.join_next()).await.is_err(), "what has room is answered, and waits");
    // A refused call has done nothing.
    let get = pb::GetSessionRequest { name: session.clone() };
    let described = other.get_session(get).await.unwrap().into_inner().session.unwrap();
    assert_eq!(described.sequence_number, 1 + held);

    // On another connection there is room for some more, up to the limit for all.
    let another = closed_window(address).await;
    let mut second = unread_resets(&another, &session, 10);
    refused::<()>(Err(next_refusal(&mut second).await), Code::ResourceExhausted, "ANSWER_LIMIT");
    // Small calls go on.
    for _ in 0..100 {
        other.reset(reset(&single)).await.unwrap();
        other.step(step(&single, &[0])).await.unwrap();
    }

    // The room is given back when the connections end.
    calls.shutdown().await;
    second.shutdown().await;
    drop((hostile, another));
    let given_back = async {
        while let Err(refusal) = other.reset(reset(&session)).await {
            assert_eq!(refusal.code(), Code::ResourceExhausted, "{refusal}");
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, given_back).await.expect("the room of connections that have ended");
}

#[tokio::test]
async fn while_room_is_scarce_a_connection_that_does_not_read_is_closed_soon() {
    let (address, _guard) = start(100 << 20, WATCHED).await;
    let mut other = client(address).await;
    let (session, bytes) = bulky_session(&mut other).await;
    // One answer alone does not make it scarce.
    let patient = closed_window(address).await;
    let mut first = unread_resets(&patient, &session, 1);
    assert!(timeout(3 * WATCHED, first.join_next()).await.is_err(), "{bytes} bytes of 100 MiB");
    let hostile = closed_window(address).await;
    let mut calls = unread_resets(&hostile, &session, 40);
    while let Some(status) = timeout(PATIENCE, calls.join_next()).await.expect("an end of each") {
        assert_ne!(status.unwrap().code(), Code::Ok);
    }
    other.reset(reset(&session)).await.expect("the room of the connection that was closed");
}

#[tokio::test]
async fn a_thousand_calls_whose_answers_stay_unread_hold_little() {
    let (address, _guard) = start(20 << 20, PATIENCE).await;
    let hostile = closed_window(address).await;
    let mut calls = JoinSet::new();
    for _ in 0..1_000 {
        let mut client = EnvironmentServiceClient::new(hostile.clone());
        calls.spawn(async move { client.get_catalog(pb::GetCatalogRequest::default()).await.map(|_| ()) });
    }
    // Their catalogs do not fit all at once.
    let refusal = timeout(PATIENCE, calls.join_next()).await.expect("no room").unwrap().unwrap();
    assert_eq!(refusal.unwrap_err().code(), Code::ResourceExhausted);
    calls.shutdown().await;
    drop(hostile);
    let mut other = client(address).await;
    let given_back = async {
        while other.get_server_info(INFO).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, given_back).await.expect("the room of a connection that has ended");
}

#[test]
fn an_answer_has_room_from_before_it_is_made_until_it_is_written() {
    let small = SMALL_ANSWER_BYTES;
    let budget = Budget::new(100_000);
    let answers = Answers::new(&budget, 0).unwrap();
    answers.room(small).unwrap().keep();
    assert_eq!(budget.taken(), small, "a small one takes none of its own");
    assert!(answers.leave(small).is_none());
    let room = answers.room(60_000).unwrap();
    let left = 40_000 - small;
    let past = answers.room(left + 1).unwrap_err();
    assert!(matches!(past, Refusal::AnswerLimit { taken, .. } if taken == 60_000 + small), "{past}");
    drop(answers.room(left).unwrap());
    drop(room);
    assert_eq!(budget.taken(), small, "one that is not made needs none");
    answers.room(60_000).unwrap().keep();
    // It was smaller than it could have been.
    let leaving = answers.leave(50_000).unwrap();
    assert_eq!(budget.taken(), 50_000 + small);
    drop(answers);
    assert_eq!(budget.taken(), 50_000, "the connection still holds it");
    drop(leaving);
    assert_eq!(budget.taken(), 0);
}

#[test]
fn an_answer_that_is_being_made_keeps_its_room_when_another_one_leaves() {
    let budget = Budget::new(100_000);
    let answers = Answers::new(&budget, 0).unwrap();
    answers.room(20_000).unwrap().keep();
    let second = answers.room(30_000).unwrap();
    drop(answers.leave(20_000));
    assert_eq!(budget.taken(), 30_000 + SMALL_ANSWER_BYTES);
    second.keep();
    drop(answers);
    assert_eq!(budget.taken(), 0, "a call that ends gives back what has not left");
}

#[test]
fn small_answers_are_made_however_much_is_unread() {
    let budget = Budget::new(100_000);
    let full = budget.take(100_000).unwrap();
    let answers = Answers::new(&budget, 0).unwrap();
    answers.room(SMALL_ANSWER_BYTES).unwrap().keep();
    assert!(answers.room(SMALL_ANSWER_BYTES + 1).is_err());
    assert!(Answers::new(&budget, 1).is_err(), "no more than that");
    drop((answers, full));
    assert_eq!(budget.taken(), 0);
}
