//! The tables of x86-64: AVX2 and AVX-512, with words of 16 and of 32 bits.
//!
//! Functions that are more than one instruction stand below their table. They are compiled for what they use; the job
//! into which they are inlined is compiled for all that its kernel has.
//!
//! Why the tables are sound: their functions work on registers alone, with features that
//! [`Kernel`](super::Kernel) asks the machine for. `kernel.rs` of the tests compares the features of those below, the
//! compiler does not; an intrinsic of AVX-512 in a table of AVX2 would be a mistake that only older machines show.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::portable::Machine;
use super::registers::{
    Binary, DoubleVector, FloatFunctions, FloatTable, FloatVector, Functions, LaneFunctions, LaneTable,
    RegisterArray, Table, call_two,
};
use super::vectors::Apart;

type Floats256 = FloatVector<Avx2Floats, 2>;
type Floats512 = FloatVector<Avx512Floats, 1>;
type PairFloats = FloatVector<Avx512Floats, 2>;
type Doubles256 = DoubleVector<__m256d, 4>;
type Doubles512 = DoubleVector<__m512d, 2>;

/// A machine with AVX2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Machine;

/// A machine with AVX-512.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Machine;

impl Machine for Avx2Machine {
    const LARGE_IS_APART: bool = false;

    #[inline(always)]
    fn apart<W: Apart>(work: W) -> W::Output {
        // SAFETY: this type is only used when the machine has the features.
        unsafe { apart_avx2(work) }
    }
}

impl Machine for Avx512Machine {
    const LARGE_IS_APART: bool = false;

    #[inline(always)]
    fn apart<W: Apart>(work: W) -> W::Output {
        // SAFETY: this type is only used when the machine has the features.
        unsafe { apart_avx512(work) }
    }
}

#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn apart_avx2<W: Apart>(work: W) -> W::Output {
    work.run()
}

#[inline(never)]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg,avx512vbmi"
)]
fn apart_avx512<W: Apart>(work: W) -> W::Output {
    work.run()
}

/// Sixteen lanes of 32 bits in two 256-bit registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Compact;

unsafe impl Table<2> for Avx2Compact {
    type Word = u32;
    type Register = __m256i;
    type Mask = u32;
    type Rows = __m128i;
    type Floats = Floats256;
    const FUNCTIONS: Functions<Self, 2> = Functions {
        splat: splat_32,
        and: _mm256_and_si256,
        not_and: _mm256_andnot_si256,
        or: _mm256_or_si256,
        xor: _mm256_xor_si256,
        add: _mm256_add_epi32,
        sub: _mm256_sub_epi32,
        max: _mm256_max_epi32,
        min: _mm256_min_epi32,
        rows: _mm_cvtsi32_si128,
        up: _mm256_sll_epi32,
        down: _mm256_srl_epi32,
        up_by: _mm256_sllv_epi32,
        count: count_32,
        nonzero: nonzero_32,
        greater: greater_32,
        select: select_32,
        shift: bytes_from,
        estimate: estimate_32,
    };
}

unsafe impl LaneTable<2> for Avx2Compact {
    type Machine = Avx2Machine;
    type Doubles = Doubles256;
    type Wide = RegisterArray<Self, 2>;
    const LANES: LaneFunctions<Self, 2> = LaneFunctions {
        widened: |lanes, _| RegisterArray(lanes),
        part: |floats, _| floats,
        times: _mm256_mullo_epi32,
        top: top_32,
        fold: fold_32,
        sums: None,
        accumulate: accumulate_32,
    };
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat_32(word: u32) -> __m256i {
    _mm256_set1_epi32(word as i32)
}

/// Per nibble by table, then added up to bytes and to words.
#[inline]
#[target_feature(enable = "avx2")]
fn count_32(a: __m256i) -> __m256i {
    _mm256_madd_epi16(count_16(a), _mm256_set1_epi16(1))
}

/// The row above the highest bit, from the exponent of the word as a float. Clearing every bit whose upper neighbour is
/// set keeps the highest bit and prevents rounding up. No column has its sign bit set.
#[inline]
#[target_feature(enable = "avx2")]
fn top_32(a: __m256i) -> __m256i {
    let sparse = _mm256_andnot_si256(_mm256_srli_epi32::<1>(a), a);
    let bits = _mm256_castps_si256(_mm256_cvtepi32_ps(sparse));
    let top = _mm256_sub_epi32(_mm256_srli_epi32::<23>(bits), _mm256_set1_epi32(126));
    _mm256_max_epi32(top, _mm256_setzero_si256())
}

#[inline]
#[target_feature(enable = "avx2")]
fn nonzero_32(a: __m256i, _: __m256i) -> u32 {
    !signs_32(_mm256_cmpeq_epi32(a, _mm256_setzero_si256())) & 0xff
}

#[inline]
#[target_feature(enable = "avx2")]
fn greater_32(a: __m256i, b: __m256i) -> u32 {
    signs_32(_mm256_cmpgt_epi32(a, b))
}

#[inline]
#[target_feature(enable = "avx2")]
fn signs_32(lanes: __m256i) -> u32 {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
fn select_32(a: __m256i, mask: u32, b: __m256i) -> __m256i {
    _mm256_blendv_epi8(a, b, expand_32(mask))
}

/// All ones in the lanes of a mask of eight.
#[inline]
#[target_feature(enable = "avx2")]
fn expand_32(mask: u32) -> __m256i {
    let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(mask as i32), bit), bit)
}

