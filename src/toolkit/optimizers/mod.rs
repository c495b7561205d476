//! Optimizers: searches for a weight vector that scores well.
//!
//! An optimizer proposes weight vectors, and the caller returns their scores: [`Optimizer::ask`], then
//! [`Optimizer::tell`]. It knows nothing of games, features, seeds of games, networks or files. So the caller may score
//! candidates in this process, on a cluster, or with a stopwatch and a person.
//!
//! ```
//! use tetrion_toolkit::optimizers::{CemPreset, Config};
//!
//! let config = Config::preset(CemPreset::Lab, 20);
//! let mut optimizer = config.start(3, 7)?; // three weights, seed 7
//! while optimizer.generation() < 20 {
//!     let round = optimizer.ask();
//!     let scores: Vec<f64> = round.candidates.iter().map(|w| -(w[0] - 1.0).abs()).collect();
//!     optimizer.tell(&scores)?;
//! }
//! assert!((optimizer.incumbent().unwrap()[0] - 1.0).abs() < 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//!
//! The path of an optimizer is a function of its [`Config`], the number of weights, the seed and the received scores:
//! equal bytes on every machine. `draws` explains how: a cipher produces the random bits, and logarithms come from
//! `libm` instead of the platform. Every generation draws from a separate stream, so no position in the random numbers
//! is saved. [`Optimizer::ask`] returns equal candidates until the next [`Optimizer::tell`].
//!
//! An [`OptimizerState`] is the complete state of an optimizer. It is plain data; JSON text keeps every bit of it, and a
//! [`resumed`](Config::resume) search continues as if it had never stopped.
//!
//! [`td`] and [`network`] differ: they take states and their successors instead of scores, and learn from every step.
//!
//! # Scores
//!
//! Larger is better. Of equal scores, the first candidate wins, except that an equal of a later generation replaces
//! [`Best`] (the lab notebook's rule: as the search moves on, the newer vector is the better guess).

pub mod cem;
mod draws;
pub mod genetic;
pub mod network;
pub mod seed_text;
pub mod td;

use serde::{Deserialize, Serialize};

pub use cem::{Cem, CemConfig, CemPreset, CemState};
pub use genetic::{Genetic, GeneticConfig, GeneticState};
pub use network::{Network, NetworkConfig, NetworkState};
pub use td::{Td, TdConfig, TdState};

/// Largest absolute value of a score, mean, deviation or noise: far beyond any use, but small enough to add up squares.
pub const MAX_MAGNITUDE: f64 = 1e100;

/// Most candidates of a generation, and most weights of a candidate.
pub const MAX_POPULATION: u32 = 1_000_000;

/// A search that proposes weight vectors and learns from their scores.
pub trait Optimizer: Send {
    /// The candidates to score next. Repeated calls return equal candidates until their scores arrive.
    fn ask(&self) -> Round;

    /// Takes the scores of the last [`ask`](Self::ask), in its order. Returns `Some` if this completes a generation,
    /// and `None` if the generation continues with a [`Look::Second`].
    ///
    /// # Errors
    ///
    /// If the number of scores is wrong, or a score is not finite or exceeds [`MAX_MAGNITUDE`]. Then nothing changes.
    fn tell(&mut self, scores: &[f64]) -> Result<Option<Generation>, TellError>;

    /// Number of completed generations, which is also the number of the next one.
    fn generation(&self) -> u32;

    /// The current result of the search: the mean of a cross-entropy search, the best individual of a genetic
    /// algorithm. `None` before the first generation is complete.
    fn incumbent(&self) -> Option<Vec<f64>>;

    /// The candidate with the best score so far, and its score. With noisy scores, it is as lucky as it is good: score
    /// it again before you trust it.
    fn best(&self) -> Option<&Best>;

    /// The complete state, from which [`Config::resume`] continues.
    fn state(&self) -> OptimizerState;
}

