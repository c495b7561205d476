//! The names of the groups of measurements; [`groups`](super::groups) measures them.

/// Figures that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Group {
    /// Pieces per second of a linear controller on one core, by feature set and kernel.
    Rollouts,
    /// Pieces per second of a linear controller, by number of threads.
    Threads,
    /// Random placements and key presses in the engine and in environments, on one core.
    Stepping,
    /// Listing every placement with its features, on one core.
    Placements,
    /// Step and EnumeratePlacements over a loopback socket.
    Calls,
    /// Latency of a Step, with and without evaluations on every core.
    Latency,
    /// EvaluatePolicies over a loopback socket, and equal games inside this process.
    Evaluation,
    /// Memory of a session.
    Memory,
    /// Time from the start of a process to a ready server.
    Startup,
}

impl Group {
    /// All groups, in the order of the table.
    pub const ALL: [Group; 9] = [
        Group::Rollouts,
        Group::Threads,
        Group::Stepping,
        Group::Placements,
        Group::Calls,
        Group::Latency,
        Group::Evaluation,
        Group::Memory,
        Group::Startup,
    ];

    /// Name of the group on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Rollouts => "rollouts",
            Group::Threads => "threads",
            Group::Stepping => "stepping",
            Group::Placements => "placements",
            Group::Calls => "calls",
            Group::Latency => "latency",
            Group::Evaluation => "evaluation",
            Group::Memory => "memory",
            Group::Startup => "startup",
        }
    }

    /// Name of the group as a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Group::Rollouts => "Linear controller, one core",
            Group::Threads => "Linear controller by threads (`bcts8`, 10 x 20)",
            Group::Stepping => "Random actions, one core",
            Group::Placements => "Every placement with the features of `bcts8`, one core",
            Group::Calls => "Calls over loopback, server and client in two processes",
            Group::Latency => "Latency of Step, 200 calls per second",
            Group::Evaluation => "EvaluatePolicies",
            Group::Memory => "Memory",
            Group::Startup => "Start",
        }
    }
}
