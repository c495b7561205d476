//! The tensors in the answers of a session, and the largest size of an answer.
//!
//! A caller in the same process gets them in one block of bytes instead of a message; see [`BlockLayout`].

use tetrion_core::env::{AutoresetMode, EnvBatch, EnvConfig, Field, FieldSpec, FinalBatch, StepOutcome};
use tetrion_core::placements::{self, Options};
use tetrion_protocol::pb;
use tetrion_protocol::session::{MaskFormat, SessionConfig};
use tetrion_protocol::tensor::{self, element_size};

/// Most bytes of a tensor in addition to its data: tags and lengths, the element type, and the sizes of four
/// dimensions.
pub(super) const TENSOR_OVERHEAD: u64 = 40;

/// Most bytes of an answer in addition to its tensors: the sequence number, the frame of the last states, and the frame
/// that StepStream adds.
pub(super) const ANSWER_OVERHEAD: u64 = 64;

/// Bytes after the last row that code writing observations may use temporarily.
pub const SLACK: usize = 64;

/// The tensors of a block begin at multiples of this. So numbers of every type are aligned if the block is; memory from
/// the system's allocator is.
const ALIGNMENT: usize = 16;

/// The places of tensors in a block. In the answer to a step they are the rewards (f32), terminated and truncated (bool),
/// the observations, the infos, and the action masks if the session has them (bool, not bits).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockLayout {
    /// Index of the first byte of each tensor.
    pub starts: Vec<usize>,
    pub num_bytes: usize,
}

impl BlockLayout {
    /// The places of tensors with these numbers of bytes.
    pub fn new(sizes: impl IntoIterator<Item = usize>) -> BlockLayout {
        let mut block = BlockLayout::default();
        for size in sizes {
            let start = block.num_bytes.next_multiple_of(ALIGNMENT);
            block.starts.push(start);
            block.num_bytes = start + size;
        }
        block
    }
}

/// A tensor that every answer contains.
#[derive(Clone, Debug)]
struct AnswerTensor {
    field: Field,
    dtype: pb::DataType,
    /// Shape of a row, without the dimension of environments.
    shape: Vec<u32>,
    row_bytes: usize,
}

/// The bytes of the tensors of an answer, which is written some rows at a time.
#[derive(Debug)]
pub(super) struct Tensors {
    rows: usize,
    observations: Vec<Vec<u8>>,
    infos: Vec<Vec<u8>>,
    action_mask: Option<Vec<u8>>,
}

/// The last states of ended episodes.
#[derive(Debug, Default)]
pub struct FinalRows {
    /// Rows of the answer in which they ended, ascending.
    pub rows: Vec<u32>,
    /// The bytes of each observation, then of each info, of these rows.
    pub data: Vec<Vec<u8>>,
}

/// The tensors of all rows, as messages.
#[derive(Debug)]
pub(super) struct AnswerTensors {
    pub observations: Vec<pb::Tensor>,
    pub infos: Vec<pb::Tensor>,
    pub action_mask: Option<pb::Tensor>,
}

/// The tensors that every answer contains, in order.
#[derive(Clone, Debug)]
pub(super) struct AnswerLayout {
    observations: Vec<AnswerTensor>,
    infos: Vec<AnswerTensor>,
    action_mask: Option<(MaskFormat, AnswerTensor)>,
}

impl AnswerLayout {
    /// Resolves the fields of a session to tensors: their types, shapes and sizes.
    pub fn new(config: &SessionConfig, batch: &EnvBatch) -> AnswerLayout {
        let part = |field: &Field| {
            let FieldSpec { dtype, shape, .. } = batch.spec(*field);
            let dtype = pb::DataType::from(dtype);
            let row_bytes = shape.iter().product::<u32>() as usize * element_size(dtype);
            AnswerTensor { field: *field, dtype, shape, row_bytes }
        };
        AnswerLayout {
            observations: config.observations.iter().map(part).collect(),
            infos: config.infos.iter().map(part).collect(),
            action_mask: config
                .action_mask
                .map(|format| (format, mask_part(format, part(&Field::ActionMask)))),
        }
    }

