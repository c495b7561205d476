//! The state of N environments, with one array per quantity, and the start of episodes.
//!
//! Nothing here can fail, because [`EnvBatch`](super::EnvBatch) has checked the calls. An environment of the compact
//! size takes at most 256 bytes, including the playfield before its last landing.

use std::borrow::Cow;
use std::ops::Range;

use crate::engine::{
    ActionModel, Chain, Column, Dealer, EpisodeEnd, FallingPiece, Hand, Incoming, Piece, Placement,
    PlayfieldOf, Resting, Rules, Shape, Spin, SteeredPiece, Visible, comes_to_rest, episode_seed,
};

use super::config::EnvConfig;
use super::refusals::NotReset;
use super::rows::EnvRows;
use super::seeding::Seeding;

/// The phase in which an environment is, and the reason if its episode has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodePhase {
    NotStarted,
    Running,
    /// The episode has ended, and the next one has not started.
    Ended(EpisodeEnd),
}

impl EpisodePhase {
    /// The end of the episode, if it has ended.
    #[inline]
    pub fn end(self) -> Option<EpisodeEnd> {
        match self {
            EpisodePhase::Ended(end) => Some(end),
            EpisodePhase::NotStarted | EpisodePhase::Running => None,
        }
    }
}

/// An episode's seed, and its number under that seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpisodeIndex {
    /// Seed of the environment; meaningless for explicit sequences.
    pub env_seed: u64,
    /// Number of the episode, from 0.
    pub index: u64,
}

/// Bound at which the counters of an episode stop. No game reaches it, but a snapshot written by hand may start there.
pub(super) const MAX_COUNT: u64 = 1 << 53;

/// Totals of an episode so far. Each counter is at most `MAX_COUNT`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EpisodeStatistics {
    pub lines: u64,
    pub pieces: u64,
    pub steps: u64,
    /// Sum of the rewards, before they are rounded to `f32`.
    pub episode_return: f64,
}

/// The actions of an episode that did not exist.
///
/// A separate column, because only such an action, the start of an episode and a copy access it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InvalidActions {
    /// Number of actions that did not exist.
    pub count: u64,
    /// Number of the episode's steps up to the last such action; 0 if there was none.
    pub last_step: u64,
}

/// A piece at rest, and how it got there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rest {
    /// A placement put the piece there, without the part of the action that holds a piece: at most 32 columns of 41
    /// rows and three labels. The piece has such a placement.
    Placed { piece: Piece, action: u16 },
    /// The piece fell, moved by keys, and could not fall further from here.
    Fallen(FallingPiece),
    /// Keys steered the piece there.
    Steered { piece: Piece, resting: Resting },
}

/// The landing that led to an environment's playfield, from which its features are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LastLanding<C: Column, const N: usize> {
    pub before: PlayfieldOf<C, N>,
    pub rest: Rest,
}

impl<C: Column, const N: usize> LastLanding<C, N> {
    /// The piece that the landing put down, whichever way it was played.
    pub(super) fn piece(&self) -> Piece {
        match self.rest {
            Rest::Placed { piece, .. } => piece,
            Rest::Fallen(piece) => piece.tetromino,
            Rest::Steered { piece, .. } => piece,
        }
    }

    /// The spin label of the landing.
    pub(super) fn spin(&self, rules: &Rules) -> Spin {
        match self.rest {
            Rest::Placed { action, .. } => Placement::from_action(action.into(), rules).spin(),
            Rest::Fallen(_) => Spin::None,
            Rest::Steered { resting, .. } => resting.spin,
        }
    }

    /// The placement; `None` if keys moved the piece.
    pub(super) fn placement(&self, rules: &Rules) -> Option<Placement> {
        match self.rest {
            Rest::Placed { action, .. } => Some(Placement::from_action(action.into(), rules)),
            Rest::Fallen(_) | Rest::Steered { .. } => None,
        }
    }

    /// The shape at rest, and the row and the column of its lower left corner.
    pub(crate) fn came_to_rest(&self, rules: &Rules) -> (&'static Shape, u8, u8) {
        match self.rest {
            Rest::Placed { piece, action } => {
                let placement = Placement::from_action(action.into(), rules);
                let (shape, row) = comes_to_rest(rules, &self.before, piece, placement);
                (shape, row, placement.column)
            }
            Rest::Fallen(piece) => {
                let (row, column) = piece.corner();
                (piece.shape(), row, column)
            }
            Rest::Steered { piece, resting } => (resting.shape(piece), resting.row, resting.column),
        }
    }

