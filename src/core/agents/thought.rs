//! What an agent has thought so far.

use std::cmp::Ordering;

use super::sight::Sight;
use super::worth::Worth;
use crate::engine::Placement;

/// A choice that is being made: the placements weighed so far, and the first of the best among them.
#[derive(Clone, Debug, Default)]
pub struct Thought {
    weighed: Vec<Worth>,
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
        let placement = self.among[self.weighed.len()];
        let worth = worth(placement);
        self.weighed.push(worth);
        let best = self.best.map(|(best, _)| best);
        if best.is_none_or(|best| worth > best) {
            self.best = Some((worth.recorded_after(best), placement));
        }
        self.best.map(|(_, placement)| placement).filter(|_| self.weighed.len() == self.among.len())
    }

    /// What has been weighed, those that are worth most first, equals in ascending action order. The one that is chosen may stand
    /// further behind: an agent may compare by more than the worth of each.
    pub(super) fn ranked(&self) -> Vec<Placement> {
        let mut ranked: Vec<_> = self.weighed.iter().zip(&self.among).collect();
        ranked.sort_by(|(one, _), (other, _)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
        ranked.into_iter().map(|(_, placement)| *placement).collect()
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
