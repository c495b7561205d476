//! Sixteen lanes of 16 bits in one 256-bit register: half the work, for low playfields.
//!
//! Why the `unsafe` here is sound: only functions of [`super`] that [`dispatch`](super::dispatch) enters name these
//! types, and [`Kernel`](super::Kernel) has found every target feature on this machine by then. Loads and stores also
//! need memory; a comment at each says why they have it.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::avx2::{Avx2, Avx2Doubles, Avx2Floats};
use super::vectors::{Apart, Lanes, Words, not_widened};

/// Sixteen words of 16 bits, in one register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Low(pub __m256i);

impl Avx2Low {
    /// The words, extended to 32 bits.
    #[inline(always)]
    fn wide(self) -> Avx2 {
        unsafe {
            Avx2(
                _mm256_cvtepi16_epi32(_mm256_castsi256_si128(self.0)),
                _mm256_cvtepi16_epi32(_mm256_extracti128_si256::<1>(self.0)),
            )
        }
    }
}

/// Combines all lanes into one word, by halving.
macro_rules! fold {
    ($f:ident, $a:expr) => {
        unsafe {
            let eight = $f(_mm256_castsi256_si128($a.0), _mm256_extracti128_si256::<1>($a.0));
            let four = $f(eight, _mm_shuffle_epi32::<0b01_00_11_10>(eight));
            let two = $f(four, _mm_shuffle_epi32::<0b10_11_00_01>(four));
            let one = $f(two, _mm_srli_epi32::<16>(two));
            _mm_cvtsi128_si32(one) as u16
        }
    };
}

/// A table of sixteen bytes, in both halves of a register.
#[inline(always)]
fn table(bytes: [i8; 16]) -> __m256i {
    // SAFETY: sixteen bytes are readable, and the load needs no alignment.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
}

/// Looks up the lower nibble of every byte in one table, and the upper nibble in another.
#[inline(always)]
fn look_up(a: __m256i, low: [i8; 16], high: [i8; 16]) -> (__m256i, __m256i) {
    unsafe {
        let nibble = _mm256_set1_epi8(15);
        let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(a), nibble);
        (
            _mm256_shuffle_epi8(table(low), _mm256_and_si256(a, nibble)),
            _mm256_shuffle_epi8(table(high), upper),
        )
    }
}

/// The sign bits of all lanes. Each lane is all ones or zero.
#[inline(always)]
fn signs(lanes: __m256i) -> u32 {
    unsafe {
        let bytes = _mm_packs_epi16(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
        _mm_movemask_epi8(bytes) as u32
    }
}

/// All ones in the lanes of a mask.
#[inline(always)]
fn expand(mask: u32) -> __m256i {
    unsafe {
        let bit =
            _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
        _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(mask as i16), bit), bit)
    }
}

/// Implements [`Lanes::apart`] for machines with AVX2.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn apart<W: Apart>(work: W) -> W::Output {
    work.run()
}

