//! The names of the groups of measurements; [`groups`](super::groups) measures them.

/// Figures that are measured together, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FigureGroup {
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

impl FigureGroup {
    /// Name of the group on the command line.
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// Name of the group as a heading.
    pub const fn title(self) -> &'static str {
        self.names().1
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            FigureGroup::Rollouts => ("rollouts", "Linear controller, one core"),
            FigureGroup::Threads => ("threads", "Linear controller by threads (`bcts8`, 10 x 20)"),
            FigureGroup::Stepping => ("stepping", "Random actions, one core"),
            FigureGroup::Placements => {
                ("placements", "Every placement with the features of `bcts8`, one core")
            }
            FigureGroup::Calls => ("calls", "Calls over loopback, server and client in two processes"),
            FigureGroup::Latency => ("latency", "Latency of Step, 200 calls per second"),
            FigureGroup::Evaluation => ("evaluation", "EvaluatePolicies"),
            FigureGroup::Memory => ("memory", "Memory"),
            FigureGroup::Startup => ("startup", "Start"),
        }
    }
}
