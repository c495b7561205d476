//! The survey notebook's version of El-Tetris, as coded there.
//!
//! The notebook means El-Tetris (Islam El-Ashi, 2011), but five of the six features differ: it clears about a thousand
//! lines per game instead of millions. They have separate names, so that the notebook's numbers can be reproduced. None
//! of them is a good choice for anything else.

use super::dellacherie::inside;
use super::lab::{open_wells, sum_up_to};
use super::seen::Seen;
use crate::engine::{Column, Playfield};

/// The landing height with half of the piece's height added instead of subtracted: `row + h + (h - 1) / 2`, where `row`
/// is the row of the piece's lowest cell before clearing and `h` its number of rows.
///
/// The notebook writes `rows - drop row + (h - 1) / 2`, where its drop row is the piece's highest row, counted from the
/// top.
pub(super) fn landing_height_survey(seen: &Seen<'_>) -> f64 {
    let height = seen.shape.height;
    f64::from(seen.landing.row + height) + f64::from(height - 1) / 2.0
}

/// Changes between full and empty along all rows, from the first to the last cell, without walls.
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
/// assert_eq!(Feature::named("row_transitions_survey").unwrap().of_playfield(&playfield, 0), 10.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn row_transitions_survey(playfield: &Playfield) -> u32 {
    playfield.columns().windows(2).map(|pair| (pair[0] ^ pair[1]).count()).sum()
}

/// Changes between full and empty along all columns, from the lowest to the highest cell, without floor and sky.
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
/// assert_eq!(Feature::named("column_transitions_survey").unwrap().of_playfield(&playfield, 0), 6.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn column_transitions_survey(playfield: &Playfield) -> u32 {
    let all_but_the_highest = inside(playfield) >> 1;
    playfield.columns().iter().map(|&column| ((column ^ column >> 1) & all_but_the_highest).count()).sum()
}

/// Number of vertical runs of holes, whatever their lengths.
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
/// assert_eq!(Feature::named("hole_runs").unwrap().of_playfield(&playfield, 0), 1.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn hole_runs(playfield: &Playfield) -> u32 {
    let lowest_of_each_run = |holes: u64| holes & !(holes << 1);
    (0..playfield.width()).map(|column| lowest_of_each_run(playfield.holes(column)).count()).sum()
}

/// `1 + 2 + ... + n` for the `n` well cells stacked directly on the surface of each column.
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
/// assert_eq!(Feature::named("wells_survey").unwrap().of_playfield(&playfield, 0), 4.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn wells_survey(playfield: &Playfield) -> u32 {
    let on_the_surface = |(column, cells): (u64, u64)| (cells >> column.top()).trailing_ones();
    open_wells(playfield).map(|well| sum_up_to(on_the_surface(well))).sum()
}
