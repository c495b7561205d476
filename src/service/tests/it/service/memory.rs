//! All sessions share a limited memory: environments, explicit sequences and kept answers reserve theirs before they exist.

use prost::Message;
use tetrion_protocol::{pb, positions, seeding};
use tetrion_service::ServerLimits;
use tonic::Code;

use crate::support::{TestServer, restore, save, start_with};
use tetrion_service_testing::{Client, config, create, only, refused, reset, step};

const MIB: u64 = 1 << 20;

async fn start(session_memory: u64) -> (TestServer, Client) {
    let server = start_with(ServerLimits { session_memory, ..ServerLimits::default() }).await;
    let client = server.client().await;
    (server, client)
}

/// A hundred thousand letters, in one of seven beginnings.
fn letters(first: usize) -> String {
    "IOTZSJL".chars().cycle().skip(first).take(100_000).collect()
}

fn dealt(session: &str, piece_sequences: Vec<String>, envs: Option<pb::EnvIds>) -> pb::ResetRequest {
    pb::ResetRequest { seeding: Some(seeding::from_sequences(piece_sequences)), envs, ..reset(session) }
}

#[tokio::test]
async fn sessions_take_it_up_to_the_last_byte_and_give_it_back() {
    let (server, mut client) = start(1 << 30).await;
    let first = create(&mut client, config(1000, 1)).await;
    let each = server.store.memory().taken();
    assert!((100_000..1_000_000).contains(&each), "{each} bytes for 1000 environments");

    let (server, mut client) = start(2 * each).await;
    create(&mut client, config(1000, 1)).await;
    let second = create(&mut client, config(1000, 2)).await;
    let request =
        |num_envs| pb::CreateSessionRequest { config: Some(config(num_envs, 3)), ..Default::default() };
    let reported = refused(client.create_session(request(1)).await, Code::ResourceExhausted, "MEMORY_LIMIT");
    assert!(
        reported.message.contains(&format!("{} of {} bytes", 2 * each, 2 * each)),
        "{}",
        reported.message
    );
    assert_eq!(server.store.num_sessions(), 2);
    let delete = pb::DeleteSessionRequest { name: second.name, allow_missing: false };
    client.delete_session(delete).await.unwrap();
    assert_eq!(server.store.memory().taken(), each);
    client.create_session(request(1000)).await.expect("the memory of the deleted one");
    assert_ne!(first.name, "");
}

#[tokio::test]
async fn one_sequence_serves_all_environments_that_deal_it() {
    let (server, mut client) = start(1 << 30).await;
    let name = create(&mut client, config(100, 1)).await.name;
    let base = server.store.memory().taken();
    client.reset(dealt(&name, vec![letters(0)], None)).await.unwrap();
    let one = server.store.memory().taken() - base;
    assert!((100_000..101_000).contains(&one), "{one} bytes for one sequence");
    // The same letters again, ten times; then those of snapshots.
    client.reset(dealt(&name, vec![letters(0); 10], only(0..10))).await.unwrap();
    assert_eq!(server.store.memory().taken() - base, one);
    let some = pb::SaveStateRequest { envs: only(0..30), ..save(&name) };
    let states = client.save_state(some).await.unwrap().into_inner().states;
    for _ in 0..2 {
        let positions = positions::from_snapshots(states.clone());
        let request = pb::RestoreStateRequest { envs: only(40..70), ..restore(&name, positions) };
        client.restore_state(request).await.unwrap();
        assert_eq!(server.store.memory().taken() - base, one);
    }
    // Other letters for some take as much again, which comes back with the last environment that deals them.
    client.reset(dealt(&name, vec![letters(1)], only([3, 4]))).await.unwrap();
    assert_eq!(server.store.memory().taken() - base, 2 * one);
    let seeded = |env_ids: Vec<u32>| pb::ResetRequest {
        seeding: Some(seeding::from_seeds(vec![7; env_ids.len()])),
        envs: only(env_ids),
        ..reset(&name)
    };
    client.reset(seeded(vec![3])).await.unwrap();
    assert_eq!(server.store.memory().taken() - base, 2 * one);
    client.reset(seeded(vec![4])).await.unwrap();
    assert_eq!(server.store.memory().taken() - base, one);
    client.reset(seeded((0..100).collect())).await.unwrap();
    assert_eq!(server.store.memory().taken(), base);
}

#[tokio::test]
async fn holes_take_memory_with_their_pieces() {
    let (server, mut client) = start(1 << 30).await;
    let garbage = pb::Garbage { lines_per_piece: Some(1.0), ..Default::default() };
    let rules = Some(pb::Rules { garbage: Some(garbage), ..Default::default() });
    let name = create(&mut client, pb::SessionConfig { rules, ..config(2, 1) }).await.name;
    let base = server.store.memory().taken();
    let dealt = |columns: [u32; 2]| pb::ResetRequest {
        seeding: Some(seeding::from_sequences_with_holes(
            vec!["IOT".to_owned(); 2],
            columns.map(|column| vec![column; 90_000]).to_vec(),
        )),
        ..reset(&name)
    };
    client.reset(dealt([1, 1])).await.unwrap();
    let one = server.store.memory().taken() - base;
    assert!((90_000..91_000).contains(&one), "{one} bytes for equal holes");
    client.reset(dealt([1, 2])).await.unwrap();
    assert_eq!(server.store.memory().taken() - base, 2 * one);
    let states = client.save_state(save(&name)).await.unwrap().into_inner().states;
    let positions = positions::from_snapshots(vec![states[1].clone()]);
    client.restore_state(restore(&name, positions)).await.unwrap();
    assert_eq!(server.store.memory().taken() - base, one);
    let restored = client.save_state(save(&name)).await.unwrap().into_inner().states;
    assert_eq!(restored, [states[1].clone(), states[1].clone()]);
}

