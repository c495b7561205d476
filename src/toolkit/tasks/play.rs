//! Tasks that are played piece by piece.

use super::start::Start;
use tetrion_core::engine::{Placement, Rules};

/// What a player should reach. Except for `Value`, a task is reached, 1, or not, 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The placements with the largest values: the mean of their [qualities](tetrion_core::values::Stakes::quality).
    Value,
    /// Clear at least this many lines.
    Lines(u32),
    /// Place all pieces without losing.
    Survive,
    /// No more garbage. The start has this many rows of it, the lowest ones.
    Dig(u32),
    /// Leave no cell on the playfield.
    PerfectClear,
}

/// A task that is played piece by piece.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayTask {
    pub rules: Rules,
    pub start: Start,
    pub goal: Goal,
    /// Placements that score 1, one per piece until the goal is reached.
    pub oracle: Vec<Placement>,
    /// Score of the first legal placement of every piece.
    pub floor_first: f64,
    /// Mean score of random play.
    pub floor_random: f64,
}
