//! Named work that needs no server, to be timed: games, placements, steps.
//!
//! A workload is a value with a method that does some of the work and says how much it was: pieces, placements, environments
//! stepped, games. It does not know how long it took, how often it runs, or what prints it, so the same workload stands
//! behind a figure of `docs/speed.md` and behind a micro-benchmark, and the two cannot drift apart.
//!
//! It is in this package because its loops call generic functions, which are compiled as their caller is.

pub mod evaluations;
pub mod games;
pub mod placements;
pub mod stepping;

pub use evaluations::Games;
pub use games::{CASES, Case, EXPECTATIONS, Play};
pub use placements::{Listing, ModernListing, Reaching};
pub use stepping::{RandomPlacements, Stepper};
