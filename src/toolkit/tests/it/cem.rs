//! The cross-entropy method: what it finds, the path it takes, what it refuses.

use tetrion_toolkit::optimizers::cem::{
    CEM_PRESETS, Cem, CemConfig, CemPreset, CemState, Covariance, Noise, Variance, elite_statistics,
};
use tetrion_toolkit::optimizers::{Config, Look, Optimizer, OptimizerState, TellError};
use tetrion_toolkit_testing::{advance, toy};

/// Rows of `src/toolkit/tests/data/optimizer_paths.txt` that begin with `name`.
pub fn golden_path(name: &str) -> Vec<Vec<f64>> {
    let text = include_str!("../data/optimizer_paths.txt");
    let rows: Vec<Vec<f64>> = text
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .map(|row| row.split(' ').map(|number| number.parse().unwrap()).collect())
        .collect();
    assert!(!rows.is_empty(), "{name} is not in the file");
    rows
}

/// Runs `config` for `num_generations` and, beside it, a search that goes through JSON text at every round.
#[track_caller]
pub fn check_resume(config: &Config, num_generations: u32) {
    let mut steady = config.start(3, 11).unwrap();
    let mut resumed = config.start(3, 11).unwrap();
    while steady.generation() < num_generations {
        let text = serde_json::to_string(&resumed.state()).unwrap();
        let state: OptimizerState = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&state).unwrap(), text, "the text keeps every bit");
        resumed = config.resume(state).unwrap();

        let round = resumed.ask();
        assert_eq!(round, steady.ask(), "generation {}", round.generation);
        let scores: Vec<f64> = round.candidates.iter().map(|weights| toy(weights)).collect();
        assert_eq!(resumed.tell(&scores), steady.tell(&scores));
        assert_eq!(resumed.state(), steady.state());
    }
    assert_eq!(resumed.incumbent(), steady.incumbent());
    assert_eq!(resumed.best(), steady.best());
}

fn quiet() -> CemConfig {
    CemConfig { population: 50, elite_fraction: 0.2, noise: Noise::None, ..CemPreset::Lab.config(30) }
}

#[test]
fn finds_the_summit_of_a_toy_function() {
    for covariance in [Covariance::Diagonal, Covariance::Full] {
        for second_look in [0.0, 0.5] {
            let config = CemConfig { covariance, second_look, initial_std: 3.0, ..quiet() };
            let mut search = Cem::new(config.clone(), 3, 5).unwrap();
            for _ in 0..40 {
                advance(&mut search, toy);
            }
            let mean = search.incumbent().unwrap();
            assert!(toy(&mean) > -1e-4, "{config:?} ended at {mean:?}");
            assert!(search.best().unwrap().score > -1e-3);
        }
    }
}

/// A narrow ridge along the diagonal: drawn weight by weight, nearly every candidate falls off it.
#[test]
fn full_covariance_follows_a_ridge() {
    fn ridge(weights: &[f64]) -> f64 {
        let (along, across) = (weights[0] + weights[1], weights[0] - weights[1]);
        -(along - 20.0).abs() - 1e3 * across.abs()
    }
    let reached = |covariance| {
        let mut search = Cem::new(CemConfig { covariance, ..quiet() }, 2, 3).unwrap();
        for _ in 0..60 {
            advance(&mut search, ridge);
        }
        ridge(&search.incumbent().unwrap())
    };
    let (diagonal, full) = (reached(Covariance::Diagonal), reached(Covariance::Full));
    assert!(full > diagonal + 1.0, "diagonal {diagonal}, full {full}");
}

/// Two elites of three weights have a covariance of rank 1: candidates lie on a line, and nothing breaks.
#[test]
fn full_covariance_may_be_singular() {
    let config = CemConfig {
        population: 10,
        elite_fraction: 0.2,
        covariance: Covariance::Full,
        noise: Noise::None,
        ..quiet()
    };
    let mut search = Cem::new(config, 3, 1).unwrap();
    advance(&mut search, toy);
    let mean = search.incumbent().unwrap();
    let offsets: Vec<Vec<f64>> =
        search.ask().candidates.iter().map(|w| w.iter().zip(&mean).map(|(w, m)| w - m).collect()).collect();
    for pair in offsets.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        for (i, j) in [(0, 1), (1, 2), (0, 2)] {
            assert!((a[i] * b[j] - a[j] * b[i]).abs() < 1e-12, "{a:?} and {b:?} are not parallel");
        }
    }
}

