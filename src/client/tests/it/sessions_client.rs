//! Sessions through our own client: every call, how it recovers a lost one, and what it reports of a refused one.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tetrion_client::session::{
    Asked, AutoresetMode, CallKind, HeldSession, InvalidActionPolicy, KINDS, PackedPositions, PieceSource,
    PlacementList, PlacementsRequest, RenderFormat, Session, SessionRequest, SessionStream, Stepped,
};
use tetrion_client::{Client, ClientError, ConnectOptions, Features, RulesChoice};
use tetrion_core::engine::Key;
use tetrion_protocol::pb;
use tetrion_protocol::rules::ResolvedRules;
use tetrion_service_testing::servers::start;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

fn request() -> SessionRequest {
    SessionRequest {
        rules: RulesChoice::of_size(8, 8),
        num_envs: 3,
        seeding: Some(PieceSource::Seed(5)),
        action_mask: true,
        features: Some(Features::Set { name: "bcts8".into(), version: String::new() }),
        ..SessionRequest::default()
    }
}

#[tokio::test]
async fn actions_are_read_and_written_by_their_digits() {
    let (address, _guard) = start().await;
    let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
    let modern = SessionRequest { rules: RulesChoice::preset("guideline"), ..SessionRequest::default() };
    for (request, names) in [
        (request(), vec!["orientation", "column"]),
        (modern, vec!["hold", "orientation", "column", "row", "spin"]),
    ] {
        let session = client.create_session(&request).await.unwrap();
        let found: Vec<&str> = session.action_digits().iter().map(|digit| digit.name.as_str()).collect();
        assert_eq!(found, names);
        for action in 0..session.num_actions() {
            let digits = session.decode_action(action).unwrap();
            assert_eq!(session.encode_action(&digits), Some(action));
        }
        assert_eq!(session.decode_action(session.num_actions()), None);
        let sizes: Vec<u32> = session.action_digits().iter().map(|digit| digit.size).collect();
        assert_eq!(session.encode_action(&sizes), None);
        assert_eq!(session.encode_action(&sizes[1..]), None);
        if names.len() == 2 {
            assert_eq!(session.decode_action(19), Some(vec![2, 3]));
        }
    }
}

#[tokio::test]
async fn an_action_that_does_not_exist_is_reported() {
    let (address, _guard) = start().await;
    let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
    for (invalid_action_policy, reward, terminated) in [
        (InvalidActionPolicy::Terminate, 0.0, true),
        (InvalidActionPolicy::Ignore { reward: -2.5 }, -2.5, false),
    ] {
        let infos = ["invalid_action", "invalid_actions", "landing_row"].map(str::to_owned).to_vec();
        let mut request = request();
        request.invalid_action_policy = invalid_action_policy;
        request.infos = Some(infos);
        let mut session = client.create_session(&request).await.unwrap();
        session.reset(None, Some(&PieceSource::PieceSequences(vec!["OIT".to_owned()]))).await.unwrap();
        // An O has one orientation.
        let stepped = session.step(&[0, 8, 0], None).await.unwrap();
        assert_eq!(stepped.terminated, [false, terminated, false]);
        assert_eq!(stepped.rewards, [0.0, reward, 0.0]);
        let infos = stepped.seen.infos;
        assert_eq!(infos.names().len(), 3);
        assert_eq!(infos.column::<i8>("landing_row").unwrap().elements, [0, -1, 0]);
        assert_eq!(infos.flags("invalid_action").unwrap(), [false, true, false]);
        assert_eq!(infos.column::<i64>("invalid_actions").unwrap().elements, [0, 1, 0]);
        assert!(infos.flags("invalid_actions").is_err(), "another type");
        assert!(infos.flags("valid_action").is_err(), "another name");
    }
}

