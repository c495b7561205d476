//! Steps: what an action does to an environment, and what many of them do to a batch.
//!
//! Nothing is done before all of it has been checked, row by row; then every row is done by itself.

use crate::engine::{Column, is_blocked};

use super::columns::{AnyEnvs, Envs, LastLanding, Phase};
use super::moves::Moves;
use super::{
    AutoresetMode, EnvConfig, FinalBatch, InvalidActionPolicy, NotReset, RefusedAction, Rows, StepError,
    StepOutcome,
};

impl<C: Column, const N: usize> Envs<C, N> {
    pub fn check_step(
        &self,
        config: &EnvConfig,
        moves: &Moves,
        rows: Rows<'_>,
        actions: &[i32],
    ) -> Result<(), StepError> {
        let num_actions = moves.num_actions();
        let (mut not_started, mut ended) = (Vec::new(), Vec::new());
        let (mut out_of_range, mut illegal) = (Vec::new(), Vec::new());
        for (row, (i, &action)) in rows.envs().zip(actions).enumerate() {
            let refused = RefusedAction { row: row as u32, action };
            match self.phases[i] {
                Phase::NotStarted => not_started.push(i as u32),
                Phase::Ended if config.autoreset_mode == AutoresetMode::Disabled => ended.push(i as u32),
                Phase::Ended => {}
                // A negative action is out of range as well: its bits are those of a large number.
                Phase::Running if action as u32 as usize >= num_actions => out_of_range.push(refused),
                Phase::Running => {
                    let exists = self.visible[i].current().is_some_and(|piece| {
                        moves.drop_on(&self.playfields[i], piece, action as usize).is_some()
                    });
                    if !exists && config.invalid_action_policy == InvalidActionPolicy::Reject {
                        illegal.push(refused);
                    }
                }
            }
        }
        if !not_started.is_empty() {
            Err(NotReset { env_ids: not_started }.into())
        } else if !ended.is_empty() {
            Err(StepError::EpisodeEnded { env_ids: ended })
        } else if !out_of_range.is_empty() {
            Err(StepError::ActionOutOfRange { actions: out_of_range, num_actions: num_actions as u32 })
        } else if !illegal.is_empty() {
            Err(StepError::IllegalAction { actions: illegal })
        } else {
            Ok(())
        }
    }

    pub fn step(&mut self, config: &EnvConfig, moves: &Moves, rows: Rows<'_>, actions: &[i32]) -> StepOutcome
    where
        AnyEnvs: From<Envs<C, N>>,
    {
        let mut rewards = vec![0.0; rows.len()];
        let mut terminated = vec![false; rows.len()];
        let mut truncated = vec![false; rows.len()];
        let mut final_rows = Vec::new();
        let mut finals = Envs::with_capacity(0);
        for (row, &action) in actions.iter().enumerate() {
            let i = rows.env(row);
            if self.phases[i] == Phase::Ended {
                self.begin_next(config, i);
                continue;
            }
            let (reward, end) = self.act(config, moves, i, action as usize);
            rewards[row] = reward as f32;
            if end != End::None {
                terminated[row] = end == End::Terminated;
                truncated[row] = end == End::Truncated;
                self.phases[i] = Phase::Ended;
                if config.autoreset_mode == AutoresetMode::SameStep {
                    final_rows.push(row as u32);
                    finals.push_copy(self, i);
                    self.begin_next(config, i);
                }
            }
        }
        StepOutcome {
            rewards,
            terminated,
            truncated,
            finals: FinalBatch { rows: final_rows, envs: finals.into() },
        }
    }

    /// One action in one running environment: the points, and whether the episode ends.
    #[inline]
    fn act(&mut self, config: &EnvConfig, moves: &Moves, i: usize, action: usize) -> (f64, End) {
        let rules = &config.rules;
        let visible = &mut self.visible[i];
        let statistics = &mut self.statistics[i];
        let piece = visible.current().expect("a running episode has a piece");
        let playfield = &mut self.playfields[i];
        let (reward, terminated);
        match moves.drop_on(playfield, piece, action) {
            Some(drop) => {
                self.last_landings[i] = Some(LastLanding { before: *playfield, piece, action: action as u8 });
                let (lines, topped_out) = playfield.drop(drop.shape, drop.column, rules.top_out);
                visible.advance(&mut self.dealers[i], rules.preview);
                let is_next_blocked =
                    visible.current().is_some_and(|next| is_blocked(rules, playfield, next));
                terminated = topped_out || is_next_blocked;
                reward = rules.scoring.reward(lines, terminated);
                statistics.lines += u64::from(lines);
                statistics.pieces += 1;
            }
            None => (reward, terminated) = (rules.scoring.game_end, true),
        }
        statistics.length += 1;
        statistics.episode_return += reward;
        let limit = config.max_episode_steps;
        let end = if terminated {
            End::Terminated
        } else if visible.current().is_none() || (limit > 0 && statistics.length >= limit) {
            End::Truncated
        } else {
            End::None
        };
        (reward, end)
    }
}

/// How a step ended its episode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    None,
    Terminated,
    Truncated,
}