#[test]
fn takes_the_path_of_an_independent_program() {
    let small = CemConfig { population: 10, initial_std: 1.0, ..quiet() };
    let linear = Noise::Linear { variance: 4.0, generations: 3.0 };
    let hyperbolic = Noise::Hyperbolic { variance: 0.25 };
    for (name, config) in [
        ("cem-diagonal", CemConfig { elite_fraction: 0.2, noise: linear, ..small.clone() }),
        (
            "cem-full",
            CemConfig { elite_fraction: 0.3, noise: hyperbolic, covariance: Covariance::Full, ..small },
        ),
    ] {
        let mut search = Cem::new(config, 3, 42).unwrap();
        for expected in golden_path(name) {
            assert_eq!(
                advance(&mut search, toy).mean,
                expected,
                "{name}, generation {}",
                search.generation()
            );
        }
    }
}

/// With mean 0, deviation 1 and no noise the candidates are the normal draws themselves, one after another.
#[test]
fn normal_draws_are_normal() {
    let config = CemConfig { population: 50_000, ..quiet() };
    let draws: Vec<f64> = Cem::new(config, 2, 9).unwrap().ask().candidates.concat();
    let n = draws.len() as f64;
    let moment = |k: i32| draws.iter().map(|x| x.powi(k)).sum::<f64>() / n;
    // Four standard errors of each moment; these draws never change.
    for (k, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
        let off = (moment(k) - expected).abs();
        assert!(off < 4.0 * f64::sqrt(variance / n), "moment {k} is off by {off}");
    }
    let neighbours = draws.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / n;
    assert!(neighbours.abs() < 4.0 / n.sqrt(), "neighbours correlate: {neighbours}");
}

#[test]
fn asks_the_same_until_told() {
    let mut search = Cem::new(quiet(), 3, 8).unwrap();
    let first = search.ask();
    assert_eq!(search.ask(), first);
    advance(&mut search, toy);
    assert_ne!(search.ask().candidates, first.candidates);
    assert_ne!(Cem::new(quiet(), 3, 9).unwrap().ask().candidates, first.candidates, "another seed");
}

#[test]
fn resumes_from_text_at_every_round() {
    for (_, preset) in CEM_PRESETS {
        check_resume(&Config::preset(preset, 12), 12);
    }
    let full = CemConfig { covariance: Covariance::Full, second_look: 0.5, ..quiet() };
    check_resume(&Config::Cem(full), 12);
}

#[test]
fn elite_of_the_lab_report() {
    let text = include_str!("../data/elite_statistics.txt");
    let numbers = |row: &str| -> Vec<f64> { row.split(' ').map(|number| number.parse().unwrap()).collect() };
    let row = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap();
    let (scores, candidates): (Vec<f64>, Vec<Vec<f64>>) = text
        .lines()
        .filter_map(|line| line.strip_prefix("candidate ")?.split_once(" | "))
        .map(|(score, weights)| (score.parse::<f64>().unwrap(), numbers(weights)))
        .unzip();
    assert_eq!(candidates.len(), 10);

    let elite = elite_statistics(&candidates, &scores, 3).unwrap();
    assert_eq!(elite.elites.iter().map(usize::to_string).collect::<Vec<_>>().join(" "), row("elites"));
    assert_eq!(elite.best, numbers(row("best")));
    for (name, got) in [("mean", elite.mean), ("std", elite.std)] {
        for (got, expected) in got.iter().zip(numbers(row(name))) {
            assert!((got - expected).abs() < 1e-8, "{name}: {got} for {expected}");
        }
    }
}

#[test]
fn earlier_candidates_win_ties_and_later_generations_win_them() {
    let candidates: Vec<Vec<f64>> = (0..5).map(|i| vec![f64::from(i)]).collect();
    let elite = elite_statistics(&candidates, &[1.0, 2.0, 2.0, 2.0, 0.0], 2).unwrap();
    assert_eq!((elite.elites, elite.best), (vec![1, 2], vec![1.0]));

    let mut search = Cem::new(quiet(), 3, 8).unwrap();
    advance(&mut search, |_| 4.0);
    let newer = search.ask().candidates[0].clone();
    advance(&mut search, |_| 4.0);
    assert_eq!((search.best().unwrap().generation, &search.best().unwrap().weights), (1, &newer));
    advance(&mut search, |_| 3.0);
    assert_eq!(search.best().unwrap().generation, 1, "a worse generation changes nothing");
}