    /// Converts the landing to a playfield of another type.
    pub(super) fn resized<D: Column, const M: usize>(&self) -> LastLanding<D, M> {
        LastLanding { before: self.before.resized(), rest: self.rest }
    }
}

/// Bytes of a piece that keys move, for either kind of game with keys.
const MOVING_BYTES: usize = {
    let (falling, steered) = (size_of::<Option<FallingPiece>>(), size_of::<Option<SteeredPiece>>());
    if falling > steered { falling } else { steered }
};

/// Environments in columns of equal length.
#[derive(Debug, Default)]
pub(super) struct Envs<C: Column, const N: usize> {
    pub playfields: Vec<PlayfieldOf<C, N>>,
    pub last_landings: Vec<Option<LastLanding<C, N>>>,
    pub visible: Vec<Visible>,
    /// The falling pieces; empty if a step is a placement, or keys steer the pieces.
    pub falling: Vec<Option<FallingPiece>>,
    /// The steered pieces; empty unless keys steer the pieces.
    pub steered: Vec<Option<SteeredPiece>>,
    /// The held pieces; empty without hold.
    pub held: Vec<Option<Piece>>,
    /// The preceding clears, and the lines sent in the episode; empty if the rules do not need them.
    pub chains: Vec<(Chain, u64)>,
    /// The garbage; empty if the rules have none.
    pub incoming: Vec<Incoming>,
    pub dealers: Vec<Dealer>,
    pub phases: Vec<EpisodePhase>,
    pub episodes: Vec<EpisodeIndex>,
    pub statistics: Vec<EpisodeStatistics>,
    pub invalid_actions: Vec<InvalidActions>,
}

/// Environments with either size of playfield.
#[derive(Debug)]
pub(super) enum AnyEnvs {
    Compact(Envs<u32, 16>),
    General(Envs<u64, 32>),
}

/// Runs the same code for either size.
macro_rules! each_size {
    ($any:expr, $envs:ident => $body:expr) => {
        match $any {
            AnyEnvs::Compact($envs) => $body,
            AnyEnvs::General($envs) => $body,
        }
    };
}
pub(super) use each_size;

impl Default for AnyEnvs {
    fn default() -> AnyEnvs {
        AnyEnvs::Compact(Envs::default())
    }
}

/// One of the two sizes, for code that is compiled for both.
pub(super) trait OneSize: Sized {
    /// The environments at this size. Replaces them by an empty set if they have the other size.
    fn of(any: &mut AnyEnvs) -> &mut Self;
}

macro_rules! one_size {
    ($variant:ident, $envs:ty) => {
        impl OneSize for $envs {
            fn of(any: &mut AnyEnvs) -> &mut Self {
                if !matches!(any, AnyEnvs::$variant(_)) {
                    *any = AnyEnvs::$variant(Envs::default());
                }
                match any {
                    AnyEnvs::$variant(envs) => envs,
                    _ => unreachable!("it has just been made so"),
                }
            }
        }
    };
}
one_size!(Compact, Envs<u32, 16>);
one_size!(General, Envs<u64, 32>);

/// The side of a match on which an environment plays, unless sides are swapped; `None` under rules of one player.
fn side_of(config: &EnvConfig, i: usize) -> Option<u8> {
    config.rules.is_match().then_some(i as u8 & 1)
}

impl<C: Column, const N: usize> Envs<C, N> {
    /// Bytes of one environment in all columns except garbage.
    pub(super) const ENV_BYTES: usize = size_of::<PlayfieldOf<C, N>>()
        + size_of::<Option<LastLanding<C, N>>>()
        + size_of::<Visible>()
        + MOVING_BYTES
        + size_of::<Option<Piece>>()
        + size_of::<(Chain, u64)>()
        + size_of::<Dealer>()
        + size_of::<EpisodePhase>()
        + size_of::<EpisodeIndex>()
        + size_of::<EpisodeStatistics>()
        + size_of::<InvalidActions>();

