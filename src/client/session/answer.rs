//! The answers of a session: named columns, with one row per environment of a call.

use std::sync::Arc;

use crate::ClientError;
use tetrion_core::engine::Key;
use tetrion_protocol::placements::{COLUMNS, Presence};
use tetrion_protocol::tensor::{self, Array, DimSize, Element};
use tetrion_protocol::{DecodeError, InField, pb};

/// Named columns, with one row per environment of a call or one per placement.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    names: Arc<[String]>,
    tensors: Vec<pb::Tensor>,
}

impl Columns {
    /// The names of the columns, in the order of the session.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The numbers of a column.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if there is no such column, or its numbers have another type.
    pub fn column<T: Element>(&self, name: &str) -> Result<Array<T>, ClientError> {
        decode(Some(self.tensor(name)?), name)
    }

    /// The truth values of a column.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if there is no such column, or it has another type.
    pub fn flags(&self, name: &str) -> Result<Vec<bool>, ClientError> {
        let tensor = self.tensor(name)?;
        if tensor.dtype != i32::from(pb::DataType::Bool) {
            return Err(ClientError::Answer(format!("its column {name:?} holds no truth values")));
        }
        Ok(flags(Some(tensor)))
    }

    /// The playfields of a column, with one integer per row of cells, of whatever size the width needs.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if there is no such column, or it holds no playfields.
    pub fn boards(&self, name: &str) -> Result<Array<u32>, ClientError> {
        if self.tensor(name)?.dtype == i32::from(pb::DataType::Uint32) {
            return self.column(name);
        }
        let Array { shape, elements } = self.column::<u16>(name)?;
        Ok(Array { shape, elements: elements.into_iter().map(u32::from).collect() })
    }

    /// A number of a column; `None` if the column does not have it.
    fn element<T: Element>(&self, name: &str, at: usize) -> Option<T> {
        let tensor = self.tensor(name).ok().filter(|tensor| tensor.dtype == i32::from(T::DTYPE))?;
        tensor.data.get(at * T::SIZE..(at + 1) * T::SIZE).map(T::from_le)
    }

    fn tensor(&self, name: &str) -> Result<&pb::Tensor, ClientError> {
        let position = self.names.iter().position(|known| known == name);
        let tensor = position.and_then(|position| self.tensors.get(position));
        tensor.ok_or_else(|| ClientError::Answer(format!("it has no column {name:?}")))
    }
}

/// The state of environments after a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Shown {
    /// The observations that the session was made with.
    pub observations: Columns,
    /// The infos that the session was made with.
    pub infos: Columns,
    /// Which actions exist, row by row; empty unless the session has masks.
    pub action_mask: Vec<bool>,
}

/// The result of a step: one entry per environment of the call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stepped {
    /// The state of the environments after the step.
    pub seen: Shown,
    pub rewards: Vec<f32>,
    /// Whether the rules ended the episode.
    pub terminated: Vec<bool>,
    /// Whether a limit cut the episode.
    pub truncated: Vec<bool>,
    /// The ends of episodes whose rows already show the next one.
    pub finals: Option<Finals>,
}

/// The last states of episodes that ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finals {
    /// Rows of the ended episodes in the step.
    pub rows: Vec<u32>,
    pub observations: Columns,
    pub infos: Columns,
}

/// The placements of the current pieces, environment by environment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlacementList {
    /// Environment i has the rows from entry i up to entry i + 1.
    pub row_offsets: Vec<u32>,
    /// The tensors of the answer, by the names of their fields: `actions`, `rewards`, `lines`, `terminated`, and others
    /// under rules that have them or on request.
    pub columns: Columns,
    /// Names of the columns of `features`.
    pub feature_names: Vec<String>,
}

impl PlacementList {
    /// The keys to the placement of a row, in order; none if they were not requested, or are too many.
    pub fn keys_of(&self, row: usize) -> Vec<Key> {
        let offset = |row| Some(self.columns.element::<i32>("key_offsets", row)? as usize);
        let (Some(from), Some(end)) = (offset(row), offset(row + 1)) else { return Vec::new() };
        let keys = (from..end).map_while(|at| self.columns.element::<u8>("keys", at));
        keys.filter_map(|key| Key::ALL.get(usize::from(key)).copied()).collect()
    }

