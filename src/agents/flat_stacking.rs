//! The Leiden report's smart agent: the flattest stack one piece ahead, by a formula found by trial.
//!
//! For every placement that does not end the game, the report adds up the rows it clears, the height of the playfield minus
//! the highest row that the piece reaches, minus four times the closed cells, plus the shafts before minus the shafts after.
//! The height and the shafts before are the same for all placements, so that a linear controller without them makes the same
//! choices: its numbers are small whole ones, of which sums are exact. That controller is `flat-stacking`, with a kernel
//! to play on; this agent is that controller under the name of the protocol.

use super::{Controller, ControllerError, LinearAgent};

/// The agent at a width.
///
/// # Errors
/// None that the table of controllers allows: its features exist at every width.
pub fn flat_stacking(width: u8) -> Result<LinearAgent, ControllerError> {
    Controller::named("flat-stacking")?.agent(width)
}
