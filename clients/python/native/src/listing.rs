//! Sessions in which an action is the number of a row: a row per placement of the current piece.
//!
//! A `Listing` has the methods of a stream. After each call it lists the placements, pads them to as many rows for every
//! environment, and remembers which action each row stands for. In this process both take the short way; on a server both
//! are on their way together.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, TryLockError};

use bytes::Bytes;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::client::code_name;
use tetrion::client::session::{Answered, Asked, ENUMERATE_PLACEMENTS, STEP};
use tetrion::protocol::pb::enumerate_placements_request::Source;
use tetrion::protocol::tensor::{self, element_size};
use tetrion::protocol::{DecodeError, Fault, envs, pb, placements};
use tetrion::service::direct::FinalRows;
use tonic::Code;

use super::CallError;
use super::block::{Block, read_ids};
use super::call::decoded;
use super::columns::{BlockColumn, BlockColumns, BlockParts, FinalParts, ShownAnswer, put};
use super::failure::{AnswerError, Failure, raised, unfit};
use super::session::{PySession, asked, others, parts};
use super::session_stream::PySessionStream;

/// A session's calls for rows. It allows one user at a time.
#[pyclass(frozen, name = "Listing", module = "tetrion._native")]
pub(crate) struct PyListing {
    session: Py<PySession>,
    stream: PySessionStream,
    /// The tensors of its answers.
    columns: BlockColumns,
    /// The source of each observation.
    shown: Vec<ShownField>,
    /// The request for placements, without positions.
    request: pb::EnumeratePlacementsRequest,
    rules: pb::Rules,
    rows: usize,
    /// Whether actions without a placement are refused.
    refuses: bool,
    state: Mutex<ListingState>,
}

/// What an observation shows.
#[derive(Clone, Copy)]
enum ShownField {
    /// An observation of the session, by its index.
    Session(usize),
    Rows(OfRows),
}

/// A property of each placement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OfRows {
    Features,
    Rewards,
    Terminated,
    Afterstates,
}

impl OfRows {
    fn named(name: &str) -> Option<OfRows> {
        Some(match name {
            "features" => OfRows::Features,
            "rewards" => OfRows::Rewards,
            "terminated" => OfRows::Terminated,
            "afterstates" => OfRows::Afterstates,
            _ => return None,
        })
    }
}

#[derive(Default)]
struct ListingState {
    /// The session's action for each row of each environment. A row without a placement has an action that does not exist
    /// for the piece.
    actions: Vec<i32>,
    /// Rows that the session accepts: in a game that has ended, all of them, because none is played.
    accepted: Vec<bool>,
    /// Whether both describe the current states. A call that fails or is interrupted may leave them behind.
    is_current: bool,
    /// Memory for the answers of the short way.
    bytes: Vec<u8>,
    /// Steps that were sent ahead.
    sent: VecDeque<SentRows>,
}

/// A step that was sent ahead.
struct SentRows {
    env_ids: Option<Vec<u32>>,
    /// The answer of which only the placements are missing.
    stepped: Option<Answered>,
}

/// The answer to a call before the rows are added.
struct SeenAnswer<'a> {
    parts: BlockParts<'a>,
    finals: Option<FinalParts<'a>>,
    is_step: bool,
}

/// The placements of some positions.
struct ListedRows {
    /// The first placement of each position, and the number of all.
    offsets: Vec<usize>,
    actions: Vec<i32>,
    /// The data of the properties that are shown, and the bytes of a placement, in the order of `PyListing::shown`.
    data: Vec<(Bytes, usize)>,
}

/// Where the rows of an environment come from: a list, and the position in it; `None` if it has none.
type RowOrigin<'a> = Option<(&'a ListedRows, usize)>;

impl ListedRows {
    /// The placements of a position, at most so many.
    fn of(&self, position: usize, most: usize) -> std::ops::Range<usize> {
        let (start, end) = (self.offsets[position], self.offsets[position + 1]);
        start..end.min(start + most)
    }
}

impl PyListing {
    pub(crate) fn session(&self) -> &PySession {
        self.session.get()
    }

    /// Steps the only environment of a session, like `step`.
    pub(crate) fn step_one(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        row: i32,
    ) -> PyResult<Option<usize>> {
        self.take(py, block.get(), self.session.get().is_open().then_some(&[row]))
    }

