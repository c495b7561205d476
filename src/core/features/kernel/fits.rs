//! Where the seven tetrominoes fit on a surface.
//!
//! A step between two neighbouring columns is one bit of seven. A tetromino fits where one, two or three neighbouring
//! steps have certain values. Each such combination is a *pattern*, with a separate bit at the last of its steps.

use crate::engine::lanes::{Lanes, small};

/// Number of patterns. The first seven are the single steps, from -3 or less to 3 or more.
pub(super) const NUM_PATTERNS: usize = 14;
const DOWN_2: u32 = 1 << 1;
const DOWN_1: u32 = 1 << 2;
const LEVEL: u32 = 1 << 3;
const UP_1: u32 = 1 << 4;
const UP_2: u32 = 1 << 5;
const DOWN_THEN_LEVEL: u32 = 1 << 7;
const LEVEL_THEN_UP: u32 = 1 << 8;
const LEVEL_THEN_DOWN: u32 = 1 << 9;
const UP_THEN_LEVEL: u32 = 1 << 10;
const DOWN_THEN_UP: u32 = 1 << 11;
const LEVEL_TWICE: u32 = 1 << 12;
const LEVEL_THREE_TIMES: u32 = 1 << 13;

/// The patterns on which each tetromino fits, one orientation per pattern. An upright I also fits on every column.
pub(super) const FITTING: [u32; 7] = [
    LEVEL_THREE_TIMES,
    LEVEL,
    DOWN_1 | UP_1 | LEVEL_TWICE | DOWN_THEN_UP,
    UP_1 | DOWN_THEN_LEVEL,
    DOWN_1 | LEVEL_THEN_UP,
    LEVEL | UP_2 | LEVEL_TWICE | LEVEL_THEN_DOWN,
    LEVEL | DOWN_2 | LEVEL_TWICE | UP_THEN_LEVEL,
];

/// The patterns on which at least one, two and three tetrominoes fit; no pattern has more.
pub(super) const FITTING_AT_LEAST: [u32; 3] = {
    let [mut one, mut two, mut three] = [0; 3];
    let mut i = 0;
    while i < 7 {
        assert!(three & FITTING[i] == 0);
        three |= two & FITTING[i];
        two |= one & FITTING[i];
        one |= FITTING[i];
        i += 1;
    }
    [one, two, three]
};

/// The step from one height to another as a number: 0 for -3 or less, 6 for 3 or more.
#[inline(always)]
pub(crate) fn step_number<L: Lanes>(from: L, to: L) -> L {
    to.add(small(3)).sub(from).max(small(0)).min(small(6))
}

/// The step from one height to another as a bit.
#[inline(always)]
pub(super) fn step<L: Lanes>(from: L, to: L) -> L {
    L::place(1, step_number(from, to))
}

/// The patterns that end with the last of three neighbouring steps.
#[inline(always)]
pub(super) fn patterns<L: Lanes>([first, second, last]: [L; 3]) -> L {
    let rising = second.up::<1>().and(last);
    let falling = second.down::<1>().and(last);
    let valley = second.up::<2>().and(last);
    let level = second.and(last).and(small(LEVEL));
    last.or(rising.and(small(LEVEL | UP_1)).up::<4>())
        .or(falling.and(small(DOWN_1 | LEVEL)).up::<7>())
        .or(valley.and(small(UP_1)).up::<7>())
        .or(level.up::<9>())
        .or(level.and(first).up::<10>())
}

/// For each bit, a count of the added words that have it set: at most seven, in binary over three vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitCounts<L: Lanes>([L; 3]);

impl<L: Lanes> BitCounts<L> {
    /// A tally of no words.
    #[inline(always)]
    pub(super) fn none() -> Self {
        BitCounts([small(0); 3])
    }

    /// Counts the bits of a further word, of at most seven.
    #[inline(always)]
    pub(super) fn add(&mut self, bits: L) {
        let [ones, twos, fours] = self.0;
        let carry = ones.and(bits);
        self.0 = [ones.xor(bits), twos.xor(carry), fours.or(twos.and(carry))];
    }

    /// The sum of the counts of the given bits.
    #[inline(always)]
    pub(super) fn of(&self, bits: L) -> L {
        let [ones, twos, fours] = self.0;
        let (ones, twos, fours) = (ones.and(bits).count(), twos.and(bits).count(), fours.and(bits).count());
        ones.add(twos.up::<1>()).add(fours.up::<2>())
    }
}
