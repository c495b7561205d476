//! The policies of an evaluation, as a client names them.

pub use crate::wire::features::Features;
pub use crate::wire::models::{Activation, Mlp, ModelShape, NTuple, TupleKind, TuplePattern};
use crate::wire::pb;
pub use crate::wire::policies::{NamedPolicy, Play, PlayChoice, TerminalValue, WeightedPolicies};
pub use crate::wire::search::{Expectation, Search, Terms};

/// The policies of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum Policies {
    /// Agents and controllers by name.
    Named(Vec<NamedPolicy>),
    /// Linear controllers, optionally with a model: the rows of a matrix.
    Weighted(WeightedPolicies),
}

impl Policies {
    /// An agent or a controller by name, with its default parameters.
    pub fn named(name: &str) -> Policies {
        Policies::Named(vec![NamedPolicy::new(name)])
    }

    /// Number of policies.
    pub(super) fn len(&self) -> usize {
        match self {
            Policies::Named(policies) => policies.len(),
            Policies::Weighted(policies) => policies.rows.len(),
        }
    }

    pub(super) fn encode(&self) -> (Option<pb::WeightMatrix>, Vec<pb::Agent>) {
        match self {
            Policies::Named(policies) => (None, policies.iter().map(NamedPolicy::encode).collect()),
            Policies::Weighted(policies) => (Some(policies.encode()), Vec::new()),
        }
    }
}
