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
/// use tetrion_core::features::bertsekas::column_height;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(column_height(&playfield, 1), 2);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub fn column_height(playfield: &Playfield, i: usize) -> u32 {
    playfield.columns()[i].top()
}

/// The absolute difference between the heights of columns `i` and `i + 1`.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::bertsekas::height_difference;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(height_difference(&playfield, 1), 1);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub fn height_difference(playfield: &Playfield, i: usize) -> u32 {
    column_height(playfield, i).abs_diff(column_height(playfield, i + 1))
}

/// The height of the highest column.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::bertsekas::max_height;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(max_height(&playfield), 4);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub fn max_height(playfield: &Playfield) -> u32 {
    playfield.heights().max().unwrap_or(0)
}