#[tokio::test]
async fn placements_of_positions_are_those_of_a_session() {
    let (address, _guard) = start().await;
    let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
    for width in [8, 20] {
        let rules = RulesChoice::of_size(width, 8);
        let observations = ["board_bits", "current"].map(str::to_owned).to_vec();
        let mut request = request();
        request.rules = rules.clone();
        request.observations = Some(observations);
        let mut session = client.create_session(&request).await.unwrap();
        let pieces = PieceSource::PieceSequences(["OIT", "ZOI", "LLJ"].map(str::to_owned).to_vec());
        session.reset(None, Some(&pieces)).await.unwrap();
        let seen = session.step(&[1, 2, 0], None).await.unwrap().seen.observations;
        let rows: Vec<u32> = match width {
            8 => seen.column::<u16>("board_bits").unwrap().elements.into_iter().map(u32::from).collect(),
            _ => seen.column::<u32>("board_bits").unwrap().elements,
        };
        let wanted = PlacementsRequest {
            features: request.features,
            columns: ["afterstates", "position_features"].map(str::to_owned).to_vec(),
            ..PlacementsRequest::default()
        };
        // I, O and L.
        let positions = PackedPositions::new(rows, 8, vec![0, 1, 6]);
        let of_positions = client.enumerate_placements(&rules, &positions, &wanted).await.unwrap();
        assert_eq!(of_positions, session.enumerate_placements(None, &wanted).await.unwrap());
        let features = of_positions.columns.column::<f32>("position_features").unwrap();
        assert_eq!(features.shape, [3, of_positions.feature_names.len() as u32]);
        assert_eq!(of_positions.columns.boards("afterstates").unwrap().shape[1], 8);
    }
}

#[tokio::test]
async fn holes_lie_in_their_columns() {
    let (address, _guard) = start().await;
    let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
    let garbage = pb::Garbage { lines_per_piece: Some(1.0), delay_pieces: Some(0), ..Default::default() };
    let rules = pb::Rules { width: 6, height: 12, garbage: Some(garbage), ..Default::default() };
    let pieces = |columns: [u32; 2]| PieceSource::PiecesAndHoles {
        sequences: vec!["OO".to_owned(); 2],
        hole_columns: columns.map(|column| vec![column]).to_vec(),
    };
    let request = SessionRequest {
        rules: RulesChoice::from(&ResolvedRules::try_from(&rules).unwrap()),
        num_envs: 2,
        seeding: Some(pieces([5, 0])),
        observations: Some(vec!["board_bits".to_owned()]),
        ..SessionRequest::default()
    };
    let mut session = client.create_session(&request).await.unwrap();
    for (seeding, expected) in [(None, [0b011111, 0b111110]), (Some(pieces([1, 2])), [0b111101, 0b111011])] {
        session.reset(None, seeding.as_ref()).await.unwrap();
        session.step(&[0, 0], None).await.unwrap();
        let seen = session.step(&[0, 0], None).await.unwrap().seen.observations;
        let rows = seen.column::<u16>("board_bits").unwrap().elements;
        assert_eq!([rows[0], rows[12]], expected);
    }
}

#[tokio::test]
async fn mirrored_matches_have_their_sides_exchanged() {
    let (address, _guard) = start().await;
    let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
    let rules = pb::Rules { preset: "tetrio".to_owned(), players: 2, ..Default::default() };
    let rules = RulesChoice::from(&ResolvedRules::try_from(&rules).unwrap());
    let request = SessionRequest { rules, num_envs: 2, ..SessionRequest::default() };
    let mut session = client.create_session(&request).await.unwrap();
    let seeds = PieceSource::Seeds(vec![5; 2]);
    session.reset(None, Some(&seeds)).await.unwrap();
    let [first, second] = session.save_state(None).await.unwrap().try_into().unwrap();
    assert_ne!(first, second);
    session.reset_mirrored(None, Some(&seeds)).await.unwrap();
    assert_eq!(session.save_state(None).await.unwrap(), [second, first]);
    let mut alone = client.create_session(&SessionRequest::default()).await.unwrap();
    let refused = alone.reset_mirrored(None, None).await.unwrap_err().to_string();
    assert!(refused.contains("swap_sides: is true, expected false: the rules have 1 player"), "{refused}");
}

