//! The four numbers that teaching material starts with: total height, complete lines, holes and bumpiness.
//!
//! Yiyuan Lee, "Tetris AI - The (Near) Perfect Bot" (2013). The course notebook and the genetic-algorithm write-up use
//! these four before clearing. Holes are Dellacherie's. El-Tetris (Islam El-Ashi, 2011) also uses complete lines
//! instead of eroded cells.

use super::bertsekas::height_difference;
use super::seen::Seen;
use crate::engine::{Column, Playfield};

/// Lines cleared by the landing. A landing that ends the game by overflowing clears none.
pub(super) fn lines_cleared(seen: &Seen<'_>) -> f64 {
    seen.landing.lines.into()
}

/// Rows that sank into the ground with the landing.
pub(super) fn rows_sunk(seen: &Seen<'_>) -> f64 {
    seen.landing.sunk.into()
}

/// Full rows of the current playfield, which no landing has cleared.
///
/// After clearing there are none, unless a landing ended the game by overflowing.
pub(super) fn full_rows(playfield: &Playfield) -> u32 {
    playfield.full_rows().count()
}

/// The sum of the column heights.
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
/// assert_eq!(Feature::named("total_height").unwrap().of_playfield(&playfield, 0), 13.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn total_height(playfield: &Playfield) -> u32 {
    playfield.heights().sum()
}

/// The sum of the absolute height differences between neighbouring columns, without the walls.
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
/// assert_eq!(Feature::named("bumpiness").unwrap().of_playfield(&playfield, 0), 8.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn bumpiness(playfield: &Playfield) -> u32 {
    (0..usize::from(playfield.width()) - 1).map(|i| height_difference(playfield, i)).sum()
}