    /// Rough time to fill the tensors of an answer, in nanoseconds per environment.
    pub fn nanoseconds(&self, config: &EnvConfig) -> u64 {
        let mask = self.action_mask.iter().map(|(_, part)| part);
        let parts = self.observations.iter().chain(&self.infos).chain(mask);
        let part = |part: &AnswerTensor| {
            let features = config.features.as_ref().filter(|_| part.field == Field::Features);
            let measured = features.map_or(0, |set| set.nanoseconds(config.rules.height));
            let looked_up = if part.field == Field::Regret { 3_000 } else { 0 };
            let is_listed = part.field == Field::ActionMask && config.rules.names_spots();
            let listed = |rules| placements::nanoseconds(rules, 1, None, Options::default());
            let found = if is_listed { listed(&config.rules) } else { 0 };
            10 + part.row_bytes as u64 / 8 + measured + looked_up + found
        };
        parts.map(part).sum()
    }

    /// Specs of the observations, in the order of the session.
    pub fn observation_specs(&self, batch: &EnvBatch) -> Vec<pb::TensorSpec> {
        self.observations.iter().map(|part| (&batch.spec(part.field)).into()).collect()
    }

    /// Specs of the infos, in the order of the session.
    pub fn info_specs(&self, batch: &EnvBatch) -> Vec<pb::TensorSpec> {
        self.infos.iter().map(|part| (&batch.spec(part.field)).into()).collect()
    }

    /// The tensors of so many rows, before the first row, in memory for all of them.
    pub fn begin(&self, rows: usize) -> Tensors {
        let empty = |part: &AnswerTensor| Vec::with_capacity(rows * part.row_bytes + SLACK);
        let mask = self.action_mask.as_ref();
        Tensors {
            rows,
            observations: self.observations.iter().map(empty).collect(),
            infos: self.infos.iter().map(empty).collect(),
            action_mask: mask.map(|(_, part)| empty(part)),
        }
    }

    /// Appends the rows of these environments as they are.
    pub fn append(&self, tensors: &mut Tensors, batch: &EnvBatch, env_ids: Option<&[u32]>) {
        let Tensors { rows: _, observations, infos, action_mask } = tensors;
        let seen = self.observations.iter().zip(observations).chain(self.infos.iter().zip(infos));
        seen.for_each(|(part, data)| batch.observe(part.field, env_ids, data));
        match (&self.action_mask, action_mask) {
            (Some((MaskFormat::Bytes, part)), Some(data)) => batch.observe(part.field, env_ids, data),
            (Some((MaskFormat::Bits, _)), Some(data)) => batch.observe_mask_bits(env_ids, data),
            _ => {}
        }
    }

    /// The tensors as messages, after the last row.
    pub fn finish(&self, tensors: Tensors) -> AnswerTensors {
        let Tensors { rows, observations, infos, action_mask } = tensors;
        let encode = |parts: &[AnswerTensor], data: Vec<Vec<u8>>| {
            parts.iter().zip(data).map(|(part, data)| part.encode(rows, data)).collect()
        };
        let mask = self.action_mask.as_ref().zip(action_mask);
        AnswerTensors {
            observations: encode(&self.observations, observations),
            infos: encode(&self.infos, infos),
            action_mask: mask.map(|((_, part), data)| part.encode(rows, data)),
        }
    }

    /// Replaces the contents of a block by the tensors of a step of these environments, in the order of [`BlockLayout`].
    pub fn write(
        &self,
        batch: &EnvBatch,
        env_ids: Option<&[u32]>,
        outcome: &StepOutcome,
        block: &mut Vec<u8>,
    ) {
        block.clear();
        block.resize(outcome.rewards.len() * 4, 0);
        for (place, reward) in block.as_chunks_mut().0.iter_mut().zip(&outcome.rewards) {
            *place = reward.to_le_bytes();
        }
        for flags in [&outcome.terminated, &outcome.truncated] {
            align(block);
            block.extend(flags.iter().map(|&flag| u8::from(flag)));
        }
        let mask = self.action_mask.iter().map(|_| Field::ActionMask);
        for field in self.observations.iter().chain(&self.infos).map(|part| part.field).chain(mask) {
            align(block);
            batch.observe(field, env_ids, block);
        }
    }

