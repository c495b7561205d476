//! Environments: N of them as columns of arrays, stepped by one call.
//!
//! One environment is a batch of one; there is no other stepping code. This module knows the engine and the features; it
//! knows no thread, no clock and no network.
//!
//! # Description
//! A game of Tetris under [`Rules`], played again and again. The k-th episode of an environment deals pieces that are a
//! pure function of the environment's seed, k and the randomizer, whatever happens in other environments.
//!
//! # Action Space
//! One `i32` an environment. Where a step is a placement: `orientation * width + column`, below `4 * width`; the column is
//! that of the piece's leftmost cell, and the mask says which of them exist for the current piece. Where pieces move on their
//! way down, or can be held, [`Placement::action`](crate::engine::Placement::action) has the numbers. Where a step is a key:
//! its number, below 6; every [`Key`](crate::engine::Key) can be pressed at any time. Where keys
//! [steer](crate::engine::steered) pieces there are 10, and the mask says which of them can be pressed.
//!
//! # Observation Space
//! The fields with [`Role::Observation`], each an array with one row an environment. [`EnvBatch::spec`] gives type, shape
//! and bounds.
//!
//! # Starting State
//! An empty playfield. Making a batch starts no episode: [`EnvBatch::reset`] does, or a restored position.
//!
//! # Rewards
//! The points of [`Scoring`](crate::engine::Scoring), added up in `f64` and reported in `f32`; for an action that does not
//! exist and is ignored, those of [`InvalidActionPolicy::Ignore`].
//!
//! # Episode End
//! *Termination*: the rules end the game, or an action that does not exist does under [`InvalidActionPolicy::Terminate`].
//! *Truncation*: an explicit piece sequence is used up, or `max_episode_steps` is reached. Of several reasons the first in this
//! order counts: an [`EpisodeEnd`](crate::engine::EpisodeEnd). [`AutoresetMode`] says what follows.
//!
//! # Information
//! The fields with [`Role::Info`], about the episode so far: lines, pieces, steps, return, seed, actions that did not exist,
//! the row of the last landing.
//!
//! # Arguments
//! [`EnvConfig`] and [`Seeding`].
//!
//! # Refusals
//! A call is checked in full before anything moves. A refused call has changed nothing, in any environment.

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
pub use glance::LandedPiece;
pub use refusals::{
    ActionError, CreateError, EnvIdError, NotReset, PositionError, ReadError, RefusedAction, ResetError,
    RestoreError, SeedingError, StepError, WrongLength,
};
pub use seeding::Seeding;
pub use slots::{EnvSlot, SlotsError};
pub use snapshot::{SharedSequences, SnapshotError};
pub use state::{EnvState, StartPosition};

use crate::engine::rules::check_points;
use crate::engine::{Chain, CompactPlayfield, Dealer, Hand, Incoming, MovingPiece, Piece, Playfield, Rules};
use action_table::ActionTable;
use columns::{AnyEnvs, Envs, each_size};
use refusals::{one_each, one_each_or_one};
use rows::EnvRows;