/// The bytes of `low` from one on, then the first ones of `high`.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_from(low: __m256i, high: __m256i, first: usize) -> __m256i {
    // The upper half of `low`, then the lower half of `high`.
    let middle = _mm256_permute2x128_si256::<0x21>(low, high);
    match first {
        2 => _mm256_alignr_epi8::<2>(middle, low),
        4 => _mm256_alignr_epi8::<4>(middle, low),
        6 => _mm256_alignr_epi8::<6>(middle, low),
        8 => _mm256_alignr_epi8::<8>(middle, low),
        12 => _mm256_alignr_epi8::<12>(middle, low),
        16 => middle,
        24 => _mm256_alignr_epi8::<8>(high, middle),
        28 => _mm256_alignr_epi8::<12>(high, middle),
        30 => _mm256_alignr_epi8::<14>(high, middle),
        _ => unreachable!(),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn fold_32(a: __m256i, f: Binary<__m256i>) -> __m256i {
    let four = call_two(f, a, _mm256_permute2x128_si256::<0x01>(a, a));
    let two = call_two(f, four, _mm256_shuffle_epi32::<0b01_00_11_10>(four));
    call_two(f, two, _mm256_shuffle_epi32::<0b10_11_00_01>(two))
}

#[inline]
#[target_feature(enable = "avx2")]
fn estimate_32(words: [__m256i; 2], floats: Floats256, weight: f32) -> Floats256 {
    let ([low, high], [low_sum, high_sum]) = (words, floats.0);
    let weight = _mm256_set1_ps(weight);
    FloatVector([
        _mm256_add_ps(low_sum, _mm256_mul_ps(weight, _mm256_cvtepi32_ps(low))),
        _mm256_add_ps(high_sum, _mm256_mul_ps(weight, _mm256_cvtepi32_ps(high))),
    ])
}

#[inline]
#[target_feature(enable = "avx2")]
fn accumulate_32(words: [__m256i; 2], sums: Doubles256, weight: f64) -> Doubles256 {
    let weight = _mm256_set1_pd(weight);
    let [low, high] = words;
    let quarters = [
        _mm256_castsi256_si128(low),
        _mm256_extracti128_si256::<1>(low),
        _mm256_castsi256_si128(high),
        _mm256_extracti128_si256::<1>(high),
    ];
    let mut sums = sums.0;
    for (sum, quarter) in sums.iter_mut().zip(quarters) {
        *sum = _mm256_add_pd(*sum, _mm256_mul_pd(weight, _mm256_cvtepi32_pd(quarter)));
    }
    DoubleVector(sums)
}

/// Sixteen lanes of 16 bits in one 256-bit register: half the work, for low playfields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Low;

unsafe impl Table<1> for Avx2Low {
    type Word = u16;
    type Register = __m256i;
    type Mask = u32;
    type Rows = __m128i;
    type Floats = Floats256;
    const FUNCTIONS: Functions<Self, 1> = Functions {
        splat: splat_16,
        and: _mm256_and_si256,
        not_and: _mm256_andnot_si256,
        or: _mm256_or_si256,
        xor: _mm256_xor_si256,
        add: _mm256_add_epi16,
        sub: _mm256_sub_epi16,
        max: _mm256_max_epi16,
        min: _mm256_min_epi16,
        rows: _mm_cvtsi32_si128,
        up: _mm256_sll_epi16,
        down: _mm256_srl_epi16,
        up_by: up_by_16,
        count: count_16,
        nonzero: nonzero_16,
        greater: greater_16,
        select: select_16,
        shift: bytes_from,
        estimate: estimate_16,
    };
}

unsafe impl LaneTable<1> for Avx2Low {
    type Machine = Avx2Machine;
    type Doubles = Doubles256;
    type Wide = RegisterArray<Self, 1>;
    const LANES: LaneFunctions<Self, 1> = LaneFunctions {
        widened: |lanes, _| RegisterArray(lanes),
        part: |floats, _| floats,
        times: _mm256_mullo_epi16,
        top: top_16,
        fold: fold_16,
        sums: Some(sums_16),
        accumulate: accumulate_16,
    };
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat_16(word: u16) -> __m256i {
    _mm256_set1_epi16(word as i16)
}

/// Words of 16 bits, extended to 32.
#[inline]
#[target_feature(enable = "avx2")]
fn wide_16([words]: [__m256i; 1]) -> [__m256i; 2] {
    [
        _mm256_cvtepi16_epi32(_mm256_castsi256_si128(words)),
        _mm256_cvtepi16_epi32(_mm256_extracti128_si256::<1>(words)),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn estimate_16(words: [__m256i; 1], sums: Floats256, weight: f32) -> Floats256 {
    estimate_32(wide_16(words), sums, weight)
}

#[inline]
#[target_feature(enable = "avx2")]
fn accumulate_16(words: [__m256i; 1], sums: Doubles256, weight: f64) -> Doubles256 {
    accumulate_32(wide_16(words), sums, weight)
}

/// AVX2 has no 16-bit shift with a count per lane, so multiply by a power of two. A table per byte has the powers. For
/// a row in the other byte, the index is too large or has its sign bit set, so the entry is 0.
#[inline]
#[target_feature(enable = "avx2")]
fn up_by_16(a: __m256i, rows: __m256i) -> __m256i {
    let both = _mm256_or_si256(rows, _mm256_slli_epi16::<8>(rows));
    let halves = _mm256_sub_epi8(both, _mm256_set1_epi16(0x0800));
    let powers = table([1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0]);
    _mm256_mullo_epi16(a, _mm256_shuffle_epi8(powers, halves))
}

/// A table of sixteen bytes, in both halves of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn table(bytes: [i8; 16]) -> __m256i {
    // SAFETY: sixteen bytes are readable, and the load needs no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// Looks up the lower nibble of every byte in one table, and the upper nibble in another.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up(a: __m256i, low: [i8; 16], high: [i8; 16]) -> (__m256i, __m256i) {
    let nibble = _mm256_set1_epi8(15);
    let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(a), nibble);
    (_mm256_shuffle_epi8(table(low), _mm256_and_si256(a, nibble)), _mm256_shuffle_epi8(table(high), upper))
}

#[inline]
#[target_feature(enable = "avx2")]
fn count_16(a: __m256i) -> __m256i {
    let bits = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];
    let (low, high) = look_up(a, bits, bits);
    _mm256_maddubs_epi16(_mm256_add_epi8(low, high), _mm256_set1_epi8(1))
}

#[inline]
#[target_feature(enable = "avx2")]
fn top_16(a: __m256i) -> __m256i {
    let of_low = [0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4];
    let of_high = [0, 5, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8];
    let (low, high) = look_up(a, of_low, of_high);
    let tops = _mm256_max_epu8(low, high);
    let upper = _mm256_srli_epi16::<8>(tops);
    let is_in_upper = _mm256_cmpgt_epi16(upper, _mm256_setzero_si256());
    let over = _mm256_add_epi16(upper, _mm256_and_si256(is_in_upper, _mm256_set1_epi16(8)));
    _mm256_max_epi16(over, _mm256_and_si256(tops, _mm256_set1_epi16(255)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn nonzero_16(a: __m256i, _: __m256i) -> u32 {
    !signs_16(_mm256_cmpeq_epi16(a, _mm256_setzero_si256())) & 0xffff
}

#[inline]
#[target_feature(enable = "avx2")]
fn greater_16(a: __m256i, b: __m256i) -> u32 {
    signs_16(_mm256_cmpgt_epi16(a, b))
}

/// The sign bits of all lanes. Each lane is all ones or zero.
#[inline]
#[target_feature(enable = "avx2")]
fn signs_16(lanes: __m256i) -> u32 {
    let bytes = _mm_packs_epi16(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    _mm_movemask_epi8(bytes) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
fn select_16(a: __m256i, mask: u32, b: __m256i) -> __m256i {
    let bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
    let lanes = _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(mask as i16), bit), bit);
    _mm256_blendv_epi8(a, b, lanes)
}

#[inline]
#[target_feature(enable = "avx2")]
fn fold_16(a: __m256i, f: Binary<__m256i>) -> __m256i {
    let two = fold_32(a, f);
    call_two(f, two, _mm256_srli_epi32::<16>(two))
}

/// At most 16 * 13 each: all lanes fit into bytes, and their sums into a quarter of 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn sums_16([first]: [__m256i; 1], [second]: [__m256i; 1], [third]: [__m256i; 1]) -> [u32; 3] {
    let zero = _mm256_setzero_si256();
    let (first, second) = (_mm256_sad_epu8(first, zero), _mm256_sad_epu8(second, zero));
    let third = _mm256_sad_epu8(third, zero);
    let pair = _mm256_or_si256(first, _mm256_slli_epi64::<16>(second));
    let sums = _mm256_or_si256(pair, _mm256_slli_epi64::<32>(third));
    let two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    let sum = _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))) as u64;
    [sum as u16, (sum >> 16) as u16, (sum >> 32) as u16].map(u32::from)
}

