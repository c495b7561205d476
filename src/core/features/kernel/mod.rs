//! The fast path: measures all placements of one orientation at once, with the vectors of the machine.
//!
//! A `LaneWork` is work on one playfield size, usually a whole game or a whole batch. `dispatch` runs it with the
//! lanes of a [`Kernel`]: everything is inlined into one function compiled for that machine. All kernels give the same
//! bits and differ only in speed. This module uses the engine, and knows no agents, games or requests.
//!
//! The lanes are as short as the playfield allows: 16 lanes of 16 bits up to 16 x 12 (width x height), 16 lanes of 32
//! bits up to 16 x 28. Both have kernels written for AVX2 and AVX-512. Larger playfields have 32 lanes of 64 bits as
//! plain arrays, at a tenth of the speed; the compiler turns them into AVX2 vectors if the machine has them. Games
//! seldom need the longer lanes: good players keep their stack low, and `rows_for` leaves out empty rows. With
//! `bcts8`, 99 % of the pieces on 10 x 20 and 10 x 30 are played as on 10 x 12.
//!
//! A sweep measures straight drops as changes to the playfield. Pieces that turn and slide into place, or that hold can
//! exchange, are measured together, with one afterstate per lane.
//!
//! Two things did not pay: AVX-512 for large playfields, and closures in the vector code. Closures are functions
//! without the target features, so every intrinsic in them becomes a call (a factor of three).

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
mod base;
mod bounds;
mod candidates;
mod clearing;
mod extractor;
pub(super) mod feature;
mod fits;
mod foresight;
mod lanes;
mod modern;
mod placement_lanes;
mod playfield_lanes;
mod portable;
mod prospects;
mod scorer;
pub(super) mod set;
mod surface;
mod sweep;
mod together;

pub(crate) use bounds::LaneBounds;
pub use extractor::Extractor;
pub(crate) use extractor::{PlacementColumns, PlacementRows};
pub(crate) use foresight::{Ahead, Foresight};
pub use foresight::{Expectation, Terms};
pub(crate) use lanes::{Apart, Lanes};
pub(crate) use scorer::{Chooser, Scorer};
pub use scorer::{ScoredPlacement, TerminalValue};
pub(crate) use together::{Measurements, RestingPiece, Together};

use crate::engine::{Column, CompactPlayfield, LowPlayfield};
use portable::{AnyMachine, WordArray};

/// An implementation of the lanes.
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

    /// The kernel's name in flags, reports and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
        }
    }

    /// Whether this machine can run the kernel.
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

    /// The fastest kernel that this machine can run.
    pub fn best() -> Kernel {
        Kernel::ALL.into_iter().rev().find(|kernel| kernel.is_available()).unwrap_or(Kernel::Portable)
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

/// Runs a job for playfields of this size, with the lanes of a kernel.
///
/// # Panics
/// If this machine cannot run the kernel.
pub(crate) fn dispatch<J: LaneWork>(kernel: Kernel, width: u8, height: u8, job: J) -> J::Output {
    assert!(kernel.is_available(), "this machine cannot run the {} kernel", kernel.name());
    let low = LowPlayfield::fits(width, height);
    let compact = CompactPlayfield::fits(width, height);
    // SAFETY of all calls: `is_available` found the features on this machine; AVX-512 implies those of AVX2.
    #[allow(unsafe_code)]
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 if low => unsafe { run_low_avx512(job) },
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 if low => unsafe { run_low_avx2(job) },
        _ if low => job.run::<u16, 16, WordArray<u16, 16, AnyMachine>>(),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 if compact => unsafe { run_avx512(job) },
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 if compact => unsafe { run_avx2(job) },
        _ if compact => job.run::<u32, 16, WordArray<u32, 16, AnyMachine>>(),
        // 512-bit vectors are no faster on large playfields.
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 | Kernel::Avx512 => unsafe { run_large_avx2(job) },
        _ => job.run::<u64, 32, WordArray<u64, 32, AnyMachine>>(),
    }
}

/// The number of rows to look at, given the height of the stack: the most that fit into the shortest words with room
/// for the stack and a piece. If rows are left out, they are at least four; they stay empty, and the next piece cannot
/// end the game.
pub(crate) fn rows_for(width: u8, height: u8, stack: u32) -> u8 {
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
    job.run::<u64, 32, WordArray<u64, 32, avx2::Avx2Machine>>()
}
