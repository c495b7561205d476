//! Single environments as viewers see them: what landed last, which episode it is, how far it is.
//!
//! No agent sees any of this. Nothing is stored for it: it follows from what a step needs itself, so that an environment that
//! nobody looks at costs nothing.

use crate::engine::{Column, Piece, PieceCells, land_at};

use super::columns::{Envs, LastLanding, Phase, each_size};
use super::{AnyEnvs, EnvBatch, EnvConfig, EpisodeIndex, EpisodeStatistics, FinalBatch, InvalidActionPolicy};

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

/// How far an episode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodePhase {
    /// No episode has begun.
    NotStarted,
    /// The episode goes on.
    Running,
    /// The rules, or an action that did not exist, have ended it.
    Terminated,
    /// A limit has cut it.
    Truncated,
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
        each_size!(&self.envs, envs => envs.phase(&self.config, env_id as usize))
    }
}

impl FinalBatch {
    /// The totals of the episode that ended in a row of the call, if one did.
    pub fn statistics(&self, row: u32) -> Option<EpisodeStatistics> {
        let i = self.rows.binary_search(&row).ok()?;
        Some(each_size!(&self.envs, envs => envs.statistics[i]))
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

impl<C: Column, const N: usize> Envs<C, N> {
    fn phase(&self, config: &EnvConfig, i: usize) -> EpisodePhase {
        match self.phases[i] {
            Phase::NotStarted => EpisodePhase::NotStarted,
            Phase::Running => EpisodePhase::Running,
            Phase::Ended if self.was_lost(config, i) => EpisodePhase::Terminated,
            Phase::Ended => EpisodePhase::Truncated,
        }
    }

    /// Whether an episode that has ended was lost, and not cut. No flag is kept of it: the last landing, or an action that did
    /// not exist, lost it, or nothing did.
    fn was_lost(&self, config: &EnvConfig, i: usize) -> bool {
        if config.invalid_action_policy == InvalidActionPolicy::Terminate && self.was_invalid(i) {
            return true;
        }
        self.last_landings[i].as_ref().is_some_and(|last| {
            let (shape, row, column) = last.came_to_rest(&config.rules);
            let landing = land_at(&config.rules, &last.before, shape, row, column);
            let risen = u32::from(self.incoming(i).just_risen);
            let is_pushed_out = landing.afterstate.occupied_rows().top() + risen > config.rules.height.into();
            let playfield = &self.playfields[i];
            risen > 0 && (is_pushed_out || playfield.is_topped_out(config.rules.top_out))
                || landing.landed().followed_by(&config.rules, playfield, self.visible[i].current()).terminal
        })
    }
}
