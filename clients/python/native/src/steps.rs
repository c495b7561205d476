//! Steps of a session on a server, into memory that numpy arrays view.
//!
//! Python's protobuf library would copy the tensors of an answer twice. Here they are copied once, from the answer into a
//! block, and a block has the same places as one of a session in this process. As in `session`, this file handles no
//! unusual case: `None` means that Python must read or write the message itself.

use bytes::Bytes;
use prost::Message;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes};
use tetrion::protocol::codec;
use tetrion::protocol::pb::{self, step_stream_request, step_stream_response};
use tetrion::protocol::tensor::{self, element_size};
use tetrion::service::direct::BlockLayout;

use super::session::{Block, read_actions};

/// Size of a block from which on releasing the GIL while it is filled pays.
const LARGE: usize = 1 << 16;

/// Actions for all environments of a session, in their order.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Actions(Vec<i32>);

#[pymethods]
impl Actions {
    /// The data of a tensor with these actions.
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let data: Vec<u8> = self.0.iter().flat_map(|action| action.to_le_bytes()).collect();
        PyBytes::new(py, &data)
    }
}

impl Actions {
    /// A request for a step of all environments.
    pub(crate) fn request(&self, session: String, sequence_number: u64) -> pb::StepRequest {
        let actions = tensor::encode(vec![self.0.len() as u32], &self.0);
        pb::StepRequest { session, actions: Some(actions), sequence_number, ..Default::default() }
    }

    /// A message of a stream that requests a step of all environments.
    pub(crate) fn streamed(&self, session: String, sequence_number: u64) -> Bytes {
        let request = Some(step_stream_request::Request::Step(self.request(session, sequence_number)));
        pb::StepStreamRequest { request }.encode_to_vec().into()
    }
}

/// Reads the answer of a call of Step.
pub(crate) fn answer_of_call(message: Bytes) -> Option<pb::StepResponse> {
    codec::decode(message).ok()
}

/// Reads an answer of a stream; `None` if it answers a request of another kind, or refuses one.
pub(crate) fn answer_of_stream(message: Bytes) -> Option<pb::StepResponse> {
    match codec::decode::<pb::StepStreamResponse>(message).ok()?.response? {
        step_stream_response::Response::Step(answer) => Some(answer),
        _ => None,
    }
}

/// A tensor with one row per environment.
struct EnvTensor {
    dtype: pb::DataType,
    shape: Vec<u32>,
    num_bytes: usize,
}

impl EnvTensor {
    /// The column of a spec, a number of `pb.DataType` and the shape of a row. `None` if memory cannot hold it.
    fn new(rows: u32, (dtype, row): (i32, Vec<u32>)) -> Option<EnvTensor> {
        let dtype = pb::DataType::try_from(dtype).ok()?;
        let shape: Vec<u32> = std::iter::once(rows).chain(row).collect();
        let size = |bytes: usize, &size: &u32| bytes.checked_mul(size as usize);
        let num_bytes = shape.iter().try_fold(element_size(dtype), size)?;
        Some(EnvTensor { dtype, shape, num_bytes })
    }

    /// The data of a tensor that has this type and shape.
    fn data<'a>(&self, tensor: Option<&'a pb::Tensor>) -> Option<&'a [u8]> {
        tensor
            .filter(|tensor| tensor.dtype() == self.dtype && tensor.shape == self.shape)
            .map(|tensor| &*tensor.data)
            .filter(|data| data.len() == self.num_bytes)
    }
}

/// The tensors in the answers to steps of all environments of a session.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Steps {
    rewards: EnvTensor,
    flags: EnvTensor,
    observations: Vec<EnvTensor>,
    infos: Vec<EnvTensor>,
    /// The mask, whose bits become bytes.
    mask: Option<EnvTensor>,
    num_actions: usize,
    block: BlockLayout,
}

#[pymethods]
impl Steps {
    /// Reads the specs of a session: numbers of `pb.DataType` with shapes of a row. `num_actions` is the length of a mask;
    /// `None` if the answers have no masks.
    ///
    /// # Errors
    /// `ValueError` if memory cannot hold such tensors.
    #[new]
    fn new(
        rows: u32,
        observations: Vec<(i32, Vec<u32>)>,
        infos: Vec<(i32, Vec<u32>)>,
        num_actions: Option<u32>,
    ) -> PyResult<Steps> {
        let too_large = || PyValueError::new_err("no block can have such tensors");
        let column = |spec| EnvTensor::new(rows, spec).ok_or_else(too_large);
        let columns = |specs: Vec<_>| specs.into_iter().map(column).collect::<PyResult<Vec<EnvTensor>>>();
        let (observations, infos) = (columns(observations)?, columns(infos)?);
        let rewards = column((pb::DataType::Float32.into(), vec![]))?;
        let flags = column((pb::DataType::Bool.into(), vec![]))?;
        let bits = |actions: u32| column((pb::DataType::Uint8.into(), vec![actions.div_ceil(8)]));
        let mask = num_actions.map(bits).transpose()?;
        let num_actions = num_actions.unwrap_or(0) as usize;
        let sizes = [rewards.num_bytes, flags.num_bytes, flags.num_bytes].into_iter();
        let sizes = sizes.chain(observations.iter().chain(&infos).map(|column| column.num_bytes));
        let sizes = sizes.chain(mask.iter().map(|_| rows as usize * num_actions));
        let block = BlockLayout::new(sizes);
        Ok(Steps { rewards, flags, observations, infos, mask, num_actions, block })
    }

