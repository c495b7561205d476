//! The values of all afterstates on a playfield.

use std::fmt;

use crate::engine::{Column, Landing, Piece, Placement, PlayfieldOf, Rules, land, placements};

/// Values that differ by less are equal. Placements that mirror each other have the same value, but their computed values
/// differ by rounding, which must not decide what the best player does.
const TIE: f64 = 1e-9;

/// The expected number of lines from every afterstate that can be reached, for the best player that sees only the
/// current piece.
#[derive(Clone, PartialEq)]
pub struct Values {
    width: u8,
    height: u8,
    /// The cells of each afterstate as bits, ascending.
    cells: Box<[u32]>,
    lines: Box<[f64]>,
}

/// What depends on a choice: lines to be expected after the chosen placement, the best one and the worst one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stakes {
    /// Value of the chosen placement; exactly the largest one if the placement is one of the best.
    pub value: f64,
    /// Largest value of a placement of the piece.
    pub best: f64,
    /// Smallest value of a placement of the piece.
    pub worst: f64,
}

impl Stakes {
    /// Lines lost against the best placement.
    pub fn regret(&self) -> f64 {
        self.best - self.value
    }

    /// Lines between the best and the worst placement.
    pub fn spread(&self) -> f64 {
        self.best - self.worst
    }

    /// The choice between the worst placement, 0, and the best, 1. If all are equal, 1.
    pub fn quality(&self) -> f64 {
        if self.spread() > 0.0 { (self.value - self.worst) / self.spread() } else { 1.0 }
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Values { width, height, cells, .. } = self;
        f.debug_struct("Values")
            .field("width", width)
            .field("height", height)
            .field("afterstates", &cells.len())
            .finish_non_exhaustive()
    }
}

impl Values {
    /// A table of afterstates as [packed](pack) cells, which must ascend, and their values.
    pub fn new(width: u8, height: u8, cells: Vec<u32>, lines: Vec<f64>) -> Values {
        debug_assert!(cells.len() == lines.len() && cells.is_sorted());
        Values { width, height, cells: cells.into(), lines: lines.into() }
    }

    /// Columns and rows of the playfield.
    pub fn size(&self) -> (u8, u8) {
        (self.width, self.height)
    }

    /// The afterstates as [packed](pack) cells, ascending, and their values.
    pub fn entries(&self) -> (&[u32], &[f64]) {
        (&self.cells, &self.lines)
    }

    /// The value of an afterstate; `None` if no game leads to it.
    pub fn of<C: Column, const N: usize>(&self, afterstate: &PlayfieldOf<C, N>) -> Option<f64> {
        let at = self.cells.binary_search(&pack(afterstate)).ok()?;
        Some(self.lines[at])
    }

    /// The value of a landing: its lines, and the value of its afterstate unless it ends the game.
    pub(crate) fn of_landing<C: Column, const N: usize>(&self, landing: &Landing<C, N>) -> Option<f64> {
        if landing.terminal {
            return Some(0.0);
        }
        Some(f64::from(landing.lines) + self.of(&landing.afterstate)?)
    }

    /// The placements of a piece in ascending action order, each with its value. Placements after which no value is
    /// known have the value of an ended game, 0.
    pub(crate) fn of_placements<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        piece: Piece,
    ) -> Vec<(Placement, f64)> {
        let value = |placement| {
            let (_, landing) = land(rules, playfield, piece, placement);
            (placement, self.of_landing(&landing).unwrap_or(0.0))
        };
        placements(rules, playfield, piece).iter().map(value).collect()
    }

    /// The first of the best placements of a piece.
    ///
    /// # Panics
    /// If the piece has no placement.
    pub fn best<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        piece: Piece,
    ) -> Placement {
        let all = self.of_placements(rules, playfield, piece);
        let best = all.iter().fold(f64::NEG_INFINITY, |best, (_, value)| best.max(*value));
        let first = all.into_iter().find(|(_, value)| best - value < TIE);
        first.expect("a piece with a placement").0
    }

    /// What depended on a placement; `None` if the value of one of the piece's placements is not known.
    pub fn stakes<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        piece: Piece,
        chosen: Placement,
    ) -> Option<Stakes> {
        let value = |placement| self.of_landing(&land(rules, playfield, piece, placement).1);
        let mut stakes = Stakes { value: value(chosen)?, best: f64::NEG_INFINITY, worst: f64::INFINITY };
        for placement in placements(rules, playfield, piece).iter() {
            let value = value(placement)?;
            stakes.best = stakes.best.max(value);
            stakes.worst = stakes.worst.min(value);
        }
        if stakes.best - stakes.value < TIE {
            stakes.value = stakes.best;
        }
        Some(stakes)
    }
}

/// The cells of a playfield of at most 32 cells as bits, column by column from the left, each from the floor.
pub fn pack<C: Column, const N: usize>(playfield: &PlayfieldOf<C, N>) -> u32 {
    let columns = playfield.columns().iter().rev();
    columns.fold(0, |cells, column| cells << playfield.height() | column.to_u64() as u32)
}
