//! Agents: ways of choosing a placement.
//!
//! An agent sees the rules, the playfield, the current piece and the shown next ones ([`Sight`]). It draws from its
//! [`AgentRng`] if it is random, and decides ([`Decision`]) on a placement or on pressing keys. It knows nothing of
//! episodes, seeds or the network; of features it knows only names and numbers. A linear controller is a list of
//! features with one weight each, and optionally a [`Model`] that adds to their sum. A [`FormulaAgent`] plays a formula
//! that is no such sum. Both are [value functions](ValueFunction), with which searches look ahead. [`CONTROLLERS`] is
//! the table of named controllers, and [`AGENTS`] the table of other agents.
//!
//! The surprising decision: an agent need not choose in one call. An agent that evaluates placements one after another
//! evaluates one per call, and the caller keeps the intermediate state, a [`Thought`]. So a game in which a single
//! choice takes a second can be stopped within some milliseconds, and shares its thread with others.

mod agent_rng;
mod beam;
mod controllers;
mod expectation;
mod flat_stacking;
mod formula;
mod growth;
mod linear;
mod lookahead;
mod mlp;
mod model;
mod monte_carlo;
mod n_tuple;
mod play;
mod random;
mod scored_clear;
mod search;
mod sight;
mod table;
mod thought;
mod value_function;
mod worth;

pub use crate::features::kernel::{Expectation, Kernel, TerminalValue, Terms};
pub use agent_rng::AgentRng;
pub use beam::{Beam, BeamAgent};
pub use controllers::{CONTROLLERS, Controller, ControllerError, Figure, Measured};
pub use expectation::ExpectationAgent;
pub(crate) use formula::DropScorer;
pub use formula::FormulaAgent;
pub use linear::{LinearAgent, MAX_WEIGHT, WeightError, check_weights, expected_weights};
pub use lookahead::LookaheadAgent;
pub use mlp::{Activation, Mlp};
pub use model::{Model, ModelShape};
pub use monte_carlo::MonteCarlo;
pub use n_tuple::{NTuple, TupleKind, TuplePattern};
pub use play::{Play, PlayChoice};
pub use search::{
    BEAM_SETTINGS, EXPECTATION_SETTINGS, LOOKAHEAD_SETTINGS, Search, SearchSetting, SettingKind,
    unknown_setting,
};
pub use sight::Sight;
pub use table::{AGENTS, Agent, AgentRow, Decision, Judgement, KeyAgent, rough_placements};
pub use thought::Thought;
pub use value_function::ValueFunction;
pub use worth::LookaheadValue;