    /// The state, unless another thread has it.
    fn state(&self) -> PyResult<MutexGuard<'_, ListingState>> {
        match self.state.try_lock() {
            Ok(state) => Ok(state),
            Err(TryLockError::Poisoned(state)) => Ok(state.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyValueError::new_err("another thread steps this session")),
        }
    }

    /// The request for the placements of these environments.
    fn request(&self, env_ids: Option<&[u32]>) -> pb::EnumeratePlacementsRequest {
        let envs = env_ids.map(|ids| pb::EnvIds { ids: ids.to_vec() });
        let named = pb::SessionEnvs { envs, ..Default::default() };
        // The session has the features, and its own limit.
        pb::EnumeratePlacementsRequest {
            source: Some(Source::SessionEnvs(named)),
            features: None,
            max_response_bytes: 0,
            ..self.request.clone()
        }
    }

    fn asks(&self, env_ids: Option<&[u32]>) -> Asked {
        Asked::new(&ENUMERATE_PLACEMENTS, &self.request(env_ids))
    }

    /// Lists placements of environments, while nothing is in flight.
    fn list(&self, py: Python<'_>, env_ids: Option<&[u32]>) -> PyResult<ListedRows> {
        let answer = self.stream.list(py, &self.request(env_ids))?;
        self.read(answer, env_ids.map_or(self.columns.num_envs, <[u32]>::len))
    }

    /// Reads the placements of so many positions.
    fn read(&self, mut answer: pb::EnumeratePlacementsResponse, positions: usize) -> PyResult<ListedRows> {
        placements::check(&mut answer, positions as u32).map_err(unfit)?;
        let numbers = |tensor: &Option<pb::Tensor>| {
            let data = tensor.as_ref().map_or(&[][..], |tensor| &*tensor.data);
            data.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect::<Vec<_>>()
        };
        let (actions, offsets) = (numbers(&answer.actions), numbers(&answer.row_offsets));
        let data = self.shown.iter().zip(&self.columns.observations).map(|(shown, padded)| {
            let ShownField::Rows(of_rows) = shown else { return Ok((Bytes::new(), 0)) };
            let (tensor, shape) = match of_rows {
                OfRows::Features => (&answer.features, &padded.shape[1..]),
                OfRows::Rewards => (&answer.rewards, &[][..]),
                OfRows::Terminated => (&answer.terminated, &[][..]),
                OfRows::Afterstates => (&answer.afterstates, &padded.shape[1..2]),
            };
            let tensor = tensor.as_ref().ok_or_else(|| unfit(DecodeError::missing(&padded.name)))?;
            let size = match of_rows {
                OfRows::Afterstates => self.cell_row_bytes(),
                _ => element_size(padded.dtype),
            };
            let row_bytes = shape.iter().product::<u32>() as usize * size;
            if tensor.shape[1..] != *shape || tensor.data.len() != actions.len() * row_bytes {
                let (found, count) = (&tensor.shape, actions.len());
                let problem =
                    format!("has shape {found:?}, expected {count} rows of {shape:?} and {size} bytes each");
                return Err(unfit(DecodeError::invalid(Fault::Tensor, &padded.name, problem)));
            }
            Ok((tensor.data.clone(), row_bytes))
        });
        Ok(ListedRows {
            data: data.collect::<PyResult<_>>()?,
            actions,
            offsets: offsets.into_iter().map(|offset| offset as usize).collect(),
        })
    }

    /// The session's actions for these rows.
    fn chosen(
        &self,
        py: Python<'_>,
        state: &mut ListingState,
        rows: &[i32],
        env_ids: Option<&[u32]>,
    ) -> PyResult<Vec<i32>> {
        if !state.is_current {
            if !state.sent.is_empty() || self.stream.in_flight(py)? > 0 {
                return Err(PyRuntimeError::new_err("receive the answers to what was sent ahead first"));
            }
            let listed = self.list(py, None)?;
            self.adopt(state, &listed, None);
            state.is_current = true;
        }
        let num_envs = self.columns.num_envs;
        if let Some(wrong) = env_ids.and_then(|ids| ids.iter().find(|id| **id as usize >= num_envs)) {
            return Err(PyValueError::new_err(format!("there is no environment {wrong}")));
        }
        let outside = |row: &i32| usize::try_from(*row).map_or(true, |row| row >= self.rows);
        let expected = format!("expected a number from 0 to {}", self.rows - 1);
        refuse_if(rows, |_, row| outside(row), "ACTION_OUT_OF_RANGE", &expected)?;
        let place =
            |at: usize, row: i32| env_ids.map_or(at, |ids| ids[at] as usize) * self.rows + row as usize;
        if self.refuses {
            let refused = |at: usize, row: &i32| !state.accepted[place(at, *row)];
            refuse_if(rows, refused, "ILLEGAL_ACTION", "which is not in the action mask")?;
        }
        Ok(rows.iter().enumerate().map(|(at, &row)| state.actions[place(at, row)]).collect())
    }

    /// Remembers the actions of these environments.
    fn adopt(&self, state: &mut ListingState, listed: &ListedRows, env_ids: Option<&[u32]>) {
        let rows = self.rows;
        for position in 0..listed.offsets.len() - 1 {
            let start = env_ids.map_or(position, |ids| ids[position] as usize) * rows;
            let present = &listed.actions[listed.of(position, rows)];
            // Actions ascend, so the first row that differs from its number is the smallest action that is not listed.
            let free = (0..)
                .zip(present)
                .find(|(row, action)| row != *action)
                .map_or(present.len() as i32, |(row, _)| row);
            let actions = &mut state.actions[start..start + rows];
            actions[..present.len()].copy_from_slice(present);
            actions[present.len()..].fill(free);
            let accepted = &mut state.accepted[start..start + rows];
            accepted.fill(present.is_empty());
            accepted[..present.len()].fill(true);
        }
    }

    /// Fills a block with an answer and the placements after it.
    fn fill(
        &self,
        py: Python<'_>,
        block: &Block,
        state: &mut ListingState,
        seen: &SeenAnswer<'_>,
        (listed, env_ids): (&ListedRows, Option<&[u32]>),
    ) -> PyResult<()> {
        let num_envs = self.columns.num_envs;
        if env_ids.is_some_and(|ids| ids.iter().any(|&id| id as usize >= num_envs)) {
            return Err(AnswerError::new_err("the answer is about environments that the session lacks"));
        }
        self.adopt(state, listed, env_ids);
        let count = block.rows;
        let mut origins: Vec<RowOrigin<'_>> = (0..count).map(|position| Some((listed, position))).collect();
        let (terminated, truncated) = (&seen.parts[1], &seen.parts[2]);
        let is_cut = |row: usize| seen.is_step && truncated[row] != 0 && terminated[row] == 0;
        // Last states are in the answer, unless the next episodes are.
        let mut last: Vec<RowOrigin<'_>> = Vec::new();
        let (listed_cut, cut) = match &seen.finals {
            Some(FinalParts { ended, parts }) => {
                last.resize(ended.len(), None);
                let rows: Vec<usize> = (0..ended.len()).filter(|&at| is_cut(ended[at] as usize)).collect();
                self.list_cut(py, &rows, |at| parts[at])?
            }
            None => {
                let rows: Vec<usize> = (0..count).filter(|&row| is_cut(row)).collect();
                self.list_cut(py, &rows, |at| &seen.parts[3 + at])?
            }
        };
        let shown = if seen.finals.is_some() { &mut last } else { &mut origins };
        for (position, row) in cut.into_iter().enumerate() {
            shown[row] = Some((&listed_cut, position));
        }
        block.fill_with(|bytes| self.write(&seen.parts, &origins, bytes))?;
        match &seen.finals {
            Some(finals) => self.write_finals(py, block, finals, &last),
            None => {
                block.forget_finals();
                Ok(())
            }
        }
    }

    /// Lists the placements that would have followed in episodes that a limit has cut, from their last observations.
    ///
    /// A session lists none. Learners need them to estimate what would have followed.
    ///
    /// # Arguments
    /// Indices of the episodes, and their observations by the indices of the session's.
    fn list_cut<'a>(
        &self,
        py: Python<'_>,
        episodes: &[usize],
        observed: impl Fn(usize) -> &'a [u8],
    ) -> PyResult<(ListedRows, Vec<usize>)> {
        let columns = &self.session.get().columns()?.observations;
        let named = |name: &str| columns.iter().position(|column| column.name == name);
        let none = || ListedRows {
            offsets: vec![0],
            actions: Vec::new(),
            data: vec![(Bytes::new(), 0); self.shown.len()],
        };
        let (Some(boards), Some(pieces)) = (named("board"), named("current")) else {
            return Ok((none(), Vec::new()));
        };
        // After the last piece of a sequence nothing can follow.
        let going: Vec<usize> =
            episodes.iter().copied().filter(|&row| (observed(pieces)[row] as i8) >= 0).collect();
        if going.is_empty() {
            return Ok((none(), going));
        }
        let rows = |at: usize| {
            let size = columns[at].row_bytes;
            let data: Vec<u8> =
                going.iter().flat_map(|&row| observed(at)[row * size..][..size].to_vec()).collect();
            data
        };
        let tensor = |dtype, at: usize, data: Vec<u8>| {
            let shape =
                std::iter::once(going.len() as u32).chain(columns[at].shape.iter().copied()).collect();
            tensor::from_bytes(dtype, shape, data)
        };
        let (width, height) = (self.rules.width as usize, self.rules.height);
        let size = self.cell_row_bytes();
        let cells = rows(boards);
        let bits = cells.chunks(width).flat_map(|row| {
            let bits =
                (0..).zip(row).fold(0_u32, |bits, (column, cell)| bits | u32::from(*cell != 0) << column);
            bits.to_le_bytes().into_iter().take(size)
        });
        let dtype = if size == 4 { pb::DataType::Uint32 } else { pb::DataType::Uint16 };
        let optional = |name: &str| named(name).map(|at| tensor(pb::DataType::Int8, at, rows(at)));
        let packed = pb::PackedPositions {
            boards: Some(tensor::from_bytes(dtype, vec![going.len() as u32, height], bits.collect())),
            pieces: Some(tensor(pb::DataType::Uint8, pieces, rows(pieces))),
            queues: optional("queue"),
            held: optional("held"),
        };
        let positions = pb::Positions {
            rules: Some(self.rules.clone()),
            kind: Some(pb::positions::Kind::Packed(packed)),
        };
        let request = pb::EnumeratePlacementsRequest {
            source: Some(Source::Positions(positions)),
            ..self.request.clone()
        };
        let session = self.session.get();
        let answer =
            session.wait(py, async { session.held().await.get().enumerate_positions(request).await })?;
        Ok((self.read(answer, going.len())?, going))
    }

    /// Writes the tensors of an answer, and the rows of each environment.
    fn write(&self, parts: &BlockParts<'_>, origins: &[RowOrigin<'_>], bytes: &mut Vec<u8>) {
        let layout = self.columns.layout(origins.len());
        let num_observed = self.session.get().columns().map_or(0, |columns| columns.observations.len());
        let (outcome, rest) = parts.split_at(3);
        let infos = &rest[num_observed..];
        bytes.clear();
        let mut starts = layout.starts.iter();
        for part in outcome {
            put(part, *starts.next().expect("a place"), bytes);
        }
        for at in 0..self.shown.len() {
            bytes.resize(*starts.next().expect("a place"), 0);
            self.write_observation(at, origins, |index| &rest[index], bytes);
        }
        for (info, _) in infos.iter().zip(&self.columns.infos) {
            put(info, *starts.next().expect("a place"), bytes);
        }
        if let Some(&start) = starts.next() {
            bytes.resize(start, 0);
            self.write_masks(origins, bytes);
        }
    }

    /// Appends an observation: of the session or, padded, of the placements.
    fn write_observation<'a>(
        &self,
        at: usize,
        origins: &[RowOrigin<'_>],
        observed: impl Fn(usize) -> &'a [u8],
        bytes: &mut Vec<u8>,
    ) {
        let column = &self.columns.observations[at];
        let of_rows = match self.shown[at] {
            ShownField::Session(index) => return bytes.extend_from_slice(observed(index)),
            ShownField::Rows(of_rows) => of_rows,
        };
        for origin in origins {
            let end = bytes.len() + column.row_bytes;
            if let Some((listed, position)) = origin {
                let (data, size) = &listed.data[at];
                let placements = listed.of(*position, self.rows);
                let data = &data[placements.start * size..placements.end * size];
                match of_rows {
                    OfRows::Afterstates => self.write_cells(data, bytes),
                    _ => bytes.extend_from_slice(data),
                }
            }
            bytes.resize(end, 0);
        }
    }

    /// Bytes of a row of cells, a bit each.
    fn cell_row_bytes(&self) -> usize {
        if self.rules.width > 16 { 4 } else { 2 }
    }

    /// Appends the cells of playfields whose rows are bits.
    fn write_cells(&self, data: &[u8], bytes: &mut Vec<u8>) {
        for row in data.chunks_exact(self.cell_row_bytes()) {
            let bits = row.iter().rev().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
            bytes.extend((0..self.rules.width).map(|column| (bits >> column & 1) as u8));
        }
    }

    /// Appends the masks of the rows. Without placements, row 0 is allowed, so that a distribution over allowed rows exists.
    fn write_masks(&self, origins: &[RowOrigin<'_>], bytes: &mut Vec<u8>) {
        for origin in origins {
            let end = bytes.len() + self.rows;
            let present = origin.map_or(0, |(listed, position)| listed.of(position, self.rows).len());
            bytes.resize(bytes.len() + present.max(1), 1);
            bytes.resize(end, 0);
        }
    }

    /// Adds the last states of episodes to an answer.
    fn write_finals(
        &self,
        py: Python<'_>,
        block: &Block,
        finals: &FinalParts<'_>,
        origins: &[RowOrigin<'_>],
    ) -> PyResult<()> {
        let mut shown = Vec::new();
        for at in 0..self.shown.len() {
            let mut bytes = Vec::new();
            self.write_observation(at, origins, |index| finals.parts[index], &mut bytes);
            shown.push(bytes);
        }
        let mut masks = Vec::new();
        self.write_masks(origins, &mut masks);
        let infos = &finals.parts[finals.parts.len() - self.columns.infos.len()..];
        let parts = shown.iter().map(Vec::as_slice).chain(infos.iter().copied()).chain([&*masks]).collect();
        self.columns.write_finals(py, block, &FinalParts { ended: finals.ended, parts })
    }

    /// Makes a call and lists the placements after it.
    fn observe_asked(
        &self,
        py: Python<'_>,
        block: &Block,
        state: &mut ListingState,
        asked: Asked,
        env_ids: Option<&[u32]>,
    ) -> PyResult<()> {
        let others_are_current = std::mem::take(&mut state.is_current);
        let stream = &self.stream;
        let push = || stream.push(py, asked).and_then(|()| stream.push(py, self.asks(env_ids)));
        let pulled = push().and_then(|()| Ok((stream.pull(py)?, stream.pull(py)?)));
        if pulled.is_err() {
            stream.abandon();
        }
        let (answered, listed) = pulled?;
        self.complete(py, block, state, &answered, (&listed, env_ids))?;
        state.is_current = others_are_current || env_ids.is_none();
        Ok(())
    }

    /// Fills a block with an answer and the placements after it.
    fn complete(
        &self,
        py: Python<'_>,
        block: &Block,
        state: &mut ListingState,
        answered: &Answered,
        (listed, env_ids): (&Answered, Option<&[u32]>),
    ) -> PyResult<()> {
        let (columns, is_step) = (self.session.get().columns()?, *answered.kind == STEP);
        let listed = self.read(listed.decode().map_err(raised)?, block.rows)?;
        if is_step {
            let answer: pb::StepResponse = answered.decode().map_err(raised)?;
            let parts = columns.parts(&ShownAnswer::of_step(&answer), block.rows).map_err(unfit)?;
            let finals = answer.final_batch.as_ref().map(|finals| columns.finals(finals, block.rows));
            let finals = finals.transpose().map_err(unfit)?;
            let seen = SeenAnswer { parts, finals, is_step };
            return self.fill(py, block, state, &seen, (&listed, env_ids));
        }
        let answer: pb::ResetResponse = decoded(&answered.message)?;
        let parts = columns.parts(&ShownAnswer::of_reset(&answer), block.rows).map_err(unfit)?;
        self.fill(py, block, state, &SeenAnswer { parts, finals: None, is_step }, (&listed, env_ids))
    }

    /// Makes a call the short way, which writes an answer, and lists the placements after it. Returns whether it did.
    fn observe_directly(
        &self,
        py: Python<'_>,
        block: &Block,
        state: &mut ListingState,
        is_step: bool,
        env_ids: Option<&[u32]>,
        call: impl FnOnce(&PySession, &mut Vec<u8>) -> Option<Option<FinalRows>>,
    ) -> PyResult<bool> {
        if !self.stream.is_idle() {
            return Ok(false);
        }
        let session = self.session.get();
        let mut bytes = std::mem::take(&mut state.bytes);
        let was_current = std::mem::take(&mut state.is_current);
        let filled = match call(session, &mut bytes) {
            None => {
                state.is_current = was_current;
                Ok(false)
            }
            Some(finals) => self.list(py, env_ids).and_then(|listed| {
                let parts = session.columns()?.parts_of(&bytes, block.rows);
                let finals = finals.as_ref().map(FinalParts::of);
                self.fill(py, block, state, &SeenAnswer { parts, finals, is_step }, (&listed, env_ids))?;
                state.is_current = was_current || env_ids.is_none();
                Ok(true)
            }),
        };
        state.bytes = bytes;
        filled
    }

    /// Steps all environments. Does nothing without rows.
    fn take(&self, py: Python<'_>, block: &Block, rows: Option<&[i32]>) -> PyResult<Option<usize>> {
        let Some(rows) = rows else { return Ok(None) };
        let block = self.own(block, rows.len())?;
        let mut state = self.state()?;
        if !state.sent.is_empty() || self.stream.is_closed() {
            return Ok(None);
        }
        let actions = self.chosen(py, &mut state, rows, None)?;
        let step = |session: &PySession, bytes: &mut Vec<u8>| session.step_into(py, &actions, bytes);
        if !self.observe_directly(py, block, &mut state, true, None, step)? {
            self.observe_asked(py, block, &mut state, super::session::step(&actions), None)?;
        }
        Ok(Some(block.num_ended()))
    }

    /// A block of this listing with so many rows.
    fn own<'a>(&self, block: &'a Block, rows: usize) -> PyResult<&'a Block> {
        if (block.rows, block.len) == (rows, self.columns.layout(rows).num_bytes) {
            Ok(block)
        } else {
            Err(PyValueError::new_err("the block is another session's"))
        }
    }

    /// The environments of a request, which is a step with rows for actions, a reset or a restore; and what is asked of the
    /// session.
    fn translated(
        &self,
        py: Python<'_>,
        state: &mut ListingState,
        kind: &str,
        request: &[u8],
    ) -> PyResult<(Option<Vec<u32>>, Asked)> {
        let asked = asked(kind, request)?;
        let ids = |envs: Option<&pb::EnvIds>| envs::decode(envs).map(<[u32]>::to_vec);
        match kind {
            "step" => {
                let request: pb::StepRequest = decoded(request)?;
                let env_ids = ids(request.envs.as_ref());
                let rows =
                    tensor::decode_field::<i32>(request.actions.as_ref(), "actions", &[tensor::DimSize::Any]);
                let rows = rows.map_err(|error| PyValueError::new_err(error.to_string()))?.elements;
                let actions = self.chosen(py, state, &rows, env_ids.as_deref())?;
                let actions = Some(tensor::encode(vec![actions.len() as u32], &actions));
                Ok((env_ids, Asked::new(&STEP, &pb::StepRequest { actions, ..request })))
            }
            "reset" => Ok((ids(decoded::<pb::ResetRequest>(request)?.envs.as_ref()), asked)),
            _ => Ok((ids(decoded::<pb::RestoreStateRequest>(request)?.envs.as_ref()), asked)),
        }
    }
}

