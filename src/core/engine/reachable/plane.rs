//! A set of cells of a playfield, one bit per cell, in a few machine words: columns side by side, upside down.
//!
//! A column takes `STRIDE` bits. The lowest row is the highest bit, so a piece falls towards higher bits, and one
//! addition carries it down a whole column until something is in the way: see [`Plane::fallen`]. A few bits at the
//! other end stay clear of pieces. They catch the bits that a shift moves out of a column at the top or bottom, so
//! moving a whole set by columns and rows is one shift of all bits as one number.
//!
//! This file knows no rules.

use super::super::column::Column;
use super::super::playfield::PlayfieldOf;

/// A set of cells, `STRIDE` bits per column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane<const WORDS: usize, const STRIDE: u32>(pub [u64; WORDS]);

impl<const WORDS: usize, const STRIDE: u32> Plane<WORDS, STRIDE> {
    pub(super) const EMPTY: Self = Plane([0; WORDS]);
    /// Whether a column may start in one word and end in the next. Such a plane has two words.
    const STRADDLES: bool = 64 % STRIDE != 0;
    const COLUMNS_PER_WORD: u32 = 64 / STRIDE;
    /// The highest row of every column in a word.
    const TOPS: u64 = u64::MAX / (u64::MAX >> (64 - STRIDE));
    /// The first bit of each column that fits into two words.
    const BOTH_TOPS: u128 = {
        assert!(!Self::STRADDLES || WORDS == 2);
        let (mut tops, mut column) = (0, 0);
        while (column + 1) * STRIDE <= 128 {
            tops |= 1 << (column * STRIDE);
            column += 1;
        }
        tops
    };

    /// A plane with equal bits in every column.
    #[inline(always)]
    fn columns(bits: u64) -> Self {
        if Self::STRADDLES {
            return Self::EMPTY.with_both(Self::BOTH_TOPS.wrapping_mul(bits.into()));
        }
        Plane([bits.wrapping_mul(Self::TOPS); WORDS])
    }

    /// The two words as one.
    #[inline(always)]
    fn both(&self) -> u128 {
        u128::from(self.0[1]) << 64 | u128::from(self.0[0])
    }

    #[inline(always)]
    fn with_both(mut self, both: u128) -> Self {
        self.0[0] = both as u64;
        self.0[1] = (both >> 64) as u64;
        self
    }

    /// The `count` highest rows of every column.
    #[inline(always)]
    pub(crate) fn top_rows(count: u32) -> Self {
        Self::columns((1 << count) - 1)
    }

    /// One row of every column; `row` must be below `STRIDE`.
    #[inline(always)]
    pub(super) fn row(row: u32) -> Self {
        Self::columns(1 << (STRIDE - 1 - row))
    }

    /// The empty cells of a playfield, for all rows that fit. Rows above the playfield are empty.
    #[inline(always)]
    pub(crate) fn empty_cells<C: Column, const N: usize>(playfield: &PlayfieldOf<C, N>) -> Self {
        let mut plane = Self::EMPTY;
        let mask = u64::MAX >> (64 - STRIDE);
        if Self::STRADDLES {
            let (mut both, columns) = (0, (128 / STRIDE).min(N as u32));
            for column in 0..columns {
                // At the other end, because the bits are reversed below.
                let cells = !playfield.words()[column as usize].to_u64() & mask;
                both |= u128::from(cells) << (128 - (column + 1) * STRIDE);
            }
            // Everything beyond the last column is full.
            let beside = u128::MAX.checked_shl(u32::from(playfield.width()) * STRIDE).unwrap_or(0);
            return plane.with_both(both.reverse_bits() & !beside);
        }
        for (column, cells) in playfield.columns().iter().enumerate() {
            // The columns of a word in reverse order, because reversing the bits also reverses the columns.
            let lane = Self::COLUMNS_PER_WORD - 1 - column as u32 % Self::COLUMNS_PER_WORD;
            plane.0[column / Self::COLUMNS_PER_WORD as usize] |= (!cells.to_u64() & mask) << (lane * STRIDE);
        }
        Plane(plane.0.map(u64::reverse_bits))
    }

    /// The set that contains only this cell.
    #[inline(always)]
    pub(super) fn cell(column: u32, row: u32) -> Self {
        let mut plane = Self::EMPTY;
        if Self::STRADDLES {
            return plane.with_both(1 << (column * STRIDE + STRIDE - 1 - row));
        }
        let bit = column % Self::COLUMNS_PER_WORD * STRIDE + STRIDE - 1 - row;
        plane.0[(column / Self::COLUMNS_PER_WORD) as usize] = 1 << bit;
        plane
    }

