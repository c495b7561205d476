//! What a policy makes of listed placements: the values, and the choices of its games.

use std::sync::atomic::AtomicBool;

use tetrion_core::features::kernel::Kernel;
use tetrion_core::rollout::{Deal, Evaluation};
use tetrion_protocol::policies::decode_scoring;
use tetrion_protocol::rules::ResolvedRules;
use tetrion_protocol::{pb, positions, seeding, tensor};
use tonic::Code;

use crate::support::{drawing, field_names, numbers, save, start};
use tetrion_service_testing::evaluations;
use tetrion_service_testing::{Client, config, create, enumerate, only, refused, reset, step};

const SEEDS: [u64; 3] = [3, 14, 159];

fn named(name: &str) -> pb::Policy {
    pb::Policy { kind: Some(pb::policy::Kind::Name(name.to_owned())), ..Default::default() }
}

fn formula(text: &str) -> pb::Policy {
    let formula = pb::Formula { text: text.to_owned() };
    pb::Policy { kind: Some(pb::policy::Kind::Formula(formula)), ..Default::default() }
}

fn selection(names: &[&str]) -> Option<pb::FeatureSelection> {
    let names = pb::FeatureNames { names: names.iter().map(|&name| name.to_owned()).collect() };
    let kind = Some(pb::feature_selection::Kind::Names(names));
    Some(pb::FeatureSelection { kind, ..Default::default() })
}

fn weights(features: &[&str], rows: u32, weights: &[f64]) -> pb::Policy {
    let weights = pb::Weights {
        features: selection(features),
        weights: Some(tensor::encode(vec![rows, features.len() as u32], weights)),
        ..Default::default()
    };
    pb::Policy { kind: Some(pb::policy::Kind::Weights(weights)), ..Default::default() }
}

fn looking(policy: pb::Policy, method: pb::search::Method) -> pb::Policy {
    pb::Policy { search: Some(pb::Search { method: Some(method) }), ..policy }
}

fn lookahead(pieces: u32) -> pb::search::Method {
    pb::search::Method::Lookahead(pb::Lookahead { pieces })
}

fn expectation(pieces: u32, placements: u32) -> pb::search::Method {
    pb::search::Method::Expectation(pb::Expectation { pieces, placements, ..Default::default() })
}

/// What a policy makes of the positions of a session or of a request.
async fn judged(
    client: &mut Client,
    request: pb::EnumeratePlacementsRequest,
    policy: &pb::Policy,
) -> (Vec<f64>, Vec<f64>, pb::EnumeratePlacementsResponse) {
    let request = pb::EnumeratePlacementsRequest { policy: Some(policy.clone()), ..request };
    let answer = client.enumerate_placements(request).await.expect("values").into_inner();
    let values = numbers(answer.policy_values.as_ref().unwrap());
    let choices = numbers(answer.policy_choices.as_ref().unwrap());
    (values, choices, answer)
}

fn envs(session: &str, ids: Option<pb::EnvIds>) -> pb::EnumeratePlacementsRequest {
    enumerate(pb::SessionEnvs { session: session.to_owned(), envs: ids })
}

/// Plays games by the choices, and compares them with those of an evaluation.
#[track_caller]
fn check_games(rules: pb::Rules, policy: pb::Policy, max_pieces: u64) {
    let resolved = ResolvedRules::try_from(&rules).unwrap().rules;
    let evaluation = Evaluation {
        rules: resolved,
        policies: vec![decode_scoring(&policy, &resolved).unwrap()],
        deal: Deal::Common(SEEDS.to_vec()),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces,
        max_steps: u64::MAX,
        loss_trials: 0,
        opponent: None,
        kernel: Kernel::best(),
    };
    let game = |index| evaluation.play(index, &AtomicBool::new(false)).unwrap();
    let expected: Vec<(u64, u64)> =
        (0..SEEDS.len() as u64).map(|i| (game(i).lines, game(i).pieces)).collect();
    let played = tokio::runtime::Runtime::new().unwrap().block_on(play(rules, &policy, max_pieces));
    assert_eq!(played, expected, "{policy:?}");
    assert!(expected.iter().any(|(lines, _)| *lines > 0), "games in which nothing happens: {expected:?}");
}

