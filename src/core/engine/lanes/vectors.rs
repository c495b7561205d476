//! The vectors that the kernels compute with: one lane per column of the playfield, or one lane per placement.
//!
//! Every implementation does the same integer arithmetic, and the same additions of doubles in the same order, lane by
//! lane. So all kernels give the same bits.

use super::super::column::Column;

/// A vector with one machine word per lane, and operations lane by lane.
///
/// All arithmetic wraps around. Every method must be inlined into a caller with the target features of the
/// implementation, as in [`dispatch`](super::dispatch). So do not pass vectors through a library function that takes a
/// closure, such as `array::map`. The compiler may keep it as a separate function without the features, in which every
/// intrinsic is a call. In the steps of a surface, such calls took 40 % of the time.
pub(crate) trait Words: Copy + std::fmt::Debug {
    /// The word of a lane, and of a playfield column.
    type Word: Column;
    /// A vector with one float per lane.
    type Floats: Floats;
    /// Number of lanes; at most 32, because lane sets are `u32` masks.
    const LANES: usize;
    /// Number of equal parts of the lanes; [`Words::next`] and [`Words::previous`] move lanes within a part.
    const PARTS: usize = 1;

    /// Repeats a word in every lane.
    fn splat(word: Self::Word) -> Self;
    /// Writes all lanes to the start of a slice.
    fn store(self, words: &mut [Self::Word]);

    /// Lane i takes the value of lane i + K; the last K lanes take the word of `fill`, whose lanes are all equal.
    fn next<const K: usize>(self, fill: Self) -> Self;
    /// Lane i takes the value of lane i - K; the first K lanes take the word of `fill`, whose lanes are all equal.
    fn previous<const K: usize>(self, fill: Self) -> Self;

    fn and(self, other: Self) -> Self;
    /// Bitwise and with the complement of `other`.
    fn and_not(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// The larger of two small numbers (below half the word's range), which may be negative.
    fn max(self, other: Self) -> Self;
    /// The smaller of two small numbers (below half the word's range), which may be negative.
    fn min(self, other: Self) -> Self;
    /// Shifts every lane towards higher rows by COUNT.
    fn up<const COUNT: u32>(self) -> Self;
    /// Shifts every lane towards lower rows by COUNT.
    fn down<const COUNT: u32>(self) -> Self;
    /// Shifts every lane towards higher rows, by a count per lane.
    fn up_by(self, rows: Self) -> Self;
    /// A few bits in every lane, shifted towards higher rows by a count per lane.
    #[inline(always)]
    fn place(bits: u32, rows: Self) -> Self {
        small::<Self>(bits).up_by(rows)
    }
    /// Number of bits set in each lane.
    fn count(self) -> Self;

    /// The lanes that are not zero, with bit i for lane i.
    fn nonzero(self) -> u32;
    /// The lanes in which a small number exceeds the other one.
    fn greater(self, other: Self) -> u32;
    /// Takes the lanes of `mask` from `other`, the others from `self`.
    fn select(self, mask: u32, other: Self) -> Self;

    /// Adds about `weight * lane` to each float. Machines may round differently.
    fn estimate(self, floats: Self::Floats, weight: f32) -> Self::Floats;
}

/// A vector for the columns of a playfield, with operations that need all lanes or must be exact.
pub(crate) trait Lanes: Words {
    /// A vector with one double per lane.
    type Doubles: Doubles;
    /// A vector that holds several of these as its parts, if the machine has larger vectors; otherwise this vector.
    type Wide: Words<Word = Self::Word>;
    /// Whether the machine has larger vectors. A separate constant, so that code for them is only generated if it is
    /// needed.
    const IS_WIDENED: bool = Self::Wide::PARTS > 1;

    /// Puts these lanes into the first part of a wider vector, and `other` into the second part, if any.
    fn widened(self, other: Self) -> Self::Wide;
    /// The floats of one part of a wider vector.
    fn part(floats: <Self::Wide as Words>::Floats, part: usize) -> Self::Floats;