    /// Offsets of the tensors in a block: rewards, terminated, truncated, observations, infos and, if the answers have
    /// them, masks.
    fn places(&self) -> Vec<usize> {
        self.block.starts.clone()
    }

    /// Allocates a block for the tensors of one answer.
    fn block(&self) -> Block {
        Block::new(self.block.num_bytes)
    }

    /// Reads an array of integers with an action per environment. `None` for anything else.
    fn read(&self, actions: &Bound<'_, PyAny>) -> Option<Actions> {
        read_actions(actions, *self.flags.shape.first()? as usize).map(Actions)
    }
}

impl Steps {
    /// Copies an answer, which `decode` reads, into a block. Returns False if there is none, if it answers another call
    /// than the one with this number, or if it has other tensors. If episodes have ended, returns their last states
    /// instead of True, as an encoded `FinalBatch`.
    pub(crate) fn fill<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        block: &Bound<'py, Block>,
        decode: impl FnOnce() -> Option<pb::StepResponse> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let block = block.get().of_size(self.block.num_bytes)?;
        let fill = || {
            let Some(answer) = decode().filter(|answer| answer.sequence_number == number) else {
                return Ok(None);
            };
            let Some(parts) = self.parts(&answer) else { return Ok(None) };
            let filled = block.fill(|bytes| self.write(&parts, bytes))?;
            Ok::<_, PyErr>(filled.map(|()| answer.final_batch.map(|finals| finals.encode_to_vec())))
        };
        let filled = if self.block.num_bytes < LARGE { fill() } else { py.detach(fill) }?;
        Ok(match filled {
            Some(Some(finals)) => PyBytes::new(py, &finals).into_any(),
            filled => PyBool::new(py, filled.is_some()).to_owned().into_any(),
        })
    }

    /// The data of every tensor in the order of a block; `None` if the answer has other tensors.
    fn parts<'a>(&self, answer: &'a pb::StepResponse) -> Option<Vec<&'a [u8]>> {
        let has_all = answer.observations.len() == self.observations.len()
            && answer.infos.len() == self.infos.len()
            && answer.action_mask.is_some() == self.mask.is_some();
        let first = [
            self.rewards.data(answer.rewards.as_ref()),
            self.flags.data(answer.terminated.as_ref()),
            self.flags.data(answer.truncated.as_ref()),
        ];
        let columns = self.observations.iter().chain(&self.infos).chain(&self.mask);
        let tensors = answer.observations.iter().chain(&answer.infos).chain(&answer.action_mask);
        let rest = columns.zip(tensors).map(|(column, tensor)| column.data(Some(tensor)));
        first.into_iter().chain(rest).collect::<Option<Vec<_>>>().filter(|_| has_all)
    }

    /// Writes the tensors to their places.
    fn write(&self, parts: &[&[u8]], block: &mut Vec<u8>) {
        block.clear();
        let num_copied = parts.len() - usize::from(self.mask.is_some());
        for (place, (part, &start)) in parts.iter().zip(&self.block.starts).enumerate() {
            block.resize(start, 0);
            if place < num_copied {
                block.extend_from_slice(part);
            } else {
                part.chunks(self.num_actions.div_ceil(8)).for_each(|row| self.write_mask(row, block));
            }
        }
    }

    /// Appends the bits of a row as bytes, the lowest bit first.
    fn write_mask(&self, row: &[u8], block: &mut Vec<u8>) {
        let end = block.len() + self.num_actions;
        for &bits in row {
            // Byte i of the number gets bit i: as 0 or 1 << i, then as 0 or 1.
            let spread = (u64::from(bits) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
            let bytes = ((spread + 0x7f7f_7f7f_7f7f_7f7f) >> 7) & 0x0101_0101_0101_0101;
            block.extend_from_slice(&bytes.to_le_bytes());
        }
        block.truncate(end);
    }
}
