//! `EvaluationService`: games on the pool of threads, their results as a stream.
//!
//! Between the threads that play and the task that talks lies an inbox. The threads put finished games into it and never
//! wait; the task builds a message when there is something to tell and room in the connection to tell it. A caller who reads
//! slowly makes the inbox fill up, and from `MAX_UNREAD` on a finished game is not followed by another one until he has
//! read: the pool goes on with other work meanwhile.
//!
//! The end of an evaluation, whatever brings it about, is the end of that task: when the caller leaves, its deadline passes or
//! the server drains, the stream is dropped, the task with it, and the threads stop at the next look at the flag. A caller
//! that stays and does not read loses its place: after [`EvaluationLimits::max_unread`] to an evaluation that finds none
//! free, after `PATIENCE` in any case.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{self, Sender};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;
use tonic::codec::CompressionEncoding;
use tonic::{Request, Response, Status};

use crate::features::kernel::Kernel;
use crate::pool::{Lane, Party, Pool};
use crate::rollout::{self, Evaluation, GameResult, Next, Progress};
use crate::summary::{Table, summarize};
use crate::wire::evaluation::{EvaluationRequest, decode, encode_results, encode_summary};
use crate::wire::limits::{
    DEFAULT_MAX_EVALUATIONS, DEFAULT_MAX_EVALUATIONS_PER_CALLER, DEFAULT_MAX_UNREAD, MAX_REQUEST_BYTES,
};
use crate::wire::pb::evaluate_policies_response::Event;
use crate::wire::pb::evaluation_service_server::{EvaluationService, EvaluationServiceServer};
use crate::wire::{duration, pb};

use super::caller::{Caller, CallerLimits, party_of};
use super::calls::CallPool;
use super::context::CallContext;
use super::metrics::{EVALUATION_GAMES, EVALUATION_PIECES};
use super::status::{Refusal, Scope};

/// Games in one `results` message at most: 230 KiB, which leaves room in every window on the way.
const MAX_RESULTS: usize = 4096;
/// Games that make a `results` message worth while at once: 64 KiB.
const RIPE: usize = 1150;
/// How long fewer games than that wait for company.
const COALESCE: Duration = Duration::from_millis(50);
/// Finished games that wait to be read before no others are begun: 1 MiB.
const MAX_UNREAD: usize = 16_384;
/// How long a caller may leave a message lying when no one else wants its place: as long as a session's default lease.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// What a refused caller is told to wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);

type Answer = pb::EvaluatePoliciesResponse;

/// How many evaluations there may be, and what their callers owe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationLimits {
    /// At one time.
    pub max_evaluations: u32,
    /// Of one caller at one time.
    pub max_per_caller: u32,
    /// How long an answer may lie unread before its evaluation has to make room for another one.
    pub max_unread: Duration,
}

impl Default for EvaluationLimits {
    fn default() -> EvaluationLimits {
        EvaluationLimits {
            max_evaluations: DEFAULT_MAX_EVALUATIONS,
            max_per_caller: DEFAULT_MAX_EVALUATIONS_PER_CALLER,
            max_unread: DEFAULT_MAX_UNREAD,
        }
    }
}

/// The service: a pool of threads, and how many may use it at a time.
#[derive(Clone, Debug)]
pub struct Evaluations {
    pool: Arc<Pool>,
    /// Where requests are understood, which may be long.
    calls: CallPool,
    kernel: Kernel,
    places: Arc<Places>,
}

impl Evaluations {
    /// A service on a pool, of which each caller gets an equal share.
    pub fn new(pool: Arc<Pool>, calls: CallPool, limits: EvaluationLimits) -> Evaluations {
        let places = Arc::new(Places { limits, taken: Mutex::default() });
        Evaluations { pool, calls, kernel: Kernel::best(), places }
    }

    /// The service as tonic serves it, with the bound on requests set, compressed for those who ask.
    pub fn into_server(self) -> EvaluationServiceServer<Evaluations> {
        EvaluationServiceServer::new(self)
            .max_decoding_message_size(MAX_REQUEST_BYTES as usize)
            .accept_compressed(CompressionEncoding::Gzip)
            .accept_compressed(CompressionEncoding::Zstd)
            // Never gzip, which Python's gRPC accepts in every call: it takes 1 ms for the 50 KB of 256 playfields, and a
            // gigabit line 0.4 ms for the bytes.
            .send_compressed(CompressionEncoding::Zstd)
    }

