//! A reachable placement: the resting place of a piece and its spin.

use super::super::shape::{PieceCells, Shape};
use super::super::spin::Spin;
use super::super::tetromino::{TRUE_POSES, Tetromino};

/// A place where a piece comes to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resting {
    /// Quarter turns to the right from the appearing orientation: the fewest of all orientations that cover the same
    /// cells.
    pub orientation: u8,
    /// The column of the leftmost cells.
    pub column: u8,
    /// The row of the lowest cells. The piece may stick out of the playfield.
    pub row: u8,
    /// The spin label; always [`Spin::None`] if the rules do not distinguish spins.
    pub spin: Spin,
}

impl Resting {
    /// The tetromino's shape in the orientation in which it rests.
    pub fn shape(&self, tetromino: Tetromino) -> &'static Shape {
        &TRUE_POSES[tetromino.index()][usize::from(self.orientation)]
    }

    /// The row and column of each of the four cells, sorted by row, then by column. Rows may be above the playfield.
    pub fn cells(&self, tetromino: Tetromino) -> PieceCells {
        self.shape(tetromino).cells_at(self.row, self.column)
    }
}
