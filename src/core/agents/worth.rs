//! Values of placements, in the numbers of each agent.

/// Value of a placement; the larger value is the better one for its agent.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Worth {
    Playouts(Tally),
    /// Totals kept as two records: see [`monte_carlo`](super::monte_carlo).
    PlayoutsAsCoded(Tally),
    Score(LookaheadValue),
}

/// Totals of some playouts. The larger tally is the better one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// Lines cleared, compared first.
    pub lines: u64,
    /// Pieces placed, including a piece that ends a game; compared if lines are equal.
    pub pieces: u64,
}

/// Value of a placement for a controller that looks ahead. The larger value is the better one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LookaheadValue {
    /// Score of the placement plus the scores of the following ones.
    pub value: f64,
    /// Score of the placement alone if `value` is minus infinity; else 0.
    pub otherwise: f64,
}

impl Worth {
    /// The record to keep for a placement that is better than the best before it.
    pub fn recorded_after(self, best: Option<Worth>) -> Worth {
        let Worth::PlayoutsAsCoded(tally) = self else { return self };
        let records = match best {
            Some(Worth::PlayoutsAsCoded(records)) => records,
            _ => Tally::default(),
        };
        Worth::PlayoutsAsCoded(tally.recorded_after(records))
    }
}

impl Tally {
    /// The two records of the report's program after a placement that is better than `records`, which start at 0: the
    /// record of pieces does not change if the lines set a new record.
    fn recorded_after(self, records: Tally) -> Tally {
        let pieces = if self.lines > records.lines { records.pieces } else { self.pieces };
        Tally { pieces, ..self }
    }
}
