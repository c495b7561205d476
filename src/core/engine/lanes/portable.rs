//! Lanes as plain arrays, for every machine; the compiler turns them into vectors where it can.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::super::column::Column;
use super::vectors::{Apart, Doubles, Floats, Lanes, Words};

/// `N` lanes of one word each, compiled for a given machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordArray<W, const N: usize, M>([W; N], PhantomData<M>);

/// A machine for which arrays are compiled.
pub(super) trait Machine: Copy + Debug {
    /// Implements [`Lanes::LARGE_IS_APART`] for few lanes.
    const LARGE_IS_APART: bool;
    /// Implements [`Lanes::apart`] for this machine.
    fn apart<A: Apart>(work: A) -> A::Output;
}

/// The machine that the program is compiled for, without further target features.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnyMachine;

impl Machine for AnyMachine {
    const LARGE_IS_APART: bool = true;

    #[inline(never)]
    fn apart<A: Apart>(work: A) -> A::Output {
        work.run()
    }
}

/// Runs work that takes many instructions per lane: if there are many lanes, in a separate function that all callers
/// share. A macro, because a closure over few lanes could become a separate function too.
macro_rules! at_length {
    ($work:expr) => {
        if N > 16 { M::apart(AtLength(|| $work)) } else { $work }
    };
}

/// A function as work for [`Lanes::apart`].
struct AtLength<F>(F);

impl<R, F: FnOnce() -> R> Apart for AtLength<F> {
    type Output = R;

    #[inline(always)]
    fn run(self) -> R {
        (self.0)()
    }
}

/// `N` doubles, which the compiler turns into vectors where it can.
#[derive(Clone, Copy, Debug)]
pub(super) struct DoubleArray<const N: usize>([f64; N]);

/// `N` floats, which the compiler turns into vectors where it can.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatArray<const N: usize>([f32; N]);

/// Arithmetic on words that [`Column`] lacks.
pub(super) trait Word: Column {
    /// Sum modulo the word, like all arithmetic here.
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
    /// Whether a small number is larger than another. The sign bit is free, and signed comparison is cheap.
    fn above(self, other: Self) -> bool;
    /// Converts a small number to a double, exactly.
    fn double(self) -> f64;
    /// Converts a small number to a float, exactly.
    fn float(self) -> f32;
    /// Implements [`Lanes::sums`] for words of this size.
    fn sums<const N: usize>(first: [Self; N], second: [Self; N], third: [Self; N]) -> [u32; 3];
}

macro_rules! word {
    ($word:ty, $signed:ty, $sum:ty, $bits:literal) => {
        impl Word for $word {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn product(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn above(self, other: Self) -> bool {
                self as $signed > other as $signed
            }
            #[inline(always)]
            fn double(self) -> f64 {
                // The low half holds every number that occurs here, and converts faster.
                f64::from(self as u32 as i32)
            }
            #[inline(always)]
            fn float(self) -> f32 {
                self as u32 as i32 as f32
            }
            #[inline(always)]
            fn sums<const N: usize>(first: [Self; N], second: [Self; N], third: [Self; N]) -> [u32; 3] {
                let mut sum: $sum = 0;
                for i in 0..N {
                    let (first, second, third) = (first[i] as $sum, second[i] as $sum, third[i] as $sum);
                    sum += first + (second << $bits) + (third << (2 * $bits));
                }
                let field = (1 << $bits) - 1;
                [(sum & field) as u32, (sum >> $bits & field) as u32, (sum >> (2 * $bits)) as u32]
            }
        }
    };
}
// The last two arguments are a type that holds three sums at once, and the bits of each sum.
word!(u16, i16, u32, 10);
word!(u32, i32, u32, 10);
word!(u64, i64, u64, 20);

impl<W: Word, const N: usize, M: Machine> WordArray<W, N, M> {
    #[inline(always)]
    fn map(self, f: impl Fn(W) -> W) -> Self {
        let mut out = self;
        for i in 0..N {
            out.0[i] = f(self.0[i]);
        }
        out
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(W, W) -> W) -> Self {
        let mut out = self;
        for i in 0..N {
            out.0[i] = f(self.0[i], other.0[i]);
        }
        out
    }

    #[inline(always)]
    fn mask(self, f: impl Fn(usize, W) -> bool) -> u32 {
        let mut mask = 0;
        for i in 0..N {
            mask |= u32::from(f(i, self.0[i])) << i;
        }
        mask
    }

    #[inline(always)]
    fn fold(self, f: impl Fn(W, W) -> W) -> W {
        let mut all = self.0[0];
        for i in 1..N {
            all = f(all, self.0[i]);
        }
        all
    }
}

impl<W: Word, const N: usize, M: Machine> Words for WordArray<W, N, M> {
    type Word = W;
    type Floats = FloatArray<N>;
    const LANES: usize = N;
    #[inline(always)]
    fn splat(word: W) -> Self {
        WordArray([word; N], PhantomData)
    }
    #[inline(always)]
    fn store(self, words: &mut [W]) {
        *words.first_chunk_mut().expect("one word per lane") = self.0;
    }
    #[inline(always)]
    fn next<const K: usize>(self, fill: Self) -> Self {
        let mut out = fill;
        for i in 0..N - K {
            out.0[i] = self.0[i + K];
        }
        for i in 0..K {
            out.0[N - K + i] = fill.0[i];
        }
        out
    }
    #[inline(always)]
    fn previous<const K: usize>(self, fill: Self) -> Self {
        let mut out = fill;
        for i in K..N {
            out.0[i] = self.0[i - K];
        }
        for i in 0..K {
            out.0[i] = fill.0[N - K + i];
        }
        out
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, W::plus)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, W::minus)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a.above(b) { a } else { b })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if b.above(a) { a } else { b })
    }
    #[inline(always)]
    fn up<const COUNT: u32>(self) -> Self {
        self.map(|a| a << COUNT)
    }
    #[inline(always)]
    fn down<const COUNT: u32>(self) -> Self {
        self.map(|a| a >> COUNT)
    }
    #[inline(always)]
    fn up_by(self, rows: Self) -> Self {
        let moved = |bits: W, row: W| bits << (row.to_u64() as u32 & (W::BITS - 1));
        self.zip(rows, moved)
    }
    #[inline(always)]
    fn count(self) -> Self {
        at_length!(self.map(|a| W::from_u64(a.count().into())))
    }
    #[inline(always)]
    fn nonzero(self) -> u32 {
        self.mask(|_, a| a != W::EMPTY)
    }
    #[inline(always)]
    fn greater(self, other: Self) -> u32 {
        self.mask(|i, a| a.above(other.0[i]))
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        at_length!({
            let mut out = self;
            for i in 0..N {
                out.0[i] = if mask >> i & 1 == 1 { other.0[i] } else { self.0[i] };
            }
            out
        })
    }
    #[inline(always)]
    fn estimate(self, floats: FloatArray<N>, weight: f32) -> FloatArray<N> {
        at_length!({
            let mut out = floats;
            for i in 0..N {
                out.0[i] = floats.0[i] + weight * self.0[i].float();
            }
            out
        })
    }
}