/// Checks the observations of a session from which positions are made.
fn check_positions(observed: &[BlockColumn], rules: &pb::Rules) -> Result<(), String> {
    let wanted: [(&str, pb::DataType, &[u32], bool); 4] = [
        ("board", pb::DataType::Uint8, &[rules.height, rules.width], true),
        ("current", pb::DataType::Int8, &[], true),
        ("queue", pb::DataType::Int8, &[rules.preview()], false),
        ("held", pb::DataType::Int8, &[], false),
    ];
    for (name, dtype, shape, is_required) in wanted {
        let column = observed.iter().find(|column| column.name == name);
        let fits = column.map_or(!is_required, |column| (column.dtype, &*column.shape) == (dtype, shape));
        if !fits {
            return Err(format!("the session's observation {name:?} is none of its rules"));
        }
    }
    if !(1..=32).contains(&rules.width) || rules.height == 0 {
        return Err(format!("the rules have {} columns and {} rows", rules.width, rules.height));
    }
    Ok(())
}

/// Refuses a step if some of its rows are wrong.
fn refuse_if(
    rows: &[i32],
    is_wrong: impl Fn(usize, &i32) -> bool,
    reason: &str,
    expected: &str,
) -> PyResult<()> {
    let mut wrong = rows.iter().enumerate().filter(|(at, row)| is_wrong(*at, row));
    let Some((at, row)) = wrong.next() else { return Ok(()) };
    let problem = format!("actions[{at}] is {row}, {expected}");
    let metadata = std::collections::HashMap::from([("count".to_owned(), (1 + wrong.count()).to_string())]);
    let failure: Failure = (
        code_name(Code::InvalidArgument as i32),
        problem,
        reason.to_owned(),
        metadata,
        Vec::new(),
        None,
        String::new(),
    );
    Err(CallError::new_err(failure))
}

