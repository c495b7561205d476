//! Agents: ways of choosing a placement.
//!
//! An agent sees the rules, the playfield, the current piece and the next ones as far as they are shown ([`Sight`]), draws
//! its own [`AgentRng`] if it draws any, and decides ([`Decision`]): on a placement, or to press keys. It knows nothing of
//! episodes, seeds or the network; what it knows of features is their names and numbers. [`AGENTS`] is the table of them
//! all. A linear controller is a list of features and as many weights, and a [`Model`] that adds to their sum if there is
//! one; [`controllers`] is the table of those with a name.
//!
//! The surprising decision: an agent need not choose in one go. An agent that weighs one placement after the other weighs
//! one per call, and the caller keeps what it has found so far, as a [`Thought`]. So a game in which a single choice takes a
//! second can be stopped within some milliseconds, and shares its thread with others.

mod agent_rng;
pub mod controllers;
mod expectation;
mod flat_stacking;
pub mod linear;
pub mod lookahead;
mod mlp;
mod model;
pub mod monte_carlo;
mod n_tuple;
mod random;
mod sight;
mod table;
mod thought;
mod worth;

pub use crate::features::kernel::{Expectation, Kernel, TerminalPolicy, Terms};
pub use agent_rng::AgentRng;
pub use controllers::{CONTROLLERS, Controller, ControllerError, Figure, Measured};
pub use expectation::ExpectationAgent;
pub use linear::{LinearAgent, MAX_WEIGHT, WeightError, expected_weights};
pub use lookahead::LookaheadAgent;
pub use mlp::{Activation, Mlp};
pub use model::{Model, ModelShape};
pub use monte_carlo::MonteCarlo;
pub use n_tuple::{NTuple, TupleKind, TuplePattern};
pub use sight::Sight;
pub use table::{
    AGENTS, Agent, AgentError, AgentRow, CONTROLLER_PARAMETERS, Decision, KeyAgent, LINEAR, Parameter,
    Parameters,
};
pub use thought::Thought;
