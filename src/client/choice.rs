//! What a client chooses by name: features and policies; and how it encodes them.

use crate::wire::pb;

/// Features by their names in the server's lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Features {
    /// A named set, with the version that weights were made for, or an empty one for any.
    Set {
        /// The name.
        name: String,
        /// The version.
        version: String,
    },
    /// A list of features.
    List(Vec<String>),
}

impl Features {
    pub(super) fn encode(&self) -> pb::FeatureSelection {
        match self.clone() {
            Features::Set { name, version } => {
                pb::FeatureSelection { set: name, version, features: Vec::new() }
            }
            Features::List(features) => pb::FeatureSelection { features, ..Default::default() },
        }
    }
}

/// A policy of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// An agent or a controller by name.
    Named {
        /// The name.
        name: String,
        /// Games played for each placement, by an agent that plays any.
        playouts: Option<u32>,
        /// Next pieces that a linear controller looks ahead.
        lookahead: Option<u32>,
        /// Whether placements that end the game are the last choice of a linear controller, rather than scored like any
        /// other.
        avoid_terminal: Option<bool>,
    },
    /// A linear controller.
    Linear {
        /// The features that the weights belong to.
        features: Features,
        /// One weight a feature, signed.
        weights: Vec<f64>,
        /// Whether placements that end the game are the last choice, rather than scored like any other.
        avoid_terminal: bool,
        /// Next pieces that it looks ahead.
        lookahead: u32,
    },
}

impl Policy {
    /// An agent or a controller by name, with its default parameters.
    pub fn named(name: &str) -> Policy {
        Policy::Named { name: name.to_owned(), playouts: None, lookahead: None, avoid_terminal: None }
    }

    pub(super) fn encode(&self) -> pb::Agent {
        match self {
            Policy::Named { name, playouts, lookahead, avoid_terminal } => pb::Agent {
                name: name.clone(),
                playouts: *playouts,
                lookahead: *lookahead,
                terminal: avoid_terminal.map_or(pb::TerminalScore::Unspecified, encode_terminal).into(),
                ..Default::default()
            },
            Policy::Linear { features, weights, avoid_terminal, lookahead } => pb::Agent {
                name: "linear".to_owned(),
                features: Some(features.encode()),
                weights: weights.clone(),
                terminal: encode_terminal(*avoid_terminal).into(),
                lookahead: Some(*lookahead),
                ..Default::default()
            },
        }
    }
}

fn encode_terminal(avoid_terminal: bool) -> pb::TerminalScore {
    if avoid_terminal { pb::TerminalScore::Avoid } else { pb::TerminalScore::Score }
}
