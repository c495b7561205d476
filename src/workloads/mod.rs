//! Named work to be timed: what `tetrion bench` and the programs in `benches/` do over and over.
//!
//! Here is the work of callers of a server; what needs none is in [`exercises`](crate::exercises), and exported beside it.
//!
//! The surprising decision: this module knows nearly every other one, from the kernels to the wire. To compare a call over
//! the network with the same work done directly, it must know both.

pub mod masked;
pub mod remote;
pub mod viewer;

mod latency;

pub use crate::exercises::{
    CASES, Case, EXPECTATIONS, Games, Listing, ModernListing, Play, RandomPlacements, Reaching, Stepper,
    games,
};
pub use masked::MaskedSession;
pub use remote::{Remote, RemoteError};
pub use viewer::Viewer;
