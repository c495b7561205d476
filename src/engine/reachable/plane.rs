//! A set of cells of a playfield, one bit each, in a few machine words: columns side by side, upside down.
//!
//! A column takes `STRIDE` bits. Its lowest row is the highest of them, so a piece falls towards higher bits, and one addition
//! carries it down a whole column until something is in the way: see [`Plane::fallen`]. A few bits at the other end stay
//! clear where pieces may be. They catch what a shift moves out of a column at the top or at the bottom, so moving a
//! whole set by columns and rows is one shift of all the bits as if they were one number.
//!
//! This file knows no rules.

use super::super::column::Column;
use super::super::playfield::PlayfieldOf;

/// A set of cells, `STRIDE` bits a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane<const WORDS: usize, const STRIDE: u32>(pub [u64; WORDS]);

impl<const WORDS: usize, const STRIDE: u32> Plane<WORDS, STRIDE> {
    /// No cell.
    pub const EMPTY: Self = Plane([0; WORDS]);
    const COLUMNS_PER_WORD: u32 = 64 / STRIDE;
    /// The highest row of every column.
    const TOPS: u64 = u64::MAX / (u64::MAX >> (64 - STRIDE));

    /// The same bits in every column.
    #[inline(always)]
    fn columns(bits: u64) -> Self {
        Plane([bits.wrapping_mul(Self::TOPS); WORDS])
    }

    /// The `count` highest rows of every column.
    #[inline(always)]
    pub fn top_rows(count: u32) -> Self {
        Self::columns((1 << count) - 1)
    }

    /// One row of every column, below `STRIDE`.
    #[inline(always)]
    pub fn row(row: u32) -> Self {
        Self::columns(1 << (STRIDE - 1 - row))
    }

    /// The empty cells of a playfield, as many rows as there is room for; those above the playfield are empty too.
    #[inline(always)]
    pub fn empty_cells<C: Column, const N: usize>(playfield: &PlayfieldOf<C, N>) -> Self {
        let mut plane = Self::EMPTY;
        let mask = u64::MAX >> (64 - STRIDE);
        for (column, cells) in playfield.columns().iter().enumerate() {
            // The columns of a word in the opposite order, because reversing the bits reverses their order too.
            let lane = Self::COLUMNS_PER_WORD - 1 - column as u32 % Self::COLUMNS_PER_WORD;
            plane.0[column / Self::COLUMNS_PER_WORD as usize] |= (!cells.to_u64() & mask) << (lane * STRIDE);
        }
        Plane(plane.0.map(u64::reverse_bits))
    }

    /// A single cell.
    #[inline(always)]
    pub fn cell(column: u32, row: u32) -> Self {
        let mut plane = Self::EMPTY;
        let bit = column % Self::COLUMNS_PER_WORD * STRIDE + STRIDE - 1 - row;
        plane.0[(column / Self::COLUMNS_PER_WORD) as usize] = 1 << bit;
        plane
    }

    /// The cells of a column, bit r for row r.
    #[inline(always)]
    pub fn column(&self, column: u32) -> u64 {
        let word = self.0[(column / Self::COLUMNS_PER_WORD) as usize];
        let bits = word >> (column % Self::COLUMNS_PER_WORD * STRIDE) & (u64::MAX >> (64 - STRIDE));
        bits.reverse_bits() >> (64 - STRIDE)
    }

    /// Moved by columns to the right and rows up.
    #[inline(always)]
    pub fn moved(&self, (columns, rows): (i32, i32)) -> Self {
        let bits = columns * STRIDE as i32 - rows;
        if bits >= 0 { self.up(bits as u32) } else { self.down(bits.unsigned_abs()) }
    }

    /// Towards higher bits.
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

    /// Towards lower bits.
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

    /// Whole words and bits; the smaller planes are never moved by whole words, which the compiler should know.
    #[inline(always)]
    fn parts(&self, bits: u32) -> (usize, u32) {
        if STRIDE <= 16 { (0, bits & 63) } else { ((bits / 64) as usize, bits % 64) }
    }

    /// All cells that can be reached from these by going down through `free`, these included; they are free themselves.
    #[inline(always)]
    pub fn fallen(&self, free: &Self) -> Self {
        let mut plane = *self;
        for i in 0..WORDS {
            // From the highest cell of a run of free ones on, the sum flips all bits of the run, but for those that are in
            // the set. The carry ends in the bit after the run, which is not free, or in the next column, where it is caught.
            let sum = free.0[i].wrapping_add(self.0[i]);
            plane.0[i] |= (sum ^ free.0[i]) & free.0[i];
        }
        plane
    }

    #[inline(always)]
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    #[inline(always)]
    pub fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    #[inline(always)]
    pub fn without(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// The cells that are not in the set, the ones beside the playfield included.
    #[inline(always)]
    pub fn others(&self) -> Self {
        Plane(self.0.map(|word| !word))
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
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
