//! The tensors in the answers of a session: their places in a block, which numpy arrays view, and the way of a message there.
//!
//! A message of Python would copy the tensors of an answer twice. Here they are copied once, after a check that they are
//! those that the session's specs announce.

use std::borrow::Cow;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tetrion::protocol::tensor::{self, DimSize, element_size};
use tetrion::protocol::{DecodeError, Fault, pb};
use tetrion::service::direct::{BlockLayout, FinalRows};

use super::block::Block;

/// Most bytes of a tensor, far more than any answer has.
const MAX_BYTES: usize = 1 << 40;

/// A tensor with one row per environment.
#[derive(Clone, Debug)]
pub(crate) struct BlockColumn {
    pub(crate) name: String,
    pub(crate) dtype: pb::DataType,
    /// Shape of a row.
    pub(crate) shape: Vec<u32>,
    pub(crate) row_bytes: usize,
}

impl BlockColumn {
    /// The column of a type and a shape of a row. `None` if memory cannot hold it.
    pub(crate) fn new(name: &str, dtype: pb::DataType, shape: &[u32]) -> Option<BlockColumn> {
        let size = |bytes: usize, &size: &u32| bytes.checked_mul(size as usize);
        let row_bytes =
            shape.iter().try_fold(element_size(dtype), size).filter(|bytes| *bytes < MAX_BYTES)?;
        Some(BlockColumn { name: name.to_owned(), dtype, shape: shape.to_vec(), row_bytes })
    }

    /// The data of a tensor that has this type and shape, and so many rows.
    ///
    /// # Errors
    /// What the tensor has instead.
    pub(crate) fn data<'a>(
        &self,
        tensor: Option<&'a pb::Tensor>,
        rows: usize,
    ) -> Result<&'a [u8], DecodeError> {
        let dims = std::iter::once(rows as u32).chain(self.shape.iter().copied()).map(DimSize::Exactly);
        tensor::data_field(tensor, &self.name, self.dtype, &dims.collect::<Vec<_>>())
    }
}

/// The columns of a field of a message, from its specs.
fn columns(specs: &[pb::TensorSpec]) -> Option<Vec<BlockColumn>> {
    specs.iter().map(|spec| BlockColumn::new(&spec.name, spec.dtype(), &spec.shape)).collect()
}

/// The data of tensors.
pub(crate) type BlockParts<'a> = Vec<Cow<'a, [u8]>>;

/// The last states of episodes that have ended in these rows: data of the observations, then of the infos.
pub(crate) struct FinalParts<'a> {
    pub(crate) ended: &'a [u32],
    pub(crate) parts: Vec<&'a [u8]>,
}

