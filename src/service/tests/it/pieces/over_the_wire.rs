use tetrion_core::agents::{Agent, Kernel, LinearAgent, Search, TerminalValue};
use tetrion_core::engine::{PieceSet, Rules};
use tetrion_core::features::FeatureSet;
use tetrion_core::rollout::Episode;
use tetrion_protocol::{features, pb, positions, seeding, tensor};
use tonic::Code;

use crate::support::{numbers, restore, save, start};
use tetrion_service_testing::evaluations;
use tetrion_service_testing::{create, enumerate, only, reset, step};

fn rules(set: &str, width: u32, height: u32) -> pb::Rules {
    pb::Rules { piece_set: set.to_owned(), width, height, preview: Some(2), ..Default::default() }
}

fn config(rules: pb::Rules) -> pb::SessionConfig {
    pb::SessionConfig {
        rules: Some(rules),
        num_envs: 2,
        action_mask_format: pb::ActionMaskFormat::Bytes.into(),
        ..Default::default()
    }
}

fn field<'a>(fields: &'a [pb::Tensor], names: &[String], name: &str) -> &'a pb::Tensor {
    &fields[names.iter().position(|other| other == name).expect("a field that was asked for")]
}

#[tokio::test]
async fn a_session_with_a_callers_own_pieces() {
    let server = start().await;
    let mut client = server.client().await;
    let set = "a=X b=X./.X c=X.X/XXX";
    let sequences = vec!["cab cab".to_owned(), "bbbbbb".to_owned()];
    let config =
        pb::SessionConfig { seeding: Some(seeding::from_sequences(sequences)), ..config(rules(set, 6, 8)) };
    let session = create(&mut client, config.clone()).await;
    let echoed = session.config.as_ref().and_then(|config| config.rules.clone()).unwrap();
    assert_eq!(echoed.piece_set, set);
    let names: Vec<String> = session.observation_specs.iter().map(|spec| spec.name.clone()).collect();
    let current = session.observation_specs.iter().find(|spec| spec.name == "current").unwrap();
    assert_eq!((current.low, current.high), (Some(-1.0), Some(2.0)), "three pieces");
    let begun = client.reset(reset(&session.name)).await.unwrap().into_inner();
    assert_eq!(numbers(field(&begun.observations, &names, "current")), [2.0, 1.0]);
    assert_eq!(numbers(field(&begun.observations, &names, "queue")), [0.0, 1.0, 1.0, 1.0]);
    let stepped = client.step(step(&session.name, &[0, 3])).await.unwrap().into_inner();
    let board = numbers(field(&stepped.observations, &names, "board"));
    assert_eq!(board[..12], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0], "the U of five");
    assert_eq!(board[48..60], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], "a diagonal");
    let saved = client.save_state(save(&session.name)).await.unwrap().into_inner();
    let drawn = pb::Drawing {
        rows: vec![".#####".into()],
        piece: "a".into(),
        queue: "cb".into(),
        held: String::new(),
    };
    let positions = positions::from_drawings(vec![drawn.clone()]);
    let one = restore(&session.name, positions);
    client.restore_state(pb::RestoreStateRequest { envs: only([1]), ..one }).await.unwrap();
    let states = positions::from_snapshots(saved.states[..1].to_vec());
    let listed = client.enumerate_placements(enumerate(states)).await.unwrap().into_inner();
    assert_eq!(listed.placements.unwrap().shape, [6], "the single cell in every column");
    let of_drawing = pb::Positions { rules: Some(echoed), ..positions::from_drawings(vec![drawn]) };
    let request = pb::EnumeratePlacementsRequest { include_cells: true, ..enumerate(of_drawing) };
    let listed = client.enumerate_placements(request).await.unwrap().into_inner();
    assert_eq!(numbers(listed.lines.as_ref().unwrap()), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let cells = listed.cells.unwrap();
    assert_eq!(cells.shape, [6, 5, 2], "as many as the largest piece has");
    assert_eq!(numbers(&cells)[..10], [0.0, 0.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
}

#[tokio::test]
async fn what_other_pieces_cannot_have_is_refused_by_name() {
    let server = start().await;
    let mut client = server.client().await;
    for (changed, field, said) in [
        (rules("melaks", 6, 8), "config.rules.piece_set", "no set of pieces is called"),
        (rules("A=X.X", 6, 8), "config.rules.piece_set", "expected 1 to 5 cells"),
        (rules(&"X ".repeat(600), 6, 8), "config.rules.piece_set", "expected at most 1024"),
        (rules("X..../.X.../..X../...X./....X", 4, 8), "config.rules.piece_set", "at most 4 columns"),
        (
            pb::Rules { preset: "lab".into(), ..rules("melax", 6, 8) },
            "config.rules",
            "placement action model",
        ),
        (pb::Rules { preset: "guideline".into(), ..rules("melax", 6, 40) }, "config.rules", "reach"),
    ] {
        let request = pb::CreateSessionRequest { config: Some(config(changed)), ..Default::default() };
        let status = client.create_session(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        let text = status.message();
        assert!(text.contains(said) && text.contains(field), "{text}");
    }
    for feature in ["accommodated", "readiness[2]", "fits", "idle_t", "landing_height_lab"] {
        let features = features::from_names(vec![feature.to_owned()]);
        let config = pb::SessionConfig { features: Some(features), ..config(rules("melax", 6, 8)) };
        let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
        let text = format!("{:?}", client.create_session(request).await.unwrap_err());
        assert!(text.contains("is about the seven tetrominoes"), "{feature}: {text}");
    }
    let letters = pb::SessionConfig {
        seeding: Some(seeding::from_sequences(vec!["MDI".into(); 2])),
        ..config(rules("melax", 6, 8))
    };
    let request = pb::CreateSessionRequest { config: Some(letters), ..Default::default() };
    let text = format!("{:?}", client.create_session(request).await.unwrap_err());
    assert!(
        text.contains("'I' at position 2 names no piece of the set, expected one of M D X L O"),
        "{text}"
    );
}

#[tokio::test]
async fn games_that_nothing_ends_need_a_limit() {
    let (mut client, _server) = evaluations::start(1).await;
    let request = |max_pieces| pb::EvaluatePoliciesRequest {
        rules: Some(pb::Rules { preset: "melax".into(), ..Default::default() }),
        policies: vec![evaluations::named("random")],
        seeding: Some(seeding::from_seeds(vec![1])),
        max_pieces,
        include_results: true,
        ..Default::default()
    };
    let text = format!("{:?}", evaluations::ask(&mut client, request(0)).await.unwrap_err());
    assert!(text.contains("max_pieces") && text.contains("no game ends under top_out sink"), "{text}");
    let answer = evaluations::ask(&mut client, request(500)).await.unwrap();
    let game = &answer.results[0];
    assert_eq!((game.pieces, game.is_truncated()), (500, true));
    assert!(game.score < -50.0, "{game:?}");
}

/// An evaluation over the network gives the games that the library plays, for every named set, by linear and other players.
#[tokio::test]
async fn evaluations_play_every_set() {
    let (mut client, _server) = evaluations::start(2).await;
    let weights = [-4.5, 3.4, -3.2, -9.3, -7.9, -3.4, -1.0, -20.0];
    for (set, width, height) in
        [("melax", 6, 6), ("pentominoes", 8, 12), ("trominoes", 6, 6), ("a=X/X/X/X/X b=XX/.X", 5, 9)]
    {
        let row = pb::Weights {
            features: Some(features::from_set("bcts8")),
            weights: Some(tensor::encode(vec![8], &weights)),
            ..Default::default()
        };
        let request = pb::EvaluatePoliciesRequest {
            rules: Some(pb::Rules { preview: None, ..rules(set, width, height) }),
            policies: vec![evaluations::weighing(row)],
            seeding: Some(seeding::from_seeds(vec![1, 2, 3])),
            max_pieces: 200,
            include_results: true,
            ..Default::default()
        };
        let answer = evaluations::ask(&mut client, request).await.unwrap();
        let rules =
            Rules { pieces: PieceSet::parse(set).unwrap(), ..Rules::simplified(width as u8, height as u8) };
        let features = FeatureSet::named("bcts8", rules.width).unwrap();
        let agent = LinearAgent::new(features, weights.to_vec(), TerminalValue::Avoid).unwrap();
        let agent = Agent::searching(agent, Search::Greedy);
        for (result, seed) in answer.results.iter().zip([1, 2, 3]) {
            let mut episode =
                Episode::new(&rules, rules.dealer(seed), tetrion_core::agents::AgentRng::new(seed));
            let bounds = tetrion_core::rollout::Bounds::of_game(200, u64::MAX);
            episode.play(&rules, &agent, Kernel::best(), bounds);
            assert_eq!((result.lines, result.pieces), (episode.game.lines, episode.game.pieces), "{set}");
            assert!(result.pieces > 5, "{set}: {result:?}");
        }
    }
}
