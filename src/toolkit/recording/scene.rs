//! Everything that a viewer draws of a game.

use tetrion_core::engine::{EpisodeEnd, Piece, Rules, appears};
use tetrion_core::env::{EnvBatch, EpisodePhase};

use super::cells::{Cells, SceneCells, remaining, risen};

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
    pub steps: u64,
    pub pieces: u64,
    pub lines: u64,
    pub score: f64,
    /// The way the game ended; `None` while it goes on.
    pub end: Option<EpisodeEnd>,
}

impl Scene {
    /// The game of an environment, with the origins of its cells. The score is the sum of the rewards, and the rows of the last
    /// landing are unknown.
    pub fn from_env(batch: &EnvBatch, env_id: u32, cells: Cells) -> Scene {
        let (rules, statistics) = (&batch.config().rules, batch.statistics(env_id));
        let (phase, pieces) = (batch.phase(env_id), batch.pieces(env_id));
        let falling = batch.falling(env_id).filter(|_| phase == EpisodePhase::Running);
        let current = pieces.first().filter(|_| phase == EpisodePhase::Running);
        let last = batch.last_landing(env_id).map(|last| {
            let remaining = remaining(&last.cells, last.cleared_rows, rules.height);
            risen(&remaining, batch.incoming(env_id).just_risen, rules.height)
        });
        Scene {
            cells,
            last: last.unwrap_or_default(),
            cleared: Vec::new(),
            current: current.map(|&piece| match falling {
                Some(falling) => CurrentPiece { piece, cells: falling.cells() },
                None => CurrentPiece::appearing(piece, rules),
            }),
            ghost: falling.map(|falling| falling.dropped(rules, &batch.playfield(env_id))),
            next: pieces.get(1..).unwrap_or_default().to_vec(),
            held: batch.held(env_id),
            garbage: batch.incoming(env_id).seen(rules).collect(),
            steps: statistics.steps,
            pieces: statistics.pieces,
            lines: statistics.lines,
            score: statistics.episode_return,
            end: phase.end(),
        }
    }
}

/// The piece in play, and the place of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentPiece {
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