    pub(super) fn decode(mut answer: pb::EnumeratePlacementsResponse) -> Result<PlacementList, ClientError> {
        let (mut names, mut tensors) = (Vec::new(), Vec::new());
        for column in COLUMNS {
            if let Some(tensor) = (column.field)(&mut answer).take() {
                names.push(column.name.to_owned());
                tensors.push(tensor);
            } else if matches!(column.presence, Presence::Always) {
                return Err(ClientError::Answer(DecodeError::missing(column.name).to_string()));
            }
        }
        let columns = Columns { names: names.into(), tensors };
        let wrong = |_| ClientError::Answer("it has a negative offset".to_owned());
        let offsets = columns.column::<i32>("row_offsets")?.elements.into_iter();
        Ok(PlacementList {
            row_offsets: offsets.map(|offset| offset.try_into().map_err(wrong)).collect::<Result<_, _>>()?,
            columns,
            feature_names: answer.feature_columns.map(|columns| columns.names).unwrap_or_default(),
        })
    }
}

/// The names of the columns in the answers of a session.
#[derive(Debug)]
pub(super) struct ColumnNames {
    pub num_actions: u32,
    pub observations: Arc<[String]>,
    pub infos: Arc<[String]>,
}

impl ColumnNames {
    /// The state of environments in an answer.
    pub fn seen(
        &self,
        observations: Vec<pb::Tensor>,
        infos: Vec<pb::Tensor>,
        mask: Option<&pb::Tensor>,
    ) -> Result<Shown, ClientError> {
        Ok(Shown {
            observations: columns(&self.observations, observations)?,
            infos: columns(&self.infos, infos)?,
            action_mask: self.mask(mask)?,
        })
    }

    /// Unpacks masks of one bit per action, the lowest bit first.
    fn mask(&self, mask: Option<&pb::Tensor>) -> Result<Vec<bool>, ClientError> {
        let Some(mask) = mask else { return Ok(Vec::new()) };
        let dims = [DimSize::Any, DimSize::Exactly(self.num_actions.div_ceil(8))];
        let bits = tensor::decode::<u8>(mask, &dims).in_field("action_mask");
        let Array { shape, elements } = bits.map_err(|error| ClientError::Answer(error.to_string()))?;
        let row = |bits: &[u8]| {
            (0..self.num_actions as usize).map(|a| bits[a / 8] >> (a % 8) & 1 == 1).collect::<Vec<_>>()
        };
        Ok(elements.chunks_exact(shape[1] as usize).flat_map(row).collect())
    }

    /// The result in the answer of a step.
    pub fn stepped(&self, answer: pb::StepResponse) -> Result<Stepped, ClientError> {
        let finals = match answer.final_batch {
            Some(finals) => Some(Finals {
                rows: finals.rows,
                observations: columns(&self.observations, finals.observations)?,
                infos: columns(&self.infos, finals.infos)?,
            }),
            None => None,
        };
        Ok(Stepped {
            seen: self.seen(answer.observations, answer.infos, answer.action_mask.as_ref())?,
            rewards: decode(answer.rewards.as_ref(), "rewards")?.elements,
            terminated: flags(answer.terminated.as_ref()),
            truncated: flags(answer.truncated.as_ref()),
            finals,
        })
    }
}

fn columns(names: &Arc<[String]>, tensors: Vec<pb::Tensor>) -> Result<Columns, ClientError> {
    if tensors.len() != names.len() {
        let problem = format!("it has {} columns, expected {}", tensors.len(), names.len());
        return Err(ClientError::Answer(problem));
    }
    Ok(Columns { names: names.clone(), tensors })
}

/// A tensor of any shape.
fn decode<T: Element>(tensor: Option<&pb::Tensor>, name: &str) -> Result<Array<T>, ClientError> {
    let dims = vec![DimSize::Any; tensor.map_or(0, |tensor| tensor.shape.len())];
    let array = tensor::decode_field(tensor, name, &dims);
    array.map_err(|error| ClientError::Answer(error.to_string()))
}

fn flags(tensor: Option<&pb::Tensor>) -> Vec<bool> {
    tensor.map(|tensor| tensor.data.iter().map(|byte| *byte != 0).collect()).unwrap_or_default()
}
