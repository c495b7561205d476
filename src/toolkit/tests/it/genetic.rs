//! The genetic algorithm: the same tests as for the cross-entropy method.

use tetrion_toolkit::optimizers::genetic::{Genetic, GeneticConfig};
use tetrion_toolkit::optimizers::{Config, Optimizer, OptimizerState, TellError};

use tetrion_toolkit_testing::{advance, toy};

use crate::cem::{check_resume, golden_path};

#[test]
fn finds_the_summit_of_a_toy_function() {
    let mut search = Genetic::new(GeneticConfig { initial_range: 3.0, ..Default::default() }, 3, 5).unwrap();
    let first = advance(&mut search, toy);
    for _ in 0..80 {
        advance(&mut search, toy);
    }
    let best = search.best().unwrap();
    assert!(best.score > -1e-2, "from {} to {best:?}", first.best_score);
    assert_eq!(search.incumbent().unwrap(), best.weights, "without noise the best is kept, and wins again");
}

#[test]
fn takes_the_path_of_an_independent_program() {
    let config = GeneticConfig { individuals: 10, ..Default::default() };
    let mut search = Genetic::new(config, 3, 42).unwrap();
    for expected in golden_path("genetic") {
        assert_eq!(advance(&mut search, toy).best, expected, "generation {}", search.generation());
    }
}

#[test]
fn resumes_from_text_at_every_generation() {
    check_resume(&Config::Genetic(GeneticConfig::default()), 12);
    check_resume(&Config::Genetic(GeneticConfig { individuals: 2, keep: 0, ..Default::default() }), 12);
}

#[test]
fn statistics_of_a_generation() {
    let config = GeneticConfig { individuals: 4, ..Default::default() };
    let mut search = Genetic::new(config, 1, 3).unwrap();
    let individuals = search.ask().candidates;
    let generation = search.tell(&[1.0, 3.0, 5.0, 7.0]).unwrap().unwrap();
    assert_eq!((generation.best_score, generation.mean_score), (7.0, 4.0));
    assert!((generation.std_score - f64::sqrt(5.0)).abs() < 1e-15, "divided by n");
    assert_eq!(generation.best, individuals[3]);
    assert_eq!(generation.mean, [individuals.iter().map(|weights| weights[0]).sum::<f64>() / 4.0]);
}

#[test]
fn the_kept_go_on_unchanged_best_first() {
    let config = GeneticConfig { individuals: 7, keep: 2, mutation_probability: 1.0, ..Default::default() };
    let mut search = Genetic::new(config, 2, 3).unwrap();
    let old = search.ask().candidates;
    search.tell(&[0.0, 1.0, 9.0, 2.0, 9.5, 3.0, 9.0]).unwrap();
    let new = search.ask().candidates;
    assert_eq!(new.len(), 7, "an odd number of children");
    assert_eq!(new[..2], [old[4].clone(), old[2].clone()]);
    assert!(new[2..].iter().all(|child| !old.contains(child)), "every weight of a child was changed");
}

/// Neither crossed nor changed, children are copies of tournament winners.
#[test]
fn tournaments_favour_the_best() {
    let copies_of_best = |tournament| {
        let config = GeneticConfig {
            individuals: 100,
            tournament,
            crossover_probability: 0.0,
            mutation_probability: 0.0,
            keep: 0,
            ..Default::default()
        };
        let mut search = Genetic::new(config, 1, 17).unwrap();
        let scores: Vec<f64> = (0..100).map(f64::from).collect();
        let best_quarter = search.ask().candidates[75..].to_vec();
        search.tell(&scores).unwrap();
        search.ask().candidates.iter().filter(|child| best_quarter.contains(child)).count()
    };
    // Expected of 100: 25 without a contest; 1 - 0.75^3 = 58; 1 - 0.75^50 = 100. Deviations below 5.
    assert!((10..=40).contains(&copies_of_best(1)));
    assert!((43..=73).contains(&copies_of_best(3)));
    assert_eq!(copies_of_best(50), 100);
}

#[test]
fn blends_stay_in_reach() {
    for (blend_alpha, reach) in [(0.0, 1.0), (0.5, 2.0)] {
        let config = GeneticConfig {
            individuals: 200,
            crossover_probability: 1.0,
            blend_alpha,
            mutation_probability: 0.0,
            ..Default::default()
        };
        let mut search = Genetic::new(config, 2, 6).unwrap();
        advance(&mut search, |_| 0.0);
        let largest = search.ask().candidates.concat().into_iter().map(f64::abs).fold(0.0, f64::max);
        assert!(largest <= reach, "alpha {blend_alpha}: {largest}");
        assert!(largest > 0.7 * reach, "alpha {blend_alpha}: {largest}");
    }
}

#[test]
fn refuses_what_it_cannot_use() {
    let refused = |change: fn(&mut GeneticConfig)| {
        let mut config = GeneticConfig::default();
        change(&mut config);
        Genetic::new(config, 3, 1).unwrap_err().field
    };
    assert_eq!(refused(|c| c.individuals = 1), "individuals");
    assert_eq!(refused(|c| c.initial_range = 0.0), "initial_range");
    assert_eq!(refused(|c| c.tournament = 0), "tournament");
    assert_eq!(refused(|c| c.crossover_probability = 1.5), "crossover_probability");
    assert_eq!(refused(|c| c.blend_alpha = -0.1), "blend_alpha");
    assert_eq!(refused(|c| c.mutation_probability = f64::NAN), "mutation_probability");
    assert_eq!(refused(|c| c.mutation_std = f64::INFINITY), "mutation_std");
    assert_eq!(refused(|c| c.keep = 50), "keep");

    let mut search = Genetic::new(GeneticConfig::default(), 3, 1).unwrap();
    let before = search.state();
    assert_eq!(search.tell(&[0.0; 49]), Err(TellError::Length { expected: 50, got: 49 }));
    assert!(search.tell(&[f64::NAN; 50]).is_err());
    assert_eq!(search.state(), before);

    let OptimizerState::Genetic(mut state) = before else { unreachable!() };
    state.individuals[4].pop();
    let error = Genetic::resume(GeneticConfig::default(), state.clone()).unwrap_err();
    assert_eq!(error.to_string(), "state.individuals has 2 numbers, not 3");
    state.individuals.pop();
    let error = Genetic::resume(GeneticConfig::default(), state).unwrap_err();
    assert_eq!(error.to_string(), "state.individuals are 49, not 50");
}
