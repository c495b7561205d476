//! What an agent has thought so far.

use super::sight::Sight;
use super::worth::Worth;
use crate::engine::{Placement, placements};

/// A choice that is being made: the placements weighed so far, and the first of the best among them.
#[derive(Clone, Debug, Default)]
pub struct Thought {
    weighed: u32,
    best: Option<(Worth, Placement)>,
}

impl Thought {
    /// Weighs the next placement; the choice, when that was the last one.
    pub(super) fn weigh(
        &mut self,
        sight: &Sight<'_>,
        worth: impl FnOnce(Placement) -> Worth,
    ) -> Option<Placement> {
        let all = placements(sight.rules, sight.playfield, sight.piece);
        let placement = all.nth(self.weighed).expect("a piece that can be played");
        let worth = worth(placement);
        self.weighed += 1;
        let best = self.best.map(|(best, _)| best);
        if best.is_none_or(|best| worth > best) {
            self.best = Some((worth.recorded_after(best), placement));
        }
        self.best.map(|(_, placement)| placement).filter(|_| self.weighed == all.len())
    }
}
