//! Temporal-difference learning of a network: its update beside a slow twin, what it hands in, and a chain whose values are known.

use tetrion_toolkit::optimizers::network::{SAFE, SLOPE, STEADY};
use tetrion_toolkit::optimizers::td::LARGEST_ERROR;
use tetrion_toolkit::optimizers::{Network, NetworkConfig, NetworkState};

use tetrion_twins::word;

/// A twin of the network in float64, written from the formulas, with one dense vector for features and entries.
struct Twin {
    config: NetworkConfig,
    num_features: usize,
    /// One row for each unit: a weight for each input.
    weights: Vec<Vec<f64>>,
    biases: Vec<f64>,
    outputs: Vec<f64>,
    seen: Vec<Vec<f64>>,
}

impl Twin {
    fn of(config: &NetworkConfig, state: &NetworkState) -> Twin {
        let units = config.hidden_units as usize;
        let rows = state.weights.chunks(units).chain(state.entries.chunks(units));
        let rows: Vec<&[f32]> = rows.collect();
        let wide = |numbers: &[f32]| numbers.iter().map(|number| f64::from(*number)).collect::<Vec<_>>();
        Twin {
            config: config.clone(),
            num_features: state.means.len(),
            weights: (0..units).map(|unit| rows.iter().map(|row| f64::from(row[unit])).collect()).collect(),
            biases: wide(&state.biases),
            outputs: wide(&state.outputs),
            seen: Vec::new(),
        }
    }

    fn inputs(&self, features: &[f32], entries: &[u32]) -> Vec<f64> {
        let mut inputs = vec![0.0; self.weights[0].len()];
        for (input, feature) in inputs.iter_mut().zip(features) {
            *input = f64::from(*feature);
        }
        for entry in entries {
            inputs[self.num_features + *entry as usize] += 1.0;
        }
        inputs
    }

    fn sums(&self, inputs: &[f64]) -> Vec<f64> {
        let sum = |weights: &[f64]| weights.iter().zip(inputs).map(|(a, b)| a * b).sum::<f64>();
        self.weights.iter().zip(&self.biases).map(|(weights, bias)| bias + sum(weights)).collect()
    }

    fn score(&self, inputs: &[f64]) -> f64 {
        let units = self.sums(inputs).into_iter().zip(&self.outputs);
        units.map(|(sum, output)| sum.max(f64::from(SLOPE) * sum) * output).sum::<f64>() - f64::from(STEADY)
    }

    fn learn(&mut self, inputs: &[f64], target: f64) -> f64 {
        let error = (target - self.score(inputs)).clamp(-LARGEST_ERROR, LARGEST_ERROR);
        let fall = 1.0 + self.seen.len() as f64 / self.config.rate_half_life;
        self.seen.push(inputs[..self.num_features].to_vec());
        // Welford's moments of all that was seen.
        let (mut means, mut variances) = (vec![0.0; self.num_features], vec![0.0; self.num_features]);
        for (n, row) in self.seen.iter().enumerate() {
            for ((mean, variance), value) in means.iter_mut().zip(&mut variances).zip(row) {
                let beside = value - *mean;
                *mean += beside / (n + 1) as f64;
                *variance += (beside * beside - *variance) / (n + 1) as f64;
            }
        }
        // What a weight is multiplied with to find how far it moves: features in deviations from their means, entries as
        // often as they are looked up.
        let apart: Vec<f64> = inputs
            .iter()
            .enumerate()
            .map(|(at, input)| match means.get(at) {
                Some(mean) => ((input - mean) / (variances[at] + 0.01).sqrt()).clamp(-4.0, 4.0),
                None => *input,
            })
            .collect();
        let length: f64 = apart.iter().map(|distance| distance * distance).sum();
        let sums = self.sums(inputs);
        let slope = |unit: usize| self.outputs[unit] * if sums[unit] > 0.0 { 1.0 } else { f64::from(SLOPE) };
        let share = |unit: usize| if unit == 0 { 1.0 } else { self.config.rate_ratio };
        // How much the score would change if every number moved by its slope times its share.
        let mut gain = length;
        for (unit, sum) in sums.iter().enumerate().skip(1) {
            gain += share(unit) * (length * slope(unit).powi(2) + sum.powi(2));
        }
        let correction = self.config.table_rate * error / (fall * fall) / gain;
        let moves: Vec<f64> = (0..sums.len())
            .map(|unit| correction * share(unit) * if unit == 0 { 1.0 } else { slope(unit) })
            .collect();
        for (unit, by) in moves.iter().enumerate() {
            for (at, distance) in apart.iter().enumerate() {
                match means.get(at) {
                    Some(mean) => {
                        let change = by * distance / (variances[at] + 0.01).sqrt();
                        self.weights[unit][at] += change;
                        self.biases[unit] -= change * mean;
                    }
                    None => self.weights[unit][at] += by * distance,
                }
            }
            if unit > 0 {
                self.biases[unit] += 0.3 * by;
                self.outputs[unit] +=
                    0.3 * correction * self.config.rate_ratio * sums[unit].max(f64::from(SLOPE) * sums[unit]);
            }
        }
        error
    }
}

