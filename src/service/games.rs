//! The games of an evaluation in progress, and the inbox between the threads that play and the task that sends.
//!
//! The threads put finished games into the inbox and never wait. While the inbox holds [`MAX_UNREAD_GAMES`] games, a
//! finished game gets no successor until the task has taken them; the pool does other work meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, oneshot};

use crate::pool::Lane;
use crate::rollout::{self, Actions, Counters, Evaluation, Finished, GameResult, Next};
use crate::summary::{GameTable, summarize};
use crate::wire::evaluation::encode_summary;
use crate::wire::limits::MAX_UNREAD_GAMES;
use crate::wire::{duration, pb};

use super::budget::Share;
use super::metrics::{EVALUATION_GAMES, EVALUATION_PIECES};
use super::refusal::Refusal;

/// Games that are enough for a `results` message at once: 64 KiB.
const WORTH_SENDING: usize = 1150;
/// What is kept of finished games for the caller, besides their sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Sums,
    /// The result of each game.
    Results,
    /// The result and the actions of each game.
    Actions,
}

/// Games in progress, which stop when this value is dropped.
#[derive(Debug)]
pub struct RunningGames {
    evaluation: Arc<Evaluation>,
    shared: Arc<Shared>,
    stop: Arc<AtomicBool>,
    progress: Arc<Counters>,
    num_games: u64,
}

/// State shared by the playing threads and the sending task.
#[derive(Debug)]
struct Shared {
    inbox: Mutex<Inbox>,
    /// Notified when the inbox has enough for a message.
    news: Notify,
    /// The memory of the evaluation, until the last thread has dropped it.
    _room: Arc<Share>,
}

struct Inbox {
    table: GameTable,
    games_done: u64,
    /// Games and pieces that the metrics have counted.
    counted: (u64, u64),
    unread: Vec<GameResult>,
    /// Finished games with their actions.
    recorded: Vec<(GameResult, Actions)>,
    /// Starters of games that wait until the task has taken the unread ones.
    waiting: Vec<Next>,
    /// Whether all games are over.
    ended: bool,
}

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Inbox { games_done, unread, waiting, ended, .. } = self;
        let (unread, waiting) = (unread.len(), waiting.len());
        write!(
            f,
            "Inbox {{ games_done: {games_done}, unread: {unread}, waiting: {waiting}, ended: {ended} }}"
        )
    }
}

impl Shared {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a finished game. The next game starts at once, or when the task has taken the unread ones.
    fn put(&self, (result, actions): Finished, next: Next, keep: Keep) {
        let mut inbox = self.inbox();
        inbox.table.record(&result);
        inbox.games_done += 1;
        if keep != Keep::Sums {
            inbox.unread.push(result);
        }
        if let (Keep::Actions, Some(actions)) = (keep, actions) {
            inbox.recorded.push((result, actions));
        }
        let unread = inbox.unread.len();
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

/// Marks the end of the games when the last thread drops the evaluation.
struct EndOfGames(Arc<Shared>);

impl Drop for EndOfGames {
    fn drop(&mut self) {
        self.0.inbox().ended = true;
        self.0.news.notify_one();
    }
}

impl RunningGames {
    /// Starts the games of an evaluation in its reserved memory, `parallelism` at a time; 0 for one per thread of the
    /// lane.
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
            table: GameTable::new(num_games),
            games_done: 0,
            counted: (0, 0),
            unread: Vec::new(),
            recorded: Vec::new(),
            waiting: Vec::new(),
            ended: false,
        };
        let shared = Arc::new(Shared { inbox: Mutex::new(inbox), news: Notify::new(), _room: room });
        let (stop, progress) = (Arc::<AtomicBool>::default(), Arc::<Counters>::default());
        let end = EndOfGames(shared.clone());
        let (stopped, counted) = (stop.clone(), progress.clone());
        if keep == Keep::Actions {
            let sink = move |finished, next| end.0.put(finished, next, keep);
            rollout::spawn_recorded(lane, evaluation.clone(), parallelism, stopped, counted, sink);
        } else {
            let sink = move |result, next| end.0.put((result, None), next, keep);
            rollout::spawn(lane, evaluation.clone(), parallelism, stopped, counted, sink);
        }
        RunningGames { evaluation, shared, stop, progress, num_games }
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.shared.inbox()
    }

    /// Waits until the unread games are enough for a message.
    pub async fn news(&self) {
        self.shared.news.notified().await;
    }

    /// Whether all games are over.
    pub fn ended(&self) -> bool {
        self.inbox().ended
    }

    /// Number of finished games.
    pub fn games_done(&self) -> u64 {
        self.inbox().games_done
    }

    /// Number of games that wait until the task has taken the unread ones.
    pub fn num_waiting(&self) -> usize {
        self.inbox().waiting.len()
    }

    /// Takes the finished games, and starts the games that waited for that.
    pub fn take_unread(&self) -> Vec<GameResult> {
        let mut inbox = self.inbox();
        let unread = std::mem::take(&mut inbox.unread);
        let waiting = std::mem::take(&mut inbox.waiting);
        drop(inbox);
        for next in waiting {
            next();
        }
        unread
    }

    /// Takes one finished game with its actions.
    pub fn take_recorded(&self) -> Option<(GameResult, Actions)> {
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

    /// Counts the games and pieces since the last call in the metrics.
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
    /// If games are not over.
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
            let table = std::mem::replace(&mut shared.inbox().table, GameTable::new(0));
            let (policies, differences) = summarize(&evaluation, &table, baseline);
            let _ = sender.send(encode_summary(&policies, &differences));
        });
        summary.await.map_err(|_| failed())
    }
}

impl Drop for RunningGames {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.count();
        // They hold the evaluation, which holds the inbox that holds them.
        let waiting = std::mem::take(&mut self.inbox().waiting);
        drop(waiting);
    }
}
