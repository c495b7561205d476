//! Benchmark workloads that need no server: games, placements, steps.
//!
//! A workload is a value with a method that does some work and returns its amount: pieces, placements, steps or games. It does
//! not know its duration, its repetitions or its output, so a figure of `docs/speed.md` and a micro-benchmark share the
//! workload and cannot drift apart.
//!
//! The room is in this package because its loops call generic functions, which are compiled with the caller's
//! optimization level.

pub mod evaluations;
pub mod games;
pub mod placements;
pub mod stepping;

pub use evaluations::Games;
pub use games::{CASES, Case, EXPECTATIONS, Play};
pub use placements::{Listing, ModernListing, Reaching};
pub use stepping::{RandomPlacements, Stepper};
