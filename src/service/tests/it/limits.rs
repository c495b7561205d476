//! Every bound on a request to EnvironmentService: at it, and one past it.

use bytes::Bytes;
use prost::Message;
use tetrion_core::features::FEATURES;
use tetrion_protocol::limits::*;
use tetrion_protocol::{features, pb, positions, seeding};
use tetrion_service::ServerLimits;
use tonic::Code;

use crate::support::{drawing, field_names, numbers, restore, save, start, start_with};
use tetrion_service_testing::{Client, config, create, enumerate, only, refused, reset, step};

fn request(config: pb::SessionConfig) -> pb::CreateSessionRequest {
    pb::CreateSessionRequest { config: Some(config), ..Default::default() }
}

/// Makes one session, and expects the refusal of another, by a field.
async fn edge(
    client: &mut Client,
    at: pb::CreateSessionRequest,
    past: pb::CreateSessionRequest,
    field: &str,
) {
    let made =
        client.create_session(at).await.unwrap_or_else(|error| panic!("{field} at its limit: {error:?}"));
    let name = made.into_inner().session.unwrap().name;
    client.delete_session(pb::DeleteSessionRequest { name, allow_missing: false }).await.unwrap();
    let reported = refused(client.create_session(past).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(reported.fields(), [field]);
}

#[tokio::test]
async fn of_a_session() {
    let server = start().await;
    let mut client = server.client().await;
    let narrow = |num_envs| {
        let observation_fields = field_names(&["current"]);
        request(pb::SessionConfig { observation_fields, max_response_bytes: 8 << 20, ..config(num_envs, 1) })
    };
    let most = MAX_ENVS_PER_SESSION;
    edge(&mut client, narrow(most), narrow(most + 1), "config.num_envs").await;
    let bytes = |max_response_bytes| request(pb::SessionConfig { max_response_bytes, ..config(1, 1) });
    edge(&mut client, bytes(MAX_RESPONSE_BYTES), bytes(MAX_RESPONSE_BYTES + 1), "config.max_response_bytes")
        .await;
    let ttl = |seconds, nanos| {
        let ttl = Some(prost_types::Duration { seconds, nanos });
        pb::CreateSessionRequest { ttl, ..request(config(1, 1)) }
    };
    let day = MAX_TTL.as_secs() as i64;
    edge(&mut client, ttl(day, 0), ttl(day, 1), "ttl").await;
    edge(&mut client, ttl(0, 1), ttl(0, 0), "ttl").await;
    edge(&mut client, ttl(1, 0), ttl(-1, 0), "ttl").await;
    edge(&mut client, ttl(1, 0), ttl(i64::MAX, i32::MAX), "ttl").await;
    edge(&mut client, ttl(1, 0), ttl(i64::MIN, i32::MIN), "ttl").await;
    edge(&mut client, ttl(1, 0), ttl(i64::MIN, 0), "ttl").await;
    let named = |length| pb::CreateSessionRequest { request_id: "x".repeat(length), ..request(config(1, 1)) };
    edge(&mut client, named(MAX_NAME_BYTES), named(MAX_NAME_BYTES + 1), "request_id").await;
    let labelled = |label: &str| request(pb::SessionConfig { label: label.to_owned(), ..config(1, 1) });
    // A letter of two bytes.
    let (at, past) = ("ü".repeat(MAX_NAME_BYTES / 2), "ü".repeat(MAX_NAME_BYTES / 2) + "x");
    edge(&mut client, labelled(&at), labelled(&past), "config.label").await;
    for past in ["two\nlines", "\u{1b}[2J", "tab\there", "\u{9b}"] {
        edge(&mut client, labelled("ppo lr 3e-4"), labelled(past), "config.label").await;
    }
}

#[tokio::test]
async fn of_rules() {
    let server = start().await;
    let mut client = server.client().await;
    let ruled = |rules| request(pb::SessionConfig { rules: Some(rules), ..config(1, 1) });
    let plain = pb::Rules::default;
    for (at, past) in [(4, 3), (32, 33)] {
        let width = |width| ruled(pb::Rules { width, ..plain() });
        edge(&mut client, width(at), width(past), "config.rules.width").await;
    }
    for (at, past) in [(4, 3), (40, 41)] {
        let height = |height| ruled(pb::Rules { height, ..plain() });
        edge(&mut client, height(at), height(past), "config.rules.height").await;
    }
    let preview = |preview| ruled(pb::Rules { preview: Some(preview), ..plain() });
    edge(&mut client, preview(6), preview(7), "config.rules.preview").await;
    let piece = |points| {
        let scoring = pb::Scoring { piece: Some(points), ..Default::default() };
        ruled(pb::Rules { scoring: Some(scoring), ..plain() })
    };
    edge(&mut client, piece(-1e15), piece(-1e15 - 1.0), "config.rules.scoring.piece").await;
}

#[tokio::test]
async fn of_explicit_sequences() {
    let server = start().await;
    let mut client = server.client().await;
    let (one, all) = (MAX_SEQUENCE_PIECES as usize, MAX_REQUEST_SEQUENCE_PIECES as usize);
    let dealt = |lengths: Vec<usize>| {
        let num_envs = lengths.len() as u32;
        let piece_sequences = lengths.into_iter().map(|length| "I".repeat(length)).collect();
        request(pb::SessionConfig {
            seeding: Some(seeding::from_sequences(piece_sequences)),
            ..config(num_envs, 0)
        })
    };
    edge(&mut client, dealt(vec![one]), dealt(vec![one + 1]), "config.seeding.piece_sequences.sequences[0]")
        .await;
    let (full, mut more) = (vec![one; all / one], vec![one; all / one]);
    more.push(1);
    edge(&mut client, dealt(full), dealt(more), "config.seeding.piece_sequences.sequences").await;
    // With holes, of which each list takes from the bound of its sequence.
    let holed = |lengths: Vec<(usize, usize)>| {
        let garbage = pb::Garbage { lines_per_piece: Some(1.0), ..Default::default() };
        let (pieces, holes): (Vec<_>, Vec<_>) =
            lengths.into_iter().map(|(pieces, holes)| ("I".repeat(pieces), vec![9; holes])).unzip();
        request(pb::SessionConfig {
            rules: Some(pb::Rules { garbage: Some(garbage), ..Default::default() }),
            num_envs: pieces.len() as u32,
            seeding: Some(seeding::from_sequences_with_holes(pieces, holes)),
            ..Default::default()
        })
    };
    let field = "config.seeding.piece_sequences.hole_columns";
    let (at, past) = (holed(vec![(1, one - 1)]), holed(vec![(1, one)]));
    edge(&mut client, at, past, &format!("{field}[0].columns")).await;
    let (full, mut more) = (vec![(1, one - 1); all / one], vec![(1, one - 1); all / one]);
    more.push((1, 0));
    edge(&mut client, holed(full), holed(more), field).await;
    // The same in a reset.
    let name = create(&mut client, config(1, 1)).await.name;
    let with = |length| pb::ResetRequest {
        seeding: Some(seeding::from_sequences(vec!["I".repeat(length)])),
        ..reset(&name)
    };
    client.reset(with(one)).await.expect("a sequence at the limit");
    let reported = refused(client.reset(with(one + 1)).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(reported.fields(), ["seeding.piece_sequences.sequences[0]"]);
    // The longest sequence makes the largest snapshot, which can be restored.
    let states = client.save_state(save(&name)).await.unwrap().into_inner().states;
    assert!(
        states[0].len() > one && states[0].len() <= MAX_STATE_BYTES as usize,
        "{} bytes",
        states[0].len()
    );
    let sent = |states| restore(&name, positions::from_snapshots(states));
    client.restore_state(sent(states.clone())).await.expect("the largest snapshot");
    // One piece more, in a snapshot written by hand.
    let mut longer = states[0][..states[0].len() - 8].to_vec();
    let at = longer.len() - one - 8;
    longer[at..at + 4].copy_from_slice(&(MAX_SEQUENCE_PIECES + 1).to_le_bytes());
    longer.insert(at + 4, 0);
    longer.extend(xxhash_rust::xxh3::xxh3_64(&longer).to_le_bytes());
    assert!(longer.len() <= MAX_STATE_BYTES as usize);
    let longer = client.restore_state(sent(vec![longer.into()])).await;
    let reported = refused(longer, Code::InvalidArgument, "INVALID_STATE");
    assert_eq!(reported.fields(), ["positions.snapshots.states[0]"]);
    let oversized = Bytes::from(vec![0; MAX_STATE_BYTES as usize + 1]);
    let reported =
        refused(client.restore_state(sent(vec![oversized])).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(reported.fields(), ["positions.snapshots.states[0]"]);
}

#[tokio::test]
async fn of_a_feature_selection() {
    let server = start().await;
    let mut client = server.client().await;
    let selected = |features| {
        let features = Some(features::from_names(features));
        let rules = Some(pb::Rules { width: 32, ..Default::default() });
        request(pb::SessionConfig { features, rules, ..config(1, 1) })
    };
    // Every feature, at the widest playfield.
    let mut all: Vec<String> = FEATURES.iter().map(|feature| feature.name.to_owned()).collect();
    let of_playfield = FEATURES.iter().filter(|feature| !feature.is_of_landing());
    all.extend(of_playfield.map(|feature| format!("{}_preclear", feature.name)));
    let past = vec!["holes".to_owned(); MAX_FEATURES as usize + 1];
    edge(&mut client, selected(all), selected(past), "config.features.names.names").await;
}

#[tokio::test]
async fn of_positions() {
    let server = start().await;
    let mut client = server.client().await;
    let drawn = |count| {
        let drawings = vec![drawing(&[], "O"); count];
        let positions = positions::from_drawings(drawings);
        pb::EnumeratePlacementsRequest { max_response_bytes: 32 << 20, ..enumerate(positions) }
    };
    let most = MAX_POSITIONS as usize;
    let answer =
        client.enumerate_placements(drawn(most)).await.expect("as many positions as may be").into_inner();
    assert_eq!(answer.row_offsets.unwrap().shape, [MAX_POSITIONS + 1]);
    let reported =
        refused(client.enumerate_placements(drawn(most + 1)).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(reported.fields(), ["positions.drawings.drawings"]);
}

#[tokio::test]
async fn of_a_page() {
    let server =
        start_with(ServerLimits { max_sessions: 1_100, max_envs: 1_100, ..Default::default() }).await;
    let mut client = server.client().await;
    for seed in 0..=u64::from(MAX_PAGE_SIZE) {
        create(&mut client, config(1, seed)).await;
    }
    let page = |page_size| pb::ListSessionsRequest { page_size, ..Default::default() };
    for (wanted, got) in
        [(0, DEFAULT_PAGE_SIZE), (i32::MAX, MAX_PAGE_SIZE), (MAX_PAGE_SIZE as i32 + 1, MAX_PAGE_SIZE)]
    {
        let list = client.list_sessions(page(wanted)).await.unwrap().into_inner();
        assert_eq!((list.sessions.len() as u32, list.next_page_token.is_empty()), (got, false));
    }
}

#[tokio::test]
async fn of_a_request_message() {
    let server = start().await;
    let mut client = server.client().await.max_encoding_message_size(usize::MAX);
    // A tag, four bytes of length, and this many bytes. The limit of calls without bulk is tested with the server around
    // them.
    let bulk = |length: usize| pb::RestoreStateRequest { session: "x".repeat(length), ..Default::default() };
    let at = bulk(MAX_REQUEST_BYTES as usize - 5);
    assert_eq!(at.encoded_len(), MAX_REQUEST_BYTES as usize);
    refused(client.restore_state(at).await, Code::InvalidArgument, "INVALID_FIELD");
    let past = bulk(MAX_REQUEST_BYTES as usize - 4);
    // Tonic's own limit: the server around the service refuses such a message before.
    assert_eq!(client.restore_state(past).await.unwrap_err().code(), Code::OutOfRange);
}

#[tokio::test]
async fn of_an_answer_to_a_step() {
    let server = start().await;
    let mut client = server.client().await;
    for mode in [pb::AutoresetMode::NextStep, pb::AutoresetMode::SameStep] {
        for max_response_bytes in [20_000, 100_000] {
            let wanted = |num_envs| pb::SessionConfig {
                autoreset_mode: mode.into(),
                max_response_bytes,
                action_mask_format: pb::ActionMaskFormat::Bytes.into(),
                max_episode_steps: 1,
                features: Some(features::from_set("bcts8")),
                ..config(num_envs, 1)
            };
            let past = client.create_session(request(wanted(60_000))).await;
            let reported = refused(past, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
            let max_rows: u32 = reported.metadata("max_rows").parse().unwrap();
            let past = client.create_session(request(wanted(max_rows + 1))).await;
            refused(past, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
            let name = create(&mut client, wanted(max_rows)).await.name;
            client.reset(reset(&name)).await.unwrap();
            // Every episode ends in this step, so the answer is as large as it can be.
            let answer = client.step(step(&name, &vec![0; max_rows as usize])).await.unwrap().into_inner();
            let bytes = answer.encoded_len();
            assert!(bytes <= max_response_bytes as usize, "{bytes} of {max_response_bytes} bytes");
            assert!(
                bytes >= max_response_bytes as usize / 2,
                "{bytes} of {max_response_bytes} bytes, for {max_rows} rows"
            );
        }
    }
}

#[tokio::test]
async fn of_an_answer_with_placements() {
    let server = start().await;
    let mut client = server.client().await;
    let ask = |max_response_bytes| {
        let positions = positions::from_drawings(vec![drawing(&[], "T"); 50]);
        pb::EnumeratePlacementsRequest {
            features: Some(features::from_set("bertsekas")),
            include_afterstates: true,
            include_position_features: true,
            max_response_bytes,
            ..enumerate(positions)
        }
    };
    let bytes = client.enumerate_placements(ask(0)).await.unwrap().into_inner().encoded_len() as u32;
    client.enumerate_placements(ask(bytes + 1024)).await.expect("room for the answer and a little more");
    let reported = refused(
        client.enumerate_placements(ask(bytes - 1)).await,
        Code::InvalidArgument,
        "RESPONSE_TOO_LARGE",
    );
    assert!(reported.metadata("max_rows").parse::<u32>().unwrap() <= 50 * 34);
    let got = client.enumerate_placements(ask(MAX_RESPONSE_BYTES + 1)).await;
    assert_eq!(refused(got, Code::InvalidArgument, "INVALID_FIELD").fields(), ["max_response_bytes"]);
}

/// A maze in which the longest way of a J has exactly as many keys as a placement may have.
const MAZE: &str = "
    ..........
    ..........
    ###.##....
    .###...###
    #..#.....#
    ...#.##..#
    #.##......
    .#.....#..
    ###..##...
    #....#....
    #...#....#
    ...##.##.#
    ....#.....
    .#.####..#
    .....#....
    .#...#....
    .##......#
    ###.#..#..
    .###....##
    #.####..#.";

#[tokio::test]
async fn of_the_keys_of_a_placement() {
    let server = start().await;
    let mut client = server.client().await;
    let rows: Vec<&str> = MAZE.split_whitespace().collect();
    let ask = |piece: &str, held: &str, max_response_bytes| {
        let rules = pb::Rules {
            preset: "guideline".to_owned(),
            height: 20,
            rows_above: Some(0),
            top_out: pb::TopOut::SpawnBlocked.into(),
            ..Default::default()
        };
        let drawings = vec![pb::Drawing { held: held.to_owned(), ..drawing(&rows, piece) }];
        let positions = pb::Positions { rules: Some(rules), ..positions::from_drawings(drawings) };
        pb::EnumeratePlacementsRequest { include_keys: true, max_response_bytes, ..enumerate(positions) }
    };
    let lengths = |answer: &pb::EnumeratePlacementsResponse| -> Vec<u32> {
        let offsets = numbers(answer.key_offsets.as_ref().unwrap());
        offsets.windows(2).map(|two| (two[1] - two[0]) as u32).collect()
    };
    let at = client.enumerate_placements(ask("J", "", 0)).await.unwrap().into_inner();
    let of_current = lengths(&at);
    assert_eq!(of_current.iter().max(), Some(&MAX_KEYS));
    assert!(!of_current.contains(&0));
    // Held, the same piece takes a key more, and there are the placements of the other one.
    let past = client.enumerate_placements(ask("I", "J", 0)).await.unwrap().into_inner();
    let of_both = lengths(&past);
    let of_held = &of_both[of_both.len() - of_current.len()..];
    let expected = of_current.iter().map(|keys| if *keys < MAX_KEYS { keys + 1 } else { 0 });
    assert!(of_held.contains(&0) && expected.eq(of_held.iter().copied()), "{of_held:?}");

    // The answer is planned with as many keys for each row.
    let bytes = past.encoded_len() as u32;
    let rows = of_both.len() as u32;
    let got = client.enumerate_placements(ask("I", "J", bytes + rows)).await;
    let reported = refused(got, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
    assert!(reported.metadata("max_rows").parse::<u32>().unwrap() < rows);
    let enough = rows * (21 + MAX_KEYS) + 1024;
    client.enumerate_placements(ask("I", "J", enough)).await.expect("room for as many keys as there may be");
}

#[tokio::test]
async fn of_an_answer_with_snapshots_or_pictures() {
    let server = start().await;
    let mut client = server.client().await;
    let sequence = "IOTZSJL".repeat(14_000);
    let dealt = pb::SessionConfig { seeding: Some(seeding::from_sequences(vec![sequence])), ..config(60, 0) };
    let name = create(&mut client, dealt).await.name;
    client.reset(reset(&name)).await.unwrap();
    let reported = refused(client.save_state(save(&name)).await, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
    let max_rows: u32 = reported.metadata("max_rows").parse().unwrap();
    let some = |count| pb::SaveStateRequest { envs: only(0..count), ..save(&name) };
    let saved = client.save_state(some(max_rows)).await.expect("as many as fit").into_inner();
    assert!(saved.encoded_len() <= DEFAULT_RESPONSE_BYTES as usize);
    refused(client.save_state(some(max_rows + 1)).await, Code::InvalidArgument, "RESPONSE_TOO_LARGE");

    let cramped = pb::SessionConfig { max_response_bytes: 30_000, ..config(100, 0) };
    let name = create(&mut client, cramped).await.name;
    client.reset(reset(&name)).await.unwrap();
    let format = pb::RenderFormat::Lab.into();
    let some = |count| pb::RenderRequest {
        session: name.clone(),
        envs: only(0..count),
        format,
        ..Default::default()
    };
    let reported = refused(client.render(some(100)).await, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
    let max_rows: u32 = reported.metadata("max_rows").parse().unwrap();
    let drawn = client.render(some(max_rows)).await.expect("as many as fit").into_inner();
    assert!((15_000..=30_000).contains(&drawn.encoded_len()), "{} bytes", drawn.encoded_len());
    refused(client.render(some(max_rows + 1)).await, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
}

/// A thousand sessions with every feature would exceed it; the rest is on the next page.
#[tokio::test]
async fn of_a_page_of_sessions() {
    let server =
        start_with(ServerLimits { max_sessions: 1_000, max_envs: 1_000, ..Default::default() }).await;
    let mut client = server.client().await;
    let all = FEATURES.iter().map(|feature| feature.name.to_owned());
    let of_playfield = FEATURES.iter().filter(|feature| !feature.is_of_landing());
    let features = all.chain(of_playfield.map(|feature| format!("{}_preclear", feature.name))).collect();
    let config = pb::SessionConfig {
        features: Some(features::from_names(features)),
        rules: Some(pb::Rules { width: 32, ..Default::default() }),
        ..config(1, 1)
    };
    for _ in 0..1_000 {
        create(&mut client, config.clone()).await;
    }
    let mut page = pb::ListSessionsRequest { page_size: 1_000, ..Default::default() };
    let mut lengths = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    loop {
        let answer = client.list_sessions(page.clone()).await.unwrap().into_inner();
        assert!(answer.encoded_len() <= DEFAULT_RESPONSE_BYTES as usize, "{} bytes", answer.encoded_len());
        lengths.push(answer.sessions.len());
        names.extend(answer.sessions.into_iter().map(|session| session.name));
        if answer.next_page_token.is_empty() {
            break;
        }
        page.page_token = answer.next_page_token;
    }
    assert_eq!(names.len(), 1_000);
    assert!(lengths.len() == 2 && lengths[0] > 500, "{lengths:?}");
}