#[tokio::test]
async fn sequences_beyond_it_are_refused_and_change_nothing() {
    let (server, mut client) = start(2 * MIB).await;
    let name = create(&mut client, config(1000, 1)).await.name;
    let base = server.store.memory().taken();
    client.reset(reset(&name)).await.unwrap();
    // A hostile client: every environment its own letters, seven at a time.
    let mut admitted = 0;
    let reported = loop {
        let sequences =
            (0..7).map(|i| format!("{}{}", "T".repeat(admitted + 1), &letters(i)[..90_000])).collect();
        let envs = only(admitted as u32 * 7..admitted as u32 * 7 + 7);
        match client.reset(dealt(&name, sequences, envs)).await {
            Ok(_) => admitted += 1,
            refusal => break refused(refusal, Code::ResourceExhausted, "MEMORY_LIMIT"),
        }
    };
    assert!((1..=3).contains(&admitted), "{admitted} times 630 KB of 2 MiB");
    assert!(reported.message.contains(&format!("of {} bytes", 2 * MIB)), "{}", reported.message);
    let taken = server.store.memory().taken();
    assert!(taken <= 2 * MIB, "{taken} bytes");
    let get = pb::GetSessionRequest { name: name.clone() };
    let session = client.get_session(get).await.unwrap().into_inner().session.unwrap();
    assert_eq!(session.sequence_number, 1 + admitted as u64, "the refused call used no number");
    // The environments of the refused call go on as they were.
    let untouched = pb::SaveStateRequest { envs: only([900, admitted as u32 * 7]), ..save(&name) };
    let states = client.save_state(untouched).await.unwrap().into_inner().states;
    assert!(states.iter().all(|state| state.len() < 1024), "no explicit sequence");
    // A refusal for another reason leaves nothing behind either.
    let wrong = dealt(&name, vec![letters(5)], only([1, 1]));
    refused(client.reset(wrong).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(server.store.memory().taken(), taken);
    let seeded = pb::ResetRequest { seeding: Some(seeding::from_seeds((0..1000).collect())), ..reset(&name) };
    client.reset(seeded).await.unwrap();
    assert_eq!(server.store.memory().taken(), base);
}

#[tokio::test]
async fn snapshots_bring_their_sequences_along() {
    let (server, mut client) = start(1 << 30).await;
    let name = create(&mut client, config(20, 1)).await.name;
    let sequences = (0..7).map(letters).chain((0..3).map(|i| format!("T{}", &letters(i)[1..]))).collect();
    client.reset(dealt(&name, sequences, only(0..10))).await.unwrap();
    let some = pb::SaveStateRequest { envs: only(0..10), ..save(&name) };
    let states = client.save_state(some).await.unwrap().into_inner().states;

    let (small, mut client) = start(MIB / 2).await;
    let name = create(&mut client, config(20, 1)).await.name;
    let base = small.store.memory().taken();
    let positions = |count: usize| positions::from_snapshots(states[..count].to_vec());
    let request = |count: usize| pb::RestoreStateRequest {
        envs: only(0..count as u32),
        ..restore(&name, positions(count))
    };
    refused(client.restore_state(request(10)).await, Code::ResourceExhausted, "MEMORY_LIMIT");
    assert_eq!(small.store.memory().taken(), base);
    client.restore_state(request(4)).await.expect("400 KB of 512");
    assert!(small.store.memory().taken() > base + 400_000);
    drop(server);
}

#[tokio::test]
async fn a_kept_answer_is_counted_until_the_next_call() {
    let (server, mut client) = start(1 << 30).await;
    let name = create(&mut client, config(1000, 1)).await.name;
    client.reset(reset(&name)).await.unwrap();
    let base = server.store.memory().taken();
    let numbered = |sequence_number| pb::StepRequest { sequence_number, ..step(&name, &[0; 1000]) };
    let answer = client.step(numbered(2)).await.unwrap().into_inner();
    let kept = answer.encoded_len() as u64;
    assert_eq!(server.store.memory().taken(), base + kept);
    assert_eq!(client.step(numbered(2)).await.unwrap().into_inner(), answer);
    assert_eq!(server.store.memory().taken(), base + kept, "it is not kept twice");
    client.step(numbered(0)).await.unwrap();
    assert_eq!(server.store.memory().taken(), base);

    let (server, mut client) = start(base + kept).await;
    let name = create(&mut client, config(1000, 1)).await.name;
    client.reset(reset(&name)).await.unwrap();
    let numbered = |sequence_number| pb::StepRequest { sequence_number, ..step(&name, &[0; 1000]) };
    refused(client.step(numbered(2)).await, Code::ResourceExhausted, "MEMORY_LIMIT");
    assert_eq!(server.store.memory().taken(), base);
    let next = client.step(numbered(0)).await.expect("one that is not kept").into_inner();
    assert_eq!(next.sequence_number, 2, "the refused call used no number");
}
