//! What a viewer draws of a game.

use crate::engine::{EpisodeEnd, Piece, Rules, appears};

use super::cells::{Cells, SceneCells};

/// A game at a glance.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The landed cells and where they came from, without the current piece.
    pub cells: Cells,
    /// The cells of the last landed piece that are in the playfield still, after the rows that it completed have gone.
    pub last: Vec<(u8, u8)>,
    /// The rows that the last landed piece completed, as they were numbered before they went, the lowest first.
    pub cleared: Vec<u8>,
    /// The piece in play; none once the game has ended.
    pub current: Option<CurrentPiece>,
    /// Where the current piece would come to rest: by the next action of a replay, or as a viewer sets it.
    pub ghost: Option<SceneCells>,
    /// The next pieces, as many as the rules show.
    pub next: Vec<Piece>,
    /// The piece that is held.
    pub held: Option<Piece>,
    /// The lines of garbage that wait: those that may rise with the current piece, with the one after it, and so on. Empty where
    /// the rules have none.
    pub garbage: Vec<u8>,
    /// Actions so far.
    pub steps: u64,
    /// Pieces landed so far.
    pub pieces: u64,
    /// Lines cleared so far.
    pub lines: u64,
    /// Points so far.
    pub score: f64,
    /// How the game ended, once it has.
    pub end: Option<EpisodeEnd>,
}

/// The piece in play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentPiece {
    /// Which.
    pub piece: Piece,
    /// Where it is: on its way down where keys move it, else where it appears. They may overlap full cells there.
    pub cells: SceneCells,
}

impl CurrentPiece {
    /// A piece where it appears.
    pub fn appearing(piece: Piece, rules: &Rules) -> CurrentPiece {
        let (shape, row, column) = appears(rules, piece);
        CurrentPiece { piece, cells: shape.cells_at(row, column) }
    }
}
