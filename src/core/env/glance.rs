//! Single environments as viewers see them: the last landing, the number of the episode, and its phase.
//!
//! No agent sees any of this. Nothing is stored for it: everything is derived from state that steps need anyway, so
//! that an environment without viewers costs nothing.

use crate::engine::{Column, EpisodeEnd, LandedPiece, land_at};

use super::columns::{LastLanding, each_size};
use super::{AnyEnvs, EnvBatch, EnvConfig, EpisodeIndex, EpisodePhase, EpisodeStatistics, FinalBatch};

impl EnvBatch {
    /// The last landing in an environment's episode, if any.
    pub fn last_landing(&self, env_id: u32) -> Option<LandedPiece> {
        each_size!(&self.envs, envs => envs.last_landings[env_id as usize].as_ref().map(|last| last.landed_piece(&self.config)))
    }

    /// The episode that an environment plays; before it has started, the first one.
    pub fn episode(&self, env_id: u32) -> EpisodeIndex {
        each_size!(&self.envs, envs => envs.episodes[env_id as usize])
    }

    /// The seed of an environment's episode; 0 for an explicit sequence, and before the first episode.
    pub fn episode_seed(&self, env_id: u32) -> u64 {
        each_size!(&self.envs, envs => envs.episode_seed(env_id as usize))
    }

    /// Phase of an environment's episode.
    pub fn phase(&self, env_id: u32) -> EpisodePhase {
        each_size!(&self.envs, envs => envs.phases[env_id as usize])
    }
}

impl FinalBatch {
    /// Totals and end of the episode that ended in this row of the call, if any.
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
