//! The calls of a session over one long call: less work per message, and requests can be sent ahead.
//!
//! If the connection breaks, the stream opens again, and each request without an answer is performed once. The server
//! keeps only its last answer. So if it may have performed several calls whose answers are missing, the session is made
//! again from its journal.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Status;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;

use super::held::{HeldSession, snapshots};
use super::message::{Answered, Asked, FromStream, read_stream};
use super::{Session, Stepped};
use crate::connection::{LinkedServer, MAX_MESSAGE};
use crate::error::error;
use crate::patience::Patience;
use crate::{ClientError, RawBytes};

/// Most answers that wait to be read; with more, the call pauses.
const UNREAD: usize = 16;

/// Number of unanswered requests from which on further ones may wait to be sent together.
const AHEAD: u64 = 8;

/// A stream of a [`HeldSession`], which is passed to its methods.
#[derive(Debug, Default)]
pub struct SessionStream {
    /// The call, which the first request opens.
    exchange: Option<Exchange>,
    unanswered: VecDeque<Sent>,
    /// Number of requests among them for whose answers the caller waits.
    in_flight: usize,
    /// Whether a wait for an answer was left early, so that it is unknown what the server has done.
    is_interrupted: bool,
    /// Why the stream must be opened again.
    broken: Option<ClientError>,
}

/// A request without an answer.
#[derive(Debug)]
struct Sent {
    asked: Asked,
    /// 0 unless it changes the session.
    number: u64,
    by: AwaitedBy,
}

/// Who waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AwaitedBy {
    Caller,
    /// Snapshots for the journal.
    Journal,
    /// The caller has left.
    Nobody,
}

impl SessionStream {
    /// Number of requests for whose answers the caller waits.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether nothing is on its way.
    pub fn is_idle(&self) -> bool {
        self.unanswered.is_empty() && !self.is_interrupted
    }

    /// Whether the caller may send: not after a wait that was left early, until [`SessionStream::mend`].
    pub fn is_ready(&self, held: &HeldSession) -> bool {
        !self.is_interrupted && held.is_idle()
    }

    /// Sends a request without waiting. It must be called in a runtime, and [`SessionStream::is_ready`].
    pub fn send(&mut self, held: &mut HeldSession, asked: Asked) {
        self.push(held, asked, AwaitedBy::Caller);
    }

    fn push(&mut self, held: &mut HeldSession, asked: Asked, by: AwaitedBy) {
        let number = if asked.is_numbered() { held.number() + 1 } else { 0 };
        if number > 0 {
            // Counted now, so that the next request sent ahead gets the next number.
            held.set_number(number);
        }
        let message = held.streamed(&asked, number);
        self.in_flight += usize::from(by == AwaitedBy::Caller);
        self.unanswered.push_back(Sent { asked, number, by });
        self.exchange.get_or_insert_with(|| Exchange::open(held)).send(message);
    }

    /// Whether a runtime that works only during waits should now run what is ready.
    pub fn is_flush_due(&mut self) -> bool {
        self.exchange.as_mut().is_some_and(Exchange::is_flush_due)
    }

    /// The answer to the caller's earliest request without one, if it is here.
    pub fn receive_now(&mut self, held: &mut HeldSession) -> Option<Result<Answered, ClientError>> {
        while !self.is_interrupted && self.broken.is_none() {
            let message = self.exchange.as_mut()?.take()?;
            if let Some(answered) = self.read(held, message).transpose() {
                return Some(answered);
            }
        }
        None
    }

    /// Waits for the answer to the earliest request of the caller. If the wait is left early, the next use of the stream
    /// finds out what the server has done.
    ///
    /// # Errors
    /// If the server refuses the request, or has not answered for as long as the client is patient. If it refuses one of
    /// several that were sent ahead, it refuses those behind it too.
    ///
    /// # Panics
    /// If no request waits for an answer.
    pub async fn receive(&mut self, held: &mut HeldSession) -> Result<Answered, ClientError> {
        self.mend(held).await?;
        let mut patience = Patience::new();
        loop {
            if let Some(done) = self.receive_now(held) {
                return done;
            }
            assert!(self.in_flight > 0, "a request waits for its answer");
            // It stays so if the wait is left early.
            self.is_interrupted = true;
            self.progress(held, &mut patience).await?;
            self.is_interrupted = false;
        }
    }

