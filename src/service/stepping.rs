//! Step: reads and checks every action, then performs them and writes the answer, row by row.
//!
//! Until the first action is performed, the call stops when its caller has left. From then on it goes on to its end,
//! because a session never shows half a step, and a caller that comes back may ask for the answer.

use std::ops::Range;

use tetrion_core::env::{EnvBatch, InvalidActionPolicy, StepOutcome};
use tetrion_protocol::tensor::{self, DimSize};
use tetrion_protocol::{DecodeError, envs, pb};
use tetrion_toolkit::prompts;

use super::answers::Answers;
use super::calls::Slice;
use super::changing::Rooms;
use super::layout::{FinalRows, Tensors};
use super::refusal::Refusal;
use super::session_state::SessionState;

/// A call of Step and the rows that it has performed.
#[derive(Debug)]
pub(super) struct Stepping {
    request: pb::StepRequest,
    answers: Answers,
    stage: StepStage,
}

#[derive(Debug)]
enum StepStage {
    Begin,
    /// Actions given as text become numbers.
    Read(Rooms, Vec<i32>),
    /// The actions of the rows before this one can be performed.
    Check(Rooms, Vec<i32>, usize),
    Perform(Box<Performed>),
}

/// The rows whose actions have been performed.
#[derive(Debug)]
struct Performed {
    rooms: Rooms,
    actions: Vec<i32>,
    next: usize,
    tensors: Tensors,
    finals: FinalRows,
    rewards: Vec<f32>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
}

impl Stepping {
    /// A call before its first row.
    pub fn new(request: pb::StepRequest, answers: Answers) -> Stepping {
        Stepping { request, answers, stage: StepStage::Begin }
    }

    /// Does the next rows of the current stage, at most `count`.
    ///
    /// # Errors
    /// If the call is refused. Then nothing has changed.
    pub fn advance(
        &mut self,
        state: &mut SessionState,
        count: u32,
    ) -> Result<Slice<pb::StepResponse>, Refusal> {
        let rows = |next: usize, all: usize| next..next.saturating_add(count as usize).min(all);
        match std::mem::replace(&mut self.stage, StepStage::Begin) {
            StepStage::Begin => {
                if let Some(answer) =
                    state.numbers().kept_answer(self.request.sequence_number, &self.request)?
                {
                    self.answers
                        .room(state.max_answer_bytes(envs::decode(self.request.envs.as_ref())))?
                        .keep();
                    return Ok(Slice::Done(answer));
                }
                self.stage = self.begin(state)?;
                Ok(Slice::Next)
            }
            StepStage::Read(rooms, mut actions) => {
                let rows = rows(actions.len(), rooms.env_ids.len());
                let texts = &self.request.text_actions[rows.clone()];
                for (row, text) in rows.zip(texts) {
                    actions.push(read_text(state.batch(), row, rooms.env_ids[row], text)?);
                }
                self.stage = match actions.len() == rooms.env_ids.len() {
                    true => StepStage::Check(rooms, actions, 0),
                    false => StepStage::Read(rooms, actions),
                };
                Ok(Slice::Next)
            }
            StepStage::Check(rooms, actions, next) => {
                let rows = rows(next, actions.len());
                if state.batch().check_step(&actions[rows.clone()], rooms.named(&rows)).is_err() {
                    // The error lists the rows of the whole call.
                    state.batch().check_step(&actions, Some(&rooms.env_ids))?;
                }
                self.stage = match rows.end == actions.len() {
                    true => StepStage::Perform(Box::new(Performed::new(state, rooms, actions))),
                    false => StepStage::Check(rooms, actions, rows.end),
                };
                Ok(Slice::Next)
            }
            StepStage::Perform(mut performed) => {
                let rows = rows(performed.next, performed.actions.len());
                performed.perform(state, rows);
                if performed.next < performed.actions.len() {
                    self.stage = StepStage::Perform(performed);
                    return Ok(Slice::MustEnd);
                }
                Ok(Slice::Done(performed.finish(state, &self.request)))
            }
        }
    }

