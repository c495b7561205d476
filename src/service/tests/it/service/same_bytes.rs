//! Equal rules, seeds and actions give equal bytes: by either way of stepping, alone or in company, and on another server.

use prost::Message;
use tetrion_protocol::pb::step_stream_request::Request as Asked;
use tetrion_protocol::pb::step_stream_response::Response as Answered;
use tetrion_protocol::{features, pb, positions};

use crate::support::{TestServer, restore, save, start};
use tetrion_service_testing::{Client, config, create, only, reset, step};
use tetrion_twins as twin;

use super::stream::Stream;

const NUM_ENVS: u32 = 6;
const NUM_STEPS: u64 = 120;

/// The two kinds of actions that games have.
#[derive(Clone, Copy, Debug)]
enum Game {
    Placements,
    Keys,
}

const GAMES: [Game; 2] = [Game::Placements, Game::Keys];

/// Actions that are in range, legal or not: under TERMINATE each of them has an effect.
fn actions(game: Game, seed: u64, step: u64) -> Vec<i32> {
    let num_actions = match game {
        Game::Placements => 24,
        Game::Keys => 6,
    };
    (0..u64::from(NUM_ENVS)).map(|row| (twin::word(seed, 7, step * 100 + row) % num_actions) as i32).collect()
}

fn lively(game: Game, seed: u64, mode: pb::AutoresetMode) -> pb::SessionConfig {
    let (preset, max_episode_steps) = match game {
        Game::Placements => ("survey", 9),
        Game::Keys => ("lab", 40),
    };
    let rules =
        pb::Rules { width: 6, height: 8, preset: preset.into(), preview: Some(2), ..Default::default() };
    let features = features::from_set("bcts8");
    pb::SessionConfig {
        rules: Some(rules),
        features: Some(features),
        autoreset_mode: mode.into(),
        invalid_action_policy: pb::InvalidActionPolicy::Terminate.into(),
        max_episode_steps,
        action_mask_format: pb::ActionMaskFormat::Bytes.into(),
        ..config(NUM_ENVS, seed)
    }
}

/// Plays a session by one call a step; every answer as bytes.
async fn by_steps(mut client: Client, game: Game, seed: u64) -> Vec<Vec<u8>> {
    let name = create(&mut client, lively(game, seed, pb::AutoresetMode::SameStep)).await.name;
    let mut answers = vec![client.reset(reset(&name)).await.unwrap().into_inner().encode_to_vec()];
    for i in 0..NUM_STEPS {
        let answer = client.step(step(&name, &actions(game, seed, i))).await.unwrap();
        answers.push(answer.into_inner().encode_to_vec());
    }
    answers
}