    /// The last states of the episodes that have ended, if any.
    pub fn finals(&self, batch: &EnvBatch, finals: &FinalBatch) -> Option<FinalRows> {
        let mut all = FinalRows::default();
        self.append_finals(&mut all, batch, finals, 0);
        (!all.rows.is_empty()).then_some(all)
    }

    /// Appends the last states of a step of some environments, whose first one has this row.
    pub fn append_finals(&self, all: &mut FinalRows, batch: &EnvBatch, finals: &FinalBatch, first_row: u32) {
        if finals.rows().is_empty() {
            return;
        }
        all.rows.extend(finals.rows().iter().map(|row| first_row + row));
        all.data.resize_with(self.observations.len() + self.infos.len(), Vec::new);
        for (part, data) in self.observations.iter().chain(&self.infos).zip(&mut all.data) {
            data.reserve(finals.rows().len() * part.row_bytes + SLACK);
            batch.observe_finals(part.field, finals, data);
        }
    }

    /// The last states as a message, if any.
    pub fn finish_finals(&self, FinalRows { rows, data }: FinalRows) -> Option<pb::FinalBatch> {
        let mut data = data.into_iter();
        let mut encode = |parts: &[AnswerTensor]| {
            parts.iter().zip(data.by_ref()).map(|(part, data)| part.encode(rows.len(), data)).collect()
        };
        if rows.is_empty() {
            return None;
        }
        let (observations, infos) = (encode(&self.observations), encode(&self.infos));
        Some(pb::FinalBatch { rows, observations, infos })
    }

    /// Most environments that one call can step if its answer may have at most `max_bytes`.
    ///
    /// The answers of other calls on as many environments are smaller.
    pub fn max_rows(&self, mode: AutoresetMode, max_bytes: u32) -> u64 {
        let (row_bytes, overhead) = self.sizes(mode);
        u64::from(max_bytes).saturating_sub(overhead) / row_bytes
    }

    /// Most bytes of the answer to a step of `rows` environments.
    pub fn max_bytes(&self, mode: AutoresetMode, rows: u64) -> u64 {
        let (row_bytes, overhead) = self.sizes(mode);
        rows * row_bytes + overhead
    }

    /// Bytes per environment in the answer to a step, and the rest of its bytes.
    fn sizes(&self, mode: AutoresetMode) -> (u64, u64) {
        let seen = || self.observations.iter().chain(&self.infos);
        let seen_bytes: u64 = seen().map(|part| part.row_bytes as u64).sum();
        let seen_overhead = seen().count() as u64 * TENSOR_OVERHEAD;
        let mask_bytes = self.action_mask.as_ref().map_or(0, |(_, part)| part.row_bytes as u64);
        // A reward of four bytes and two flags.
        let mut row_bytes = seen_bytes + mask_bytes + 6;
        let mut overhead = seen_overhead + 4 * TENSOR_OVERHEAD + ANSWER_OVERHEAD;
        if mode == AutoresetMode::SameStep {
            // All episodes can end at once. Each then has a row number of up to three bytes.
            row_bytes += seen_bytes + 3;
            overhead += seen_overhead;
        }
        (row_bytes, overhead)
    }
}

/// Appends zeros up to the start of the next tensor.
fn align(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(ALIGNMENT), 0);
}

/// The tensor of masks in this form, derived from the one with bytes.
fn mask_part(format: MaskFormat, bytes: AnswerTensor) -> AnswerTensor {
    match format {
        MaskFormat::Bytes => bytes,
        MaskFormat::Bits => {
            let row_bytes = bytes.row_bytes.div_ceil(8);
            AnswerTensor { dtype: pb::DataType::Uint8, shape: vec![row_bytes as u32], row_bytes, ..bytes }
        }
    }
}

impl AnswerTensor {
    fn encode(&self, rows: usize, data: Vec<u8>) -> pb::Tensor {
        let mut shape = Vec::with_capacity(1 + self.shape.len());
        shape.push(rows as u32);
        shape.extend(&self.shape);
        tensor::from_bytes(self.dtype, shape, data)
    }
}
