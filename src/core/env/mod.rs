//! Environments: N of them as columns of arrays, stepped by one call.
//!
//! One environment is a batch of one; there is no other code for steps. This module uses the engine and the features;
//! it knows no thread, no clock and no network.
//!
//! # Description
//! A game of Tetris under [`Rules`], played again and again. The pieces in the k-th episode of an environment are a
//! pure function of the environment's seed, k and the randomizer, whatever happens in other environments.
//!
//! # Action Space
//! One `i32` per environment.
//!
//! If a step is a placement, the action is `orientation * width + column`, below `4 * width`. The column is that of the
//! piece's leftmost cell, and the mask tells which placements exist for the current piece. Under rules where pieces
//! move on their way down, or can be held, [`Placement::action`](crate::engine::Placement::action) defines the numbers.
//!
//! If a step is a key, the action is its number, below 6; every [`Key`](crate::engine::Key) can be pressed at any time.
//! Where keys [steer](crate::engine::SteeredPiece) pieces there are 10, and the mask tells which of them can be pressed.
//!
//! # Observation Space
//! The fields with [`Role::Observation`], each an array with one row per environment. [`EnvBatch::spec`] returns type,
//! shape and bounds.
//!
//! # Starting State
//! An empty playfield. Creating a batch starts no episode: [`EnvBatch::reset`] or a restored position does.
//!
//! # Rewards
//! The points of [`Scoring`](crate::engine::Scoring), added up in `f64` and reported in `f32`. An ignored action that
//! does not exist gives the reward of [`InvalidActionPolicy::Ignore`].
//!
//! # Episode End
//! *Termination*: the rules end the game, or an action that does not exist ends it under
//! [`InvalidActionPolicy::Terminate`]. *Truncation*: an explicit piece sequence is used up, or `max_episode_steps` is
//! reached. If several reasons apply, the first in this order counts, as an [`EpisodeEnd`](crate::engine::EpisodeEnd).
//! [`AutoresetMode`] decides what follows.
//!
//! # Information
//! The fields with [`Role::Info`], about the episode so far: lines, pieces, steps, return, seed, actions that did not
//! exist, and the row of the last landing.
//!
//! # Arguments
//! [`EnvConfig`] and [`Seeding`].
//!
//! # Refusals
//! A call is checked completely before anything changes. A refused call has changed nothing, in any environment.

mod action_table;
mod columns;
mod config;
mod fields;
mod glance;
mod observe;
mod refusals;
mod rows;
mod seeding;
mod slots;
mod snapshot;
mod state;
mod steer;
mod step;

pub use columns::{EpisodeIndex, EpisodePhase, EpisodeStatistics};
pub use config::{AutoresetMode, EnvConfig, InvalidActionPolicy};
pub use fields::{DataType, Dim, FIELDS, Field, FieldInfo, FieldSpec, Kind, Needs, Role};
pub use refusals::{
    ActionError, CreateError, EnvIdError, NotReset, PositionError, ReadError, RefusedAction, ResetError,
    RestoreError, SeedingError, StepError, WrongLength,
};
pub use seeding::Seeding;
pub use slots::{EnvSlot, SlotsError};
pub use snapshot::{SharedSequences, SnapshotError};
pub use state::{EnvState, StartPosition};

use std::ops::Range;

use crate::engine::{
    Chain, CompactPlayfield, Dealer, Hand, Incoming, MovingPiece, Odds, Piece, Playfield, Rules, check_points,
};
use action_table::ActionTable;
use columns::{AnyEnvs, Envs, each_size};
use refusals::{one_each, one_each_or_one};
use rows::{EnvRows, MatchRows, one_for};

