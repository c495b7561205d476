//! The groups of figures by name; [`groups`](super::groups) measures them.

/// Figures that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Group {
    /// Pieces a second of a linear controller on one core, by feature set and kernel.
    Rollouts,
    /// The same controller on more and more threads.
    Threads,
    /// Random placements and key presses in the engine and in environments, on one core.
    Stepping,
    /// Every placement with its features, on one core.
    Placements,
    /// Step and EnumeratePlacements over a loopback socket.
    Calls,
    /// How long a Step takes, with and without evaluations on every core.
    Latency,
    /// EvaluatePolicies over a loopback socket, and the same games handed in directly.
    Evaluation,
    /// What a session takes.
    Memory,
    /// From the start of a process to a server.
    Startup,
}

impl Group {
    /// All of them, in the order of the table.
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

    /// Its name on the command line.
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

    /// Its name, as a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Group::Rollouts => "A linear controller plays, one core",
            Group::Threads => "The same on more threads (`bcts8`, 10 x 20)",
            Group::Stepping => "Random actions, one core",
            Group::Placements => "Every placement with the features of `bcts8`, one core",
            Group::Calls => "Calls over loopback, server and client in two processes",
            Group::Latency => "Latency of Step, 200 calls a second",
            Group::Evaluation => "EvaluatePolicies",
            Group::Memory => "Memory",
            Group::Startup => "Start",
        }
    }
}
