//! Sessions that one server writes and the next restores go on as if nothing had happened.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use prost::Message;
use tetrion_protocol::{features, pb, seeding};
use tetrion_service::{Clock, Pressure, ServerLimits, SessionStore, TakenUp};
use tonic::Code;

use super::history::timeless;
use crate::support::{TestServer, by, numbers, save, start, start_with};
use tetrion_service_testing::{Client, config, create, only, refused, reset, step};

/// The bytes that the sessions of a server are on the disk.
async fn written(server: &TestServer) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let done = server.store.put_away(&mut file).await.unwrap();
    assert_eq!((done.lost, done.num_bytes), (0, file.get_ref().len() as u64));
    file.into_inner()
}

fn taken_up(server: &TestServer, file: &[u8]) -> TakenUp {
    server.store.take_up(&mut &file[..], file.len() as u64).unwrap()
}

fn all(sessions: u32) -> TakenUp {
    TakenUp { sessions, problems: vec![] }
}

/// A line of garbage for each piece.
fn each_piece() -> pb::Garbage {
    pb::Garbage { lines_per_piece: Some(1.0), ..Default::default() }
}

/// A session of each kind that differs in what must be written.
fn configs() -> Vec<pb::SessionConfig> {
    let rules = |preset: &str| pb::Rules { preset: preset.to_owned(), ..Default::default() };
    let dealt_by = |randomizer: pb::Randomizer| pb::Rules { randomizer: randomizer.into(), ..rules("") };
    let features = features::from_set("bcts8");
    vec![
        config(3, 7),
        pb::SessionConfig {
            rules: Some(pb::Rules {
                width: 20,
                height: 30,
                preview: Some(3),
                ..dealt_by(pb::Randomizer::Bag7)
            }),
            autoreset_mode: pb::AutoresetMode::SameStep.into(),
            features: Some(features),
            action_mask_format: pb::ActionMaskFormat::Bytes.into(),
            ..config(2, 8)
        },
        pb::SessionConfig { rules: Some(rules("lab")), max_episode_steps: 50, ..config(2, 9) },
        pb::SessionConfig {
            keep_colors: true,
            label: "ppo lr 3e-4".to_owned(),
            interactive: true,
            ..config(2, 10)
        },
        pb::SessionConfig {
            seeding: Some(seeding::from_seeds(vec![1, u64::MAX])),
            rules: Some(dealt_by(pb::Randomizer::Balanced)),
            invalid_action_policy: pb::InvalidActionPolicy::Ignore.into(),
            invalid_action_reward: -1.0,
            ..config(2, 0)
        },
        pb::SessionConfig {
            seeding: Some(seeding::from_sequences(vec!["IOTSZJLIOTSZJLIOTSZJL".to_owned()])),
            ..config(3, 0)
        },
        pb::SessionConfig {
            rules: Some(pb::Rules { garbage: Some(each_piece()), ..rules("") }),
            seeding: Some(seeding::from_sequences_with_holes(
                vec!["IOTSZJLIOTSZJLIOTSZJL".to_owned(); 2],
                vec![vec![9, 1, 5, 0, 8, 3, 1, 2, 7], vec![]],
            )),
            ..config(2, 0)
        },
    ]
}

/// Plays this many steps, each with the first action that exists, and returns all answers as bytes.
async fn play(client: &mut Client, session: &pb::Session, steps: usize) -> Vec<Vec<u8>> {
    let num_envs = session.config.as_ref().unwrap().num_envs;
    let mut answers = Vec::new();
    for i in 0..steps {
        let actions: Vec<i32> = (0..num_envs).map(|env_id| ((i as u32 + env_id) % 6) as i32).collect();
        match client.step(step(&session.name, &actions)).await {
            Ok(answer) => answers.push(answer.into_inner().encode_to_vec()),
            // Both sides refuse in the same words.
            Err(status) => {
                answers.push(status.message().as_bytes().to_vec());
                answers.push(client.reset(reset(&session.name)).await.unwrap().into_inner().encode_to_vec());
            }
        }
    }
    answers
}

