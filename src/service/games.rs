//! The games of an evaluation in progress, and the inbox between the threads that play and the task that sends.
//!
//! The threads put finished games into the inbox and never wait. While the inbox holds [`MAX_UNREAD_GAMES`] games, a
//! finished game starts no next game until the task has emptied the inbox. In the meantime the pool does other work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, oneshot};

use tetrion_core::pool::Lane;
use tetrion_core::rollout::{
    self, Counters, EstimatedGame, Evaluation, FinishedGame, GameRecord, NextGame, PlayedGame,
};
use tetrion_core::summary::{EstimateTable, GameTable, summarize, summarize_estimates};
use tetrion_protocol::limits::MAX_UNREAD_GAMES;
use tetrion_protocol::results::{encode_estimate_summary, encode_summary};
use tetrion_protocol::{duration, pb};

use super::budget::Share;
use super::metrics::{EVALUATION_GAMES, EVALUATION_PIECES};
use super::refusal::Refusal;

/// Number of games that fill a `results` message: 64 KiB.
const WORTH_SENDING: usize = 1150;

/// What to keep of finished games for the caller, besides their sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: the caller wants only sums.
    Sums,
    /// The result of each game, or each estimate.
    Results,
    /// The result and the record of each game.
    Recordings,
}

/// Games in progress, which stop when this value is dropped.
#[derive(Debug)]
pub struct RunningGames {
    evaluation: Arc<Evaluation>,
    shared: Arc<SharedGames>,
    stop: Arc<AtomicBool>,
    progress: Arc<Counters>,
    num_games: u64,
}

/// State shared by the playing threads and the sending task.
#[derive(Debug)]
struct SharedGames {
    inbox: Mutex<Inbox>,
    /// Notified when the inbox has enough games for a message.
    news: Notify,
    /// The memory of the evaluation, released when the last thread drops it.
    _room: Arc<Share>,
}

struct Inbox {
    outcomes: OutcomeTable,
    games_done: u64,
    /// Numbers of games and pieces that the metrics have counted.
    counted: (u64, u64),
    /// Finished games with their records.
    recorded: Vec<(PlayedGame, GameRecord)>,
    /// Starters of games that wait until the task empties the inbox.
    waiting: Vec<NextGame>,
    /// Whether all games have ended.
    ended: bool,
}

/// Results of the games: numbers for the summary, and what the task has not taken yet.
enum OutcomeTable {
    Games(GameTable, Vec<PlayedGame>),
    Estimates(EstimateTable, Vec<EstimatedGame>),
}

impl OutcomeTable {
    fn new(evaluation: &Evaluation) -> OutcomeTable {
        let num_games = evaluation.num_games();
        match evaluation.loss_trials {
            0 => OutcomeTable::Games(GameTable::new(num_games), Vec::new()),
            _ => OutcomeTable::Estimates(EstimateTable::new(num_games), Vec::new()),
        }
    }

    fn num_unread(&self) -> usize {
        match self {
            OutcomeTable::Games(_, unread) => unread.len(),
            OutcomeTable::Estimates(_, unread) => unread.len(),
        }
    }
}

/// Finished games or estimates that the task has taken.
#[derive(Debug)]
pub enum Unread {
    Games(Vec<PlayedGame>),
    Estimates(Vec<EstimatedGame>),
}

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Inbox { games_done, outcomes, waiting, ended, .. } = self;
        let (unread, waiting) = (outcomes.num_unread(), waiting.len());
        write!(
            f,
            "Inbox {{ games_done: {games_done}, unread: {unread}, waiting: {waiting}, ended: {ended} }}"
        )
    }
}

impl SharedGames {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a finished game. Starts the next game, now or when the task has emptied the inbox.
    fn put(&self, outcome: FinishedGame, next: NextGame, keep: Keep) {
        let mut inbox = self.inbox();
        inbox.games_done += 1;
        match (outcome, &mut inbox.outcomes) {
            (FinishedGame::Game(result, record), OutcomeTable::Games(table, unread)) => {
                table.record(&result);
                if keep != Keep::Sums {
                    unread.push(result);
                }
                if let (Keep::Recordings, Some(record)) = (keep, record) {
                    inbox.recorded.push((result, *record));
                }
            }
            (FinishedGame::Estimate(estimate), OutcomeTable::Estimates(table, unread)) => {
                table.record(&estimate);
                if keep != Keep::Sums {
                    unread.push(estimate);
                }
            }
            _ => unreachable!("an evaluation has games or estimates"),
        }
        let unread = inbox.outcomes.num_unread();
        if unread >= MAX_UNREAD_GAMES {
            inbox.waiting.push(next);
        } else {
            drop(inbox);
            next();
        }
        if unread == WORTH_SENDING {
            self.news.notify_one();
        }
    }
}

/// Notes the end of all games when the last thread drops the evaluation.
struct EndOfGames(Arc<SharedGames>);

impl Drop for EndOfGames {
    fn drop(&mut self) {
        self.0.inbox().ended = true;
        self.0.news.notify_one();
    }
}

