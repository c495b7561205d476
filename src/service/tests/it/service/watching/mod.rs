//! WatchSession: what a caller sees of a session that another one steps.

/// What watching may take.
mod bounds;

use std::time::{Duration, Instant};

use tetrion_core::env::InvalidActionPolicy;
use tetrion_protocol::limits::MAX_FRAMES_PER_SECOND;
use tetrion_protocol::pb::watch_session_response::Event;
use tetrion_protocol::rules::ResolvedRules;
use tetrion_protocol::{pb, positions, seeding};
use tetrion_server::ServerConfig;
use tetrion_toolkit::recording::{Cell, Course, Pieces, Setup};
use tonic::{Code, Status, Streaming};

use crate::support::{by, drawing, numbers, restore, save, start};
use tetrion_service_testing::servers::connect_with;
use tetrion_service_testing::{Client, config, create, only, refused, reset, step};
use tetrion_testing::Dice;

/// Watching a session, message by message.
struct Viewer(Streaming<pb::WatchSessionResponse>);

impl Viewer {
    async fn next(&mut self) -> Result<Event, Status> {
        let message = tokio::time::timeout(Duration::from_secs(20), self.0.message()).await;
        let message = message.expect("a message in time")?.expect("frames without an end");
        Ok(message.event.expect("an event"))
    }

    async fn started(&mut self) -> pb::WatchStarted {
        match self.next().await {
            Ok(Event::Started(started)) => started,
            other => panic!("{other:?}"),
        }
    }

    async fn frame(&mut self) -> pb::WatchFrame {
        match self.next().await {
            Ok(Event::Frame(frame)) => frame,
            other => panic!("{other:?}"),
        }
    }

    /// The first frame of this state; no frame may be of an earlier one than the frame before.
    async fn frame_of(&mut self, sequence_number: u64) -> pb::WatchFrame {
        let mut before = 0;
        loop {
            let frame = self.frame().await;
            assert!(
                (before..=sequence_number).contains(&frame.sequence_number),
                "{before}, {} of {sequence_number}",
                frame.sequence_number
            );
            if frame.sequence_number == sequence_number {
                return frame;
            }
            before = frame.sequence_number;
        }
    }

    /// How it ends, whatever frames come before.
    async fn end(&mut self) -> Status {
        loop {
            if let Err(status) = self.next().await {
                return status;
            }
        }
    }
}

fn request(session: &str) -> pb::WatchSessionRequest {
    let max_frames_per_second = MAX_FRAMES_PER_SECOND;
    pb::WatchSessionRequest { session: session.to_owned(), max_frames_per_second, ..Default::default() }
}

async fn try_watch(client: &mut Client, request: pb::WatchSessionRequest) -> Result<Viewer, Status> {
    Ok(Viewer(client.watch_session(request).await?.into_inner()))
}

async fn watch(client: &mut Client, session: &str) -> (Viewer, pb::WatchStarted) {
    let mut viewer = try_watch(client, request(session)).await.unwrap();
    let started = viewer.started().await;
    (viewer, started)
}

/// The bytes of cells, in the protocol's numbers.
fn bytes(course: &Course) -> Vec<u8> {
    let scene = course.scene();
    let number = |cell: &Cell| match cell {
        Cell::Empty => 0,
        Cell::Of(tetromino) => 1 + "IOTZSJL".find(tetromino.letter()).unwrap() as u8,
        Cell::Given => 8,
    };
    scene.cells.rows().flatten().map(number).collect()
}

fn pairs(cells: &[(u8, u8)]) -> Vec<u32> {
    cells.iter().flat_map(|&(row, column)| [u32::from(row), u32::from(column)]).collect()
}