#[test]
fn noise_schedules() {
    let lab = CemPreset::Lab.config(100).noise;
    let decreasing = CemPreset::SzitaLorincz.config(0).noise;
    let constant = CemPreset::ThieryScherrer.config(0).noise;
    for (noise, table) in [
        (lab, &[(0, 4.0), (30, 2.0), (59, 0.0667), (60, 0.0), (99, 0.0)][..]),
        (CemPreset::Lab.config(50).noise, &[(0, 4.0), (15, 2.0), (30, 0.0)]),
        (decreasing, &[(0, 5.0), (10, 4.0), (49, 0.1), (50, 0.0), (80, 0.0)]),
        (constant, &[(0, 4.0), (79, 4.0)]),
        (Noise::Hyperbolic { variance: 6.0 }, &[(0, 6.0), (1, 3.0), (2, 2.0), (5, 1.0)]),
        (Noise::None, &[(0, 0.0), (7, 0.0)]),
    ] {
        for &(generation, expected) in table {
            let got = noise.variance(generation);
            assert!((got - expected).abs() < 5e-5, "{noise:?} at {generation}: {got}, not {expected}");
        }
    }
}

/// N(0, 1) with a noise of 4: the candidates' variance is 5, which no sum of deviations (1 + 2 = 3, squared 9) gives.
#[test]
fn noise_is_added_to_the_variance() {
    for covariance in [Covariance::Diagonal, Covariance::Full] {
        let config = CemConfig { population: 10_000, covariance, ..CemPreset::Lab.config(100) };
        let draws = Cem::new(config, 4, 1).unwrap().ask().candidates.concat();
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64;
        assert!((variance - 5.0).abs() < 0.15, "{covariance:?}: {variance}"); // standard error 0.035
    }
}

#[test]
fn number_of_elites() {
    for (population, elite_fraction, expected) in
        [(100, 0.1, 10), (100, 0.2, 20), (10, 0.2, 2), (9, 0.1, 1), (3, 1.0, 3), (1000, 1e-9, 1)]
    {
        let config = CemConfig { population, elite_fraction, ..quiet() };
        assert_eq!(config.num_elites(), expected, "{population} * {elite_fraction}");
    }
    let tetrion = CemPreset::Tetrion.config(0);
    assert_eq!((tetrion.num_elites(), tetrion.num_second_looks()), (10, 33));
}

#[test]
fn unit_vectors_have_length_one() {
    let mut search = Cem::new(CemPreset::Tetrion.config(0), 8, 4).unwrap();
    for _ in 0..3 {
        for weights in search.ask().candidates {
            let norm = weights.iter().map(|w| w * w).sum::<f64>();
            assert!((norm - 1.0).abs() < 1e-12, "{norm}");
        }
        advance(&mut search, |weights| weights[0]);
    }
    assert!(search.incumbent().unwrap()[0] > 0.8, "the mean turns towards the first axis");
}

/// The first scores choose the candidates of the second look; after that only the second scores count.
#[test]
fn second_look_decides() {
    let config = CemConfig { population: 6, elite_fraction: 0.34, second_look: 0.5, ..quiet() };
    let mut search = Cem::new(config, 3, 2).unwrap();
    let all = search.ask();
    assert_eq!((all.look, &all.slots[..]), (Look::First, &[0, 1, 2, 3, 4, 5][..]));
    assert_eq!(search.tell(&[0.0, 50.0, 1.0, 90.0, 2.0, 50.0]), Ok(None));

    let again = search.ask();
    assert_eq!((again.look, &again.slots[..]), (Look::Second, &[3, 1, 5][..]), "best first");
    assert_eq!(again.generation, 0);
    for (slot, candidate) in again.slots.iter().zip(&again.candidates) {
        assert_eq!(candidate, &all.candidates[*slot as usize]);
    }
    // Slot 3 was lucky.
    let generation = search.tell(&[10.0, 40.0, 20.0]).unwrap().expect("complete");
    assert_eq!((generation.best_score, &generation.best), (40.0, &all.candidates[1]));
    let mean: Vec<f64> =
        (0..3).map(|column| (all.candidates[1][column] + all.candidates[5][column]) / 2.0).collect();
    assert_eq!(generation.mean, mean);
    assert!((generation.mean_score - 193.0 / 6.0).abs() < 1e-12, "of everybody's first look");
    assert_eq!(search.best().unwrap().score, 40.0);
    assert_eq!(search.ask().look, Look::First);
}

