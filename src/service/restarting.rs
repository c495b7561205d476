//! Reset and RestoreState: read and check the whole request, then restart the environments and write the answer, row by
//! row.
//!
//! The first slice reads all that is asked for, and restarts the first rows. So the call has either not begun when its
//! caller leaves, or it goes on to its end.

use std::ops::Range;

use prost::{Message, Name};

use tetrion_protocol::{envs, pb};

use super::answers::Answers;
use super::calls::Slice;
use super::changing::{Beginning, Rooms};
use super::layout::{AnswerTensors, Tensors};
use super::refusal::Refusal;
use super::session_state::SessionState;

/// A request to restart environments.
pub(super) trait Restart: Message {
    type Answer: Message + Name + Clone + Default + 'static;

    /// The environments; `None` means all.
    fn env_ids(&self) -> Option<&[u32]>;

    fn sequence_number(&self) -> u64;

    /// Reads and checks the request.
    fn read(&self, state: &mut SessionState, answers: &Answers) -> Result<Beginning, Refusal>;

    /// The answer after the last row.
    fn answer(seen: AnswerTensors, sequence_number: u64) -> Self::Answer;
}

/// A Reset or a RestoreState in progress.
#[derive(Debug)]
pub(super) struct Restarting<Q> {
    request: Q,
    answers: Answers,
    begun: Option<Box<Begun>>,
}

/// The rows that have been restarted.
#[derive(Debug)]
struct Begun {
    rooms: Rooms,
    beginning: Beginning,
    tensors: Tensors,
    next: usize,
}

impl<Q: Restart> Restarting<Q> {
    /// A call before its first row.
    pub fn new(request: Q, answers: Answers) -> Restarting<Q> {
        Restarting { request, answers, begun: None }
    }

    /// Restarts the next rows, at most `count`, after reading the request if these are the first.
    ///
    /// # Errors
    /// If the call is refused. Then nothing has changed.
    pub fn advance(&mut self, state: &mut SessionState, count: u32) -> Result<Slice<Q::Answer>, Refusal> {
        let mut begun = match self.begun.take() {
            Some(begun) => begun,
            None => {
                let number = self.request.sequence_number();
                if let Some(answer) = state.numbers().kept_answer(number, &self.request)? {
                    self.answers.room(state.max_answer_bytes(self.request.env_ids()))?.keep();
                    return Ok(Slice::Done(answer));
                }
                Box::new(self.begin(state)?)
            }
        };
        let (first, all) = (begun.next, begun.rooms.env_ids.len());
        begun.restart(state, first..first.saturating_add(count as usize).min(all));
        if begun.next < all {
            self.begun = Some(begun);
            return Ok(Slice::MustEnd);
        }
        Ok(Slice::Done(begun.finish(state, &self.request)))
    }

    /// Reads the request. In the same slice, so that a caller that leaves afterwards leaves nothing behind.
    fn begin(&self, state: &mut SessionState) -> Result<Begun, Refusal> {
        let (env_ids, number) = (self.request.env_ids(), self.request.sequence_number());
        let rooms = state.rooms(env_ids, number, &self.answers)?;
        let read = self.request.read(state, &self.answers);
        state.settle();
        let (beginning, tensors) = (read?, state.layout().begin(rooms.env_ids.len()));
        Ok(Begun { rooms, beginning, tensors, next: 0 })
    }
}

impl Begun {
    fn restart(&mut self, state: &mut SessionState, rows: Range<usize>) {
        state.restart(&self.rooms, rows.clone(), &self.beginning);
        state.layout().append(&mut self.tensors, state.batch(), self.rooms.named(&rows));
        self.next = rows.end;
    }

    /// Counts the call, and makes its answer.
    fn finish<Q: Restart>(self, state: &mut SessionState, request: &Q) -> Q::Answer {
        let Begun { rooms, beginning, tensors, .. } = self;
        drop(beginning);
        state.settle();
        let answer = Q::answer(state.layout().finish(tensors), state.sequence_number() + 1);
        state.complete(request.sequence_number(), request, rooms.kept, &answer);
        rooms.answer.keep();
        answer
    }
}

impl Restart for pb::ResetRequest {
    type Answer = pb::ResetResponse;

    fn env_ids(&self) -> Option<&[u32]> {
        envs::decode(self.envs.as_ref())
    }

    fn sequence_number(&self) -> u64 {
        self.sequence_number
    }

    fn read(&self, state: &mut SessionState, answers: &Answers) -> Result<Beginning, Refusal> {
        state.read_reset(self, answers)
    }

    fn answer(seen: AnswerTensors, sequence_number: u64) -> pb::ResetResponse {
        let AnswerTensors { observations, action_mask, infos } = seen;
        pb::ResetResponse { observations, action_mask, infos, sequence_number }
    }
}

impl Restart for pb::RestoreStateRequest {
    type Answer = pb::RestoreStateResponse;

    fn env_ids(&self) -> Option<&[u32]> {
        envs::decode(self.envs.as_ref())
    }

    fn sequence_number(&self) -> u64 {
        self.sequence_number
    }

    fn read(&self, state: &mut SessionState, answers: &Answers) -> Result<Beginning, Refusal> {
        Ok(Beginning::States(state.read_states(self, answers)?, self.reseed))
    }

    fn answer(seen: AnswerTensors, sequence_number: u64) -> pb::RestoreStateResponse {
        let AnswerTensors { observations, action_mask, infos } = seen;
        pb::RestoreStateResponse { observations, action_mask, infos, sequence_number }
    }
}