    /// Runs work in a separate function, compiled for the same machine. This suits work with several callers, and work
    /// that is too rare for the cost of a call to matter.
    fn apart<W: Apart>(work: W) -> W::Output;
    /// Whether large parts of the work run [apart](Lanes::apart) too, instead of being inlined into each job. This
    /// suits lanes that do not fit into registers. Next to loops over plain arrays the calls take no time, and there is
    /// a tenth of the code.
    const LARGE_IS_APART: bool = false;
    /// Runs a large part of the work.
    #[inline(always)]
    fn large<W: Apart>(work: W) -> W::Output {
        if Self::LARGE_IS_APART { Self::apart(work) } else { work.run() }
    }

    /// The first [`Words::LANES`] words of a slice.
    fn load(words: &[Self::Word]) -> Self;
    fn times(self, other: Self) -> Self;
    /// The row just above the highest bit; 0 for a word without bits.
    fn top(self) -> Self;

    /// Sum of all lanes, modulo the word.
    fn sum(self) -> Self::Word;
    /// Three sums of small numbers, in little more time than one. Each sum is at most `LANES * (rows + 1)`, with the
    /// rows of the largest playfield that the word can hold.
    fn sums(first: Self, second: Self, third: Self) -> [u32; 3];
    /// Bitwise or of all lanes.
    fn any(self) -> Self::Word;
    /// The largest of all lanes, as small numbers.
    fn largest(self) -> Self::Word;

    /// Adds `weight * lane` to each double, with rounding after the product and after the sum.
    fn accumulate(self, doubles: Self::Doubles, weight: f64) -> Self::Doubles;
}

/// Work for [`Lanes::apart`]. `run` must be `#[inline(always)]`, like [`LaneWork::run`](super::LaneWork::run).
pub(crate) trait Apart {
    type Output;
    /// Does the work; [`Lanes::apart`] compiles this call for one machine.
    fn run(self) -> Self::Output;
}

/// A vector of floats, one per lane of its [`Words`].
pub(crate) trait Floats: Copy {
    /// Repeats a float in every lane.
    fn splat(value: f32) -> Self;
    /// Takes the lanes of `mask` from `other`, the others from `self`.
    fn select(self, mask: u32, other: Self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self;
    /// The largest of all lanes.
    fn largest(self) -> f32;
    /// The lanes that are at least this value.
    fn at_least(self, value: f32) -> u32;
}

/// A vector of doubles, one per lane of its [`Lanes`].
pub(crate) trait Doubles: Copy {
    /// Repeats a double in every lane.
    fn splat(value: f64) -> Self;
    /// The value of one lane.
    fn lane(self, index: usize) -> f64;
}

/// The lanes below an index, as a mask.
#[inline(always)]
pub(crate) fn lanes_below(index: u32) -> u32 {
    ((1u64 << index) - 1) as u32
}

/// Repeats a mask of lanes in every part.
#[inline(always)]
pub(crate) fn each_part<L: Words>(mask: u32) -> u32 {
    let lanes = L::LANES / L::PARTS;
    if L::PARTS == 1 { mask } else { (mask & lanes_below(lanes as u32)) * (1 << lanes | 1) }
}

/// A vector with a small number in every lane.
#[inline(always)]
pub(crate) fn small<L: Words>(number: u32) -> L {
    L::splat(L::Word::from_u64(number.into()))
}

/// The bits common to a lane and all lanes after it.
#[inline(always)]
pub(crate) fn common_from<L: Lanes>(lanes: L) -> L {
    let ones = L::splat(!L::Word::EMPTY);
    let mut common = lanes;
    common = common.and(common.next::<1>(ones));
    common = common.and(common.next::<2>(ones));
    common = common.and(common.next::<4>(ones));
    common = common.and(common.next::<8>(ones));
    if L::LANES > 16 {
        common = common.and(common.next::<16>(ones));
    }
    common
}

/// The bits common to all lanes before a lane.
#[inline(always)]
pub(crate) fn common_before<L: Lanes>(lanes: L) -> L {
    let ones = L::splat(!L::Word::EMPTY);
    let mut common = lanes.previous::<1>(ones);
    common = common.and(common.previous::<1>(ones));
    common = common.and(common.previous::<2>(ones));
    common = common.and(common.previous::<4>(ones));
    common = common.and(common.previous::<8>(ones));
    if L::LANES > 16 {
        common = common.and(common.previous::<16>(ones));
    }
    common
}

/// The absolute difference of two small numbers.
#[inline(always)]
pub(crate) fn distance<L: Lanes>(one: L, other: L) -> L {
    one.max(other).sub(one.min(other))
}
