//! Lanes in the registers of a machine, from a table of its functions.
//!
//! An operation is a function pointer in the [`Table`] of a machine and a word size, mostly an intrinsic. Everything is
//! inlined and the pointers are constants, so that each operation becomes its instruction. Another machine, such as
//! one with NEON, needs tables and the functions that they name, and nothing here.
//!
//! Why the `unsafe` here is sound: only functions of [`super`] that [`dispatch`](super::dispatch) enters name types with
//! a table, and [`Kernel`](super::Kernel) has found the target features of the table on this machine by then. Loads and
//! stores also need memory; a comment at each says why they have it.

#![allow(unsafe_code)]

use std::fmt::Debug;

use super::super::column::Column;
use super::portable::Machine;
use super::vectors::{Apart, Doubles, Floats, Lanes, Words};

/// A function of one argument, such as an intrinsic; it needs the target features of its table.
pub(super) type Unary<A, T = A> = unsafe fn(A) -> T;
/// A function of two arguments.
pub(super) type Binary<A, B = A, T = A> = unsafe fn(A, B) -> T;
/// A function of three arguments.
pub(super) type Ternary<A, B, C, T> = unsafe fn(A, B, C) -> T;
/// The sums of the lanes of three vectors.
pub(super) type ThreeSums<A> = Ternary<A, A, A, [u32; 3]>;

#[inline(always)]
fn call_one<A, T>(function: Unary<A, T>, a: A) -> T {
    // SAFETY: a function of a table, on a machine with the features of the table.
    unsafe { function(a) }
}

/// Calls a function of a table.
#[inline(always)]
pub(super) fn call_two<A, B, T>(function: Binary<A, B, T>, a: A, b: B) -> T {
    // SAFETY: as above.
    unsafe { function(a, b) }
}

#[inline(always)]
fn call_three<A, B, C, T>(function: Ternary<A, B, C, T>, a: A, b: B, c: C) -> T {
    // SAFETY: as above.
    unsafe { function(a, b, c) }
}

/// Functions of a machine for words of one size, of which `R` registers hold all lanes.
#[derive(Debug)]
pub(super) struct Functions<T: Table<R>, const R: usize> {
    pub splat: Unary<T::Word, T::Register>,
    pub and: Binary<T::Register>,
    /// Bitwise and of the second register with the complement of the first one, as the machine has it.
    pub not_and: Binary<T::Register>,
    pub or: Binary<T::Register>,
    pub xor: Binary<T::Register>,
    pub add: Binary<T::Register>,
    pub sub: Binary<T::Register>,
    pub max: Binary<T::Register>,
    pub min: Binary<T::Register>,
    /// A number of rows for shifts of all lanes. The compiler turns them into constant shifts.
    pub rows: Unary<i32, T::Rows>,
    pub up: Binary<T::Register, T::Rows>,
    pub down: Binary<T::Register, T::Rows>,
    pub up_by: Binary<T::Register>,
    pub count: Unary<T::Register>,
    /// The lanes that are not zero in both of two equal registers.
    pub nonzero: Binary<T::Register, T::Register, T::Mask>,
    pub greater: Binary<T::Register, T::Register, T::Mask>,
    pub select: Ternary<T::Register, T::Mask, T::Register, T::Register>,
    /// The bytes of the first register from one on, then the first ones of the second register; in each part.
    pub shift: Ternary<T::Register, T::Register, usize, T::Register>,
    /// Implements [`Words::estimate`].
    pub estimate: Ternary<[T::Register; R], T::Floats, f32, T::Floats>,
}

/// A machine and a word size.
///
/// # Safety
/// The functions need the target features of the table's machine, and nothing else.
pub(super) unsafe trait Table<const R: usize>: Copy + Debug {
    type Word: Column;
    type Register: Copy + Debug;
    /// The lanes of a register, as bits. Bits of other registers are cut off, or have no lane.
    type Mask: Column;
    /// The operand of a shift of all lanes.
    type Rows;
    type Floats: Floats;
    const PARTS: usize = 1;
    const FUNCTIONS: Functions<Self, R>;
}

