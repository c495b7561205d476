//! The column features of Bertsekas and Ioffe, and of Bertsekas and Tsitsiklis.
//!
//! "Temporal Differences-Based Policy Iteration and Applications in Neuro-Dynamic Programming" (1996) and
//! "Neuro-Dynamic Programming" (1996): the heights, the differences between neighbours, the maximum and the holes. Most
//! learning papers up to Szita and Lorincz (2006) use them. Their constant feature is omitted, because it changes no
//! choice.

use crate::engine::{Column, Playfield};

/// The row above the highest full cell of column `i`; 0 for an empty column.
pub fn column_height(playfield: &Playfield, i: usize) -> u32 {
    playfield.columns()[i].top()
}

/// The absolute difference between the heights of columns `i` and `i + 1`.
pub fn height_difference(playfield: &Playfield, i: usize) -> u32 {
    column_height(playfield, i).abs_diff(column_height(playfield, i + 1))
}

/// The height of the highest column.
pub fn max_height(playfield: &Playfield) -> u32 {
    playfield.heights().max().unwrap_or(0)
}