/// Plays the same session over one stream, sending ahead.
async fn by_stream(mut client: Client, game: Game, seed: u64) -> Vec<Vec<u8>> {
    let name = create(&mut client, lively(game, seed, pb::AutoresetMode::SameStep)).await.name;
    let mut stream = Stream::open(&mut client).await;
    stream.send(Asked::Reset(reset(&name))).await;
    for i in 0..NUM_STEPS {
        stream.send(Asked::Step(step(&name, &actions(game, seed, i)))).await;
    }
    let mut answers = Vec::new();
    for _ in 0..=NUM_STEPS {
        answers.push(match stream.receive().await {
            Answered::Reset(answer) => answer.encode_to_vec(),
            Answered::Step(answer) => answer.encode_to_vec(),
            other => panic!("{other:?}"),
        });
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_plays_the_same_however_it_is_stepped_and_whatever_else_is() {
    for game in GAMES {
        let alone = by_steps(start().await.client().await, game, 0).await;
        assert_eq!(by_stream(start().await.client().await, game, 0).await, alone, "{game:?} over a stream");

        let server = start().await;
        let shared = server.client().await;
        let mut company = tokio::task::JoinSet::new();
        for seed in 0..6 {
            company.spawn(by_steps(shared.clone(), game, seed));
            company.spawn(by_stream(server.client().await, game, seed));
        }
        let mut together = company.join_all().await;
        together.sort_unstable();
        together.dedup();
        assert_eq!(together.len(), 6, "the two ways of playing one seed give the same: {game:?}");
        assert!(together.contains(&alone), "and the same as alone: {game:?}");
    }
}

/// What an answer to a step says apart from its number, which a restored session counts from the start.
fn unnumbered(answer: pb::StepResponse) -> pb::StepResponse {
    pb::StepResponse { sequence_number: 0, ..answer }
}

/// A session as it goes on after being saved at every seventh step and restored on a server that was started for it.
#[tokio::test]
async fn a_session_goes_on_elsewhere_as_if_nothing_had_happened() {
    let modes = [pb::AutoresetMode::NextStep, pb::AutoresetMode::SameStep];
    for (game, mode) in GAMES.into_iter().flat_map(|game| modes.map(|mode| (game, mode))) {
        let (server, seed) = (start().await, 5);
        let mut home = server.client().await;
        let name = create(&mut home, lively(game, seed, mode)).await.name;
        home.reset(reset(&name)).await.unwrap();
        let mut travelling: Option<(TestServer, Client, String)> = None;
        for i in 0..80 {
            if i % 7 == 0 {
                let (client, from) = match &mut travelling {
                    Some((_, client, name)) => (client, name.as_str()),
                    None => (&mut home, name.as_str()),
                };
                let states = client.save_state(save(from)).await.unwrap().into_inner().states;
                let server = start().await;
                let mut client = server.client().await;
                // Another seed: the snapshot holds what comes.
                let there = create(&mut client, lively(game, 99, mode)).await.name;
                let positions = positions::from_snapshots(states);
                client.restore_state(restore(&there, positions)).await.unwrap();
                travelling = Some((server, client, there));
            }
            let (_, client, there) = travelling.as_mut().expect("it left at the first step");
            let stayed = home.step(step(&name, &actions(game, seed, i))).await.unwrap().into_inner();
            let travelled = client.step(step(there, &actions(game, seed, i))).await.unwrap().into_inner();
            assert_eq!(unnumbered(travelled), unnumbered(stayed), "step {i} of {game:?} in {mode:?}");
        }
    }
}

/// A snapshot that is restored twice replays twice, whatever happened between.
#[tokio::test]
async fn restoring_twice_replays_twice() {
    let server = start().await;
    for game in GAMES {
        replay_twice(server.client().await, game).await;
    }
}

async fn replay_twice(mut client: Client, game: Game) {
    let name = create(&mut client, lively(game, 3, pb::AutoresetMode::NextStep)).await.name;
    client.reset(reset(&name)).await.unwrap();
    client.step(step(&name, &actions(game, 3, 0))).await.unwrap();
    let states = client.save_state(save(&name)).await.unwrap().into_inner().states;
    let mut replays = Vec::new();
    for _ in 0..3 {
        let positions = positions::from_snapshots(states.clone());
        let first = client.restore_state(restore(&name, positions)).await.unwrap().into_inner();
        let mut replay = vec![pb::StepResponse { observations: first.observations, ..Default::default() }];
        for i in 1..40 {
            let answer = client.step(step(&name, &actions(game, 3, i))).await.unwrap().into_inner();
            replay.push(unnumbered(answer));
        }
        replays.push(replay);
    }
    assert_eq!(replays[0], replays[1]);
    assert_eq!(replays[0], replays[2]);
    let again = client.save_state(save(&name)).await.unwrap().into_inner().states;
    assert_ne!(again, states, "and the snapshot is not the live state");
}

#[tokio::test]
async fn one_snapshot_for_all_is_a_fork_and_a_seed_gives_each_its_own_future() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, lively(Game::Placements, 8, pb::AutoresetMode::SameStep)).await.name;
    client.reset(reset(&name)).await.unwrap();
    let one = pb::SaveStateRequest { envs: only([4]), ..save(&name) };
    let states = client.save_state(one).await.unwrap().into_inner().states;
    let fork = |reseed| pb::RestoreStateRequest {
        reseed,
        ..restore(&name, positions::from_snapshots(states.clone()))
    };
    let rows = |tensor: &pb::Tensor| -> Vec<Vec<u8>> {
        tensor.data.chunks(tensor.data.len() / NUM_ENVS as usize).map(<[u8]>::to_vec).collect()
    };
    for (reseed, parted) in [(None, false), (Some(0), true), (Some(7), true)] {
        let forked = client.restore_state(fork(reseed)).await.unwrap().into_inner();
        for tensor in &forked.observations {
            assert!(rows(tensor).iter().all(|row| *row == rows(tensor)[0]), "what is visible is the same");
        }
        let mut futures = vec![Vec::new(); NUM_ENVS as usize];
        for _ in 0..8 {
            let answer = client.step(step(&name, &[0; NUM_ENVS as usize])).await.unwrap().into_inner();
            for (future, row) in futures.iter_mut().zip(rows(&answer.observations[1])) {
                future.extend(row);
            }
        }
        let alike = futures.iter().all(|future| *future == futures[0]);
        assert_eq!(alike, !parted, "reseed {reseed:?}");
        // The same seed parts them in the same way.
        client.restore_state(fork(reseed)).await.unwrap();
        let mut again = Vec::new();
        for _ in 0..8 {
            let answer = client.step(step(&name, &[0; NUM_ENVS as usize])).await.unwrap().into_inner();
            again.extend(rows(&answer.observations[1])[5].clone());
        }
        assert_eq!(again, futures[5]);
    }
}
