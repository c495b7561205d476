//! Everything that a viewer draws of a game.

use crate::engine::{EpisodeEnd, Piece, Rules, appears};

use super::cells::{Cells, SceneCells};

/// A game at one step, as viewers draw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The landed cells and their origins, without the current piece.
    pub cells: Cells,
    /// The cells of the last landed piece that remain in the playfield after its completed rows were cleared.
    pub last: Vec<(u8, u8)>,
    /// The rows that the last landed piece completed, the lowest first, with their numbers before clearing.
    pub cleared: Vec<u8>,
    /// The piece in play; `None` after the end of the game.
    pub current: Option<CurrentPiece>,
    /// The resting place of the current piece, for the next action of a replay or as a viewer sets it.
    pub ghost: Option<SceneCells>,
    /// The next pieces, as many as the rules show.
    pub next: Vec<Piece>,
    /// The held piece, if any.
    pub held: Option<Piece>,
    /// Queued lines of garbage: the lines that may rise with the current piece, with the one after it, and so on. Empty
    /// without garbage.
    pub garbage: Vec<u8>,
    /// Actions so far.
    pub steps: u64,
    /// Pieces landed so far.
    pub pieces: u64,
    /// Lines cleared so far.
    pub lines: u64,
    /// Points so far.
    pub score: f64,
    /// The way the game ended; `None` while it goes on.
    pub end: Option<EpisodeEnd>,
}

/// The piece in play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentPiece {
    /// The piece.
    pub piece: Piece,
    /// The piece's cells: on its way down in games with keys, otherwise where it appears. They may overlap full cells
    /// where it appears.
    pub cells: SceneCells,
}

impl CurrentPiece {
    /// A piece where it appears.
    pub fn appearing(piece: Piece, rules: &Rules) -> CurrentPiece {
        let (shape, row, column) = appears(rules, piece);
        CurrentPiece { piece, cells: shape.cells_at(row, column) }
    }
}