#[tokio::test]
async fn placements_come_with_keys() {
    let (address, _guard) = start().await;
    let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
    let mut request = request();
    request.rules = RulesChoice::preset("guideline");
    request.num_envs = 1;
    request.features = None;
    let mut session = client.create_session(&request).await.unwrap();
    session.reset(None, Some(&PieceSource::PieceSequences(vec!["OITSZJ".to_owned()]))).await.unwrap();
    let names = |list: &PlacementList, row: usize| -> Vec<&str> {
        list.keys_of(row).into_iter().map(Key::name).collect()
    };
    let mut wanted = PlacementsRequest { columns: vec!["keys".to_owned()], ..PlacementsRequest::default() };
    let all = session.enumerate_placements(None, &wanted).await.unwrap();
    // Nine of O, 17 of I.
    let holds = all.columns.flags("holds").unwrap();
    assert_eq!((all.row_offsets.as_slice(), holds.iter().filter(|held| **held).count()), (&[0, 26][..], 17));
    assert_eq!((names(&all, 0), names(&all, 4)), (vec!["far_left", "hard_drop"], vec!["hard_drop"]));
    assert_eq!(names(&all, 9), ["hold", "far_left", "hard_drop"]);
    assert_eq!(all.columns.column::<u8>("spins").unwrap().elements, [0; 26]);
    assert!(names(&all, 26).is_empty(), "no such row");
    let actions = |list: &PlacementList| list.columns.column::<i32>("actions").unwrap().elements;
    wanted.actions = Some(actions(&all)[9..10].to_vec());
    let one = session.enumerate_placements(None, &wanted).await.unwrap();
    assert_eq!((actions(&one), names(&one, 0)), (actions(&all)[9..10].to_vec(), names(&all, 9)));
    let none = session.enumerate_placements(None, &PlacementsRequest::default()).await.unwrap();
    assert!(none.columns.column::<u8>("keys").is_err() && names(&none, 0).is_empty());
    wanted.columns = vec!["actions".to_owned()];
    let refusal = session.enumerate_placements(None, &wanted).await.unwrap_err();
    assert!(refusal.to_string().contains("no request asks for a column called \"actions\""), "{refusal}");
}