/// A frame shows the game that a recording of it would.
fn assert_shows(env: &pb::WatchedEnv, course: &Course, at: &str) {
    let scene = course.scene();
    assert_eq!(env.colors, bytes(course), "{at}");
    assert_eq!(env.last_cells, pairs(&scene.last), "{at}");
    let current = scene.current.filter(|_| env.end() == pb::EpisodeEnd::NotEnded);
    assert_eq!(env.piece, current.map(|current| current.piece.to_string()).unwrap_or_default(), "{at}");
    assert_eq!(env.piece_cells, current.map(|piece| pairs(&piece.cells)).unwrap_or_default(), "{at}");
    let ghost = scene.ghost.filter(|_| current.is_some());
    assert_eq!(env.ghost_cells, ghost.map(|ghost| pairs(&ghost)).unwrap_or_default(), "{at}");
    assert_eq!(env.queue, scene.next.iter().map(|piece| piece.letter()).collect::<String>(), "{at}");
    assert_eq!((env.lines, env.pieces, env.steps), (scene.lines, scene.pieces, scene.steps), "{at}");
    assert_eq!(env.episode_return, scene.score, "{at}");
    assert_eq!(env.garbage, scene.garbage.iter().map(|&lines| lines.into()).collect::<Vec<u32>>(), "{at}");
}

/// A learner that acts at random, and the same games as recordings play them.
struct Learner {
    client: Client,
    session: String,
    setup: Setup,
    courses: Vec<Course>,
    /// Which episode each environment plays.
    episodes: Vec<u64>,
    /// Whether its episode is over and shows still.
    over: Vec<bool>,
    last_episodes: Vec<Option<pb::WatchedEpisode>>,
    mask: Vec<f64>,
    dice: Dice,
}

impl Learner {
    async fn begin(client: &Client, config: pb::SessionConfig, dice: u64) -> Learner {
        let mut client = client.clone();
        let rules = ResolvedRules::try_from(config.rules.as_ref().unwrap()).unwrap().rules;
        let num_envs = config.num_envs as usize;
        let session = create(
            &mut client,
            pb::SessionConfig { action_mask_format: pb::ActionMaskFormat::Bytes.into(), ..config },
        )
        .await
        .name;
        let first = client.reset(reset(&session)).await.unwrap().into_inner();
        let setup =
            Setup { invalid_actions: InvalidActionPolicy::Reject, ..Setup::new(rules, Pieces::Seed(0)) };
        let mut learner = Learner {
            client,
            session,
            setup,
            courses: Vec::new(),
            episodes: vec![0; num_envs],
            over: vec![false; num_envs],
            last_episodes: vec![None; num_envs],
            mask: numbers(first.action_mask.as_ref().unwrap()),
            dice: Dice(dice, 0),
        };
        learner.courses = seeds(&first.infos[4]).into_iter().map(|seed| learner.course(seed)).collect();
        learner
    }

    fn course(&self, seed: u64) -> Course {
        Course::new(&Setup { pieces: Pieces::Seed(seed), ..self.setup.clone() }).unwrap()
    }

    /// One step of all environments; returns its number.
    async fn step(&mut self) -> u64 {
        let num_actions = self.mask.len() / self.courses.len();
        let rows: Vec<Vec<f64>> = self.mask.chunks(num_actions).map(<[f64]>::to_vec).collect();
        let actions = rows.iter().map(|row| {
            let legal: Vec<usize> = (0..num_actions).filter(|&action| row[action] > 0.0).collect();
            legal[self.dice.below(legal.len())] as i32
        });
        let actions: Vec<i32> = actions.collect();
        let answer = self.client.step(step(&self.session, &actions)).await.unwrap().into_inner();
        let flags = |tensor: &Option<pb::Tensor>| numbers(tensor.as_ref().unwrap());
        let (terminated, truncated) = (flags(&answer.terminated), flags(&answer.truncated));
        let seeds = seeds(&answer.infos[4]);
        for i in 0..self.courses.len() {
            if self.over[i] {
                (self.courses[i], self.over[i]) = (self.course(seeds[i]), false);
                self.episodes[i] += 1;
                continue;
            }
            self.courses[i].play(actions[i] as u16).unwrap();
            if terminated[i] + truncated[i] == 0.0 {
                continue;
            }
            let scene = self.courses[i].scene();
            let end = match scene.end {
                Some(end) => pb::EpisodeEnd::from(Some(end)),
                None => pb::EpisodeEnd::StepLimit,
            };
            assert_eq!(end == pb::EpisodeEnd::ToppedOut, terminated[i] > 0.0);
            self.last_episodes[i] = Some(pb::WatchedEpisode {
                episode: self.episodes[i],
                lines: scene.lines,
                pieces: scene.pieces,
                steps: scene.steps,
                episode_return: scene.score,
                end: end.into(),
            });
            if answer.final_batch.is_some() {
                self.courses[i] = self.course(seeds[i]);
                self.episodes[i] += 1;
            } else {
                self.over[i] = true;
            }
        }
        self.mask = flags(&answer.action_mask);
        answer.sequence_number
    }

