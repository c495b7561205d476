//! What an agent sees, and what it has thought so far.

use super::{lookahead, monte_carlo};
use crate::engine::{Placement, Playfield, Rules, Tetromino, placements};

/// What an agent sees of a game.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The cells.
    pub playfield: &'a Playfield,
    /// The piece to be placed; it can come into play.
    pub piece: Tetromino,
    /// The pieces after it, as far as the rules show them.
    pub next: &'a [Tetromino],
    /// Lines cleared so far in the game.
    pub lines: u64,
}

/// A choice that is being made: the placements weighed so far, and the first of the best among them.
#[derive(Clone, Debug, Default)]
pub struct Thought {
    weighed: u32,
    best: Option<(Worth, Placement)>,
}

/// What a placement was found to be worth: the larger in the order of its agent's own numbers.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Worth {
    Playouts(monte_carlo::Tally),
    /// Kept as two records: see [`monte_carlo`].
    PlayoutsAsCoded(monte_carlo::Tally),
    Score(lookahead::Value),
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

impl Worth {
    /// The record to keep for a placement that is better than the best before it.
    fn recorded_after(self, best: Option<Worth>) -> Worth {
        let Worth::PlayoutsAsCoded(tally) = self else { return self };
        let records = match best {
            Some(Worth::PlayoutsAsCoded(records)) => records,
            _ => monte_carlo::Tally::default(),
        };
        Worth::PlayoutsAsCoded(tally.recorded_after(records))
    }
}
