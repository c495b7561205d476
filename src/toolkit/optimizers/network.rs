//! Temporal-difference learning of a small network: like [`td`](super::td), but the score is a sum over hidden units.
//!
//! As in [`td`](super::td), numbers (its features) and table entries that it looks up describe a state, and a score
//! means `-ln E[gamma^n]`, n steps before the loss. But an entry is a vector with one number per hidden unit, and a
//! feature has one weight per unit. A unit adds up its bias, the features times their weights, and the entries'
//! numbers. A negative sum is multiplied by [`SLOPE`], and the score is the sum of the units times their output
//! weights. So the network is a multilayer perceptron with one hidden layer whose inputs are features and tables.
//!
//! The first unit is special. Its bias, [`STEADY`], keeps its sum positive, and its output weight stays 1, so it passes
//! on the sum of tables and features; the excess is subtracted at the end. It starts with the caller's weights, such as
//! those of a known controller, and with [`SAFE`], so that every state starts as fairly safe: the network learns risks
//! from losses. The other units start with small entries, drawn from the seed.
//!
//! # How it learns
//!
//! Each update follows the gradient of the score, scaled so that a step of 1 corrects the error of this one state
//! (normalized least mean squares). Features enter by their distance from their mean so far, in units of their
//! deviation. The other units' share of a correction is [`NetworkConfig::rate_ratio`] times that of the first; biases
//! and output weights move at three tenths of the pace. Steps fall as 1 / (1 + n / `rate_half_life`)^2 after n updates,
//! so the last values are the result, and no averaging is needed.
//!
//! Everything is computed in float32 with sums in a defined order, so a run has equal bytes on every machine.

use serde::{Deserialize, Serialize};

use super::draws::Draws;
use super::td::{LARGEST_ERROR, MAX_ENTRIES, follow, observe, shares, target};
use super::{InvalidParameter, check, check_count, check_vector, invalid};

/// Factor of a negative sum of a unit.
pub const SLOPE: f32 = 0.01;
/// Bias of the first unit, larger in size than any sum of its inputs.
pub const STEADY: f32 = 30.0;
/// Score of a state before any learning.
pub const SAFE: f32 = 10.0;
/// Most hidden units, including the first.
pub const MAX_UNITS: u32 = 64;
/// Number of units that are summed in parallel.
const UNITS: usize = 16;
/// Number of units that are summed in parallel if fewer than [`UNITS`] are left.
const FEW_UNITS: usize = 4;
/// Learning rate of biases and output weights, relative to the other parameters.
const SLOW: f32 = 0.3;
/// Initial deviation of the units' entries. Their feature weights start at 0, because features may have any scale.
const FIRST_DEVIATION: f32 = 0.05;
/// Initial deviation of the biases.
const FIRST_BIAS_DEVIATION: f32 = 0.2;
/// Initial absolute value of the output weights; half of them are negative.
const FIRST_OUTPUT: f32 = 0.3;
/// Largest distance of a feature from its mean, in deviations; larger ones are clipped.
const FURTHEST: f64 = 4.0;

/// Parameters of a learner of a network; [`TdConfig`](super::TdConfig) is for sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Discount per step; above 0, below 1.
    pub gamma: f64,
    /// Number of hidden units, including the first.
    pub hidden_units: u32,
    /// Share of an error that one update corrects at the start.
    pub table_rate: f64,
    /// Learning rate of hidden units 2..N relative to unit 1.
    pub rate_ratio: f64,
    /// Number of updates after which steps are a quarter as large.
    pub rate_half_life: f64,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self { gamma: 0.97, hidden_units: 16, table_rate: 1.0, rate_ratio: 6.0, rate_half_life: 2_000_000.0 }
    }
}

/// The complete state of the learner.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkState {
    /// Number of updates so far.
    pub updates: u64,
    /// Feature weights, row-major: features times units.
    pub weights: Vec<f32>,
    pub biases: Vec<f32>,
    /// Output weights of the units.
    pub outputs: Vec<f32>,
    /// Entries of all tables, row-major: entries times units.
    pub entries: Vec<f32>,
    /// Means of the features so far.
    pub means: Vec<f64>,
    /// Variances of the features so far.
    pub variances: Vec<f64>,
}

/// A learner of a network: its parameters and its state.
#[derive(Debug, Clone)]
pub struct Network {
    config: NetworkConfig,
    state: NetworkState,
}

impl NetworkConfig {
    fn check(&self) -> Result<(), InvalidParameter> {
        check("gamma", self.gamma, 1e-3..=1.0 - 1e-6)?;
        check_count("hidden_units", self.hidden_units as usize, 2..=MAX_UNITS)?;
        check("table_rate", self.table_rate, 0.0..=1.9)?;
        check("rate_ratio", self.rate_ratio, 0.0..=1e3)?;
        check("rate_half_life", self.rate_half_life, 1.0..=1e15)
    }