impl<'a> FinalParts<'a> {
    /// The last states of a step that took the short way.
    pub(crate) fn of(rows: &'a FinalRows) -> FinalParts<'a> {
        FinalParts { ended: &rows.rows, parts: rows.data.iter().map(Vec::as_slice).collect() }
    }
}

/// An answer to a step, a reset or a restore.
pub(crate) struct ShownAnswer<'a> {
    /// Rewards, terminated and truncated, which only a step has.
    pub(crate) outcome: Option<[Option<&'a pb::Tensor>; 3]>,
    pub(crate) observations: &'a [pb::Tensor],
    pub(crate) infos: &'a [pb::Tensor],
    pub(crate) action_mask: Option<&'a pb::Tensor>,
}

impl<'a> ShownAnswer<'a> {
    pub(crate) fn of_step(answer: &'a pb::StepResponse) -> ShownAnswer<'a> {
        let pb::StepResponse { rewards, terminated, truncated, .. } = answer;
        ShownAnswer {
            outcome: Some([rewards, terminated, truncated].map(Option::as_ref)),
            observations: &answer.observations,
            infos: &answer.infos,
            action_mask: answer.action_mask.as_ref(),
        }
    }

    /// A restore has an answer of the same fields.
    pub(crate) fn of_reset(answer: &'a pb::ResetResponse) -> ShownAnswer<'a> {
        ShownAnswer {
            outcome: None,
            observations: &answer.observations,
            infos: &answer.infos,
            action_mask: answer.action_mask.as_ref(),
        }
    }
}

/// What environments show in an answer that was made of answers about others.
pub(crate) enum OtherRows<'a> {
    /// Zeros.
    Nothing,
    /// What they show in this block.
    As(&'a Block),
    /// What this function writes, for all environments.
    Observed(&'a mut dyn FnMut(&mut Vec<u8>)),
}

/// The tensors in the answers of a session.
#[derive(Clone, Debug)]
pub(crate) struct BlockColumns {
    /// Rewards, terminated and truncated.
    outcome: [BlockColumn; 3],
    pub(crate) observations: Vec<BlockColumn>,
    pub(crate) infos: Vec<BlockColumn>,
    /// The infos of last states.
    pub(crate) final_infos: Vec<BlockColumn>,
    /// The mask in messages, whose bits become bytes in a block, and the number of actions.
    mask: Option<(BlockColumn, usize)>,
    pub(crate) num_envs: usize,
}

impl BlockColumns {
    /// The columns of a session. `None` if memory cannot hold such tensors, or there is no environment.
    pub(crate) fn of(session: &pb::Session) -> Option<BlockColumns> {
        let config = session.config.as_ref()?;
        let num_actions = session.action_spec.as_ref().map_or(0, |spec| spec.high() as u32).checked_add(1)?;
        let has_mask = config.action_mask_format() == pb::ActionMaskFormat::Bits;
        let observations = columns(&session.observation_specs)?;
        let infos = columns(&session.info_specs)?;
        let float = BlockColumn::new("rewards", pb::DataType::Float32, &[])?;
        let flags = |name| BlockColumn::new(name, pb::DataType::Bool, &[]);
        let bits = |num_actions: u32| {
            let column = BlockColumn::new("action_mask", pb::DataType::Uint8, &[num_actions.div_ceil(8)])?;
            Some((column, num_actions as usize))
        };
        let mask = if has_mask { Some(bits(num_actions)?) } else { None };
        let outcome = [float, flags("terminated")?, flags("truncated")?];
        let (final_infos, num_envs) = (infos.clone(), config.num_envs as usize);
        let columns = BlockColumns { outcome, observations, infos, final_infos, mask, num_envs };
        let is_small =
            |bytes: usize| bytes.checked_mul(columns.num_envs).is_some_and(|bytes| bytes <= MAX_BYTES);
        (columns.num_envs > 0 && columns.row_bytes().all(is_small)).then_some(columns)
    }

    /// Bytes of a row of each tensor in a block: rewards, terminated, truncated, observations, infos and, if there are masks,
    /// those.
    fn row_bytes(&self) -> impl Iterator<Item = usize> {
        let read = self.outcome.iter().chain(&self.observations).chain(&self.infos);
        read.map(|column| column.row_bytes).chain(self.mask.iter().map(|(_, num_actions)| *num_actions))
    }

    /// Places of the tensors in a block of so many rows.
    pub(crate) fn layout(&self, rows: usize) -> BlockLayout {
        BlockLayout::new(self.row_bytes().map(|bytes| bytes * rows))
    }

    /// The data of every tensor of an answer of so many rows, in the order of a block; the masks, which are bits, last.
    ///
    /// # Errors
    /// What the answer has instead of a tensor.
    pub(crate) fn parts<'a>(
        &self,
        answer: &ShownAnswer<'a>,
        rows: usize,
    ) -> Result<BlockParts<'a>, DecodeError> {
        let mut parts = match answer.outcome {
            Some(outcome) => {
                let read = self.outcome.iter().zip(outcome);
                read.map(|(column, tensor)| column.data(tensor, rows).map(Cow::Borrowed))
                    .collect::<Result<Vec<_>, _>>()?
            }
            None => self.outcome.iter().map(|column| Cow::Owned(vec![0; column.row_bytes * rows])).collect(),
        };
        for (columns, tensors) in [(&self.observations, answer.observations), (&self.infos, answer.infos)] {
            parts.extend(all(columns, tensors, rows)?.into_iter().map(Cow::Borrowed));
        }
        match (&self.mask, answer.action_mask) {
            (Some((column, _)), tensor) => parts.push(column.data(tensor, rows)?.into()),
            (None, Some(_)) => return Err(wrong("action_mask", "is there, and the session has none")),
            (None, None) => {}
        }
        Ok(parts)
    }

    /// The data of every tensor in a block of so many rows.
    pub(crate) fn parts_of<'a>(&self, block: &'a [u8], rows: usize) -> BlockParts<'a> {
        let starts = self.layout(rows).starts.into_iter();
        starts.zip(self.row_bytes()).map(|(start, bytes)| block[start..][..bytes * rows].into()).collect()
    }