/// Functions of a machine for the columns of a playfield.
#[derive(Debug)]
pub(super) struct LaneFunctions<T: LaneTable<R>, const R: usize> {
    /// Implements [`Lanes::widened`].
    pub widened: Binary<[T::Register; R], [T::Register; R], T::Wide>,
    /// Implements [`Lanes::part`].
    pub part: Binary<<T::Wide as Words>::Floats, usize, T::Floats>,
    pub times: Binary<T::Register>,
    pub top: Unary<T::Register>,
    /// Combines all lanes of a register in its first lane.
    pub fold: Binary<T::Register, Binary<T::Register>>,
    /// Implements [`Lanes::sums`], unless a third of a word holds a sum.
    pub sums: Option<ThreeSums<[T::Register; R]>>,
    /// Implements [`Lanes::accumulate`].
    pub accumulate: Ternary<[T::Register; R], T::Doubles, f64, T::Doubles>,
}

/// A machine and a word size for the columns of a playfield.
///
/// # Safety
/// As for [`Table`].
pub(super) unsafe trait LaneTable<const R: usize>: Table<R> {
    type Machine: Machine;
    type Doubles: Doubles;
    type Wide: Words<Word = Self::Word>;
    const LANES: LaneFunctions<Self, R>;
}

/// The lanes of a table, in `R` registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterArray<T: Table<R>, const R: usize>(pub [T::Register; R]);

impl<T: Table<R>, const R: usize> RegisterArray<T, R> {
    /// Number of lanes in a register.
    const IN_REGISTER: usize = size_of::<T::Register>() / size_of::<T::Word>();
    /// Number of lanes in a part of a register.
    const IN_PART: usize = Self::IN_REGISTER / T::PARTS;

    /// The lanes of a register from one on, then the first ones of the register after it; in each part.
    #[inline(always)]
    fn moved(register: T::Register, after: T::Register, lanes: usize) -> T::Register {
        match lanes {
            0 => register,
            _ if lanes == Self::IN_PART => after,
            _ => call_three(const { T::FUNCTIONS.shift }, register, after, lanes * size_of::<T::Word>()),
        }
    }

    #[inline(always)]
    fn map(self, f: Unary<T::Register>) -> Self {
        let mut out = self;
        for i in 0..R {
            out.0[i] = call_one(f, self.0[i]);
        }
        out
    }

    #[inline(always)]
    fn zip(self, other: Self, f: Binary<T::Register>) -> Self {
        let mut out = self;
        for i in 0..R {
            out.0[i] = call_two(f, self.0[i], other.0[i]);
        }
        out
    }

    #[inline(always)]
    fn shift(self, rows: u32, f: Binary<T::Register, T::Rows>) -> Self {
        let mut out = self;
        for i in 0..R {
            out.0[i] = call_two(f, self.0[i], call_one(const { T::FUNCTIONS.rows }, rows as i32));
        }
        out
    }

    #[inline(always)]
    fn mask(self, other: Self, f: Binary<T::Register, T::Register, T::Mask>) -> u32 {
        let mut mask = 0;
        for i in 0..R {
            let lanes = call_two(f, self.0[i], other.0[i]);
            mask |= (lanes.to_u64() as u32) << (i * Self::IN_REGISTER);
        }
        mask
    }
}

