//! A piece: its number within the set of pieces that a game is played with.
//!
//! The set says which shapes a number has, and which letter: see [`Rules::shapes`](super::Rules::shapes).
//! [`Tetromino`](super::Tetromino) is another name for a piece, in code that is about the seven tetrominoes, whose numbers have
//! names of their own.

use std::num::NonZeroU8;

/// A piece, by its number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Piece(
    /// One more than the number, so that an `Option` of a piece takes no more room.
    NonZeroU8,
);

impl Piece {
    /// The piece with this number.
    ///
    /// # Panics
    /// For 255, which no set of pieces has.
    #[inline]
    pub const fn new(number: u8) -> Piece {
        match NonZeroU8::new(number.wrapping_add(1)) {
            Some(one_more) => Piece(one_more),
            None => panic!("no set has so many pieces"),
        }
    }

    /// Number of the piece.
    #[inline(always)]
    pub const fn number(self) -> u8 {
        self.0.get() - 1
    }

    /// Number of the piece, as an index.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.number() as usize
    }
}
