//! Temporal-difference learning: the score of a state moves towards the value of the states that follow it.
//!
//! Numbers (its features) and table entries that it looks up describe a state. Its score is a constant, plus the sum of
//! weight times feature, plus the sum of the entries. [`Td`] learns the weights and the entries. It knows nothing of
//! playfields and pieces: the caller finds the states and their successors.
//!
//! # Meaning of a score
//!
//! The score of a state means `-ln E[gamma^n]`, where n is the number of steps until the loss: 0 for a lost state, and
//! larger for safer states. The expectation itself, which is usually learned, is near 0 for all states of a good
//! player, and its noise drowns the differences that decide between two placements. In the logarithm a feature
//! multiplies the risk, whatever its size, which is how features of good controllers work.
//!
//! The logarithm of one sample does not estimate the logarithm of a mean. So the caller lists every possible next
//! event, all equally likely, with the best score that it leaves ([`Td::target`]). The mean is then exact, without
//! sampling noise.
//!
//! # How it learns
//!
//! A score moves towards the target by a share of its error, which is clipped to [`LARGEST_ERROR`]. Entries share their
//! part equally. Weights move by a feature's distance from its mean so far, in units of its variance, so the scale of a
//! feature does not matter. Steps fall as 1 / (1 + n / `rate_half_life`) after n updates.
//!
//! The result is not the current values: [`Td::incumbent`] is a mean over all rounds, in which later ones count more
//! (polynomial-decay averaging with exponent 3: Shamir and Zhang, *Stochastic gradient descent for non-smooth
//! optimization*, 2013).

use serde::{Deserialize, Serialize};

use super::{InvalidParameter, check, check_vector, invalid};

/// Largest score in a target; larger ones are clipped. No state is that safe, so a larger score is an error that must
/// not spread.
pub const LARGEST_SCORE: f64 = 15.0;
/// Largest error; larger ones are clipped.
pub const LARGEST_ERROR: f64 = 2.0;
/// Most entries of all tables together.
pub const MAX_ENTRIES: u32 = 1 << 22;
/// Slowest rate at which means and variances of features follow the states.
const SLOWEST_MOMENTS: f64 = 1e-5;
/// Constant added to every variance, for features that hardly vary.
const LEAST_VARIANCE: f64 = 0.01;
/// Exponent by which later rounds count more in the mean.
const LATER_ROUNDS: f64 = 3.0;

/// Parameters of a learner of weighted sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TdConfig {
    /// Discount per step; above 0, below 1.
    pub gamma: f64,
    /// Share of an error that the weights correct in one step at the start, for a state at an average distance from the
    /// mean.
    pub feature_rate: f64,
    /// Share of an error that the entries correct in one step at the start, for any state.
    pub table_rate: f64,
    /// Number of updates after which steps are half as large.
    pub rate_half_life: f64,
}

impl Default for TdConfig {
    fn default() -> Self {
        Self { gamma: 0.9, feature_rate: 0.1, table_rate: 0.1, rate_half_life: 100_000.0 }
    }
}

/// The complete state of the learner.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TdState {
    /// Number of updates so far.
    pub updates: u64,
    /// Number of rounds in the mean.
    pub rounds: u64,
    /// Constant that is part of every score.
    pub constant: f64,
    pub weights: Vec<f64>,
    /// The entries of all tables.
    pub entries: Vec<f64>,
    /// Means of the features so far.
    pub means: Vec<f64>,
    /// Variances of the features so far.
    pub variances: Vec<f64>,
    /// Mean of the weights over the rounds.
    pub mean_weights: Vec<f64>,
    /// Mean of the entries over the rounds.
    pub mean_entries: Vec<f64>,
}

/// A learner of weighted sums: its parameters and its state.
#[derive(Debug, Clone)]
pub struct Td {
    config: TdConfig,
    state: TdState,
}

impl TdConfig {
    fn check(&self) -> Result<(), InvalidParameter> {
        check("gamma", self.gamma, 1e-3..=1.0 - 1e-6)?;
        check("feature_rate", self.feature_rate, 0.0..=1.0)?;
        check("table_rate", self.table_rate, 0.0..=1.0)?;
        check("rate_half_life", self.rate_half_life, 1.0..=1e15)
    }
}

impl Td {
    /// Starts with weights and entries of 0.
    ///
    /// # Errors
    /// The first parameter that is out of its range.
    pub fn new(config: TdConfig, num_features: u32, num_entries: u32) -> Result<Td, InvalidParameter> {
        config.check()?;
        if num_entries > MAX_ENTRIES {
            return Err(invalid("entries", format!("are {num_entries}, expected at most {MAX_ENTRIES}")));
        }
        let (features, entries) = (vec![0.0; num_features as usize], vec![0.0; num_entries as usize]);
        let state = TdState {
            weights: features.clone(),
            entries: entries.clone(),
            means: features.clone(),
            variances: features.clone(),
            mean_weights: features,
            mean_entries: entries,
            ..TdState::default()
        };
        Ok(Td { config, state })
    }

