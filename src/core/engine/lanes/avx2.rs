//! Sixteen lanes of 32 bits in two 256-bit registers.
//!
//! Why the `unsafe` here is sound: only functions of [`super`] that [`dispatch`](super::dispatch) enters name these
//! types, and [`Kernel`](super::Kernel) has found every target feature on this machine by then. Loads and stores also
//! need memory; a comment at each says why they have it.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::portable::Machine;
use super::vectors::{Apart, Doubles, Floats, Lanes, Words, not_widened};

/// Sixteen words: the lower eight lanes, then the upper eight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(pub __m256i, pub __m256i);

/// Sixteen doubles, four per register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Doubles([__m256d; 4]);

/// Sixteen floats, eight per register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Floats([__m256; 2]);

/// Applies an intrinsic to both halves. A macro, because a closure would be a function without the target features, in
/// which every intrinsic is a real call.
macro_rules! both {
    ($f:ident, $a:expr) => {
        unsafe { Avx2($f($a.0), $f($a.1)) }
    };
    ($f:ident, $a:expr, $b:expr) => {
        unsafe { Avx2($f($a.0, $b.0), $f($a.1, $b.1)) }
    };
}

/// Combines all lanes into one word, by halving.
macro_rules! fold {
    ($f:ident, $a:expr) => {
        unsafe {
            let low = $f(_mm256_castsi256_si128($a.0), _mm256_extracti128_si256::<1>($a.0));
            let high = $f(_mm256_castsi256_si128($a.1), _mm256_extracti128_si256::<1>($a.1));
            let four = $f(low, high);
            let two = $f(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
            let one = $f(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
            _mm_cvtsi128_si32(one) as u32
        }
    };
}

/// Number of bits set in each word: per nibble by table, then added up to bytes and to words.
#[inline(always)]
unsafe fn count(a: __m256i) -> __m256i {
    unsafe {
        let table = _mm256_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
        );
        let nibble = _mm256_set1_epi8(15);
        let low = _mm256_shuffle_epi8(table, _mm256_and_si256(a, nibble));
        let high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16::<4>(a), nibble));
        let pairs = _mm256_maddubs_epi16(_mm256_add_epi8(low, high), _mm256_set1_epi8(1));
        _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))
    }
}

/// The row above the highest bit, from the exponent of the word as a float. Clearing every bit whose upper neighbour is
/// set keeps the highest bit and prevents rounding up. No column has its sign bit set.
#[inline(always)]
unsafe fn top(a: __m256i) -> __m256i {
    unsafe {
        let sparse = _mm256_andnot_si256(_mm256_srli_epi32::<1>(a), a);
        let bits = _mm256_castps_si256(_mm256_cvtepi32_ps(sparse));
        let top = _mm256_sub_epi32(_mm256_srli_epi32::<23>(bits), _mm256_set1_epi32(126));
        _mm256_max_epi32(top, _mm256_setzero_si256())
    }
}

/// All ones in the lanes of a mask of eight.
#[inline(always)]
unsafe fn expand(mask: u32) -> __m256i {
    unsafe {
        let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(mask as i32), bit), bit)
    }
}

/// Lanes K.. of `low`, then the first K of `high`, for K below 8.
#[inline(always)]
fn shifted<const K: usize>(low: __m256i, high: __m256i) -> __m256i {
    unsafe {
        // The upper half of `low`, then the lower half of `high`.
        let middle = _mm256_permute2x128_si256::<0x21>(low, high);
        match K {
            1 => _mm256_alignr_epi8::<4>(middle, low),
            2 => _mm256_alignr_epi8::<8>(middle, low),
            3 => _mm256_alignr_epi8::<12>(middle, low),
            4 => middle,
            6 => _mm256_alignr_epi8::<8>(high, middle),
            7 => _mm256_alignr_epi8::<12>(high, middle),
            _ => unreachable!(),
        }
    }
}

/// Implements [`Lanes::apart`] for machines with AVX2.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn apart<W: Apart>(work: W) -> W::Output {
    work.run()
}

/// A machine with AVX2, for which the compiler turns plain arrays into vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Machine;

impl Machine for Avx2Machine {
    const LARGE_IS_APART: bool = false;

