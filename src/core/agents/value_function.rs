//! What scores placements: weights, or a formula.

use super::scored_clear::ScoredClear;
use super::{FormulaAgent, LinearAgent, Sight};
use crate::engine::{Rules, land};
use crate::features::Seen;
use crate::features::kernel::{Kernel, ScoredPlacement, Scorer, TerminalValue};

/// A score for every placement. Searches look ahead with any of them.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // weights are the usual case, and their kernels read them in place
pub enum ValueFunction {
    /// A weighted sum of features, optionally plus a model.
    Weights(LinearAgent),
    /// A formula that is no weighted sum.
    Formula(FormulaAgent),
}

impl From<LinearAgent> for ValueFunction {
    fn from(agent: LinearAgent) -> ValueFunction {
        ValueFunction::Weights(agent)
    }
}

impl From<FormulaAgent> for ValueFunction {
    fn from(agent: FormulaAgent) -> ValueFunction {
        ValueFunction::Formula(agent)
    }
}

impl ValueFunction {
    /// The weights, unless it is a formula.
    pub(crate) fn weights(&self) -> Option<&LinearAgent> {
        match self {
            ValueFunction::Weights(agent) => Some(agent),
            ValueFunction::Formula(_) => None,
        }
    }

    /// The formula, unless it is weights.
    pub(crate) fn formula(&self) -> Option<&FormulaAgent> {
        match self {
            ValueFunction::Weights(_) => None,
            ValueFunction::Formula(agent) => Some(agent),
        }
    }

    /// The weights prepared for the fast kernels, if these support them and the rules.
    pub(crate) fn scorer_under(&self, rules: &Rules) -> Option<&Scorer> {
        self.weights()?.scorer_under(rules)
    }

    /// Score of a placement that ends the game.
    pub(crate) fn terminal_value(&self) -> TerminalValue {
        match self {
            ValueFunction::Weights(agent) => agent.terminal_value(),
            ValueFunction::Formula(agent) => agent.terminal_value(),
        }
    }

    /// The largest absolute value of a weight, or the largest number of a formula, at least 1.
    pub(crate) fn largest_weight(&self) -> f64 {
        match self {
            ValueFunction::Weights(agent) => agent.largest_weight(),
            ValueFunction::Formula(agent) => agent.program().largest_number(),
        }
    }

    /// Whether the scores depend on how many lines or pieces the game has had.
    pub(crate) fn knows_counts(&self) -> bool {
        match self {
            ValueFunction::Weights(_) => false,
            ValueFunction::Formula(agent) => agent.program().knows_counts(),
        }
    }

    /// Chooses among all placements of the hand: the first of the best.
    pub(crate) fn choose_of_hand(&self, kernel: Kernel, sight: &Sight<'_>) -> ScoredPlacement {
        match self {
            ValueFunction::Weights(agent) => agent.choose_of_hand(kernel, sight),
            ValueFunction::Formula(agent) => agent.choose_of_hand(kernel, sight),
        }
    }

    /// The scores of every placement of the hand, in ascending action order; without those that end the game, if they
    /// are avoided.
    pub(crate) fn scores_of_hand(&self, kernel: Kernel, sight: &Sight<'_>) -> Vec<ScoredPlacement> {
        match self {
            ValueFunction::Weights(agent) => {
                agent.scores_of_hand(kernel, sight.rules, sight.playfield, sight.hand())
            }
            ValueFunction::Formula(agent) => agent.scores_of_hand(kernel, sight),
        }
    }

    /// The placements of the hand that do not end the game, in ascending action order, with scores and clears.
    pub(super) fn clears_of_hand(&self, kernel: Kernel, sight: &Sight<'_>) -> Vec<ScoredClear> {
        let hand = sight.hand();
        let together = self
            .weights()
            .and_then(|agent| agent.clears_together(kernel, sight.rules, sight.playfield, hand));
        together.unwrap_or_else(|| {
            let clear = |ScoredPlacement { placement, score }: ScoredPlacement| {
                let piece = hand.piece(placement).expect("a piece of the hand");
                let (_, landing) = land(sight.rules, sight.playfield, piece, placement);
                let is_perfect = landing.lines > 0 && landing.afterstate.occupied_rows() == 0;
                let lines = landing.lines;
                (!landing.terminal).then_some(ScoredClear { placement, score, lines, is_perfect })
            };
            self.scores_of_hand(kernel, sight).into_iter().filter_map(clear).collect()
        })
    }

    /// The score of a landing of the current piece, whether or not it ends the game.
    pub(crate) fn score(&self, sight: &Sight<'_>, seen: &Seen<'_>) -> f64 {
        match self {
            ValueFunction::Weights(agent) => agent.score(seen),
            ValueFunction::Formula(agent) => agent.score(sight, seen),
        }
    }

    /// The part of a landing's score from features of landings, such as the landing height.
    pub(crate) fn landing_score(&self, sight: &Sight<'_>, seen: &Seen<'_>) -> f64 {
        match self {
            ValueFunction::Weights(agent) => agent.landing_score(seen),
            ValueFunction::Formula(agent) => agent.landing_score(sight, seen),
        }
    }
}
