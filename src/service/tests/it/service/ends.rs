//! Why episodes end: in infos, snapshots, evaluations and recordings.

use tetrion_protocol::pb::evaluate_policies_response::Event;
use tetrion_protocol::{pb, positions, recording, seeding};
use tetrion_toolkit::recording::Replay;

use crate::support::{field_names, numbers, restore, save, start};
use tetrion_service_testing::evaluations::named;
use tetrion_service_testing::{Client, config, create, reset, step};

const NOT_ENDED: pb::EpisodeEnd = pb::EpisodeEnd::NotEnded;

/// A session that shows ends only, of an episode with these pieces on 4 x 6.
fn showing(pieces: &str) -> pb::SessionConfig {
    pb::SessionConfig {
        rules: Some(pb::Rules { width: 4, height: 6, ..Default::default() }),
        info_fields: field_names(&["end"]),
        seeding: Some(seeding::from_sequences(vec![pieces.to_owned()])),
        ..config(1, 0)
    }
}

fn end(infos: &[pb::Tensor]) -> pb::EpisodeEnd {
    pb::EpisodeEnd::try_from(numbers(&infos[0])[0] as i32).unwrap()
}

/// Steps with these actions, all but the last of which end nothing.
async fn end_of(client: &mut Client, name: &str, actions: &[i32]) -> pb::EpisodeEnd {
    assert_eq!(end(&client.reset(reset(name)).await.unwrap().into_inner().infos), NOT_ENDED);
    let mut found = NOT_ENDED;
    for &action in actions {
        assert_eq!(found, NOT_ENDED);
        let answer = client.step(step(name, &[action])).await.unwrap().into_inner();
        found = end(&answer.infos);
        let flags = [answer.terminated, answer.truncated].map(|flag| numbers(&flag.unwrap())[0] == 1.0);
        let terminated = matches!(found, pb::EpisodeEnd::ToppedOut | pb::EpisodeEnd::InvalidAction);
        assert_eq!(flags, [terminated, !terminated && found != NOT_ENDED]);
    }
    found
}

#[tokio::test]
async fn an_info_says_why_an_episode_ended() {
    let server = start().await;
    let mut client = server.client().await;
    let terminate = pb::InvalidActionPolicy::Terminate.into();
    let ignore = pb::InvalidActionPolicy::Ignore.into();
    for (config, actions, expected) in [
        // The fourth O lies above the playfield.
        (showing("OOOO"), vec![0, 0, 0, 0], pb::EpisodeEnd::ToppedOut),
        (
            pb::SessionConfig { invalid_action_policy: terminate, ..showing("OO") },
            vec![0, 15],
            pb::EpisodeEnd::InvalidAction,
        ),
        (
            pb::SessionConfig { max_episode_steps: 2, ..showing("OOOO") },
            vec![0, 0],
            pb::EpisodeEnd::StepLimit,
        ),
        (showing("OO"), vec![0, 0], pb::EpisodeEnd::OutOfPieces),
        // Of several reasons the rules come first, then the pieces.
        (
            pb::SessionConfig { max_episode_steps: 4, ..showing("OOOO") },
            vec![0, 0, 0, 0],
            pb::EpisodeEnd::ToppedOut,
        ),
        (
            pb::SessionConfig { max_episode_steps: 2, ..showing("OO") },
            vec![0, 0],
            pb::EpisodeEnd::OutOfPieces,
        ),
        (
            pb::SessionConfig { invalid_action_policy: ignore, max_episode_steps: 2, ..showing("OO") },
            vec![0, 15],
            pb::EpisodeEnd::StepLimit,
        ),
    ] {
        let name = create(&mut client, config).await.name;
        assert_eq!(end_of(&mut client, &name, &actions).await, expected);
        // The step that begins the next episode.
        let answer = client.step(step(&name, &[0])).await.unwrap().into_inner();
        assert_eq!(end(&answer.infos), NOT_ENDED);
    }
}

#[tokio::test]
async fn a_snapshot_of_an_ended_episode_says_why_it_ended() {
    let server = start().await;
    let mut client = server.client().await;
    let limited = pb::SessionConfig { max_episode_steps: 2, ..showing("OOOO") };
    let name = create(&mut client, limited).await.name;
    assert_eq!(end_of(&mut client, &name, &[0, 0]).await, pb::EpisodeEnd::StepLimit);
    let states = client.save_state(save(&name)).await.unwrap().into_inner().states;
    let other = create(&mut client, showing("OO")).await.name;
    let positions = positions::from_snapshots(states);
    let answer = client.restore_state(restore(&other, positions)).await.unwrap().into_inner();
    assert_eq!(end(&answer.infos), pb::EpisodeEnd::StepLimit);
    assert_eq!(end(&client.reset(reset(&other)).await.unwrap().into_inner().infos), NOT_ENDED);
}

