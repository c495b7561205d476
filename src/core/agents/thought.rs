//! The intermediate state of an agent's choice.

use std::cmp::Ordering;

use super::growth::Growth;
use super::sight::Sight;
use super::worth::{LookaheadValue, Tally, Worth};
use crate::engine::Placement;
use crate::features::kernel::ScoredPlacement;

/// A choice in progress: the placements evaluated so far, and the first of the best among them.
#[derive(Clone, Debug, Default)]
pub struct Thought {
    weighed: Vec<Worth>,
    best: Option<(Worth, Placement)>,
    /// The candidates; empty until the first call.
    among: Vec<Placement>,
    /// The sequences of placements of a beam search.
    pub(super) beam: Option<Box<Growth>>,
    /// Random games after the next placement that are already played, and their totals.
    pub(super) playouts: u32,
    pub(super) tally: Tally,
}

impl Thought {
    /// Evaluates the next of some placements, in ascending action order. Returns the choice after the last one. The
    /// list of placements is computed only once.
    pub(super) fn weigh_among(
        &mut self,
        among: impl FnOnce() -> Vec<Placement>,
        worth: impl FnOnce(Placement) -> Worth,
    ) -> Option<Placement> {
        let placement = self.next_among(among);
        self.judge(worth(placement))
    }

    /// The next of some placements to evaluate.
    pub(super) fn next_among(&mut self, among: impl FnOnce() -> Vec<Placement>) -> Placement {
        if self.among.is_empty() {
            self.among = among();
        }
        self.among[self.weighed.len()]
    }

    /// Takes the worth of the next placement. Returns the choice after the last one.
    pub(super) fn judge(&mut self, worth: Worth) -> Option<Placement> {
        let placement = self.among[self.weighed.len()];
        self.weighed.push(worth);
        let best = self.best.map(|(best, _)| best);
        if best.is_none_or(|best| worth > best) {
            self.best = Some((worth.recorded_after(best), placement));
        }
        self.best.map(|(_, placement)| placement).filter(|_| self.weighed.len() == self.among.len())
    }

    /// Evaluates these placements, in ascending action order.
    pub(super) fn decide(&mut self, all: impl Iterator<Item = (Placement, Worth)>) {
        for (placement, worth) in all {
            self.among.push(placement);
            self.weighed.push(worth);
            if self.best.is_none_or(|(best, _)| worth > best) {
                self.best = Some((worth, placement));
            }
        }
    }

    /// The first of the best of the placements evaluated so far.
    pub(super) fn choice(&self) -> Option<Placement> {
        self.best.map(|(_, placement)| placement)
    }

    /// The evaluated placements, best first, equals in ascending action order. The chosen one may not be the first,
    /// because an agent may compare more than the values.
    pub(super) fn ranked(&self) -> Vec<Placement> {
        let mut ranked: Vec<_> = self.weighed.iter().zip(&self.among).collect();
        ranked.sort_by(|(one, _), (other, _)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
        ranked.into_iter().map(|(_, placement)| *placement).collect()
    }

    /// The evaluated placements in ascending action order, each with its value.
    ///
    /// # Panics
    /// If the placements were valued by playouts.
    pub(super) fn scores(&self) -> Vec<ScoredPlacement> {
        let score = |(worth, &placement): (&Worth, &Placement)| {
            let Worth::Score(LookaheadValue { value, .. }) = worth else {
                unreachable!("playouts have no scores")
            };
            ScoredPlacement { placement, score: *value }
        };
        self.weighed.iter().zip(&self.among).map(score).collect()
    }

    /// Evaluates the next placement of the piece, in ascending action order. Returns the choice after the last one.
    pub(super) fn weigh(
        &mut self,
        sight: &Sight<'_>,
        worth: impl FnOnce(Placement) -> Worth,
    ) -> Option<Placement> {
        self.weigh_among(|| sight.placements(), worth)
    }
}