#[tokio::test]
async fn sessions_of_every_kind_go_on_with_the_same_bytes() {
    let (old, twin, new) = (start().await, start().await, start().await);
    let (mut before, mut beside) = (old.client().await, twin.client().await);
    let mut sessions = Vec::new();
    for (config, steps) in
        configs().into_iter().flat_map(|config| [(config.clone(), None), (config, Some(40))])
    {
        let pair = (create(&mut before, config.clone()).await, create(&mut beside, config).await);
        if let Some(steps) = steps {
            before.reset(reset(&pair.0.name)).await.unwrap();
            beside.reset(reset(&pair.1.name)).await.unwrap();
            assert_eq!(play(&mut before, &pair.0, steps).await, play(&mut beside, &pair.1, steps).await);
        }
        sessions.push(pair);
    }
    let described = |client: &mut Client, name: &str| {
        let (mut client, request) = (client.clone(), pb::GetSessionRequest { name: name.to_owned() });
        async move { client.get_session(request).await.unwrap().into_inner().session.unwrap() }
    };
    let file = written(&old).await;
    assert_eq!(taken_up(&new, &file), all(sessions.len() as u32));
    let mut after = new.client().await;
    let mut num_episodes = 0;
    for (session, other) in sessions {
        let now = described(&mut after, &session.name).await;
        assert_eq!(now.config, session.config, "every default, and the seed that it was made with");
        assert_eq!(
            (now.feature_columns, now.observation_specs),
            (session.feature_columns.clone(), session.observation_specs.clone())
        );
        assert_eq!(now.create_time, session.create_time);
        if now.sequence_number == 0 {
            let first = after.reset(reset(&session.name)).await.unwrap().into_inner();
            assert_eq!(first, beside.reset(reset(&other.name)).await.unwrap().into_inner());
        }
        assert_eq!(play(&mut after, &session, 60).await, play(&mut beside, &other, 60).await);
        let states = after.save_state(save(&session.name)).await.unwrap().into_inner();
        assert_eq!(states, beside.save_state(save(&other.name)).await.unwrap().into_inner());
        let history = super::history::get(&mut after, &session.name).await;
        num_episodes += history.num_episodes;
        assert_eq!(timeless(history), timeless(super::history::get(&mut beside, &other.name).await));
    }
    assert!(num_episodes > 20, "{num_episodes}");
}

#[tokio::test]
async fn a_numbered_request_whose_answer_was_lost_is_answered_by_the_next_server() {
    let (old, new) = (start().await, start().await);
    let mut client = old.client().await;
    let session = create(&mut client, config(2, 1)).await;
    client.reset(pb::ResetRequest { sequence_number: 1, ..reset(&session.name) }).await.unwrap();
    let request = pb::StepRequest { sequence_number: 2, ..step(&session.name, &[3, 4]) };
    let answer = client.step(request.clone()).await.unwrap().into_inner();
    let file = written(&old).await;
    let late = refused(client.step(request.clone()).await, Code::Unavailable, "DRAINING");
    assert!(late.details.retry_info().is_some(), "what is written down does not change any more");

    assert_eq!(taken_up(&new, &file), all(1));
    let mut client = new.client().await;
    assert_eq!(client.step(request.clone()).await.unwrap().into_inner(), answer);
    let other = pb::StepRequest { sequence_number: 2, ..step(&session.name, &[3, 5]) };
    refused(client.step(other).await, Code::Aborted, "SEQUENCE_MISMATCH");
    // It may be written a second time before its client comes back.
    let third = start().await;
    assert_eq!(taken_up(&third, &written(&new).await), all(1));
    let mut client = third.client().await;
    assert_eq!(client.step(request).await.unwrap().into_inner(), answer);
    client.step(pb::StepRequest { sequence_number: 3, ..step(&session.name, &[3, 5]) }).await.unwrap();
}

#[tokio::test]
async fn a_request_that_made_a_session_finds_it_again() {
    let (old, new) = (start().await, start().await);
    let request = |seed| pb::CreateSessionRequest {
        config: Some(config(1, seed)),
        request_id: "mine".to_owned(),
        ..Default::default()
    };
    let name = |answer: tonic::Response<pb::CreateSessionResponse>| answer.into_inner().session.unwrap().name;
    let made = name(old.client().await.create_session(by("ann", request(1))).await.unwrap());
    assert_eq!(taken_up(&new, &written(&old).await), all(1));
    let mut client = new.client().await;
    assert_eq!(name(client.create_session(by("ann", request(1))).await.unwrap()), made);
    refused(client.create_session(by("ann", request(2))).await, Code::AlreadyExists, "REQUEST_ID_REUSED");
    refused(client.reset(by("bob", reset(&made))).await, Code::NotFound, "SESSION_NOT_FOUND");
    let list = |caller| by(caller, pb::ListSessionsRequest::default());
    assert_eq!(client.list_sessions(list("ann")).await.unwrap().into_inner().sessions.len(), 1);
    assert_eq!(client.list_sessions(list("bob")).await.unwrap().into_inner().sessions.len(), 0);
}

