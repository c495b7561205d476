//! Who plays: ways of choosing a placement.
//!
//! An agent sees the rules, the playfield and the current piece, and answers with a placement. It knows nothing of
//! episodes, seeds or the network; what it knows of features is their names and numbers. A linear controller is a list of
//! features and as many weights; [`controllers`] is the table of those with a name.

pub mod controllers;
pub mod linear;

pub use crate::features::kernel::{Kernel, TerminalPolicy};
pub use controllers::{CONTROLLERS, Controller, ControllerError, Figure, Measured};
pub use linear::{LinearAgent, MAX_WEIGHT, WeightError};

/// Any agent that can play an episode.
#[derive(Clone, Debug)]
pub enum Agent {
    /// A weight vector over a feature set.
    Linear(LinearAgent),
}
