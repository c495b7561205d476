//! `EvaluationService`: plays games on the pool of threads, and streams their results.
//!
//! Each call has one task that sends the content of the games' inbox ([`games`](super::games)). It makes a message when
//! there is something to send and the connection has room. If the caller reads slowly, the inbox fills up, and no new
//! games start.
//!
//! Every evaluation ends with its task. When the caller leaves, its deadline passes or the server drains, the stream
//! and the task are dropped, and the threads stop at their next check of the flag. A caller that stays but does not
//! read loses its place: after [`ServerLimits::max_unread_time`] if another evaluation needs the place, and after
//! `PATIENCE` in any case.

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

use tetrion_core::features::kernel::Kernel;
use tetrion_core::pool::{Lane, Party, Pool};
use tetrion_protocol::evaluation::{DecodedEvaluation, ReadEvaluation, encode_recording};
use tetrion_protocol::footprint::evaluation_bytes;
use tetrion_protocol::limits::MAX_REQUEST_BYTES;
use tetrion_protocol::pb;
use tetrion_protocol::pb::evaluate_policies_response::Event;
use tetrion_protocol::pb::evaluation_service_server::{EvaluationService, EvaluationServiceServer};
use tetrion_protocol::results::{encode_estimates, encode_results};

use super::answers::Answers;
use super::budget::{Budget, Parts, Share};
use super::caller::{Caller, CallerLimits, party_of};
use super::calls::CallPool;
use super::context::CallContext;
use super::costs::POLICY_BYTES_A_SLICE;
use super::games::{Keep, RunningGames, Unread};
use super::limits::ServerLimits;
use super::places::{Capacity, Full, Places};
use super::pressure::Pressure;
use super::refusal::{Refusal, Scope};
use super::tables;

/// Most games in one `results` message: 230 KiB, which fits into every window on its way.
const MAX_RESULTS: usize = 4096;
/// Time that a smaller message waits for more games.
const COALESCE: Duration = Duration::from_millis(50);
/// Time that a caller may leave a message unread if no other evaluation needs its place: a session's default lease.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// Time after which a refused caller should try again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

type EvaluationMessage = pb::EvaluatePoliciesResponse;

/// The service: a pool of threads, and a limit on evaluations.
#[derive(Clone, Debug)]
pub struct Evaluations {
    pool: Arc<Pool>,
    /// Threads that decode requests, because decoding may take long.
    calls: CallPool,
    kernel: Kernel,
    places: Arc<Places>,
    memory: Arc<Parts<Party>>,
}

impl Evaluations {
    /// A service on a pool. Callers share the pool equally.
    ///
    /// # Panics
    /// In calls, if this machine does not support the kernel.
    pub fn new(pool: Arc<Pool>, calls: CallPool, kernel: Kernel, limits: ServerLimits) -> Evaluations {
        let places = Places::new(Capacity {
            max: limits.max_evaluations,
            max_per_caller: limits.max_evaluations_per_caller,
            max_unread: limits.max_unread_time,
        });
        let memory = Arc::new(Parts::new(Budget::of_bytes(limits.evaluation_memory, calls.pressure())));
        Evaluations { pool, calls, kernel, places, memory }
    }

    /// The tonic service with its bound on requests, compressed for clients that ask for it.
    pub fn into_server(self) -> EvaluationServiceServer<Evaluations> {
        EvaluationServiceServer::new(self)
            .max_decoding_message_size(MAX_REQUEST_BYTES as usize)
            .accept_compressed(CompressionEncoding::Gzip)
            .accept_compressed(CompressionEncoding::Zstd)
            // Never gzip, which Python's gRPC accepts in every call: it takes 1 ms for the 50 KB of 256 playfields,
            // while a gigabit line takes 0.4 ms to send them uncompressed.
            .send_compressed(CompressionEncoding::Zstd)
    }

    /// Memory that evaluations use, out of [`ServerLimits::evaluation_memory`].
    pub fn memory(&self) -> &Arc<Budget> {
        self.memory.whole()
    }

    /// Reserves the peak memory of an evaluation.
    fn room(&self, party: &Party, request: &pb::EvaluatePoliciesRequest) -> Result<Share, Refusal> {
        let bytes = evaluation_bytes(request, self.pool.num_threads());
        let part = self.memory.part(party);
        let no_room = |limit, taken| Refusal::EvaluationMemoryLimit { bytes, limit, taken };
        part.take(bytes).map_err(|spent| Refusal::spent(spent, no_room))
    }

    /// Number of evaluations in progress.
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
        let answers = Answers::of(request.extensions());
        let place = self
            .places
            .take(&party, limits.max_evaluations, &answers)
            .map_err(|full| no_place(full, &caller, limits))?;
        let kernel = self.kernel;
        let request = request.into_inner();
        let room = self.room(&party, &request)?;
        let calls = self.calls.lane(party.clone());
        if request.policies.iter().chain(&request.opponent).any(tables::plays_by_values) {
            tables::ready_for_message(&calls, request.rules.as_ref()).await?;
        }
        let mut reading = ReadingRequest { request, kernel, room: Some(room), begun: None };
        let (request, room) = calls.run_slices(move || reading.advance().transpose()).await?;
        if let Some(fit) = request.policies_that_fit() {
            let (max_rows, max_bytes) = (fit.into(), request.max_response_bytes);
            return Err(Refusal::ResponseTooLarge { max_rows, max_bytes }.into());
        }
        let room = Arc::new(room);
        answers.keep_evaluation(&room);
        let (sender, messages) = mpsc::channel(1);
        let lane = self.pool.lane(party).in_span(CallContext::current_span());
        let pressure = self.calls.pressure().clone();
        let task = tokio::spawn(CallContext::follow(CallContext::current(), async move {
            tokio::select! {
                ended = evaluate(&lane, request, room, &pressure, &sender) => ended,
                () = place.lost.cancelled() => Err(Refusal::AnswerUnread(place.max_unread()).into()),
            }
        }));
        Ok(Response::new(EvaluationStream { messages, task: Some(task) }))
    }
}

