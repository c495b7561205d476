//! How long games last, estimated without playing them to their end: against exact values, whole games, and reasoning.

use std::sync::atomic::AtomicBool;

use tetrion_core::agents::{Agent, Controller, Expectation, Kernel, Search};
use tetrion_core::engine::{Garbage, Randomizer, Rules};
use tetrion_core::pool::Pool;
use tetrion_core::rollout::{Deal, EstimatedGame, Evaluation};
use tetrion_core::summary::{
    EstimateSummary, EstimateTable, GameTable, PolicySummary, Statistics, summarize, summarize_estimates,
};
use tetrion_toolkit::optimum::{Pick, Process};

fn controller(name: &str, width: u8) -> Agent {
    Agent::Linear(Controller::named(name).unwrap().agent(width).unwrap())
}

/// So many estimates, or whole games where there are no trials.
fn evaluation(rules: Rules, agent: Agent, games: u64, loss_trials: u32) -> Evaluation {
    Evaluation {
        rules,
        policies: vec![agent],
        deal: Deal::Common((0..games).collect()),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: u64::MAX,
        max_steps: u64::MAX,
        loss_trials,
        opponent: None,
        kernel: Kernel::best(),
    }
}

fn estimates(evaluation: &Evaluation) -> Vec<EstimatedGame> {
    let games = 0..evaluation.num_games();
    games.map(|game| evaluation.estimate(game, &AtomicBool::new(false)).unwrap()).collect()
}

/// Pieces per game, as an estimate has them.
fn pieces(estimate: &EstimatedGame) -> f64 {
    1.0 / estimate.estimate.loss_rate
}

fn estimated(evaluation: &Evaluation) -> EstimateSummary {
    let mut table = EstimateTable::new(evaluation.num_games());
    for estimate in estimates(evaluation) {
        table.record(&estimate);
    }
    summarize_estimates(evaluation.order(), &table)[0]
}

fn played(rules: Rules, agent: Agent, games: u64) -> PolicySummary {
    let evaluation = evaluation(rules, agent, games, 0);
    let mut table = GameTable::new(games);
    for game in 0..games {
        table.record(&evaluation.play(game, &AtomicBool::new(false)).unwrap());
    }
    summarize(evaluation.order(), &table, None).0[0]
}

/// Checks that a mean lies within four standard errors of the truth, and that these are small enough to tell.
#[track_caller]
fn check_mean(what: &str, estimated: Statistics, games: u64, truth: f64) {
    let error = estimated.spread.unwrap().std / (games as f64).sqrt();
    assert!(error < 0.06 * truth, "{what}: {estimated:?} says too little beside {truth}");
    let away = (estimated.mean - truth).abs();
    assert!(away < 4.0 * error + 0.005 * truth, "{what}: {estimated:?}, expected {truth}");
}

#[test]
fn estimates_agree_with_exact_values() {
    for (width, height, name) in [(4, 6, "dt-10"), (6, 4, "rv-ce"), (5, 5, "bcts")] {
        let rules = Rules::simplified(width, height);
        let agent = controller(name, width);
        let process = Process::of_agent(&rules, &agent, Kernel::best(), |_| {}).unwrap();
        let exact = process.solve(Pick::Best, &Pool::new(2).unwrap(), |_| {}).of_game().lines;
        let estimated = estimated(&evaluation(rules, agent, 200, 128));
        check_mean(&format!("{name} on {width} x {height}"), estimated.lines, 200, exact);
    }
}

