//! A column of a playfield as one machine word, bit r for row r: what can be asked of it, whatever the word.

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
    /// Bits of the word.
    const BITS: u32;
    /// No cell.
    const EMPTY: Self;
    /// The lowest bits of a wide word; the caller knows that the others are zero.
    fn from_u64(bits: u64) -> Self;
    /// The column's bits in a wide word.
    fn to_u64(self) -> u64;
    /// How many cells are full.
    fn count(self) -> u32;
    /// The row just above the highest full cell, 0 if there is none.
    fn top(self) -> u32;
    /// The row of the lowest full cell; [`Column::BITS`] if there is none.
    fn lowest(self) -> u32;
    /// The rows below `row`, all full.
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
        }
    };
}
column!(u16);
column!(u32);
column!(u64);