/// A request whose policies are being read, in slices: thousands of long formulas take seconds.
struct ReadingRequest {
    request: pb::EvaluatePoliciesRequest,
    kernel: Kernel,
    /// Memory that moves along, because the call may end while its request waits for a thread.
    room: Option<Share>,
    begun: Option<ReadEvaluation>,
}

impl ReadingRequest {
    /// Reads the next policies. Returns the evaluation and its room after the last one.
    fn advance(&mut self) -> Result<Option<(DecodedEvaluation, Share)>, Refusal> {
        let mut begun = match self.begun.take() {
            Some(begun) => begun,
            None => ReadEvaluation::begin(&self.request)?,
        };
        if begun.read_policies(&self.request, POLICY_BYTES_A_SLICE)? {
            self.begun = Some(begun);
            return Ok(None);
        }
        let decoded = begun.finish(&self.request, self.kernel)?;
        Ok(self.room.take().map(|room| (decoded, room)))
    }
}

/// The refusal if this caller gets no place for an evaluation.
fn no_place(full: Full, caller: &Caller, limits: CallerLimits) -> Refusal {
    let (scope, limit) = match full {
        Full::Caller { limit } => (caller.scope(), limit),
        Full::Server { limit } => (Scope::Server, limit),
    };
    if limit > 0 {
        return Refusal::EvaluationLimit { scope, limit, retry_after: RETRY_AFTER };
    }
    let limit = match scope {
        Scope::Server => "the server's --max-evaluations",
        _ if limits.max_evaluations.is_some() => "its max_evaluations in the file of tokens",
        _ => "the server's --max-evaluations-per-caller",
    };
    Refusal::NoEvaluations { scope, limit }
}

/// Waits for room in the connection before it makes and sends the message.
async fn send(messages: &Sender<EvaluationMessage>, event: impl FnOnce() -> Event) -> Result<(), Status> {
    match tokio::time::timeout(PATIENCE, messages.reserve()).await {
        Ok(Ok(room)) => {
            room.send(EvaluationMessage { event: Some(event()) });
            Ok(())
        }
        Ok(Err(_)) => Err(Status::cancelled("the caller has left")),
        Err(_) => Err(Refusal::AnswerUnread(PATIENCE).into()),
    }
}

/// The stream of an evaluation's messages. It owns the task that makes them, which ends when the stream is dropped.
#[derive(Debug)]
pub struct EvaluationStream {
    messages: mpsc::Receiver<EvaluationMessage>,
    /// The task; `None` after the end of the stream.
    task: Option<JoinHandle<Result<(), Status>>>,
}

impl Stream for EvaluationStream {
    type Item = Result<EvaluationMessage, Status>;

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

/// Plays the games, and sends their messages and the summary.
async fn evaluate(
    lane: &Lane,
    request: DecodedEvaluation,
    room: Arc<Share>,
    pressure: &Pressure,
    sender: &Sender<EvaluationMessage>,
) -> Result<(), Status> {
    let max_results = request.results_a_message().clamp(1, MAX_RESULTS);
    let DecodedEvaluation {
        evaluation,
        started,
        baseline,
        parallelism,
        progress_interval,
        include_results,
        include_recordings,
        ..
    } = request;
    send(sender, || Event::Started(started)).await?;
    let start = Instant::now();
    let keep = match (include_results, include_recordings) {
        (false, _) => Keep::Sums,
        (true, true) => Keep::Recordings,
        (true, false) => Keep::Results,
    };
    let games = RunningGames::begin(lane, evaluation, room, parallelism, keep);
    // `None` for a time beyond the range of the clock.
    let due = || progress_interval.and_then(|interval| Instant::now().checked_add(interval));
    let mut next_progress = due();
    let mut ticks = tokio::time::interval(COALESCE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let ended = games.ended();
        match games.take_unread() {
            Unread::Games(results) => {
                for results in results.chunks(max_results) {
                    send(sender, || Event::Results(encode_results(results))).await?;
                }
            }
            Unread::Estimates(estimates) => {
                for estimates in estimates.chunks(max_results) {
                    send(sender, || Event::Estimates(encode_estimates(estimates))).await?;
                }
            }
        }
        while let Some((result, record)) = games.take_recorded() {
            send(sender, || Event::Recording(encode_recording(games.evaluation(), &result, record))).await?;
        }
        if ended {
            break;
        }
        if next_progress.is_some_and(|due| Instant::now() >= due) {
            send(sender, || Event::Progress(games.progress(start))).await?;
            next_progress = due();
        }
        tokio::select! {
            () = games.news() => {}
            _ = ticks.tick() => {
                games.count();
                pressure.go_on().map_err(Refusal::from)?;
            }
        }
    }
    send(sender, || Event::Progress(games.progress(start))).await?;
    let summary = games.summary(lane, baseline).await?;
    send(sender, || Event::Summary(summary)).await
}
