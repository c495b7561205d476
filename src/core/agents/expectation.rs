//! A controller or a formula with expectimax: it considers what the next pieces can reach, with the exact mean over
//! hidden ones.
//!
//! [`Expectation`] defines the settings, and the [kernels](crate::features::kernel) play it fast. This file evaluates
//! one placement after another, for any features and any rules.

use super::worth::{LookaheadValue, Worth};
use super::{Sight, Thought, ValueFunction};
use crate::engine::{Landing, MAX_PIECES, Odds, Piece, PieceSet, Placement, Rules, is_blocked, land};
use crate::features::Seen;
use crate::features::kernel::{Expectation, Kernel, Terms};

/// A controller or a formula with its expectation settings.
#[derive(Clone, Debug)]
pub struct ExpectationAgent {
    values: ValueFunction,
    expectation: Expectation,
    lost: f64,
}

impl ExpectationAgent {
    /// Combines a controller or a formula with an expectation whose settings are in range.
    pub(super) fn new(values: impl Into<ValueFunction>, expectation: Expectation) -> ExpectationAgent {
        let values = values.into();
        let lost = expectation.lost_piece * values.largest_weight();
        ExpectationAgent { values, expectation, lost }
    }

    /// The function that scores placements.
    pub(crate) fn values(&self) -> &ValueFunction {
        &self.values
    }

    /// The settings of the search over next pieces.
    pub(crate) fn expectation(&self) -> &Expectation {
        &self.expectation
    }

    /// Value of a lost piece, in the units of scores.
    pub(crate) fn lost(&self) -> f64 {
        self.lost
    }

    /// Most placements considered for a piece that is not the last.
    pub(crate) fn placements_looked_at(&self, rules: &Rules) -> u64 {
        u64::from(self.expectation.placements).min(rules.num_actions().into())
    }

    /// Rough time of a choice, in choices of a linear controller: one for each possible last piece, after every
    /// sequence of placements before it.
    pub(crate) fn work_of_a_piece(&self, rules: &Rules) -> u64 {
        rules.pieces.len() as u64 * self.placements_looked_at(rules).pow(self.expectation.pieces.into())
    }

    /// Evaluates one more placement. Returns the choice after the last one.
    pub(super) fn weigh(
        &self,
        kernel: Kernel,
        sight: &Sight<'_>,
        thought: &mut Thought,
    ) -> Option<Placement> {
        let among = || {
            let candidates = self.candidates(kernel, sight);
            // If every placement ends the game, take the first one.
            if candidates.is_empty() { sight.placements().into_iter().take(1).collect() } else { candidates }
        };
        thought.weigh_among(among, |placement| {
            let value = self.value(kernel, &sight.placing(placement), placement, self.expectation.pieces);
            Worth::Score(LookaheadValue { value, otherwise: 0.0 })
        })
    }

    /// The placements to consider, in ascending action order.
    fn candidates(&self, kernel: Kernel, sight: &Sight<'_>) -> Vec<Placement> {
        let scores = self.values.scores_of_hand(kernel, sight);
        let mut scored: Vec<_> = scores.into_iter().enumerate().collect();
        // Sorting is stable, so equals keep their order.
        scored.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));
        scored.truncate(self.expectation.placements.into());
        scored.sort_by_key(|(index, _)| *index);
        scored.into_iter().map(|(_, choice)| choice.placement).collect()
    }

    /// The value of a placement of the current piece, with `pieces` later pieces considered.
    fn value(&self, kernel: Kernel, sight: &Sight<'_>, placement: Placement, pieces: u8) -> f64 {
        let (shape, landing) = land(sight.rules, sight.playfield, sight.piece, placement);
        let seen = Seen { piece: sight.piece, spin: placement.spin(), shape, landing: &landing };
        let terms = match self.expectation.terms {
            Terms::Landing => self.values.landing_score(sight, &seen),
            Terms::All => self.values.score(sight, &seen),
            Terms::None => 0.0,
        };
        terms + self.expectation.discount * self.next(kernel, sight, &landing, pieces)
    }

    /// The best value that the next piece can reach after a landing, or the mean over the possible pieces if it is
    /// hidden.
    fn next(&self, kernel: Kernel, sight: &Sight<'_>, landing: &Landing<u64, 32>, pieces: u8) -> f64 {
        let (rules, playfield) = (sight.rules, &landing.afterstate);
        let score = |piece| {
            if landing.terminal || is_blocked(rules, playfield, piece) {
                return self.lost;
            }
            let next = sight.next.get(1..).unwrap_or(&[]);
            let after = sight.after(landing, piece, next);
            self.or_lost(self.values.choose_of_hand(kernel, &after).score)
        };
        match *sight.next {
            [] => {
                let bests = of_all(&rules.pieces, sight.odds, score);
                sight.odds.cautious_mean(&bests[..rules.pieces.len()], self.expectation.caution)
            }
            [piece, ..] if pieces == 1 || landing.terminal || is_blocked(rules, playfield, piece) => {
                score(piece)
            }
            [piece, ref next @ ..] => {
                let after = sight.after(landing, piece, next);
                let values = self.candidates(kernel, &after).into_iter();
                let values = values
                    .map(|placement| self.value(kernel, &after.placing(placement), placement, pieces - 1));
                self.or_lost(values.fold(f64::NEG_INFINITY, f64::max))
            }
        }
    }

    fn or_lost(&self, best: f64) -> f64 {
        if best == f64::NEG_INFINITY { self.lost } else { best }
    }
}

/// One number per possible next piece; 0 for impossible ones.
fn of_all(pieces: &PieceSet, odds: Odds, number: impl Fn(Piece) -> f64) -> [f64; MAX_PIECES] {
    let mut numbers = [0.0; MAX_PIECES];
    for piece in pieces.iter().filter(|piece| odds.of(*piece) > 0) {
        numbers[piece.index()] = number(piece);
    }
    numbers
}