    /// The cells of a column, the highest row in bit 0.
    #[inline(always)]
    pub(super) fn column(&self, column: u32) -> u64 {
        let bits = if Self::STRADDLES {
            (self.both() >> (column * STRIDE)) as u64
        } else {
            self.0[(column / Self::COLUMNS_PER_WORD) as usize] >> (column % Self::COLUMNS_PER_WORD * STRIDE)
        };
        bits & u64::MAX >> (64 - STRIDE)
    }

    /// The set, moved to the right by columns and up by rows.
    #[inline(always)]
    pub(super) fn moved(&self, (columns, rows): (i32, i32)) -> Self {
        let bits = columns * STRIDE as i32 - rows;
        if bits >= 0 { self.up(bits as u32) } else { self.down(bits.unsigned_abs()) }
    }

    /// The set, shifted towards higher bits.
    #[inline(always)]
    fn up(&self, bits: u32) -> Self {
        let (words, bits) = self.parts(bits);
        let mut plane = Self::EMPTY;
        for i in words..WORDS {
            let carry = if i > words { self.0[i - words - 1] >> 1 >> (63 - bits) } else { 0 };
            plane.0[i] = self.0[i - words] << bits | carry;
        }
        plane
    }

    /// The set, shifted towards lower bits.
    #[inline(always)]
    fn down(&self, bits: u32) -> Self {
        let (words, bits) = self.parts(bits);
        let mut plane = Self::EMPTY;
        for i in 0..WORDS - words {
            let next = i + words + 1;
            let carry = if next < WORDS { self.0[next] << 1 << (63 - bits) } else { 0 };
            plane.0[i] = self.0[i + words] >> bits | carry;
        }
        plane
    }

    /// A shift as whole words and bits. Tells the compiler that small planes never move by whole words.
    #[inline(always)]
    fn parts(&self, bits: u32) -> (usize, u32) {
        if STRIDE <= 16 { (0, bits & 63) } else { ((bits / 64) as usize, bits % 64) }
    }

    /// All cells on the way down from this set through `free`, including the set itself, whose cells must be free.
    #[inline(always)]
    pub(super) fn fallen(&self, free: &Self) -> Self {
        let mut plane = *self;
        if Self::STRADDLES {
            let (set, free) = (self.both(), free.both());
            return plane.with_both(set | (free.wrapping_add(set) ^ free) & free);
        }
        for i in 0..WORDS {
            // In each run of free cells, the sum flips all bits from the set's highest cell downwards, except the set's
            // other bits. The carry ends in the bit after the run, which is not free, or in the next column's spare
            // bits.
            let sum = free.0[i].wrapping_add(self.0[i]);
            plane.0[i] |= (sum ^ free.0[i]) & free.0[i];
        }
        plane
    }

    /// The cells in both sets.
    #[inline(always)]
    pub(super) fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// The cells in either set.
    #[inline(always)]
    pub(super) fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// The cells of this set that are not in the other.
    #[inline(always)]
    pub(super) fn without(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// The cells outside the set, including cells outside the playfield.
    #[inline(always)]
    pub(super) fn others(&self) -> Self {
        Plane(self.0.map(|word| !word))
    }

    /// Whether a cell is in only one of the two sets.
    #[inline(always)]
    pub(super) fn differs(&self, other: &Self) -> bool {
        !self.zip(other, |a, b| a ^ b).is_empty()
    }

    /// Whether the set has no cell, also outside the playfield.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Total number of cells in several sets. Where the compiler may not use the bit-count instruction, this is twice
    /// as fast as counting word by word.
    #[inline(always)]
    pub(super) fn count(planes: &[Self]) -> u32 {
        const PAIRS: u64 = u64::MAX / 0b11;
        const FOURS: u64 = u64::MAX / 0b101;
        const EIGHTS: u64 = u64::MAX / 0x11;
        const SIXTEENS: u64 = u64::MAX / 0x101;
        // Counts of eight bits, each in sixteen bits.
        let mut counts = 0;
        for plane in planes {
            let mut i = 0;
            while i < WORDS {
                // At most three counts of up to four bits fit into four bits.
                let mut fours = 0;
                for word in &plane.0[i..WORDS.min(i + 3)] {
                    let pairs = word - (word >> 1 & PAIRS);
                    fours += (pairs & FOURS) + (pairs >> 2 & FOURS);
                }
                let eights = (fours & EIGHTS) + (fours >> 4 & EIGHTS);
                counts += (eights & SIXTEENS) + (eights >> 8 & SIXTEENS);
                i += 3;
            }
        }
        (counts.wrapping_mul(u64::MAX / 0xffff) >> 48) as u32
    }

    #[inline(always)]
    fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut plane = *self;
        for i in 0..WORDS {
            plane.0[i] = f(self.0[i], other.0[i]);
        }
        plane
    }
}