    fn assert_shown(&self, frame: &pb::WatchFrame) {
        for env in &frame.envs {
            let i = env.env_id as usize;
            let at = format!("environment {i} after {} calls, dice {}", frame.sequence_number, self.dice.0);
            assert_shows(env, &self.courses[i], &at);
            assert_eq!(env.episode, self.episodes[i], "{at}");
            assert_eq!(env.last_episode, self.last_episodes[i], "{at}");
            let ended = self.last_episodes[i].filter(|_| self.over[i]);
            let end = ended.map_or(pb::EpisodeEnd::NotEnded, |ended| ended.end());
            assert_eq!(env.end(), end, "{at}");
        }
    }
}

/// The info `seed`, in full.
fn seeds(tensor: &pb::Tensor) -> Vec<u64> {
    tensor.data.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn rules(preset: &str, width: u32, height: u32, preview: u32) -> Option<pb::Rules> {
    let preview = Some(preview);
    Some(pb::Rules { preset: preset.to_owned(), width, height, preview, ..Default::default() })
}

/// Random games of every kind: each frame shows them with the colours that a recording has.
/// Waits for an effect of earlier calls.
async fn until(has_happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !has_happened() {
        assert!(start.elapsed() < Duration::from_secs(20), "in time");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn frames_show_what_recordings_show() {
    use pb::AutoresetMode::{NextStep, SameStep};
    let server = start().await;
    let mut client = server.client().await;
    let rising =
        |lines_per_piece| pb::Garbage { lines_per_piece: Some(lines_per_piece), ..Default::default() };
    let kinds = [
        ("simplified", 5, 6, 3, NextStep, 0),
        ("simplified", 4, 12, 0, SameStep, 0),
        ("survey", 6, 5, 1, SameStep, 9),
        ("genetic", 5, 30, 2, NextStep, 21),
        ("lab", 6, 7, 1, NextStep, 40),
        ("lab", 5, 6, 6, SameStep, 0),
        ("leiden", 20, 6, 0, NextStep, 0),
    ];
    let plain = kinds.into_iter().map(|kind| (kind, None));
    let all = plain.chain(kinds.into_iter().map(|kind| (kind, Some(rising(0.7)))));
    for (number, ((preset, width, height, preview, mode, limit), garbage)) in all.enumerate() {
        let config = pb::SessionConfig {
            rules: rules(preset, width, height, preview).map(|rules| pb::Rules { garbage, ..rules }),
            autoreset_mode: mode.into(),
            max_episode_steps: limit,
            ..config(7, 3 + number as u64)
        };
        let mut learner = Learner::begin(&client, config, 40 + number as u64).await;
        let session = learner.session.clone();
        let mut viewer =
            try_watch(&mut client, pb::WatchSessionRequest { envs: only([6, 0, 3]), ..request(&session) })
                .await
                .unwrap();
        let started = viewer.started().await;
        assert_eq!(started.env_ids, [6, 0, 3]);
        assert_eq!(started.session.unwrap().name, session);
        learner.assert_shown(&viewer.frame_of(1).await);
        for _ in 0..60 {
            // Some states are skipped: those that come before the next frame is due.
            for _ in 0..learner.dice.below(3) {
                learner.step().await;
            }
            let sequence_number = learner.step().await;
            let frame = viewer.frame_of(sequence_number).await;
            assert_eq!(frame.envs.iter().map(|env| env.env_id).collect::<Vec<_>>(), [6, 0, 3]);
            learner.assert_shown(&frame);
        }
    }
}

#[tokio::test]
async fn a_session_is_watched_before_its_first_episode() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(2, 1)).await.name;
    let (mut viewer, started) = watch(&mut client, &name).await;
    assert_eq!((started.env_ids.as_slice(), started.max_frames_per_second), ([0, 1].as_slice(), 60));
    let session = started.session.unwrap();
    assert_eq!((session.name.as_str(), session.config.unwrap().rules.unwrap().width), (name.as_str(), 10));
    let frame = viewer.frame().await;
    assert_eq!((frame.sequence_number, frame.envs.len()), (0, 2));
    let waiting = pb::WatchedEnv { env_id: 1, colors: vec![0; 200].into(), ..Default::default() };
    assert_eq!(frame.envs[1], waiting);
    client.reset(reset(&name)).await.unwrap();
    let frame = viewer.frame_of(1).await;
    assert_eq!(frame.envs[1].end(), pb::EpisodeEnd::NotEnded);
    assert_eq!((frame.envs[1].piece.len(), frame.envs[1].piece_cells.len()), (1, 8));
}

/// What follows a landing has its colours; what does not has none, except where a cell stays full.
#[tokio::test]
async fn colours_by_hand() {
    let server = start().await;
    let mut client = server.client().await;
    let config = pb::SessionConfig {
        rules: rules("simplified", 4, 4, 1),
        seeding: Some(seeding::from_sequences(vec!["TIOOL".to_owned()])),
        ..config(1, 0)
    };
    let name = create(&mut client, config).await.name;
    client.reset(reset(&name)).await.unwrap();
    let (mut viewer, _) = watch(&mut client, &name).await;
    let drawn = |env: &pb::WatchedEnv| -> Vec<String> {
        let letter = |cell: &u8| char::from(b".IOTZSJL?"[usize::from(*cell)]);
        env.colors.chunks(4).rev().map(|row| row.iter().map(letter).collect()).collect()
    };
    let sequence_number = client.step(step(&name, &[0])).await.unwrap().into_inner().sequence_number;
    let frame = viewer.frame_of(sequence_number).await;
    let env = &frame.envs[0];
    assert_eq!(drawn(env).concat().matches('T').count(), 4);
    assert_eq!(env.last_cells.len(), 8);
    assert_eq!((env.piece.as_str(), env.queue.as_str(), env.seed), ("I", "O", 0));
    // A copy of it elsewhere has the cells, and not their colours.
    let states = client.save_state(save(&name)).await.unwrap().into_inner().states;
    let other = create(
        &mut client,
        pb::SessionConfig { rules: rules("simplified", 4, 4, 1), ..tetrion_service_testing::config(1, 5) },
    )
    .await
    .name;
    let (mut elsewhere, _) = watch(&mut client, &other).await;
    let positions = positions::from_snapshots(states.clone());
    client.restore_state(restore(&other, positions.clone())).await.unwrap();
    let copy = elsewhere.frame_of(1).await;
    assert_eq!(drawn(&copy.envs[0]).concat(), drawn(env).concat().replace('T', "?"));
    // A step forward and back again: what was there before keeps its colours.
    let before = drawn(env);
    client.step(step(&name, &[0])).await.unwrap();
    let sequence_number =
        client.restore_state(restore(&name, positions)).await.unwrap().into_inner().sequence_number;
    assert_eq!(drawn(&viewer.frame_of(sequence_number).await.envs[0]), before);
    // A drawing has no colours.
    let positions = positions::from_drawings(vec![drawing(&["#...", "##.#"], "L")]);
    let sequence_number =
        client.restore_state(restore(&name, positions)).await.unwrap().into_inner().sequence_number;
    let drawn_by_hand = drawn(&viewer.frame_of(sequence_number).await.envs[0]);
    assert_eq!(drawn_by_hand[..2], ["....", "...."]);
    assert_eq!(drawn_by_hand[2..].concat().replace(['T', '?'], "#"), "#...##.#");
}

#[tokio::test]
async fn watching_renews_no_lease_and_keeps_no_session_alive() {
    let server = start().await;
    let mut client = server.client().await;
    let ttl = Some(prost_types::Duration { seconds: 100, nanos: 0 });
    let create = pb::CreateSessionRequest { config: Some(config(1, 1)), ttl, ..Default::default() };
    let name = client.create_session(create).await.unwrap().into_inner().session.unwrap().name;
    let (mut viewer, _) = watch(&mut client, &name).await;
    viewer.frame().await;
    server.clock.advance(Duration::from_secs(60));
    let (mut second, started) = watch(&mut client, &name).await;
    assert_eq!(started.session.unwrap().expire_time.unwrap().seconds, 100, "as it was");
    second.frame().await;
    server.clock.advance(Duration::from_secs(39));
    refused(
        try_watch(&mut client, request("sessions/0")).await.map(drop),
        Code::NotFound,
        "SESSION_NOT_FOUND",
    );
    server.clock.advance(Duration::from_secs(1));
    for viewer in [&mut viewer, &mut second] {
        refused::<()>(Err(viewer.end().await), Code::NotFound, "SESSION_EXPIRED");
    }
    refused(try_watch(&mut client, request(&name)).await.map(drop), Code::NotFound, "SESSION_EXPIRED");
    refused(client.step(step(&name, &[0])).await, Code::NotFound, "SESSION_EXPIRED");
}

#[tokio::test]
async fn a_deleted_session_ends_its_viewers() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(1, 1)).await.name;
    client.reset(reset(&name)).await.unwrap();
    let (mut viewer, _) = watch(&mut client, &name).await;
    viewer.frame_of(1).await;
    client.delete_session(pb::DeleteSessionRequest { name, allow_missing: false }).await.unwrap();
    refused::<()>(Err(viewer.end().await), Code::NotFound, "SESSION_NOT_FOUND");
    drop(viewer);
    until(|| server.store.num_watches() == 0).await;
    assert_eq!(server.store.memory().taken(), 0, "what was kept for it is given back");
}

#[tokio::test]
async fn viewers_end_with_the_server() {
    let config = ServerConfig { drain_timeout: Duration::from_secs(60), ..ServerConfig::default() };
    let (channel, stop) = connect_with(config).await;
    let mut client = Client::new(channel);
    let name = create(&mut client, tetrion_service_testing::config(1, 0)).await.name;
    let (mut viewer, _) = watch(&mut client, &name).await;
    viewer.frame().await;
    drop(stop);
    refused::<()>(Err(viewer.end().await), Code::Unavailable, "DRAINING");
}

#[tokio::test]
async fn a_session_is_watched_by_its_owner_only() {
    let server = start().await;
    let mut client = server.client().await;
    let create = pb::CreateSessionRequest { config: Some(config(1, 1)), ..Default::default() };
    let name = client.create_session(by("ann", create)).await.unwrap().into_inner().session.unwrap().name;
    let others =
        [client.watch_session(by("bob", request(&name))).await, client.watch_session(request(&name)).await];
    for other in others {
        refused(other.map(drop), Code::NotFound, "SESSION_NOT_FOUND");
    }
    let viewer = client.watch_session(by("ann", request(&name))).await.unwrap();
    Viewer(viewer.into_inner()).started().await;
}