impl<T: Table<R>, const R: usize> Words for RegisterArray<T, R> {
    type Word = T::Word;
    type Floats = T::Floats;
    const LANES: usize = R * Self::IN_REGISTER;
    const PARTS: usize = T::PARTS;
    #[inline(always)]
    fn splat(word: T::Word) -> Self {
        RegisterArray([call_one(const { T::FUNCTIONS.splat }, word); R])
    }
    #[inline(always)]
    fn store(self, words: &mut [T::Word]) {
        let words = &mut words[..Self::LANES];
        // SAFETY: the words are as many writable bytes as the registers, and the store needs no alignment.
        unsafe { words.as_mut_ptr().cast::<[T::Register; R]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    fn next<const K: usize>(self, fill: Self) -> Self {
        let mut out = self;
        for i in 0..R {
            out.0[i] = Self::moved(self.0[i], if i + 1 < R { self.0[i + 1] } else { fill.0[0] }, K);
        }
        out
    }
    #[inline(always)]
    fn previous<const K: usize>(self, fill: Self) -> Self {
        let mut out = self;
        for i in 0..R {
            let before = if i > 0 { self.0[i - 1] } else { fill.0[0] };
            out.0[i] = Self::moved(before, self.0[i], Self::IN_PART - K);
        }
        out
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip(other, const { T::FUNCTIONS.and })
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        other.zip(self, const { T::FUNCTIONS.not_and })
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.zip(other, const { T::FUNCTIONS.or })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.zip(other, const { T::FUNCTIONS.xor })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, const { T::FUNCTIONS.add })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, const { T::FUNCTIONS.sub })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, const { T::FUNCTIONS.max })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, const { T::FUNCTIONS.min })
    }
    #[inline(always)]
    fn up<const COUNT: u32>(self) -> Self {
        self.shift(COUNT, const { T::FUNCTIONS.up })
    }
    #[inline(always)]
    fn down<const COUNT: u32>(self) -> Self {
        self.shift(COUNT, const { T::FUNCTIONS.down })
    }
    #[inline(always)]
    fn up_by(self, rows: Self) -> Self {
        self.zip(rows, const { T::FUNCTIONS.up_by })
    }
    #[inline(always)]
    fn count(self) -> Self {
        self.map(const { T::FUNCTIONS.count })
    }
    #[inline(always)]
    fn nonzero(self) -> u32 {
        self.mask(self, const { T::FUNCTIONS.nonzero })
    }
    #[inline(always)]
    fn greater(self, other: Self) -> u32 {
        self.mask(other, const { T::FUNCTIONS.greater })
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        let mut out = self;
        for i in 0..R {
            let lanes = T::Mask::from_u64(u64::from(mask >> (i * Self::IN_REGISTER)));
            out.0[i] = call_three(const { T::FUNCTIONS.select }, self.0[i], lanes, other.0[i]);
        }
        out
    }
    #[inline(always)]
    fn estimate(self, floats: T::Floats, weight: f32) -> T::Floats {
        call_three(const { T::FUNCTIONS.estimate }, self.0, floats, weight)
    }
}

impl<T: LaneTable<R>, const R: usize> RegisterArray<T, R> {
    /// Combines all lanes into one word.
    #[inline(always)]
    fn fold(self, f: Binary<T::Register>) -> T::Word {
        let mut all = self.0[0];
        for i in 1..R {
            all = call_two(f, all, self.0[i]);
        }
        let mut words = [T::Word::EMPTY; 32];
        RegisterArray::<T, R>([call_two(const { T::LANES.fold }, all, f); R]).store(&mut words);
        words[0]
    }
}

impl<T: LaneTable<R>, const R: usize> Lanes for RegisterArray<T, R> {
    type Doubles = T::Doubles;
    type Wide = T::Wide;

    #[inline(always)]
    fn widened(self, other: Self) -> T::Wide {
        call_two(const { T::LANES.widened }, self.0, other.0)
    }
    #[inline(always)]
    fn part(floats: <T::Wide as Words>::Floats, part: usize) -> T::Floats {
        call_two(const { T::LANES.part }, floats, part)
    }
    #[inline(always)]
    fn apart<W: Apart>(work: W) -> W::Output {
        T::Machine::apart(work)
    }
    #[inline(always)]
    fn load(words: &[T::Word]) -> Self {
        let words = &words[..Self::LANES];
        // SAFETY: the words are as many readable bytes as the registers, and the load needs no alignment.
        RegisterArray(unsafe { words.as_ptr().cast::<[T::Register; R]>().read_unaligned() })
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.zip(other, const { T::LANES.times })
    }
    #[inline(always)]
    fn top(self) -> Self {
        self.map(const { T::LANES.top })
    }
    #[inline(always)]
    fn sum(self) -> T::Word {
        self.fold(const { T::FUNCTIONS.add })
    }
    #[inline(always)]
    fn sums(first: Self, second: Self, third: Self) -> [u32; 3] {
        if let Some(sums) = const { T::LANES.sums } {
            return call_three(sums, first.0, second.0, third.0);
        }
        let sum = first.add(second.up::<10>()).add(third.up::<20>()).sum().to_u64() as u32;
        [sum & 1023, sum >> 10 & 1023, sum >> 20]
    }
    #[inline(always)]
    fn any(self) -> T::Word {
        self.fold(const { T::FUNCTIONS.or })
    }
    #[inline(always)]
    fn largest(self) -> T::Word {
        self.fold(const { T::FUNCTIONS.max })
    }
    #[inline(always)]
    fn accumulate(self, doubles: T::Doubles, weight: f64) -> T::Doubles {
        call_three(const { T::LANES.accumulate }, self.0, doubles, weight)
    }
}

