//! What a placement is worth, in the numbers that each agent weighs it by.

/// What a placement was found to be worth: the larger in the order of its agent's own numbers.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Worth {
    Playouts(Tally),
    /// Kept as two records: see [`monte_carlo`](super::monte_carlo).
    PlayoutsAsCoded(Tally),
    Score(LookaheadValue),
}

/// The totals of some playouts. The larger one is the better one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// Lines cleared; they decide.
    pub lines: u64,
    /// Pieces placed, the one that ends a game included; they decide between equals.
    pub pieces: u64,
}

/// What a placement is worth to a controller that looks ahead. The larger one is the better one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LookaheadValue {
    /// Its score and those that follow.
    pub value: f64,
    /// Its score alone where its value is minus infinity; else 0.
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
    /// The two records of the report's program after a placement that is better than `records`, which begin at 0: the pieces
    /// stay where they are when the lines are more.
    fn recorded_after(self, records: Tally) -> Tally {
        let pieces = if self.lines > records.lines { records.pieces } else { self.pieces };
        Tally { pieces, ..self }
    }
}
