//! A piece: its number within the game's set of pieces.
//!
//! The set gives a number its shapes and its letter: see [`Rules::shapes`](super::Rules::shapes).
//! [`Tetromino`](super::Tetromino) is another name for a piece, for code about the seven tetrominoes, whose numbers
//! have named constants.

use std::num::NonZeroU8;

/// A piece, by its number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Piece(
    /// The number plus one, so that an `Option<Piece>` has the same size.
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

    /// Index of the piece in its set, from 0.
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
