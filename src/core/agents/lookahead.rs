//! A controller or a formula that also looks at the next pieces, as far as the rules show them.
//!
//! The value of a placement is its score plus the largest value that the next piece can reach from its afterstate; for
//! the last piece it is the score alone. So later lines count as much as earlier ones. Of equals, the first placement
//! wins. Suppose the controller avoids the end of the game. Then a placement that ends it, or after which the next
//! piece cannot enter, has the value minus infinity. If all placements have, their scores decide, as without lookahead:
//! losing one piece later is better than losing now.
//!
//! With hold, the placements of every piece include those of the other piece, as far as it is known by then.

use super::worth::LookaheadValue;
use super::{Sight, ValueFunction};
use crate::engine::{Landing, Placement, is_blocked, land};
use crate::features::Seen;
use crate::features::kernel::{Kernel, TerminalValue};

/// A controller or a formula with its depth of lookahead.
#[derive(Clone, Debug)]
pub struct LookaheadAgent {
    values: ValueFunction,
    pieces: u32,
}

impl LookaheadAgent {
    /// Creates an agent that looks at up to `pieces` shown pieces.
    pub fn new(values: impl Into<ValueFunction>, pieces: u32) -> LookaheadAgent {
        LookaheadAgent { values: values.into(), pieces }
    }

    /// The function that scores placements.
    pub(crate) fn values(&self) -> &ValueFunction {
        &self.values
    }

    /// Number of next pieces considered.
    pub(crate) fn pieces(&self) -> u32 {
        self.pieces
    }

    /// The value of a placement.
    ///
    /// # Panics
    /// If the piece has no such placement.
    pub fn value(&self, kernel: Kernel, sight: &Sight<'_>, placement: Placement) -> LookaheadValue {
        let sight = sight.placing(placement);
        let sight = Sight { next: &sight.next[..sight.next.len().min(self.pieces as usize)], ..sight };
        let (score, value) = self.look(kernel, &sight, placement);
        LookaheadValue { value, otherwise: if value == f64::NEG_INFINITY { score } else { 0.0 } }
    }

    /// The score of a placement of the current piece, and its value with the next pieces.
    fn look(&self, kernel: Kernel, sight: &Sight<'_>, placement: Placement) -> (f64, f64) {
        let Sight { rules, playfield, piece, next, .. } = *sight;
        if let ([next], Some(scorer)) = (next, self.values.scorer_under(rules)) {
            let (score, next) = scorer.choose_after(kernel, rules, playfield, (piece, placement), *next);
            return (score, score + next.map_or(f64::NEG_INFINITY, |choice| choice.score));
        }
        let (shape, landing) = land(rules, playfield, piece, placement);
        if landing.terminal && self.values.terminal_value() == TerminalValue::Avoid {
            return (f64::NEG_INFINITY, f64::NEG_INFINITY);
        }
        let score =
            self.values.score(sight, &Seen { piece, spin: placement.spin(), shape, landing: &landing });
        (score, score + self.best(kernel, sight, &landing))
    }

    /// The largest value that the next pieces can reach from an afterstate.
    fn best(&self, kernel: Kernel, sight: &Sight<'_>, landing: &Landing<u64, 32>) -> f64 {
        let playfield = &landing.afterstate;
        let Some((&piece, next)) = sight.next.split_first() else { return 0.0 };
        if is_blocked(sight.rules, playfield, piece) {
            return f64::NEG_INFINITY;
        }
        let after = sight.after(landing, piece, next);
        if next.is_empty() {
            return self.values.choose_of_hand(kernel, &after).score;
        }
        let value = |placement| self.look(kernel, &after.placing(placement), placement).1;
        after.placements().into_iter().map(value).fold(f64::NEG_INFINITY, f64::max)
    }
}