#[pymethods]
impl PyListing {
    /// Lists placements of a session, over a new stream of it.
    ///
    /// # Arguments
    /// The session, the encoded description of a session of rows, and the encoded request for placements without positions.
    #[new]
    fn new(
        py: Python<'_>,
        session: Py<PySession>,
        description: &[u8],
        request: &[u8],
    ) -> PyResult<PyListing> {
        let stream = PySessionStream::new(session.clone_ref(py));
        let told: pb::Session = decoded(description)?;
        let config = told.config.clone().unwrap_or_default();
        let rows = told.action_spec.as_ref().map_or(0, |spec| spec.high() as usize) + 1;
        let mut columns =
            BlockColumns::of(&told).ok_or_else(|| PyValueError::new_err("no block can have such tensors"))?;
        if config.action_mask_format() == pb::ActionMaskFormat::Bits {
            let mask = BlockColumn::new("action_mask", pb::DataType::Bool, &[rows as u32])
                .expect("no longer than a mask");
            columns.final_infos.push(mask);
        }
        let observed = &session.get().columns()?.observations;
        let shown = columns.observations.iter().map(|column| {
            let own = || observed.iter().position(|known| known.name == column.name).map(ShownField::Session);
            OfRows::named(&column.name).map(ShownField::Rows).or_else(own)
        });
        let shown = shown.collect::<Option<Vec<_>>>();
        let rules = config.rules.clone().unwrap_or_default();
        check_positions(observed, &rules).map_err(AnswerError::new_err)?;
        let shown = shown.ok_or_else(|| PyValueError::new_err("the session lacks an observation"))?;
        let size = rows * columns.num_envs;
        let state = ListingState {
            actions: vec![0; size],
            accepted: vec![true; size],
            is_current: true,
            ..ListingState::default()
        };
        Ok(PyListing {
            session,
            stream,
            shown,
            request: decoded(request)?,
            rules,
            rows,
            refuses: config.invalid_action_policy() == pb::InvalidActionPolicy::Reject,
            columns,
            state: Mutex::new(state),
        })
    }

