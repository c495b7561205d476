//! Why a call is refused. A refused call changes nothing.

use crate::engine::RulesError;

/// Why a list of ids does not name environments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvIdError {
    /// No such environment.
    #[error("there is no environment {env_id}, expected a number below {num_envs}")]
    Unknown {
        /// Where in the list.
        row: u32,
        /// The id there.
        env_id: u32,
        /// How many environments there are.
        num_envs: u32,
    },
    /// An environment that is listed twice.
    #[error("environment {env_id} is listed twice")]
    Repeated {
        /// Where in the list the second one is.
        row: u32,
        /// The environment.
        env_id: u32,
    },
}

/// A list that should have had one entry for each row, or one for all where `or_one` says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{got} {what} for {rows} environments")]
pub struct WrongLength {
    /// Entries of what.
    pub what: &'static str,
    /// Entries given.
    pub got: usize,
    /// Environments of the call.
    pub rows: usize,
}

/// Checks that a list has one entry for each row.
pub(super) fn one_each(what: &'static str, got: usize, rows: usize) -> Result<(), WrongLength> {
    if got == rows { Ok(()) } else { Err(WrongLength { what, got, rows }) }
}

/// Checks that a list has one entry for each row, or one for all.
pub(super) fn one_each_or_one(what: &'static str, got: usize, rows: usize) -> Result<(), WrongLength> {
    if got == rows || got == 1 { Ok(()) } else { Err(WrongLength { what, got, rows }) }
}

/// Why a batch could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CreateError {
    /// Rules that cannot be played.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// A batch of nothing.
    #[error("num_envs is 0, expected at least 1")]
    NoEnvironments,
    /// Features spelled out for another width.
    #[error("the features are for width {set}, the playfield has {rules}")]
    FeatureWidth {
        /// The width of the set.
        set: u8,
        /// The width of the playfield.
        rules: u8,
    },
    /// Seeds or sequences that do not fit.
    #[error(transparent)]
    Seeding(#[from] SeedingError),
}

/// Why pieces cannot come from a [`Seeding`](super::Seeding).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeedingError {
    /// A number of seeds or sequences that does not fit.
    #[error(transparent)]
    WrongLength(#[from] WrongLength),
    /// A sequence that deals no piece at all.
    #[error("piece sequence {0} is empty")]
    EmptySequence(usize),
}

/// Why a reset was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResetError {
    /// A list of environments that names one that does not exist, or one twice.
    #[error(transparent)]
    EnvIds(#[from] EnvIdError),
    /// Seeds or sequences that do not fit.
    #[error(transparent)]
    Seeding(#[from] SeedingError),
}

/// Which environments, of which there is at least one.
fn in_words(env_ids: &[u32]) -> String {
    match env_ids {
        [env_id] => format!("environment {env_id}"),
        _ => format!("{} environments, the first of them {}", env_ids.len(), env_ids[0]),
    }
}

/// Environments in which no episode has begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no episode has begun in {}", in_words(env_ids))]
pub struct NotReset {
    /// Which; never empty.
    pub env_ids: Vec<u32>,
}

/// Why environments could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A list of environments that names one that does not exist, or one twice.
    #[error(transparent)]
    EnvIds(#[from] EnvIdError),
    /// There is no state to read yet.
    #[error(transparent)]
    NotReset(#[from] NotReset),
}

/// An action that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedAction {
    /// Index in the list of actions.
    pub row: u32,
    /// The action.
    pub action: i32,
}

/// Why actions were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// Environments whose episode has ended, when autoreset is disabled.
    #[error("the episode has ended in {}", in_words(env_ids))]
    EpisodeEnded {
        /// Which; never empty.
        env_ids: Vec<u32>,
    },
    /// Actions that do not exist under these rules.
    #[error("actions[{}] is {}, expected a number from 0 to {}", actions[0].row, actions[0].action, num_actions - 1)]
    OutOfRange {
        /// Which; never empty.
        actions: Vec<RefusedAction>,
        /// The size of the action space.
        num_actions: u32,
    },
    /// Placements that the current piece does not have, and keys that cannot be pressed now.
    #[error("actions[{}] is {}, which is not in the action mask", actions[0].row, actions[0].action)]
    Illegal {
        /// Which; never empty.
        actions: Vec<RefusedAction>,
    },
}

/// Why a step was refused. Of several reasons the first in this order is given, with every row that it holds for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// A list of environments that names one that does not exist, or one twice.
    #[error(transparent)]
    EnvIds(#[from] EnvIdError),
    /// A number of actions that does not fit.
    #[error(transparent)]
    WrongLength(#[from] WrongLength),
    /// Environments that must be reset first.
    #[error(transparent)]
    NotReset(#[from] NotReset),
    /// Actions that cannot be done; in the order of the reasons.
    #[error(transparent)]
    Action(#[from] ActionError),
}

/// Why a position cannot be played from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// A playfield of another size.
    #[error("the playfield is {} x {}, expected {} x {}", got.0, got.1, expected.0, expected.1)]
    Size {
        /// Width and height of the playfield.
        got: (u8, u8),
        /// The width and height of the rules.
        expected: (u8, u8),
    },
    /// The rules have ended the game already.
    #[error("the game is over on this playfield")]
    GameOver,
    /// More next pieces than are shown.
    #[error("the queue has {got} pieces, expected at most {preview}")]
    Queue {
        /// Pieces given.
        got: usize,
        /// Pieces shown.
        preview: u8,
    },
    /// A held piece where none can be.
    #[error("a piece is held, but the rules have no hold")]
    Held,
}

/// Why a restore was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// A list of environments that names one that does not exist, or one twice.
    #[error(transparent)]
    EnvIds(#[from] EnvIdError),
    /// A number of states or positions that does not fit.
    #[error(transparent)]
    WrongLength(#[from] WrongLength),
    /// A state saved under other rules.
    #[error("state {row} has other rules")]
    OtherRules {
        /// Where in the list.
        row: usize,
    },
    /// A position that cannot be played from.
    #[error("position {row}: {error}")]
    Position {
        /// Where in the list.
        row: usize,
        /// What is wrong with it.
        error: PositionError,
    },
}
