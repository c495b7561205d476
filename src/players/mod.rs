//! Players: agents, controllers and trained weights that play games on a screen, on this machine.
//!
//! A [`Contender`] is a name, a training run or a file of weights before its game; a [`Player`] plays one game through a
//! [`Pilot`], or a match through two, and can step back and forth in it. [`Reasons`] explain a choice. This module knows no terminal, flag or clock,
//! and calls no server: `tests/it/watch.rs` compares its games with evaluations.

mod chosen_actions;
mod contender;
mod game_series;
mod named;
mod pilot;
mod player;
mod reasons;

pub use chosen_actions::ChosenActions;
pub use contender::{Contender, Run, on_one_line};
pub use game_series::{GameSeries, result};
pub use named::{agent, controller, monte_carlo, title, title_of_weights};
pub use pilot::{Pilot, PlacementValues};
pub use player::Player;
pub use reasons::{PlacementFeature, Reasons};
