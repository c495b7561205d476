//! The keypress action model: a tetromino that falls while keys move it.
//!
//! One step is one key. The key has no effect if the tetromino would leave the playfield or overlap full cells. Then
//! the tetromino falls by one row, if it can. If it cannot fall any further, it comes to rest in the same step, so
//! there is no time to push it under an overhang. A drop falls as far as possible and rests.
//!
//! Tetrominoes turn about their anchor, which stays in its cell: there are no wall kicks, and a turned O covers other
//! cells. A falling tetromino is a plain value of four bytes; [`PlayfieldOf::lock`](super::PlayfieldOf::lock) handles
//! one that rests.
//!
//! [`FallingPiece::key_towards`] leads a player that chooses placements to its choice: first turns, where the walls
//! leave room for them, then moves sideways, then the drop. It may not get there: every key costs a row, and a high
//! stack may be in the way.

use super::column::Column;
use super::key::Key;
use super::placement::Placement;
use super::playfield::PlayfieldOf;
use super::shape::{PieceCells, Shape};
use super::tetromino::{POSES, Tetromino};

/// The columns to the right and the quarter turns of each key. A table, because the processor cannot predict the next
/// key. The extra keys of modern Tetris have no effect here.
const MOVES: [(i8, u8); Key::ALL.len()] = {
    let mut moves = [(0, 0); Key::ALL.len()];
    moves[Key::Left as usize] = (-1, 0);
    moves[Key::Right as usize] = (1, 0);
    moves[Key::TurnLeft as usize] = (0, 3);
    moves[Key::TurnRight as usize] = (0, 1);
    moves
};

/// A tetromino on its way down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FallingPiece {
    pub tetromino: Tetromino,
    /// Quarter turns clockwise since it was created, 0..=3.
    pub turns: u8,
    /// Column of the anchor cell.
    pub column: u8,
    /// Row of the anchor cell.
    pub row: u8,
}

/// The state of a tetromino after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fall {
    pub piece: FallingPiece,
    /// Whether the tetromino has come to rest.
    pub rests: bool,
}

impl FallingPiece {
    /// A tetromino as it appears: its anchor is in column floor(width / 2) of the top row.
    pub fn spawn(tetromino: Tetromino, width: u8, height: u8) -> FallingPiece {
        FallingPiece { tetromino, turns: 0, column: width / 2, row: height - 1 }
    }

    /// The shape of the piece in its current orientation.
    #[inline]
    pub fn shape(&self) -> &'static Shape {
        &POSES[self.tetromino.index()][usize::from(self.turns)]
    }

    /// The row and column of the lower left corner of the piece's bounding box.
    ///
    /// # Panics
    /// When the piece sticks out on the left or below, which no [free](FallingPiece::is_free) piece does.
    #[inline]
    pub fn corner(&self) -> (u8, u8) {
        let shape = self.shape();
        (self.row - shape.anchor_row, self.column - shape.anchor_column)
    }

    /// The row and column of each of the four cells, sorted by row, then by column. Rows may be above the playfield.
    ///
    /// # Panics
    /// When the piece sticks out on the left or below, which no [free](FallingPiece::is_free) piece does.
    pub fn cells(&self) -> PieceCells {
        let (bottom, left) = self.corner();
        self.shape().cells_at(bottom, left)
    }

    /// Whether the piece is between the walls and above the floor, with its anchor below the height, and overlaps no
    /// full cell.
    #[inline]
    pub fn is_free<C: Column, const N: usize>(&self, playfield: &PlayfieldOf<C, N>) -> bool {
        let shape = self.shape();
        let (row, column) =
            (self.row.wrapping_sub(shape.anchor_row), self.column.wrapping_sub(shape.anchor_column));
        // A coordinate that is negative has wrapped around to a value out of range.
        self.row < playfield.height()
            && row <= self.row
            && column <= playfield.width() - shape.width
            && playfield.is_free_in_four(shape, row, column)
    }

    /// Whether the piece cannot fall any further.
    ///
    /// # Panics
    /// When the piece sticks out on the left or below, which no [free](FallingPiece::is_free) piece does.
    #[inline]
    pub(crate) fn rests_on<C: Column, const N: usize>(&self, playfield: &PlayfieldOf<C, N>) -> bool {
        let (row, column) = self.corner();
        playfield.resting_row(self.shape(), row, column) == row
    }

    /// Plays one step: first the key, then the fall.
    ///
    /// ```
    /// use tetrion_core::engine::{FallingPiece, Key, Playfield, Tetromino};
    ///
    /// let playfield = Playfield::empty(6, 8);
    /// let fall = FallingPiece::spawn(Tetromino::O, 6, 8).step(Key::HardDrop, &playfield);
    /// assert!(fall.rests);
    /// assert_eq!(fall.piece.cells().first().map(|&(row, _)| row), Some(0));
    /// ```
    ///
    /// # Panics
    /// When the tetromino is not [free](FallingPiece::is_free). It is free again after the step.
    #[inline]
    pub fn step<C: Column, const N: usize>(self, key: Key, playfield: &PlayfieldOf<C, N>) -> Fall {
        let (columns, turns) = MOVES[key as usize];
        let moved = FallingPiece {
            turns: (self.turns + turns) % 4,
            column: self.column.wrapping_add_signed(columns),
            ..self
        };
        let mut piece = if moved.is_free(playfield) { moved } else { self };
        let (row, column) = piece.corner();
        let depth = row - playfield.resting_row(piece.shape(), row, column);
        let fallen = if key == Key::HardDrop { depth } else { depth.min(1) };
        piece.row -= fallen;
        Fall { piece, rests: fallen == depth }
    }

    /// The next key on the way to a placement, whose orientation is numbered as in the lab: first turns, by the shorter
    /// way, and half turns by the left; then moves towards the column; then the drop.
    ///
    /// If a wall leaves no room for a turn, a move makes room first. A tetromino that has just appeared needs this only
    /// on playfields of fewer than seven columns, but other keys can move it to a wall at any width. The method ignores
    /// the cells of the playfield: a blocked key has no effect, and the tetromino falls by a row.
    ///
    /// # Panics
    /// When the tetromino has no such orientation.
    pub(super) fn key_towards(&self, target: Placement, width: u8) -> Key {
        // The lab numbers its orientations as created, right, left, half; turns count to the right.
        let target_turns = [0, 1, 3, 2][usize::from(target.orientation)];
        let turn = match (target_turns + 4 - self.turns) % 4 {
            0 => {
                let anchor = POSES[self.tetromino.index()][usize::from(target_turns)].anchor_column;
                return match self.column.cmp(&(target.column + anchor)) {
                    std::cmp::Ordering::Greater => Key::Left,
                    std::cmp::Ordering::Less => Key::Right,
                    std::cmp::Ordering::Equal => Key::HardDrop,
                };
            }
            1 => Key::TurnRight,
            _ => Key::TurnLeft,
        };
        let turns = if turn == Key::TurnRight { self.turns + 1 } else { self.turns + 3 } % 4;
        let turned = FallingPiece { turns, ..*self }.shape();
        if self.column < turned.anchor_column {
            Key::Right
        } else if self.column - turned.anchor_column + turned.width > width {
            Key::Left
        } else {
            turn
        }
    }
}
