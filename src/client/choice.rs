//! What a client asks for by name: rules, features, and who plays; and how a server is told.

use crate::wire::{pb, rules};

/// Features by the names the server lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Features {
    /// A set by name; with the version that weights were made for, or an empty one for any.
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

/// Who plays.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// An agent or a controller by name.
    Named {
        /// The name.
        name: String,
        /// Games played for each placement, by an agent that plays any.
        playouts: Option<u32>,
        /// Next pieces taken into account, by a linear controller.
        lookahead: Option<u32>,
        /// Whether placements that end the game are the last choice of a linear controller, rather than scored like any other.
        avoid_terminal: Option<bool>,
    },
    /// A linear controller.
    Linear {
        /// What the weights belong to.
        features: Features,
        /// One a feature, signed.
        weights: Vec<f64>,
        /// Whether placements that end the game are the last choice, rather than scored like any other.
        avoid_terminal: bool,
        /// Next pieces taken into account.
        lookahead: u32,
    },
}

impl Policy {
    /// An agent or a controller by name, with the parameters that it has by itself.
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

/// The rules of the games: a preset, and what is not as in the preset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesChoice {
    /// The preset; empty for the server's default.
    pub preset: String,
    /// Columns.
    pub width: Option<u32>,
    /// Rows.
    pub height: Option<u32>,
    /// Who deals, one of [`randomizers`].
    pub randomizer: Option<String>,
    /// Next pieces shown.
    pub preview: Option<u32>,
}

/// The randomizers, as [`RulesChoice`] names them.
pub fn randomizers() -> Vec<String> {
    rules::words(RANDOMIZER, pb::Randomizer::as_str_name)
}

/// What the protocol puts before the name of a randomizer.
const RANDOMIZER: &str = "RANDOMIZER_";

impl RulesChoice {
    pub(super) fn encode(&self) -> pb::Rules {
        let RulesChoice { preset, width, height, randomizer, preview } = self.clone();
        // A name that nobody knows becomes a number that nobody knows, and the server says so.
        let randomizer = randomizer.map(|name| {
            let name = format!("{RANDOMIZER}{}", name.to_uppercase());
            pb::Randomizer::from_str_name(&name).unwrap_or(pb::Randomizer::Unspecified).into()
        });
        pb::Rules { preset, width, height, randomizer, preview, ..Default::default() }
    }
}
