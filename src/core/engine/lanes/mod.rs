//! Vectors with one lane per column of a playfield, or one lane per placement, and the choice between machines.
//!
//! A `LaneWork` is work on one playfield size, usually a whole game or a whole batch. `dispatch` runs it with the
//! lanes of a [`Kernel`]: everything is inlined into one function compiled for that machine. All kernels give the same
//! bits and differ only in speed. This module knows words and machines, and no rules.
//!
//! The lanes are as short as the playfield allows: 16 lanes of 16 bits up to 16 x 12 (width x height), 16 lanes of 32
//! bits up to 16 x 28. Both have kernels for AVX2 and AVX-512: one vector for all (`registers.rs`), and a table of
//! functions per machine and word size (`x86_64.rs`). Larger playfields have 32 lanes of 64 bits as plain arrays, at a
//! tenth of the speed; the compiler turns them into AVX2 vectors if the machine has them. Other processors than x86-64
//! have plain arrays for all.
//!
//! Three things did not pay:
//!
//! - AVX-512 for large playfields.
//! - Closures in the vector code. Closures are functions without the target features, so every intrinsic in them becomes
//!   a call (a factor of three).
//! - Plain arrays for all machines, with four to six operations per machine by hand. LLVM makes vectors of an operation
//!   alone, but next to others it often simplifies single lanes first. With masks, selections and, for AVX2, moves of
//!   lanes by hand, and every result held in registers by an empty `asm!`, `bench --only rollouts` ran at 0.79 to 0.98
//!   of the speed with AVX2 and at 0.67 to 0.95 with AVX-512; with counts, tops and masks by hand and no `asm!`, at 0.48
//!   to 0.78 and 0.20 to 0.93. The benchmark compiled for 290 s instead of 187 s of processor time, because every
//!   operation is sixteen until late. A comparison of floats was not yet by hand.

mod portable;
#[cfg(target_arch = "x86_64")]
mod registers;
mod vectors;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(crate) use vectors::{
    Apart, Doubles, Floats, Lanes, Words, common_before, common_from, distance, each_part, lanes_below, small,
};

use std::sync::OnceLock;

use super::column::Column;
use super::playfield::{CompactPlayfield, LowPlayfield};
use portable::{AnyMachine, WordArray};
#[cfg(target_arch = "x86_64")]
use registers::RegisterArray;

/// An implementation of the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// Plain loops, on every machine.
    Portable,
    /// 256-bit vectors: x86-64 from about 2013 on.
    Avx2,
    /// 512-bit vectors with population count: x86-64 servers from about 2019 on.
    Avx512,
}

impl Kernel {
    /// All kernels, the fastest last.
    pub const ALL: [Kernel; 3] = [Kernel::Portable, Kernel::Avx2, Kernel::Avx512];

    /// The kernel's name in flags, reports and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
        }
    }

    /// Whether this machine can run the kernel.
    #[inline]
    pub fn is_available(self) -> bool {
        self <= Kernel::best()
    }

    /// Whether this machine has the features that the kernel adds to the one before it.
    fn is_supported(self) -> bool {
        match self {
            Kernel::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512cd")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vpopcntdq")
                    && is_x86_feature_detected!("avx512bitalg")
                    && is_x86_feature_detected!("avx512vbmi")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The fastest kernel that this machine can run.
    #[inline]
    pub fn best() -> Kernel {
        /// The answer, because asking the machine takes longer than listing the placements of a piece.
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| {
            let supported = Kernel::ALL.into_iter().take_while(|kernel| kernel.is_supported());
            supported.last().unwrap_or(Kernel::Portable)
        })
    }
}

/// The fastest kernel of this machine.
impl Default for Kernel {
    fn default() -> Kernel {
        Kernel::best()
    }
}

