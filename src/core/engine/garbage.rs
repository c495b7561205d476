//! Garbage: rows that rise from below, full except for one cell.
//!
//! This file has the settings, deals garbage in games without an opponent, and chooses the columns of holes.
//! [`incoming`](super::incoming) handles the lines in a game.
//!
//! All chance comes from the episode's seed, in separate streams, so a seed deals the same pieces with and without
//! garbage. With x the seed, l the mean number of lines per piece and w the width:
//!
//! * An event with chance c happens for a word if `word >> 11` is below c * 2^53, rounded down. Both c and 2^53 are
//!   exact in a double.
//! * Piece n, from 0, brings l lines, rounded down. With the fraction of l as its chance, `word(x, Garbage, n)` brings
//!   one more line.
//! * Holes may lie in the columns from m = `hole_margin` to w - 1 - m, c of them. A word k chooses the column
//!   `m + below(k, c)`; or, with `hole_other_column` after a hole in column h of these,
//!   `m + (h - m + 1 + below(k, c - 1)) mod c`.
//! * Row 0 is the first row that rises in an episode. Where no hole has been chosen, `word(x, Hole, 2n + 1)` chooses that
//!   of row n. Otherwise it moves with chance `hole_move_chance` for `word(x, Hole, 2n)`, and `word(x, Hole, 2n + 1)`
//!   chooses its column; but not if it has just changed.
//! * Lines that arrive together have a hole in common. When they are used up for the k-th time, from 0, the hole changes
//!   with chance `hole_change_chance` for `word(x, Hole, 2^63 + 2k)`, to the column that `word(x, Hole, 2^63 + 2k + 1)`
//!   chooses.
//! * With `holes_when_sent`, lines get their holes when they arrive, and n counts the lines that have arrived. The first
//!   line of an attack has a new hole, further ones have that of the line before or move it as above.
//!
//! An explicit piece sequence has no seed; it uses the garbage of seed 0. In a match, x is `word(e, Side, i)` for the
//! side i, 0 or 1, and the seed e of the episode.

use super::rng::{Tag, below, word};

/// The garbage settings of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Garbage {
    /// Mean number of lines dealt per piece in a game alone: above 0, at most [`Garbage::MAX_LINES`]. In a match the
    /// opponent's attack takes their place.
    pub lines_per_piece: f64,
    /// The chance that a row's hole is in a different column than the previous row's hole.
    pub hole_move_chance: f64,
    /// The chance that the hole changes once lines that arrived together are used up.
    pub hole_change_chance: f64,
    /// Whether a new hole is never in the column of the one before.
    pub hole_other_column: bool,
    /// Number of columns at each wall that have no holes.
    pub hole_margin: u8,
    /// Whether lines get their holes when they are sent, each attack a new one, instead of when they rise.
    pub holes_when_sent: bool,
    /// Number of further pieces that land before lines may rise, at most [`Garbage::MAX_DELAY`]. With 0, lines may rise
    /// with the next piece.
    pub delay_pieces: u8,
    /// Whether pieces that clear lines shorten no delay.
    pub delay_skips_clears: bool,
    /// Whether lines rise also after a piece that cleared lines.
    pub rises_after_clears: bool,
    /// Number of rows that may rise after a piece; 0 for no limit.
    pub rows_per_piece: u8,
    /// Number of lines that may wait, beyond which the newest are dropped; 0 for as many as the playfield has rows.
    pub most_waiting: u8,
    /// Number of a player's first pieces whose lines cancel doubly, as long as no fewer lines wait than were sent.
    pub opening_pieces: u8,
    /// Factor of lines sent at the start of a game.
    pub multiplier: f64,
    /// Growth of the factor per second.
    pub multiplier_growth: f64,
    /// Seconds after which the factor begins to grow.
    pub multiplier_after: u8,
    /// The largest factor.
    pub multiplier_most: f64,
    /// Time of a piece in sixtieths of a second, for the growth of the factor.
    pub frames_per_piece: u8,
    /// Whether lines that both sides of a match send in one turn destroy each other.
    pub meets_in_flight: bool,
}

/// The choice of holes for one side: the seed, or columns written down.
#[derive(Clone, Copy, Debug)]
pub struct Holes<'a> {
    /// The seed of the side's garbage.
    pub seed: u64,
    /// Columns of the first holes, in the order in which lines get them. The seed chooses the later ones.
    pub written: &'a [u8],
}