/// Weight vectors for the caller to score, and where they are in their generation.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Number of the generation, counted from 0; equal for both looks.
    pub generation: u32,
    /// Whether the candidates are scored for the first time.
    pub look: Look,
    /// The candidates' weight vectors, all of equal length.
    pub candidates: Vec<Vec<f64>>,
    /// Position of each candidate in its generation, for callers with separate seeds per position: 0, 1, 2 ... at the
    /// first look, some of these at the second.
    pub slots: Vec<u32>,
}

/// Whether the caller scores candidates for the first or the second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// The whole generation, with new candidates.
    First,
    /// The better part of the generation again. Score it with more games; these scores replace the first ones.
    Second,
}

/// Summary of a completed generation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// Number of the generation, counted from 0.
    pub generation: u32,
    /// Largest score, of the second look if there was one.
    pub best_score: f64,
    /// Mean score of the whole generation at the first look.
    pub mean_score: f64,
    /// Standard deviation (divided by n) of the scores of the whole generation at the first look.
    pub std_score: f64,
    /// The first candidate with the largest score.
    pub best: Vec<f64>,
    /// Mean of each weight: over the elite of a cross-entropy search, over all individuals of a genetic algorithm.
    pub mean: Vec<f64>,
    /// Standard deviation (divided by n) of each weight around `mean`.
    pub std: Vec<f64>,
}

/// The candidate with the best score so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Best {
    pub score: f64,
    /// Generation of the candidate, counted from 0.
    pub generation: u32,
    pub weights: Vec<f64>,
}

/// Kind of search, with its parameters: a table in a configuration file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Config {
    Cem(CemConfig),
    Genetic(GeneticConfig),
}

/// The complete state of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptimizerState {
    /// State of a cross-entropy search.
    Cem(CemState),
    /// State of a genetic algorithm.
    Genetic(GeneticState),
}

impl Config {
    /// A named cross-entropy search. Only [`CemPreset::Lab`] depends on the number of generations.
    pub fn preset(preset: CemPreset, num_generations: u32) -> Self {
        Self::Cem(preset.config(num_generations))
    }

    /// Whether the search was made for this number of generations: its noise is [`CemPreset::Lab`]'s for exactly this
    /// many.
    pub fn is_made_for(&self, num_generations: u32) -> bool {
        match self {
            Self::Cem(config) => config.noise == CemPreset::Lab.config(num_generations).noise,
            Self::Genetic(_) => false,
        }
    }

    /// Number of candidates whose mean score is reported as the elite's.
    pub fn num_elites(&self) -> usize {
        match self {
            Self::Cem(config) => config.num_elites(),
            Self::Genetic(config) => config.keep.max(1) as usize,
        }
    }

    /// Starts a search over vectors of `num_weights`.
    ///
    /// # Errors
    ///
    /// The first parameter that is out of its range.
    pub fn start(&self, num_weights: u32, seed: u64) -> Result<Box<dyn Optimizer>, InvalidParameter> {
        Ok(match self {
            Self::Cem(config) => Box::new(Cem::new(config.clone(), num_weights, seed)?),
            Self::Genetic(config) => Box::new(Genetic::new(config.clone(), num_weights, seed)?),
        })
    }

    /// Continues a search from its `state`.
    ///
    /// # Errors
    ///
    /// The first parameter that is out of its range, or the first part of `state` that does not fit this configuration.
    pub fn resume(&self, state: OptimizerState) -> Result<Box<dyn Optimizer>, InvalidParameter> {
        match (self, state) {
            (Self::Cem(config), OptimizerState::Cem(state)) => {
                Ok(Box::new(Cem::resume(config.clone(), state)?))
            }
            (Self::Genetic(config), OptimizerState::Genetic(state)) => {
                Ok(Box::new(Genetic::resume(config.clone(), state)?))
            }
            (Self::Cem(_), OptimizerState::Genetic(_)) => {
                Err(invalid("state", "is a genetic algorithm's, the method is cem"))
            }
            (Self::Genetic(_), OptimizerState::Cem(_)) => {
                Err(invalid("state", "is a cross-entropy search's, the method is genetic"))
            }
        }
    }
}

/// A parameter, or a part of a saved state, that a search cannot use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {reason}")]
pub struct InvalidParameter {
    /// Name of the parameter in the configuration.
    pub field: &'static str,
    /// The mistake and the parameter's value.
    pub reason: String,
}