#[tokio::test]
async fn a_lease_stands_still_between_two_servers() {
    let (old, new) = (start().await, start().await);
    let ttl = Some(prost_types::Duration { seconds: 100, nanos: 0 });
    let request = pb::CreateSessionRequest { config: Some(config(1, 0)), ttl, ..Default::default() };
    let name = old.client().await.create_session(request).await.unwrap().into_inner().session.unwrap().name;
    old.clock.advance(Duration::from_secs(60));
    // Long after, on a machine whose clock has run for long.
    new.clock.advance(Duration::from_secs(100_000));
    assert_eq!(taken_up(&new, &written(&old).await), all(1));
    let mut client = new.client().await;
    new.clock.advance(Duration::from_secs(39));
    client.reset(reset(&name)).await.unwrap();
    new.clock.advance(Duration::from_secs(99));
    client.reset(reset(&name)).await.unwrap();
    new.clock.advance(Duration::from_secs(101));
    refused(client.reset(reset(&name)).await, Code::NotFound, "SESSION_EXPIRED");
    // A session whose lease has run out is not written.
    assert_eq!(taken_up(&start().await, &written(&new).await), all(0));
}

#[tokio::test]
async fn a_sequence_that_environments_share_is_written_once() {
    let server = start().await;
    let mut client = server.client().await;
    let pieces = "IOTSZJL".repeat(10_000);
    let config = pb::SessionConfig { seeding: Some(seeding::from_sequences(vec![pieces])), ..config(500, 0) };
    let session = create(&mut client, config).await;
    client.reset(pb::ResetRequest { envs: only(0..250), ..reset(&session.name) }).await.unwrap();
    let file = written(&server).await;
    assert!(file.len() < 70_000 + 500 * 400, "{} bytes", file.len());
    let new = start().await;
    assert_eq!(taken_up(&new, &file), all(1));
    let answer = new.client().await.reset(reset(&session.name)).await.unwrap().into_inner();
    assert_eq!(numbers(&answer.observations[1]), [0.0; 500], "an I everywhere");
}

#[tokio::test]
async fn a_server_takes_up_as_much_as_it_may_have() {
    let old = start().await;
    let mut client = old.client().await;
    let mut names = Vec::new();
    for num_envs in [4, 7, 4, 1] {
        names.push(create(&mut client, config(num_envs, 0)).await.name);
    }
    let new = start_with(ServerLimits { max_sessions: 8, max_envs: 10, ..Default::default() }).await;
    let taken = taken_up(&new, &written(&old).await);
    assert_eq!((taken.sessions, taken.problems.len()), (3, 1));
    assert!(taken.problems[0].contains("session 2") && taken.problems[0].contains("7 more"), "{taken:?}");
    assert_eq!((new.store.num_sessions(), new.store.num_envs()), (3, 9));
    let mut client = new.client().await;
    for (name, there) in names.iter().zip([true, false, true, true]) {
        assert_eq!(client.reset(reset(name)).await.is_ok(), there);
    }
    create(&mut client, config(1, 0)).await;
}

#[tokio::test]
async fn a_file_that_is_cut_or_damaged_gives_what_is_whole_and_says_so() {
    let server = start().await;
    let mut client = server.client().await;
    let session = create(&mut client, config(2, 1)).await;
    client.reset(reset(&session.name)).await.unwrap();
    create(&mut client, config(1, 2)).await;
    let file = written(&server).await;
    let length = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let first = 10 + 16 + length(10);
    let second = first + 16 + length(first);
    assert_eq!(file.len(), second + 16);

    let take_up = |file: &[u8]| {
        let store = SessionStore::new(ServerLimits::default(), Clock::system(), &Pressure::default());
        let taken = store.take_up(&mut &file[..], file.len() as u64).unwrap();
        assert_eq!(store.num_sessions(), taken.sessions);
        taken
    };
    for cut in 0..file.len() {
        let taken = take_up(&file[..cut]);
        let whole = u32::from(cut >= first) + u32::from(cut >= second);
        assert_eq!(
            (taken.sessions, taken.problems),
            (whole, vec!["the file is truncated".to_owned()]),
            "at {cut}"
        );
    }
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (at % 8);
        let taken = take_up(&damaged);
        let whole = u32::from(at >= first) + u32::from(at >= second);
        assert_eq!((taken.sessions, taken.problems.len()), (whole, 1), "byte {at}: {taken:?}");
    }
    assert_eq!(take_up(&[&file[..], b"x"].concat()).problems.len(), 1);
    assert_eq!(take_up(&file), all(2));
    assert_eq!(taken_up(&server, &file).problems.len(), 2, "they are there already");
}

