//! Single environments as viewers see them: what landed last, which episode it is, how far it is.
//!
//! No agent sees any of this. Nothing is stored for it: it follows from what a step needs itself, so that an environment that
//! nobody looks at costs nothing.

use crate::engine::{Column, EpisodeEnd, Piece, PieceCells, land_at};

use super::columns::{LastLanding, each_size};
use super::{AnyEnvs, EnvBatch, EnvConfig, EpisodeIndex, EpisodePhase, EpisodeStatistics, FinalBatch};

/// A piece that has come to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LandedPiece {
    /// Which.
    pub piece: Piece,
    /// Row and column of its cells before rows went, by row, then by column. Rows may lie above the playfield.
    pub cells: PieceCells,
    /// The rows that went, as they were numbered before; bit r is row r.
    pub cleared_rows: u64,
}

impl EnvBatch {
    /// The last landing of an environment's episode, if there was one.
    pub fn last_landing(&self, env_id: u32) -> Option<LandedPiece> {
        each_size!(&self.envs, envs => envs.last_landings[env_id as usize].as_ref().map(|last| last.landed_piece(&self.config)))
    }

    /// Which episode of its seed an environment plays; the first one before it has begun.
    pub fn episode(&self, env_id: u32) -> EpisodeIndex {
        each_size!(&self.envs, envs => envs.episodes[env_id as usize])
    }

    /// The seed of an environment's episode; 0 for an explicit sequence, and before the first episode.
    pub fn episode_seed(&self, env_id: u32) -> u64 {
        each_size!(&self.envs, envs => envs.episode_seed(env_id as usize))
    }

    /// How far an environment's episode is.
    pub fn phase(&self, env_id: u32) -> EpisodePhase {
        each_size!(&self.envs, envs => envs.phases[env_id as usize])
    }
}

impl FinalBatch {
    /// Totals and end of the episode that ended in a row of the call, if one did.
    pub fn ended(&self, row: u32) -> Option<(EpisodeStatistics, EpisodeEnd)> {
        let i = self.rows.binary_search(&row).ok()?;
        each_size!(&self.envs, envs => Some((envs.statistics[i], envs.phases[i].end()?)))
    }
}

impl<C: Column, const N: usize> LastLanding<C, N> {
    fn landed_piece(&self, config: &EnvConfig) -> LandedPiece {
        let (shape, row, column) = self.came_to_rest(&config.rules);
        let landing = land_at(&config.rules, &self.before, shape, row, column);
        let cleared_rows = landing.vanished_rows().to_u64();
        LandedPiece { piece: self.piece(), cells: shape.cells_at(row, column), cleared_rows }
    }
}
