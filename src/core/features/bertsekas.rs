//! The column features of Bertsekas and Ioffe, and of Bertsekas and Tsitsiklis.
//!
//! "Temporal Differences-Based Policy Iteration and Applications in Neuro-Dynamic Programming" (1996) and
//! "Neuro-Dynamic Programming" (1996): the heights, the differences between neighbours, the maximum and the holes. Most
//! learning papers up to Szita and Lorincz (2006) use them. Their constant feature is omitted, because it changes no
//! choice.

use crate::engine::{Column, Playfield};

/// The row above the highest full cell of column `i`; 0 for an empty column.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::Feature;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(Feature::named("column_height").unwrap().of_playfield(&playfield, 1), 2.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn column_height(playfield: &Playfield, i: usize) -> u32 {
    playfield.columns()[i].top()
}

/// The absolute difference between the heights of columns `i` and `i + 1`.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::Feature;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(Feature::named("height_difference").unwrap().of_playfield(&playfield, 1), 1.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn height_difference(playfield: &Playfield, i: usize) -> u32 {
    column_height(playfield, i).abs_diff(column_height(playfield, i + 1))
}

/// The height of the highest column.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::Feature;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(Feature::named("max_height").unwrap().of_playfield(&playfield, 0), 4.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn max_height(playfield: &Playfield) -> u32 {
    playfield.heights().max().unwrap_or(0)
}
