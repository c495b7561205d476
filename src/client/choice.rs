//! Names of features and policies that a client chooses, and their encoding.

pub use crate::wire::expectation::{Expectation, Terms};
pub use crate::wire::models::{Activation, Mlp, ModelShape, NTuple, TupleKind, TuplePattern};
use crate::wire::{expectation, models, pb, tensor};

/// Features by their names in the server's lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Features {
    /// A named set, with the version that weights were made for; an empty version accepts any.
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
    /// A set by its name; with a comma, a list. So `holes,` is a list of one.
    pub fn parse(text: &str) -> Features {
        if !text.contains(',') {
            return Features::Set { name: text.to_owned(), version: String::new() };
        }
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        Features::List(names.map(str::to_owned).collect())
    }

    pub(super) fn encode(&self) -> pb::FeatureSelection {
        match self.clone() {
            Features::Set { name, version } => {
                pb::FeatureSelection { set: name, version, features: Vec::new() }
            }
            Features::List(features) => pb::FeatureSelection { features, ..Default::default() },
        }
    }
}

/// The policies of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum Policies {
    /// Agents and controllers by name.
    Named(Vec<NamedPolicy>),
    /// Linear controllers, optionally with a model: the rows of a matrix.
    Matrix {
        /// The features that the weights belong to.
        features: Features,
        /// One signed weight per feature, then the parameters of the model; all rows of one length.
        rows: Vec<Vec<f64>>,
        /// Model that is added to the weighted sums.
        model: Option<ModelShape>,
        /// Whether placements that end the game are the last choice, rather than scored like any other.
        avoid_terminal: bool,
        /// Number of next pieces to look ahead.
        lookahead: u32,
        /// Expectation over next pieces, instead of lookahead.
        expectation: Option<Expectation>,
    },
}

/// A named agent or controller; the server fills in fields that are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedPolicy {
    /// The name.
    pub name: String,
    /// Playouts per placement, for agents that use playouts.
    pub playouts: Option<u32>,
    /// Number of next pieces that a linear controller looks ahead.
    pub lookahead: Option<u32>,
    /// Expectation of a linear controller over next pieces, instead of lookahead.
    pub expectation: Option<Expectation>,
    /// Whether placements that end the game are the last choice of a linear controller, rather than scored like any
    /// other.
    pub avoid_terminal: Option<bool>,
}

impl NamedPolicy {
    fn encode(&self) -> pb::Agent {
        pb::Agent {
            name: self.name.clone(),
            playouts: self.playouts,
            lookahead: self.lookahead,
            expectation: self.expectation.as_ref().map(expectation::encode),
            terminal: self.avoid_terminal.map_or(pb::TerminalScore::Unspecified, encode_terminal).into(),
            ..Default::default()
        }
    }
}

impl Policies {
    /// An agent or a controller by name, with its default parameters.
    pub fn named(name: &str) -> Policies {
        Policies::Named(vec![NamedPolicy { name: name.to_owned(), ..NamedPolicy::default() }])
    }

    /// Number of policies.
    pub(super) fn len(&self) -> usize {
        match self {
            Policies::Named(policies) => policies.len(),
            Policies::Matrix { rows, .. } => rows.len(),
        }
    }

    pub(super) fn encode(&self) -> (Option<pb::WeightMatrix>, Vec<pb::Agent>) {
        match self {
            Policies::Named(policies) => (None, policies.iter().map(NamedPolicy::encode).collect()),
            Policies::Matrix { features, rows, model, avoid_terminal, lookahead, expectation } => {
                let (mlp, n_tuple) = model.as_ref().map_or((None, None), models::encode);
                let shape = vec![rows.len() as u32, rows.first().map_or(0, Vec::len) as u32];
                let matrix = pb::WeightMatrix {
                    features: Some(features.encode()),
                    weights: Some(tensor::encode(shape, &rows.concat())),
                    terminal: encode_terminal(*avoid_terminal).into(),
                    lookahead: *lookahead,
                    expectation: expectation.as_ref().map(expectation::encode),
                    mlp,
                    n_tuple,
                };
                (Some(matrix), Vec::new())
            }
        }
    }
}

fn encode_terminal(avoid_terminal: bool) -> pb::TerminalScore {
    if avoid_terminal { pb::TerminalScore::Avoid } else { pb::TerminalScore::Score }
}