    /// Reserves the memory of the call, and reads its actions unless they are texts.
    fn begin(&self, state: &mut SessionState) -> Result<StepStage, Refusal> {
        let pb::StepRequest { sequence_number, text_actions, actions, .. } = &self.request;
        let env_ids = envs::decode(self.request.envs.as_ref());
        let rooms = state.rooms(env_ids, *sequence_number, &self.answers)?;
        let rows = rooms.env_ids.len();
        if text_actions.is_empty() {
            let dims = [DimSize::Exactly(rows as u32)];
            let actions = tensor::decode_field::<i32>(actions.as_ref(), "actions", &dims)?.elements;
            state.batch().check_env_ids(&rooms.env_ids)?;
            return Ok(StepStage::Check(rooms, actions, 0));
        }
        let wrong = |problem: String| Err(DecodeError::field("text_actions", problem).into());
        if actions.is_some() {
            return wrong("is given together with actions, expected one of the two".to_owned());
        }
        if text_actions.len() != rows {
            return wrong(format!("has {} texts, expected {rows}, one per environment", text_actions.len()));
        }
        state.batch().check(env_ids)?;
        Ok(StepStage::Read(rooms, Vec::with_capacity(rows)))
    }
}

impl Performed {
    fn new(state: &SessionState, rooms: Rooms, actions: Vec<i32>) -> Performed {
        let rows = actions.len();
        Performed {
            rooms,
            actions,
            next: 0,
            tensors: state.layout().begin(rows),
            finals: FinalRows::default(),
            rewards: Vec::with_capacity(rows),
            terminated: Vec::with_capacity(rows),
            truncated: Vec::with_capacity(rows),
        }
    }

    /// Performs the actions of these rows, which have been checked.
    fn perform(&mut self, state: &mut SessionState, rows: Range<usize>) {
        if rows.start == 0 {
            state.begin_step(self.actions.len());
        }
        let env_ids = self.rooms.named(&rows);
        let outcome = state.step_checked(&self.actions[rows.clone()], env_ids);
        let (layout, batch) = (state.layout(), state.batch());
        layout.append(&mut self.tensors, batch, env_ids);
        layout.append_finals(&mut self.finals, batch, &outcome.finals, rows.start as u32);
        let StepOutcome { rewards, terminated, truncated, .. } = outcome;
        self.rewards.extend(rewards);
        self.terminated.extend(terminated);
        self.truncated.extend(truncated);
        self.next = rows.end;
    }

    /// Counts the call, and makes its answer.
    fn finish(self, state: &mut SessionState, request: &pb::StepRequest) -> pb::StepResponse {
        let Performed { rooms, actions, tensors, finals, rewards, terminated, truncated, .. } = self;
        let (layout, rows) = (state.layout(), actions.len() as u32);
        let seen = layout.finish(tensors);
        let answer = pb::StepResponse {
            observations: seen.observations,
            rewards: Some(tensor::encode(vec![rows], &rewards)),
            terminated: Some(tensor::encode_bools(vec![rows], &terminated)),
            truncated: Some(tensor::encode_bools(vec![rows], &truncated)),
            action_mask: seen.action_mask,
            infos: seen.infos,
            final_batch: layout.finish_finals(finals),
            sequence_number: state.sequence_number() + 1,
            actions: (!request.text_actions.is_empty()).then(|| tensor::encode(vec![rows], &actions)),
        };
        state.complete(request.sequence_number, request, rooms.kept, &answer);
        rooms.answer.keep();
        answer
    }
}

/// Reads the action of a row that is written as text. A text that is no legal action is refused, or becomes an illegal
/// action if the session's policy accepts these.
fn read_text(batch: &EnvBatch, row: usize, env_id: u32, text: &str) -> Result<i32, Refusal> {
    if batch.has_ended(env_id) {
        return Ok(0);
    }
    let state = prompts::ObservedState::new(batch, env_id);
    let choices = state.choices();
    choices.read(state.rules(), text).or_else(|unknown| {
        let is_refused = batch.config().invalid_action_policy == InvalidActionPolicy::Reject;
        let illegal = if is_refused { None } else { choices.illegal_action(state.rules()) };
        illegal.ok_or(Refusal::TextAction { row: row as u32, unknown })
    })
}