#[tokio::test]
async fn a_session_from_creation_to_deletion() {
    let (address, _guard) = start().await;
    let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
    let mut session = client.create_session(&request()).await.unwrap();
    assert_eq!((session.num_envs(), session.num_actions()), (3, 32));
    let seen = session.reset(None, None).await.unwrap();
    let board = seen.observations.column::<u8>("board").unwrap();
    assert_eq!((board.shape, board.elements.iter().max()), (vec![3, 8, 8], Some(&0)));
    assert_eq!(seen.action_mask.len(), 3 * 32);
    assert!(seen.observations.column::<f32>("board").is_err(), "another type");
    assert!(seen.observations.column::<u8>("bored").is_err(), "another name");

    // The best by the features, added up in their order, has the value that the server reports.
    let placements = session.enumerate_placements(None, &PlacementsRequest::default()).await.unwrap();
    assert_eq!(placements.row_offsets.len(), 4);
    let columns = &placements.columns;
    assert!(columns.boards("preclear_boards").is_err() && columns.column::<i8>("cells").is_err());
    let actions = columns.column::<i32>("actions").unwrap().elements;
    let rows = actions.len();
    assert_eq!(columns.column::<f32>("features").unwrap().shape, [rows as u32, 8]);
    assert_eq!(placements.feature_names.len(), 8);
    let rewards = columns.column::<f32>("rewards").unwrap().elements;
    let lines = columns.column::<u8>("lines").unwrap().elements;
    let terminated = columns.flags("terminated").unwrap();
    assert_eq!((lines.len(), terminated.len(), rewards.len()), (rows, rows, rows));
    let first: Vec<i32> = placements.row_offsets[..3].iter().map(|&row| actions[row as usize]).collect();
    let wanted = PlacementsRequest {
        features: Some(Features::List(vec!["holes".into()])),
        columns: ["afterstates", "anchors", "cells", "preclear_boards"].map(str::to_owned).to_vec(),
        ..PlacementsRequest::default()
    };
    let holes = session.enumerate_placements(Some(&[2, 0]), &wanted).await.unwrap();
    let features = holes.columns.column::<f32>("features").unwrap();
    assert_eq!((holes.feature_names, features.shape[1]), (vec!["holes".to_owned()], 1));
    let rows = features.shape[0];
    let shape = |name: &str| holes.columns.column::<i8>(name).unwrap().shape;
    assert_eq!((shape("anchors"), shape("cells")), (vec![rows, 2], vec![rows, 4, 2]));
    let [before, after] = ["preclear_boards", "afterstates"].map(|name| holes.columns.boards(name).unwrap());
    assert_eq!(before.shape, [rows, 8]);
    assert_eq!(before, after, "nothing clears on an empty playfield");

    let saved = session.save_state(None).await.unwrap();
    let stepped = session.step(&first, None).await.unwrap();
    assert_eq!(stepped.seen.infos.column::<i64>("pieces").unwrap().elements, [1, 1, 1]);
    assert_eq!(
        (stepped.rewards.len(), stepped.terminated, stepped.truncated),
        (3, vec![false; 3], vec![false; 3])
    );
    let drawn = session.render(RenderFormat::Ascii, None).await.unwrap();
    assert!(drawn.iter().all(|frame| frame.matches('#').count() == 4), "{drawn:?}");
    // Back, and the same step gives the same picture; under another future the current piece is still the same.
    session.restore_state(None, &saved, None).await.unwrap();
    session.step(&first, None).await.unwrap();
    assert_eq!(session.render(RenderFormat::Ascii, None).await.unwrap(), drawn);
    let forked = session.restore_state(None, &saved[..1], Some(9)).await.unwrap();
    let current = forked.observations.column::<i8>("current").unwrap().elements;
    assert_eq!(current, [current[0]; 3]);

    let refused = session.step(&[1000; 3], None).await.unwrap_err();
    assert!(
        matches!(&refused, ClientError::Refused { reason, .. } if reason == "ACTION_OUT_OF_RANGE"),
        "{refused:?}"
    );
    let seen =
        session.reset(Some(&[1]), Some(&PieceSource::PieceSequences(vec!["OI".into()]))).await.unwrap();
    assert_eq!(seen.observations.column::<i8>("current").unwrap().elements, [1]);
    session.renew().await.unwrap();
    let name = session.name().to_owned();
    session.delete().await.unwrap();
    assert!(name.starts_with("sessions/"));
}

#[tokio::test]
async fn a_stream_gives_what_single_steps_give() {
    let (address, _guard) = start().await;
    let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
    let mut request = request();
    request.autoreset_mode = AutoresetMode::SameStep;
    let (mut one, mut other) =
        (client.create_session(&request).await.unwrap(), client.create_session(&request).await.unwrap());
    one.reset(None, Some(&PieceSource::Seeds(vec![1, 2, 3]))).await.unwrap();
    other.reset(None, Some(&PieceSource::Seeds(vec![1, 2, 3]))).await.unwrap();
    // Each in its own column of the first placement that always exists in the open, until it no longer does.
    let mut stream = one.stream();
    for _ in 0..20 {
        stream.send(&[1, 3, 2], None).await.unwrap();
    }
    let mut ends = 0;
    let mut refused = false;
    for _ in 0..20 {
        match (stream.next().await, other.step(&[1, 3, 2], None).await) {
            (Ok(Some(streamed)), Ok(stepped)) => {
                assert_eq!(streamed.rewards, stepped.rewards);
                assert_eq!(streamed.terminated, stepped.terminated);
                assert_eq!(board(&streamed), board(&stepped));
                assert_eq!(streamed.finals.is_some(), stepped.terminated.contains(&true));
                ends += u32::from(streamed.finals.is_some());
            }
            (Err(ClientError::Refused { .. }), Err(ClientError::Refused { .. })) => refused = true,
            (streamed, stepped) => panic!("{streamed:?} {stepped:?}"),
        }
        if refused {
            break;
        }
    }
    assert!(ends > 0 || refused);
}