    #[inline(always)]
    fn apart<W: Apart>(work: W) -> W::Output {
        // SAFETY: this type is only used when the machine has the features.
        unsafe { apart(work) }
    }
}

impl Words for Avx2 {
    type Word = u32;
    type Floats = Avx2Floats;
    const LANES: usize = 16;
    #[inline(always)]
    fn splat(word: u32) -> Self {
        let all = unsafe { _mm256_set1_epi32(word as i32) };
        Avx2(all, all)
    }
    #[inline(always)]
    fn store(self, words: &mut [u32]) {
        let words: &mut [u32; 16] = words.first_chunk_mut().expect("one word per lane");
        // SAFETY: sixteen words are twice thirty-two writable bytes, and the stores need no alignment.
        unsafe {
            let to: *mut __m256i = words.as_mut_ptr().cast();
            _mm256_storeu_si256(to, self.0);
            _mm256_storeu_si256(to.add(1), self.1);
        }
    }
    #[inline(always)]
    fn next<const K: usize>(self, fill: Self) -> Self {
        match K {
            1 => Avx2(shifted::<1>(self.0, self.1), shifted::<1>(self.1, fill.0)),
            2 => Avx2(shifted::<2>(self.0, self.1), shifted::<2>(self.1, fill.0)),
            3 => Avx2(shifted::<3>(self.0, self.1), shifted::<3>(self.1, fill.0)),
            4 => Avx2(shifted::<4>(self.0, self.1), shifted::<4>(self.1, fill.0)),
            8 => Avx2(self.1, fill.0),
            _ => unreachable!(),
        }
    }
    #[inline(always)]
    fn previous<const K: usize>(self, fill: Self) -> Self {
        match K {
            1 => Avx2(shifted::<7>(fill.1, self.0), shifted::<7>(self.0, self.1)),
            2 => Avx2(shifted::<6>(fill.1, self.0), shifted::<6>(self.0, self.1)),
            4 => Avx2(shifted::<4>(fill.1, self.0), shifted::<4>(self.0, self.1)),
            8 => Avx2(fill.1, self.0),
            _ => unreachable!(),
        }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        both!(_mm256_and_si256, self, other)
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        both!(_mm256_andnot_si256, other, self)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        both!(_mm256_or_si256, self, other)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        both!(_mm256_xor_si256, self, other)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        both!(_mm256_add_epi32, self, other)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        both!(_mm256_sub_epi32, self, other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        both!(_mm256_max_epi32, self, other)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        both!(_mm256_min_epi32, self, other)
    }
    #[inline(always)]
    fn up<const COUNT: u32>(self) -> Self {
        // The compiler turns this into a constant shift.
        unsafe {
            let count = _mm_cvtsi32_si128(COUNT as i32);
            Avx2(_mm256_sll_epi32(self.0, count), _mm256_sll_epi32(self.1, count))
        }
    }
    #[inline(always)]
    fn down<const COUNT: u32>(self) -> Self {
        unsafe {
            let count = _mm_cvtsi32_si128(COUNT as i32);
            Avx2(_mm256_srl_epi32(self.0, count), _mm256_srl_epi32(self.1, count))
        }
    }
    #[inline(always)]
    fn up_by(self, rows: Self) -> Self {
        both!(_mm256_sllv_epi32, self, rows)
    }
    #[inline(always)]
    fn count(self) -> Self {
        both!(count, self)
    }
    #[inline(always)]
    fn nonzero(self) -> u32 {
        let zero = Self::splat(0);
        !signs(both!(_mm256_cmpeq_epi32, self, zero)) & 0xffff
    }
    #[inline(always)]
    fn greater(self, other: Self) -> u32 {
        signs(both!(_mm256_cmpgt_epi32, self, other))
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        unsafe {
            Avx2(
                _mm256_blendv_epi8(self.0, other.0, expand(mask)),
                _mm256_blendv_epi8(self.1, other.1, expand(mask >> 8)),
            )
        }
    }
    #[inline(always)]
    fn estimate(self, floats: Avx2Floats, weight: f32) -> Avx2Floats {
        let [low, high] = floats.0;
        unsafe {
            let weight = _mm256_set1_ps(weight);
            Avx2Floats([
                _mm256_add_ps(low, _mm256_mul_ps(weight, _mm256_cvtepi32_ps(self.0))),
                _mm256_add_ps(high, _mm256_mul_ps(weight, _mm256_cvtepi32_ps(self.1))),
            ])
        }
    }
}

impl Lanes for Avx2 {
    type Doubles = Avx2Doubles;
    not_widened!();

