//! Render and SaveState: they read one environment after the other, so a long call shares its thread, and stops when its
//! caller has left.

use bytes::Bytes;

use tetrion_protocol::rendering::Drawing;
use tetrion_protocol::{colors, envs, pb};

use super::answers::{AnswerRoom, Answers};
use super::calls::Slice;
use super::drawing::{self, Painter};
use super::layout::ANSWER_OVERHEAD;
use super::refusal::Refusal;
use super::session_state::SessionState;

/// A call of Render and its drawings so far.
#[derive(Debug)]
pub(super) struct Rendering {
    request: pb::RenderRequest,
    drawing: Drawing,
    answers: Answers,
    drawn: Option<(Rows, Drawn)>,
}

#[derive(Debug)]
enum Drawn {
    Texts(Vec<String>),
    Pixels(Painter),
}

/// A call of SaveState and its snapshots so far.
#[derive(Debug)]
pub(super) struct Saving {
    request: pb::SaveStateRequest,
    answers: Answers,
    saved: Option<(Rows, Vec<Bytes>)>,
}

/// The rows of an answer so far, in reserved memory.
#[derive(Debug)]
struct Rows {
    room: AnswerRoom,
    next: u32,
    all: u32,
    num_bytes: u64,
    max_bytes: u32,
}

impl Rows {
    /// No rows yet, of the environments of a call.
    fn none(state: &SessionState, env_ids: Option<&[u32]>, room: AnswerRoom) -> Rows {
        let (all, max_bytes) = (state.num_rows(env_ids), state.max_response_bytes());
        Rows { room, next: 0, all, num_bytes: ANSWER_OVERHEAD, max_bytes }
    }

    /// The next rows, at most `count`.
    fn next(&mut self, count: u32) -> std::ops::Range<u32> {
        let first = self.next;
        self.next = first.saturating_add(count).min(self.all);
        first..self.next
    }

    /// Counts a row of this length, which a tag and a length precede.
    fn count(&mut self, row: u32, length: usize) -> Result<(), Refusal> {
        self.num_bytes += length as u64 + 5;
        if self.num_bytes > u64::from(self.max_bytes) {
            return Err(Refusal::ResponseTooLarge { max_rows: row.into(), max_bytes: self.max_bytes });
        }
        self.room.grow_to(self.num_bytes)
    }

    fn is_done(&self) -> bool {
        self.next == self.all
    }
}

impl Rendering {
    /// A call before its first row.
    pub fn new(request: pb::RenderRequest, drawing: Drawing, answers: Answers) -> Rendering {
        Rendering { request, drawing, answers, drawn: None }
    }

    /// Draws the next rows, at most `count`. Returns the answer after the last one.
    ///
    /// # Errors
    /// If an environment cannot be drawn, or the answer is too large.
    pub fn advance(
        &mut self,
        state: &SessionState,
        count: u32,
    ) -> Result<Slice<pb::RenderResponse>, Refusal> {
        let env_ids = envs::decode(self.request.envs.as_ref());
        let (rows, drawn) = match &mut self.drawn {
            Some(begun) => begun,
            none => none.insert(begin(state, env_ids, &self.drawing, &self.answers)?),
        };
        for row in rows.next(count) {
            let env_id = env_ids.map_or(row, |env_ids| env_ids[row as usize]);
            match (&mut *drawn, self.drawing) {
                (Drawn::Texts(frames), Drawing::Text(format)) => {
                    let text = drawing::text(format, state.batch(), env_id, state.watched());
                    rows.count(row, text.len())?;
                    frames.push(text);
                }
                (Drawn::Pixels(painter), _) => painter.paint(state.batch(), env_id, state.watched()),
                (Drawn::Texts(_), Drawing::Rgb { .. }) => unreachable!("pixels are painted"),
            }
        }
        if !rows.is_done() {
            return Ok(Slice::Next);
        }
        let sequence_number = state.sequence_number();
        Ok(self.drawn.take().map_or(Slice::Next, |(rows, drawn)| {
            rows.room.keep();
            let (frames, pixels) = match drawn {
                Drawn::Texts(frames) => (frames, None),
                Drawn::Pixels(painter) => (Vec::new(), Some(painter.finish())),
            };
            Slice::Done(pb::RenderResponse { frames, sequence_number, pixels })
        }))
    }
}

/// Reserves memory for the drawings of environments, as far as their size is known.
fn begin(
    state: &SessionState,
    env_ids: Option<&[u32]>,
    drawing: &Drawing,
    answers: &Answers,
) -> Result<(Rows, Drawn), Refusal> {
    state.batch().check(env_ids)?;
    let rules = &state.batch().config().rules;
    let num_rows = state.num_rows(env_ids);
    let room = answers.room(state.check_size(num_rows.into(), drawing::row_bytes(drawing, rules))?)?;
    let drawn = match *drawing {
        Drawing::Text(_) => Drawn::Texts(Vec::new()),
        Drawing::Rgb { cell, scheme } => Drawn::Pixels(Painter::new(cell, scheme, rules, num_rows)),
    };
    Ok((Rows::none(state, env_ids, room), drawn))
}

impl Saving {
    /// A call before its first row.
    pub fn new(request: pb::SaveStateRequest, answers: Answers) -> Saving {
        Saving { request, answers, saved: None }
    }

    /// Saves the next rows, at most `count`. Returns the answer after the last one.
    ///
    /// # Errors
    /// If an environment cannot be saved, or the answer is too large.
    pub fn advance(
        &mut self,
        state: &SessionState,
        count: u32,
    ) -> Result<Slice<pb::SaveStateResponse>, Refusal> {
        let env_ids = envs::decode(self.request.envs.as_ref());
        let (rows, states) = match &mut self.saved {
            Some(begun) => begun,
            none => {
                state.batch().check(env_ids)?;
                none.insert((Rows::none(state, env_ids, self.answers.room(0)?), Vec::new()))
            }
        };
        for row in rows.next(count) {
            let env_id = env_ids.map_or(row, |env_ids| env_ids[row as usize]);
            let mut snapshot = state.batch().state(env_id).to_bytes();
            if let Some(cells) = state.watched().kept(env_id) {
                let pieces = &state.batch().config().rules.pieces;
                snapshot = colors::join(&snapshot, &colors::encode(cells, pieces));
            }
            // Snapshots differ in length, mostly by their explicit sequences, so each is counted.
            rows.count(row, snapshot.len())?;
            states.push(snapshot.into());
        }
        if !rows.is_done() {
            return Ok(Slice::Next);
        }
        let sequence_number = state.sequence_number();
        Ok(self.saved.take().map_or(Slice::Next, |(rows, states)| {
            rows.room.keep();
            Slice::Done(pb::SaveStateResponse { states, sequence_number })
        }))
    }
}