    /// After a wait that was left early: opens the stream again, and reads the answers for which the caller no longer waits.
    ///
    /// # Errors
    /// If the server has not answered for as long as the client is patient.
    pub async fn mend(&mut self, held: &mut HeldSession) -> Result<(), ClientError> {
        held.finish().await?;
        if !self.is_interrupted {
            return Ok(());
        }
        let numbers = self.unanswered.iter().map(|sent| sent.number);
        held.set_number(numbers.fold(held.number(), u64::max));
        let mut patience = Patience::new();
        self.broken = None;
        self.open_again(held, &mut patience, false).await?;
        while !self.unanswered.is_empty() && self.in_flight == 0 {
            self.progress(held, &mut patience).await?;
            while let Some(message) = self.exchange.as_mut().and_then(Exchange::take) {
                self.read(held, message)?;
            }
        }
        self.is_interrupted = false;
        Ok(())
    }

    /// The caller waits for no answer any more. The next use of the stream finds out what the server has done.
    pub fn abandon(&mut self) {
        // Snapshots on their way still belong to the journal.
        for sent in self.unanswered.iter_mut().filter(|sent| sent.by == AwaitedBy::Caller) {
            sent.by = AwaitedBy::Nobody;
            self.is_interrupted = true;
        }
        self.in_flight = 0;
    }

    /// Says that no more requests come, and waits until the server has ended the call.
    pub async fn close(&mut self) {
        if let Some(mut exchange) = self.exchange.take() {
            exchange.requests.end();
            while exchange.answers.recv().await.is_some() {}
        }
    }

    /// Waits for the next message, or opens a broken stream again.
    async fn progress(&mut self, held: &mut HeldSession, patience: &mut Patience) -> Result<(), ClientError> {
        if let Some(error) = self.broken.take() {
            let is_lost = error.is_session_lost();
            patience.after(error, held.settings()).await?;
            return self.open_again(held, patience, is_lost).await;
        }
        if let Some(exchange) = &mut self.exchange {
            exchange.wait().await;
        }
        Ok(())
    }

    /// Opens the stream again, and repeats the requests without an answer.
    async fn open_again(
        &mut self,
        held: &mut HeldSession,
        patience: &mut Patience,
        is_lost: bool,
    ) -> Result<(), ClientError> {
        // Of several requests the server may have performed some that change the session, or some after a question.
        let is_unsure = self.unanswered.len() > 1 && self.unanswered.iter().any(|sent| sent.number > 0);
        if held.has_journal() && (is_unsure || is_lost) {
            let left = held.name().to_owned();
            held.make_again(patience).await?;
            let _ = held.delete_named(left).await; // it may be gone
        }
        let exchange = self.exchange.insert(Exchange::open(held));
        for sent in &self.unanswered {
            exchange.send(held.streamed(&sent.asked, sent.number));
        }
        Ok(())
    }

