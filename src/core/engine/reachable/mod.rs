//! Where a piece can come to rest when it moves as in modern Tetris: from where it appears by steps sideways, turns with
//! kicks, and down, all the way under overhangs.
//!
//! Placements are told apart by their cells: a half-turned S that covers the cells of another is the same placement. Under a
//! [`SpinRule`](super::SpinRule) they are told apart by their [`Spin`](super::Spin) too, for the same T may drop into place
//! or turn into it. The roof is open: a piece may stick out of the playfield, and kicks above it are free.
//!
//! This room within the engine knows how pieces move and nothing of what a landing does, of holding, of queues or scores.
//!
//! The surprising decision: no place is ever looked at by itself. A set of places is one large number, and moving all of them
//! is a shift of that number (`plane.rs`); all that is reachable comes out at once (`flood.rs`). What is asked most, how many
//! placements there are, is a count of bits.

mod flood;
mod labels;
mod movement;
pub mod perft;
mod plane;
mod resting;

pub use movement::{MAX_SPAWN_ROW, Movement};
pub use resting::Resting;