/// Lines and pieces of the games.
async fn play(rules: pb::Rules, policy: &pb::Policy, max_pieces: u64) -> Vec<(u64, u64)> {
    let server = start().await;
    let mut client = server.client().await;
    let config = pb::SessionConfig {
        rules: Some(rules),
        seeding: Some(seeding::from_seeds(SEEDS.to_vec())),
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        info_fields: field_names(&["lines", "pieces"]),
        ..config(SEEDS.len() as u32, 0)
    };
    let session = create(&mut client, config).await.name;
    client.reset(reset(&session)).await.unwrap();
    let mut outcomes = vec![(0, 0); SEEDS.len()];
    let mut going: Vec<u32> = (0..SEEDS.len() as u32).collect();
    while !going.is_empty() {
        let (values, choices, answer) =
            judged(&mut client, envs(&session, only(going.clone())), policy).await;
        let offsets = numbers(answer.row_offsets.as_ref().unwrap());
        let all = numbers(answer.actions.as_ref().unwrap());
        let mut actions = Vec::new();
        for (choice, rows) in choices.iter().zip(offsets.windows(2)) {
            let rows = &values[rows[0] as usize..rows[1] as usize];
            let first = (choices.len() == 1).then_some(offsets[0]);
            assert!(first.is_none_or(|first| *choice >= first));
            let best = rows.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(values[*choice as usize] == best, "{choice} of {rows:?}");
            actions.push(all[*choice as usize] as i32);
        }
        let stepped = pb::StepRequest { envs: only(going.clone()), ..step(&session, &actions) };
        let stepped = client.step(stepped).await.unwrap().into_inner();
        let ended = numbers(stepped.terminated.as_ref().unwrap());
        let infos: Vec<Vec<f64>> = stepped.infos.iter().map(numbers).collect();
        for (row, env_id) in going.clone().into_iter().enumerate() {
            outcomes[env_id as usize] = (infos[0][row] as u64, infos[1][row] as u64);
            if ended[row] == 1.0 || outcomes[env_id as usize].1 == max_pieces {
                going.retain(|id| *id != env_id);
            }
        }
    }
    outcomes
}

#[test]
fn games_by_the_choices_are_those_of_evaluations() {
    let shown = |preview| pb::Rules { preview: Some(preview), ..evaluations::rules(6, 8) };
    let hold = pb::Rules { hold: Some(true), ..shown(2) };
    let bags = pb::Rules { randomizer: pb::Randomizer::Bag7.into(), ..hold.clone() };
    let guideline = pb::Rules { preset: "guideline".to_owned(), ..Default::default() };
    check_games(evaluations::rules(6, 8), named("dellacherie"), 200);
    check_games(shown(1), looking(named("dt-10"), lookahead(1)), 100);
    check_games(shown(2), looking(named("bcts"), lookahead(2)), 40);
    check_games(evaluations::rules(6, 8), looking(named("dt-10"), expectation(1, 8)), 100);
    check_games(bags.clone(), looking(named("dt-10"), expectation(2, 3)), 40);
    check_games(hold, named("dellacherie"), 100);
    check_games(guideline.clone(), named("dellacherie"), 60);
    check_games(guideline.clone(), looking(named("dellacherie"), lookahead(1)), 15);
    check_games(guideline, looking(named("tetrion-guideline"), expectation(2, 2)), 15);
    let text =
        "-4*holes - max_height^2 + (if next == I then 2*deep_wells else 0) + lines/(1 + pieces)*max_height";
    check_games(shown(1), formula(text), 100);
    check_games(bags, looking(formula(text), expectation(1, 4)), 60);
}

