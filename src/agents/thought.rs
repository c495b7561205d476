//! What an agent has thought so far.

use super::sight::Sight;
use super::worth::Worth;
use crate::engine::Placement;

/// A choice that is being made: the placements weighed so far, and the first of the best among them.
#[derive(Clone, Debug, Default)]
pub struct Thought {
    weighed: usize,
    best: Option<(Worth, Placement)>,
    /// Those that it is among; empty until it begins.
    among: Vec<Placement>,
}

impl Thought {
    /// Weighs the next one of some placements, in ascending action order; the choice, when that was the last one. Which they
    /// are is asked once.
    pub(super) fn weigh_among(
        &mut self,
        among: impl FnOnce() -> Vec<Placement>,
        worth: impl FnOnce(Placement) -> Worth,
    ) -> Option<Placement> {
        if self.among.is_empty() {
            self.among = among();
        }
        let placement = self.among[self.weighed];
        let worth = worth(placement);
        self.weighed += 1;
        let best = self.best.map(|(best, _)| best);
        if best.is_none_or(|best| worth > best) {
            self.best = Some((worth.recorded_after(best), placement));
        }
        self.best.map(|(_, placement)| placement).filter(|_| self.weighed == self.among.len())
    }

    /// The same among all placements of the piece.
    pub(super) fn weigh(
        &mut self,
        sight: &Sight<'_>,
        worth: impl FnOnce(Placement) -> Worth,
    ) -> Option<Placement> {
        self.weigh_among(|| sight.placements(), worth)
    }
}