impl Words for Avx2Low {
    type Word = u16;
    type Floats = Avx2Floats;
    const LANES: usize = 16;
    #[inline(always)]
    fn splat(word: u16) -> Self {
        Avx2Low(unsafe { _mm256_set1_epi16(word as i16) })
    }
    #[inline(always)]
    fn store(self, words: &mut [u16]) {
        let words: &mut [u16; 16] = words.first_chunk_mut().expect("one word per lane");
        // SAFETY: sixteen words are thirty-two writable bytes, and the store needs no alignment.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), self.0) }
    }
    #[inline(always)]
    fn next<const K: usize>(self, fill: Self) -> Self {
        Avx2Low(unsafe {
            // The upper half, then the lower half of the filling.
            let middle = _mm256_permute2x128_si256::<0x21>(self.0, fill.0);
            match K {
                1 => _mm256_alignr_epi8::<2>(middle, self.0),
                2 => _mm256_alignr_epi8::<4>(middle, self.0),
                3 => _mm256_alignr_epi8::<6>(middle, self.0),
                4 => _mm256_alignr_epi8::<8>(middle, self.0),
                8 => middle,
                _ => unreachable!(),
            }
        })
    }
    #[inline(always)]
    fn previous<const K: usize>(self, fill: Self) -> Self {
        Avx2Low(unsafe {
            let middle = _mm256_permute2x128_si256::<0x21>(fill.0, self.0);
            match K {
                1 => _mm256_alignr_epi8::<14>(self.0, middle),
                2 => _mm256_alignr_epi8::<12>(self.0, middle),
                4 => _mm256_alignr_epi8::<8>(self.0, middle),
                8 => middle,
                _ => unreachable!(),
            }
        })
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Avx2Low(unsafe { _mm256_and_si256(self.0, other.0) })
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Avx2Low(unsafe { _mm256_andnot_si256(other.0, self.0) })
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Avx2Low(unsafe { _mm256_or_si256(self.0, other.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Avx2Low(unsafe { _mm256_xor_si256(self.0, other.0) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Avx2Low(unsafe { _mm256_add_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Avx2Low(unsafe { _mm256_sub_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Avx2Low(unsafe { _mm256_max_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Avx2Low(unsafe { _mm256_min_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn up<const COUNT: u32>(self) -> Self {
        // The compiler turns this into a constant shift.
        Avx2Low(unsafe { _mm256_sll_epi16(self.0, _mm_cvtsi32_si128(COUNT as i32)) })
    }
    #[inline(always)]
    fn down<const COUNT: u32>(self) -> Self {
        Avx2Low(unsafe { _mm256_srl_epi16(self.0, _mm_cvtsi32_si128(COUNT as i32)) })
    }
    #[inline(always)]
    fn up_by(self, rows: Self) -> Self {
        // AVX2 has no 16-bit shift with a count per lane, so multiply by a power of two. A table per byte has the
        // powers. For a row in the other byte, the index is too large or has its sign bit set, so the entry is 0.
        unsafe {
            let both = _mm256_or_si256(rows.0, _mm256_slli_epi16::<8>(rows.0));
            let halves = _mm256_sub_epi8(both, _mm256_set1_epi16(0x0800));
            let powers = table([1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0]);
            let power = _mm256_shuffle_epi8(powers, halves);
            Avx2Low(_mm256_mullo_epi16(self.0, power))
        }
    }
    #[inline(always)]
    fn count(self) -> Self {
        let bits = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];
        let (low, high) = look_up(self.0, bits, bits);
        unsafe { Avx2Low(_mm256_maddubs_epi16(_mm256_add_epi8(low, high), _mm256_set1_epi8(1))) }
    }
    #[inline(always)]
    fn nonzero(self) -> u32 {
        !signs(unsafe { _mm256_cmpeq_epi16(self.0, _mm256_setzero_si256()) }) & 0xffff
    }
    #[inline(always)]
    fn greater(self, other: Self) -> u32 {
        signs(unsafe { _mm256_cmpgt_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        Avx2Low(unsafe { _mm256_blendv_epi8(self.0, other.0, expand(mask)) })
    }
    #[inline(always)]
    fn estimate(self, floats: Avx2Floats, weight: f32) -> Avx2Floats {
        self.wide().estimate(floats, weight)
    }
}

impl Lanes for Avx2Low {
    type Doubles = Avx2Doubles;
    not_widened!();

    #[inline(always)]
    fn apart<W: Apart>(work: W) -> W::Output {
        // SAFETY: these types are only used when the machine has the features.
        unsafe { apart(work) }
    }
    #[inline(always)]
    fn load(words: &[u16]) -> Self {
        let words: &[u16; 16] = words.first_chunk().expect("one word per lane");
        // SAFETY: sixteen words are thirty-two readable bytes, and the load needs no alignment.
        Avx2Low(unsafe { _mm256_loadu_si256(words.as_ptr().cast()) })
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Avx2Low(unsafe { _mm256_mullo_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn top(self) -> Self {
        let of_low = [0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4];
        let of_high = [0, 5, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8];
        let (low, high) = look_up(self.0, of_low, of_high);
        unsafe {
            let tops = _mm256_max_epu8(low, high);
            let upper = _mm256_srli_epi16::<8>(tops);
            let is_in_upper = _mm256_cmpgt_epi16(upper, _mm256_setzero_si256());
            let over = _mm256_add_epi16(upper, _mm256_and_si256(is_in_upper, _mm256_set1_epi16(8)));
            Avx2Low(_mm256_max_epi16(over, _mm256_and_si256(tops, _mm256_set1_epi16(255))))
        }
    }
    #[inline(always)]
    fn sum(self) -> u16 {
        fold!(_mm_add_epi16, self)
    }
    #[inline(always)]
    fn sums(first: Self, second: Self, third: Self) -> [u32; 3] {
        // At most 16 * 13 each: all lanes fit into bytes, and their sums into a quarter of 64 bits.
        unsafe {
            let zero = _mm256_setzero_si256();
            let (first, second) = (_mm256_sad_epu8(first.0, zero), _mm256_sad_epu8(second.0, zero));
            let third = _mm256_sad_epu8(third.0, zero);
            let pair = _mm256_or_si256(first, _mm256_slli_epi64::<16>(second));
            let sums = _mm256_or_si256(pair, _mm256_slli_epi64::<32>(third));
            let two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
            let sum = _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))) as u64;
            [sum as u16, (sum >> 16) as u16, (sum >> 32) as u16].map(u32::from)
        }
    }
    #[inline(always)]
    fn any(self) -> u16 {
        fold!(_mm_or_si128, self)
    }
    #[inline(always)]
    fn largest(self) -> u16 {
        fold!(_mm_max_epi16, self)
    }
    #[inline(always)]
    fn accumulate(self, doubles: Avx2Doubles, weight: f64) -> Avx2Doubles {
        self.wide().accumulate(doubles, weight)
    }
}