/// A door before a server. Slamming it breaks every connection through it; new ones lead to the server of the moment.
struct Door {
    address: String,
    server: Arc<Mutex<String>>,
    connections: Arc<AtomicU32>,
    slam: Arc<Notify>,
}

impl Door {
    async fn to(server: String) -> Door {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let door = Door {
            address: listener.local_addr().unwrap().to_string(),
            server: Arc::new(Mutex::new(server)),
            connections: Arc::default(),
            slam: Arc::default(),
        };
        let (server, connections, slam) = (door.server.clone(), door.connections.clone(), door.slam.clone());
        tokio::spawn(async move {
            while let Ok((mut from, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let (server, slam) = (server.lock().unwrap().clone(), slam.clone());
                tokio::spawn(async move {
                    let mut to = TcpStream::connect(server).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut from, &mut to) => {}
                        () = slam.notified() => {}
                    }
                });
            }
        });
        door
    }

    fn slam(&self) {
        self.slam.notify_waiters();
    }

    /// Puts another server behind the door, which has none of the sessions of the one before.
    fn replace(&self, server: String) {
        *self.server.lock().unwrap() = server;
        self.slam();
    }
}

/// A session of one environment at this address, whose first episode has begun.
async fn begun(address: String, snapshot_every: u32) -> Session {
    let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
    let request = SessionRequest { num_envs: 1, snapshot_every, ..request() };
    let mut session = client.create_session(&request).await.unwrap();
    session.reset(None, None).await.unwrap();
    session
}

fn board(stepped: &Stepped) -> Vec<u8> {
    stepped.seen.observations.column::<u8>("board").unwrap().elements
}

#[tokio::test]
async fn a_lost_connection_is_made_again_and_no_step_is_done_twice() {
    let (server, _guard) = start().await;
    let door = Door::to(server.clone()).await;
    let [mut session, mut undisturbed] = [begun(door.address.clone(), 0).await, begun(server, 0).await];
    for i in 0..40 {
        let placements = undisturbed.enumerate_placements(None, &PlacementsRequest::default()).await.unwrap();
        let actions = placements.columns.column::<i32>("actions").unwrap().elements;
        let action = actions.first().copied().unwrap_or(0);
        if i % 8 == 3 {
            door.slam();
        }
        let (disturbed, expected) =
            (session.step(&[action], None).await.unwrap(), undisturbed.step(&[action], None).await.unwrap());
        let length = |stepped: &Stepped| stepped.seen.infos.column::<i64>("steps").unwrap().elements;
        assert_eq!(length(&disturbed), length(&expected), "step {i}");
    }
    let connections = door.connections.load(Ordering::SeqCst);
    assert!(connections >= 4, "{connections} connections");
}

#[tokio::test]
async fn a_session_that_is_lost_with_its_server_is_made_again() {
    // Snapshots every 7 calls: servers change before the first ones, right before and behind some, and later.
    for losses in [&[0][..], &[6, 7], &[13, 14, 30]] {
        let mut servers = vec![start().await];
        let door = Door::to(servers[0].0.clone()).await;
        let mut session = begun(door.address.clone(), 7).await;
        let mut undisturbed = begun(servers[0].0.clone(), 0).await;
        for i in 0..40 {
            if losses.contains(&i) {
                servers.push(start().await);
                door.replace(servers.last().unwrap().0.clone());
            }
            let name = session.name().to_owned();
            let again = session.step(&[i % 6], None).await.unwrap();
            let expected = undisturbed.step(&[i % 6], None).await.unwrap();
            assert_eq!(board(&again), board(&expected), "step {i}, losses {losses:?}");
            assert_eq!(session.name() != name, losses.contains(&i));
        }
        let states = |session: Session| async move {
            let mut session = session;
            session.save_state(None).await.unwrap()
        };
        assert_eq!(states(session).await, states(undisturbed).await);
    }
}

