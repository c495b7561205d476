//! A linear controller that weighs what the next pieces can reach, the hidden one by its exact mean.
//!
//! [`Expectation`] says what its numbers mean, and the [kernels](crate::features::kernel) play it; here it is done one
//! placement after the other, for any features and any rules.

use super::worth::{Value, Worth};
use super::{LinearAgent, Sight, Thought};
use crate::engine::{Landing, Odds, Placement, Playfield, Rules, Tetromino, is_blocked, placements};
use crate::features::Seen;
use crate::features::kernel::{Ahead, Expectation, Kernel, Terms};

/// A controller and how it weighs the pieces to come.
#[derive(Clone, Debug)]
pub struct ExpectationAgent {
    linear: LinearAgent,
    expectation: Expectation,
    lost: f64,
}

impl ExpectationAgent {
    /// A controller with an expectation whose numbers are in their ranges.
    pub fn new(linear: LinearAgent, expectation: Expectation) -> ExpectationAgent {
        let lost = expectation.lost_piece * linear.largest_weight();
        ExpectationAgent { linear, expectation, lost }
    }

    /// The controller.
    pub fn linear(&self) -> &LinearAgent {
        &self.linear
    }

    /// How it weighs the pieces to come.
    pub fn expectation(&self) -> &Expectation {
        &self.expectation
    }

    /// What a lost piece counts, in the units of scores.
    pub fn lost(&self) -> f64 {
        self.lost
    }

    /// How many placements it looks at for a piece that another one follows, at most.
    pub fn placements_looked_at(&self, rules: &Rules) -> u64 {
        u64::from(self.expectation.placements).min(4 * u64::from(rules.width))
    }

    /// About how long a choice takes, in choices of a linear controller: one for each of the seven that may come last, after
    /// all that was placed before it.
    pub fn work_of_a_piece(&self, rules: &Rules) -> u64 {
        7 * self.placements_looked_at(rules).pow(self.expectation.pieces.into())
    }

    /// Weighs one placement more; the choice, when that was the last one.
    pub(super) fn weigh(
        &self,
        kernel: Kernel,
        sight: &Sight<'_>,
        thought: &mut Thought,
    ) -> Option<Placement> {
        let Sight { rules, playfield, piece, next, odds, .. } = *sight;
        let among = || {
            let candidates = self.candidates(rules, playfield, piece);
            // Where every placement ends the game, the first one.
            if candidates.is_empty() {
                placements(rules, playfield, piece).iter().take(1).collect()
            } else {
                candidates
            }
        };
        let ahead = Ahead { shown: next, odds };
        thought.weigh_among(among, |placement| {
            let value =
                self.value(kernel, rules, playfield, piece, placement, &ahead, self.expectation.pieces);
            Worth::Score(Value { value, otherwise: 0.0 })
        })
    }

    /// The placements of a piece that are looked at, in ascending action order.
    fn candidates(&self, rules: &Rules, playfield: &Playfield, piece: Tetromino) -> Vec<Placement> {
        let mut scored: Vec<_> = self.linear.scores(rules, playfield, piece).enumerate().collect();
        // Sorting is stable: of equals the first comes first.
        scored.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));
        scored.truncate(self.expectation.placements.into());
        scored.sort_by_key(|(index, _)| *index);
        scored.into_iter().map(|(_, choice)| choice.placement).collect()
    }

    /// What a placement is worth when this many pieces after it are taken into account.
    #[allow(clippy::too_many_arguments)] // a game's situation, and how far to look
    fn value(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        piece: Tetromino,
        placement: Placement,
        ahead: &Ahead<'_>,
        pieces: u8,
    ) -> f64 {
        let shape = placement.shape(rules, piece).expect("a placement of the piece");
        let landing = playfield.land(shape, placement.column, rules.top_out);
        let seen = Seen { shape, landing: &landing };
        let terms = match self.expectation.terms {
            Terms::Landing => self.linear.landing_score(&seen),
            Terms::All => self.linear.score(&seen),
            Terms::None => 0.0,
        };
        terms + self.expectation.discount * self.next(kernel, rules, &landing, ahead, pieces)
    }

    /// What the next piece can reach from a landing.
    fn next(
        &self,
        kernel: Kernel,
        rules: &Rules,
        landing: &Landing<u64, 32>,
        ahead: &Ahead<'_>,
        pieces: u8,
    ) -> f64 {
        let playfield = &landing.afterstate;
        let score = |piece| {
            if landing.terminal || is_blocked(rules, playfield, piece) {
                return self.lost;
            }
            self.or_lost(self.linear.choose(kernel, rules, playfield, piece).score)
        };
        match *ahead.shown {
            [] => mean(ahead.odds, score),
            [next, ..] if pieces == 1 || landing.terminal || is_blocked(rules, playfield, next) => {
                score(next)
            }
            [next, ref shown @ ..] => {
                let rest = Ahead { shown, ..*ahead };
                let value = |at| self.value(kernel, rules, playfield, next, at, &rest, pieces - 1);
                let values = self.candidates(rules, playfield, next).into_iter().map(value);
                self.or_lost(values.fold(f64::NEG_INFINITY, f64::max))
            }
        }
    }

    fn or_lost(&self, best: f64) -> f64 {
        if best == f64::NEG_INFINITY { self.lost } else { best }
    }
}

/// The mean over the tetrominoes that can come.
fn mean(odds: Odds, number: impl Fn(Tetromino) -> f64) -> f64 {
    odds.mean(Tetromino::ALL.map(|piece| if odds.of(piece) > 0 { number(piece) } else { 0.0 }))
}
