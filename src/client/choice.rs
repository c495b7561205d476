//! What a client chooses: policies, features, models, and how far to look ahead.

pub use crate::wire::features::Features;
pub use crate::wire::models::{Activation, Mlp, ModelShape, NTuple, TupleKind, TuplePattern};
pub use crate::wire::policies::{
    MonteCarlo, Play, PlayChoice, Policy, PolicyKind, TerminalValue, WeightRows,
};
pub use crate::wire::search::{Expectation, Search, Terms};