impl<W: Word, const N: usize, M: Machine> Lanes for WordArray<W, N, M> {
    type Doubles = DoubleArray<N>;
    type Wide = Self;
    const LARGE_IS_APART: bool = M::LARGE_IS_APART || N > 16;

    #[inline(always)]
    fn widened(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    fn part(floats: FloatArray<N>, _: usize) -> FloatArray<N> {
        floats
    }
    #[inline(always)]
    fn apart<A: Apart>(work: A) -> A::Output {
        M::apart(work)
    }
    #[inline(always)]
    fn load(words: &[W]) -> Self {
        WordArray(*words.first_chunk().expect("one word per lane"), PhantomData)
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        at_length!(self.zip(other, W::product))
    }
    #[inline(always)]
    fn top(self) -> Self {
        at_length!(self.map(|a| W::from_u64(a.top().into())))
    }
    #[inline(always)]
    fn sum(self) -> W {
        self.fold(W::plus)
    }
    #[inline(always)]
    fn sums(first: Self, second: Self, third: Self) -> [u32; 3] {
        at_length!(W::sums(first.0, second.0, third.0))
    }
    #[inline(always)]
    fn any(self) -> W {
        self.fold(|a, b| a | b)
    }
    #[inline(always)]
    fn largest(self) -> W {
        self.fold(|a, b| if a.above(b) { a } else { b })
    }
    #[inline(always)]
    fn accumulate(self, doubles: DoubleArray<N>, weight: f64) -> DoubleArray<N> {
        at_length!({
            let mut out = doubles;
            for i in 0..N {
                out.0[i] = doubles.0[i] + weight * self.0[i].double();
            }
            out
        })
    }
}

impl<const N: usize> Floats for FloatArray<N> {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        FloatArray([value; N])
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        let mut out = self;
        for i in 0..N {
            out.0[i] = if mask >> i & 1 == 1 { other.0[i] } else { self.0[i] };
        }
        out
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let mut out = self;
        for i in 0..N {
            out.0[i] = if self.0[i] > other.0[i] { self.0[i] } else { other.0[i] };
        }
        out
    }
    #[inline(always)]
    fn largest(self) -> f32 {
        self.0.into_iter().fold(f32::NEG_INFINITY, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn at_least(self, value: f32) -> u32 {
        let mut mask = 0;
        for i in 0..N {
            mask |= u32::from(self.0[i] >= value) << i;
        }
        mask
    }
}

impl<const N: usize> Doubles for DoubleArray<N> {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        DoubleArray([value; N])
    }
    #[inline(always)]
    fn lane(self, index: usize) -> f64 {
        self.0[index]
    }
}
