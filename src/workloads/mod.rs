//! Named work to be timed: what `tetrion bench` and the programs in `benches/` do over and over.
//!
//! A workload is a value with a method that does some of the work and says how much it was: pieces, placements, environments
//! stepped, games. It does not know how long it took, how often it runs, or what prints it, so the same workload stands
//! behind a figure of `docs/speed.md` and behind a micro-benchmark, and the two cannot drift apart.
//!
//! The surprising decision: this module knows nearly every other one, from the kernels to the wire. To compare a call over
//! the network with the same work done directly, it must know both.

pub mod evaluations;
pub mod games;
pub mod masked;
pub mod placements;
pub mod remote;
pub mod stepping;
pub mod viewer;

mod latency;

pub use evaluations::Games;
pub use games::{CASES, Case, EXPECTATIONS, Play};
pub use masked::MaskedSession;
pub use placements::{Listing, ModernListing, Reaching};
pub use remote::{Remote, RemoteError};
pub use stepping::{RandomPlacements, Stepper};
pub use viewer::Viewer;
