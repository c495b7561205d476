//! Dellacherie's six features: the hand-made controller that every later one is measured against.
//!
//! Pierre Dellacherie's definitions (2003) as fixed by Thiery and Scherrer: "Building Controllers for Tetris", ICGA
//! Journal 32(1), 2009, and their program MDPTetris. All six treat the surroundings alike: the walls and the floor
//! are full, the sky above the highest row is empty.

use super::seen::Seen;
use crate::engine::{Column, Playfield};

/// The height of the middle of the piece where it came to rest: `row + (h - 1) / 2`, where `row` is the row of its
/// lowest cell before clearing and `h` its rows. A half if `h` is even: an I has 0 lying on the floor, 1.5 standing
/// there.
pub fn landing_height(seen: &Seen<'_>) -> f64 {
    f64::from(seen.landing.row) + f64::from(seen.shape.height - 1) / 2.0
}

/// Lines cleared by the landing, times the number of cleared cells of the landed piece.
pub fn eroded_piece_cells(seen: &Seen<'_>) -> f64 {
    f64::from(seen.landing.lines) * f64::from(seen.landing.vanished_cells)
}

/// Changes between full and empty along all rows, both walls full. Every row counts; an empty one has two.
pub fn row_transitions(playfield: &Playfield) -> u32 {
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
pub fn column_transitions(playfield: &Playfield) -> u32 {
    // Bit r of the shifted word is what lies under row r, the floor under row 0; row `height` is the sky.
    playfield.columns().iter().map(|&column| (column ^ (column << 1 | 1)).count()).sum()
}

/// Empty cells with a full cell anywhere above them in their column.
pub fn holes(playfield: &Playfield) -> u32 {
    (0..playfield.width()).map(|column| playfield.holes(column).count()).sum()
}

/// For every well cell, the number of empty cells from it straight down to the first full one, including itself.
///
/// A well cell is an empty cell between two full ones in its row, walls full; it may be covered. A free-standing well
/// of depth d adds up to `d (d + 1) / 2`.
pub fn cumulative_wells(playfield: &Playfield) -> u32 {
    let fall =
        |column: usize| empty_cells_down_from(playfield.columns()[column], well_cells(playfield, column));
    (0..playfield.width().into()).map(fall).sum()
}

/// All rows of a playfield: the word of a full column, and of a wall.
pub(super) fn inside(playfield: &Playfield) -> u64 {
    u64::below(playfield.height().into())
}

/// The empty cells of a column whose left and right neighbours are full, walls full.
pub(super) fn well_cells(playfield: &Playfield, column: usize) -> u64 {
    let columns = playfield.columns();
    let wall = inside(playfield);
    let left = if column == 0 { wall } else { columns[column - 1] };
    let right = columns.get(column + 1).copied().unwrap_or(wall);
    left & right & !columns[column]
}

/// For each of the given empty cells of a column, the empty cells from it down to the first full one, added up.
pub(super) fn empty_cells_down_from(column: u64, mut cells: u64) -> u32 {
    // All of them go down one row at a time; the ones that would enter a full cell or the floor are done.
    let mut sum = 0;
    while cells != 0 {
        sum += cells.count();
        cells = cells >> 1 & !column;
    }
    sum
}
