//! A column of a playfield as one machine word, bit r for row r, with the operations that all word sizes share.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not, Shl, Shr};

/// The machine word of a column.
pub trait Column:
    Copy
    + Eq
    + Default
    + fmt::Debug
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitAndAssign
    + BitOr<Output = Self>
    + BitOrAssign
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + std::hash::Hash
{
    /// Number of bits in the word.
    const BITS: u32;
    /// The word of an empty column.
    const EMPTY: Self;
    /// Converts a wide word whose bits beyond [`Column::BITS`] are zero.
    fn from_u64(bits: u64) -> Self;
    /// The column as a wide word.
    fn to_u64(self) -> u64;
    /// Number of bits set, that is, of full cells.
    fn count(self) -> u32;
    /// The row just above the highest full cell; 0 if the column is empty.
    fn top(self) -> u32;
    /// The row of the lowest full cell; [`Column::BITS`] if the column is empty.
    fn lowest(self) -> u32;
    /// The word upside down: row 0 becomes the highest bit.
    fn reversed(self) -> Self;
    /// A word with all rows below `row` full.
    #[inline]
    fn below(row: u32) -> Self {
        Self::from_u64((1u64 << row) - 1)
    }
}

macro_rules! column {
    ($word:ty) => {
        impl Column for $word {
            const BITS: u32 = <$word>::BITS;
            const EMPTY: Self = 0;
            #[inline]
            fn from_u64(bits: u64) -> Self {
                bits as $word
            }
            #[inline]
            fn to_u64(self) -> u64 {
                u64::from(self)
            }
            #[inline]
            fn count(self) -> u32 {
                self.count_ones()
            }
            #[inline]
            fn top(self) -> u32 {
                <$word>::BITS - self.leading_zeros()
            }
            #[inline]
            fn lowest(self) -> u32 {
                self.trailing_zeros()
            }
            #[inline]
            fn reversed(self) -> Self {
                self.reverse_bits()
            }
        }
    };
}
column!(u16);
column!(u32);
column!(u64);