/// The contents of a restore: one entry per row, or one for all.
#[derive(Clone, Copy, Debug)]
pub enum Restored<'a> {
    /// States: each environment continues exactly like the saved one.
    States(&'a [EnvState]),
    /// Positions: each environment starts the episode that a reset would start, from this position.
    Positions(&'a [StartPosition]),
}

/// The results of a step, with one entry per row of the call.
///
/// One outcome can be reused for many steps: see [`EnvBatch::step_into`].
#[derive(Debug, Default)]
pub struct StepOutcome {
    pub rewards: Vec<f32>,
    /// Whether the rules ended the episode in this step.
    pub terminated: Vec<bool>,
    /// Whether a limit cut the episode in this step; never together with `terminated`.
    pub truncated: Vec<bool>,
    /// Last states of the episodes that ended in this step, in [`AutoresetMode::SameStep`]; otherwise empty.
    pub finals: FinalBatch,
}

/// The last states of episodes whose rows already show the next one.
#[derive(Debug, Default)]
pub struct FinalBatch {
    rows: Vec<u32>,
    envs: AnyEnvs,
}

impl FinalBatch {
    /// Rows of these environments in the call that ended their episodes, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }
}

/// A batch of N environments.
#[derive(Debug)]
pub struct EnvBatch {
    config: EnvConfig,
    table: ActionTable,
    envs: AnyEnvs,
}

impl EnvBatch {
    /// Creates environments. No episode starts.
    ///
    /// # Errors
    /// [`CreateError`] for rules that cannot be played, no environments, or a wrong number of seeds.
    pub fn new(config: EnvConfig, seeding: &Seeding) -> Result<EnvBatch, CreateError> {
        config.rules.check()?;
        if let InvalidActionPolicy::Ignore { reward } = config.invalid_action_policy {
            check_points("invalid_action_reward", reward)?;
        }
        if config.num_envs == 0 {
            return Err(CreateError::NoEnvironments);
        }
        if let Some(features) = &config.features
            && features.width() != config.rules.width
        {
            return Err(CreateError::FeatureWidth { set: features.width(), rules: config.rules.width });
        }
        if config.rules.is_match() && !config.num_envs.is_multiple_of(2) {
            return Err(CreateError::OddMatch(config.num_envs));
        }
        let num_envs = config.num_envs as usize;
        seeding.check(num_envs, &config.rules)?;
        if config.rules.is_match() {
            seeding.check_matches(&MatchRows::All(num_envs / 2))?;
        }
        let Rules { width, height, .. } = config.rules;
        let envs = if CompactPlayfield::fits(width, height) {
            AnyEnvs::Compact(Envs::new(&config, seeding))
        } else {
            AnyEnvs::General(Envs::new(&config, seeding))
        };
        Ok(EnvBatch { table: ActionTable::new(&config.rules), config, envs })
    }

    /// The configuration that the environments share.
    pub fn config(&self) -> &EnvConfig {
        &self.config
    }

    /// Starts episodes, whether or not the previous ones have ended, and clears a pending autoreset. With a seeding,
    /// they are its episodes 0, from which later ones are counted. Without one, each environment starts its next
    /// episode; the first time, its first.
    ///
    /// In this and every other call, `None` for the environments means all of them in order.
    ///
    /// # Errors
    /// [`ResetError`] for an invalid list of environments, or a wrong number of seeds or sequences.
    pub fn reset(&mut self, env_ids: Option<&[u32]>, seeding: Option<&Seeding>) -> Result<(), ResetError> {
        self.check_reset(env_ids, seeding)?;
        self.reset_checked(env_ids, 0..self.all(env_ids).len(), seeding);
        Ok(())
    }

    /// Checks that a reset of these environments can be performed.
    ///
    /// # Errors
    /// The errors of [`EnvBatch::reset`].
    pub fn check_reset(&self, env_ids: Option<&[u32]>, seeding: Option<&Seeding>) -> Result<(), ResetError> {
        let rows = self.rows(env_ids)?;
        let matches = self.matches(rows)?;
        if let Some(seeding) = seeding {
            seeding.check(rows.len(), &self.config.rules)?;
            seeding.check_matches(&matches)?;
        }
        Ok(())
    }

    /// Performs some rows of a reset that [`EnvBatch::check_reset`] has accepted, so that a long one can pause.
    ///
    /// # Panics
    /// If there is no such row, or a listed environment does not exist.
    pub fn reset_checked(&mut self, env_ids: Option<&[u32]>, rows: Range<usize>, seeding: Option<&Seeding>) {
        let all = self.all(env_ids);
        each_size!(&mut self.envs, envs => envs.reset(&self.config, (all, rows), seeding));
    }

    /// Exchanges the holes of both sides in matches that a reset has just started, so that each is the mirrored match, and
    /// in their later episodes, until the next reset or restored state. Under rules of one player nothing changes.
    ///
    /// # Panics
    /// If a listed environment does not exist.
    pub fn swap_sides(&mut self, env_ids: Option<&[u32]>) {
        let rows = self.all(env_ids);
        each_size!(&mut self.envs, envs => envs.swap_sides(rows));
    }

    /// Performs one action in each row's environment.
    ///
    /// # Errors
    /// [`StepError`]. Then nothing has changed.
    pub fn step(&mut self, actions: &[i32], env_ids: Option<&[u32]>) -> Result<StepOutcome, StepError> {
        let mut outcome = StepOutcome::default();
        self.step_into(actions, env_ids, &mut outcome)?;
        Ok(outcome)
    }

    /// Checks that a step of these environments can be performed.
    ///
    /// # Errors
    /// The errors of [`EnvBatch::step`].
    pub fn check_step(&self, actions: &[i32], env_ids: Option<&[u32]>) -> Result<(), StepError> {
        let rows = self.rows(env_ids)?;
        self.matches(rows)?;
        one_each("actions", actions.len(), rows.len())?;
        each_size!(&self.envs, envs => envs.check_step(&self.config, &self.table, rows, actions))
    }

    /// Steps environments like [`EnvBatch::step`], and replaces the contents of an existing outcome. Repeated steps of
    /// equally many rows allocate no memory.
    ///
    /// # Errors
    /// The errors of [`EnvBatch::step`]. Then the outcome is unchanged.
    pub fn step_into(
        &mut self,
        actions: &[i32],
        env_ids: Option<&[u32]>,
        outcome: &mut StepOutcome,
    ) -> Result<(), StepError> {
        self.check_step(actions, env_ids)?;
        self.step_checked(actions, env_ids, outcome);
        Ok(())
    }

    /// Steps environments like [`EnvBatch::step_into`], with actions that [`EnvBatch::check_step`] has accepted.
    ///
    /// # Panics
    /// If a listed environment does not exist.
    pub fn step_checked(&mut self, actions: &[i32], env_ids: Option<&[u32]>, outcome: &mut StepOutcome) {
        let rows = self.all(env_ids);
        let (config, table) = (&self.config, &self.table);
        each_size!(&mut self.envs, envs => envs.step(config, table, rows, actions, outcome));
    }

    /// Type, shape and bounds of a field, for one environment.
    pub fn spec(&self, field: Field) -> FieldSpec {
        field.spec(&self.config)
    }

    /// Appends a field of the rows' environments: little-endian, row-major, with one row per environment.
    ///
    /// Only this function creates observations, infos and masks, after a reset, a step and a restore alike. An
    /// environment that has not started an episode shows an empty playfield, no piece, zeros, and a mask of zeros.
    ///
    /// # Panics
    /// If a listed environment does not exist; see [`EnvBatch::check`].
    pub fn observe(&self, field: Field, env_ids: Option<&[u32]>, out: &mut Vec<u8>) {
        let rows = self.all(env_ids);
        each_size!(&self.envs, envs => envs.observe(&self.config, &self.table, field, rows, out));
    }

    /// Appends the masks of the rows' environments as bits, `num_actions / 8` bytes each, rounded up: bit `a % 8` of
    /// byte `a / 8` is action a.
    ///
    /// # Panics
    /// If a listed environment does not exist; see [`EnvBatch::check`].
    pub fn observe_mask_bits(&self, env_ids: Option<&[u32]>, out: &mut Vec<u8>) {
        let rows = self.all(env_ids);
        each_size!(&self.envs, envs => envs.observe_mask_bits(&self.config, &self.table, rows, out));
    }

    /// Appends a field of last states, as [`EnvBatch::observe`] would have done before the next episodes started.
    pub fn observe_finals(&self, field: Field, finals: &FinalBatch, out: &mut Vec<u8>) {
        let rows = EnvRows { env_ids: None, num_envs: finals.rows.len() as u32 };
        each_size!(&finals.envs, envs => envs.observe(&self.config, &self.table, field, rows, out));
    }

    /// The complete state of an environment.
    ///
    /// # Panics
    /// If the environment does not exist or has not started an episode; see [`EnvBatch::check`].
    pub fn state(&self, env_id: u32) -> EnvState {
        each_size!(&self.envs, envs => envs.state(&self.config.rules, env_id as usize))
    }

    /// Puts environments into given states or positions, whether or not their episodes have started or ended.
    ///
    /// With `reseed` r, the environment of row j continues with the seed `word(r, Reseed, j)`, which replaces the seeds
    /// of its episode and of the environment. The visible pieces and the open bag stay. Later pieces and later episodes
    /// come from the new seed, with unchanged episode numbers. An explicit sequence has no seed and stays.
    ///
    /// # Errors
    /// [`RestoreError`] for lists of wrong lengths, states of other rules, and positions that are impossible under
    /// these rules.
    pub fn restore(
        &mut self,
        env_ids: Option<&[u32]>,
        restored: Restored<'_>,
        reseed: Option<u64>,
    ) -> Result<(), RestoreError> {
        self.check_restore(env_ids, restored)?;
        self.restore_checked(env_ids, 0..self.all(env_ids).len(), restored, reseed);
        Ok(())
    }

    /// Checks that these environments can be restored.
    ///
    /// # Errors
    /// The errors of [`EnvBatch::restore`].
    pub fn check_restore(&self, env_ids: Option<&[u32]>, restored: Restored<'_>) -> Result<(), RestoreError> {
        let rows = self.rows(env_ids)?;
        let rules = &self.config.rules;
        let matches = self.matches(rows)?;
        match restored {
            Restored::States(states) => {
                one_each_or_one("states", states.len(), rows.len())?;
                // One side of a match may go on alone, with garbage that is dealt.
                let is_of = |state: &EnvState| {
                    state.rules() == rules || Rules { players: 1, ..*state.rules() } == *rules
                };
                if let Some(row) = states.iter().position(|state| !is_of(state)) {
                    return Err(RestoreError::OtherRules { row });
                }
                for [row, other] in matches.iter() {
                    if !one_for(states, row).is_against(one_for(states, other)) {
                        return Err(RestoreError::OtherMatch { row, other });
                    }
                }
            }
            Restored::Positions(positions) => {
                one_each_or_one("positions", positions.len(), rows.len())?;
                for (row, position) in positions.iter().enumerate() {
                    position.check(rules).map_err(|error| RestoreError::Position { row, error })?;
                }
            }
        }
        Ok(())
    }

    /// Performs some rows of a restore that [`EnvBatch::check_restore`] has accepted, so that a long one can pause.
    ///
    /// # Panics
    /// If there is no such row, or a listed environment does not exist.
    pub fn restore_checked(
        &mut self,
        env_ids: Option<&[u32]>,
        rows: Range<usize>,
        restored: Restored<'_>,
        reseed: Option<u64>,
    ) {
        let all = self.all(env_ids);
        each_size!(&mut self.envs, envs => envs.restore(&self.config, (all, rows), restored, reseed));
    }

    /// Checks that a list of environments is valid and that each of them has started an episode.
    ///
    /// # Errors
    /// [`ReadError`] if not.
    pub fn check(&self, env_ids: Option<&[u32]>) -> Result<(), ReadError> {
        let rows = self.rows(env_ids)?;
        each_size!(&self.envs, envs => envs.check_started(rows))?;
        Ok(())
    }

    /// Checks that a list of environments is valid, whether or not they have started an episode.
    ///
    /// # Errors
    /// [`EnvIdError`] if not.
    pub fn check_env_ids(&self, env_ids: &[u32]) -> Result<(), EnvIdError> {
        self.rows(Some(env_ids)).map(drop)
    }

    /// The playfield of an environment.
    pub fn playfield(&self, env_id: u32) -> Playfield {
        each_size!(&self.envs, envs => envs.playfields[env_id as usize].resized())
    }

    /// The current piece of an environment and the shown pieces after it, as many as there are.
    pub fn pieces(&self, env_id: u32) -> Vec<Piece> {
        each_size!(&self.envs, envs => envs.visible[env_id as usize].pieces().collect())
    }

    /// The current piece of an environment where keys have moved it; `None` if a step is a placement or there is no
    /// piece.
    ///
    /// After an episode that the rules ended, the next piece is shown at its spawn position, even if it overlaps the
    /// playfield there.
    pub fn falling(&self, env_id: u32) -> Option<MovingPiece> {
        let i = env_id as usize;
        each_size!(&self.envs, envs => {
            envs.falling(i).map(MovingPiece::Falling).or(envs.steered(i).map(MovingPiece::Steered))
        })
    }

    /// The held piece of an environment, if any.
    pub fn held(&self, env_id: u32) -> Option<Piece> {
        each_size!(&self.envs, envs => envs.held(env_id as usize))
    }

    /// Odds of the piece after the shown ones of an environment.
    pub fn odds(&self, env_id: u32) -> Odds {
        each_size!(&self.envs, envs => envs.dealers[env_id as usize].odds())
    }

    /// The preceding clears of an environment, if the rules need them.
    pub fn chain(&self, env_id: u32) -> Chain {
        each_size!(&self.envs, envs => envs.chain(env_id as usize)).0
    }

    /// The waiting garbage of an environment, if the rules have garbage.
    pub fn incoming(&self, env_id: u32) -> Incoming {
        each_size!(&self.envs, envs => envs.incoming(env_id as usize))
    }

    /// The pieces that can be placed in an environment; `None` once its episode has ended.
    pub fn hand(&self, env_id: u32) -> Option<Hand> {
        let hand = each_size!(&self.envs, envs => envs.hand(&self.config.rules, env_id as usize));
        hand.filter(|_| !self.has_ended(env_id)).map(|hand| hand.with(self.falling(env_id)))
    }

    /// Whether an environment's episode has ended and waits for its reset.
    pub fn has_ended(&self, env_id: u32) -> bool {
        each_size!(&self.envs, envs => envs.phases[env_id as usize].end().is_some())
    }

    /// Totals of an environment's current episode.
    pub fn statistics(&self, env_id: u32) -> EpisodeStatistics {
        each_size!(&self.envs, envs => envs.statistics[env_id as usize])
    }

    /// Bytes of the environments, without their piece sequences.
    pub fn memory_bytes(&self) -> usize {
        each_size!(&self.envs, envs => envs.memory_bytes())
    }

    /// Bytes of one environment under these rules, without its piece sequence.
    pub fn env_bytes(rules: &Rules) -> usize {
        let incoming = if rules.garbage.is_some() { size_of::<Incoming>() } else { 0 };
        let in_columns = if CompactPlayfield::fits(rules.width, rules.height) {
            Envs::<u32, 16>::ENV_BYTES
        } else {
            Envs::<u64, 32>::ENV_BYTES
        };
        in_columns + incoming + Dealer::bytes_beside(&rules.pieces)
    }

    /// Bytes of the table of actions and pieces, for pieces other than tetrominoes: with many of them it is large.
    pub fn table_bytes(rules: &Rules) -> usize {
        if rules.pieces.is_tetrominoes() { 0 } else { ActionTable::bytes(rules) }
    }

    #[inline]
    fn rows<'a>(&self, env_ids: Option<&'a [u32]>) -> Result<EnvRows<'a>, EnvIdError> {
        EnvRows::of(env_ids, self.config.num_envs)
    }

    /// The matches of a call; none under rules of one player.
    fn matches(&self, rows: EnvRows<'_>) -> Result<MatchRows, EnvIdError> {
        if self.config.rules.is_match() { rows.matches() } else { Ok(MatchRows::All(0)) }
    }

    /// The environments in a list that has been checked.
    fn all<'a>(&self, env_ids: Option<&'a [u32]>) -> EnvRows<'a> {
        EnvRows { env_ids, num_envs: self.config.num_envs }
    }
}