/// Under `tetrio` a blocked piece appears higher after a clear. The game of the last seed ends after one.
#[test]
fn a_policy_chooses_for_a_piece_that_appears_higher() {
    let low =
        pb::Rules { preset: "tetrio".to_owned(), height: 24, rows_above: Some(18), ..Default::default() };
    check_games(low, named("dt-10"), 60);
}

#[tokio::test]
async fn values_are_the_scores_that_the_features_have() {
    let server = start().await;
    let mut client = server.client().await;
    let names = ["holes", "max_height", "lines_cleared", "bumpiness"];
    let numbers_of = [-4.5, -0.1, 3.0, -0.3];
    let boards = [drawing(&["#.#...#..", "########."], "I"), drawing(&["#...##.#."], "T"), drawing(&[], "S")];
    let drawn =
        pb::Positions { rules: Some(evaluations::rules(9, 6)), ..positions::from_drawings(boards.to_vec()) };
    let request = pb::EnumeratePlacementsRequest { features: selection(&names), ..enumerate(drawn.clone()) };
    let (values, choices, answer) =
        judged(&mut client, request.clone(), &weights(&names, 1, &numbers_of)).await;
    let features = numbers(answer.features.as_ref().unwrap());
    let expected: Vec<f64> = (features.chunks(4))
        .map(|row| row.iter().zip(numbers_of).fold(0.0, |sum, (feature, weight)| sum + weight * feature))
        .collect();
    assert_eq!(values, expected);
    let offsets = numbers(answer.row_offsets.as_ref().unwrap());
    for (choice, rows) in choices.iter().zip(offsets.windows(2)) {
        let rows = rows[0] as usize..rows[1] as usize;
        let best = expected[rows.clone()].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(
            *choice as usize,
            rows.start + expected[rows].iter().position(|value| *value == best).unwrap()
        );
    }
    // A formula that is no sum; drawings have had no lines and no pieces.
    let text = "-holes^2 - max(0, max_height - 2) + lines_cleared/(1 + pieces) + 10*lines + (if current == S then 1 else 0)";
    let (values, ..) = judged(&mut client, request, &formula(text)).await;
    let last = offsets[2] as usize;
    let expected: Vec<f64> = (features.chunks(4).enumerate())
        .map(|(row, f)| -f[0] * f[0] - f64::max(0.0, f[1] - 2.0) + f[2] + if row >= last { 1.0 } else { 0.0 })
        .collect();
    assert_eq!(values, expected);
    // So many positions that the server works in slices.
    let many = positions::from_drawings(boards.iter().cycle().take(3000).cloned().collect());
    let many = enumerate(pb::Positions { rules: Some(evaluations::rules(9, 6)), ..many });
    let searching = looking(named("dt-10"), expectation(1, 2));
    let few = judged(&mut client, enumerate(drawn), &searching).await;
    let (values, choices, _) = judged(&mut client, many, &searching).await;
    assert!(values.chunks(few.0.len()).all(|some| some == few.0));
    assert_eq!((choices[0], choices[2998]), (few.1[0], few.1[1] + 999.0 * few.0.len() as f64));
}