    /// Reads a message, which answers the earliest request. Returns `None` if the answer is not for the caller, or the stream
    /// is broken.
    fn read(
        &mut self,
        held: &mut HeldSession,
        message: StreamMessage,
    ) -> Result<Option<Answered>, ClientError> {
        let address = &held.server().address;
        let read = match message.map(read_stream) {
            Err(status) => {
                let error = error(address, &status);
                return if error.is_gone() { self.break_off(error) } else { Err(error) };
            }
            Ok(read) => read,
        };
        let answered = match read {
            Ok(FromStream::Refusal(status)) => {
                let error = error(address, &status);
                if error.is_session_lost() && held.has_journal() {
                    return self.break_off(error);
                }
                Err(error)
            }
            Ok(FromStream::Answer(answered)) => Ok(Some(answered)),
            Ok(FromStream::Nothing) => Ok(None),
            Err(error) => Err(error),
        };
        let Some(sent) = self.unanswered.pop_front() else {
            return Err(ClientError::Answer("it answers no request".to_owned()));
        };
        self.in_flight -= usize::from(sent.by == AwaitedBy::Caller);
        let answered = match answered {
            Err(error) => Err(error),
            Ok(Some(answered)) if answered.kind == sent.asked.kind => {
                Ok(held.renumbered(answered, sent.number)?)
            }
            Ok(other) => {
                let (asked, other) = (sent.asked.kind.name, other.map_or("None", |other| other.kind.name));
                return Err(ClientError::Answer(format!("the answer to {asked} is one to {other}")));
            }
        };
        self.settle(held, sent, answered)
    }

    fn break_off(&mut self, error: ClientError) -> Result<Option<Answered>, ClientError> {
        self.broken = Some(error);
        Ok(None)
    }

    /// Updates the session after an answer, and returns it if it is for the caller.
    fn settle(
        &mut self,
        held: &mut HeldSession,
        Sent { asked, number, by }: Sent,
        answered: Result<Answered, ClientError>,
    ) -> Result<Option<Answered>, ClientError> {
        let is_for_caller = by == AwaitedBy::Caller;
        match answered {
            answered if by == AwaitedBy::Journal => {
                held.keep_snapshots(answered);
                Ok(None)
            }
            Ok(answered) => {
                if number > 0 && held.note(number, asked, &answered) {
                    self.push(held, snapshots(), AwaitedBy::Journal);
                }
                Ok(is_for_caller.then_some(answered))
            }
            Err(error) => {
                let is_refused = match &error {
                    ClientError::Refused { reason, .. } => reason != "SEQUENCE_MISMATCH",
                    ClientError::Lost { .. } => true, // the server drains
                    _ => false,
                };
                if number > 0 && is_refused {
                    // The call was not performed, so the next one gets its number. The server refuses the requests behind it.
                    held.set_number(number - 1);
                }
                if is_for_caller { Err(error) } else { Ok(None) }
            }
        }
    }
}

/// A message of the server, or why there is none.
type StreamMessage = Result<Bytes, Status>;

/// One long call. A task passes its answers on, so that it continues between waits.
#[derive(Debug)]
struct Exchange {
    requests: Requests,
    answers: mpsc::Receiver<StreamMessage>,
    /// A message that was waited for and not read yet.
    next: Option<StreamMessage>,
    call: JoinHandle<()>,
    /// Requests so far, and how many of them were there when the runtime last ran what was ready.
    asked: u64,
    flushed: u64,
    arrived: Arc<AtomicU64>,
}

/// The way of requests into a call, which stays open on its server until the way ends.
#[derive(Clone, Debug)]
struct Requests(Arc<Mutex<Option<mpsc::UnboundedSender<Bytes>>>>);

impl Requests {
    fn lock(&self) -> MutexGuard<'_, Option<mpsc::UnboundedSender<Bytes>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.lock().take();
    }
}

/// Ends the requests of a call when its task ends, however that happens.
struct EndedAfterwards(Requests);

impl Drop for EndedAfterwards {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Exchange {
    fn open(held: &mut HeldSession) -> Exchange {
        let server = held.server().clone();
        let (requests, receiver) = mpsc::unbounded_channel();
        let (sender, answers) = mpsc::channel(UNREAD);
        let arrived = Arc::new(AtomicU64::new(0));
        let request = server.request(UnboundedReceiverStream::new(receiver));
        let counted = arrived.clone();
        let requests = Requests(Arc::new(Mutex::new(Some(requests))));
        let open = requests.clone();
        let call = tokio::spawn(async move {
            let _open = EndedAfterwards(open);
            if let Err(status) = pass_on(&server, request, &sender, &counted).await {
                let _ = sender.send(Err(status)).await; // the reader may have left
            }
        });
        held.own(call.abort_handle());
        let (asked, flushed) = (0, 0);
        Exchange { requests, answers, next: None, call, asked, flushed, arrived }
    }

