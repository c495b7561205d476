//! Who plays: agents choose a placement for a piece, from what they see of every landing.
//!
//! A linear controller is a list of features and as many weights; the landing with the greatest sum wins. [`controllers`] is
//! the table of those with a name.

pub mod controllers;

pub use controllers::{CONTROLLERS, Controller, ControllerError, Figure, Measured};

/// What a placement that ends the game is worth to a linear controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Terminal {
    /// Minus infinity: never chosen while another placement exists, and the first one if all of them end the game.
    #[default]
    Avoid,
    /// Whatever its features say, as for any other placement.
    Score,
}