    /// Environments before their first episode, each with a dealer of its seed.
    pub(super) fn new(config: &EnvConfig, seeding: &Seeding) -> Envs<C, N> {
        let Rules { width, height, .. } = config.rules;
        let num_envs = config.num_envs as usize;
        let mut envs = Envs {
            playfields: vec![PlayfieldOf::empty(width, height); num_envs],
            last_landings: vec![None; num_envs],
            visible: vec![Visible::NOTHING; num_envs],
            falling: Vec::new(),
            steered: Vec::new(),
            held: Vec::new(),
            chains: Vec::new(),
            incoming: Vec::new(),
            dealers: Vec::with_capacity(num_envs),
            phases: vec![EpisodePhase::NotStarted; num_envs],
            episodes: Vec::with_capacity(num_envs),
            statistics: vec![EpisodeStatistics::default(); num_envs],
            invalid_actions: vec![InvalidActions::default(); num_envs],
        };
        for i in 0..num_envs {
            let (dealer, env_seed) = seeding.dealer(config, i, i);
            envs.dealers.push(dealer);
            envs.episodes.push(EpisodeIndex { env_seed, index: 0 });
        }
        if config.rules.steers() {
            envs.steered = vec![None; num_envs];
        } else if config.rules.action_model == ActionModel::Keypress {
            envs.falling = vec![None; num_envs];
        }
        if config.rules.hold {
            envs.held = vec![None; num_envs];
        }
        if config.rules.keeps_chain() {
            envs.chains = vec![Default::default(); num_envs];
        }
        if config.rules.garbage.is_some() {
            let garbage = Incoming::new(&config.rules);
            envs.incoming = (0..num_envs).map(|i| garbage.on_side(side_of(config, i))).collect();
        }
        envs
    }

    /// Removes all environments but keeps the allocated memory.
    pub(super) fn clear(&mut self) {
        self.playfields.clear();
        self.last_landings.clear();
        self.visible.clear();
        self.falling.clear();
        self.steered.clear();
        self.held.clear();
        self.chains.clear();
        self.incoming.clear();
        self.dealers.clear();
        self.phases.clear();
        self.episodes.clear();
        self.statistics.clear();
        self.invalid_actions.clear();
    }

    /// Appends a copy of an environment from another batch.
    pub(crate) fn push_copy(&mut self, other: &Envs<C, N>, i: usize) {
        self.playfields.push(other.playfields[i]);
        self.last_landings.push(other.last_landings[i]);
        self.visible.push(other.visible[i]);
        self.falling.extend(other.falling.get(i));
        self.steered.extend(other.steered.get(i));
        self.held.extend(other.held.get(i));
        self.chains.extend(other.chains.get(i));
        self.incoming.extend(other.incoming.get(i));
        self.dealers.push(other.dealers[i].clone());
        self.phases.push(other.phases[i]);
        self.episodes.push(other.episodes[i]);
        self.statistics.push(other.statistics[i]);
        self.invalid_actions.push(other.invalid_actions[i]);
    }

    /// Whether the action of the last step in an environment's episode did not exist.
    pub(crate) fn was_invalid(&self, i: usize) -> bool {
        let InvalidActions { count, last_step } = self.invalid_actions[i];
        count > 0 && last_step == self.statistics[i].steps
    }

    /// The falling piece of an environment, if pieces fall.
    #[inline]
    pub(super) fn falling(&self, i: usize) -> Option<FallingPiece> {
        self.falling.get(i).copied().flatten()
    }

    /// The steered piece of an environment, if keys steer pieces.
    #[inline]
    pub(super) fn steered(&self, i: usize) -> Option<SteeredPiece> {
        self.steered.get(i).copied().flatten()
    }

    /// The held piece of an environment, if any.
    #[inline]
    pub(super) fn held(&self, i: usize) -> Option<Piece> {
        self.held.get(i).copied().flatten()
    }

    /// The preceding clears of an environment, and the lines sent in its episode.
    #[inline]
    pub(super) fn chain(&self, i: usize) -> (Chain, u64) {
        self.chains.get(i).copied().unwrap_or_default()
    }

    /// The garbage of an environment; empty if the rules have none.
    #[inline]
    pub(super) fn incoming(&self, i: usize) -> Incoming {
        self.incoming.get(i).copied().unwrap_or_default()
    }