/// Functions of a machine for floats.
#[derive(Debug)]
pub(super) struct FloatFunctions<T: FloatTable> {
    pub splat: Unary<f32, T::Register>,
    pub max: Binary<T::Register>,
    pub select: Ternary<T::Register, T::Mask, T::Register, T::Register>,
    pub largest: Unary<T::Register, f32>,
    pub at_least: Binary<T::Register, T::Register, T::Mask>,
}

/// A machine, for floats.
///
/// # Safety
/// As for [`Table`].
pub(super) unsafe trait FloatTable: Copy + Debug {
    type Register: Copy + Debug;
    type Mask: Column;
    const FUNCTIONS: FloatFunctions<Self>;
}

/// Floats in `R` registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatVector<T: FloatTable, const R: usize>(pub [T::Register; R]);

impl<T: FloatTable, const R: usize> FloatVector<T, R> {
    /// Number of floats in a register.
    const IN_REGISTER: usize = size_of::<T::Register>() / size_of::<f32>();
}

impl<T: FloatTable, const R: usize> Floats for FloatVector<T, R> {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        FloatVector([call_one(const { T::FUNCTIONS.splat }, value); R])
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        let mut out = self;
        for i in 0..R {
            let lanes = T::Mask::from_u64(u64::from(mask >> (i * Self::IN_REGISTER)));
            out.0[i] = call_three(const { T::FUNCTIONS.select }, self.0[i], lanes, other.0[i]);
        }
        out
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let mut out = self;
        for i in 0..R {
            out.0[i] = call_two(const { T::FUNCTIONS.max }, self.0[i], other.0[i]);
        }
        out
    }
    #[inline(always)]
    fn largest(self) -> f32 {
        let mut all = self.0[0];
        for i in 1..R {
            all = call_two(const { T::FUNCTIONS.max }, all, self.0[i]);
        }
        call_one(const { T::FUNCTIONS.largest }, all)
    }
    #[inline(always)]
    fn at_least(self, value: f32) -> u32 {
        let value = Self::splat(value);
        let mut mask = 0;
        for i in 0..R {
            let lanes = call_two(const { T::FUNCTIONS.at_least }, self.0[i], value.0[i]);
            mask |= (lanes.to_u64() as u32) << (i * Self::IN_REGISTER);
        }
        mask
    }
}

/// Sixteen doubles in `R` registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct DoubleVector<D, const R: usize>(pub [D; R]);

impl<D: Copy, const R: usize> Doubles for DoubleVector<D, R> {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        DoubleVector(recast([value; 16]))
    }
    #[inline(always)]
    fn lane(self, index: usize) -> f64 {
        let lanes: [f64; 16] = recast(self.0);
        lanes[index]
    }
}

/// Numbers in other registers, or in memory, equal to these.
#[inline(always)]
fn recast<A: Copy, B: Copy>(numbers: A) -> B {
    assert!(size_of::<A>() == size_of::<B>());
    // SAFETY: both are as many bytes, and these are plain numbers for which all bytes are valid.
    unsafe { std::mem::transmute_copy(&numbers) }
}