/// Work on one playfield size, written for all lanes.
///
/// `run` must be `#[inline(always)]`, so that it is compiled with the target features of each kernel.
pub(crate) trait LaneWork {
    type Output;
    /// Does the work with the lanes of the kernel that [`dispatch`] has selected.
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> Self::Output;
}

/// Number of lanes, and bits per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneSize {
    /// Sixteen lanes of 16 bits.
    Low,
    /// Sixteen lanes of 32 bits.
    Compact,
    /// Thirty-two lanes of 64 bits.
    Large,
}

impl LaneSize {
    /// The shortest lanes for playfields of this width and as many rows as there are bits in a word.
    #[inline]
    pub(crate) fn of(width: u8, rows: u32) -> LaneSize {
        match (width, rows) {
            (..=16, ..=16) => LaneSize::Low,
            (..=16, ..=32) => LaneSize::Compact,
            _ => LaneSize::Large,
        }
    }
}

/// Runs a job for playfields of this size, with the lanes of a kernel.
///
/// # Panics
/// If this machine cannot run the kernel.
pub(crate) fn dispatch<J: LaneWork>(kernel: Kernel, width: u8, height: u8, job: J) -> J::Output {
    let size = if LowPlayfield::fits(width, height) {
        LaneSize::Low
    } else if CompactPlayfield::fits(width, height) {
        LaneSize::Compact
    } else {
        LaneSize::Large
    };
    dispatch_to(kernel, size, job)
}

/// Runs a job with the lanes of a kernel of this size.
///
/// # Panics
/// If this machine cannot run the kernel.
#[inline]
pub(crate) fn dispatch_to<J: LaneWork>(kernel: Kernel, size: LaneSize, job: J) -> J::Output {
    assert!(kernel.is_available(), "this machine cannot run the {} kernel", kernel.name());
    // SAFETY of all calls: `is_available` found the features on this machine; AVX-512 implies those of AVX2.
    #[allow(unsafe_code)]
    match (size, kernel) {
        #[cfg(target_arch = "x86_64")]
        (LaneSize::Low, Kernel::Avx512) => unsafe { run_low_avx512(job) },
        #[cfg(target_arch = "x86_64")]
        (LaneSize::Low, Kernel::Avx2) => unsafe { run_low_avx2(job) },
        (LaneSize::Low, _) => job.run::<u16, 16, WordArray<u16, 16, AnyMachine>>(),
        #[cfg(target_arch = "x86_64")]
        (LaneSize::Compact, Kernel::Avx512) => unsafe { run_avx512(job) },
        #[cfg(target_arch = "x86_64")]
        (LaneSize::Compact, Kernel::Avx2) => unsafe { run_avx2(job) },
        (LaneSize::Compact, _) => job.run::<u32, 16, WordArray<u32, 16, AnyMachine>>(),
        // 512-bit vectors are no faster on large playfields.
        #[cfg(target_arch = "x86_64")]
        (LaneSize::Large, Kernel::Avx2 | Kernel::Avx512) => unsafe { run_large_avx2(job) },
        (LaneSize::Large, _) => job.run::<u64, 32, WordArray<u64, 32, AnyMachine>>(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_low_avx2<J: LaneWork>(job: J) -> J::Output {
    job.run::<u16, 16, RegisterArray<x86_64::Avx2Low, 1>>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg,avx512vbmi"
)]
fn run_low_avx512<J: LaneWork>(job: J) -> J::Output {
    job.run::<u16, 16, RegisterArray<x86_64::Avx512Low, 1>>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<J: LaneWork>(job: J) -> J::Output {
    job.run::<u32, 16, RegisterArray<x86_64::Avx2Compact, 2>>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg,avx512vbmi"
)]
fn run_avx512<J: LaneWork>(job: J) -> J::Output {
    job.run::<u32, 16, RegisterArray<x86_64::Avx512Compact, 1>>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_large_avx2<J: LaneWork>(job: J) -> J::Output {
    job.run::<u64, 32, WordArray<u64, 32, x86_64::Avx2Machine>>()
}
