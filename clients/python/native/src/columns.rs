//! The tensors in the answers to steps on a server, which are copied into memory that numpy arrays view.
//!
//! A message of Python would copy the tensors of an answer twice. Here they are copied once, into a block with the same
//! places as one of a session in this process.

use tetrion::protocol::pb;
use tetrion::protocol::tensor::element_size;
use tetrion::service::direct::BlockLayout;

/// Most bytes of a tensor, far more than any answer has.
const MAX_BYTES: usize = 1 << 40;

/// A tensor with one row per environment.
struct EnvTensor {
    dtype: pb::DataType,
    shape: Vec<u32>,
    num_bytes: usize,
}

impl EnvTensor {
    /// The column of a spec, a number of `pb.DataType` and the shape of a row. `None` if memory cannot hold it.
    fn new(rows: u32, dtype: i32, row: &[u32]) -> Option<EnvTensor> {
        let dtype = pb::DataType::try_from(dtype).ok()?;
        let shape: Vec<u32> = std::iter::once(rows).chain(row.iter().copied()).collect();
        let size = |bytes: usize, &size: &u32| bytes.checked_mul(size as usize);
        let num_bytes = shape.iter().try_fold(element_size(dtype), size)?;
        Some(EnvTensor { dtype, shape, num_bytes })
    }

    /// The data of a tensor that has this type and shape.
    fn data<'a>(&self, tensor: Option<&'a pb::Tensor>) -> Option<&'a [u8]> {
        tensor.and_then(|tensor| self.data_of(tensor, self.shape[0] as usize))
    }

    /// The data of a tensor that has this type and shape, but this many rows.
    fn data_of<'a>(&self, tensor: &'a pb::Tensor, rows: usize) -> Option<&'a [u8]> {
        let num_bytes = self.num_bytes / self.shape[0] as usize * rows;
        let (count, row) = tensor.shape.split_first()?;
        let fits = tensor.dtype() == self.dtype && *count as usize == rows && *row == self.shape[1..];
        Some(&*tensor.data).filter(|data| fits && data.len() == num_bytes)
    }
}

/// The tensors in the answers to steps of all environments of a session.
pub(crate) struct StepColumns {
    rewards: EnvTensor,
    flags: EnvTensor,
    observations: Vec<EnvTensor>,
    infos: Vec<EnvTensor>,
    /// The mask, whose bits become bytes.
    mask: Option<EnvTensor>,
    num_actions: usize,
    pub(crate) block: BlockLayout,
}

impl StepColumns {
    /// The columns of a session. `None` if memory cannot hold such tensors.
    pub(crate) fn of(session: &pb::Session) -> Option<StepColumns> {
        let config = session.config.as_ref()?;
        let rows = config.num_envs;
        if rows == 0 {
            return None;
        }
        let columns = |specs: &[pb::TensorSpec]| {
            specs.iter().map(|spec| EnvTensor::new(rows, spec.dtype, &spec.shape)).collect::<Option<Vec<_>>>()
        };
        let (observations, infos) = (columns(&session.observation_specs)?, columns(&session.info_specs)?);
        let rewards = EnvTensor::new(rows, pb::DataType::Float32.into(), &[])?;
        let flags = EnvTensor::new(rows, pb::DataType::Bool.into(), &[])?;
        let has_mask = config.action_mask_format() == pb::ActionMaskFormat::Bits;
        let num_actions = session.action_spec.as_ref().map_or(0, |spec| spec.high() as u32).checked_add(1)?;
        let bits = || EnvTensor::new(rows, pb::DataType::Uint8.into(), &[num_actions.div_ceil(8)]);
        let mask = if has_mask { Some(bits()?) } else { None };
        let num_actions = if has_mask { num_actions as usize } else { 0 };
        let sizes = [rewards.num_bytes, flags.num_bytes, flags.num_bytes].into_iter();
        let sizes = sizes.chain(observations.iter().chain(&infos).map(|column| column.num_bytes));
        let masks = (rows as usize).checked_mul(num_actions)?;
        let sizes: Vec<usize> = sizes.chain(mask.iter().map(|_| masks)).collect();
        if sizes.iter().any(|size| *size > MAX_BYTES) {
            return None;
        }
        let block = BlockLayout::new(sizes);
        Some(StepColumns { rewards, flags, observations, infos, mask, num_actions, block })
    }

    /// The data of every tensor in the order of a block; `None` if the answer has other tensors.
    pub(crate) fn parts<'a>(&self, answer: &'a pb::StepResponse) -> Option<Vec<&'a [u8]>> {
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

    /// Places of the last states of so many episodes: their rows, the observations of these rows, and the infos of all rows.
    pub(crate) fn final_block(&self, num_ended: usize) -> BlockLayout {
        let rows = self.flags.shape[0] as usize;
        let observed = self.observations.iter().map(|column| column.num_bytes / rows * num_ended);
        let infos = self.infos.iter().map(|column| column.num_bytes);
        BlockLayout::new(std::iter::once(4 * num_ended).chain(observed).chain(infos))
    }

    /// The last states of episodes as [`StepColumns::final_block`] has them, infos of other rows 0; `None` if they have other
    /// tensors or rows.
    pub(crate) fn final_bytes(&self, finals: &pb::FinalBatch) -> Option<Vec<u8>> {
        let rows = &finals.rows;
        let is_ascending = rows.is_sorted_by(|a, b| a < b);
        let is_known = rows.last().is_none_or(|&last| last < self.flags.shape[0]);
        let has_all =
            finals.observations.len() == self.observations.len() && finals.infos.len() == self.infos.len();
        if !(is_ascending && is_known && has_all) {
            return None;
        }
        let layout = self.final_block(rows.len());
        let mut bytes = vec![0; layout.num_bytes];
        let mut starts = layout.starts.into_iter();
        let mut place = |len: usize| starts.next().map(|start| start..start + len);
        let encoded: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
        bytes[place(encoded.len())?].copy_from_slice(&encoded);
        for (column, tensor) in self.observations.iter().zip(&finals.observations) {
            let data = column.data_of(tensor, rows.len())?;
            bytes[place(data.len())?].copy_from_slice(data);
        }
        for (column, tensor) in self.infos.iter().zip(&finals.infos) {
            let data = column.data_of(tensor, rows.len())?;
            let whole = &mut bytes[place(column.num_bytes)?];
            let row_bytes = column.num_bytes / column.shape[0] as usize;
            for (&row, data) in rows.iter().zip(data.chunks_exact(row_bytes.max(1))) {
                whole[row as usize * row_bytes..][..row_bytes].copy_from_slice(data);
            }
        }
        Some(bytes)
    }

    /// Writes the tensors to their places.
    pub(crate) fn write(&self, parts: &[&[u8]], block: &mut Vec<u8>) {
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