    /// Offsets as in `Session.places`.
    fn places(&self, rows: usize) -> Vec<usize> {
        self.columns.layout(rows).starts
    }

    /// Offsets as in `Session.final_places`, with masks as the last info.
    fn final_places(&self, rows: usize) -> Vec<usize> {
        self.columns.final_layout(rows).starts
    }

    /// Makes an answer about all environments, like `Session.merge`.
    fn merge(
        &self,
        block: &Bound<'_, Block>,
        before: Option<&Bound<'_, Block>>,
        some: Vec<(Bound<'_, Block>, Bound<'_, PyAny>)>,
        _looks: bool,
    ) -> PyResult<()> {
        self.columns.merge(block.get(), others(before), &parts(&some)?)
    }

    /// Allocates a block for an answer of so many environments.
    fn block(&self, rows: usize) -> Block {
        Block::new(vec![0; self.columns.layout(rows).num_bytes], rows)
    }

    /// Number of steps for whose answers Python waits.
    fn in_flight(&self, py: Python<'_>) -> PyResult<usize> {
        let in_flight = self.stream.in_flight(py)?;
        let half = self.state()?.sent.front().is_some_and(|sent| sent.stepped.is_some());
        Ok((in_flight + usize::from(half)).div_ceil(2))
    }

    /// Steps all environments by rows, like `Session.step`.
    fn step(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        rows: &Bound<'_, PyAny>,
    ) -> PyResult<Option<usize>> {
        self.take(py, block.get(), self.session.get().actions(rows).as_deref())
    }

