//! Temporal-difference learning: its update, its targets and its mean, beside a slow twin; a chain whose values are known.

use tetrion_toolkit::optimizers::td::{LARGEST_ERROR, LARGEST_SCORE};
use tetrion_toolkit::optimizers::{Td, TdConfig, TdState};

use tetrion_twins::word;

/// A twin of the learning, written from the formulas, with one dense vector for features and entries.
struct Twin {
    config: TdConfig,
    constant: f64,
    /// The weights, then the table entries.
    numbers: Vec<f64>,
    num_features: usize,
    seen: Vec<Vec<f64>>,
    rounds: Vec<Vec<f64>>,
}

impl Twin {
    fn inputs(&self, features: &[f32], entries: &[u32]) -> Vec<f64> {
        let mut inputs = vec![0.0; self.numbers.len()];
        for (input, feature) in inputs.iter_mut().zip(features) {
            *input = f64::from(*feature);
        }
        for entry in entries {
            inputs[self.num_features + *entry as usize] += 1.0;
        }
        inputs
    }

    fn score(&self, inputs: &[f64]) -> f64 {
        self.constant + inputs.iter().zip(&self.numbers).map(|(a, b)| a * b).sum::<f64>()
    }

    fn learn(&mut self, inputs: &[f64], target: f64) -> f64 {
        let error = (target - self.score(inputs)).clamp(-LARGEST_ERROR, LARGEST_ERROR);
        let step = error / (1.0 + self.seen.len() as f64 / self.config.rate_half_life);
        let (features, counts) = inputs.split_at(self.num_features);
        self.seen.push(features.to_vec());
        let n = self.seen.len() as f64;
        assert!(n < 1e5, "up to there the moments are those of all that was seen");
        // The mean is that of all; the variance is Welford's sum with the mean before each one.
        let mean = |at: usize, count: usize| {
            self.seen[..count].iter().map(|row| row[at]).sum::<f64>() / count.max(1) as f64
        };
        let moments: Vec<(f64, f64)> = (0..self.num_features)
            .map(|at| {
                let squares = self.seen.iter().enumerate().map(|(i, row)| {
                    let before = if i == 0 { 0.0 } else { mean(at, i) };
                    (row[at] - before).powi(2)
                });
                (mean(at, self.seen.len()), squares.sum::<f64>() / n)
            })
            .collect();
        let z = |at: usize| (features[at] - moments[at].0) / (moments[at].1 + 0.01);
        let distance: f64 = (0..self.num_features).map(|at| z(at) * (features[at] - moments[at].0)).sum();
        let norm = (self.num_features as f64 + 1.0).max(2.0 * self.config.feature_rate * distance);
        let share = self.config.feature_rate * step / norm;
        let counts_squared: f64 = counts.iter().map(|count| count * count).sum();
        for (at, count) in counts.iter().enumerate() {
            if *count > 0.0 {
                self.numbers[self.num_features + at] +=
                    self.config.table_rate * step * count / counts_squared;
            }
        }
        self.constant += share;
        for (at, (mean, _)) in moments.iter().enumerate() {
            self.numbers[at] += share * z(at);
            self.constant -= share * z(at) * mean;
        }
        error
    }

    /// The mean of the rounds, in which the k-th, counted from 1, counts as k (k + 1) (k + 2).
    fn incumbent(&self) -> Vec<f64> {
        let count = |k: usize| ((k + 1) * (k + 2) * (k + 3)) as f64;
        let all: f64 = (0..self.rounds.len()).map(count).sum();
        let mean = |at: usize| {
            let rounds = self.rounds.iter().enumerate();
            rounds.map(|(k, numbers)| count(k) * numbers[at]).sum::<f64>() / all
        };
        (0..self.numbers.len()).map(mean).collect()
    }
}

/// Features of several sizes, one of them constant; entries some of which are looked up several times.
fn state(n: u64) -> (Vec<f32>, Vec<u32>) {
    let number = |k: u64, below: u64| word(3, n, k) % below;
    let features = vec![number(0, 40) as f32, number(1, 3) as f32 / 2.0, 7.0, number(2, 5) as f32 * 100.0];
    (features, (3..7).map(|k| number(k, 6) as u32).collect())
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-8 * (1.0 + one.abs())
}

