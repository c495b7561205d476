//! The state of N environments, one array a quantity, and what happens to it.
//!
//! Nothing here can refuse: [`EnvBatch`](super::EnvBatch) has checked. An environment of the compact size takes at most 256
//! bytes, the playfield before its last landing included.

use crate::engine::rng::{Tag, word};
use crate::engine::{
    Column, Dealer, PlayfieldOf, Rules, Tetromino, episode_seed, is_blocked, rules::MAX_PREVIEW,
};

use super::moves::{Drop, Moves};
use super::{
    AutoresetMode, EnvConfig, Episodes, FinalBatch, InvalidActionPolicy, NotReset, RefusedAction, Rows,
    Seeding, StepError, StepOutcome,
};

/// Whether an environment can be stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    NotStarted,
    Running,
    Ended,
}

/// The current piece and the next ones, `preview + 1` in all; `None` past the end of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visible(pub [Option<Tetromino>; MAX_PREVIEW as usize + 1]);

impl Visible {
    pub const NOTHING: Visible = Visible([None; MAX_PREVIEW as usize + 1]);

    fn dealt(dealer: &mut Dealer, preview: u8) -> Visible {
        let mut visible = Visible::NOTHING;
        for slot in &mut visible.0[..=usize::from(preview)] {
            *slot = dealer.deal();
        }
        visible
    }

    #[inline]
    pub fn current(&self) -> Option<Tetromino> {
        self.0[0]
    }

    #[inline]
    pub fn next(&self, preview: u8) -> &[Option<Tetromino>] {
        &self.0[1..=usize::from(preview)]
    }

    pub fn pieces(&self) -> impl Iterator<Item = Tetromino> {
        self.0.into_iter().flatten()
    }

    /// Everything moves up by one, and the dealer fills the last place.
    #[inline]
    fn advance(&mut self, dealer: &mut Dealer, preview: u8) {
        self.0.copy_within(1.., 0);
        self.0[usize::from(preview)] = dealer.deal();
    }
}

/// Which episode of which seed. The seed means nothing where an explicit sequence is dealt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EpisodeIndex {
    pub env_seed: u64,
    /// Counted from 0.
    pub index: u64,
}

/// What an episode has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Lines cleared.
    pub lines: u64,
    /// Pieces landed.
    pub pieces: u64,
    /// Steps taken.
    pub length: u64,
    /// Sum of the rewards, before they are rounded to `f32`.
    pub episode_return: f64,
}

/// The landing that led to the playfield of an environment: what its features are computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LastLanding<C: Column, const N: usize> {
    pub before: PlayfieldOf<C, N>,
    pub piece: Tetromino,
    /// Below 128: four orientations of 32 columns. The piece has such a placement.
    pub action: u8,
}

impl<C: Column, const N: usize> LastLanding<C, N> {
    pub fn drop(&self, moves: &Moves) -> Drop {
        moves.drop(self.piece, self.action.into()).expect("a landing was a placement")
    }
}

/// Environments in columns; all of the same length.
#[derive(Debug)]
pub(super) struct Envs<C: Column, const N: usize> {
    pub playfields: Vec<PlayfieldOf<C, N>>,
    pub last_landings: Vec<Option<LastLanding<C, N>>>,
    pub visible: Vec<Visible>,
    pub dealers: Vec<Dealer>,
    pub phases: Vec<Phase>,
    pub episodes: Vec<EpisodeIndex>,
    pub statistics: Vec<Statistics>,
}

/// Environments of either size of playfield.
#[derive(Debug)]
pub(super) enum AnyEnvs {
    Compact(Envs<u32, 16>),
    General(Envs<u64, 32>),
}

/// Runs the same code on either size.
macro_rules! each_size {
    ($any:expr, $envs:ident => $body:expr) => {
        match $any {
            AnyEnvs::Compact($envs) => $body,
            AnyEnvs::General($envs) => $body,
        }
    };
}
pub(super) use each_size;

impl From<Envs<u32, 16>> for AnyEnvs {
    fn from(envs: Envs<u32, 16>) -> AnyEnvs {
        AnyEnvs::Compact(envs)
    }
}

impl From<Envs<u64, 32>> for AnyEnvs {
    fn from(envs: Envs<u64, 32>) -> AnyEnvs {
        AnyEnvs::General(envs)
    }
}

