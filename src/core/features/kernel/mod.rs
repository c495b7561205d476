//! The fast path: all placements of one orientation measured at once, on whichever vectors the machine has.
//!
//! A [`LaneWork`] is work on one playfield size, usually a whole game or a whole batch. [`dispatch`] runs it with the lanes
//! of a [`Kernel`], once for the whole job: inside, everything is inlined into one function compiled for that machine.
//! Whatever the kernel, the bits are the same; the choice is only about time. This module knows the engine and nothing
//! of agents, games or requests.
//!
//! The lanes are as short as the playfield allows. Up to 16 x 12 (width x height) it has 16 lanes of 16 bits, up to 16 x 28
//! there are 16 lanes of 32 bits; both have kernels written for AVX2 and AVX-512. Larger ones have 32 lanes of 64 bits as
//! plain arrays, which the compiler turns into AVX2 vectors where the machine has them, at a tenth of the speed. A whole
//! game seldom needs them: good players keep their stack low, and [`rows_for`] says how few of the rows matter. With `bcts8`
//! 99 % of the pieces on 10 x 20 are played as on 10 x 12, and those on 10 x 30 too.
//!
//! A sweep measures straight drops, as changes to the playfield. Where pieces turn and slide into their places, or
//! another one can be placed, placements are measured [together](Together), each as a playfield of its own in a lane.
//!
//! What was tried and did not pay: AVX-512 for the large playfields; closures in the vector code, which are functions
//! without the target features, so that every intrinsic in them becomes a call (a factor of three).

pub(super) mod aspect;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx2_low;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_low;
#[cfg(target_arch = "x86_64")]
mod avx512_pair;
mod candidates;
mod clearing;
mod extractor;
mod foresight;
pub(super) mod ground;
mod lanes;
pub(super) mod modern;
mod portable;
mod prospects;
mod scorer;
pub(super) mod slots;
mod spots;
mod stage;
mod surface;
mod sweep;
mod together;

pub use extractor::{Extractor, PlacementRows};
pub use foresight::{Ahead, Expectation, Foresight, Terms};
pub use ground::LaneBounds;
pub use lanes::{Apart, Doubles, Lanes, Words};
pub use scorer::{Chooser, ScoredPlacement, Scorer, TerminalPolicy};
pub use together::{Measured, Rest, Together};

use crate::engine::{Column, CompactPlayfield, LowPlayfield};
use portable::{AnyMachine, Array};

/// A way of doing the same arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
        }
    }

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
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
                Kernel::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
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

    /// The fastest one this machine can run.
    pub fn best() -> Kernel {
        Kernel::ALL.into_iter().rev().find(|kernel| kernel.is_available()).unwrap_or(Kernel::Portable)
    }
}

/// The fastest one this machine can run.
impl Default for Kernel {
    fn default() -> Kernel {
        Kernel::best()
    }
}

/// Work on one playfield size, written for any lanes.
///
/// `run` must be `#[inline(always)]`, so that it is compiled with the target features of each kernel.
pub trait LaneWork {
    /// What comes out.
    type Output;
    /// Does it.
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> Self::Output;
}

/// Runs a job for playfields of a size with the lanes of a kernel.
///
/// # Panics
/// When this machine cannot run the kernel.
pub fn dispatch<J: LaneWork>(kernel: Kernel, width: u8, height: u8, job: J) -> J::Output {
    assert!(kernel.is_available(), "this machine cannot run the {} kernel", kernel.name());
    let low = LowPlayfield::fits(width, height);
    let compact = CompactPlayfield::fits(width, height);
    // SAFETY of all: `is_available` found the features on this machine; AVX-512 comes with those of AVX2.
    #[allow(unsafe_code)]
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 if low => unsafe { run_low_avx512(job) },
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 if low => unsafe { run_low_avx2(job) },
        _ if low => job.run::<u16, 16, Array<u16, 16, AnyMachine>>(),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 if compact => unsafe { run_avx512(job) },
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 if compact => unsafe { run_avx2(job) },
        _ if compact => job.run::<u32, 16, Array<u32, 16, AnyMachine>>(),
        // 512-bit vectors were tried for the large ones and are no faster than these.
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 | Kernel::Avx512 => unsafe { run_large_avx2(job) },
        _ => job.run::<u64, 32, Array<u64, 32, AnyMachine>>(),
    }
}

/// The rows to look at of a playfield whose stack has this height: as many as the shortest words have that hold the stack
/// and a piece on it. The rows above them stay empty whatever the next piece does, and it cannot end the game: at least four
/// rows are left out, or none.
pub fn rows_for(width: u8, height: u8, stack: u32) -> u8 {
    for rows in [LowPlayfield::MAX_HEIGHT, CompactPlayfield::MAX_HEIGHT] {
        if height <= rows {
            break;
        }
        let lowered = rows.min(height - 4);
        if width <= 16 && stack + 4 <= lowered.into() {
            return lowered;
        }
    }
    height
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_low_avx2<J: LaneWork>(job: J) -> J::Output {
    job.run::<u16, 16, avx2_low::Avx2Low>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg,avx512vbmi"
)]
fn run_low_avx512<J: LaneWork>(job: J) -> J::Output {
    job.run::<u16, 16, avx512_low::Avx512Low>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<J: LaneWork>(job: J) -> J::Output {
    job.run::<u32, 16, avx2::Avx2>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg,avx512vbmi"
)]
fn run_avx512<J: LaneWork>(job: J) -> J::Output {
    job.run::<u32, 16, avx512::Avx512>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_large_avx2<J: LaneWork>(job: J) -> J::Output {
    job.run::<u64, 32, Array<u64, 32, avx2::Avx2Machine>>()
}
