//! What the sweep asks of a vector: one lane a column of the playfield, or one lane a placement.
//!
//! The sweep is written once over this trait, and every implementation does the same integer arithmetic and the same
//! double additions in the same order, lane by lane. That is why every path gives the same bits.

use crate::engine::Column;

/// A vector with one machine word a lane, and what can be done lane by lane.
///
/// All arithmetic is modulo the word. Every method must be inlined into a caller that has the target features of the
/// implementation switched on; [`dispatch`](super::dispatch) sees to that. So no vector goes through a library function that
/// takes a closure, such as `array::map`: the compiler may keep it as a function of its own, without the features, where
/// every intrinsic is a call. In the steps of a surface that took 40 % of the time.
pub trait Words: Copy + std::fmt::Debug {
    /// The word of a lane, which is also the word of a playfield column.
    type Word: Column;
    /// One float a lane.
    type Floats: Floats;
    /// How many lanes; at most 32, because lane sets are `u32` masks.
    const LANES: usize;
    /// How many equal parts the lanes have; each of them is a vector of its own for [`Words::next`] and [`Words::previous`].
    const PARTS: usize = 1;
    /// Whether the large parts of the work are functions of their own, one for all jobs, instead of being inlined into each.
    /// The calls cost nothing beside the loops over plain arrays, and there is a tenth of the code. Only for lanes that need no
    /// target features, which a function of its own would not have.
    const SHARED: bool = false;
    /// Whether a vector is too large for registers. The large parts of the work are [apart](Lanes::apart) then.
    const IS_LARGE: bool = Self::LANES > 16;

    /// The same word in every lane.
    fn splat(word: Self::Word) -> Self;
    /// Writes all lanes to the beginning of a slice.
    fn store(self, words: &mut [Self::Word]);

    /// Lane i takes lane i + K; the last lanes take those of `fill`, which is the same in all lanes.
    fn next<const K: usize>(self, fill: Self) -> Self;
    /// Lane i takes lane i - K; the first lanes take those of `fill`, which is the same in all lanes.
    fn previous<const K: usize>(self, fill: Self) -> Self;

    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise and with the complement of `other`.
    fn and_not(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// The larger of two small numbers (below half the word's range), which may be negative.
    fn max(self, other: Self) -> Self;
    /// The smaller of two small numbers (below half the word's range), which may be negative.
    fn min(self, other: Self) -> Self;
    /// Shifted towards higher rows by the same count in every lane.
    fn up<const COUNT: u32>(self) -> Self;
    /// Shifted towards lower rows by the same count in every lane.
    fn down<const COUNT: u32>(self) -> Self;
    /// Shifted towards higher rows by each lane's own count.
    fn up_by(self, rows: Self) -> Self;
    /// The same few bits moved up by each lane's row.
    #[inline(always)]
    fn place(bits: u32, rows: Self) -> Self {
        small::<Self>(bits).up_by(rows)
    }
    /// How many bits are set.
    fn count(self) -> Self;

    /// The lanes that are not zero, bit i for lane i.
    fn nonzero(self) -> u32;
    /// The lanes in which a small number is larger than another.
    fn greater(self, other: Self) -> u32;
    /// Lanes of `mask` from `other`, the rest from here.
    fn select(self, mask: u32, other: Self) -> Self;

    /// Adds about `weight * lane` to each float: how it is rounded differs between machines.
    fn estimate(self, floats: Self::Floats, weight: f32) -> Self::Floats;
}

/// A vector that can hold the columns of a playfield: what needs all of its lanes, and what must be exact.
pub trait Lanes: Words {
    /// One double a lane.
    type Doubles: Doubles;
    /// Several of these side by side, as its parts, where the machine has larger vectors; otherwise these.
    type Wide: Words<Word = Self::Word>;
    /// Whether there are larger vectors. A constant of its own, so that no code is made for what they alone need.
    const IS_WIDENED: bool = Self::Wide::PARTS > 1;

    /// These lanes in the first part of a wider vector, and others in the second if there is one.
    fn widened(self, other: Self) -> Self::Wide;
    /// The floats of one part of a wider vector.
    fn part(floats: <Self::Wide as Words>::Floats, part: usize) -> Self::Floats;

    /// Does work in a function of its own, compiled for the same machine: for what is called from several places, or seldom
    /// enough that a call costs nothing beside it.
    fn apart<W: Apart>(work: W) -> W::Output;

    /// The first [`Words::LANES`] words of a slice.
    fn load(words: &[Self::Word]) -> Self;
    /// Product.
    fn times(self, other: Self) -> Self;
    /// The row just above the highest bit, 0 if there is none.
    fn top(self) -> Self;

    /// Sum of all lanes.
    fn sum(self) -> Self::Word;
    /// Three sums of small numbers for little more than the work of one. Each is at most `LANES * (rows + 1)`, with the
    /// rows of the largest playfield that the word can hold.
    fn sums(first: Self, second: Self, third: Self) -> [u32; 3];
    /// Bitwise or of all lanes.
    fn any(self) -> Self::Word;
    /// The largest of all lanes, as small numbers.
    fn largest(self) -> Self::Word;

    /// Adds `weight * lane` to each double, rounding after the product and after the sum.
    fn accumulate(self, doubles: Self::Doubles, weight: f64) -> Self::Doubles;
}

/// What [`Lanes`] asks of vectors of which there are no larger ones.
macro_rules! not_widened {
    () => {
        type Wide = Self;

        #[inline(always)]
        fn widened(self, _: Self) -> Self {
            self
        }
        #[inline(always)]
        fn part(floats: Self::Floats, _: usize) -> Self::Floats {
            floats
        }
    };
}
pub(super) use not_widened;

/// Work for [`Lanes::apart`]. `run` must be `#[inline(always)]`, as that of a [`LaneWork`](super::LaneWork).
pub trait Apart {
    /// What comes out.
    type Output;
    /// Does it.
    fn run(self) -> Self::Output;
}

/// A vector of floats, as many as its [`Words`] has lanes.
pub trait Floats: Copy {
    /// The same float in every lane.
    fn splat(value: f32) -> Self;
    /// Lanes of `mask` from `other`, the rest from here.
    fn select(self, mask: u32, other: Self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self;
    /// The largest of all lanes.
    fn largest(self) -> f32;
    /// The lanes in which a number is as large as one or larger.
    fn at_least(self, value: f32) -> u32;
}

/// A vector of doubles, as many as its [`Lanes`] has lanes.
pub trait Doubles: Copy {
    /// The same double in every lane.
    fn splat(value: f64) -> Self;
    /// One lane.
    fn lane(self, index: usize) -> f64;
}

/// The lanes below an index, as a mask.
#[inline(always)]
pub fn lanes_below(index: u32) -> u32 {
    ((1u64 << index) - 1) as u32
}

/// The same lanes in every part.
#[inline(always)]
pub fn each_part<L: Words>(mask: u32) -> u32 {
    let lanes = L::LANES / L::PARTS;
    if L::PARTS == 1 { mask } else { (mask & lanes_below(lanes as u32)) * (1 << lanes | 1) }
}

/// A word with a small number in it.
#[inline(always)]
pub fn small<L: Words>(number: u32) -> L {
    L::splat(L::Word::from_u64(number.into()))
}

/// The bits common to a lane and all lanes after it.
#[inline(always)]
pub fn common_from<L: Lanes>(lanes: L) -> L {
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
pub fn common_before<L: Lanes>(lanes: L) -> L {
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
