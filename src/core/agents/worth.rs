//! Values of placements, in each agent's own numbers.

/// The value of a placement. The agent prefers larger values.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Worth {
    Playouts(Tally),
    /// Totals that are kept as two records; see [`monte_carlo`](super::monte_carlo).
    PlayoutsAsCoded(Tally),
    Score(LookaheadValue),
}

/// Totals of some playouts. Agents prefer larger tallies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tally {
    /// Lines cleared; tallies compare them first.
    pub lines: u64,
    /// Pieces placed, including one that ends the game; compared if the lines are equal.
    pub pieces: u64,
}

/// The value of a placement for a controller with lookahead. It prefers larger values.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LookaheadValue {
    /// Score of the placement plus the best scores of the next pieces.
    pub value: f64,
    /// Score of the placement alone if `value` is minus infinity, else 0.
    pub otherwise: f64,
}

impl Worth {
    /// The record to keep for a placement that beats the best so far.
    pub(crate) fn recorded_after(self, best: Option<Worth>) -> Worth {
        let Worth::PlayoutsAsCoded(tally) = self else { return self };
        let records = match best {
            Some(Worth::PlayoutsAsCoded(records)) => records,
            _ => Tally::default(),
        };
        Worth::PlayoutsAsCoded(tally.recorded_after(records))
    }
}

impl Tally {
    /// The two records of the report's program after a placement that beats `records`, which start at 0. If the lines
    /// set a new record, the record of pieces does not change.
    fn recorded_after(self, records: Tally) -> Tally {
        let pieces = if self.lines > records.lines { records.pieces } else { self.pieces };
        Tally { pieces, ..self }
    }
}
