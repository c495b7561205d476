//! The keypress action model: a tetromino that falls while keys move it.
//!
//! A step is one key. It is applied, unless the tetromino would leave the playfield or overlap it, in which case nothing
//! happens; then the tetromino falls by one row, if it can. One that cannot fall any further has come to rest, in the same
//! step: there is no time to push it under something. A drop falls as far as it can and rests.
//!
//! Tetrominoes turn about their anchor, which stays in its cell: no wall kicks, and an O that is turned is elsewhere. A
//! falling tetromino is a plain value of four bytes; what becomes of one that rests is up to
//! [`PlayfieldOf::lock`](super::PlayfieldOf::lock).
//!
//! [`FallingPiece::key_towards`] leads a player that thinks in placements to one of them: turns first, where the walls leave
//! room for them, then steps sideways, then the drop. It may fail to get there: every key costs a row, and what stands high
//! may be in the way.

use super::column::Column;
use super::key::Key;
use super::placement::Placement;
use super::playfield::PlayfieldOf;
use super::shape::{PieceCells, Shape};
use super::tetromino::{POSES, Tetromino};

/// By key, the columns it moves a tetromino to the right and the quarter turns it gives it: looked up, because the processor
/// cannot predict the next key. The keys of modern Tetris do nothing here.
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
    /// Which.
    pub tetromino: Tetromino,
    /// Quarter turns clockwise since it was created, 0..=3.
    pub turns: u8,
    /// Column of the anchor cell.
    pub column: u8,
    /// Row of the anchor cell.
    pub row: u8,
}

/// Where a step has left a tetromino.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fall {
    /// The tetromino.
    pub piece: FallingPiece,
    /// Whether it has come to rest.
    pub rests: bool,
}

impl FallingPiece {
    /// A tetromino as it appears: its anchor in the column floor(width / 2) of the top row.
    pub fn spawn(tetromino: Tetromino, width: u8, height: u8) -> FallingPiece {
        FallingPiece { tetromino, turns: 0, column: width / 2, row: height - 1 }
    }

    /// Shape of the piece in its current orientation.
    #[inline]
    pub fn shape(&self) -> &'static Shape {
        &POSES[self.tetromino.index()][usize::from(self.turns)]
    }

    /// The row and the column of the lower left corner of its bounding box.
    ///
    /// # Panics
    /// When it sticks out on the left or below, which no [free](FallingPiece::is_free) piece does.
    #[inline]
    pub fn corner(&self) -> (u8, u8) {
        let shape = self.shape();
        (self.row - shape.anchor_row, self.column - shape.anchor_column)
    }

    /// The row and the column of its four cells, by row, then by column. Rows may be above the playfield.
    ///
    /// # Panics
    /// As [`FallingPiece::corner`].
    pub fn cells(&self) -> PieceCells {
        let (bottom, left) = self.corner();
        self.shape().cells_at(bottom, left)
    }

    /// Whether it is between the walls, above the floor, with its anchor below the height, and overlaps nothing.
    #[inline]
    pub fn is_free<C: Column, const N: usize>(&self, playfield: &PlayfieldOf<C, N>) -> bool {
        let shape = self.shape();
        let (row, column) =
            (self.row.wrapping_sub(shape.anchor_row), self.column.wrapping_sub(shape.anchor_column));
        // What sticks out on the left or below has wrapped around to where it is out of range.
        self.row < playfield.height()
            && row <= self.row
            && column <= playfield.width() - shape.width
            && playfield.is_free_in_four(shape, row, column)
    }

    /// Whether it cannot fall any further.
    ///
    /// # Panics
    /// As [`FallingPiece::corner`].
    #[inline]
    pub fn rests_on<C: Column, const N: usize>(&self, playfield: &PlayfieldOf<C, N>) -> bool {
        let (row, column) = self.corner();
        playfield.resting_row(self.shape(), row, column) == row
    }

    /// One step: the key, then the fall.
    ///
    /// # Panics
    /// When the tetromino is not [free](FallingPiece::is_free) to begin with; it is again afterwards.
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

    /// The key to press on the way to a placement, which is counted in the lab's orientations: a turn as long as one is
    /// missing, by the shorter way and half a turn to the left; then a step towards the column; then the drop.
    ///
    /// A turn for which a wall leaves no room waits until a step has made some. A tetromino meets that where it appears in
    /// playfields of fewer than seven columns only, and at any width once other keys have moved it to a wall. The cells of
    /// the playfield are ignored: a key that they block does nothing, and the tetromino falls by a row.
    ///
    /// # Panics
    /// When the tetromino has no such orientation.
    pub fn key_towards(&self, target: Placement, width: u8) -> Key {
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