    /// How many evaluations run.
    pub fn num_running(&self) -> u32 {
        self.places.taken().holders.len() as u32
    }
}

#[tonic::async_trait]
impl EvaluationService for Evaluations {
    type EvaluatePoliciesStream = Answers;

    async fn evaluate_policies(
        &self,
        request: Request<pb::EvaluatePoliciesRequest>,
    ) -> Result<Response<Answers>, Status> {
        let party = party_of(request.extensions());
        let (caller, limits) = (Caller::of(request.extensions()), CallerLimits::of(request.extensions()));
        let place = self.places.take(&party, &caller, limits)?;
        let (request, kernel) = (request.into_inner(), self.kernel);
        let calls = self.calls.lane(party.clone());
        let request = calls.run_elsewhere(move || decode(&request, kernel)).await.map_err(Refusal::from)?;
        if let Some(fit) = request.policies_that_fit() {
            let (max_rows, max_bytes) = (fit.into(), request.max_response_bytes);
            return Err(Refusal::ResponseTooLarge { max_rows, max_bytes }.into());
        }
        let (answers, messages) = mpsc::channel(1);
        let lane = self.pool.lane(party).in_span(CallContext::current_span());
        let task = tokio::spawn(CallContext::follow(CallContext::current(), async move {
            let teller = Teller { answers, place: &place };
            tokio::select! {
                told = evaluate(&lane, request, &teller) => told,
                () = place.lost.cancelled() => Err(Refusal::AnswerUnread(place.places.limits.max_unread).into()),
            }
        }));
        Ok(Response::new(Answers { messages, task: Some(task) }))
    }
}

/// The places of evaluations, and which callers have them.
#[derive(Debug)]
struct Places {
    limits: EvaluationLimits,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    holders: HashMap<u64, Holder>,
    next_number: u64,
}

#[derive(Debug)]
struct Holder {
    party: Party,
    /// Since when its answer has been lying there, if it has.
    unread_since: Option<Instant>,
    lost: CancellationToken,
}

/// The place of one evaluation, free again when this is dropped.
#[derive(Debug)]
struct Place {
    places: Arc<Places>,
    number: u64,
    /// Cancelled when another evaluation got it.
    lost: CancellationToken,
}

impl Places {
    /// A free place, or that of an evaluation whose answer has been lying there for too long.
    fn take(
        self: &Arc<Places>,
        party: &Party,
        caller: &Caller,
        limits: CallerLimits,
    ) -> Result<Place, Refusal> {
        let EvaluationLimits { max_evaluations, max_per_caller, max_unread } = self.limits;
        let max_own = limits.max_evaluations.unwrap_or(max_per_caller);
        let mut taken = self.taken();
        let own = taken.holders.values().filter(|holder| holder.party == *party).count();
        let own_full = own >= max_own as usize;
        if own_full || taken.holders.len() >= max_evaluations as usize {
            let lies = |holder: &Holder| holder.unread_since.filter(|since| since.elapsed() >= max_unread);
            let may_go = taken.holders.iter().filter(|(_, holder)| !own_full || holder.party == *party);
            let longest = may_go.filter_map(|(number, holder)| Some((lies(holder)?, *number))).min();
            let Some(loser) = longest.and_then(|(_, number)| taken.holders.remove(&number)) else {
                let (scope, limit) =
                    if own_full { (caller.scope(), max_own) } else { (Scope::Server, max_evaluations) };
                return Err(Refusal::EvaluationLimit { scope, limit, retry_after: RETRY_AFTER });
            };
            loser.lost.cancel();
        }
        let (number, lost) = (taken.next_number, CancellationToken::new());
        taken.next_number += 1;
        let holder = Holder { party: party.clone(), unread_since: None, lost: lost.clone() };
        taken.holders.insert(number, holder);
        drop(taken);
        Ok(Place { places: self.clone(), number, lost })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Notes whether the answer lies unread.
    fn note(&self, unread: bool) {
        if let Some(holder) = self.places.taken().holders.get_mut(&self.number) {
            holder.unread_since = unread.then(|| holder.unread_since.unwrap_or_else(Instant::now));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().holders.remove(&self.number);
    }
}

/// What an evaluation tells goes through here.
struct Teller<'a> {
    answers: Sender<Answer>,
    place: &'a Place,
}

impl Teller<'_> {
    /// Waits for room in the connection, and only then makes the message.
    async fn tell(&self, event: impl FnOnce() -> Event) -> Result<(), Status> {
        self.look();
        let room = tokio::time::timeout(PATIENCE, self.answers.reserve()).await;
        self.place.note(false);
        match room {
            Ok(Ok(room)) => room.send(Answer { event: Some(event()) }),
            Ok(Err(_)) => return Err(Status::cancelled("the caller has left")),
            Err(_) => return Err(Refusal::AnswerUnread(PATIENCE).into()),
        }
        Ok(())
    }