#[test]
fn refuses_scores_and_keeps_its_state() {
    let mut search = Cem::new(CemConfig { second_look: 0.5, ..quiet() }, 3, 2).unwrap();
    search.tell(&[1.0; 50]).unwrap();
    let before = search.state();
    assert_eq!(search.tell(&[1.0; 50]), Err(TellError::Length { expected: 25, got: 50 }));
    assert_eq!(search.tell(&[]), Err(TellError::Length { expected: 25, got: 0 }));
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2e100] {
        let mut scores = [1.0; 25];
        scores[7] = value;
        let error = search.tell(&scores).unwrap_err();
        assert!(matches!(error, TellError::NotANumber { index: 7, .. }), "{error}");
        assert!(error.to_string().starts_with("score 7 is "), "{error}");
    }
    assert_eq!(search.state(), before);
}

#[test]
fn refuses_parameters() {
    #[track_caller]
    fn check(change: impl Fn(&mut CemConfig), expected: &str) {
        let mut config = CemPreset::Tetrion.config(10);
        change(&mut config);
        assert_eq!(Cem::new(config, 3, 1).unwrap_err().to_string(), expected);
    }
    check(|c| c.population = 1, "population is 1, not between 2 and 1000000");
    check(|c| c.population = 1_000_001, "population is 1000001, not between 2 and 1000000");
    check(|c| c.initial_mean = f64::NAN, "initial_mean is NaN, not between -1e100 and 1e100");
    check(|c| c.second_look = 0.05, "second_look is 0.05, not between 0.1 and 1.0");
    check(|c| c.second_look = 1.5, "second_look is 1.5, not between 0.1 and 1.0");
    let vague = |change: fn(&mut CemConfig), field: &str| {
        let mut config = CemPreset::Tetrion.config(10);
        change(&mut config);
        assert_eq!(Cem::new(config, 3, 1).unwrap_err().field, field);
    };
    vague(|c| c.elite_fraction = 0.0, "elite_fraction");
    vague(|c| c.elite_fraction = 1.1, "elite_fraction");
    vague(|c| c.elite_fraction = f64::NAN, "elite_fraction");
    vague(|c| c.initial_std = 0.0, "initial_std");
    vague(|c| c.initial_std = f64::INFINITY, "initial_std");
    vague(|c| c.noise = Noise::Constant { variance: -1.0 }, "noise.variance");
    vague(|c| c.noise = Noise::Hyperbolic { variance: f64::NAN }, "noise.variance");
    vague(|c| c.noise = Noise::Linear { variance: 1.0, generations: 0.0 }, "noise.generations");
    assert_eq!(Cem::new(quiet(), 0, 1).unwrap_err().field, "num_weights");
    assert_eq!(
        "tetris".parse::<CemPreset>().unwrap_err().to_string(),
        "preset is \"tetris\", not one of szita-lorincz, thiery-scherrer, lab, tetrion"
    );
    for (name, preset) in CEM_PRESETS {
        assert_eq!(name.parse(), Ok(preset));
        assert!(Cem::new(preset.config(1), 1, 0).is_ok(), "{name}");
    }
}

#[test]
fn refuses_states_of_another_search() {
    #[track_caller]
    fn check(change: impl Fn(&mut CemState), expected: &str) {
        let OptimizerState::Cem(mut state) = Cem::new(quiet(), 3, 1).unwrap().state() else { unreachable!() };
        change(&mut state);
        assert_eq!(Cem::resume(quiet(), state).unwrap_err().to_string(), expected);
    }
    check(|s| s.mean.clear(), "state.mean is 0, not between 1 and 1000000");
    check(|s| s.mean[1] = f64::NAN, "state.mean holds NaN");
    check(|s| s.mean.push(0.0), "state.spread has 3 numbers, not 4");
    check(|s| s.spread = Variance::Diagonal(vec![1.0, -2.0, 1.0]), "state.spread holds a variance of -2");
    check(|s| s.spread = Variance::Full(vec![vec![0.0; 3]]), "state.spread does not fit covariance Diagonal");
    check(
        |s| s.first_scores = Some(vec![]),
        "state.first_scores has scores for a second look, but there is none",
    );
    let genetic = Config::Genetic(Default::default());
    let cem = Config::Cem(quiet());
    let (cem_state, genetic_state) = (cem.start(3, 1).unwrap().state(), genetic.start(3, 1).unwrap().state());
    assert_eq!(cem.resume(genetic_state).err().unwrap().field, "state");
    assert_eq!(genetic.resume(cem_state).err().unwrap().field, "state");
}