    /// Continues from a state.
    ///
    /// # Errors
    /// The first parameter that is out of its range, or the first part of the state that does not match the numbers of
    /// features and entries.
    pub fn resume(
        config: TdConfig,
        state: TdState,
        num_features: u32,
        num_entries: u32,
    ) -> Result<Td, InvalidParameter> {
        config.check()?;
        let (features, entries) = (num_features as usize, num_entries as usize);
        check_vector("weights", &state.weights, features)?;
        check_vector("entries", &state.entries, entries)?;
        check_vector("means", &state.means, features)?;
        check_vector("variances", &state.variances, features)?;
        check_vector("mean_weights", &state.mean_weights, features)?;
        check_vector("mean_entries", &state.mean_entries, entries)?;
        check_vector("constant", &[state.constant], 1)?;
        Ok(Td { config, state })
    }

    /// The score of a state with these features and these looked-up entries.
    ///
    /// # Panics
    /// If an entry does not exist.
    #[inline]
    pub fn score(&self, features: &[f32], entries: &[u32]) -> f64 {
        let mut score = self.state.constant;
        for (weight, feature) in self.state.weights.iter().zip(features) {
            score += weight * f64::from(*feature);
        }
        for entry in entries {
            score += self.state.entries[*entry as usize];
        }
        score
    }

    /// The target score of a state, from the best outcome of each event: the score of a state, or `None` for the loss.
    /// Events are equally likely. Without any event, the state counts as lost.
    pub fn target(&self, best: impl IntoIterator<Item = Option<f64>>) -> f64 {
        target(self.config.gamma, best)
    }

    /// Moves the score of a state towards a target. Returns the clipped error.
    ///
    /// # Panics
    /// If the number of features is wrong, or an entry does not exist.
    pub fn learn(&mut self, features: &[f32], entries: &[u32], target: f64) -> f64 {
        assert_eq!(features.len(), self.state.weights.len(), "one feature per weight");
        let error = (target - self.score(features, entries)).clamp(-LARGEST_ERROR, LARGEST_ERROR);
        let TdConfig { feature_rate, table_rate, rate_half_life, .. } = self.config;
        let state = &mut self.state;
        let step = error / (1.0 + state.updates as f64 / rate_half_life);
        state.updates += 1;

        let shares = shares(entries);
        for entry in entries {
            state.entries[*entry as usize] += table_rate * step / shares as f64;
        }

        let follow = follow(state.updates);
        let mut distance = 0.0; // squared distance of the features from their means, in variances
        for ((feature, mean), variance) in features.iter().zip(&mut state.means).zip(&mut state.variances) {
            let (beside, spread) = observe(*feature, mean, variance, follow);
            distance += beside * beside / spread;
        }
        // A state far from the others moves by at most half of the error.
        let on_average = features.len() as f64 + 1.0;
        let share = feature_rate * step / on_average.max(2.0 * feature_rate * distance);
        state.constant += share;
        for (i, feature) in features.iter().enumerate() {
            let (mean, variance) = (state.means[i], state.variances[i]);
            let change = share * (f64::from(*feature) - mean) / (variance + LEAST_VARIANCE);
            state.weights[i] += change;
            state.constant -= change * mean;
        }
        error
    }

    /// Ends a round: adds the current values to the mean.
    pub fn end_round(&mut self) {
        let state = &mut self.state;
        state.rounds += 1;
        let share = (1.0 + LATER_ROUNDS) / (state.rounds as f64 + LATER_ROUNDS);
        for (means, now) in
            [(&mut state.mean_weights, &state.weights), (&mut state.mean_entries, &state.entries)]
        {
            for (mean, now) in means.iter_mut().zip(now) {
                *mean += share * (now - *mean);
            }
        }
    }

    /// The current result: weights and entries, each averaged over the rounds. Excludes the constant, which does not
    /// decide between states.
    pub fn incumbent(&self) -> (&[f64], &[f64]) {
        (&self.state.mean_weights, &self.state.mean_entries)
    }

    /// The complete state, from which [`Td::resume`] continues.
    pub fn state(&self) -> &TdState {
        &self.state
    }
}

/// The target from the best outcome of each event, discounted by one step.
pub(super) fn target(gamma: f64, best: impl IntoIterator<Item = Option<f64>>) -> f64 {
    let (mut sum, mut events) = (0.0, 0.0);
    for score in best {
        sum += score.map_or(1.0, |score: f64| libm::exp(-score.clamp(0.0, LARGEST_SCORE)));
        events += 1.0;
    }
    let mean = if events == 0.0 { 1.0 } else { sum / events };
    -libm::log(gamma * mean)
}

/// Number of shares that a state's entries divide: an entry that is looked up n times has n shares, each of which
/// counts n times in the score.
pub(super) fn shares(entries: &[u32]) -> usize {
    entries.iter().map(|entry| entries.iter().filter(|other| *other == entry).count()).sum()
}

/// Weight of the state with this number, from 1, in the means and variances of features.
pub(super) fn follow(update: u64) -> f64 {
    (1.0 / update as f64).max(SLOWEST_MOMENTS)
}

/// Updates a feature's mean and variance with its value in a state. Returns the value's distance from the new mean, and
/// the variance plus its constant.
pub(super) fn observe(feature: f32, mean: &mut f64, variance: &mut f64, follow: f64) -> (f64, f64) {
    let beside = f64::from(feature) - *mean;
    *mean += follow * beside;
    *variance += follow * (beside * beside - *variance);
    (f64::from(feature) - *mean, *variance + LEAST_VARIANCE)
}
