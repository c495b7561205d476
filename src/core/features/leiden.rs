//! Features of the Leiden report's smart agent, besides lines and holes (its "closed" cells).

use super::lab::open_wells;
use super::seen::Seen;
use crate::engine::{Column, Playfield};

/// The row of the piece's highest cell at rest, before clearing; the floor row is 0.
pub(super) fn landing_top(seen: &Seen<'_>) -> f64 {
    f64::from(seen.landing.row + seen.shape.height - 1)
}

/// Open cells at or below an open well cell: in every column, the rows from its surface up to and including the highest
/// empty cell whose neighbours in its row are full, walls included.
///
/// The report's shafts: going down a column, everything counts from the first cell that is enclosed on both sides.
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
/// assert_eq!(Feature::named("open_shafts").unwrap().of_playfield(&playfield, 0), 3.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn open_shafts(playfield: &Playfield) -> u32 {
    open_wells(playfield).map(|(column, cells)| cells.top().saturating_sub(column.top())).sum()
}