    /// Starts episodes like `Session.reset`.
    fn reset(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        seeds: Option<Vec<u64>>,
        env_ids: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let Ok(env_ids) = env_ids.map(read_ids).transpose() else { return Ok(false) };
        let block = self.own(block.get(), env_ids.as_ref().map_or(self.columns.num_envs, Vec::len))?;
        let mut state = self.state()?;
        let rows = (seeds.as_deref(), env_ids.as_deref());
        let reset =
            |session: &PySession, bytes: &mut Vec<u8>| session.reset_into(py, rows, bytes).map(|()| None);
        Ok(state.sent.is_empty() && self.observe_directly(py, block, &mut state, false, rows.1, reset)?)
    }

    /// Makes a call of this kind, a step, a reset or a restore, with an encoded request, and the answer in a block.
    fn observe<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, Block>,
        kind: &str,
        request: &[u8],
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut state = self.state()?;
        let (env_ids, asked) = self.translated(py, &mut state, kind, request)?;
        // The server refuses a longer list than that of all environments.
        let num_envs = self.columns.num_envs;
        let block =
            self.own(block.get(), env_ids.as_ref().map_or(num_envs, |ids| ids.len().min(num_envs)))?;
        self.observe_asked(py, block, &mut state, asked, env_ids.as_deref()).map(|()| None)
    }

    /// Makes a call that shows no rows, such as `save_state`.
    fn call<'py>(&self, py: Python<'py>, kind: &str, request: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.stream.call(py, kind, request)
    }

    /// Sends an encoded step without waiting.
    fn send(&self, py: Python<'_>, kind: &str, request: &[u8]) -> PyResult<()> {
        let mut state = self.state()?;
        let (env_ids, asked) = self.translated(py, &mut state, kind, request)?;
        self.push(py, &mut state, asked, env_ids)
    }

    /// Sends a step of all environments without waiting. Returns whether the rows are a plain array of integers.
    fn send_step(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(rows) = self.session.get().actions(rows) else { return Ok(false) };
        let mut state = self.state()?;
        let actions = self.chosen(py, &mut state, &rows, None)?;
        self.push(py, &mut state, super::session::step(&actions), None).map(|()| true)
    }

    /// Waits for the answer to the earliest step that was sent ahead, and copies it into a block.
    fn receive_step(&self, py: Python<'_>, block: &Bound<'_, Block>) -> PyResult<Option<Py<PyBytes>>> {
        let mut state = self.state()?;
        let stream = &self.stream;
        let Some(mut sent) = state.sent.pop_front() else {
            return Err(PyRuntimeError::new_err("no step was sent"));
        };
        // If a wait is interrupted or the server is lost, the next call goes on with it.
        let waits = stream.in_flight(py)?;
        let stepped = match sent.stepped.take() {
            Some(stepped) => stepped,
            None => match stream.pull(py) {
                Ok(stepped) => stepped,
                Err(error) if stream.in_flight(py)? == waits => {
                    state.sent.push_front(sent);
                    return Err(error);
                }
                Err(error) => {
                    state.is_current = false;
                    if stream.pull(py).is_err() && stream.in_flight(py)? + 1 == waits {
                        // Nobody waits for what follows.
                        stream.abandon();
                        state.sent.clear();
                    }
                    return Err(error);
                }
            },
        };
        let waits = stream.in_flight(py)?;
        let listed = match stream.pull(py) {
            Ok(listed) => listed,
            Err(error) if stream.in_flight(py)? == waits => {
                sent.stepped = Some(stepped);
                state.sent.push_front(sent);
                return Err(error);
            }
            Err(error) => {
                state.is_current = false;
                return Err(error);
            }
        };
        let env_ids = sent.env_ids.as_deref();
        let rows = env_ids.map_or(self.columns.num_envs, <[u32]>::len);
        let done = self
            .own(block.get(), rows)
            .and_then(|block| self.complete(py, block, &mut state, &stepped, (&listed, env_ids)));
        state.is_current &= done.is_ok();
        done.map(|()| None)
    }

    /// Ends the stream in an orderly way.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.stream.close(py)
    }
}

impl PyListing {
    fn push(
        &self,
        py: Python<'_>,
        state: &mut ListingState,
        asked: Asked,
        env_ids: Option<Vec<u32>>,
    ) -> PyResult<()> {
        let stream = &self.stream;
        stream.push(py, asked)?;
        if let Err(error) = stream.push(py, self.asks(env_ids.as_deref())) {
            // No caller waits for half of an answer.
            state.sent.clear();
            state.is_current = false;
            stream.abandon();
            return Err(error);
        }
        state.sent.push_back(SentRows { env_ids, stepped: None });
        Ok(())
    }
}
