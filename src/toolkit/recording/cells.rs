//! A playfield whose cells know their origin.

use tetrion_core::engine::{Piece, PieceCells, Playfield};

/// The row and column of each cell of a piece, sorted by row, then by column. Rows may be above the playfield.
pub type SceneCells = PieceCells;

/// The content of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    #[default]
    Empty,
    /// A cell of a landed piece.
    Of(Piece),
    /// A cell of the start position or of garbage. No piece left it there.
    Given,
}

/// The cells of a playfield.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    width: u8,
    height: u8,
    /// The cells row by row, the lowest row first, each row from the left.
    cells: Vec<Cell>,
}

impl Cells {
    /// The cells of a position.
    pub fn given(playfield: &Playfield) -> Cells {
        let (width, height) = (playfield.width(), playfield.height());
        let cell = |row, column| if playfield.is_full(row, column) { Cell::Given } else { Cell::Empty };
        let row = |row| (0..width).map(move |column| cell(row, column));
        Cells { width, height, cells: (0..height).flat_map(row).collect() }
    }

    /// A playfield of this size with these cells, row by row, the lowest row first, each row from the left.
    ///
    /// # Panics
    /// When the number of cells does not match the size.
    pub fn new(width: u8, height: u8, cells: Vec<Cell>) -> Cells {
        assert_eq!(cells.len(), usize::from(width) * usize::from(height), "{width} x {height}");
        Cells { width, height, cells }
    }

    /// Number of columns of the playfield.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// Number of rows of the playfield, including rows above the visible field.
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

    /// Fills the cells of a landed piece, then removes the rows in `cleared_rows`.
    pub fn land(&mut self, piece: Piece, landed: &SceneCells, cleared_rows: u64) {
        landed.iter().for_each(|&cell| self.fill(cell, piece));
        for row in (0..self.height).rev().filter(|row| cleared_rows >> row & 1 == 1) {
            let (start, end) = (self.index(row, 0), self.index(row + 1, 0));
            self.cells.copy_within(end.., start);
            let top = self.index(self.height - 1, 0);
            self.cells[top..].fill(Cell::Empty);
        }
    }

    /// Moves all cells up by the number of risen rows, and copies the lowest rows of `playfield`.
    pub fn rise(&mut self, playfield: &Playfield, rows: u8) {
        let rows = rows.min(self.height);
        let risen = self.index(rows, 0);
        let stays = self.cells.len() - risen;
        self.cells.copy_within(..stays, risen);
        let width = usize::from(self.width);
        for (index, cell) in self.cells[..risen].iter_mut().enumerate() {
            let (row, column) = (index / width, index % width);
            let is_full = playfield.is_full(row as u8, column as u8);
            *cell = if is_full { Cell::Given } else { Cell::Empty };
        }
    }

    /// Makes the full cells equal to the full cells of a playfield of this size. Cells that stay full keep their
    /// origin; newly filled cells have no known origin.
    pub fn agree(&mut self, playfield: &Playfield) {
        for row in 0..self.height {
            for column in 0..self.width {
                let index = self.index(row, column);
                match (playfield.is_full(row, column), self.cells[index]) {
                    (false, _) => self.cells[index] = Cell::Empty,
                    (true, Cell::Empty) => self.cells[index] = Cell::Given,
                    (true, Cell::Of(_) | Cell::Given) => {}
                }
            }
        }
    }

    /// Fills a cell of a landed piece. Cells above the top are cut off.
    fn fill(&mut self, (row, column): (u8, u8), piece: Piece) {
        if row < self.height {
            let index = self.index(row, column);
            self.cells[index] = Cell::Of(piece);
        }
    }
}

/// The cells of a landed piece that remain in a playfield of this height after these rows have been cleared.
pub fn remaining(landed: &SceneCells, cleared_rows: u64, height: u8) -> Vec<(u8, u8)> {
    let stays = |(row, _): &(u8, u8)| *row < height && cleared_rows >> row & 1 == 0;
    let below = |row: u8| (cleared_rows & ((1 << row) - 1)).count_ones() as u8;
    landed.iter().copied().filter(stays).map(|(row, column)| (row - below(row), column)).collect()
}

/// The cells of a landed piece after `rows` rows have risen from below.
pub fn risen(cells: &[(u8, u8)], rows: u8, height: u8) -> Vec<(u8, u8)> {
    let cells = cells.iter().map(|&(row, column)| (row + rows, column));
    cells.filter(|(row, _)| *row < height).collect()
}