#[test]
fn estimates_agree_with_whole_games() {
    let small = |randomizer| Rules { randomizer, ..Rules::simplified(8, 8) };
    let garbage =
        Garbage { lines_per_piece: 0.1, hole_move_chance: 0.3, delay_pieces: 1, ..Garbage::DEFAULT };
    let foresight = |rules: &Rules| {
        let agent = Controller::named("dt-10").unwrap().agent(rules.width).unwrap();
        Agent::searching(agent, Search::Expectation(Expectation { placements: 2, ..Expectation::DEFAULT }))
    };
    let linear = |rules: &Rules| controller("bcts", rules.width);
    // Randomizers whose bags and counts belong to a position, what comes up from below, keys, and the agents' own draws.
    let cases: [(&str, Rules, Agent, u64); 6] = [
        ("uniform", small(Randomizer::Uniform), linear(&small(Randomizer::Uniform)), 4000),
        ("bag7", small(Randomizer::Bag7), linear(&small(Randomizer::Bag7)), 4000),
        ("nes", small(Randomizer::Nes), linear(&small(Randomizer::Nes)), 4000),
        ("garbage", Rules { garbage: Some(garbage), ..Rules::simplified(8, 8) }, controller("bcts", 8), 2000),
        ("foresight", Rules::simplified(8, 6), foresight(&Rules::simplified(8, 6)), 2000),
        ("random", Rules::simplified(6, 12), Agent::Random, 4000),
    ];
    for (what, rules, agent, games) in cases {
        let played = played(rules, agent.clone(), games);
        let estimated = estimated(&evaluation(rules, agent, 100, 64));
        let error = played.pieces.spread.unwrap().std / (games as f64).sqrt();
        assert!(error < 0.06 * played.pieces.mean, "{what}: whole games say too little: {played:?}");
        let of_estimates = estimated.pieces.spread.unwrap().std / 10.0;
        let away = (estimated.pieces.mean - played.pieces.mean).abs();
        assert!(away < 4.0 * error.hypot(of_estimates), "{what}: {estimated:?}, played {played:?}");
        let lines = (estimated.lines.mean - played.lines.mean).abs();
        assert!(lines < 0.3 * played.lines.mean + 0.1, "{what}: {estimated:?}, played {played:?}");
    }
}

#[test]
fn a_rare_loss_is_found_in_few_pieces() {
    // MDPTetris' controller loses once in about 12,600 pieces on 10 x 10, and so once in some 1.5e8 on 10 x 20.
    let rules = Rules::simplified(10, 20);
    let estimated = estimated(&evaluation(rules, controller("dt-20", 10), 40, 200));
    assert!((3e7..1e8).contains(&estimated.lines.mean), "{estimated:?}");
    assert!(estimated.num_lasting_longer < 4, "{estimated:?}");
}

#[test]
fn an_estimate_depends_on_its_seed_and_its_trials_alone() {
    let rules = Rules { randomizer: Randomizer::Bag7, ..Rules::simplified(8, 14) };
    let best = evaluation(rules, controller("dt-10", 8), 6, 32);
    let found = estimates(&best);
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        assert_eq!(estimates(&Evaluation { kernel, ..best.clone() }), found, "{kernel:?}");
    }
    let alone = Evaluation { pairs: Some(vec![(0, 4)]), ..best.clone() };
    assert_eq!(estimates(&alone)[0], EstimatedGame { game: 0, ..found[4] });
    assert_ne!(pieces(&estimates(&Evaluation { loss_trials: 33, ..best })[0]), pieces(&found[0]));
    assert!(found.windows(2).all(|two| pieces(&two[0]) != pieces(&two[1])));
}

#[test]
fn what_is_cut_is_a_lower_bound() {
    let rules = Rules::simplified(10, 20);
    let whole = evaluation(rules, controller("dt-20", 10), 1, 100);
    let whole_pieces = pieces(&estimates(&whole)[0]);
    // Among the looks, before the first level was reached, between two trials, and just before the end.
    for max_pieces in [1, 1_000, 2_100, 5_000, 20_000] {
        let cut = estimates(&Evaluation { max_pieces, ..whole.clone() })[0];
        assert!(cut.estimate.lasts_longer && pieces(&cut) < whole_pieces, "{max_pieces}: {cut:?}");
    }
    let [uncut] = estimates(&Evaluation { max_pieces: 1_000_000, ..whole })[..] else {
        panic!("one estimate")
    };
    assert_eq!((pieces(&uncut), uncut.estimate.lasts_longer), (whole_pieces, false));
}

#[test]
fn a_weak_player_that_is_cut_early_is_not_taken_for_a_strong_one() {
    let rules = Rules::simplified(10, 20);
    let played = played(rules, Agent::Random, 1000).pieces.mean;
    for max_pieces in [500, 1_500, 2_500] {
        let task = evaluation(rules, Agent::Random, 20, 16);
        let cut = estimated(&Evaluation { max_pieces, ..task });
        assert!(cut.num_lasting_longer > 0 || max_pieces > 2_048, "{max_pieces}: {cut:?}");
        assert!(cut.pieces.mean < 1.3 * played, "{max_pieces}: {cut:?}, {played} pieces in whole games");
    }
}

#[test]
fn games_that_are_lost_at_once_are_estimated_too() {
    let rules = Rules::simplified(10, 4);
    let estimated = estimated(&evaluation(rules, Agent::Dummy, 50, 16));
    // On four rows the same column is full after a few pieces.
    let played = played(rules, Agent::Dummy, 4000);
    let ratio = estimated.pieces.mean / played.pieces.mean;
    assert!((0.9..1.1).contains(&ratio), "{estimated:?}, played {played:?}");
}