    /// Looks whether the last message has been read.
    fn look(&self) {
        self.place.note(self.answers.capacity() == 0);
    }
}

/// The messages of an evaluation, and the task that makes them and ends with this.
#[derive(Debug)]
pub struct Answers {
    messages: mpsc::Receiver<Answer>,
    /// Nothing when the stream is over.
    task: Option<JoinHandle<Result<(), Status>>>,
}

impl Stream for Answers {
    type Item = Result<Answer, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(answer) = ready!(self.messages.poll_recv(cx)) {
            return Poll::Ready(Some(Ok(answer)));
        }
        let Some(task) = &mut self.task else { return Poll::Ready(None) };
        let told = ready!(Pin::new(task).poll(cx));
        self.task = None;
        Poll::Ready(match told {
            Ok(Ok(())) => None,
            Ok(Err(status)) => Some(Err(status)),
            Err(panic) => Some(Err(Refusal::internal(&format!("an evaluation failed: {panic}")).into())),
        })
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Plays, and tells of it until the summary.
async fn evaluate(lane: &Lane, request: EvaluationRequest, teller: &Teller<'_>) -> Result<(), Status> {
    let max_results = request.results_a_message().clamp(1, MAX_RESULTS);
    let EvaluationRequest {
        evaluation, started, baseline, parallelism, progress_interval, omit_results, ..
    } = request;
    teller.tell(|| Event::Started(started)).await?;
    let start = Instant::now();
    let evaluation = Arc::new(evaluation);
    let games = Games::begin(lane, evaluation.clone(), parallelism, omit_results);
    // Nothing for a time that no clock will show.
    let due = || progress_interval.and_then(|interval| Instant::now().checked_add(interval));
    let mut next_progress = due();
    let mut ticks = tokio::time::interval(COALESCE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let ended = games.inbox().ended;
        for results in games.take_unread().chunks(max_results) {
            teller.tell(|| Event::Results(encode_results(results))).await?;
        }
        if ended {
            break;
        }
        if next_progress.is_some_and(|due| Instant::now() >= due) {
            teller.tell(|| Event::Progress(games.progress(start))).await?;
            next_progress = due();
        }
        tokio::select! {
            () = games.shared.news.notified() => {}
            _ = ticks.tick() => {
                teller.look();
                games.count();
            }
        }
    }
    teller.tell(|| Event::Progress(games.progress(start))).await?;
    let summary = games.summary(lane, evaluation, baseline).await?;
    teller.tell(|| Event::Summary(summary)).await
}

/// Games under way. They stop when this is dropped.
#[derive(Debug)]
struct Games {
    shared: Arc<Shared>,
    stop: Arc<AtomicBool>,
    progress: Arc<Progress>,
    num_games: u64,
}

/// What the playing threads and the talking task share.
#[derive(Debug)]
struct Shared {
    inbox: Mutex<Inbox>,
    /// That it is worth looking into the inbox.
    news: Notify,
}

struct Inbox {
    table: Table,
    games_done: u64,
    /// Games and pieces that the metrics have.
    counted: (u64, u64),
    unread: Vec<GameResult>,
    /// What begins the games that wait until someone has read.
    waiting: Vec<Next>,
    /// No further game will come.
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