impl Garbage {
    /// The largest mean number of lines dealt per piece.
    pub const MAX_LINES: f64 = 4.0;
    /// The largest [`Garbage::delay_pieces`] that rules allow.
    pub const MAX_DELAY: u8 = 7;
    /// The expected value of the other garbage fields without garbage, in words.
    pub(crate) const NONE: &str = "none: there is garbage only where garbage.lines_per_piece is more than 0";

    /// The default settings: a line every other piece, and holes that move as in Botris.
    pub const DEFAULT: Garbage = Garbage {
        lines_per_piece: 0.5,
        hole_move_chance: 0.05,
        hole_change_chance: 0.0,
        hole_other_column: true,
        hole_margin: 0,
        holes_when_sent: false,
        delay_pieces: 1,
        delay_skips_clears: false,
        rises_after_clears: false,
        rows_per_piece: 0,
        most_waiting: 0,
        opening_pieces: 0,
        multiplier: 1.0,
        multiplier_growth: 0.0,
        multiplier_after: 0,
        multiplier_most: 100.0,
        frames_per_piece: 30,
        meets_in_flight: false,
    };

    /// The number of lines that may wait on a playfield with this many rows.
    pub fn most_waiting(&self, height: u8) -> u8 {
        if self.most_waiting == 0 { height } else { self.most_waiting }
    }

    /// The number of lines that a piece brings; pieces count from 0.
    pub(super) fn lines(&self, seed: u64, piece: u64) -> u8 {
        let whole = self.lines_per_piece.floor();
        let is_more = happens(self.lines_per_piece - whole, word(seed, Tag::Garbage, piece));
        whole as u8 + u8::from(is_more)
    }

    /// The factor of lines sent after one more piece, of which `piece` landed before.
    pub(super) fn grown(&self, multiplier: f64, piece: u64) -> f64 {
        if self.multiplier_growth == 0.0 {
            return multiplier;
        }
        let frames = u64::from(self.frames_per_piece);
        let (from, after) = (piece.saturating_mul(frames), u64::from(self.multiplier_after) * 60);
        let growing = frames - after.saturating_sub(from).min(frames);
        // One frame after another, as in the games that this follows: a product would round differently.
        let grown = (0..growing).fold(multiplier, |sum, _| sum + self.multiplier_growth / 60.0);
        grown.min(self.multiplier_most)
    }

    /// The column that a word chooses for a new hole.
    fn column(&self, word: u64, before: Option<u8>, width: u8) -> u8 {
        let columns = self.columns(width);
        let count = columns.end - columns.start;
        match before {
            Some(before) if self.hole_other_column && columns.contains(&before) && count > 1 => {
                let further = 1 + below(word, u64::from(count) - 1) as u8;
                columns.start + (before - columns.start + further) % count
            }
            _ => columns.start + below(word, count.into()) as u8,
        }
    }

    /// The columns in which holes may lie; without any, the margin is too wide.
    pub(super) fn columns(&self, width: u8) -> std::ops::Range<u8> {
        self.hole_margin..width.saturating_sub(self.hole_margin)
    }

    /// The column of the hole of line `line`. `before` is the column of the hole before; `is_new` says whether the line
    /// keeps it anyway.
    pub(super) fn hole(
        &self,
        holes: Holes<'_>,
        line: u64,
        (before, is_new): (Option<u8>, bool),
        width: u8,
    ) -> u8 {
        if let Some(&column) = holes.written.get(usize::try_from(line).unwrap_or(usize::MAX)) {
            return column;
        }
        let number = line.wrapping_mul(2);
        let moves = || happens(self.hole_move_chance, word(holes.seed, Tag::Hole, number));
        match before {
            Some(before) if is_new || !moves() => before,
            _ => self.column(word(holes.seed, Tag::Hole, number.wrapping_add(1)), before, width),
        }
    }

    /// The column of the hole once lines that arrived together are used up for the `time`-th time; `None` if it does not
    /// change.
    pub(super) fn changed_hole(
        &self,
        holes: Holes<'_>,
        time: u64,
        before: Option<u8>,
        width: u8,
    ) -> Option<u8> {
        let number = (1 << 63) | time.wrapping_mul(2);
        let changes = happens(self.hole_change_chance, word(holes.seed, Tag::Hole, number));
        changes.then(|| self.column(word(holes.seed, Tag::Hole, number + 1), before, width))
    }
}

/// Whether an event with this chance happens for a word. The products are exact, so rounding cannot change the result.
fn happens(chance: f64, word: u64) -> bool {
    word >> 11 < (chance * (1u64 << 53) as f64) as u64
}
