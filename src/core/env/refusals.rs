//! The reasons why calls are refused. A refused call changes nothing.

use crate::engine::RulesError;

/// The reason why a list of ids does not name environments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvIdError {
    /// The environment does not exist.
    #[error("there is no environment {env_id}, expected a number below {num_envs}")]
    Unknown {
        /// Index of the id in the list.
        row: u32,
        env_id: u32,
        num_envs: u32,
    },
    /// The list repeats an environment.
    #[error("environment {env_id} is listed twice")]
    Repeated {
        /// Index of the second occurrence.
        row: u32,
        env_id: u32,
    },
    /// The list has one side of a match without the other.
    #[error("environment {env_id} plays against environment {opponent}, which must be in the same call")]
    Alone {
        /// Index of the id in the list.
        row: u32,
        env_id: u32,
        opponent: u32,
    },
}

/// A list of the wrong length: it should have one entry per row, or one for all if `or_one` allows that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{got} {what} for {rows} environments")]
pub struct WrongLength {
    /// Noun for the entries, such as `seeds`.
    pub what: &'static str,
    /// Number of entries that the caller gave.
    pub got: usize,
    /// Number of environments in the call.
    pub rows: usize,
}

/// Checks that a list has one entry per row.
pub(super) fn one_each(what: &'static str, got: usize, rows: usize) -> Result<(), WrongLength> {
    if got == rows { Ok(()) } else { Err(WrongLength { what, got, rows }) }
}

/// Checks that a list has one entry per row, or one for all.
pub(super) fn one_each_or_one(what: &'static str, got: usize, rows: usize) -> Result<(), WrongLength> {
    if got == rows || got == 1 { Ok(()) } else { Err(WrongLength { what, got, rows }) }
}

/// The reason why a batch cannot be created.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CreateError {
    /// The rules cannot be played.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The number of environments is 0.
    #[error("num_envs is 0, expected at least 1")]
    NoEnvironments,
    /// Rules of two players for an odd number of environments.
    #[error("num_envs is {0}, expected an even number: two environments play each other")]
    OddMatch(u32),
    /// The features are resolved for another width.
    #[error("the features are for width {set}, the playfield has {rules}")]
    FeatureWidth {
        /// Width of the feature set.
        set: u8,
        /// Width of the playfield under the rules.
        rules: u8,
    },
    /// The number of seeds or sequences is wrong, or a sequence is empty.
    #[error(transparent)]
    Seeding(#[from] SeedingError),
}

/// The reason why a [`Seeding`](super::Seeding) cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeedingError {
    /// The number of seeds or sequences is wrong.
    #[error(transparent)]
    WrongLength(#[from] WrongLength),
    #[error("piece sequence {0} is empty")]
    EmptySequence(usize),
    /// A hole lies outside of the playfield, or the rules have no garbage.
    #[error(
        "piece sequence {sequence} has a hole in column {column}, where garbage has none under these rules"
    )]
    Hole { sequence: usize, column: u8 },
    /// The two sides of a match have different seeds.
    #[error("seed {row} is {got}, expected {expected}: both sides of a match have the same seed")]
    MatchSeeds {
        /// Index of the seed in the list.
        row: usize,
        got: u64,
        expected: u64,
    },
}

/// The reason why a reset is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResetError {
    /// The list names an environment that does not exist, or repeats one.
    #[error(transparent)]
    EnvIds(#[from] EnvIdError),
    /// The number of seeds or sequences is wrong, or a sequence cannot be dealt.
    #[error(transparent)]
    Seeding(#[from] SeedingError),
}

/// A non-empty list of environments, as text.
fn in_words(env_ids: &[u32]) -> String {
    match env_ids {
        [env_id] => format!("environment {env_id}"),
        _ => format!("{} environments, the first of them {}", env_ids.len(), env_ids[0]),
    }
}

/// Some environments have not started an episode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no episode has begun in {}", in_words(env_ids))]
pub struct NotReset {
    /// Numbers of the environments; never empty.
    pub env_ids: Vec<u32>,
}

/// The reason why environments cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The list names an environment that does not exist, or repeats one.
    #[error(transparent)]
    EnvIds(#[from] EnvIdError),
    /// Some environments have no state yet.
    #[error(transparent)]
    NotReset(#[from] NotReset),
}

/// An action that a step refuses, with its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedAction {
    /// Index in the list of actions.
    pub row: u32,
    pub action: i32,
}

/// The reason why actions are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// Some episodes have ended, and autoreset is disabled.
    #[error("the episode has ended in {}", in_words(env_ids))]
    EpisodeEnded {
        /// Numbers of the environments; never empty.
        env_ids: Vec<u32>,
    },
    /// Some actions do not exist under these rules.
    #[error("actions[{}] is {}, expected a number from 0 to {}", actions[0].row, actions[0].action, num_actions - 1)]
    OutOfRange {
        /// The refused actions; never empty.
        actions: Vec<RefusedAction>,
        /// Size of the action space.
        num_actions: u32,
    },
    /// The current piece lacks some placements, or some keys cannot be pressed now.
    #[error("actions[{}] is {}, which is not in the action mask", actions[0].row, actions[0].action)]
    Illegal {
        /// The refused actions; never empty.
        actions: Vec<RefusedAction>,
    },
}

/// The reason why a step is refused. If several apply, the first in this order counts, with every row that it applies
/// to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// The list names an environment that does not exist, or repeats one.
    #[error(transparent)]
    EnvIds(#[from] EnvIdError),
    /// The number of actions is wrong.
    #[error(transparent)]
    WrongLength(#[from] WrongLength),
    /// Some environments must be reset first.
    #[error(transparent)]
    NotReset(#[from] NotReset),
    #[error(transparent)]
    Action(#[from] ActionError),
}

/// The reason why a position cannot be played from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// The playfield has another size.
    #[error("the playfield is {} x {}, expected {} x {}", got.0, got.1, expected.0, expected.1)]
    Size {
        /// Width and height of the given playfield.
        got: (u8, u8),
        /// Width and height under the rules.
        expected: (u8, u8),
    },
    /// The game is already over under the rules.
    #[error("the game is over on this playfield")]
    GameOver,
    /// There are more next pieces than the rules show.
    #[error("the queue has {got} pieces, expected at most {preview}")]
    Queue {
        /// Number of pieces in the queue.
        got: usize,
        preview: u8,
    },
    /// A piece is held, but the rules have no hold.
    #[error("a piece is held, but the rules have no hold")]
    Held,
}

/// The reason why a restore is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The list names an environment that does not exist, or repeats one.
    #[error(transparent)]
    EnvIds(#[from] EnvIdError),
    /// The number of states or positions is wrong.
    #[error(transparent)]
    WrongLength(#[from] WrongLength),
    /// A state was saved under other rules.
    #[error("state {row} has other rules")]
    OtherRules {
        /// Index of the state in the list.
        row: usize,
    },
    /// Two states are not the sides of one match at the same turn.
    #[error("states {row} and {other} are not the two sides of one match at the same turn")]
    OtherMatch {
        /// Index of the state of the first side in the list.
        row: usize,
        /// Index of the state of the second side.
        other: usize,
    },
    /// A position cannot be played from.
    #[error("position {row}: {error}")]
    Position {
        /// Index of the position in the list.
        row: usize,
        /// The mistake in the position.
        error: PositionError,
    },
}
