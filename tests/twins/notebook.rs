//! The course notebook's game: a board of rows counted from the top, tetrominoes as offsets from an anchor, and keys.
//!
//! Here x is a column and y a row, downwards from the top row 0; above the top it is negative. (The notebook calls our S Z
//! and our Z S.)

use super::playfield::{TwinLanding, TwinPlayfield};

/// The notebook's tetrominoes as they are created: offsets (x, y) from the anchor.
const CREATED: [(char, [(i32, i32); 4]); 7] = [
    ('I', [(0, 0), (0, -1), (0, -2), (0, -3)]),
    ('O', [(0, 0), (-1, 0), (-1, -1), (0, -1)]),
    ('T', [(0, 0), (-1, 0), (1, 0), (0, -1)]),
    ('Z', [(0, 0), (1, 0), (0, -1), (-1, -1)]),
    ('S', [(0, 0), (-1, 0), (0, -1), (1, -1)]),
    ('J', [(0, 0), (-1, 0), (0, -1), (0, -2)]),
    ('L', [(0, 0), (1, 0), (0, -1), (0, -2)]),
];

/// A tetromino over, or on, a board.
#[derive(Clone, Debug, PartialEq)]
pub struct NotebookPiece {
    pub tetromino: char,
    pub x: i32,
    pub y: i32,
    pub offsets: [(i32, i32); 4],
}

impl NotebookPiece {
    /// A tetromino with its anchor at a column and a row.
    pub fn created(tetromino: char, x: i32, y: i32) -> NotebookPiece {
        let offsets = CREATED.iter().find(|(created, _)| *created == tetromino).expect("one of seven").1;
        NotebookPiece { tetromino, x, y, offsets }
    }

    pub fn rotated_left(mut self) -> NotebookPiece {
        self.offsets = self.offsets.map(|(x, y)| (y, -x));
        self
    }

    pub fn rotated_right(mut self) -> NotebookPiece {
        self.offsets = self.offsets.map(|(x, y)| (-y, x));
        self
    }

    pub fn moved(mut self, x: i32, y: i32) -> NotebookPiece {
        self.x += x;
        self.y += y;
        self
    }

    pub fn cells(&self) -> [(i32, i32); 4] {
        self.offsets.map(|(x, y)| (self.x + x, self.y + y))
    }

    /// What the notebook's agent does next on the way to a landed tetromino: turns as long as the offsets differ, half
    /// turns to the left, then steps, then the drop.
    ///
    /// Boards so narrow that a wall is in the way of a turn are not the notebook's; there is no answer for them.
    pub fn key_towards(&self, target: &NotebookPiece) -> usize {
        let turned = |turns: usize, turn: fn(NotebookPiece) -> NotebookPiece| {
            (0..turns).fold(self.clone(), |piece, _| turn(piece)).offsets == target.offsets
        };
        if turned(0, NotebookPiece::rotated_left) {
            match (target.x - self.x).signum() {
                -1 => 1,
                1 => 2,
                _ => 5,
            }
        } else if turned(1, NotebookPiece::rotated_left) || turned(2, NotebookPiece::rotated_left) {
            3
        } else {
            4
        }
    }
}

/// A playfield as the notebook's board: `rows[0]` is the top row.
#[derive(Clone, Debug, PartialEq)]
pub struct NotebookBoard {
    pub rows: Vec<Vec<bool>>,
}

impl NotebookBoard {
    pub fn of(playfield: &TwinPlayfield) -> NotebookBoard {
        NotebookBoard { rows: playfield.rows.iter().rev().cloned().collect() }
    }

    pub fn playfield(&self) -> TwinPlayfield {
        TwinPlayfield { rows: self.rows.iter().rev().cloned().collect() }
    }

    pub fn width(&self) -> i32 {
        self.rows[0].len() as i32
    }

    pub fn height(&self) -> i32 {
        self.rows.len() as i32
    }

    /// A tetromino as it comes into play.
    pub fn spawn(&self, tetromino: char) -> NotebookPiece {
        NotebookPiece::created(tetromino, self.width() / 2, 0)
    }

    pub fn can_place(&self, piece: &NotebookPiece) -> bool {
        piece.cells().iter().all(|&(x, y)| {
            (0..self.width()).contains(&x)
                && y < self.height()
                && (y < 0 || !self.rows[y as usize][x as usize])
        })
    }

    pub fn can_fall(&self, piece: &NotebookPiece) -> bool {
        self.can_place(&piece.clone().moved(0, 1))
    }

