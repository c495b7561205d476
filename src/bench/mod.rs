//! Benchmark workloads, for `tetrion bench`: games, placements, steps, and calls to a server.
//!
//! A workload is a value with a method that does some work and returns its amount: pieces, placements, steps or games. It does
//! not know its duration, its repetitions or its output, so whatever measures it measures the same work.
//!
//! The surprising decision: this module knows nearly every other one, from the kernels to the wire. It must know both to
//! compare a network call with equal work done directly.

pub mod evaluations;
pub mod games;
pub mod placements;
pub mod stepping;

pub mod masked;
pub mod remote;
pub mod viewer;

mod latency;

pub use evaluations::Games;
pub use games::{CASES, Case, ControllerGames, EXPECTATIONS};
pub use masked::MaskedSession;
pub use placements::{Listing, ModernListing, Reaching};
pub use remote::{Remote, RemoteError};
pub use stepping::{RandomPlacements, Stepper};
pub use viewer::Viewer;