/// What a restore puts into environments: one for each row, or one for all.
#[derive(Clone, Copy, Debug)]
pub enum Restored<'a> {
    /// States: each environment goes on exactly as the saved one did.
    States(&'a [EnvState]),
    /// Positions: each environment begins the episode that a reset would begin, from there.
    Positions(&'a [StartPosition]),
}

/// What a step returned, one entry a row of the call.
///
/// One outcome can be reused for many steps: see [`EnvBatch::step_into`].
#[derive(Debug, Default)]
pub struct StepOutcome {
    /// Points of this step.
    pub rewards: Vec<f32>,
    /// Whether the rules ended the episode in this step.
    pub terminated: Vec<bool>,
    /// Whether a limit cut the episode in this step; never together with `terminated`.
    pub truncated: Vec<bool>,
    /// The last states of the episodes that ended in this step, in [`AutoresetMode::SameStep`]; else empty.
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

/// N environments.
#[derive(Debug)]
pub struct EnvBatch {
    config: EnvConfig,
    table: ActionTable,
    envs: AnyEnvs,
}

impl EnvBatch {
    /// Makes environments. No episode begins.
    ///
    /// # Errors
    /// [`CreateError`] for rules that cannot be played, no environments, or seeds that do not fit their number.
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
        let num_envs = config.num_envs as usize;
        seeding.check(num_envs)?;
        let Rules { width, height, .. } = config.rules;
        let envs = if CompactPlayfield::fits(width, height) {
            AnyEnvs::Compact(Envs::new(&config, seeding))
        } else {
            AnyEnvs::General(Envs::new(&config, seeding))
        };
        Ok(EnvBatch { table: ActionTable::new(&config.rules), config, envs })
    }

    /// What the environments have in common.
    pub fn config(&self) -> &EnvConfig {
        &self.config
    }

    /// Begins episodes, whether or not the ones before have ended; clears a pending autoreset. With a seeding, they are
    /// episodes 0 of it, and later ones are counted from there; without, each environment's next one, the first time its
    /// first one.
    ///
    /// `None` for the environments means all of them in order, here and in every other call.
    ///
    /// # Errors
    /// [`ResetError`] for a list of environments, seeds or sequences that does not fit.
    pub fn reset(&mut self, env_ids: Option<&[u32]>, seeding: Option<&Seeding>) -> Result<(), ResetError> {
        let rows = self.rows(env_ids)?;
        if let Some(seeding) = seeding {
            seeding.check(rows.len())?;
        }
        each_size!(&mut self.envs, envs => envs.reset(&self.config, rows, seeding));
        Ok(())
    }

    /// Does one action in each row's environment.
    ///
    /// # Errors
    /// [`StepError`]; nothing has moved then.
    pub fn step(&mut self, actions: &[i32], env_ids: Option<&[u32]>) -> Result<StepOutcome, StepError> {
        let mut outcome = StepOutcome::default();
        self.step_into(actions, env_ids, &mut outcome)?;
        Ok(outcome)
    }

    /// Steps environments like [`EnvBatch::step`], into an existing outcome, whose contents are replaced. After steps of as
    /// many rows it takes no new memory.
    ///
    /// # Errors
    /// The errors of [`EnvBatch::step`]; the outcome is unchanged then.
    pub fn step_into(
        &mut self,
        actions: &[i32],
        env_ids: Option<&[u32]>,
        outcome: &mut StepOutcome,
    ) -> Result<(), StepError> {
        let rows = self.rows(env_ids)?;
        one_each("actions", actions.len(), rows.len())?;
        let (config, table) = (&self.config, &self.table);
        each_size!(&mut self.envs, envs => {
            envs.check_step(config, table, rows, actions)?;
            envs.step(config, table, rows, actions, outcome);
        });
        Ok(())
    }

    /// Type, shape and bounds of a field, for one environment.
    pub fn spec(&self, field: Field) -> FieldSpec {
        field.spec(&self.config)
    }

    /// Appends a field of the rows' environments: little-endian, row-major, one row an environment.
    ///
    /// This is the only place where observations, infos and masks are made, after a reset, a step and a restore alike.
    /// An environment in which no episode has begun shows an empty playfield, no piece, zeros, and a mask of zeros.
    ///
    /// # Panics
    /// When a listed environment does not exist: see [`EnvBatch::check`].
    pub fn observe(&self, field: Field, env_ids: Option<&[u32]>, out: &mut Vec<u8>) {
        let rows = EnvRows { env_ids, num_envs: self.config.num_envs };
        each_size!(&self.envs, envs => envs.observe(&self.config, &self.table, field, rows, out));
    }

    /// Appends the masks of the rows' environments as bits, `num_actions / 8` bytes each, rounded up: bit `a % 8` of byte
    /// `a / 8` is action a.
    ///
    /// # Panics
    /// When a listed environment does not exist: see [`EnvBatch::check`].
    pub fn observe_mask_bits(&self, env_ids: Option<&[u32]>, out: &mut Vec<u8>) {
        let rows = EnvRows { env_ids, num_envs: self.config.num_envs };
        each_size!(&self.envs, envs => envs.observe_mask_bits(&self.config, &self.table, rows, out));
    }

    /// Appends a field of last states, as [`EnvBatch::observe`] would have before the next episode began.
    pub fn observe_finals(&self, field: Field, finals: &FinalBatch, out: &mut Vec<u8>) {
        let rows = EnvRows { env_ids: None, num_envs: finals.rows.len() as u32 };
        each_size!(&finals.envs, envs => envs.observe(&self.config, &self.table, field, rows, out));
    }

    /// The whole state of an environment.
    ///
    /// # Panics
    /// When it does not exist, or no episode has begun in it: see [`EnvBatch::check`].
    pub fn state(&self, env_id: u32) -> EnvState {
        each_size!(&self.envs, envs => envs.state(&self.config.rules, env_id as usize))
    }

    /// Puts environments into given states or positions, whether or not their episodes have begun or ended.
    ///
    /// With `reseed` r, the environment of row j goes on with the seed `word(r, Reseed, j)`, which takes the place of its
    /// episode's and of its own: what is visible and the open bag stay, what is dealt later and the episodes after this one
    /// come from the new seed, with their numbers as they are. An explicit sequence has no seed and stays.
    ///
    /// # Errors
    /// [`RestoreError`] for lists that do not fit, states of other rules, and positions that are impossible under these.
    pub fn restore(
        &mut self,
        env_ids: Option<&[u32]>,
        restored: Restored<'_>,
        reseed: Option<u64>,
    ) -> Result<(), RestoreError> {
        let rows = self.rows(env_ids)?;
        let rules = &self.config.rules;
        match restored {
            Restored::States(states) => {
                one_each_or_one("states", states.len(), rows.len())?;
                if let Some(row) = states.iter().position(|state| state.rules() != rules) {
                    return Err(RestoreError::OtherRules { row });
                }
            }
            Restored::Positions(positions) => {
                one_each_or_one("positions", positions.len(), rows.len())?;
                for (row, position) in positions.iter().enumerate() {
                    position.check(rules).map_err(|error| RestoreError::Position { row, error })?;
                }
            }
        }
        each_size!(&mut self.envs, envs => envs.restore(&self.config, rows, restored, reseed));
        Ok(())
    }

    /// Checks that a list of environments is valid and that an episode has begun in each of them.
    ///
    /// # Errors
    /// [`ReadError`] if not.
    pub fn check(&self, env_ids: Option<&[u32]>) -> Result<(), ReadError> {
        let rows = self.rows(env_ids)?;
        each_size!(&self.envs, envs => envs.check_started(rows))?;
        Ok(())
    }

    /// Checks that a list of environments is valid, whether or not an episode has begun in them.
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

    /// The current piece of an environment and the ones after it, as many as there are and are shown.
    pub fn pieces(&self, env_id: u32) -> Vec<Piece> {
        each_size!(&self.envs, envs => envs.visible[env_id as usize].pieces().collect())
    }

    /// The current piece of an environment on its way down, where a step is a key and there is a piece.
    ///
    /// After an episode that the rules ended, the next piece is seen where it would have begun, even if it overlaps the
    /// playfield there.
    pub fn falling(&self, env_id: u32) -> Option<MovingPiece> {
        let i = env_id as usize;
        each_size!(&self.envs, envs => {
            envs.falling(i).map(MovingPiece::Falling).or(envs.steered(i).map(MovingPiece::Steered))
        })
    }

    /// The piece that is held in an environment.
    pub fn held(&self, env_id: u32) -> Option<Piece> {
        each_size!(&self.envs, envs => envs.held(env_id as usize))
    }

    /// The clears just made in an environment, where the rules ask for them.
    pub fn chain(&self, env_id: u32) -> Chain {
        each_size!(&self.envs, envs => envs.chain(env_id as usize)).0
    }

    /// The garbage that waits in an environment, where the rules have it.
    pub fn incoming(&self, env_id: u32) -> Incoming {
        each_size!(&self.envs, envs => envs.incoming(env_id as usize))
    }

    /// The pieces that can be placed in an environment; none once its episode has ended.
    pub fn hand(&self, env_id: u32) -> Option<Hand> {
        let hand = each_size!(&self.envs, envs => envs.hand(&self.config.rules, env_id as usize));
        hand.filter(|_| !self.has_ended(env_id)).map(|hand| hand.with(self.falling(env_id)))
    }

    /// Whether an environment's episode has ended and waits for its reset.
    pub fn has_ended(&self, env_id: u32) -> bool {
        each_size!(&self.envs, envs => envs.phases[env_id as usize].end().is_some())
    }

    /// The totals of an environment's current episode.
    pub fn statistics(&self, env_id: u32) -> EpisodeStatistics {
        each_size!(&self.envs, envs => envs.statistics[env_id as usize])
    }

    /// Bytes that the environments take, sequences of pieces not counted.
    pub fn memory_bytes(&self) -> usize {
        each_size!(&self.envs, envs => envs.memory_bytes())
    }

    /// Bytes that one of these environments takes, its sequence of pieces not counted.
    pub fn env_bytes(rules: &Rules) -> usize {
        let incoming = if rules.garbage.is_some() { size_of::<Incoming>() } else { 0 };
        let in_columns = if CompactPlayfield::fits(rules.width, rules.height) {
            Envs::<u32, 16>::ENV_BYTES
        } else {
            Envs::<u64, 32>::ENV_BYTES
        };
        in_columns + incoming + Dealer::bytes_beside(&rules.pieces)
    }

    /// Bytes of the table of what each action does to each piece, where there are other pieces than the tetrominoes: with many of
    /// them it is large.
    pub fn table_bytes(rules: &Rules) -> usize {
        if rules.pieces.is_tetrominoes() { 0 } else { ActionTable::bytes(rules) }
    }

    #[inline]
    fn rows<'a>(&self, env_ids: Option<&'a [u32]>) -> Result<EnvRows<'a>, EnvIdError> {
        EnvRows::of(env_ids, self.config.num_envs)
    }
}