    /// Replaces the contents of a block of so many rows by the data of an answer.
    pub(crate) fn write(&self, parts: &BlockParts<'_>, rows: usize, block: &mut Vec<u8>) {
        let layout = self.layout(rows);
        block.clear();
        for (place, (part, &start)) in parts.iter().zip(&layout.starts).enumerate() {
            match &self.mask {
                Some((_, num_actions)) if place + 1 == layout.starts.len() => {
                    put(&[], start, block);
                    part.chunks(num_actions.div_ceil(8)).for_each(|row| spread(row, *num_actions, block));
                }
                _ => put(part, start, block),
            }
        }
    }

    /// Places of the last states of episodes that ended in an answer of so many rows: a flag for each row, the numbers of the
    /// ended ones, as many observations at the beginning of places for all rows, and the infos of all rows.
    pub(crate) fn final_layout(&self, rows: usize) -> BlockLayout {
        let columns = self.observations.iter().chain(&self.final_infos);
        let sizes = [1, 4].into_iter().chain(columns.map(|column| column.row_bytes));
        BlockLayout::new(sizes.map(|row_bytes| row_bytes * rows))
    }

    /// The data of the last states of episodes in an answer of so many rows: observations, then infos.
    ///
    /// # Errors
    /// What is wrong with their rows or tensors.
    pub(crate) fn finals<'a>(
        &self,
        finals: &'a pb::FinalBatch,
        rows: usize,
    ) -> Result<FinalParts<'a>, DecodeError> {
        let ended = &finals.rows;
        if !ended.is_sorted_by(|a, b| a < b) || ended.last().is_some_and(|&last| last as usize >= rows) {
            return Err(wrong("final_batch.rows", format!("are {ended:?} of {rows}")));
        }
        let mut parts = all(&self.observations, &finals.observations, ended.len())?;
        parts.extend(all(&self.infos, &finals.infos, ended.len())?);
        Ok(FinalParts { ended, parts })
    }

    /// Replaces the last states in a block. Infos of rows without an ended episode are 0.
    ///
    /// # Errors
    /// As for [`Block::fill`].
    pub(crate) fn write_finals(
        &self,
        py: Python<'_>,
        block: &Block,
        finals: &FinalParts<'_>,
    ) -> PyResult<()> {
        let FinalParts { ended, parts } = finals;
        let layout = self.final_layout(block.rows);
        block.fill_finals(py, ended.len(), layout.num_bytes, |bytes| {
            let (flags, rows) = (layout.starts[0], layout.starts[1]);
            let row = |start: usize, row: u32, size: usize| start + row as usize * size;
            bytes[flags..flags + block.rows].fill(0);
            for (at, &new) in (0..).zip(*ended) {
                bytes[row(flags, new, 1)] = 1;
                bytes[row(rows, at, 4)..][..4].copy_from_slice(&new.to_le_bytes());
            }
            let (observations, infos) = parts.split_at(self.observations.len());
            let (observed, informed) = layout.starts[2..].split_at(observations.len());
            for (data, &start) in observations.iter().zip(observed) {
                bytes[start..][..data.len()].copy_from_slice(data);
            }
            for ((data, column), &start) in infos.iter().zip(&self.final_infos).zip(informed) {
                let size = column.row_bytes;
                bytes[start..][..size * block.rows].fill(0);
                for (&new, data) in ended.iter().zip(data.chunks_exact(size)) {
                    bytes[row(start, new, size)..][..size].copy_from_slice(data);
                }
            }
        })
    }

    /// Makes an answer about all environments of answers about some: these rows are theirs. Infos of others are 0.
    ///
    /// # Errors
    /// As for [`Block::fill`]; `ValueError` if an answer has other rows.
    pub(crate) fn merge(
        &self,
        block: &Block,
        others: OtherRows<'_>,
        some: &[(&Block, Vec<u32>)],
    ) -> PyResult<()> {
        let layout = self.layout(self.num_envs);
        let is_whole = |block: &Block| block.len == layout.num_bytes;
        let places: Vec<_> = some.iter().map(|(part, _)| self.layout(part.rows)).collect();
        let fits = |((part, rows), layout): (&(&Block, Vec<u32>), &BlockLayout)| {
            (part.rows, part.len) == (rows.len(), layout.num_bytes)
                && rows.iter().all(|&row| (row as usize) < self.num_envs)
        };
        let before = if let OtherRows::As(before) = &others { Some(*before) } else { None };
        if !(is_whole(block) && before.is_none_or(is_whole) && some.iter().zip(&places).all(fits)) {
            return Err(PyValueError::new_err("the block is another session's"));
        }
        let is_here = before.is_some_and(|before| std::ptr::eq(before, block));
        let before = before.filter(|_| !is_here).map(|before| before.read(<[u8]>::to_vec)).transpose()?;
        let parts = some.iter().map(|(part, _)| part.read(<[u8]>::to_vec)).collect::<PyResult<Vec<_>>>()?;
        let sizes: Vec<usize> = self.row_bytes().collect();
        let infos = 3 + self.observations.len()..3 + self.observations.len() + self.infos.len();
        block.fill_with(|bytes| {
            let stays = match others {
                OtherRows::Observed(observe) => {
                    observe(bytes);
                    true
                }
                _ => is_here,
            };
            for (place, (&start, &size)) in layout.starts.iter().zip(&sizes).enumerate() {
                if size == 0 {
                    continue;
                }
                let whole = &mut bytes[start..][..size * self.num_envs];
                match &before {
                    _ if place < 3 || infos.contains(&place) => whole.fill(0),
                    _ if stays => {}
                    Some(before) => whole.copy_from_slice(&before[start..][..size * self.num_envs]),
                    None => whole.fill(0),
                }
                for (((_, rows), part), places) in some.iter().zip(&parts).zip(&places) {
                    let data = &part[places.starts[place]..];
                    for (&row, data) in rows.iter().zip(data.chunks_exact(size.max(1))) {
                        whole[row as usize * size..][..size].copy_from_slice(data);
                    }
                }
            }
        })?;
        block.forget_finals();
        Ok(())
    }
}

