//! EvaluatePolicies, over a real connection: the games are those of the engine, on any number of threads.

/// Evaluations take their memory before they begin, and give it back.
mod memory;

/// Evaluations end and make room for others, and report their progress.
mod places;

/// What cannot be played is refused before anything is.
mod refusals;

/// Messages are as large as the client can take, and requests as large as the limits.
mod sizes;

use std::sync::atomic::AtomicBool;

use tetrion_core::agents::{Agent, Kernel, LinearAgent, Search, TerminalValue};
use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::engine::{RULES_VERSION, Rules};
use tetrion_core::features::FeatureSet;
use tetrion_core::rollout::{Deal, Estimate, Evaluation, PlayedGame};
use tetrion_protocol::limits::MAX_PIECES;
use tetrion_protocol::pb::evaluate_policies_response::Event;
use tetrion_protocol::pb::policy::Kind;
use tetrion_protocol::{features, pb, search, seeding, tensor};
use tetrion_service_testing::evaluations::{
    Answer, WEIGHTS, ask, matrix, named, next, request, rows, rules, start, weighing,
};

/// The games of [`request`], played by the engine itself.
fn same_games(deal: Deal) -> Evaluation {
    let policy = |weights: &[f64; 4]| {
        let set = FeatureSet::named("height4", 8).unwrap();
        Agent::Linear(LinearAgent::new(set, weights.to_vec(), TerminalValue::Avoid).unwrap())
    };
    Evaluation {
        rules: Rules::simplified(8, 10),
        policies: WEIGHTS.iter().map(policy).collect(),
        deal,
        episodes_per_seed: 2,
        pairs: None,
        max_pieces: 300,
        max_steps: u64::MAX,
        loss_trials: 0,
        opponent: None,
        kernel: Kernel::best(),
    }
}

fn played(evaluation: &Evaluation) -> Vec<PlayedGame> {
    let stop = AtomicBool::new(false);
    (0..evaluation.num_games()).map(|game| evaluation.play(game, &stop).unwrap()).collect()
}

#[tokio::test]
async fn the_answer_is_the_same_on_one_thread_on_four_and_one_game_at_a_time() {
    let (mut one, _guard) = start(1).await;
    let mut answer = ask(&mut one, request()).await.unwrap();
    assert_eq!(answer.results, played(&same_games(Deal::Common(vec![3, 1, 4, 1, 5]))));
    assert!(answer.results.iter().any(|game| game.is_truncated()), "some are cut");
    assert!(answer.results.iter().any(|game| !game.is_truncated()), "some are not");
    let progress = &answer.last_progress;
    assert_eq!((progress.games_done, progress.num_games), (30, 30));
    assert_eq!(progress.pieces_done, answer.results.iter().map(|game| game.pieces).sum::<u64>());
    assert_eq!(progress.lines_done, answer.results.iter().map(|game| game.lines).sum::<u64>());

    let (mut four, _guard) = start(4).await;
    for max_parallelism in [0, 1, 3] {
        let mut other =
            ask(&mut four, pb::EvaluatePoliciesRequest { max_parallelism, ..request() }).await.unwrap();
        // Only the time differs.
        other.last_progress.elapsed = None;
        answer.last_progress.elapsed = None;
        assert_eq!(other, answer, "{max_parallelism} games at a time");
    }
}