/// A disk with room for so many bytes.
struct Disk {
    file: Cursor<Vec<u8>>,
    room: u64,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.room - self.file.position();
        if left == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write(&bytes[..bytes.len().min(left as usize)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// The bytes of each session in a file, its length and checksum included.
fn records(file: &[u8]) -> Vec<u64> {
    let length = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let (mut at, mut records) = (10, Vec::new());
    while length(at) != u64::MAX {
        records.push(16 + length(at));
        at += 16 + length(at) as usize;
    }
    records
}

#[tokio::test]
async fn a_full_disk_costs_only_the_sessions_that_it_has_no_room_for() {
    let server = start().await;
    let mut client = server.client().await;
    for (num_envs, seed) in [1, 40, 2, 30, 3, 1].into_iter().zip(0..) {
        let session = create(&mut client, config(num_envs, seed)).await;
        client.reset(reset(&session.name)).await.unwrap();
    }
    let whole = written(&server).await;
    for room in (0..whole.len() as u64 + 20).step_by(7) {
        let mut disk = Disk { file: Cursor::new(Vec::new()), room };
        let done = server.store.put_away(&mut disk).await;
        let Ok(done) = done else {
            assert!(room < 26, "room for {room} bytes: {done:?}");
            continue;
        };
        // In the order of age, each for which there is room, and room for the end behind it.
        let (mut left, mut kept) = (room - 26, Vec::new());
        for record in records(&whole) {
            if record <= left {
                left -= record;
                kept.push(record);
            }
        }
        let mut file = disk.file.into_inner();
        file.truncate(done.num_bytes as usize);
        assert_eq!(records(&file), kept, "room for {room} bytes");
        assert_eq!((done.sessions, done.lost), (kept.len() as u32, 6 - kept.len() as u32));
        let why = done.error.map(|error| error.kind());
        assert_eq!(why, Some(io::ErrorKind::StorageFull).filter(|_| done.lost > 0));
        let next = SessionStore::new(ServerLimits::default(), Clock::system(), &Pressure::default());
        assert_eq!(next.take_up(&mut &file[..], file.len() as u64).unwrap(), all(done.sessions));
    }
}

/// A file of so many bytes whose first session says that it has nearly all of them.
struct Sparse(u64);

impl Read for Sparse {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = into.len().min(self.0 as usize);
        into[..length].fill(0);
        self.0 -= length as u64;
        Ok(length)
    }
}

#[test]
fn a_session_of_gigabytes_is_not_read() {
    let store = SessionStore::new(
        ServerLimits { session_memory: 1 << 20, ..Default::default() },
        Clock::system(),
        &Pressure::default(),
    );
    for length in [(5u64 << 20) + 1, 8 << 30, u64::MAX - 1] {
        let head = [b"TTRNSESS\x01\0", &length.to_le_bytes()[..], &[0; 8]].concat();
        let mut file = head.chain(Sparse(u64::MAX));
        let taken = store.take_up(&mut file, u64::MAX).unwrap();
        let problem = format!(
            "session 1 of the file has {length} bytes, expected at most 5242880; it and the rest of the file are not read"
        );
        assert_eq!(taken, TakenUp { sessions: 0, problems: vec![problem] });
    }
    // A length within the bound that the file does not have.
    let head = [b"TTRNSESS\x01\0", &(5u64 << 20).to_le_bytes()[..], &[0; 8], b"short"].concat();
    let taken = store.take_up(&mut &head[..], head.len() as u64).unwrap();
    assert_eq!(taken.problems, ["the file is truncated"]);
    let taken = store.take_up(&mut &head[..], u64::MAX).unwrap();
    assert_eq!(taken.problems, ["the file is truncated"]);
}

#[tokio::test]
async fn calls_that_wait_for_a_session_do_not_hold_up_the_end() {
    let server = start().await;
    let mut client = server.client().await;
    let session = create(&mut client, config(10_000, 1)).await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (mut client, request) = (client.clone(), reset(&session.name));
        calls.spawn(async move { client.reset(request).await.map_err(|status| status.code()) });
    }
    calls.join_next().await.unwrap().unwrap().unwrap();
    let file = written(&server).await;
    let answers = calls.join_all().await;
    let num_refused =
        answers.iter().filter(|answer| answer.as_ref().err() == Some(&Code::Unavailable)).count();
    assert!(num_refused > 30, "{num_refused} of 49 calls are refused, {} end otherwise", 49 - num_refused);
    assert_eq!(taken_up(&start().await, &file), all(1));
}
