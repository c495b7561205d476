//! A client: what our own commands and tests ask of servers, in plain types.
//!
//! It knows one server or several that are alike. With several, the games of an evaluation are cut into calls, and a server
//! that is done with one gets the next. A call that breaks costs nothing but time: the games that arrived are kept,
//! the others are asked for again by their indices, from whoever answers. Results depend on the request alone, never on
//! how many servers there were or which of them were lost.
//!
//! Sessions are in [`session`]: each lives on one server, and is stepped, saved and restored there.
//!
//! The surprising decision: tonic could balance over the addresses itself, but it draws them at random and goes on
//! drawing a dead one. Here every server has a connection of its own, two calls at most, and a rest after a failure.

pub mod session;

mod choice;
mod connection;
mod error;
mod evaluation;
mod health;
mod info;
mod spread;
mod version;

pub use choice::{Features, Policy, RulesChoice, randomizers};
pub use connection::{ClientIdentity, ConnectOptions};
pub use error::ClientError;
pub use evaluation::{Evaluated, EvaluationRequest, Event, Events, Game, Progress, Rules, Seeds, Started};
pub use health::check_health;
pub use info::{EvaluationLimits, FeatureSetInfo, RulesPresetInfo, ServerInfo};
pub use version::is_compatible;

use std::time::Duration;

use connection::Server;

/// Connections to servers that are alike. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    servers: Vec<Server>,
    patience: Duration,
    warnings: Vec<String>,
}

impl Client {
    /// What the caller should know of the servers: which of them play by another version of the rules than this client is made
    /// for.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