#[tokio::test]
async fn placements_that_a_policy_does_not_consider_are_minus_infinity() {
    let server = start().await;
    let mut client = server.client().await;
    let of = |rows: &[&str]| {
        let drawn = positions::from_drawings(vec![drawing(rows, "O")]);
        enumerate(pb::Positions { rules: Some(evaluations::rules(4, 4)), ..drawn })
    };
    let (values, choices, _) =
        judged(&mut client, of(&["#...", "#...", "#..."]), &formula("-holes + 0*pieces")).await;
    assert_eq!((values, choices), (vec![f64::NEG_INFINITY, 0.0, 0.0], vec![1.0]));
    let scoring =
        pb::Policy { terminal_value: pb::TerminalValue::Score.into(), ..formula("0*holes + 2 - width") };
    let (values, choices, _) = judged(&mut client, of(&["#...", "#...", "#..."]), &scoring).await;
    assert_eq!((values, choices), (vec![-2.0; 3], vec![0.0]));
    // Every placement ends the game, or the search looks at one.
    let ending = ["#.#.", "#.#.", "#.#."];
    let (values, choices, _) = judged(&mut client, of(&ending), &named("dellacherie")).await;
    assert_eq!((values, choices), (vec![f64::NEG_INFINITY; 3], vec![0.0]));
    let (values, choices, _) =
        judged(&mut client, of(&ending), &looking(named("dellacherie"), expectation(1, 4))).await;
    assert_eq!((values, choices), (vec![f64::NEG_INFINITY; 3], vec![0.0]));
    let (values, ..) = judged(&mut client, of(&[]), &looking(named("dellacherie"), expectation(1, 1))).await;
    assert_eq!(values.iter().filter(|value| value.is_finite()).count(), 1);
}

#[tokio::test]
async fn ended_games_have_no_choice_and_snapshots_remember_the_game() {
    let server = start().await;
    let mut client = server.client().await;
    let config = pb::SessionConfig {
        rules: Some(evaluations::rules(4, 4)),
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        ..config(2, 7)
    };
    let session = create(&mut client, config).await.name;
    client.reset(reset(&session)).await.unwrap();
    let counting = formula("100*pieces + lines - holes");
    for pieces in 1..=2 {
        client.step(step(&session, &[0, 0])).await.unwrap();
        let (values, ..) = judged(&mut client, envs(&session, None), &counting).await;
        assert!(values.iter().all(|value| !value.is_finite() || *value > 100.0 * f64::from(pieces) - 20.0));
        let states = client.save_state(save(&session)).await.unwrap().into_inner().states;
        let saved = judged(&mut client, enumerate(positions::from_snapshots(states)), &counting).await;
        assert_eq!(saved.0, values);
    }
    loop {
        let (_, choices, answer) = judged(&mut client, envs(&session, None), &counting).await;
        let offsets = numbers(answer.row_offsets.as_ref().unwrap());
        let ended: Vec<bool> = offsets.windows(2).map(|rows| rows[0] == rows[1]).collect();
        assert_eq!(choices.iter().map(|choice| *choice == -1.0).collect::<Vec<_>>(), ended);
        let going: Vec<u32> = (0..2).filter(|env_id| !ended[*env_id as usize]).collect();
        if going.is_empty() {
            return;
        }
        let actions = vec![0; going.len()];
        client.step(pb::StepRequest { envs: only(going), ..step(&session, &actions) }).await.unwrap();
    }
}

#[tokio::test]
async fn a_game_that_is_out_of_pieces_has_no_placements_in_its_snapshot() {
    let server = start().await;
    let mut client = server.client().await;
    let config = pb::SessionConfig {
        seeding: Some(seeding::from_sequences(vec!["I".to_owned()])),
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        ..config(1, 0)
    };
    let session = create(&mut client, config).await.name;
    client.reset(reset(&session)).await.unwrap();
    client.step(step(&session, &[0])).await.unwrap();
    let states = client.save_state(save(&session)).await.unwrap().into_inner().states;
    let saved = enumerate(positions::from_snapshots(states));
    assert_eq!(client.enumerate_placements(saved.clone()).await.unwrap().into_inner().policy_values, None);
    let (values, choices, _) = judged(&mut client, saved, &named("dt-10")).await;
    assert_eq!((values, choices), (vec![], vec![-1.0]));
}

