//! Sixteen lanes of 32 bits in one 512-bit register, with population and leading-zero counts in hardware.
//!
//! Why the `unsafe` here is sound: only functions of [`super`] that [`dispatch`](super::dispatch) enters name these
//! types, and [`Kernel`](super::Kernel) has found every target feature on this machine by then. Loads and stores also
//! need memory; a comment at each says why they have it.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::vectors::{Apart, Doubles, Floats, Lanes, Words, not_widened};

/// Sixteen words of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(pub __m512i);

/// Sixteen doubles, in two registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Doubles([__m512d; 2]);

/// Sixteen floats in one register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Floats(pub __m512);

/// Implements [`Lanes::apart`] for machines with AVX-512.
#[inline(never)]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg,avx512vbmi"
)]
fn apart<W: Apart>(work: W) -> W::Output {
    work.run()
}

impl Words for Avx512 {
    type Word = u32;
    type Floats = Avx512Floats;
    const LANES: usize = 16;
    #[inline(always)]
    fn splat(word: u32) -> Self {
        Avx512(unsafe { _mm512_set1_epi32(word as i32) })
    }
    #[inline(always)]
    fn store(self, words: &mut [u32]) {
        let words: &mut [u32; 16] = words.first_chunk_mut().expect("one word per lane");
        // SAFETY: sixteen words are sixty-four writable bytes, and the store needs no alignment.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.0) }
    }
    #[inline(always)]
    fn next<const K: usize>(self, fill: Self) -> Self {
        Avx512(unsafe {
            match K {
                1 => _mm512_alignr_epi32::<1>(fill.0, self.0),
                2 => _mm512_alignr_epi32::<2>(fill.0, self.0),
                3 => _mm512_alignr_epi32::<3>(fill.0, self.0),
                4 => _mm512_alignr_epi32::<4>(fill.0, self.0),
                8 => _mm512_alignr_epi32::<8>(fill.0, self.0),
                _ => unreachable!(),
            }
        })
    }
    #[inline(always)]
    fn previous<const K: usize>(self, fill: Self) -> Self {
        Avx512(unsafe {
            match K {
                1 => _mm512_alignr_epi32::<15>(self.0, fill.0),
                2 => _mm512_alignr_epi32::<14>(self.0, fill.0),
                4 => _mm512_alignr_epi32::<12>(self.0, fill.0),
                8 => _mm512_alignr_epi32::<8>(self.0, fill.0),
                _ => unreachable!(),
            }
        })
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_and_si512(self.0, other.0) })
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_andnot_si512(other.0, self.0) })
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_or_si512(self.0, other.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_xor_si512(self.0, other.0) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_add_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_sub_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_max_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_min_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn up<const COUNT: u32>(self) -> Self {
        Avx512(unsafe { _mm512_slli_epi32::<COUNT>(self.0) })
    }
    #[inline(always)]
    fn down<const COUNT: u32>(self) -> Self {
        Avx512(unsafe { _mm512_srli_epi32::<COUNT>(self.0) })
    }
    #[inline(always)]
    fn up_by(self, rows: Self) -> Self {
        Avx512(unsafe { _mm512_sllv_epi32(self.0, rows.0) })
    }
    #[inline(always)]
    fn count(self) -> Self {
        Avx512(unsafe { _mm512_popcnt_epi32(self.0) })
    }
    #[inline(always)]
    fn nonzero(self) -> u32 {
        unsafe { _mm512_test_epi32_mask(self.0, self.0) }.into()
    }
    #[inline(always)]
    fn greater(self, other: Self) -> u32 {
        unsafe { _mm512_cmpgt_epi32_mask(self.0, other.0) }.into()
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        Avx512(unsafe { _mm512_mask_mov_epi32(self.0, mask as u16, other.0) })
    }
    #[inline(always)]
    fn estimate(self, floats: Avx512Floats, weight: f32) -> Avx512Floats {
        unsafe {
            let lanes = _mm512_cvtepi32_ps(self.0);
            Avx512Floats(_mm512_fmadd_ps(_mm512_set1_ps(weight), lanes, floats.0))
        }
    }
}

impl Lanes for Avx512 {
    type Doubles = Avx512Doubles;
    not_widened!();

    #[inline(always)]
    fn apart<W: Apart>(work: W) -> W::Output {
        // SAFETY: these types are only used when the machine has the features.
        unsafe { apart(work) }
    }
    #[inline(always)]
    fn load(words: &[u32]) -> Self {
        let words: &[u32; 16] = words.first_chunk().expect("one word per lane");
        // SAFETY: sixteen words are sixty-four readable bytes, and the load needs no alignment.
        Avx512(unsafe { _mm512_loadu_si512(words.as_ptr().cast()) })
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_mullo_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn top(self) -> Self {
        Avx512(unsafe { _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(self.0)) })
    }
    #[inline(always)]
    fn sum(self) -> u32 {
        unsafe { _mm512_reduce_add_epi32(self.0) as u32 }
    }
    #[inline(always)]
    fn sums(first: Self, second: Self, third: Self) -> [u32; 3] {
        let sum = first.add(second.up::<10>()).add(third.up::<20>()).sum();
        [sum & 1023, sum >> 10 & 1023, sum >> 20]
    }
    #[inline(always)]
    fn any(self) -> u32 {
        unsafe { _mm512_reduce_or_epi32(self.0) as u32 }
    }
    #[inline(always)]
    fn largest(self) -> u32 {
        unsafe { _mm512_reduce_max_epi32(self.0) as u32 }
    }
    #[inline(always)]
    fn accumulate(self, doubles: Avx512Doubles, weight: f64) -> Avx512Doubles {
        let [low, high] = doubles.0;
        unsafe {
            let weight = _mm512_set1_pd(weight);
            let low_lanes = _mm512_cvtepi32_pd(_mm512_castsi512_si256(self.0));
            let high_lanes = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64::<1>(self.0));
            Avx512Doubles([
                _mm512_add_pd(low, _mm512_mul_pd(weight, low_lanes)),
                _mm512_add_pd(high, _mm512_mul_pd(weight, high_lanes)),
            ])
        }
    }
}

impl Floats for Avx512Floats {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Avx512Floats(unsafe { _mm512_set1_ps(value) })
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        Avx512Floats(unsafe { _mm512_mask_mov_ps(self.0, mask as u16, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Avx512Floats(unsafe { _mm512_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn largest(self) -> f32 {
        unsafe { _mm512_reduce_max_ps(self.0) }
    }
    #[inline(always)]
    fn at_least(self, value: f32) -> u32 {
        unsafe { _mm512_cmp_ps_mask::<_CMP_GE_OQ>(self.0, _mm512_set1_ps(value)) }.into()
    }
}

impl Doubles for Avx512Doubles {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Avx512Doubles(unsafe { [_mm512_set1_pd(value); 2] })
    }
    #[inline(always)]
    fn lane(self, index: usize) -> f64 {
        let mut lanes = [0.0f64; 16];
        // SAFETY: the two halves are eight doubles each, and the stores need no alignment.
        unsafe {
            _mm512_storeu_pd(lanes.as_mut_ptr(), self.0[0]);
            _mm512_storeu_pd(lanes.as_mut_ptr().add(8), self.0[1]);
        }
        lanes[index]
    }
}
