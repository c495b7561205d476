//! Dellacherie's six features, from the hand-made controller that later ones are compared with.
//!
//! Pierre Dellacherie's definitions (2003) as Thiery and Scherrer wrote them down: "Building Controllers for Tetris",
//! ICGA Journal 32(1), 2009, and their program MDPTetris. All six agree on the surroundings: the walls and the floor
//! are full, the sky above the highest row is empty.

use super::seen::Seen;
use crate::engine::{Column, Playfield};

/// The height of the piece's middle at rest: `row + (h - 1) / 2`, where `row` is the row of its lowest cell before
/// clearing and `h` its number of rows. It is not an integer if `h` is even: on the floor, a flat I has 0 and an
/// upright one 1.5.
pub(super) fn landing_height(seen: &Seen<'_>) -> f64 {
    f64::from(seen.landing.row) + f64::from(seen.shape.height - 1) / 2.0
}

/// Lines cleared by the landing, times the number of cleared cells of the landed piece.
pub(super) fn eroded_piece_cells(seen: &Seen<'_>) -> f64 {
    f64::from(seen.landing.lines) * f64::from(seen.landing.vanished_cells)
}

/// Changes between full and empty along all rows, with full walls. Every row counts; an empty one has two.
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
/// assert_eq!(Feature::named("row_transitions").unwrap().of_playfield(&playfield, 0), 16.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn row_transitions(playfield: &Playfield) -> u32 {
    let wall = inside(playfield);
    let mut left = wall;
    let mut changes = 0;
    for &column in playfield.columns() {
        changes += (left ^ column).count();
        left = column;
    }
    changes + (left ^ wall).count()
}

/// Changes between full and empty along all columns, from the full floor to the empty sky. An empty column has one.
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
/// assert_eq!(Feature::named("column_transitions").unwrap().of_playfield(&playfield, 0), 8.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn column_transitions(playfield: &Playfield) -> u32 {
    // Bit r of the shifted word is what lies under row r, the floor under row 0; row `height` is the sky.
    playfield.columns().iter().map(|&column| (column ^ (column << 1 | 1)).count()).sum()
}

/// Empty cells with a full cell anywhere above them in their column.
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
/// assert_eq!(Feature::named("holes").unwrap().of_playfield(&playfield, 0), 1.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn holes(playfield: &Playfield) -> u32 {
    (0..playfield.width()).map(|column| playfield.holes(column).count()).sum()
}

/// For every well cell, the number of empty cells from it straight down to the first full one, including the well cell.
///
/// A well cell is an empty cell whose neighbours in its row are full, walls included; cells above it may be full. A
/// free-standing well of depth d adds up to `d (d + 1) / 2`.
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
/// assert_eq!(Feature::named("cumulative_wells").unwrap().of_playfield(&playfield, 0), 5.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn cumulative_wells(playfield: &Playfield) -> u32 {
    let fall =
        |column: usize| empty_cells_down_from(playfield.columns()[column], well_cells(playfield, column));
    (0..playfield.width().into()).map(fall).sum()
}

/// All rows of a playfield as a word: a full column, or a wall.
pub(super) fn inside(playfield: &Playfield) -> u64 {
    u64::below(playfield.height().into())
}

/// The empty cells of a column whose left and right neighbours are full. Walls are full.
pub(super) fn well_cells(playfield: &Playfield, column: usize) -> u64 {
    let columns = playfield.columns();
    let wall = inside(playfield);
    let left = if column == 0 { wall } else { columns[column - 1] };
    let right = columns.get(column + 1).copied().unwrap_or(wall);
    left & right & !columns[column]
}

/// The sum, over the given empty cells of a column, of the empty cells from each down to the first full one.
pub(super) fn empty_cells_down_from(column: u64, mut cells: u64) -> u32 {
    // All of them go down one row at a time. Cells that would enter a full cell or the floor drop out.
    let mut sum = 0;
    while cells != 0 {
        sum += cells.count();
        cells = cells >> 1 & !column;
    }
    sum
}
