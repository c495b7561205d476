//! The cells of a low stack, and whether a perfect clear may follow.
//!
//! A search asks this of every placement, so the cells are the bits of one number. Only stacks of a few rows on
//! playfields of at most 15 columns have this form; a clear of more rows is not worth planning.

use crate::engine::{Column, Playfield, Shape};

/// Bits of a row: more than a playfield has columns, so that cells of two rows are no neighbours.
const ROW: u32 = 16;
/// Most rows that a perfect clear is expected to clear.
const PERFECT_ROWS: u32 = 4;

/// The cells of a stack of at most eight rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LowCells {
    /// Bit 16 r + c for the cell in row r and column c.
    cells: u128,
    width: u8,
}

impl LowCells {
    /// The cells of a playfield; `None` if its stack is higher or it has too many columns.
    pub(crate) fn of(playfield: &Playfield) -> Option<LowCells> {
        if playfield.occupied_rows().top() > u128::BITS / ROW || u32::from(playfield.width()) >= ROW {
            return None;
        }
        let cells = playfield.columns().iter().zip(0..).map(|(column, at)| {
            (u128::from(spread(*column)) | u128::from(spread(column >> 4)) << (4 * ROW)) << at
        });
        let cells = cells.fold(0, |all, column| all | column);
        Some(LowCells { cells, width: playfield.width() })
    }

    /// The cells after a shape has come to rest at a row and a column and this many lines have cleared; `None` if the
    /// stack is too high for a perfect clear.
    pub(crate) fn after(self, shape: &Shape, row: u8, column: u8, lines: u8) -> Option<LowCells> {
        let (row, column) = (u32::from(row), u32::from(column));
        if row + u32::from(shape.height) > u128::BITS / ROW {
            return None;
        }
        let piece = (0..4).fold(0, |piece, at| piece | spread(shape.column_bits(at).into()) << at);
        let mut cells = self.cells | u128::from(piece) << (ROW * row + column);
        if lines > 0 {
            for row in (row..row + u32::from(shape.height)).rev() {
                let under = (1u128 << (ROW * row)) - 1;
                if (cells >> (ROW * row)) as u64 & self.floor() == self.floor() {
                    cells = cells & under | cells >> ROW & !under;
                }
            }
        }
        Some(LowCells { cells, ..self })
    }

    /// The cells of the lowest row.
    fn floor(self) -> u64 {
        (1 << self.width) - 1
    }

    /// How near a perfect clear is: with n columns, n less the fewest tetrominoes that may fill up to four rows; 0 if none
    /// may.
    ///
    /// Tetrominoes may fill rows if the stack is no higher and each connected region of empty cells in them has room for
    /// a whole number of tetrominoes.
    pub(crate) fn perfect_clear_near(self) -> u32 {
        let Ok(cells) = u64::try_from(self.cells) else { return 0 };
        let stack = cells.top().div_ceil(ROW);
        let mut rows = 0;
        for height in 1..=PERFECT_ROWS {
            rows |= self.floor() << (ROW * (height - 1));
            let empty = rows & !cells;
            let missing = empty.count_ones();
            if height >= stack && missing.is_multiple_of(4) && all_hold_tetrominoes(empty) {
                return u32::from(self.width).saturating_sub(missing / 4);
            }
        }
        0
    }
}

/// Whether each connected region of these cells has a number of cells that is divisible by four.
fn all_hold_tetrominoes(mut cells: u64) -> bool {
    while cells != 0 {
        let mut region = cells & cells.wrapping_neg();
        loop {
            let around = region | region << 1 | region >> 1 | region << ROW | region >> ROW;
            if around & cells == region {
                break;
            }
            region = around & cells;
        }
        if !region.count_ones().is_multiple_of(4) {
            return false;
        }
        cells &= !region;
    }
    true
}

/// The lowest four cells of a column, a row apart.
fn spread(column: u64) -> u64 {
    column & 1 | (column & 2) << (ROW - 1) | (column & 4) << (2 * ROW - 2) | (column & 8) << (3 * ROW - 3)
}
