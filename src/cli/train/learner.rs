//! What a run of temporal differences learns: a sum of weights and entries, or a network that reads them. It plays nothing.

use serde::{Deserialize, Serialize};

use super::lessons::{Lessons, Moves};
use crate::optimizers::{InvalidParameter, Network, NetworkState, Td, TdState};

/// A value function that is being learned.
#[derive(Clone, Debug)]
pub enum Learner {
    /// A weight for each feature, and tables of numbers.
    Sum(Td),
    /// Hidden units over features and tables.
    Network(Box<Network>),
}

/// All that one knows: one of the two.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LearnerState {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    td: Option<TdState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<NetworkState>,
}

impl Learner {
    /// Begins, or goes on from a state.
    ///
    /// # Errors
    /// A number out of its range, or a state that does not belong to these lessons.
    pub fn open(
        lessons: &Lessons,
        num_features: usize,
        seed: u64,
        state: Option<LearnerState>,
    ) -> anyhow::Result<Learner> {
        let (features, entries) = (num_features as u32, lessons.num_entries()? as u32);
        let none = |what| InvalidParameter { field: "state", reason: format!("is not that of {what}") };
        Ok(match (lessons.moves(), state) {
            (Moves::OfSum(config), None) => Learner::Sum(Td::new(config.clone(), features, entries)?),
            (Moves::OfSum(config), Some(LearnerState { td, .. })) => {
                let state = td.ok_or_else(|| none("a sum"))?;
                Learner::Sum(Td::resume(config.clone(), state, features, entries)?)
            }
            (Moves::OfNetwork(config, start), None) => {
                Learner::Network(Box::new(Network::new(config.clone(), start, entries, seed)?))
            }
            (Moves::OfNetwork(config, _), Some(LearnerState { network, .. })) => {
                let state = network.ok_or_else(|| none("a network"))?;
                Learner::Network(Box::new(Network::resume(config.clone(), state, features, entries)?))
            }
        })
    }

    /// The score of a state.
    pub fn score(&self, features: &[f32], entries: &[u32]) -> f64 {
        match self {
            Learner::Sum(td) => td.score(features, entries),
            Learner::Network(network) => network.score(features, entries),
        }
    }

    /// The score that a state should have, by the best that each event leads to.
    pub fn target(&self, best: impl IntoIterator<Item = Option<f64>>) -> f64 {
        match self {
            Learner::Sum(td) => td.target(best),
            Learner::Network(network) => network.target(best),
        }
    }

    /// Moves a score towards its target; returns the error that was counted.
    pub fn learn(&mut self, features: &[f32], entries: &[u32], target: f64) -> f64 {
        match self {
            Learner::Sum(td) => td.learn(features, entries, target),
            Learner::Network(network) => network.learn(features, entries, target),
        }
    }

    /// Ends a round, for what is a mean over rounds.
    pub fn end_round(&mut self) {
        match self {
            Learner::Sum(td) => td.end_round(),
            Learner::Network(_) => {}
        }
    }

    /// What it would hand in: the weights of the features, and the parameters of the model.
    pub fn incumbent(&self, num_features: usize) -> (Vec<f64>, Vec<f32>) {
        match self {
            Learner::Sum(td) => {
                let (weights, entries) = td.incumbent();
                (weights.to_vec(), entries.iter().map(|entry| *entry as f32).collect())
            }
            // It reads the features itself.
            Learner::Network(network) => (vec![0.0; num_features], network.parameters()),
        }
    }

    /// All that it knows.
    pub fn state(&self) -> LearnerState {
        match self {
            Learner::Sum(td) => LearnerState { td: Some(td.state().clone()), network: None },
            Learner::Network(network) => LearnerState { td: None, network: Some(network.state().clone()) },
        }
    }
}
