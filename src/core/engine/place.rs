//! A single place of a piece in modern Tetris: moves and turns from there, with kicks, and the spin of a piece that
//! rests there.
//!
//! [`paths`](super::paths) looks at all places of a piece in turn and precomputes the obstacles;
//! [`steered`](super::steered) looks at few places and asks the playfield. Both implement [`Ground`]. This file knows
//! neither time nor keys, and of the playfield only whether a place is free.

use super::reachable::Resting;
use super::rotation::Turns;
use super::spin::{Spin, SpinRule};
use super::tetromino::{TRUE_POSES, Tetromino};

/// The place of a piece, with its arrival if that [counts](Arrival::counted) for spins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Quarter turns to the right from the appearing orientation.
    pub orientation: usize,
    /// Column of the anchor; `row` is its row.
    pub column: i32,
    pub row: i32,
    pub arrival: Arrival,
}

/// The way in which a piece arrived at its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Arrival {
    /// By a move, by falling, or by appearing there.
    #[default]
    Moved = 0,
    Turned = 1,
    /// By a turn whose kick makes a T-spin full.
    TurnedFully = 2,
}

impl Arrival {
    /// All arrivals, in ascending order of their numbers.
    pub(crate) const ALL: [Arrival; 3] = [Arrival::Moved, Arrival::Turned, Arrival::TurnedFully];

    /// Whether a piece can arrive in this way.
    pub(crate) fn is_of(self, spin_rule: SpinRule, tetromino: Tetromino) -> bool {
        match self {
            Arrival::Moved => true,
            Arrival::Turned => tetromino != Tetromino::O,
            Arrival::TurnedFully => tetromino == Tetromino::T && spin_rule.has_corners(),
        }
    }

    /// The arrival as the spin rule counts it. If the rule ignores the turns of a piece, every arrival is a move.
    #[inline]
    pub(super) fn counted(self, spin_rule: SpinRule, tetromino: Tetromino) -> Arrival {
        let is_t = tetromino == Tetromino::T;
        let may_spin = is_t && spin_rule.has_corners() || spin_rule.immobile(is_t) != Spin::None;
        if may_spin { self } else { Arrival::Moved }
    }
}

/// A turn that the walls and full cells allow, and the place where it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turned {
    pub place: Place,
    /// The piece's arrival, even if its spin does not count.
    pub arrival: Arrival,
    /// Whether a kick has lifted the piece above the first place that the turn tries.
    pub is_lifted: bool,
}

/// A piece and its obstacles.
pub(super) trait Ground {
    fn tetromino(&self) -> Tetromino;
    fn turns(&self) -> &Turns;
    fn spin_rule(&self) -> SpinRule;

    /// Whether the piece fits there.
    fn is_free(&self, orientation: usize, column: i32, row: i32) -> bool;

    /// Whether a cell is full. The walls and the cells below the floor are full.
    fn is_full(&self, column: i32, row: i32) -> bool;

    /// The place after a move by these columns and rows; `None` if it is blocked.
    #[inline]
    fn moved(&self, place: Place, columns: i32, rows: i32) -> Option<Place> {
        let moved =
            Place { column: place.column + columns, row: place.row + rows, arrival: Arrival::Moved, ..place };
        self.is_free(moved.orientation, moved.column, moved.row).then_some(moved)
    }

    /// The place after a turn to the right by these quarters; `None` if it is blocked. Without `may_lift`, kicks that
    /// lift the piece are not tried.
    #[inline]
    fn turned(&self, place: Place, quarters: usize, may_lift: bool) -> Option<Turned> {
        // A turned O does not move, and is not a spin.
        if self.tetromino() == Tetromino::O {
            return None;
        }
        let (from, to) = (place.orientation, (place.orientation + quarters) % 4);
        let kicks = self.turns().kicks(from, to);
        let first_row = kicks.first()?.1;
        let allowed = kicks.iter().enumerate().filter(|(_, kick)| may_lift || kick.1 <= first_row);
        let (spin_rule, tetromino) = (self.spin_rule(), self.tetromino());
        let turned = |(n, &(columns, rows)): (usize, &(i8, i8))| {
            let is_full = tetromino == Tetromino::T && spin_rule.is_full_by_kick(n, from, to);
            let arrival = if is_full { Arrival::TurnedFully } else { Arrival::Turned };
            Turned {
                place: Place {
                    orientation: to,
                    column: place.column + i32::from(columns),
                    row: place.row + i32::from(rows),
                    arrival: arrival.counted(spin_rule, tetromino),
                },
                arrival,
                is_lifted: rows > first_row,
            }
        };
        allowed.map(turned).find(|turned| self.is_free(to, turned.place.column, turned.place.row))
    }

    /// The placement of a piece that comes to rest at this place.
    fn resting(&self, place: Place) -> Resting {
        let shape = &TRUE_POSES[self.tetromino().index()][place.orientation];
        let orientation = match self.tetromino() {
            Tetromino::O => 0,
            Tetromino::I | Tetromino::S | Tetromino::Z => place.orientation % 2,
            _ => place.orientation,
        };
        Resting {
            orientation: orientation as u8,
            column: place.column as u8 - shape.anchor_column,
            row: place.row as u8 - shape.anchor_row,
            spin: self.spin(place),
        }
    }

    /// The spin of a piece that comes to rest at this place.
    fn spin(&self, place: Place) -> Spin {
        let Place { orientation, column, row, arrival } = place;
        if arrival == Arrival::Moved {
            return Spin::None;
        }
        let is_t = self.tetromino() == Tetromino::T;
        let if_immobile = self.spin_rule().immobile(is_t);
        let is_mobile = || {
            let mut moves = [(-1, 0), (1, 0), (0, 1)].iter();
            moves.any(|(columns, rows)| self.is_free(orientation, column + columns, row + rows))
        };
        let immobile = if if_immobile == Spin::None || is_mobile() { Spin::None } else { if_immobile };
        if !is_t || !self.spin_rule().has_corners() {
            return immobile;
        }
        // Clockwise from the upper left, so that a T points to the side between corner n and the next one.
        let corners = [(-1, 1), (1, 1), (1, -1), (-1, -1)];
        let is_full = corners.map(|(columns, rows)| self.is_full(column + columns, row + rows));
        if is_full.iter().filter(|is_full| **is_full).count() < 3 {
            immobile
        } else if arrival == Arrival::TurnedFully || is_full[orientation] && is_full[(orientation + 1) % 4] {
            Spin::Full
        } else {
            Spin::Mini
        }
    }
}
