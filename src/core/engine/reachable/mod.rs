//! The resting places of a piece that moves as in modern Tetris: sideways, by turns with kicks, and down, also under
//! overhangs.
//!
//! Placements with the same cells are the same placement, even if a piece gets there in different orientations, such as
//! an S after half a turn. Under a [`SpinRule`](super::SpinRule) placements also differ by their [`Spin`](super::Spin),
//! because the same T may drop into place or turn into it. The top is open: a piece may stick out of the playfield, and
//! kicks above it are free.
//!
//! This part of the engine knows how pieces move. It knows nothing of the effects of landings, of hold, queues or
//! scores.
//!
//! The surprising decision: no place is ever looked at separately. A set of places is one vector with a bit per place,
//! and moving all of them is one instruction or two (`cells.rs`); all reachable places come out at once (`flood.rs`).
//! The most frequent question, the number of placements, is a bit count.

mod cells;
mod flood;
mod labels;
mod movement;
pub mod perft;
mod resting;

pub use movement::{MAX_SPAWN_ROW, Movement};
pub use resting::Resting;