    pub fn fallen(&self, mut piece: NotebookPiece) -> NotebookPiece {
        while self.can_fall(&piece) {
            piece = piece.moved(0, 1);
        }
        piece
    }

    /// One key, and one row of falling: 0 idle, 1 left, 2 right, 3 rotate left, 4 rotate right, 5 drop.
    ///
    /// Returns the tetromino, and whether it has come to rest.
    pub fn press(&self, key: usize, piece: NotebookPiece) -> (NotebookPiece, bool) {
        let wanted = match key {
            1 => piece.clone().moved(-1, 0),
            2 => piece.clone().moved(1, 0),
            3 => piece.clone().rotated_left(),
            4 => piece.clone().rotated_right(),
            _ => piece.clone(),
        };
        let mut piece = if self.can_place(&wanted) { wanted } else { piece };
        if key == 5 {
            piece = self.fallen(piece);
        } else if self.can_fall(&piece) {
            piece = piece.moved(0, 1);
        }
        let rests = !self.can_fall(&piece);
        (piece, rests)
    }

    /// Fills cells; those above the top are lost.
    pub fn add(&mut self, piece: &NotebookPiece) {
        for (x, y) in piece.cells() {
            if y >= 0 {
                self.rows[y as usize][x as usize] = true;
            }
        }
    }

    /// Returns how many rows were full.
    pub fn clear(&mut self) -> usize {
        let height = self.rows.len();
        self.rows.retain(|row| row.iter().any(|full| !full));
        let lines = height - self.rows.len();
        for _ in 0..lines {
            self.rows.insert(0, vec![false; self.width() as usize]);
        }
        lines
    }

    /// Locks a tetromino that has come to rest, under the rule that ends games with this name: `overflow`, `top_row`,
    /// `above_field` or `spawn_blocked`, of which the last has nothing to say about a landing.
    pub fn land(&self, piece: &NotebookPiece, top_out: &str) -> TwinLanding {
        let mut board = self.clone();
        board.add(piece);
        let preclear = board.playfield();
        let overflows = top_out == "overflow" && piece.cells().iter().any(|&(_, y)| y < 0);
        let full = |y: i32| y >= 0 && board.rows[y as usize].iter().all(|full| *full);
        let cells_cleared = piece.cells().iter().filter(|&&(_, y)| !overflows && full(y)).count();
        let lines = if overflows { 0 } else { board.clear() };
        let terminal = match top_out {
            "overflow" => overflows,
            "top_row" => board.rows[0].contains(&true),
            "above_field" => board.rows[2].contains(&true),
            "spawn_blocked" => false,
            other => panic!("no rule is called {other}"),
        };
        let from_below = |y: i32| (self.height() - 1 - y) as usize;
        let cells: Vec<(usize, usize)> =
            piece.cells().iter().map(|&(x, y)| (from_below(y), x as usize)).collect();
        let row = cells.iter().map(|&(row, _)| row).min().expect("four cells");
        let anchor_row = from_below(piece.y);
        TwinLanding {
            tetromino: piece.tetromino,
            spin: 0,
            row,
            cells,
            anchor_row,
            preclear,
            afterstate: board.playfield(),
            lines,
            cells_cleared,
            terminal,
        }
    }

    /// The notebook's walk: from the middle of the top row, one column at a time, to an anchor column. Where the board is so
    /// narrow that the tetromino does not fit there, it starts at the wall.
    fn walk(&self, mut piece: NotebookPiece, column: i32) -> Option<NotebookPiece> {
        let most_right = piece.offsets.iter().map(|&(x, _)| x).max().expect("four offsets");
        piece.x = piece.x.min(self.width() - 1 - most_right);
        if !self.can_place(&piece) {
            return None;
        }
        while piece.x != column {
            let step = (column - piece.x).signum();
            piece = piece.moved(step, 0);
            if !self.can_place(&piece) {
                return None;
            }
        }
        Some(self.fallen(piece))
    }

    /// Every placement in the order in which the notebook enumerates them: as created, turned right, left, by half; in each
    /// by the column of the anchor.
    pub fn next_moves(&self, tetromino: char) -> Vec<NotebookPiece> {
        let created = self.spawn(tetromino);
        let right = created.clone().rotated_right();
        let left = created.clone().rotated_left();
        let half = right.clone().rotated_right();
        let distinct = match tetromino {
            'O' => vec![created],
            'I' | 'S' | 'Z' => vec![created, right],
            _ => vec![created, right, left, half],
        };
        let columns = 0..self.width();
        distinct
            .into_iter()
            .flat_map(|piece| columns.clone().filter_map(move |column| self.walk(piece.clone(), column)))
            .collect()
    }
}