impl RunningGames {
    /// Starts the games of an evaluation in its reserved memory. `parallelism` is the number of concurrent games; 0 for
    /// one per thread of the lane.
    pub fn begin(
        lane: &Lane,
        evaluation: Evaluation,
        room: Arc<Share>,
        parallelism: usize,
        keep: Keep,
    ) -> RunningGames {
        let evaluation = Arc::new(evaluation);
        let num_games = evaluation.num_games();
        let inbox = Inbox {
            outcomes: OutcomeTable::new(&evaluation),
            games_done: 0,
            counted: (0, 0),
            recorded: Vec::new(),
            waiting: Vec::new(),
            ended: false,
        };
        let shared = Arc::new(SharedGames { inbox: Mutex::new(inbox), news: Notify::new(), _room: room });
        let (stop, progress) = (Arc::<AtomicBool>::default(), Arc::<Counters>::default());
        let end = EndOfGames(shared.clone());
        let (stopped, counted) = (stop.clone(), progress.clone());
        let record = keep == Keep::Recordings;
        let sink = move |outcome, next| end.0.put(outcome, next, keep);
        rollout::spawn_outcomes(lane, evaluation.clone(), parallelism, stopped, counted, record, sink);
        RunningGames { evaluation, shared, stop, progress, num_games }
    }

    /// The evaluation whose games are played.
    pub fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.shared.inbox()
    }

    /// Waits until there are enough unread games for a message.
    pub async fn news(&self) {
        self.shared.news.notified().await;
    }

    /// Whether all games have ended.
    pub fn ended(&self) -> bool {
        self.inbox().ended
    }

    /// Number of games that have finished, whether or not the task has taken them.
    pub fn games_done(&self) -> u64 {
        self.inbox().games_done
    }

    /// Number of games that wait until the task empties the inbox.
    pub fn num_waiting(&self) -> usize {
        self.inbox().waiting.len()
    }

    /// Takes the finished games, and starts the waiting ones.
    pub fn take_unread(&self) -> Unread {
        let mut inbox = self.inbox();
        let unread = match &mut inbox.outcomes {
            OutcomeTable::Games(_, unread) => Unread::Games(std::mem::take(unread)),
            OutcomeTable::Estimates(_, unread) => Unread::Estimates(std::mem::take(unread)),
        };
        let waiting = std::mem::take(&mut inbox.waiting);
        drop(inbox);
        for next in waiting {
            next();
        }
        unread
    }

    /// Takes one finished game with its record.
    pub fn take_recorded(&self) -> Option<(PlayedGame, GameRecord)> {
        self.inbox().recorded.pop()
    }

    /// Progress of an evaluation that started at `start`.
    pub fn progress(&self, start: Instant) -> pb::EvaluationProgress {
        pb::EvaluationProgress {
            games_done: self.games_done(),
            num_games: self.num_games,
            pieces_done: self.progress.pieces.load(Ordering::Relaxed),
            lines_done: self.progress.lines.load(Ordering::Relaxed),
            elapsed: duration::encode(start.elapsed()),
        }
    }

    /// Adds the games and pieces since the last call to the metrics.
    pub fn count(&self) {
        let mut inbox = self.inbox();
        let (games, pieces) = (inbox.games_done, self.progress.pieces.load(Ordering::Relaxed));
        let (counted_games, counted_pieces) = std::mem::replace(&mut inbox.counted, (games, pieces));
        drop(inbox);
        metrics::counter!(EVALUATION_GAMES).increment(games - counted_games);
        metrics::counter!(EVALUATION_PIECES).increment(pieces - counted_pieces);
    }

    /// The summary of all games. The pool computes it, because there may be a million games.
    ///
    /// # Errors
    /// If some games have not ended.
    pub async fn summary(
        &self,
        lane: &Lane,
        baseline: Option<u32>,
    ) -> Result<pb::EvaluationSummary, Refusal> {
        let failed = || Refusal::internal("an evaluation ended before all its games did");
        if self.games_done() < self.num_games {
            return Err(failed());
        }
        let (sender, summary) = oneshot::channel();
        let (evaluation, shared) = (self.evaluation.clone(), self.shared.clone());
        lane.spawn(move || {
            let none = OutcomeTable::Games(GameTable::new(0), Vec::new());
            let outcomes = std::mem::replace(&mut shared.inbox().outcomes, none);
            let _ = sender.send(match outcomes {
                OutcomeTable::Games(table, _) => {
                    let (policies, differences) = summarize(evaluation.order(), &table, baseline);
                    encode_summary(&policies, &differences)
                }
                OutcomeTable::Estimates(table, _) => {
                    encode_estimate_summary(&summarize_estimates(evaluation.order(), &table))
                }
            });
        });
        summary.await.map_err(|_| failed())
    }
}

impl Drop for RunningGames {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.count();
        // Break the cycle: the starters hold the evaluation, which holds the inbox that holds them.
        let waiting = std::mem::take(&mut self.inbox().waiting);
        drop(waiting);
    }
}