    fn check_size(&self, num_features: usize, num_entries: usize) -> Result<(), InvalidParameter> {
        self.check()?;
        let numbers = (num_entries + num_features).saturating_mul(self.hidden_units as usize);
        if numbers > MAX_ENTRIES as usize {
            let problem = format!("and units make {numbers} numbers, expected at most {MAX_ENTRIES}");
            return Err(invalid("entries", problem));
        }
        Ok(())
    }
}

impl Network {
    /// Starts with these feature weights in the first unit, and with draws from the seed in the others.
    ///
    /// # Errors
    /// The first parameter that is out of its range, or a weight that is not a number.
    pub fn new(
        config: NetworkConfig,
        start: &[f64],
        num_entries: u32,
        seed: u64,
    ) -> Result<Network, InvalidParameter> {
        config.check_size(start.len(), num_entries as usize)?;
        if let Some(weight) = start.iter().find(|weight| !(-1e6..=1e6).contains(*weight)) {
            return Err(invalid("start", format!("holds {weight:?}")));
        }
        let units = config.hidden_units as usize;
        let mut draws = Draws::new(seed, 0);
        let mut drawn = |count: usize, deviation: f32| -> Vec<f32> {
            (0..count).map(|_| draws.normal() as f32 * deviation).collect()
        };
        let mut weights = vec![0.0; start.len() * units];
        let mut biases = drawn(units, FIRST_BIAS_DEVIATION);
        let mut entries = drawn(num_entries as usize * units, FIRST_DEVIATION);
        for (row, weight) in weights.chunks_exact_mut(units).zip(start) {
            row[0] = *weight as f32;
        }
        for row in entries.chunks_exact_mut(units) {
            row[0] = 0.0;
        }
        biases[0] = STEADY + SAFE;
        let outputs = (0..units).map(|unit| match unit {
            0 => 1.0,
            unit if unit % 2 == 0 => FIRST_OUTPUT,
            _ => -FIRST_OUTPUT,
        });
        let state = NetworkState {
            updates: 0,
            weights,
            biases,
            outputs: outputs.collect(),
            entries,
            means: vec![0.0; start.len()],
            variances: vec![0.0; start.len()],
        };
        Ok(Network { config, state })
    }

    /// Continues from a state.
    ///
    /// # Errors
    /// The first parameter that is out of its range, or the first part of the state that does not match the numbers of
    /// features and entries.
    pub fn resume(
        config: NetworkConfig,
        state: NetworkState,
        num_features: u32,
        num_entries: u32,
    ) -> Result<Network, InvalidParameter> {
        let (features, entries) = (num_features as usize, num_entries as usize);
        config.check_size(features, entries)?;
        let units = config.hidden_units as usize;
        let NetworkState { weights, biases, outputs, entries: table, means, variances, .. } = &state;
        check_vector("weights", weights, features * units)?;
        check_vector("biases", biases, units)?;
        check_vector("outputs", outputs, units)?;
        check_vector("entries", table, entries * units)?;
        check_vector("means", means, features)?;
        check_vector("variances", variances, features)?;
        Ok(Network { config, state })
    }

    /// The score of a state with these features and these looked-up entries.
    ///
    /// # Panics
    /// If an entry does not exist.
    pub fn score(&self, features: &[f32], entries: &[u32]) -> f64 {
        let mut room = [0.0; MAX_UNITS as usize];
        f64::from(self.output(self.add_up(features, entries, &mut room)))
    }

    /// The target score of a state, like [`Td::target`](super::Td::target).
    pub fn target(&self, best: impl IntoIterator<Item = Option<f64>>) -> f64 {
        target(self.config.gamma, best)
    }