#[tokio::test]
async fn started_has_every_default_filled_in() {
    let (mut client, _guard) = start(1).await;
    let one = pb::Weights {
        features: Some(features::from_names(vec!["holes".to_owned()])),
        weights: Some(tensor::encode(vec![1], &[-1.0])),
        ..Default::default()
    };
    let policies = vec![
        weighing(matrix(&WEIGHTS)),
        pb::Policy { label: "Pierre".to_owned(), ..named("dellacherie") },
        pb::Policy { terminal_value: pb::TerminalValue::Score.into(), ..weighing(one) },
    ];
    let request = pb::EvaluatePoliciesRequest {
        rules_version: RULES_VERSION.to_owned(),
        policies,
        seeding: Some(seeding::from_drawn(42, 2)),
        episodes_per_seed: 0,
        max_steps: 100,
        max_pieces: 0,
        ..request()
    };
    let answer = ask(&mut client, request).await.unwrap();
    let started = answer.started;
    let rules = started.rules.unwrap();
    assert_eq!(
        (rules.preset.as_str(), rules.width, rules.height, rules.preview),
        ("simplified", 8, 10, Some(0))
    );
    assert_eq!(
        (started.num_policies, started.num_seeds, started.episodes_per_seed, started.num_games),
        (5, 2, 1, 10)
    );
    assert_eq!((started.max_pieces, started.max_steps, started.baseline), (MAX_PIECES, 100, Some(0)));
    let rows: Vec<u32> = started.policies.iter().map(|entry| entry.num_rows).collect();
    assert_eq!(rows, [3, 1, 1]);
    let echoes: Vec<pb::Policy> = started.policies.into_iter().map(|entry| entry.policy.unwrap()).collect();
    let [matrix, pierre, one] = echoes.try_into().unwrap();
    let greedy = Some(search::encode(Search::Greedy));
    let kind = |features| Some(Kind::Weights(pb::Weights { features: Some(features), ..Default::default() }));
    let height4 = pb::FeatureSelection {
        feature_set_version: FeatureSet::named("height4", 8).unwrap().version().to_string(),
        ..features::from_set("height4")
    };
    assert_eq!((matrix.kind, &matrix.search), (kind(height4), &greedy));
    assert_eq!(matrix.terminal_value, pb::TerminalValue::Avoid as i32);
    assert_eq!(pierre.kind, Some(Kind::Name("dellacherie".to_owned())));
    assert_eq!((pierre.label.as_str(), &pierre.search), ("Pierre", &greedy));
    assert_eq!(pierre.terminal_value, pb::TerminalValue::Avoid as i32);
    assert_eq!(one.kind, kind(features::from_names(vec!["holes".to_owned()])));
    assert_eq!(one.terminal_value, pb::TerminalValue::Score as i32);

    let seeds: Vec<u64> = answer.results[..2].iter().map(|game| game.seed).collect();
    assert_eq!(seeds, [word(42, Tag::Game, 0), word(42, Tag::Game, 1)]);
    assert!(answer.results.iter().all(|game| game.pieces <= 100));
}

#[tokio::test]
async fn seeds_per_policy_are_rows_of_a_matrix_and_no_policies_are_compared() {
    let (mut client, _guard) = start(2).await;
    let seeds: Vec<u64> = (10..16).collect();
    let seeding = Some(seeding::from_seeds_per_policy(seeds.clone()));
    let answer = ask(&mut client, pb::EvaluatePoliciesRequest { seeding, ..request() }).await.unwrap();
    assert_eq!(answer.results, played(&same_games(Deal::PerSlot { seeds, columns: 2 })));
    assert_eq!((answer.started.num_seeds, answer.started.baseline), (2, None));
    assert_eq!(answer.summary.paired_differences, []);
}

#[tokio::test]
async fn numbers_written_by_hand_are_the_same_as_bytes() {
    let (mut client, _guard) = start(1).await;
    let by_hand = |values: Vec<f64>| Some(pb::Tensor { values, ..Default::default() });
    let weights = pb::Weights { weights: by_hand(WEIGHTS.as_flattened().to_vec()), ..matrix(&WEIGHTS) };
    let with = |weights| pb::EvaluatePoliciesRequest { policies: vec![weighing(weights)], ..request() };
    let written = with(weights);
    let written = ask(&mut client, written).await.unwrap();
    assert_eq!(written.results, ask(&mut client, request()).await.unwrap().results);

    // Half, a quarter and an eighth are the same number in 32 bits.
    let exact = [[-0.5, 0.75, -0.25, -0.125]];
    let narrow: Vec<f32> = exact.as_flattened().iter().map(|weight| *weight as f32).collect();
    let narrow = with(pb::Weights { weights: Some(tensor::encode(vec![1, 4], &narrow)), ..matrix(&exact) });
    let wide = with(matrix(&exact));
    let (narrow, wide) = (ask(&mut client, narrow).await.unwrap(), ask(&mut client, wide).await.unwrap());
    assert_eq!(narrow.results, wide.results);
}

