//! Benchmark workloads that call a server, for `tetrion bench`.
//!
//! Workloads without a server are in [`exercises`](crate::exercises).
//!
//! The surprising decision: this module knows nearly every other one, from the kernels to the wire. It must know both to
//! compare a network call with equal work done directly.

pub mod masked;
pub mod remote;
pub mod viewer;

mod latency;

pub use crate::exercises::{
    CASES, Case, ControllerGames, EXPECTATIONS, Games, Listing, ModernListing, RandomPlacements, Reaching,
    Stepper, games,
};
pub use masked::MaskedSession;
pub use remote::{Remote, RemoteError};
pub use viewer::Viewer;
