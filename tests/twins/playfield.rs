//! Cells, falling and clearing.

use std::fmt;

use super::tetromino::{Shape, orientations};

/// A playfield: `rows[0]` is the lowest row, `rows[r][0]` its leftmost cell.
#[derive(Clone, PartialEq, Eq)]
pub struct TwinPlayfield {
    /// One `Vec` a row, all of the same length; `true` is full.
    pub rows: Vec<Vec<bool>>,
}

/// The action: which orientation, and the column of its leftmost cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwinPlacement {
    /// A letter of `TETROMINOES`.
    pub tetromino: char,
    /// An index into `orientations(tetromino)`.
    pub orientation: usize,
    /// The column of the leftmost cell.
    pub column: usize,
}

/// A placement's landing: where the piece comes to rest, and the playfields before and after clearing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwinLanding {
    /// A letter of `TETROMINOES`.
    pub tetromino: char,
    /// What the landing counts as: 0 for a drop, 1 for a mini, 2 for a full spin. What is dropped is no spin; a test may say
    /// otherwise.
    pub spin: usize,
    /// The row of the tetromino's lowest cell when it came to rest.
    pub row: usize,
    /// The four landed cells as (row, column); rows may lie at or above the height.
    pub cells: Vec<(usize, usize)>,
    /// The row of the cell that the lab notebook turns the tetromino around.
    pub anchor_row: usize,
    /// The playfield with the tetromino locked, full rows still there.
    pub preclear: TwinPlayfield,
    /// The playfield after lock and clear. When the game ended, nothing is cleared.
    pub afterstate: TwinPlayfield,
    /// Rows cleared, 0 when the game ended.
    pub lines: usize,
    /// The tetromino's cells in the cleared rows, 0 when the game ended.
    pub cells_cleared: usize,
    /// Whether a landed cell lies at row >= height: the game is over.
    pub terminal: bool,
}

impl TwinPlayfield {
    /// A playfield without a full cell.
    pub fn empty(width: usize, height: usize) -> TwinPlayfield {
        assert!((4..=32).contains(&width) && (4..=40).contains(&height), "no size {width} x {height}");
        TwinPlayfield { rows: vec![vec![false; width]; height] }
    }

    /// Reads a drawing: top row first, rows separated by `/` or line ends, `.` or a blank is empty and
    /// anything else full. The lowest row of the drawing is the floor row of a playfield `height`
    /// rows high; what is not drawn is empty.
    pub fn drawn(drawing: &str, height: usize) -> TwinPlayfield {
        let drawn_rows: Vec<&str> = drawing.split(['/', '\n']).collect();
        let mut playfield = TwinPlayfield::empty(drawn_rows[0].chars().count(), height);
        assert!(drawn_rows.len() <= height, "{} rows drawn, height {height}", drawn_rows.len());
        for (row, drawn_row) in drawn_rows.iter().rev().enumerate() {
            assert_eq!(drawn_row.chars().count(), playfield.width(), "rows of one length in {drawing}");
            for (column, letter) in drawn_row.chars().enumerate() {
                playfield.rows[row][column] = letter != '.' && letter != ' ';
            }
        }
        playfield
    }

    pub fn width(&self) -> usize {
        self.rows[0].len()
    }

    pub fn height(&self) -> usize {
        self.rows.len()
    }

    /// Whether the cell is full. Above the height there are no full cells.
    pub fn is_full(&self, row: usize, column: usize) -> bool {
        row < self.height() && self.rows[row][column]
    }

    /// The cells of a column from the floor up.
    pub fn column(&self, column: usize) -> Vec<bool> {
        self.rows.iter().map(|row| row[column]).collect()
    }

    /// The rows whose every cell is full, lowest first.
    pub fn full_rows(&self) -> Vec<usize> {
        (0..self.height()).filter(|&row| self.rows[row].iter().all(|&full| full)).collect()
    }

    /// Takes full rows out one at a time; each time the rows above come down by one.
    fn clear_full_rows(&mut self) {
        while let Some(&row) = self.full_rows().first() {
            let width = self.width();
            self.rows.remove(row);
            self.rows.push(vec![false; width]);
        }
    }
}

impl TwinPlacement {
    pub fn shape(&self) -> Shape {
        orientations(self.tetromino).swap_remove(self.orientation)
    }

    /// The number of this placement on a playfield of that width.
    pub fn action(&self, width: usize) -> usize {
        self.orientation * width + self.column
    }
}

/// Every distinct placement of a tetromino in ascending action order. The playfield's cells do not
/// matter: a tetromino may be played in any column it fits into, and what does not fit below the
/// top ends the game.
pub fn placements(playfield: &TwinPlayfield, tetromino: char) -> Vec<TwinPlacement> {
    let mut found = Vec::new();
    for (orientation, shape) in orientations(tetromino).iter().enumerate() {
        for column in 0..playfield.width() {
            if column + shape.width <= playfield.width() {
                found.push(TwinPlacement { tetromino, orientation, column });
            }
        }
    }
    found
}

/// Lets a tetromino fall from above the wall until a full cell or the floor stops it, and locks it.
pub fn land(before: &TwinPlayfield, placement: &TwinPlacement) -> TwinLanding {
    let shape = placement.shape();
    let cells_at = |bottom: usize| -> Vec<(usize, usize)> {
        shape.cells.iter().map(|&(row, column)| (bottom + row, placement.column + column)).collect()
    };

    let mut bottom = before.height();
    while bottom > 0 && cells_at(bottom - 1).iter().all(|&(row, column)| !before.is_full(row, column)) {
        bottom -= 1;
    }

    let cells = cells_at(bottom);
    let mut preclear = before.clone();
    let mut terminal = false;
    for &(row, column) in &cells {
        if row < before.height() {
            preclear.rows[row][column] = true;
        } else {
            terminal = true;
        }
    }

    let full_rows = if terminal { Vec::new() } else { preclear.full_rows() };
    let cells_cleared = cells.iter().filter(|(row, _)| full_rows.contains(row)).count();
    let mut afterstate = preclear.clone();
    if !terminal {
        afterstate.clear_full_rows();
    }
    let anchor_row = bottom + shape.lab_anchor().0;
    TwinLanding {
        tetromino: placement.tetromino,
        spin: 0,
        row: bottom,
        cells,
        anchor_row,
        preclear,
        afterstate,
        lines: full_rows.len(),
        cells_cleared,
        terminal,
    }
}

/// Top row first, `#` and `.`, as `drawn` reads it.
impl fmt::Display for TwinPlayfield {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self
            .rows
            .iter()
            .rev()
            .map(|row| row.iter().map(|&full| if full { '#' } else { '.' }).collect())
            .collect();
        f.write_str(&lines.join("\n"))
    }
}

/// A failed comparison shows two drawings.
impl fmt::Debug for TwinPlayfield {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}\n")
    }
}
