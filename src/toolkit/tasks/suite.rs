//! The parts of the suite: splits and groups.

/// Name of the suite. Its tasks never change; other tasks get another name.
pub const SUITE: &str = "tetrion-tasks-1";

/// Number of tasks per split.
pub const NUM_TASKS: u32 = 10_500;

/// Kinds of tasks: every group at each of three difficulties. Task i has the kind i modulo their number.
pub const NUM_KINDS: usize = 3 * Group::ALL.len();

/// A part of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    Train,
    /// For tests only, never for training.
    Test,
}

/// The kind of a task, which decides its goal and its action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Choose the best placement of a piece.
    BestPlacement,
    /// Choose the best placement of one piece after another.
    Play,
    ClearLines,
    /// Place all pieces without losing.
    Survive,
    /// Clear all rows of garbage.
    Dig,
    PerfectClear,
    Formula,
}

impl Split {
    pub const ALL: [Split; 2] = [Split::Train, Split::Test];

    /// Name in requests and results, such as `train`.
    pub fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Test => "test",
        }
    }

    /// The last bit of everything from which this split's tasks are made.
    pub(super) fn bit(self) -> u64 {
        self as u64
    }
}

impl Group {
    /// All groups. Task i belongs to group i modulo their number.
    pub const ALL: [Group; 7] = [
        Group::BestPlacement,
        Group::Play,
        Group::ClearLines,
        Group::Survive,
        Group::Dig,
        Group::PerfectClear,
        Group::Formula,
    ];

    /// Name in requests and results, such as `best_placement`.
    pub fn name(self) -> &'static str {
        match self {
            Group::BestPlacement => "best_placement",
            Group::Play => "play",
            Group::ClearLines => "clear_lines",
            Group::Survive => "survive",
            Group::Dig => "dig",
            Group::PerfectClear => "perfect_clear",
            Group::Formula => "formula",
        }
    }
}

/// Group and difficulty of the task with this number.
pub(super) fn kind_of(index: u32) -> (Group, u8) {
    let groups = Group::ALL.len() as u32;
    (Group::ALL[(index % groups) as usize], (index / groups % 3 + 1) as u8)
}