/// Eight floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Floats;

unsafe impl FloatTable for Avx2Floats {
    type Register = __m256;
    type Mask = u32;
    const FUNCTIONS: FloatFunctions<Self> = FloatFunctions {
        splat: _mm256_set1_ps,
        max: _mm256_max_ps,
        select: select_floats,
        largest: largest_float,
        at_least: floats_at_least,
    };
}

#[inline]
#[target_feature(enable = "avx2")]
fn select_floats(a: __m256, mask: u32, b: __m256) -> __m256 {
    _mm256_blendv_ps(a, b, _mm256_castsi256_ps(expand_32(mask)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn largest_float(eight: __m256) -> f32 {
    let four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
    let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn floats_at_least(a: __m256, value: __m256) -> u32 {
    _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(a, value)) as u32
}

/// Sixteen lanes of 32 bits in one 512-bit register, with population and leading-zero counts in hardware.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Compact;

unsafe impl Table<1> for Avx512Compact {
    type Word = u32;
    type Register = __m512i;
    type Mask = u16;
    type Rows = __m128i;
    type Floats = Floats512;
    const FUNCTIONS: Functions<Self, 1> = Functions {
        splat: splat_512,
        and: _mm512_and_si512,
        not_and: _mm512_andnot_si512,
        or: _mm512_or_si512,
        xor: _mm512_xor_si512,
        add: _mm512_add_epi32,
        sub: _mm512_sub_epi32,
        max: _mm512_max_epi32,
        min: _mm512_min_epi32,
        rows: _mm_cvtsi32_si128,
        up: _mm512_sll_epi32,
        down: _mm512_srl_epi32,
        up_by: _mm512_sllv_epi32,
        count: _mm512_popcnt_epi32,
        nonzero: _mm512_test_epi32_mask,
        greater: _mm512_cmpgt_epi32_mask,
        select: _mm512_mask_mov_epi32,
        shift: shift_512,
        estimate: estimate_512,
    };
}

unsafe impl LaneTable<1> for Avx512Compact {
    type Machine = Avx512Machine;
    type Doubles = Doubles512;
    type Wide = RegisterArray<Self, 1>;
    const LANES: LaneFunctions<Self, 1> = LaneFunctions {
        widened: |lanes, _| RegisterArray(lanes),
        part: |floats, _| floats,
        times: _mm512_mullo_epi32,
        top: top_512,
        fold: fold_512,
        sums: None,
        accumulate: accumulate_512,
    };
}

#[inline]
#[target_feature(enable = "avx512f")]
fn splat_512(word: u32) -> __m512i {
    _mm512_set1_epi32(word as i32)
}

#[inline]
#[target_feature(enable = "avx512f,avx512cd")]
fn top_512(a: __m512i) -> __m512i {
    _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(a))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn shift_512(low: __m512i, high: __m512i, first: usize) -> __m512i {
    match first {
        4 => _mm512_alignr_epi32::<1>(high, low),
        8 => _mm512_alignr_epi32::<2>(high, low),
        12 => _mm512_alignr_epi32::<3>(high, low),
        16 => _mm512_alignr_epi32::<4>(high, low),
        32 => _mm512_alignr_epi32::<8>(high, low),
        48 => _mm512_alignr_epi32::<12>(high, low),
        56 => _mm512_alignr_epi32::<14>(high, low),
        60 => _mm512_alignr_epi32::<15>(high, low),
        _ => unreachable!(),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn fold_512(a: __m512i, f: Binary<__m512i>) -> __m512i {
    let eight = call_two(f, a, _mm512_shuffle_i64x2::<0b01_00_11_10>(a, a));
    let four = call_two(f, eight, _mm512_shuffle_i64x2::<0b10_11_00_01>(eight, eight));
    let two = call_two(f, four, _mm512_shuffle_epi32::<0b01_00_11_10>(four));
    call_two(f, two, _mm512_shuffle_epi32::<0b10_11_00_01>(two))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn estimate_512([words]: [__m512i; 1], floats: Floats512, weight: f32) -> Floats512 {
    let [sum] = floats.0;
    FloatVector([_mm512_fmadd_ps(_mm512_set1_ps(weight), _mm512_cvtepi32_ps(words), sum)])
}

#[inline]
#[target_feature(enable = "avx512f")]
fn accumulate_512([words]: [__m512i; 1], sums: Doubles512, weight: f64) -> Doubles512 {
    let [low, high] = sums.0;
    let weight = _mm512_set1_pd(weight);
    let low_lanes = _mm512_cvtepi32_pd(_mm512_castsi512_si256(words));
    let high_lanes = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64::<1>(words));
    DoubleVector([
        _mm512_add_pd(low, _mm512_mul_pd(weight, low_lanes)),
        _mm512_add_pd(high, _mm512_mul_pd(weight, high_lanes)),
    ])
}

/// Sixteen lanes of 16 bits in one 256-bit register, with the population count, the shifts and the masks of AVX-512.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Low;

unsafe impl Table<1> for Avx512Low {
    type Word = u16;
    type Register = __m256i;
    type Mask = u16;
    type Rows = __m128i;
    type Floats = Floats512;
    const FUNCTIONS: Functions<Self, 1> = Functions {
        splat: splat_16,
        and: _mm256_and_si256,
        not_and: _mm256_andnot_si256,
        or: _mm256_or_si256,
        xor: _mm256_xor_si256,
        add: _mm256_add_epi16,
        sub: _mm256_sub_epi16,
        max: _mm256_max_epi16,
        min: _mm256_min_epi16,
        rows: _mm_cvtsi32_si128,
        up: _mm256_sll_epi16,
        down: _mm256_srl_epi16,
        up_by: _mm256_sllv_epi16,
        count: _mm256_popcnt_epi16,
        nonzero: _mm256_test_epi16_mask,
        greater: _mm256_cmpgt_epi16_mask,
        select: _mm256_mask_mov_epi16,
        shift: shift_low,
        estimate: estimate_low,
    };
}

unsafe impl LaneTable<1> for Avx512Low {
    type Machine = Avx512Machine;
    type Doubles = Doubles512;
    type Wide = RegisterArray<Avx512Pair, 1>;
    const LANES: LaneFunctions<Self, 1> = LaneFunctions {
        widened: pair,
        part: |floats, part| FloatVector([floats.0[part]]),
        times: _mm256_mullo_epi16,
        top: top_low,
        fold: fold_16,
        sums: Some(sums_16),
        accumulate: accumulate_low,
    };
}

#[inline]
#[target_feature(enable = "avx512f,avx512cd")]
fn top_low(a: __m256i) -> __m256i {
    _mm512_cvtepi32_epi16(top_512(_mm512_cvtepu16_epi32(a)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn estimate_low([words]: [__m256i; 1], sums: Floats512, weight: f32) -> Floats512 {
    estimate_512([_mm512_cvtepu16_epi32(words)], sums, weight)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn accumulate_low([words]: [__m256i; 1], sums: Doubles512, weight: f64) -> Doubles512 {
    accumulate_512([_mm512_cvtepu16_epi32(words)], sums, weight)
}

/// ByteMoves within parts of 32 bytes: the source of each byte, and the mask of bytes that have a source.
struct ByteMoves {
    from: [u8; 64],
    inside: u64,
}

impl ByteMoves {
    const fn new(distance: i32) -> ByteMoves {
        let (mut from, mut inside, mut i) = ([0; 64], 0, 0);
        while i < 64 {
            let source = i % 32 + distance;
            if 0 <= source && source < 32 {
                from[i as usize] = (i + distance) as u8;
                inside |= 1 << i;
            }
            i += 1;
        }
        ByteMoves { from, inside }
    }
}

/// The moves of a shift by its first byte, of the register that is not the filling: the first one for less than half a
/// part, the second one for more.
static MOVES: [ByteMoves; 32] = {
    let mut moves = [const { ByteMoves::new(0) }; 32];
    let mut first = 1;
    while first < 32 {
        moves[first as usize] = ByteMoves::new(if first < 16 { first } else { first - 32 });
        first += 1;
    }
    moves
};

/// One of the registers is a filling with equal lanes, so take any of its lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn shift_low(low: __m256i, high: __m256i, first: usize) -> __m256i {
    let (lanes, fill) = if first < 16 { (low, high) } else { (high, low) };
    let ByteMoves { from, inside } = &MOVES[first];
    // SAFETY: thirty-two bytes are readable, and the load needs no alignment.
    let from = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
    match first {
        16 => _mm256_permute2x128_si256::<0x21>(low, high),
        _ => _mm256_mask_permutexvar_epi8(fill, *inside as u32, from, lanes),
    }
}

/// Two independent [`Avx512Low`] in one 512-bit register, for sweeps of two shapes at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Pair;

unsafe impl Table<1> for Avx512Pair {
    type Word = u16;
    type Register = __m512i;
    type Mask = u32;
    type Rows = __m128i;
    type Floats = PairFloats;
    const PARTS: usize = 2;
    const FUNCTIONS: Functions<Self, 1> = Functions {
        splat: splat_pair,
        and: _mm512_and_si512,
        not_and: _mm512_andnot_si512,
        or: _mm512_or_si512,
        xor: _mm512_xor_si512,
        add: _mm512_add_epi16,
        sub: _mm512_sub_epi16,
        max: _mm512_max_epi16,
        min: _mm512_min_epi16,
        rows: _mm_cvtsi32_si128,
        up: _mm512_sll_epi16,
        down: _mm512_srl_epi16,
        up_by: _mm512_sllv_epi16,
        count: _mm512_popcnt_epi16,
        nonzero: _mm512_test_epi16_mask,
        greater: _mm512_cmpgt_epi16_mask,
        select: _mm512_mask_mov_epi16,
        shift: shift_pair,
        estimate: estimate_pair,
    };
}

/// Puts `first` into the lower half of a register and `second` into the upper one.
#[inline]
#[target_feature(enable = "avx512f")]
fn pair([first]: [__m256i; 1], [second]: [__m256i; 1]) -> RegisterArray<Avx512Pair, 1> {
    RegisterArray([_mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second)])
}

#[inline]
#[target_feature(enable = "avx512f")]
fn splat_pair(word: u16) -> __m512i {
    _mm512_set1_epi16(word as i16)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn shift_pair(low: __m512i, high: __m512i, first: usize) -> __m512i {
    let (lanes, fill) = if first < 16 { (low, high) } else { (high, low) };
    let ByteMoves { from, inside } = &MOVES[first];
    // SAFETY: sixty-four bytes are readable, and the load needs no alignment.
    let from = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
    match first {
        16 => _mm512_permutex_epi64::<0b01_00_11_10>(_mm512_mask_mov_epi64(low, 0b0011_0011, high)),
        _ => _mm512_mask_permutexvar_epi8(fill, *inside, from, lanes),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn estimate_pair([words]: [__m512i; 1], floats: PairFloats, weight: f32) -> PairFloats {
    let [first, second] = floats.0;
    let low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(words));
    let high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(words));
    let [first] = estimate_512([low], FloatVector([first]), weight).0;
    let [second] = estimate_512([high], FloatVector([second]), weight).0;
    FloatVector([first, second])
}

/// Sixteen floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Floats;

unsafe impl FloatTable for Avx512Floats {
    type Register = __m512;
    type Mask = u16;
    const FUNCTIONS: FloatFunctions<Self> = FloatFunctions {
        splat: _mm512_set1_ps,
        max: _mm512_max_ps,
        select: _mm512_mask_mov_ps,
        largest: _mm512_reduce_max_ps,
        at_least: _mm512_cmp_ps_mask::<_CMP_GE_OQ>,
    };
}
