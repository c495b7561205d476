//! Garbage: rows that rise from below, full but for one cell.
//!
//! This file deals it: how many lines a piece brings, and where their holes are. What becomes of them in a game is in
//! [`incoming`](super::incoming).
//!
//! All chance comes from the seed of the episode, in streams of its own: the pieces of a seed are the same with garbage and
//! without. With x the seed, l the mean number of lines a piece, p the chance that a hole moves and w the width:
//!
//! * A chance c happens by a word if `word >> 11` is below c * 2^53, rounded down; both c and 2^53 are exact in a double.
//! * Piece n, from 0, brings l rounded down; and one line more by the chance of the fraction of l, with `word(x, Garbage, n)`.
//! * The hole of row 0 of an episode, the first one that rises, is in column `below(word(x, Hole, 1), w)`. That of row m is where
//!   the one of row m - 1 is; or, by chance p with `word(x, Hole, 2m)`, `1 + below(word(x, Hole, 2m + 1), w - 1)` columns
//!   further to the right, going on at the left wall behind the right one.
//!
//! An explicit piece sequence has no seed: its garbage is that of seed 0.

use super::rng::{Tag, below, word};

/// The garbage of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Garbage {
    /// Lines dealt a piece, on average: above 0, at most [`Garbage::MAX_LINES`].
    pub lines_per_piece: f64,
    /// The chance that the hole of a row is in another column than that of the row before.
    pub hole_move_chance: f64,
    /// How many pieces more land before dealt lines may rise, at most [`Garbage::MAX_DELAY`]: with 0 they may with the next piece.
    pub delay_pieces: u8,
}

impl Garbage {
    /// The most lines dealt a piece, on average.
    pub const MAX_LINES: f64 = 4.0;
    /// The longest delay.
    pub const MAX_DELAY: u8 = 7;
    /// What is expected of all but the lines where there are none, in words.
    pub const NONE: &str = "none: there is garbage only where garbage.lines_per_piece is more than 0";

    /// What rules have that say nothing else: a line every other piece, and holes that move as those of Botris.
    pub const DEFAULT: Garbage = Garbage { lines_per_piece: 0.5, hole_move_chance: 0.05, delay_pieces: 1 };

    /// The lines that a piece brings, from 0 on.
    pub(super) fn lines(self, seed: u64, piece: u64) -> u8 {
        let whole = self.lines_per_piece.floor();
        let is_more = happens(self.lines_per_piece - whole, word(seed, Tag::Garbage, piece));
        whole as u8 + u8::from(is_more)
    }

    /// The column of the hole of row `row` of an episode; `before` is that of the row before, if there was one.
    pub(super) fn hole(self, seed: u64, row: u64, before: Option<u8>, width: u8) -> u8 {
        let number = row.wrapping_mul(2);
        let place = word(seed, Tag::Hole, number.wrapping_add(1));
        let Some(before) = before else { return below(place, width.into()) as u8 };
        if happens(self.hole_move_chance, word(seed, Tag::Hole, number)) {
            (before + 1 + below(place, u64::from(width) - 1) as u8) % width
        } else {
            before
        }
    }
}

/// Whether something of this chance happens by a word. No rounding decides: the products are exact.
fn happens(chance: f64, word: u64) -> bool {
    word >> 11 < (chance * (1u64 << 53) as f64) as u64
}
