//! Exact values of play on playfields small enough to look at every afterstate.
//!
//! The question is how many lines a player clears on average from an afterstate until the game ends, when it sees the
//! current piece only: for the best player there is, for one that draws its placements, and for any [agent](crate::agents)
//! whose choice follows from the playfield and the piece. A [`Process`] is the afterstates that such a player can reach
//! from the empty playfield and the transitions between them; [`Process::solve`] computes the values of all of them, and
//! how far they can be from the truth.
//!
//! This module refuses to know games, seeds and what is drawn: nothing is sampled here. It knows rules through the engine
//! alone, and agents as others ask them, so that a value belongs to the same player that plays over the network.
//!
//! The surprising decision: nothing is discounted. Games end with probability 1 under these rules, and where a player went
//! on for ever no bound would come out: see [`Solution`].

mod process;
mod solution;

pub use process::{MAX_AFTERSTATES, MAX_CELLS, OptimumError, Process};
pub use solution::{Pick, Solution, SolutionProgress, Value};