/// Features of several sizes, one of them constant; entries some of which are looked up several times.
fn state(n: u64) -> (Vec<f32>, Vec<u32>) {
    let number = |k: u64, below: u64| word(3, n, k) % below;
    let features = vec![number(0, 40) as f32, number(1, 3) as f32 / 2.0, 7.0, number(2, 5) as f32 * 10.0];
    (features, (3..7).map(|k| number(k, 6) as u32).collect())
}

const START: [f64; 4] = [-0.1, 0.5, 0.0, 0.02];

#[test]
fn learns_as_its_formulas_say() {
    let config = NetworkConfig {
        hidden_units: 6,
        table_rate: 0.7,
        rate_ratio: 3.0,
        rate_half_life: 90.0,
        ..NetworkConfig::default()
    };
    let mut network = Network::new(config.clone(), &START, 6, 11).unwrap();
    let mut twin = Twin::of(&config, network.state());
    let mut counted = 0;
    for n in 0..200 {
        let ((features, entries), target) = (state(n), (word(4, n, 0) % 100) as f64 / 10.0);
        let inputs = twin.inputs(&features, &entries);
        let (score, expected) = (network.score(&features, &entries), twin.score(&inputs));
        assert!((score - expected).abs() < 2e-3, "step {n}: {score} {expected}");
        let (error, expected) = (network.learn(&features, &entries, target), twin.learn(&inputs, target));
        assert!((error - expected).abs() < 2e-3, "step {n}: {error} {expected}");
        counted += u32::from(error.abs() == LARGEST_ERROR);
    }
    assert!(counted > 0, "some errors are larger than what is counted");
    assert_eq!(network.state().outputs[0], 1.0, "the first unit hands on what it is given");
}