/// By keys, placements are those of the piece from where it appeared, until it has been held.
#[tokio::test]
async fn choices_stay_while_keys_move_the_piece() {
    let server = start().await;
    let mut client = server.client().await;
    let config = pb::SessionConfig {
        rules: Some(pb::Rules {
            preset: "guideline".to_owned(),
            action_model: pb::ActionModel::Keypress.into(),
            ..Default::default()
        }),
        ..config(2, 5)
    };
    let session = create(&mut client, config).await.name;
    client.reset(reset(&session)).await.unwrap();
    let policy = looking(named("dellacherie"), expectation(1, 3));
    let (first, chosen, _) = judged(&mut client, envs(&session, None), &policy).await;
    client.step(step(&session, &[pb::Key::Left as i32; 2])).await.unwrap();
    let moved = judged(&mut client, envs(&session, None), &policy).await;
    assert_eq!((moved.0, moved.1), (first.clone(), chosen));
    client.step(step(&session, &[pb::Key::Hold as i32; 2])).await.unwrap();
    let (values, choices, answer) = judged(&mut client, envs(&session, None), &policy).await;
    assert!(
        values.len() < first.len() && numbers(answer.holds.as_ref().unwrap()).iter().all(|held| *held == 0.0)
    );
    assert!(choices.iter().all(|choice| *choice >= 0.0));
}

#[tokio::test]
async fn a_policy_that_scores_nothing_is_refused() {
    let server = start().await;
    let mut client = server.client().await;
    let one = enumerate(positions::from_drawings(vec![drawing(&[], "O")]));
    let playouts = pb::Policy {
        kind: Some(pb::policy::Kind::MonteCarlo(pb::MonteCarlo::default())),
        ..Default::default()
    };
    let cases = [
        (named("random"), "policy.name", "random scores no placements"),
        (playouts, "policy.monte_carlo", "monte_carlo scores no placements"),
        (named("dt-11"), "policy.name", "did you mean \"dt-10\""),
        (weights(&["holes"], 2, &[1.0, 2.0]), "policy.weights.weights", "has 2 rows, expected one"),
        (formula("holes + "), "policy.formula.text", "holes + "),
        (looking(named("dt-10"), lookahead(1)), "policy.search.lookahead.pieces", "shown"),
        (pb::Policy::default(), "policy", "has no kind"),
    ];
    for (policy, field, words) in cases {
        let request = pb::EnumeratePlacementsRequest { policy: Some(policy), ..one.clone() };
        let got = client.enumerate_placements(request).await;
        let message = got.as_ref().unwrap_err().message().to_owned();
        let reason = if words.starts_with("did") { "UNKNOWN_NAME" } else { "INVALID_FIELD" };
        assert_eq!(refused(got, Code::InvalidArgument, reason).fields(), [field], "{message}");
        assert!(message.contains(words), "{message}");
    }
    let only_one = pb::EnumeratePlacementsRequest {
        policy: Some(named("dt-10")),
        actions: Some(tensor::encode(vec![1], &[0])),
        ..one
    };
    let got = client.enumerate_placements(only_one).await;
    assert_eq!(refused(got, Code::InvalidArgument, "INVALID_FIELD").fields(), ["policy"]);
    // Work is estimated by placements, of which modern Tetris has far fewer than action numbers.
    let guideline = pb::Rules { preset: "guideline".to_owned(), ..Default::default() };
    let some = positions::from_drawings(vec![drawing(&[], "O"); 50]);
    let policy = looking(named("dt-10"), lookahead(1));
    judged(&mut client, enumerate(pb::Positions { rules: Some(guideline), ..some }), &policy).await;
    // Minutes of work are refused before any is done.
    let many = positions::from_drawings(vec![drawing(&[], "O"); 5000]);
    let rules = pb::Rules { preview: Some(1), ..evaluations::rules(10, 20) };
    let much = pb::EnumeratePlacementsRequest {
        policy: Some(looking(named("dt-10"), expectation(2, 128))),
        ..enumerate(pb::Positions { rules: Some(rules), ..many })
    };
    refused(client.enumerate_placements(much).await, Code::InvalidArgument, "TOO_MUCH_WORK");
}
