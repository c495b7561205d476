//! Benchmark workloads that need no server: games, placements, steps.
//!
//! A workload is a value with a method that does some work and returns its amount: pieces, placements, steps or games. It does
//! not know its duration, its repetitions or its output, so whatever measures it measures the same work.

pub mod evaluations;
pub mod games;
pub mod placements;
pub mod stepping;

pub use evaluations::Games;
pub use games::{CASES, Case, ControllerGames, EXPECTATIONS};
pub use placements::{Listing, ModernListing, Reaching};
pub use stepping::{RandomPlacements, Stepper};