#[tokio::test]
async fn a_broken_evaluation_is_finished_by_asking_for_the_missing_pairs() {
    let (mut client, _guard) = start(2).await;
    let whole = ask(&mut client, request()).await.unwrap();
    // In any order; the answer is counted in the usual one.
    let pairs = Some(tensor::encode(vec![4, 2], &[2i32, 4, 0, 1, 0, 0, 2, 1]));
    let part = ask(&mut client, pb::EvaluatePoliciesRequest { pairs, ..request() }).await.unwrap();
    let wanted =
        |game: &&PlayedGame| [(0, 0), (0, 1), (2, 1), (2, 4)].contains(&(game.policy, game.seed_index));
    let expected: Vec<PlayedGame> = whole
        .results
        .iter()
        .filter(wanted)
        .zip(0..)
        .map(|(result, game)| PlayedGame { game, ..*result })
        .collect();
    assert_eq!(part.results, expected);
    assert_eq!(part.started.num_games, 8);

    let policies: Vec<(u32, u64)> =
        part.summary.policies.iter().map(|p| (p.policy_index, p.num_games)).collect();
    assert_eq!(policies, [(0, 4), (2, 4)], "policy 1 did not play");
    let [difference] = part.summary.paired_differences.try_into().unwrap();
    assert_eq!((difference.policy_index, difference.baseline_index), (2, 0));
    assert_eq!(difference.num_games, 2, "both played seed 1, twice");
    // Of seed 1: policy 2's first games minus policy 0's second pair of games.
    let lines = |game: usize| part.results[game].lines as f64;
    let expected = ((lines(4) - lines(2)) + (lines(5) - lines(3))) / 2.0;
    assert_eq!(difference.lines.unwrap().mean, expected);
}

#[tokio::test]
async fn the_summary_says_what_the_games_say() {
    let (mut client, _guard) = start(2).await;
    let asked = pb::EvaluatePoliciesRequest { baseline: 1, ..request() };
    let Answer { results, summary, .. } = ask(&mut client, asked).await.unwrap();
    let lines: Vec<Vec<f64>> =
        results.chunks(10).map(|games| games.iter().map(|game| game.lines as f64).collect()).collect();
    for (policy, reported) in summary.policies.iter().enumerate() {
        let games = &results[10 * policy..10 * (policy + 1)];
        let cut = games.iter().filter(|game| game.is_truncated()).count() as u64;
        assert_eq!((reported.policy_index, reported.num_games), (policy as u32, 10));
        assert_eq!(reported.num_truncated, cut);
        let steps = games.iter().map(|game| game.steps as f64);
        assert_eq!(reported.steps.unwrap().mean, steps.sum::<f64>() / 10.0);
        let reported = reported.lines.unwrap();
        let mean = lines[policy].iter().sum::<f64>() / 10.0;
        let variance = lines[policy].iter().map(|lines| (lines - mean).powi(2)).sum::<f64>() / 9.0;
        let half = 1.96 * (variance / 10.0).sqrt();
        let close = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-9;
        assert_eq!(reported.mean, mean);
        assert!(close(reported.std, variance.sqrt()), "{reported:?}");
        assert!(
            close(reported.ci95_low, mean - half) && close(reported.ci95_high, mean + half),
            "{reported:?}"
        );
        assert_eq!(reported.min, lines[policy].iter().copied().fold(f64::INFINITY, f64::min));
        assert_eq!(reported.max, lines[policy].iter().copied().fold(0.0, f64::max));
    }
    let compared: Vec<(u32, u32, u64)> =
        summary.paired_differences.iter().map(|d| (d.policy_index, d.baseline_index, d.num_games)).collect();
    assert_eq!(compared, [(0, 1, 10), (2, 1, 10)]);
    for difference in &summary.paired_differences {
        let policy = &lines[difference.policy_index as usize];
        let mean = policy.iter().zip(&lines[1]).map(|(a, b)| a - b).sum::<f64>() / 10.0;
        assert_eq!(difference.lines.unwrap().mean, mean);
        let cut = |k: usize| {
            results[10 * difference.policy_index as usize + k].is_truncated()
                || results[10 + k].is_truncated()
        };
        assert_eq!(difference.num_truncated, (0..10).filter(|k| cut(*k)).count() as u64);
    }
}

#[tokio::test]
async fn one_game_has_no_spread() {
    let (mut client, _guard) = start(1).await;
    let one = pb::EvaluatePoliciesRequest {
        policies: vec![weighing(matrix(&WEIGHTS[..1]))],
        seeding: Some(seeding::from_drawn(0, 1)),
        episodes_per_seed: 1,
        ..request()
    };
    let answer = ask(&mut client, one).await.unwrap();
    let [policy] = answer.summary.policies.try_into().unwrap();
    let lines = policy.lines.unwrap();
    assert_eq!((lines.std, lines.ci95_low, lines.ci95_high), (None, None, None));
    assert_eq!((lines.mean, lines.min, lines.max), (lines.min, lines.max, lines.mean));
}

#[tokio::test]
async fn results_come_only_if_they_are_asked_for() {
    let (mut client, _guard) = start(2).await;
    let with = ask(&mut client, request()).await.unwrap();
    let without =
        ask(&mut client, pb::EvaluatePoliciesRequest { include_results: false, ..request() }).await.unwrap();
    assert_eq!(without.results, []);
    assert_eq!(without.summary, with.summary);
    assert_eq!(without.last_progress.games_done, 30);
}

