//! Exact values of play, on playfields small enough to visit every afterstate.
//!
//! The question is how many lines a player clears on average from an afterstate until the game ends, if it sees only
//! the current piece. This room answers it for the best possible player, for one that chooses placements at random, and
//! for any [agent](tetrion_core::agents) whose choice depends only on the playfield and the piece. A [`Process`] contains the
//! afterstates that such a player can reach from the empty playfield, and the transitions between them.
//! [`Process::solve`] computes the values of all of them, with bounds on the error.
//!
//! This module knows no games, seeds or random draws: it samples nothing. It uses rules only through the engine, and
//! agents through their public interface. So the values apply to the same players that play over the network.
//!
//! The surprising decision: nothing is discounted. Games end with probability 1 under these rules. For a player that
//! could go on forever, the method would find no bound: see [`Solution`].

mod demand;
mod process;
mod ranked_set;
mod solution;
mod transitions;

pub use demand::{ON_DEMAND, values};
pub use process::{MAX_AFTERSTATES, MAX_CELLS, OptimumError, Process};
pub use solution::{ExpectedLines, Pick, Solution, SolutionProgress};