    /// Moves the score of a state towards a target. Returns the clipped error.
    ///
    /// # Panics
    /// If the number of features is wrong, or an entry does not exist.
    pub fn learn(&mut self, features: &[f32], entries: &[u32], target: f64) -> f64 {
        assert_eq!(features.len(), self.state.means.len(), "one feature per weight");
        let apart = self.apart(features);
        let mut room = [0.0; MAX_UNITS as usize];
        let sums = self.add_up(features, entries, &mut room);
        let error = (target - f64::from(self.output(sums))).clamp(-LARGEST_ERROR, LARGEST_ERROR);
        let fall = 1.0 + self.state.updates as f64 / self.config.rate_half_life;
        let step = (self.config.table_rate * error / (fall * fall)) as f32;
        let share = self.config.rate_ratio as f32;
        let state = &mut self.state;
        state.updates += 1;

        // Derivatives of the score by the sum of each unit.
        let slopes = sums.iter().zip(&state.outputs);
        let slopes: Vec<f32> =
            slopes.map(|(sum, output)| if *sum > 0.0 { *output } else { *output * SLOPE }).collect();
        let mut inputs = shares(entries) as f32;
        for StandardScore { distance, .. } in &apart {
            inputs += distance * distance;
        }
        let (mut squares, mut activations) = (0.0, 0.0);
        for (sum, slope) in sums.iter().zip(&slopes).skip(1) {
            squares += slope * slope;
            activations += sum * sum;
        }
        let correction = step / (inputs * (1.0 + share * squares) + share * activations);
        let move_of = |(unit, slope): (usize, &f32)| if unit == 0 { 1.0 } else { share * slope } * correction;
        let moves: Vec<f32> = slopes.iter().enumerate().map(move_of).collect();

        for entry in entries {
            let row = &mut state.entries[*entry as usize * moves.len()..][..moves.len()];
            for (number, by) in row.iter_mut().zip(&moves) {
                *number += by;
            }
        }
        for (row, StandardScore { distance, deviation, mean }) in
            state.weights.chunks_exact_mut(moves.len()).zip(&apart)
        {
            let times = distance / deviation;
            for ((weight, bias), by) in row.iter_mut().zip(&mut state.biases).zip(&moves) {
                *weight += by * times;
                // The unit's response turns about the mean of the feature, so the bias compensates.
                *bias -= by * times * mean;
            }
        }
        for (unit, sum) in sums.iter().enumerate().skip(1) {
            state.biases[unit] += SLOW * moves[unit];
            state.outputs[unit] += SLOW * correction * share * leaky(*sum);
        }
        error
    }

    /// The current result: the parameters of a multilayer perceptron with one hidden layer of leaky units, in the order
    /// of the protocol, followed by the entries of its tables.
    pub fn parameters(&self) -> Vec<f32> {
        let NetworkState { weights, biases, outputs, entries, .. } = &self.state;
        [weights, biases, outputs, &[-STEADY][..], entries].concat()
    }

    /// The complete state, from which [`Network::resume`] continues.
    pub fn state(&self) -> &NetworkState {
        &self.state
    }

    /// Writes each unit's sum, before its nonlinearity, into `room`.
    fn add_up<'a>(
        &self,
        features: &[f32],
        entries: &[u32],
        room: &'a mut [f32; MAX_UNITS as usize],
    ) -> &'a [f32] {
        let units = self.state.biases.len();
        let mut first = 0;
        while first + UNITS <= units {
            self.add_up_some::<UNITS>(features, entries, first, room);
            first += UNITS;
        }
        while first + FEW_UNITS <= units {
            self.add_up_some::<FEW_UNITS>(features, entries, first, room);
            first += FEW_UNITS;
        }
        while first < units {
            self.add_up_some::<1>(features, entries, first, room);
            first += 1;
        }
        &room[..units]
    }

    /// The sums of some units, kept in registers.
    #[inline(always)]
    fn add_up_some<const U: usize>(
        &self,
        features: &[f32],
        entries: &[u32],
        first: usize,
        room: &mut [f32; MAX_UNITS as usize],
    ) {
        let NetworkState { weights, biases, entries: table, .. } = &self.state;
        let units = biases.len();
        let mut sums = [0.0; U];
        sums.copy_from_slice(&biases[first..first + U]);
        for (feature, row) in features.iter().zip(weights.chunks_exact(units)) {
            for (sum, weight) in sums.iter_mut().zip(&row[first..first + U]) {
                *sum += feature * weight;
            }
        }
        for entry in entries {
            let row = &table[*entry as usize * units + first..][..U];
            for (sum, number) in sums.iter_mut().zip(row) {
                *sum += number;
            }
        }
        room[first..first + U].copy_from_slice(&sums);
    }

    /// The score computed from the sums.
    fn output(&self, sums: &[f32]) -> f32 {
        let units = sums.iter().zip(&self.state.outputs);
        units.fold(-STEADY, |score, (sum, output)| score + leaky(*sum) * output)
    }

    /// The distances of features from their means. Updates the means and variances.
    fn apart(&mut self, features: &[f32]) -> Vec<StandardScore> {
        let state = &mut self.state;
        let follow = follow(state.updates + 1);
        let moments = state.means.iter_mut().zip(&mut state.variances);
        let apart = features.iter().zip(moments).map(|(feature, (mean, variance))| {
            let (beside, spread) = observe(*feature, mean, variance, follow);
            let deviation = spread.sqrt();
            let distance = (beside / deviation).clamp(-FURTHEST, FURTHEST);
            StandardScore { distance: distance as f32, deviation: deviation as f32, mean: *mean as f32 }
        });
        apart.collect()
    }
}

/// Distance of a feature from its mean.
struct StandardScore {
    /// Distance, as a multiple of `deviation`.
    distance: f32,
    deviation: f32,
    mean: f32,
}

fn leaky(sum: f32) -> f32 {
    if sum > 0.0 { sum } else { sum * SLOPE }
}
