//! What a search asks of a placement that it may follow.

use crate::engine::Placement;

/// A placement with its score and what it clears.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoredClear {
    pub placement: Placement,
    pub score: f64,
    pub lines: u8,
    /// Whether the playfield is empty after the clear.
    pub is_perfect: bool,
}
