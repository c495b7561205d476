//! What a client chooses: policies, features, models, and how far to look ahead.

pub use tetrion_protocol::features::Features;
pub use tetrion_protocol::models::{Activation, Mlp, ModelShape, NTuple, TupleKind, TuplePattern};
pub use tetrion_protocol::policies::{
    MonteCarlo, Play, PlayChoice, Policy, PolicyKind, TerminalValue, WeightRows,
};
pub use tetrion_protocol::search::{Beam, Expectation, Search, Terms};