/// The reason why scores are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TellError {
    /// The number of scores differs from the number of candidates.
    #[error("{got} scores for {expected} candidates")]
    Length {
        /// Number of candidates in the round.
        expected: usize,
        /// Number of scores that the caller gave.
        got: usize,
    },
    /// A score that cannot be compared and added up.
    #[error("score {index} is {value}: scores are numbers between -1e100 and 1e100")]
    NotANumber { index: usize, value: f64 },
}

fn invalid(field: &'static str, reason: impl Into<String>) -> InvalidParameter {
    InvalidParameter { field, reason: reason.into() }
}

/// Refuses `value` unless it lies in `range`. Always refuses NaN.
fn check(
    field: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
) -> Result<(), InvalidParameter> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(invalid(field, format!("is {value:?}, not between {:?} and {:?}", range.start(), range.end())))
}

fn check_count(
    field: &'static str,
    value: usize,
    range: std::ops::RangeInclusive<u32>,
) -> Result<(), InvalidParameter> {
    if u32::try_from(value).is_ok_and(|value| range.contains(&value)) {
        return Ok(());
    }
    Err(invalid(field, format!("is {value:?}, not between {:?} and {:?}", range.start(), range.end())))
}

/// Refuses a saved vector whose length is not `len`, or with values that are not numbers.
fn check_vector<T: Copy + Into<f64>>(
    field: &'static str,
    values: &[T],
    len: usize,
) -> Result<(), InvalidParameter> {
    if values.len() != len {
        return Err(invalid(field, format!("has {} numbers, not {len}", values.len())));
    }
    match values.iter().map(|value| (*value).into()).find(|value| !value.is_finite()) {
        Some(value) => Err(invalid(field, format!("holds {value}"))),
        None => Ok(()),
    }
}

fn check_best(best: Option<&Best>, num_weights: usize) -> Result<(), InvalidParameter> {
    let Some(best) = best else { return Ok(()) };
    check("best.score", best.score, -MAX_MAGNITUDE..=MAX_MAGNITUDE)?;
    check_vector("best.weights", &best.weights, num_weights)
}

fn check_scores(scores: &[f64], expected: usize) -> Result<(), TellError> {
    if scores.len() != expected {
        return Err(TellError::Length { expected, got: scores.len() });
    }
    // A range never contains NaN, because NaN compares with nothing.
    match scores.iter().position(|score| !(-MAX_MAGNITUDE..=MAX_MAGNITUDE).contains(score)) {
        Some(index) => Err(TellError::NotANumber { index, value: scores[index] }),
        None => Ok(()),
    }
}

/// The positions of `scores`, best first; of equals, the earlier first.
fn ranking(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].partial_cmp(&scores[a]).expect("scores were checked")); // stable
    order
}

/// Mean and standard deviation, both divided by n and added up in the given order.
fn mean_and_std(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let (mut n, mut sum) = (0.0, 0.0);
    for value in values.clone() {
        n += 1.0;
        sum += value;
    }
    let mean = sum / n;
    let mut squares = 0.0;
    for value in values {
        squares += (value - mean) * (value - mean);
    }
    (mean, (squares / n).sqrt())
}

/// The mean of vectors of equal length, added up in their order.
///
/// # Panics
/// If there is no vector, or if one is longer than the first.
pub fn mean_vector(vectors: &[&[f64]]) -> Vec<f64> {
    column_mean_and_std(vectors, vectors[0].len()).0
}

/// Mean and standard deviation of each column of `rows`.
fn column_mean_and_std(rows: &[&[f64]], num_columns: usize) -> (Vec<f64>, Vec<f64>) {
    (0..num_columns).map(|column| mean_and_std(rows.iter().map(|row| row[column]))).unzip()
}

/// Replaces `best` unless it is strictly better: later ties win.
fn keep_best(best: &mut Option<Best>, score: f64, generation: u32, weights: &[f64]) {
    if best.as_ref().is_none_or(|best| score >= best.score) {
        *best = Some(Best { score, generation, weights: weights.to_vec() });
    }
}
