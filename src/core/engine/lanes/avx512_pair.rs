//! Two independent [`Avx512Low`](super::avx512_low::Avx512Low) in one 512-bit register, for sweeps of two shapes at
//! once.
//!
//! Why the `unsafe` here is sound: only functions of [`super`] that [`dispatch`](super::dispatch) enters name these
//! types, and [`Kernel`](super::Kernel) has found every target feature on this machine by then. Loads and stores also
//! need memory; a comment at each says why they have it.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::avx512::{Avx512, Avx512Floats};
use super::vectors::{Floats, Words};

/// Thirty-two words: two parts of sixteen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Pair(__m512i);

/// The floats of each part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512PairFloats(pub [Avx512Floats; 2]);

impl Avx512Pair {
    /// Puts `first` into the lower half of the register and `second` into the upper one.
    #[inline(always)]
    pub(super) fn new(first: __m256i, second: __m256i) -> Self {
        Avx512Pair(unsafe { _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second) })
    }

    #[inline(always)]
    fn permuted(self, from: &[u8; 64], inside: u64, fill: Self) -> Self {
        // SAFETY: sixty-four bytes are readable, and the load needs no alignment.
        let from = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
        Avx512Pair(unsafe { _mm512_mask_permutexvar_epi8(fill.0, inside, from, self.0) })
    }
}

/// The source of each byte when all bytes move down by a distance, and the mask of bytes that have a source.
pub(crate) const fn byte_indices(distance: i32) -> ([u8; 32], u32) {
    let (mut from, mut inside, mut i) = ([0; 32], 0, 0);
    while i < 32 {
        let source = i + distance;
        if 0 <= source && source < 32 {
            from[i as usize] = source as u8;
            inside |= 1 << i;
        }
        i += 1;
    }
    (from, inside)
}

/// The source of each byte within its part, and the mask of bytes that have a source.
const fn pair_indices(distance: i32) -> ([u8; 64], u64) {
    let (half, inside) = byte_indices(distance);
    let (mut from, mut i) = ([0; 64], 0);
    while i < 32 {
        from[i] = half[i];
        from[i + 32] = half[i] + 32;
        i += 1;
    }
    (from, inside as u64 | (inside as u64) << 32)
}

impl Words for Avx512Pair {
    type Word = u16;
    type Floats = Avx512PairFloats;
    const LANES: usize = 32;
    const PARTS: usize = 2;

    #[inline(always)]
    fn splat(word: u16) -> Self {
        Avx512Pair(unsafe { _mm512_set1_epi16(word as i16) })
    }
    #[inline(always)]
    fn store(self, words: &mut [u16]) {
        let words: &mut [u16; 32] = words.first_chunk_mut().expect("one word per lane");
        // SAFETY: thirty-two words are sixty-four writable bytes, and the store needs no alignment.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.0) }
    }
    #[inline(always)]
    fn next<const K: usize>(self, fill: Self) -> Self {
        let (from, inside) = const { pair_indices(2 * K as i32) };
        self.permuted(&from, inside, fill)
    }
    #[inline(always)]
    fn previous<const K: usize>(self, fill: Self) -> Self {
        let (from, inside) = const { pair_indices(-2 * K as i32) };
        self.permuted(&from, inside, fill)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Avx512Pair(unsafe { _mm512_and_si512(self.0, other.0) })
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Avx512Pair(unsafe { _mm512_andnot_si512(other.0, self.0) })
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Avx512Pair(unsafe { _mm512_or_si512(self.0, other.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Avx512Pair(unsafe { _mm512_xor_si512(self.0, other.0) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Avx512Pair(unsafe { _mm512_add_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Avx512Pair(unsafe { _mm512_sub_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Avx512Pair(unsafe { _mm512_max_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Avx512Pair(unsafe { _mm512_min_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn up<const COUNT: u32>(self) -> Self {
        Avx512Pair(unsafe { _mm512_slli_epi16::<COUNT>(self.0) })
    }
    #[inline(always)]
    fn down<const COUNT: u32>(self) -> Self {
        Avx512Pair(unsafe { _mm512_srli_epi16::<COUNT>(self.0) })
    }
    #[inline(always)]
    fn up_by(self, rows: Self) -> Self {
        Avx512Pair(unsafe { _mm512_sllv_epi16(self.0, rows.0) })
    }
    #[inline(always)]
    fn count(self) -> Self {
        Avx512Pair(unsafe { _mm512_popcnt_epi16(self.0) })
    }
    #[inline(always)]
    fn nonzero(self) -> u32 {
        unsafe { _mm512_test_epi16_mask(self.0, self.0) }
    }
    #[inline(always)]
    fn greater(self, other: Self) -> u32 {
        unsafe { _mm512_cmpgt_epi16_mask(self.0, other.0) }
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        Avx512Pair(unsafe { _mm512_mask_mov_epi16(self.0, mask, other.0) })
    }
    #[inline(always)]
    fn estimate(self, floats: Avx512PairFloats, weight: f32) -> Avx512PairFloats {
        let [first, second] = floats.0;
        let (low, high) = unsafe {
            (
                _mm512_cvtepu16_epi32(_mm512_castsi512_si256(self.0)),
                _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(self.0)),
            )
        };
        Avx512PairFloats([Avx512(low).estimate(first, weight), Avx512(high).estimate(second, weight)])
    }
}

impl Floats for Avx512PairFloats {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Avx512PairFloats([Avx512Floats::splat(value); 2])
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        Avx512PairFloats([a.select(mask, c), b.select(mask >> 16, d)])
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        Avx512PairFloats([a.max(c), b.max(d)])
    }
    #[inline(always)]
    fn largest(self) -> f32 {
        let [first, second] = self.0;
        first.max(second).largest()
    }
    #[inline(always)]
    fn at_least(self, value: f32) -> u32 {
        let [first, second] = self.0;
        first.at_least(value) | second.at_least(value) << 16
    }
}
