//! Sixteen lanes of 16 bits in one 256-bit register, with the population count, the shifts and the masks of AVX-512.
//!
//! Where AVX2 has an operation as one instruction, this file uses [`Avx2Low`]'s.
//!
//! Why the `unsafe` here is sound: only functions of [`super`] that [`dispatch`](super::dispatch) enters name these
//! types, and [`Kernel`](super::Kernel) has found every target feature on this machine by then. Loads and stores also
//! need memory; a comment at each says why they have it.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::avx2_low::Avx2Low;
use super::avx512::{Avx512, Avx512Doubles, Avx512Floats};
use super::avx512_pair::{Avx512Pair, Avx512PairFloats, byte_indices};
use super::vectors::{Apart, Lanes, Words};

/// Sixteen words of 16 bits, in the lower half of a register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Low(Avx2Low);

impl Avx512Low {
    /// The words, extended to 32 bits.
    #[inline(always)]
    fn wide(self) -> __m512i {
        unsafe { _mm512_cvtepu16_epi32(self.0.0) }
    }

    #[inline(always)]
    fn permuted(self, from: &[u8; 32], inside: u32, fill: Self) -> Self {
        // SAFETY: thirty-two bytes are readable, and the load needs no alignment.
        let from = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
        Avx512Low(Avx2Low(unsafe { _mm256_mask_permutexvar_epi8(fill.0.0, inside, from, self.0.0) }))
    }
}

/// Implements [`Lanes::apart`] for machines with AVX-512.
#[inline(never)]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg,avx512vbmi"
)]
fn apart<W: Apart>(work: W) -> W::Output {
    work.run()
}

impl Words for Avx512Low {
    type Word = u16;
    type Floats = Avx512Floats;
    const LANES: usize = 16;
    #[inline(always)]
    fn splat(word: u16) -> Self {
        Avx512Low(Avx2Low::splat(word))
    }
    #[inline(always)]
    fn store(self, words: &mut [u16]) {
        self.0.store(words);
    }
    #[inline(always)]
    fn next<const K: usize>(self, fill: Self) -> Self {
        // All lanes of the filling are equal, so take any lane.
        let (from, inside) = const { byte_indices(2 * K as i32) };
        self.permuted(&from, inside, fill)
    }
    #[inline(always)]
    fn previous<const K: usize>(self, fill: Self) -> Self {
        let (from, inside) = const { byte_indices(-2 * K as i32) };
        self.permuted(&from, inside, fill)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Avx512Low(self.0.and(other.0))
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Avx512Low(self.0.and_not(other.0))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Avx512Low(self.0.or(other.0))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Avx512Low(self.0.xor(other.0))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Avx512Low(self.0.add(other.0))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Avx512Low(self.0.sub(other.0))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Avx512Low(self.0.max(other.0))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Avx512Low(self.0.min(other.0))
    }
    #[inline(always)]
    fn up<const COUNT: u32>(self) -> Self {
        Avx512Low(self.0.up::<COUNT>())
    }
    #[inline(always)]
    fn down<const COUNT: u32>(self) -> Self {
        Avx512Low(self.0.down::<COUNT>())
    }
    #[inline(always)]
    fn up_by(self, rows: Self) -> Self {
        Avx512Low(Avx2Low(unsafe { _mm256_sllv_epi16(self.0.0, rows.0.0) }))
    }
    #[inline(always)]
    fn count(self) -> Self {
        Avx512Low(Avx2Low(unsafe { _mm256_popcnt_epi16(self.0.0) }))
    }
    #[inline(always)]
    fn nonzero(self) -> u32 {
        unsafe { _mm256_test_epi16_mask(self.0.0, self.0.0) }.into()
    }
    #[inline(always)]
    fn greater(self, other: Self) -> u32 {
        unsafe { _mm256_cmpgt_epi16_mask(self.0.0, other.0.0) }.into()
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        Avx512Low(Avx2Low(unsafe { _mm256_mask_mov_epi16(self.0.0, mask as u16, other.0.0) }))
    }
    #[inline(always)]
    fn estimate(self, floats: Avx512Floats, weight: f32) -> Avx512Floats {
        Avx512(self.wide()).estimate(floats, weight)
    }
}

impl Lanes for Avx512Low {
    type Doubles = Avx512Doubles;
    type Wide = Avx512Pair;

    #[inline(always)]
    fn widened(self, other: Self) -> Avx512Pair {
        Avx512Pair::new(self.0.0, other.0.0)
    }
    #[inline(always)]
    fn part(floats: Avx512PairFloats, part: usize) -> Avx512Floats {
        floats.0[part]
    }
    #[inline(always)]
    fn apart<W: Apart>(work: W) -> W::Output {
        // SAFETY: these types are only used when the machine has the features.
        unsafe { apart(work) }
    }
    #[inline(always)]
    fn load(words: &[u16]) -> Self {
        Avx512Low(Avx2Low::load(words))
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Avx512Low(self.0.times(other.0))
    }
    #[inline(always)]
    fn top(self) -> Self {
        unsafe {
            let above = _mm512_lzcnt_epi32(self.wide());
            Avx512Low(Avx2Low(_mm512_cvtepi32_epi16(_mm512_sub_epi32(_mm512_set1_epi32(32), above))))
        }
    }
    #[inline(always)]
    fn sum(self) -> u16 {
        self.0.sum()
    }
    #[inline(always)]
    fn sums(first: Self, second: Self, third: Self) -> [u32; 3] {
        Avx2Low::sums(first.0, second.0, third.0)
    }
    #[inline(always)]
    fn any(self) -> u16 {
        self.0.any()
    }
    #[inline(always)]
    fn largest(self) -> u16 {
        self.0.largest()
    }
    #[inline(always)]
    fn accumulate(self, doubles: Avx512Doubles, weight: f64) -> Avx512Doubles {
        Avx512(self.wide()).accumulate(doubles, weight)
    }
}