#[tokio::test]
async fn the_last_state_of_an_episode_says_why_it_ended_and_the_next_one_goes_on() {
    let server = start().await;
    let mut client = server.client().await;
    let config = pb::SessionConfig { autoreset_mode: pb::AutoresetMode::SameStep.into(), ..showing("OO") };
    let name = create(&mut client, config).await.name;
    client.reset(reset(&name)).await.unwrap();
    client.step(step(&name, &[0])).await.unwrap();
    let answer = client.step(step(&name, &[0])).await.unwrap().into_inner();
    assert_eq!(end(&answer.final_batch.unwrap().infos), pb::EpisodeEnd::OutOfPieces);
    assert_eq!(end(&answer.infos), NOT_ENDED);
}

/// The ends of games of these pieces on 4 x 6 that `dummy` plays, and their recordings.
async fn played(request: pb::EvaluatePoliciesRequest) -> (Vec<pb::EpisodeEnd>, Vec<pb::Recording>) {
    let (mut client, _guard) = tetrion_service_testing::evaluations::start(1).await;
    let request = pb::EvaluatePoliciesRequest {
        rules: Some(pb::Rules { width: 4, height: 6, ..Default::default() }),
        policies: vec![named("dummy")],
        include_results: true,
        include_recordings: true,
        ..request
    };
    let mut stream = client.evaluate_policies(request).await.unwrap().into_inner();
    let (mut ends, mut recordings) = (Vec::new(), Vec::new());
    while let Some(message) = stream.message().await.unwrap() {
        match message.event.unwrap() {
            Event::Results(results) => {
                let numbers = numbers(results.ends.as_ref().unwrap());
                ends.extend(numbers.iter().map(|number| pb::EpisodeEnd::try_from(*number as i32).unwrap()));
            }
            Event::Recording(game) => recordings.push(game.recording.unwrap()),
            Event::Started(_) | Event::Estimates(_) | Event::Progress(_) | Event::Summary(_) => {}
        }
    }
    (ends, recordings)
}

fn pieces(pieces: &str) -> pb::EvaluatePoliciesRequest {
    let seeding = Some(seeding::from_sequences(vec![pieces.to_owned()]));
    pb::EvaluatePoliciesRequest { seeding, ..Default::default() }
}

#[tokio::test]
async fn an_evaluation_says_why_games_ended_and_a_recording_what_a_replay_finds() {
    let out_of_pieces = pb::EpisodeEnd::OutOfPieces;
    for (request, expected, recorded) in [
        (pieces("OOOO"), pb::EpisodeEnd::ToppedOut, pb::EpisodeEnd::ToppedOut),
        (pieces("OO"), out_of_pieces, out_of_pieces),
        // A limit comes first, and a replay knows no limits.
        (
            pb::EvaluatePoliciesRequest { max_pieces: 2, ..pieces("OOOO") },
            pb::EpisodeEnd::PieceLimit,
            NOT_ENDED,
        ),
        (
            pb::EvaluatePoliciesRequest { max_steps: 2, ..pieces("OOOO") },
            pb::EpisodeEnd::StepLimit,
            NOT_ENDED,
        ),
        (
            pb::EvaluatePoliciesRequest { max_pieces: 2, max_steps: 2, ..pieces("OOOO") },
            pb::EpisodeEnd::PieceLimit,
            NOT_ENDED,
        ),
        (
            pb::EvaluatePoliciesRequest { max_pieces: 2, ..pieces("OO") },
            pb::EpisodeEnd::PieceLimit,
            out_of_pieces,
        ),
    ] {
        let (ends, recordings) = played(request).await;
        assert_eq!(ends, [expected]);
        let [message] = &recordings[..] else { panic!("{} recordings", recordings.len()) };
        assert_eq!(message.outcome.as_ref().unwrap().end(), recorded);
        assert!(message.player.is_empty() && message.origin.is_empty());
        let replay = Replay::new(recording::decode(message).unwrap()).unwrap();
        assert_eq!(replay.difference(), None);
    }
}