/// Appends data at its place.
pub(crate) fn put(data: &[u8], start: usize, block: &mut Vec<u8>) {
    block.resize(start, 0);
    block.extend_from_slice(data);
}

fn wrong(field: &str, problem: impl Into<String>) -> DecodeError {
    DecodeError::invalid(Fault::Tensor, field, problem)
}

/// The data of a list of tensors.
fn all<'a>(
    columns: &[BlockColumn],
    tensors: &'a [pb::Tensor],
    rows: usize,
) -> Result<Vec<&'a [u8]>, DecodeError> {
    if columns.len() != tensors.len() {
        let problem =
            format!("has {} tensors for the {} fields of the session", tensors.len(), columns.len());
        return Err(wrong("", problem));
    }
    columns.iter().zip(tensors).map(|(column, tensor)| column.data(Some(tensor), rows)).collect()
}

/// Appends the bits of a row as bytes, the lowest bit first.
fn spread(row: &[u8], num_actions: usize, block: &mut Vec<u8>) {
    let end = block.len() + num_actions;
    for &bits in row {
        // Byte i of the number gets bit i: as 0 or 1 << i, then as 0 or 1.
        let spread = (u64::from(bits) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        let bytes = ((spread + 0x7f7f_7f7f_7f7f_7f7f) >> 7) & 0x0101_0101_0101_0101;
        block.extend_from_slice(&bytes.to_le_bytes());
    }
    block.truncate(end);
}