#[tokio::test]
async fn estimates_come_in_their_own_messages() {
    let (mut client, _guard) = start(2).await;
    let loss_estimation = Some(pb::LossEstimation { trials: 16 });
    let asked =
        pb::EvaluatePoliciesRequest { rules: Some(rules(8, 8)), loss_estimation, max_pieces: 0, ..request() };
    let answer = ask(&mut client, asked.clone()).await.unwrap();
    assert_eq!((answer.results.len(), answer.estimates.len()), (0, 30));
    assert_eq!((answer.started.loss_estimation, answer.started.baseline), (loss_estimation, None));
    let evaluation = Evaluation {
        rules: Rules::simplified(8, 8),
        loss_trials: 16,
        max_pieces: u64::MAX,
        ..same_games(Deal::Common(vec![3, 1, 4, 1, 5]))
    };
    let stop = AtomicBool::new(false);
    let expected = (0..30).map(|game| evaluation.estimate(game, &stop).unwrap());
    assert_eq!(answer.estimates, expected.collect::<Vec<_>>());

    let summary = &answer.summary;
    assert_eq!(
        (summary.policies.len(), summary.paired_differences.len(), summary.estimates.len()),
        (0, 0, 3)
    );
    for (policy, reported) in summary.estimates.iter().enumerate() {
        let estimates: Vec<Estimate> =
            answer.estimates[10 * policy..][..10].iter().map(|one| one.estimate).collect();
        let longer = estimates.iter().filter(|estimate| estimate.lasts_longer).count() as u64;
        assert_eq!((reported.policy_index, reported.num_estimates), (policy as u32, 10));
        assert_eq!(reported.num_lasting_longer, longer);
        let mean = |number: fn(&Estimate) -> f64| estimates.iter().map(number).sum::<f64>() / 10.0;
        let rate = mean(|estimate| estimate.loss_rate);
        let pieces = reported.pieces.unwrap();
        assert_eq!(pieces.mean, 1.0 / rate);
        assert_eq!(reported.lines.unwrap().mean, mean(|estimate| estimate.lines_per_piece) / rate);
        assert_eq!(reported.steps.unwrap().mean, mean(|estimate| estimate.steps_per_piece) / rate);
        assert_eq!(reported.score.unwrap().mean, mean(|estimate| estimate.score_per_piece) / rate);
        // The interval is a factor.
        let factor = pieces.ci95_high.unwrap() / pieces.mean;
        assert!((pieces.mean / pieces.ci95_low.unwrap() / factor - 1.0).abs() < 1e-12, "{pieces:?}");
    }

    let sums = pb::EvaluatePoliciesRequest { include_results: false, ..asked };
    let sums = ask(&mut client, sums).await.unwrap();
    assert_eq!((sums.estimates.len(), &sums.summary), (0, summary));
}

#[tokio::test]
async fn explicit_pieces_are_dealt_and_their_end_cuts_the_game() {
    let (mut client, _guard) = start(1).await;
    let sequences = vec!["OOOO".to_owned(), "II II".to_owned()];
    let asked = pb::EvaluatePoliciesRequest {
        seeding: Some(seeding::from_sequences(sequences)),
        episodes_per_seed: 1,
        ..request()
    };
    let answer = ask(&mut client, asked).await.unwrap();
    assert_eq!(answer.results.len(), 6);
    for game in &answer.results {
        assert_eq!((game.pieces, game.seed, game.is_truncated()), (4, 0, true), "{game:?}");
    }
    let lines: Vec<u64> = answer.results.iter().map(|game| game.lines).collect();
    assert_eq!(lines[..2], [2, 2], "four squares side by side; two pairs of bars end to end");
}

#[tokio::test]
async fn many_games_come_in_messages_of_a_bounded_size() {
    let (mut client, _guard) = start(2).await;
    let many = pb::EvaluatePoliciesRequest {
        seeding: Some(seeding::from_drawn(1, 10_000)),
        episodes_per_seed: 1,
        max_pieces: 1,
        ..request()
    };
    let mut stream = client.evaluate_policies(many).await.unwrap().into_inner();
    let (mut games, mut sizes) = (0, Vec::new());
    while let Some(event) = next(&mut stream).await.unwrap() {
        if let Event::Results(results) = event {
            let results = rows(&results);
            games += results.len();
            sizes.push(results.len());
        }
    }
    assert_eq!(games, 30_000);
    assert!(sizes.iter().all(|size| (1..=4096).contains(size)), "{sizes:?}");
}