    /// Takes a finished game in. The next one follows at once, or when this one has been read.
    fn put(&self, result: GameResult, next: Next, omit_results: bool) {
        let mut inbox = self.inbox();
        inbox.table.record(&result);
        inbox.games_done += 1;
        if !omit_results {
            inbox.unread.push(result);
        }
        let unread = inbox.unread.len();
        if unread >= MAX_UNREAD {
            inbox.waiting.push(next);
        } else {
            drop(inbox);
            next();
        }
        if unread == RIPE {
            self.news.notify_one();
        }
    }
}

/// Dropped when the last thread has let go of the evaluation.
struct EndOfGames(Arc<Shared>);

impl Drop for EndOfGames {
    fn drop(&mut self) {
        self.0.inbox().ended = true;
        self.0.news.notify_one();
    }
}

impl Games {
    fn begin(lane: &Lane, evaluation: Arc<Evaluation>, parallelism: usize, omit_results: bool) -> Games {
        let num_games = evaluation.num_games();
        let inbox = Inbox {
            table: Table::new(num_games),
            games_done: 0,
            counted: (0, 0),
            unread: Vec::new(),
            waiting: Vec::new(),
            ended: false,
        };
        let shared = Arc::new(Shared { inbox: Mutex::new(inbox), news: Notify::new() });
        let (stop, progress) = (Arc::<AtomicBool>::default(), Arc::<Progress>::default());
        let end = EndOfGames(shared.clone());
        let sink = move |result, next| end.0.put(result, next, omit_results);
        rollout::spawn(lane, evaluation, parallelism, stop.clone(), progress.clone(), sink);
        Games { shared, stop, progress, num_games }
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.shared.inbox()
    }

    /// What has come in, and the games that waited for it to be read begin.
    fn take_unread(&self) -> Vec<GameResult> {
        let mut inbox = self.inbox();
        let unread = std::mem::take(&mut inbox.unread);
        let waiting = std::mem::take(&mut inbox.waiting);
        drop(inbox);
        for next in waiting {
            next();
        }
        unread
    }

    fn progress(&self, start: Instant) -> pb::EvaluationProgress {
        pb::EvaluationProgress {
            games_done: self.inbox().games_done,
            num_games: self.num_games,
            pieces_done: self.progress.pieces.load(Ordering::Relaxed),
            lines_done: self.progress.lines.load(Ordering::Relaxed),
            elapsed: duration::encode(start.elapsed()),
        }
    }

    /// Counts what has been played since the last time.
    fn count(&self) {
        let mut inbox = self.inbox();
        let (games, pieces) = (inbox.games_done, self.progress.pieces.load(Ordering::Relaxed));
        let (counted_games, counted_pieces) = std::mem::replace(&mut inbox.counted, (games, pieces));
        drop(inbox);
        metrics::counter!(EVALUATION_GAMES).increment(games - counted_games);
        metrics::counter!(EVALUATION_PIECES).increment(pieces - counted_pieces);
    }

    /// The summary of all games. It is added up on the pool, for there may be a million of them.
    async fn summary(
        &self,
        lane: &Lane,
        evaluation: Arc<Evaluation>,
        baseline: Option<u32>,
    ) -> Result<pb::EvaluationSummary, Refusal> {
        let failed = || Refusal::internal("an evaluation ended before all its games did");
        if self.inbox().games_done < self.num_games {
            return Err(failed());
        }
        let (sender, summary) = oneshot::channel();
        let shared = self.shared.clone();
        lane.spawn(move || {
            let table = std::mem::replace(&mut shared.inbox().table, Table::new(0));
            let (policies, differences) = summarize(&evaluation, &table, baseline);
            let _ = sender.send(encode_summary(&policies, &differences));
        });
        summary.await.map_err(|_| failed())
    }
}

impl Drop for Games {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.count();
        // They hold the evaluation, which holds the inbox that holds them.
        let waiting = std::mem::take(&mut self.inbox().waiting);
        drop(waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{Agent, Controller};
    use crate::engine::Rules;
    use crate::rollout::Deal;

    #[test]
    fn nobody_plays_on_for_a_reader_who_does_not_read() {
        let agent = Controller::named("bcts").and_then(|bcts| bcts.agent(10)).unwrap();
        let evaluation = Evaluation {
            rules: Rules::default(),
            policies: vec![Agent::Linear(agent)],
            deal: Deal::Common((0..50_000).collect()),
            episodes_per_seed: 1,
            pairs: None,
            max_pieces: 1,
            max_steps: u64::MAX,
            kernel: Kernel::best(),
        };
        let lane = Pool::new(2).unwrap().lane(Party::Own);
        let games = Games::begin(&lane, Arc::new(evaluation), 0, false);
        let mut read = 0;
        while read < 50_000 {
            // Both threads have nothing left to do, for now or for good.
            while games.inbox().waiting.len() < 2 && !games.inbox().ended {
                std::thread::yield_now();
            }
            let unread = games.take_unread().len();
            assert!(unread <= MAX_UNREAD + 1, "{unread} games were finished for nobody");
            read += unread;
        }
        assert_eq!((read, games.inbox().games_done), (50_000, 50_000));
    }
}