    #[inline(always)]
    fn apart<W: Apart>(work: W) -> W::Output {
        // SAFETY: these types are only used when the machine has the features.
        unsafe { apart(work) }
    }
    #[inline(always)]
    fn load(words: &[u32]) -> Self {
        let words: &[u32; 16] = words.first_chunk().expect("one word per lane");
        // SAFETY: sixteen words are twice thirty-two readable bytes, and the loads need no alignment.
        unsafe {
            let from: *const __m256i = words.as_ptr().cast();
            Avx2(_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)))
        }
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        both!(_mm256_mullo_epi32, self, other)
    }
    #[inline(always)]
    fn top(self) -> Self {
        both!(top, self)
    }
    #[inline(always)]
    fn sum(self) -> u32 {
        fold!(_mm_add_epi32, self)
    }
    #[inline(always)]
    fn sums(first: Self, second: Self, third: Self) -> [u32; 3] {
        let sum = first.add(second.up::<10>()).add(third.up::<20>()).sum();
        [sum & 1023, sum >> 10 & 1023, sum >> 20]
    }
    #[inline(always)]
    fn any(self) -> u32 {
        fold!(_mm_or_si128, self)
    }
    #[inline(always)]
    fn largest(self) -> u32 {
        fold!(_mm_max_epi32, self)
    }
    #[inline(always)]
    fn accumulate(self, doubles: Avx2Doubles, weight: f64) -> Avx2Doubles {
        unsafe {
            let weight = _mm256_set1_pd(weight);
            let quarters = [
                _mm256_castsi256_si128(self.0),
                _mm256_extracti128_si256::<1>(self.0),
                _mm256_castsi256_si128(self.1),
                _mm256_extracti128_si256::<1>(self.1),
            ];
            let mut sums = doubles.0;
            for (sum, quarter) in sums.iter_mut().zip(quarters) {
                *sum = _mm256_add_pd(*sum, _mm256_mul_pd(weight, _mm256_cvtepi32_pd(quarter)));
            }
            Avx2Doubles(sums)
        }
    }
}

/// The sign bit of every lane.
#[inline(always)]
fn signs(lanes: Avx2) -> u32 {
    unsafe {
        let low = _mm256_movemask_ps(_mm256_castsi256_ps(lanes.0)) as u32;
        let high = _mm256_movemask_ps(_mm256_castsi256_ps(lanes.1)) as u32;
        low | high << 8
    }
}

impl Floats for Avx2Floats {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Avx2Floats([unsafe { _mm256_set1_ps(value) }; 2])
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        unsafe {
            let (low, high) = (expand(mask), expand(mask >> 8));
            Avx2Floats([
                _mm256_blendv_ps(a, c, _mm256_castsi256_ps(low)),
                _mm256_blendv_ps(b, d, _mm256_castsi256_ps(high)),
            ])
        }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        Avx2Floats(unsafe { [_mm256_max_ps(a, c), _mm256_max_ps(b, d)] })
    }
    #[inline(always)]
    fn largest(self) -> f32 {
        unsafe {
            let eight = _mm256_max_ps(self.0[0], self.0[1]);
            let four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
            let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
        }
    }
    #[inline(always)]
    fn at_least(self, value: f32) -> u32 {
        unsafe {
            let value = _mm256_set1_ps(value);
            let low = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(self.0[0], value)) as u32;
            let high = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(self.0[1], value)) as u32;
            low | high << 8
        }
    }
}

impl Doubles for Avx2Doubles {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Avx2Doubles([unsafe { _mm256_set1_pd(value) }; 4])
    }
    #[inline(always)]
    fn lane(self, index: usize) -> f64 {
        let mut lanes = [0.0f64; 16];
        for (to, four) in lanes.chunks_exact_mut(4).zip(self.0) {
            // SAFETY: the chunk holds four writable doubles, and the store needs no alignment.
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), four) }
        }
        lanes[index]
    }
}
