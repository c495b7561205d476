//! How far an evaluation is, and when to report it.

use std::time::Duration;

use tokio::time::Instant;

/// How far an evaluation is. All numbers only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvaluationProgress {
    /// Games finished.
    pub games: u64,
    /// Games of the whole evaluation, finished or not.
    pub num_games: u64,
    /// Pieces landed, including unfinished games.
    pub pieces: u64,
    /// Lines cleared, including unfinished games.
    pub lines: u64,
    /// Time since the first call.
    pub elapsed: Duration,
}

/// What has been played.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProgressCounts {
    pub(super) games: u64,
    pub(super) pieces: u64,
    pub(super) lines: u64,
}

impl ProgressCounts {
    pub(super) fn add(&mut self, other: ProgressCounts) {
        self.games += other.games;
        self.pieces += other.pieces;
        self.lines += other.lines;
    }

    /// What a server has reported beyond what has come from it.
    pub(super) fn beyond(self, came: ProgressCounts) -> ProgressCounts {
        ProgressCounts {
            games: self.games.saturating_sub(came.games),
            pieces: self.pieces.saturating_sub(came.pieces),
            lines: self.lines.saturating_sub(came.lines),
        }
    }
}

/// The reports of an evaluation.
#[derive(Debug)]
pub(super) struct ReportClock {
    /// Time between two reports; `None` for a single one at the end.
    interval: Option<Duration>,
    began: Option<Instant>,
    last: Option<Instant>,
    /// The last report, below which no later one falls.
    reported: ProgressCounts,
}

impl ReportClock {
    pub(super) fn new(interval: Option<Duration>) -> ReportClock {
        ReportClock { interval, began: None, last: None, reported: ProgressCounts::default() }
    }

    /// Starts the clock, unless it runs.
    pub(super) fn begin(&mut self, now: Instant) {
        self.began.get_or_insert(now);
    }

    /// Whether a report is due.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let (Some(interval), Some(last)) = (self.interval, self.last.or(self.began)) else { return false };
        // A message that is a little early counts as in time.
        now - last >= interval - interval / 4
    }

    pub(super) fn report(&mut self, counts: ProgressCounts, num_games: u64) -> EvaluationProgress {
        self.last = Some(Instant::now());
        // The games of a lost call begin again; the reported numbers wait until they have caught up.
        let reported = &mut self.reported;
        *reported = ProgressCounts {
            games: counts.games.max(reported.games),
            pieces: counts.pieces.max(reported.pieces),
            lines: counts.lines.max(reported.lines),
        };
        let ProgressCounts { games, pieces, lines } = *reported;
        let elapsed = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        EvaluationProgress { games, num_games, pieces, lines, elapsed }
    }
}
