//! What a client chooses by name: rules, features and policies; and how it encodes them.

use crate::wire::{pb, rules};

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

/// The rules of the games: a preset, and the changes to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesChoice {
    /// The preset; empty for the server's default.
    pub preset: String,
    /// Columns.
    pub width: Option<u32>,
    /// Rows.
    pub height: Option<u32>,
    /// The randomizer, one of [`randomizers`].
    pub randomizer: Option<String>,
    /// Next pieces shown.
    pub preview: Option<u32>,
}

/// The randomizers, as [`RulesChoice`] names them.
pub fn randomizers() -> Vec<String> {
    rules::words(RANDOMIZER, pb::Randomizer::as_str_name)
}

/// The protocol's prefix of randomizer names.
const RANDOMIZER: &str = "RANDOMIZER_";

impl RulesChoice {
    pub(super) fn encode(&self) -> pb::Rules {
        let RulesChoice { preset, width, height, randomizer, preview } = self.clone();
        // An unknown name becomes an unknown number, which the server refuses.
        let randomizer = randomizer.map(|name| {
            let name = format!("{RANDOMIZER}{}", name.to_uppercase());
            pb::Randomizer::from_str_name(&name).unwrap_or(pb::Randomizer::Unspecified).into()
        });
        pb::Rules { preset, width, height, randomizer, preview, ..Default::default() }
    }
}
