//! The value function that a temporal-difference run learns: a sum of weights and table entries, or a network. This
//! file plays no games.

use serde::{Deserialize, Serialize};

use super::error::TrainError;
use super::lessons::{Lessons, Moves};
use tetrion_toolkit::optimizers::{Network, NetworkState, Td, TdState};

/// A value function in training.
#[derive(Clone, Debug)]
pub enum Learner {
    /// A weight per feature, and table entries.
    Sum(Td),
    /// Hidden units over features and table entries.
    Network(Box<Network>),
}

/// Complete state of a learner.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LearnerState {
    /// State of a learner whose scores are sums.
    #[serde(rename = "td")]
    Sum(TdState),
    /// State of a learner whose scores come from a network.
    #[serde(rename = "network")]
    Network(NetworkState),
}

impl Learner {
    /// Creates a new learner, or restores one from a state.
    ///
    /// # Errors
    /// If a parameter is out of its range, or the state does not fit the lessons.
    pub fn open(
        lessons: &Lessons,
        (num_features, num_entries): (usize, usize),
        seed: u64,
        state: Option<LearnerState>,
    ) -> Result<Learner, TrainError> {
        let (features, entries) = (num_features as u32, num_entries as u32);
        Ok(match (lessons.moves.clone(), state) {
            (Moves::OfSum(config), None) => Learner::Sum(Td::new(config, features, entries)?),
            (Moves::OfSum(config), Some(LearnerState::Sum(state))) => {
                Learner::Sum(Td::resume(config, state, features, entries)?)
            }
            (Moves::OfNetwork(config), None) => {
                Learner::Network(Box::new(Network::new(config, &lessons.start, entries, seed)?))
            }
            (Moves::OfNetwork(config), Some(LearnerState::Network(state))) => {
                Learner::Network(Box::new(Network::resume(config, state, features, entries)?))
            }
            (Moves::OfSum(_), Some(_)) => {
                return Err(TrainError::Settings("its state is that of a network, not of a sum".to_owned()));
            }
            (Moves::OfNetwork(_), Some(_)) => {
                return Err(TrainError::Settings("its state is that of a sum, not of a network".to_owned()));
            }
        })
    }

    /// The score of an afterstate.
    pub fn score(&self, features: &[f32], entries: &[u32]) -> f64 {
        match self {
            Learner::Sum(td) => td.score(features, entries),
            Learner::Network(network) => network.score(features, entries),
        }
    }

    /// The target of a score, given the best successor's score for each event.
    pub fn target(&self, best: impl IntoIterator<Item = Option<f64>>) -> f64 {
        match self {
            Learner::Sum(td) => td.target(best),
            Learner::Network(network) => network.target(best),
        }
    }

    /// Moves a score towards its target. Returns the error.
    pub fn learn(&mut self, features: &[f32], entries: &[u32], target: f64) -> f64 {
        match self {
            Learner::Sum(td) => td.learn(features, entries, target),
            Learner::Network(network) => network.learn(features, entries, target),
        }
    }

    /// Ends a round, which updates averages over rounds.
    pub fn end_round(&mut self) {
        match self {
            Learner::Sum(td) => td.end_round(),
            Learner::Network(_) => {}
        }
    }

    /// The current result: the weights of the features, and the parameters of the model.
    pub fn incumbent(&self, num_features: usize) -> (Vec<f64>, Vec<f32>) {
        match self {
            Learner::Sum(td) => {
                let (weights, entries) = td.incumbent();
                (weights.to_vec(), entries.iter().map(|entry| *entry as f32).collect())
            }
            // The network reads the features itself, so their separate weights are 0.
            Learner::Network(network) => (vec![0.0; num_features], network.parameters()),
        }
    }

    /// The complete state, for a checkpoint.
    pub fn state(&self) -> LearnerState {
        match self {
            Learner::Sum(td) => LearnerState::Sum(td.state().clone()),
            Learner::Network(network) => LearnerState::Network(network.state().clone()),
        }
    }
}