#[tokio::test]
async fn a_stream_goes_on_after_a_loss_and_does_every_step_once() {
    let (first, _guard) = start().await;
    let (second, _other) = start().await;
    for is_lost in [false, true] {
        let door = Door::to(first.clone()).await;
        let [mut session, mut undisturbed] =
            [begun(door.address.clone(), 7).await, begun(first.clone(), 0).await];
        let (mut stream, mut steps) = (session.stream(), 0..60);
        for step in 0..60 {
            // Always some ahead of what has been read, so that the server has done more than the client knows.
            for action in steps.by_ref().take(if step == 0 { 20 } else { 1 }) {
                stream.send(&[action % 6], None).await.unwrap();
            }
            if [5, 9, 33].contains(&step) {
                if is_lost && step == 9 { door.replace(second.clone()) } else { door.slam() }
            }
            let again = stream.next().await.unwrap().unwrap();
            let expected = undisturbed.step(&[step % 6], None).await.unwrap();
            assert_eq!(board(&again), board(&expected), "step {step}");
        }
        assert!(stream.next().await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_caller_who_leaves_does_not_take_the_snapshots_along() {
    let [(first, _guard), (second, _other)] = [start().await, start().await];
    let door = Door::to(first).await;
    let client =
        Client::connect(std::slice::from_ref(&door.address), ConnectOptions::default()).await.unwrap();
    let mut held = HeldSession::create(&client, pb::CreateSessionRequest::default(), 1).await.unwrap();
    let mut stream = SessionStream::default();
    let reset = Asked::new(kind("reset"), &pb::ResetRequest::default());
    for _ in 0..30 {
        stream.mend(&mut held).await.unwrap();
        stream.send(&mut held, reset.clone());
        stream.receive(&mut held).await.unwrap();
        stream.abandon(); // with snapshots on their way
    }
    door.replace(second);
    held.call(Asked::new(kind("save_state"), &pb::SaveStateRequest::default())).await.unwrap();
    // What the second server has done: it restored the last snapshots and repeated the few calls since.
    let calls = client.sessions().await.unwrap()[0].sequence_number;
    assert!(calls <= 4, "{calls} calls");
}

fn kind(name: &str) -> &'static CallKind {
    KINDS.into_iter().find(|kind| kind.name == name).unwrap()
}

#[tokio::test]
async fn without_snapshots_a_session_is_lost_with_its_server() {
    let [(first, _guard), (second, _other)] = [start().await, start().await];
    let door = Door::to(first).await;
    let mut session = begun(door.address.clone(), 0).await;
    door.replace(second);
    let refused = session.step(&[0], None).await.unwrap_err();
    assert!(
        matches!(&refused, ClientError::Refused { reason, .. } if reason == "SESSION_NOT_FOUND"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_wait_that_is_left_early_costs_no_step() {
    let (server, _guard) = start().await;
    let [mut session, mut undisturbed] = [begun(server.clone(), 3).await, begun(server, 0).await];
    // A call with one answer, which the next one finishes first; here the first one of a stream.
    tokio::select! {
        biased;
        _ = session.step(&[0], None) => panic!("the answer was there at once"),
        () = std::future::ready(()) => {}
    }
    undisturbed.step(&[0], None).await.unwrap();
    let mut stream = session.stream();
    for step in 0..20 {
        stream.send(&[step % 6], None).await.unwrap();
        if step % 3 == 1 {
            // Polled once: the step is on its way, and its answer stays with the stream.
            tokio::select! {
                biased;
                _ = stream.next() => panic!("the answer was there at once"),
                () = std::future::ready(()) => {}
            }
        }
        let again = stream.next().await.unwrap().unwrap();
        let expected = undisturbed.step(&[step % 6], None).await.unwrap();
        assert_eq!(board(&again), board(&expected), "step {step}");
    }
}

#[tokio::test]
async fn patience_ends() {
    let (address, guard) = start().await;
    let options = ConnectOptions { patience: Duration::from_millis(300), ..ConnectOptions::default() };
    let client = Client::connect(&[address], options).await.unwrap();
    let mut session = client.create_session(&request()).await.unwrap();
    session.reset(None, None).await.unwrap();
    drop(guard);
    let lost = session.step(&[0; 3], None).await.unwrap_err();
    assert!(matches!(lost, ClientError::Lost { .. }), "{lost:?}");
}