#[test]
fn learns_as_its_formulas_say() {
    let config = TdConfig { feature_rate: 0.3, table_rate: 0.2, rate_half_life: 40.0, ..TdConfig::default() };
    let mut td = Td::new(config.clone(), 4, 6).unwrap();
    let mut twin =
        Twin { config, constant: 0.0, numbers: vec![0.0; 10], num_features: 4, seen: vec![], rounds: vec![] };
    let mut counted = 0;
    for n in 0..300 {
        let ((features, entries), target) = (state(n), (word(4, n, 0) % 100) as f64 / 20.0);
        let inputs = twin.inputs(&features, &entries);
        assert!(close(td.score(&features, &entries), twin.score(&inputs)), "step {n}");
        let (error, expected) = (td.learn(&features, &entries, target), twin.learn(&inputs, target));
        assert!(close(error, expected), "step {n}: {error} {expected}");
        counted += u32::from(error.abs() == LARGEST_ERROR);
        if n.is_multiple_of(7) {
            td.end_round();
            twin.rounds.push(twin.numbers.clone());
        }
    }
    assert!(counted > 0, "some errors are larger than what is counted");
    let (weights, entries) = td.incumbent();
    for ((found, expected), now) in weights.iter().chain(entries).zip(twin.incumbent()).zip(&twin.numbers) {
        assert!(close(*found, expected), "{found} {expected}");
        // That of the feature which never varies stays where it was.
        assert!(found != now || *now == 0.0, "{found} is the last, not the mean");
    }
}

#[test]
fn a_target_is_the_logarithm_of_an_exact_mean() {
    let td = Td::new(TdConfig { gamma: 0.5, ..TdConfig::default() }, 1, 1).unwrap();
    let check = |best: &[Option<f64>], loss: f64| {
        let target = td.target(best.iter().copied());
        assert!(close(target, -(0.5 * loss).ln()), "{best:?}: {target}");
    };
    check(&[None], 1.0);
    check(&[], 1.0);
    check(&[Some(0.0)], 1.0);
    check(&[Some(2.0), Some(3.0)], ((-2f64).exp() + (-3f64).exp()) / 2.0);
    check(&[Some(1.0), None, None, Some(4.0)], (2.0 + (-1f64).exp() + (-4f64).exp()) / 4.0);
    check(&[Some(-9.0)], 1.0);
    check(&[Some(99.0)], (-LARGEST_SCORE).exp());
}

#[test]
fn finds_the_values_of_a_chain() {
    // From state k a step leads to k + 1, but with one event of three to k - 1; 0 is the loss, and 5 stays where it is.
    let next = |k: usize| [(k + 1).min(5), (k + 1).min(5), k - 1];
    let gamma = 0.8;
    let mut exact = [1.0f64; 6];
    for _ in 0..2000 {
        for k in 1..6 {
            exact[k] = gamma * next(k).map(|to| exact[to]).iter().sum::<f64>() / 3.0;
        }
    }
    let mut td = Td::new(TdConfig { gamma, rate_half_life: 1e6, ..TdConfig::default() }, 1, 6).unwrap();
    for n in 0..40_000 {
        let k = 1 + (word(9, n, 0) % 5) as usize;
        let best = next(k).map(|to| (to > 0).then(|| td.score(&[1.0], &[to as u32])));
        let target = td.target(best);
        td.learn(&[1.0], &[k as u32], target);
    }
    for (k, value) in exact.iter().enumerate().skip(1) {
        let found = td.score(&[1.0], &[k as u32]);
        assert!((found + value.ln()).abs() < 0.02, "state {k}: {found}, expected {}", -value.ln());
    }
}

#[test]
fn goes_on_from_text_to_the_same_bits() {
    let config = TdConfig::default();
    let mut one = Td::new(config.clone(), 4, 6).unwrap();
    let mut other = one.clone();
    for n in 0..60 {
        for td in [&mut one, &mut other] {
            let (features, entries) = state(n);
            td.learn(&features, &entries, 3.0);
            td.end_round();
        }
        let text = serde_json::to_string(other.state()).unwrap();
        other = Td::resume(config.clone(), serde_json::from_str(&text).unwrap(), 4, 6).unwrap();
        assert_eq!(one.state(), other.state(), "after {n}");
    }
}

#[test]
fn refuses_parameters_and_states() {
    #[track_caller]
    fn check(change: impl Fn(&mut TdConfig, &mut TdState), expected: &str) {
        let mut config = TdConfig::default();
        let mut state = Td::new(config.clone(), 2, 3).unwrap().state().clone();
        change(&mut config, &mut state);
        assert_eq!(Td::resume(config, state, 2, 3).unwrap_err().to_string(), expected);
    }
    check(|config, _| config.gamma = 1.0, "gamma is 1.0, not between 0.001 and 0.999999");
    check(|config, _| config.feature_rate = f64::NAN, "feature_rate is NaN, not between 0.0 and 1.0");
    check(|config, _| config.table_rate = -0.5, "table_rate is -0.5, not between 0.0 and 1.0");
    check(
        |config, _| config.rate_half_life = 0.0,
        "rate_half_life is 0.0, not between 1.0 and 1000000000000000.0",
    );
    check(|_, state| state.weights.push(0.0), "weights has 3 numbers, not 2");
    check(|_, state| state.mean_entries[1] = f64::INFINITY, "mean_entries holds inf");
    check(|_, state| state.constant = f64::NAN, "constant holds NaN");
    let error = Td::new(TdConfig::default(), 1, (1 << 22) + 1).unwrap_err().to_string();
    assert_eq!(error, "entries are 4194305, expected at most 4194304");
}
