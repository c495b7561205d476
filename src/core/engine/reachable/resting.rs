//! A placement that can be reached: where a piece rests, and what it counts as.

use super::super::shape::{PieceCells, Shape};
use super::super::spin::Spin;
use super::super::tetromino::{TRUE_POSES, Tetromino};

/// A place where a piece comes to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resting {
    /// Quarter turns to the right from how the piece appears; of those that cover the same cells, the fewest.
    pub orientation: u8,
    /// The column of its leftmost cells.
    pub column: u8,
    /// The row of its lowest cells. The piece may stick out of the playfield.
    pub row: u8,
    /// What it counts as; always [`Spin::None`] where spins are not told apart.
    pub spin: Spin,
}

impl Resting {
    /// The shape at rest.
    pub fn shape(&self, tetromino: Tetromino) -> &'static Shape {
        &TRUE_POSES[tetromino.index()][usize::from(self.orientation)]
    }

    /// The row and the column of its four cells, by row, then by column. Rows may be above the playfield.
    pub fn cells(&self, tetromino: Tetromino) -> PieceCells {
        self.shape(tetromino).cells_at(self.row, self.column)
    }
}
