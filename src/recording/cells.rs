//! A playfield whose cells know where they came from.

use crate::engine::{Playfield, Tetromino};

/// What is in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    #[default]
    Empty,
    /// A cell of a landed tetromino.
    Of(Tetromino),
    /// It was full in the position that the game began from.
    Given,
}

/// The cells of a playfield.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    width: u8,
    height: u8,
    /// Row by row, the lowest first, each from the left.
    cells: Vec<Cell>,
}

impl Cells {
    /// Those of a position.
    pub(super) fn given(playfield: &Playfield) -> Cells {
        let (width, height) = (playfield.width(), playfield.height());
        let cell = |row, column| if playfield.is_full(row, column) { Cell::Given } else { Cell::Empty };
        let row = |row| (0..width).map(move |column| cell(row, column));
        Cells { width, height, cells: (0..height).flat_map(row).collect() }
    }

    /// Columns.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u8 {
        self.height
    }

    /// A cell; empty outside the playfield. Row 0 is the lowest.
    pub fn get(&self, row: u8, column: u8) -> Cell {
        let is_inside = row < self.height && column < self.width;
        if is_inside { self.cells[self.index(row, column)] } else { Cell::Empty }
    }

    /// The rows, the lowest first.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[Cell]> {
        self.cells.chunks(self.width.into())
    }

    fn index(&self, row: u8, column: u8) -> usize {
        usize::from(row) * usize::from(self.width) + usize::from(column)
    }

    /// Fills a cell of a landed tetromino; what sticks out of the top is cut off.
    pub(super) fn fill(&mut self, (row, column): (u8, u8), tetromino: Tetromino) {
        if row < self.height {
            let index = self.index(row, column);
            self.cells[index] = Cell::Of(tetromino);
        }
    }

    /// Removes rows; what lies above each of them moves down by one. They are in ascending order.
    pub(super) fn remove_rows(&mut self, rows: &[u8]) {
        for &row in rows.iter().rev() {
            self.cells.drain(self.index(row, 0)..self.index(row + 1, 0));
        }
        let len = usize::from(self.width) * usize::from(self.height);
        self.cells.resize(len, Cell::Empty);
    }
}
