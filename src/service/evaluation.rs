//! `EvaluationService`: games on the pool of threads, their results as a stream.
//!
//! Each call has one task that sends what is in the games' inbox ([`games`](super::games)): it makes a message when there is
//! something to send and room in the connection. If the caller reads slowly, the inbox fills up, and no further games begin.
//!
//! Every end of an evaluation is the end of that task: when the caller leaves, its deadline passes or
//! the server drains, the stream is dropped, the task with it, and the threads stop at their next look at the flag. A caller
//! that stays and does not read loses its place: after [`EvaluationCapacity::max_unread`] to an evaluation that finds no
//! free place, after `PATIENCE` in any case.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{self, Sender};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tokio_stream::Stream;
use tonic::codec::CompressionEncoding;
use tonic::{Request, Response, Status};

use crate::features::kernel::Kernel;
use crate::pool::{Lane, Pool};
use crate::wire::evaluation::{EvaluationRequest, decode, encode_actions, encode_results};
use crate::wire::limits::MAX_REQUEST_BYTES;
use crate::wire::pb;
use crate::wire::pb::evaluate_policies_response::Event;
use crate::wire::pb::evaluation_service_server::{EvaluationService, EvaluationServiceServer};

use super::caller::{Caller, CallerLimits, party_of};
use super::calls::CallPool;
use super::context::CallContext;
use super::games::{Keep, RunningGames};
use super::places::{EvaluationCapacity, Place, Places};
use super::refusal::Refusal;

/// Games in one `results` message at most: 230 KiB, which leaves room in every window on the way.
const MAX_RESULTS: usize = 4096;
/// How long fewer games than that wait for more.
const COALESCE: Duration = Duration::from_millis(50);
/// How long a caller may leave a message unread when no other evaluation needs its place: a session's default lease.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

type Answer = pb::EvaluatePoliciesResponse;

/// The service: a pool of threads, and how many may use it at a time.
#[derive(Clone, Debug)]
pub struct Evaluations {
    pool: Arc<Pool>,
    /// Decodes requests, which may be long.
    calls: CallPool,
    kernel: Kernel,
    places: Arc<Places>,
}

impl Evaluations {
    /// A service on a pool, of which each caller gets an equal share.
    ///
    /// # Panics
    /// In calls, if this machine cannot run the kernel.
    pub fn new(pool: Arc<Pool>, calls: CallPool, kernel: Kernel, limits: EvaluationCapacity) -> Evaluations {
        Evaluations { pool, calls, kernel, places: Places::new(limits) }
    }

    /// The service as tonic serves it, with the bound on requests set, compressed for clients that ask for it.
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
        self.places.num_taken()
    }
}

#[tonic::async_trait]
impl EvaluationService for Evaluations {
    type EvaluatePoliciesStream = EvaluationStream;

    async fn evaluate_policies(
        &self,
        request: Request<pb::EvaluatePoliciesRequest>,
    ) -> Result<Response<EvaluationStream>, Status> {
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
            let sender = EventSender { answers, place: &place };
            tokio::select! {
                ended = evaluate(&lane, request, &sender) => ended,
                () = place.lost.cancelled() => Err(Refusal::AnswerUnread(place.places.limits.max_unread).into()),
            }
        }));
        Ok(Response::new(EvaluationStream { messages, task: Some(task) }))
    }
}

/// Sends the messages of an evaluation.
struct EventSender<'a> {
    answers: Sender<Answer>,
    place: &'a Place,
}

impl EventSender<'_> {
    /// Waits for room in the connection, and only then makes the message.
    async fn send(&self, event: impl FnOnce() -> Event) -> Result<(), Status> {
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

    /// Notes whether the client has read the last message.
    fn look(&self) {
        self.place.note(self.answers.capacity() == 0);
    }
}

/// The messages of an evaluation, and the task that makes them and ends with this.
#[derive(Debug)]
pub struct EvaluationStream {
    messages: mpsc::Receiver<Answer>,
    /// Nothing when the stream is over.
    task: Option<JoinHandle<Result<(), Status>>>,
}

impl Stream for EvaluationStream {
    type Item = Result<Answer, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(answer) = ready!(self.messages.poll_recv(cx)) {
            return Poll::Ready(Some(Ok(answer)));
        }
        let Some(task) = &mut self.task else { return Poll::Ready(None) };
        let ended = ready!(Pin::new(task).poll(cx));
        self.task = None;
        Poll::Ready(match ended {
            Ok(Ok(())) => None,
            Ok(Err(status)) => Some(Err(status)),
            Err(panic) => Some(Err(Refusal::internal(&format!("an evaluation failed: {panic}")).into())),
        })
    }
}

impl Drop for EvaluationStream {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Plays the games, and sends their messages up to the summary.
async fn evaluate(lane: &Lane, request: EvaluationRequest, sender: &EventSender<'_>) -> Result<(), Status> {
    let max_results = request.results_a_message().clamp(1, MAX_RESULTS);
    let EvaluationRequest {
        evaluation,
        started,
        baseline,
        parallelism,
        progress_interval,
        omit_results,
        record,
        ..
    } = request;
    sender.send(|| Event::Started(started)).await?;
    let start = Instant::now();
    let keep = match (omit_results, record) {
        (true, _) => Keep::Sums,
        (false, true) => Keep::Actions,
        (false, false) => Keep::Results,
    };
    let evaluation = Arc::new(evaluation);
    let games = RunningGames::begin(lane, evaluation.clone(), parallelism, keep);
    // `None` for a time beyond the clock's range.
    let due = || progress_interval.and_then(|interval| Instant::now().checked_add(interval));
    let mut next_progress = due();
    let mut ticks = tokio::time::interval(COALESCE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let ended = games.ended();
        for results in games.take_unread().chunks(max_results) {
            sender.send(|| Event::Results(encode_results(results))).await?;
        }
        while let Some((result, actions)) = games.take_recorded() {
            sender.send(|| Event::Actions(encode_actions(&result, &actions))).await?;
        }
        if ended {
            break;
        }
        if next_progress.is_some_and(|due| Instant::now() >= due) {
            sender.send(|| Event::Progress(games.progress(start))).await?;
            next_progress = due();
        }
        tokio::select! {
            () = games.news() => {}
            _ = ticks.tick() => {
                sender.look();
                games.count();
            }
        }
    }
    sender.send(|| Event::Progress(games.progress(start))).await?;
    let summary = games.summary(lane, evaluation, baseline).await?;
    sender.send(|| Event::Summary(summary)).await
}