#[test]
fn begins_with_the_weights_it_is_given() {
    let config = NetworkConfig { hidden_units: 4, ..NetworkConfig::default() };
    let mut network = Network::new(config.clone(), &START, 3, 1).unwrap();
    // Without the other units it is their sum, on a playfield that is fairly safe.
    let alone = NetworkState { outputs: vec![1.0, 0.0, 0.0, 0.0], ..network.state().clone() };
    let alone = Network::resume(config.clone(), alone, 4, 3).unwrap();
    let score = alone.score(&[10.0, 2.0, 5.0, 50.0], &[0, 2]);
    assert!((score - f64::from(SAFE) - (-1.0 + 1.0 + 1.0)).abs() < 1e-4, "{score}");
    // Another seed draws others.
    let other = Network::new(config.clone(), &START, 3, 2).unwrap();
    assert_ne!(network.parameters(), other.parameters());
    // Weights, biases, output weights, the bias of the output, entries.
    assert_eq!(network.parameters().len(), 4 * 4 + 4 + 4 + 1 + 3 * 4);
    assert_eq!(network.parameters()[24], -STEADY);

    // A step of 1 corrects the error of a state at once, but for the bend of its units.
    let (features, entries) = ([10.0, 2.0, 5.0, 50.0], [0, 1]);
    let target = network.score(&features, &entries) - 0.5;
    network.learn(&features, &entries, target);
    let score = network.score(&features, &entries);
    assert!((score - target).abs() < 0.1, "{score} {target}");
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
    let config = NetworkConfig { gamma, hidden_units: 4, rate_half_life: 3000.0, ..NetworkConfig::default() };
    let mut network = Network::new(config, &[], 6, 5).unwrap();
    for n in 0..20_000 {
        let k = 1 + (word(6, n, 0) % 5) as usize;
        let best = next(k).map(|to| (to > 0).then(|| network.score(&[], &[to as u32])));
        let target = network.target(best);
        network.learn(&[], &[k as u32], target);
    }
    for (k, exact) in exact.iter().enumerate().skip(1) {
        let score = network.score(&[], &[k as u32]);
        assert!((score + exact.ln()).abs() < 0.02, "state {k}: {score}, not {}", -exact.ln());
    }
}

#[test]
fn goes_on_from_a_state_and_refuses_others() {
    let config = NetworkConfig { hidden_units: 4, rate_half_life: 50.0, ..NetworkConfig::default() };
    let mut network = Network::new(config.clone(), &START, 6, 7).unwrap();
    let learn = |network: &mut Network, range: std::ops::Range<u64>| {
        for n in range {
            let (features, entries) = state(n);
            network.learn(&features, &entries, (n % 9) as f64);
        }
    };
    learn(&mut network, 0..40);
    let text = serde_json::to_string(network.state()).unwrap();
    let mut resumed = Network::resume(config.clone(), serde_json::from_str(&text).unwrap(), 4, 6).unwrap();
    learn(&mut network, 40..90);
    learn(&mut resumed, 40..90);
    assert_eq!(network.state(), resumed.state());

    let state = network.state().clone();
    let refused = |config: NetworkConfig, state: NetworkState, features: u32, entries: u32| {
        Network::resume(config, state, features, entries).unwrap_err().to_string()
    };
    assert_eq!(refused(config.clone(), state.clone(), 4, 7), "entries has 24 numbers, not 28");
    assert_eq!(refused(config.clone(), state.clone(), 3, 6), "weights has 16 numbers, not 12");
    let infinite = NetworkState { biases: vec![0.0, 1.0, f32::INFINITY, 0.0], ..state.clone() };
    assert_eq!(refused(config.clone(), infinite, 4, 6), "biases holds inf");
    for (config, problem) in [
        (NetworkConfig { hidden_units: 1, ..config.clone() }, "hidden_units is 1, not between 2 and 64"),
        (NetworkConfig { table_rate: 2.0, ..config.clone() }, "table_rate is 2.0, not between 0.0 and 1.9"),
        (NetworkConfig { gamma: 1.0, ..config.clone() }, "gamma is 1.0, not between 0.001 and 0.999999"),
        (
            NetworkConfig { rate_half_life: f64::NAN, ..config.clone() },
            "rate_half_life is NaN, not between 1.0 and 1000000000000000.0",
        ),
    ] {
        assert_eq!(refused(config, state.clone(), 4, 6), problem);
    }
    let start = Network::new(config.clone(), &[0.0, f64::NAN], 6, 7).unwrap_err().to_string();
    assert_eq!(start, "start holds NaN");
    let many = Network::new(config, &START, 1 << 22, 7).unwrap_err().to_string();
    assert!(many.ends_with("expected at most 4194304"), "{many}");
}
