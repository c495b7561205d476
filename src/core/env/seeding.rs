//! Where pieces come from: when a batch is made, and when a reset begins episodes.

use std::sync::Arc;

use crate::engine::Piece;

/// Where the pieces of each environment come from. An explicit sequence is dealt from its start in every episode.
#[derive(Clone, Debug)]
pub enum Seeding {
    /// Environment i has the seed `word(session seed, Environment, i)`.
    Session(u64),
    /// One seed for each environment.
    Environments(Vec<u64>),
    /// Explicit pieces, one sequence for each environment or one for all.
    Sequences(Vec<Arc<[Piece]>>),
}

/// Which episodes a reset begins.
#[derive(Clone, Copy, Debug)]
pub enum Episodes<'a> {
    /// Each environment's next one, the first time its first one.
    Next,
    /// Episode 0 of these seeds, one for each row; later episodes are counted from there. Ends an explicit sequence.
    Seeds(&'a [u64]),
    /// Explicit pieces for this and all later episodes, one sequence for each row or one for all.
    Sequences(&'a [Arc<[Piece]>]),
}
