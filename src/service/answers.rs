//! Unread answers: memory that the server holds because a client has not read them yet.
//!
//! A client can keep its HTTP/2 window closed, and then the server holds every answer to it. So a call reserves memory
//! for its answer before it starts to work ([`Answers::room`]). The budgets of its connection and of the server refuse
//! the reservation if too little is left. The connection releases the memory once it has written the answer.
//!
//! The server never refuses a small answer: a learner with a few environments can step, however much other clients
//! leave unread.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use tonic::Extensions;

use super::budget::{Budget, Share};
use super::refusal::Refusal;

/// Largest answer that needs no reservation. Each call reserves this much from its start to its end: at most 128 MiB
/// for all calls that a server allows.
pub const SMALL_ANSWER_BYTES: u64 = 16 << 10;

/// Reservations for the answers of one call. The layer around the calls puts them into the extensions of the request.
#[derive(Clone, Debug, Default)]
pub struct Answers(Option<Arc<OnTheirWay>>);

#[derive(Debug)]
struct OnTheirWay {
    budget: Arc<Budget>,
    /// Reservation for small answers.
    _small: Share,
    /// Reservation for finished answers that the connection has not written yet.
    made: Mutex<Share>,
    /// Reservation of the evaluation that the answers come from.
    evaluation: OnceLock<Arc<Share>>,
    /// Time since which the client has left a message unread, if it has.
    unread_since: Mutex<Option<Instant>>,
}

/// Reserved memory for an answer in preparation.
#[derive(Debug)]
pub struct AnswerRoom {
    answers: Answers,
    share: Option<Share>,
}

impl Answers {
    /// The answers of a new call, which reserves [`SMALL_ANSWER_BYTES`] plus `bytes` for small answers.
    ///
    /// # Errors
    /// [`Refusal::AnswerLimit`] if the budget has less left than `bytes`.
    pub fn new(budget: &Arc<Budget>, bytes: u64) -> Result<Answers, Refusal> {
        let mut small = budget.take(bytes).map_err(|spent| Refusal::spent(spent, no_room(bytes)))?;
        small.set(bytes + SMALL_ANSWER_BYTES);
        let made = Mutex::new(budget.share());
        let call = OnTheirWay {
            budget: budget.clone(),
            _small: small,
            made,
            evaluation: OnceLock::new(),
            unread_since: Mutex::default(),
        };
        Ok(Answers(Some(Arc::new(call))))
    }

    /// The answers of the call with these extensions; unlimited if no layer around the calls has set them.
    pub fn of(extensions: &Extensions) -> Answers {
        extensions.get().cloned().unwrap_or_default()
    }

    /// Reserves memory for an answer of at most `bytes`.
    ///
    /// # Errors
    /// [`Refusal::AnswerLimit`] if less memory is left.
    pub fn room(&self, bytes: u64) -> Result<AnswerRoom, Refusal> {
        if bytes > SMALL_ANSWER_BYTES {
            return self.exact_room(bytes);
        }
        Ok(AnswerRoom { answers: self.clone(), share: None })
    }

    /// Reserves `bytes`, however few they are.
    ///
    /// # Errors
    /// [`Refusal::AnswerLimit`] if less memory is left.
    pub(super) fn exact_room(&self, bytes: u64) -> Result<AnswerRoom, Refusal> {
        let take = |call: &Arc<OnTheirWay>| call.budget.take(bytes);
        let share =
            self.0.as_ref().map(take).transpose().map_err(|spent| Refusal::spent(spent, no_room(bytes)))?;
        Ok(AnswerRoom { answers: self.clone(), share })
    }

    /// Reserves memory for an answer of at most `bytes`, then makes it.
    ///
    /// # Errors
    /// [`Refusal::AnswerLimit`] before any work is done, or else the errors of the work.
    pub fn make<T>(&self, bytes: u64, work: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
        let room = self.room(bytes)?;
        let answer = work()?;
        room.keep();
        Ok(answer)
    }

    /// Keeps the reservation of an evaluation until the connection has written its last answer.
    pub fn keep_evaluation(&self, room: &Arc<Share>) {
        if let Some(call) = &self.0 {
            let _ = call.evaluation.set(room.clone());
        }
    }

    /// The reservation of the evaluation that makes the answers, if any.
    pub fn evaluation(&self) -> Option<Arc<Share>> {
        self.0.as_ref()?.evaluation.get().cloned()
    }

    /// Notes that the connection has taken a message and asks for no more until the client has read it.
    pub fn waits_for_reader(&self) {
        if let Some(call) = &self.0 {
            *call.unread_since() = Some(Instant::now());
        }
    }

    /// Notes that the connection asks for more. Returns whether it waited for the client until now.
    pub fn is_read(&self) -> bool {
        self.0.as_ref().is_some_and(|call| call.unread_since().take().is_some())
    }

    /// Time since which the client has left a message unread, if it has.
    pub fn unread_since(&self) -> Option<Instant> {
        *self.0.as_ref()?.unread_since()
    }

    /// Hands the reservation of the finished answers to the connection and sets it to `bytes`, their size; `None` if
    /// all answers are small.
    pub fn leave(&self, bytes: u64) -> Option<Share> {
        let mut share = self.0.as_ref()?.made().take_out();
        (share.amount() > 0).then(|| {
            share.set(bytes);
            share
        })
    }
}

impl OnTheirWay {
    fn made(&self) -> MutexGuard<'_, Share> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unread_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.unread_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AnswerRoom {
    /// Grows the reservation to `bytes`, for an answer whose final size was unknown.
    ///
    /// # Errors
    /// [`Refusal::AnswerLimit`] if less memory is left.
    pub fn grow_to(&mut self, bytes: u64) -> Result<(), Refusal> {
        match &mut self.share {
            Some(share) => share.grow_to(bytes).map_err(|spent| Refusal::spent(spent, no_room(bytes))),
            None => {
                self.share = self.answers.room(bytes)?.share;
                Ok(())
            }
        }
    }

    /// Keeps the reservation until the connection has written the answer. Without this call, dropping the room releases
    /// it.
    pub fn keep(self) {
        if let (Some(call), Some(share)) = (&self.answers.0, self.share) {
            call.made().add(share);
        }
    }
}

fn no_room(bytes: u64) -> impl FnOnce(u64, u64) -> Refusal {
    move |limit, taken| Refusal::AnswerLimit { bytes, limit, taken }
}