    /// The rules for the current piece of an environment.
    #[inline]
    pub(super) fn rules_now<'a>(&self, config: &'a EnvConfig, i: usize) -> Cow<'a, Rules> {
        config.rules.after(self.chain(i).0)
    }

    /// The pieces that can be placed in an environment; `None` if there is no current piece.
    #[inline]
    pub(super) fn hand(&self, rules: &Rules, i: usize) -> Option<Hand> {
        self.visible[i].hand(rules, self.held(i))
    }

    /// The next piece of an environment, if any.
    pub(super) fn next(&self, i: usize) -> Option<Piece> {
        self.visible[i].next()
    }

    /// Bytes of all arrays, by their capacities; memory that dealers point to is not included.
    pub(super) fn memory_bytes(&self) -> usize {
        fn bytes<T>(column: &Vec<T>) -> usize {
            column.capacity() * size_of::<T>()
        }
        bytes(&self.playfields)
            + bytes(&self.last_landings)
            + bytes(&self.visible)
            + bytes(&self.falling)
            + bytes(&self.steered)
            + bytes(&self.held)
            + bytes(&self.chains)
            + bytes(&self.incoming)
            + bytes(&self.dealers)
            + bytes(&self.phases)
            + bytes(&self.episodes)
            + bytes(&self.statistics)
            + bytes(&self.invalid_actions)
    }

    /// Checks that an episode has started in each of these environments.
    pub(crate) fn check_started(&self, rows: EnvRows<'_>) -> Result<(), NotReset> {
        let not_started = rows.envs().filter(|&i| self.phases[i] == EpisodePhase::NotStarted);
        let env_ids: Vec<u32> = not_started.map(|i| i as u32).collect();
        if env_ids.is_empty() { Ok(()) } else { Err(NotReset { env_ids }) }
    }

    /// Starts episodes in some rows of a call: with new seeds, or the next ones under the old seeds.
    pub(super) fn reset(
        &mut self,
        config: &EnvConfig,
        (all, rows): (EnvRows<'_>, Range<usize>),
        seeding: Option<&Seeding>,
    ) {
        for row in rows {
            let i = all.env(row);
            if let Some(incoming) = self.incoming.get_mut(i) {
                incoming.side = side_of(config, i);
            }
            let Some(seeding) = seeding else {
                self.begin_next(config, i);
                continue;
            };
            let (dealer, env_seed) = seeding.dealer(config, row, i);
            self.dealers[i] = dealer;
            self.begin(config, i, EpisodeIndex { env_seed, index: 0 });
        }
    }

    /// Gives each side of these matches the holes of the other, before any line has arrived.
    pub(super) fn swap_sides(&mut self, rows: EnvRows<'_>) {
        for i in rows.envs() {
            if let Some(incoming) = self.incoming.get_mut(i) {
                incoming.side = incoming.side.map(|side| side ^ 1);
            }
        }
    }

    /// Starts the episode after the current one, or the first one.
    pub(super) fn begin_next(&mut self, config: &EnvConfig, i: usize) {
        let EpisodeIndex { env_seed, index } = self.episodes[i];
        let index = if self.phases[i] == EpisodePhase::NotStarted { index } else { index.wrapping_add(1) };
        self.begin(config, i, EpisodeIndex { env_seed, index });
    }

    fn begin(&mut self, config: &EnvConfig, i: usize, episode: EpisodeIndex) {
        let Rules { width, height, preview, .. } = config.rules;
        self.dealers[i].restart(episode_seed(episode.env_seed, episode.index));
        self.playfields[i] = PlayfieldOf::empty(width, height);
        self.last_landings[i] = None;
        self.visible[i] = Visible::dealt(&mut self.dealers[i], preview);
        self.phases[i] = EpisodePhase::Running;
        self.episodes[i] = episode;
        self.statistics[i] = EpisodeStatistics::default();
        self.invalid_actions[i] = InvalidActions::default();
        if let Some(held) = self.held.get_mut(i) {
            *held = None;
        }
        if let Some(chain) = self.chains.get_mut(i) {
            *chain = Default::default();
        }
        if let Some(incoming) = self.incoming.get_mut(i) {
            *incoming = Incoming::new(&config.rules).on_side(incoming.side);
        }
        self.appear(config, i);
        self.appear_steered(config, i);
    }

    /// Moves the current piece, if any, to its spawn position in games where pieces fall.
    #[inline]
    pub(super) fn appear(&mut self, config: &EnvConfig, i: usize) {
        let Rules { width, height, .. } = config.rules;
        if let Some(falling) = self.falling.get_mut(i) {
            *falling = self.visible[i].current().map(|piece| FallingPiece::spawn(piece, width, height));
        }
    }

    /// Moves the current piece, if any, to its spawn position in games where keys steer pieces.
    pub(crate) fn appear_steered(&mut self, config: &EnvConfig, i: usize) {
        if let Some(steered) = self.steered.get_mut(i) {
            let rules = config.rules.after(self.chains.get(i).copied().unwrap_or_default().0);
            let spawn = |piece| SteeredPiece::spawn(&rules, &self.playfields[i], piece);
            *steered = self.visible[i].current().map(spawn);
        }
    }
}
