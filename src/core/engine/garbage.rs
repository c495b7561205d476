//! Garbage: rows that rise from below, full except for one cell.
//!
//! This file deals garbage: the number of lines per piece and the columns of their holes. [`incoming`](super::incoming)
//! handles the lines in a game.
//!
//! All chance comes from the episode's seed, in separate streams, so a seed deals the same pieces with and without
//! garbage. With x the seed, l the mean number of lines per piece, p the chance that a hole moves and w the width:
//!
//! * An event with chance c happens for a word if `word >> 11` is below c * 2^53, rounded down. Both c and 2^53 are
//!   exact in a double.
//! * Piece n, from 0, brings l lines, rounded down. With the fraction of l as its chance, `word(x, Garbage, n)` brings
//!   one more line.
//! * Row 0 is the first row that rises in an episode. Its hole is in column `below(word(x, Hole, 1), w)`. The hole of
//!   row m is in the column of row m - 1; or, with chance p for `word(x, Hole, 2m)`,
//!   `1 + below(word(x, Hole, 2m + 1), w - 1)` columns further to the right, wrapping around at the right wall.
//!
//! An explicit piece sequence has no seed; it uses the garbage of seed 0.

use super::rng::{Tag, below, word};

/// The garbage settings of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Garbage {
    /// Mean number of lines dealt per piece: above 0, at most [`Garbage::MAX_LINES`].
    pub lines_per_piece: f64,
    /// The chance that a row's hole is in a different column than the previous row's hole.
    pub hole_move_chance: f64,
    /// Number of further pieces that land before dealt lines may rise, at most [`Garbage::MAX_DELAY`]. With 0, lines
    /// may rise with the next piece.
    pub delay_pieces: u8,
}

impl Garbage {
    /// The largest mean number of lines dealt per piece.
    pub const MAX_LINES: f64 = 4.0;
    /// The largest [`Garbage::delay_pieces`] that rules allow.
    pub const MAX_DELAY: u8 = 7;
    /// The expected value of the other garbage fields without garbage, in words.
    pub(crate) const NONE: &str = "none: there is garbage only where garbage.lines_per_piece is more than 0";

    /// The default settings: a line every other piece, and holes that move as in Botris.
    pub const DEFAULT: Garbage = Garbage { lines_per_piece: 0.5, hole_move_chance: 0.05, delay_pieces: 1 };

    /// The number of lines that a piece brings; pieces count from 0.
    pub(super) fn lines(self, seed: u64, piece: u64) -> u8 {
        let whole = self.lines_per_piece.floor();
        let is_more = happens(self.lines_per_piece - whole, word(seed, Tag::Garbage, piece));
        whole as u8 + u8::from(is_more)
    }

    /// The column of the hole in row `row` of an episode. `before` is the column of the previous row's hole; `None` for
    /// the first row.
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

/// Whether an event with this chance happens for a word. The products are exact, so rounding cannot change the result.
fn happens(chance: f64, word: u64) -> bool {
    word >> 11 < (chance * (1u64 << 53) as f64) as u64
}