impl<C: Column, const N: usize> Envs<C, N> {
    pub fn new(config: &EnvConfig, seeding: &Seeding) -> Envs<C, N> {
        let Rules { width, height, randomizer, .. } = config.rules;
        let mut envs = Envs::with_capacity(config.num_envs as usize);
        for i in 0..config.num_envs as usize {
            let env_seed = match seeding {
                Seeding::Session(seed) => word(*seed, Tag::Environment, i as u64),
                Seeding::Environments(seeds) => seeds[i],
                Seeding::Sequences(_) => 0,
            };
            let dealer = match seeding {
                Seeding::Sequences(sequences) => Dealer::sequence(one_for(sequences, i).clone()),
                _ => Dealer::seeded(randomizer, env_seed),
            };
            envs.playfields.push(PlayfieldOf::empty(width, height));
            envs.last_landings.push(None);
            envs.visible.push(Visible::NOTHING);
            envs.dealers.push(dealer);
            envs.phases.push(Phase::NotStarted);
            envs.episodes.push(EpisodeIndex { env_seed, index: 0 });
            envs.statistics.push(Statistics::default());
        }
        envs
    }

    fn with_capacity(num_envs: usize) -> Envs<C, N> {
        Envs {
            playfields: Vec::with_capacity(num_envs),
            last_landings: Vec::with_capacity(num_envs),
            visible: Vec::with_capacity(num_envs),
            dealers: Vec::with_capacity(num_envs),
            phases: Vec::with_capacity(num_envs),
            episodes: Vec::with_capacity(num_envs),
            statistics: Vec::with_capacity(num_envs),
        }
    }

    /// Appends a copy of an environment of another batch.
    fn push_copy(&mut self, other: &Envs<C, N>, i: usize) {
        self.playfields.push(other.playfields[i]);
        self.last_landings.push(other.last_landings[i]);
        self.visible.push(other.visible[i]);
        self.dealers.push(other.dealers[i].clone());
        self.phases.push(other.phases[i]);
        self.episodes.push(other.episodes[i]);
        self.statistics.push(other.statistics[i]);
    }

    pub fn memory_bytes(&self) -> usize {
        fn bytes<T>(column: &Vec<T>) -> usize {
            column.capacity() * size_of::<T>()
        }
        bytes(&self.playfields)
            + bytes(&self.last_landings)
            + bytes(&self.visible)
            + bytes(&self.dealers)
            + bytes(&self.phases)
            + bytes(&self.episodes)
            + bytes(&self.statistics)
    }

    pub fn check_started(&self, rows: Rows<'_>) -> Result<(), NotReset> {
        let not_started = rows.envs().filter(|&i| self.phases[i] == Phase::NotStarted);
        let env_ids: Vec<u32> = not_started.map(|i| i as u32).collect();
        if env_ids.is_empty() { Ok(()) } else { Err(NotReset { env_ids }) }
    }

    pub fn reset(&mut self, config: &EnvConfig, rows: Rows<'_>, episodes: Episodes<'_>) {
        for (row, i) in rows.envs().enumerate() {
            match episodes {
                Episodes::Next => self.begin_next(config, i),
                Episodes::Seeds(seeds) => {
                    self.dealers[i] = Dealer::seeded(config.rules.randomizer, seeds[row]);
                    self.begin(config, i, EpisodeIndex { env_seed: seeds[row], index: 0 });
                }
                Episodes::Sequences(sequences) => {
                    self.dealers[i] = Dealer::sequence(one_for(sequences, row).clone());
                    self.begin(config, i, EpisodeIndex { env_seed: 0, index: 0 });
                }
            }
        }
    }

    /// Begins the episode after the current one, or the first one.
    pub fn begin_next(&mut self, config: &EnvConfig, i: usize) {
        let EpisodeIndex { env_seed, index } = self.episodes[i];
        let index = if self.phases[i] == Phase::NotStarted { index } else { index.wrapping_add(1) };
        self.begin(config, i, EpisodeIndex { env_seed, index });
    }

    fn begin(&mut self, config: &EnvConfig, i: usize, episode: EpisodeIndex) {
        let Rules { width, height, preview, .. } = config.rules;
        self.dealers[i].restart(episode_seed(episode.env_seed, episode.index));
        self.playfields[i] = PlayfieldOf::empty(width, height);
        self.last_landings[i] = None;
        self.visible[i] = Visible::dealt(&mut self.dealers[i], preview);
        self.phases[i] = Phase::Running;
        self.episodes[i] = episode;
        self.statistics[i] = Statistics::default();
    }

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

/// The entry of a row in a list of one for each or one for all.
pub(super) fn one_for<T>(list: &[T], row: usize) -> &T {
    if list.len() == 1 { &list[0] } else { &list[row] }
}
