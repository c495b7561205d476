//! Facts about the game that a formula can name, in addition to features of the placement.

use crate::engine::Piece;

/// The state of the game in which a placement is made: after a piece was exchanged for the held one, before the piece
/// lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub lines: u64,
    pub pieces: u64,
    /// The piece that is placed.
    pub current: Piece,
    /// The piece that follows, if it is known.
    pub next: Option<Piece>,
    /// The held piece, if any.
    pub held: Option<Piece>,
}

/// Where a piece is in the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Seat {
    /// The piece that is placed.
    Current,
    Next,
    Held,
}

impl Seat {
    /// All of them with their names in formulas.
    pub(super) const ALL: [(&str, Seat); 3] =
        [("current", Seat::Current), ("next", Seat::Next), ("held", Seat::Held)];
}

/// A number that follows from the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    Lines,
    Pieces,
    /// 1 if this piece is there, else 0.
    Is(Seat, Piece),
}

impl Fact {
    /// The number. Counts are exact up to 2^53.
    pub(super) fn value(self, state: &State) -> f64 {
        match self {
            Fact::Lines => state.lines as f64,
            Fact::Pieces => state.pieces as f64,
            Fact::Is(seat, piece) => {
                let there = match seat {
                    Seat::Current => Some(state.current),
                    Seat::Next => state.next,
                    Seat::Held => state.held,
                };
                f64::from(u8::from(there == Some(piece)))
            }
        }
    }
}