    fn send(&mut self, message: Bytes) {
        if let Some(requests) = &*self.requests.lock() {
            // If the call has ended, its next message says why.
            let _ = requests.send(message);
        }
        self.asked += 1;
    }

    /// The next message, if it is here.
    fn take(&mut self) -> Option<StreamMessage> {
        self.next.take().or_else(|| match self.answers.try_recv() {
            Ok(message) => Some(message),
            Err(mpsc::error::TryRecvError::Empty) => None,
            Err(mpsc::error::TryRecvError::Disconnected) => Some(Err(ended())),
        })
    }

    /// Waits until a message is here. May be dropped at any time.
    async fn wait(&mut self) {
        self.flushed = self.asked;
        if self.next.is_none() {
            self.next = Some(self.answers.recv().await.unwrap_or_else(|| Err(ended())));
        }
    }

    /// Whether so few of the requests that were sent are unanswered that the others should be sent now.
    fn is_flush_due(&mut self) -> bool {
        let is_due = self.flushed < self.arrived.load(Relaxed) + AHEAD;
        if is_due {
            self.flushed = self.asked;
        }
        is_due
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.call.abort();
    }
}

/// Makes the call and passes its answers on, as long as they are read.
async fn pass_on(
    server: &LinkedServer,
    request: tonic::Request<UnboundedReceiverStream<Bytes>>,
    sender: &mpsc::Sender<StreamMessage>,
    arrived: &AtomicU64,
) -> Result<(), Status> {
    let mut calls = Grpc::new(server.link.clone()).max_decoding_message_size(MAX_MESSAGE);
    calls.ready().await.map_err(Status::from_error)?;
    let path = PathAndQuery::from_static("/tetrion.v1.EnvironmentService/StepStream");
    let mut answers = calls.streaming(request, path, RawBytes).await?.into_inner();
    while let Some(answer) = answers.message().await? {
        arrived.fetch_add(1, Relaxed);
        if sender.send(Ok(answer)).await.is_err() {
            break;
        }
    }
    Ok(())
}

fn ended() -> Status {
    Status::unavailable("the server ended the stream")
}

impl Session {
    /// A stream for steps, several of which may be in progress at a time.
    pub fn stream(&mut self) -> StepStream<'_> {
        StepStream { session: self, stream: SessionStream::default() }
    }
}

/// Steps over one long call. If the connection breaks, it is made again, and no step is done twice.
#[derive(Debug)]
pub struct StepStream<'a> {
    session: &'a mut Session,
    stream: SessionStream,
}

impl StepStream<'_> {
    /// Sends a step of these environments, `None` for all, without waiting for its answer.
    ///
    /// # Errors
    /// If a wait for an answer was left early, and the server has not answered since for as long as the client is patient.
    pub async fn send(&mut self, actions: &[i32], env_ids: Option<&[u32]>) -> Result<(), ClientError> {
        let held = &mut self.session.held;
        self.stream.mend(held).await?;
        self.stream.send(held, super::step(actions, env_ids));
        Ok(())
    }

    /// The answer of the oldest step without one; `None` if all steps have theirs.
    ///
    /// # Errors
    /// If the server refuses, after which it also refuses the later steps because of their numbers; or if it has not
    /// answered for as long as the client is patient. The step then still waits for its answer.
    pub async fn next(&mut self) -> Result<Option<Stepped>, ClientError> {
        if self.stream.in_flight() == 0 {
            return Ok(None);
        }
        let answered = self.stream.receive(&mut self.session.held).await?;
        self.session.names.stepped(answered.decode()?).map(Some)
    }
}
