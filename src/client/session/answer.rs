//! The answers of a session: named columns, with one row per environment of a call.

use std::sync::Arc;

use crate::ClientError;
use tetrion_core::engine::Key;
use tetrion_protocol::tensor::{self, Array, DimSize, Element};
use tetrion_protocol::{InField, pb};

/// Named columns, with one row per environment of a call.
#[derive(Clone, Debug)]
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
    /// The actions to step with.
    pub actions: Vec<i32>,
    pub rewards: Vec<f32>,
    pub lines: Vec<u8>,
    /// Whether the placement ends the game.
    pub terminated: Vec<bool>,
    /// The features, one row per placement; empty without a selection.
    pub features: Array<f32>,
    /// Names of the columns of `features`.
    pub feature_names: Vec<String>,
    /// The playfield after each placement, one integer per row of cells; empty unless requested.
    pub afterstates: Array<u32>,
    /// The features of each current playfield, one row per environment, with 0 for features of a landing; empty unless
    /// requested.
    pub position_features: Array<f32>,
    /// Row and column where each piece's anchor comes to rest; empty unless requested.
    pub anchors: Array<i8>,
    /// Row and column where each of a piece's four cells comes to rest; empty unless requested.
    pub cells: Array<i8>,
    /// The playfield with each piece locked, before full rows are cleared; empty unless requested.
    pub preclear_boards: Array<u32>,
    /// Whether the current piece is held; empty if the rules have no hold.
    pub holds: Vec<bool>,
    /// Spin labels: 0 no spin, 1 mini, 2 full; empty if the rules distinguish no spins.
    pub spins: Vec<u8>,
    /// Row j has the keys from entry j up to entry j + 1; empty unless requested.
    pub key_offsets: Vec<u32>,
    /// Keys of all rows, by their numbers; row by row.
    pub keys: Vec<u8>,
    /// The lines to be expected from each placement on for the best player, its own included; empty unless requested.
    pub optimal_values: Vec<f64>,
    /// The value that the policy of the request gives each placement; empty without a policy.
    pub policy_values: Vec<f64>,
    /// The row that the policy plays in each position, -1 without rows; empty without a policy.
    pub policy_choices: Vec<i32>,
}

impl PlacementList {
    /// The keys to the placement of a row, in order; none if they were not requested, or are too many.
    pub fn keys_of(&self, row: usize) -> Vec<Key> {
        let from = self.key_offsets.get(row).map_or(0, |from| *from as usize);
        let end = self.key_offsets.get(row + 1).map_or(0, |end| *end as usize);
        let keys = self.keys.get(from..end).unwrap_or_default();
        keys.iter().filter_map(|key| Key::ALL.get(usize::from(*key)).copied()).collect()
    }

    pub(super) fn decode(answer: pb::EnumeratePlacementsResponse) -> Result<PlacementList, ClientError> {
        Ok(PlacementList {
            row_offsets: offsets(decode(answer.row_offsets.as_ref(), "row_offsets")?.elements)?,
            actions: decode(answer.actions.as_ref(), "actions")?.elements,
            rewards: decode(answer.rewards.as_ref(), "rewards")?.elements,
            lines: decode(answer.lines.as_ref(), "lines")?.elements,
            terminated: flags(answer.terminated.as_ref()),
            features: decode_wanted(answer.features.as_ref(), "features")?,
            feature_names: answer.feature_columns.map(|columns| columns.names).unwrap_or_default(),
            afterstates: decode_boards(answer.afterstates.as_ref(), "afterstates")?,
            position_features: decode_wanted(answer.position_features.as_ref(), "position_features")?,
            anchors: decode_wanted(answer.anchors.as_ref(), "anchors")?,
            cells: decode_wanted(answer.cells.as_ref(), "cells")?,
            preclear_boards: decode_boards(answer.preclear_boards.as_ref(), "preclear_boards")?,
            holds: flags(answer.holds.as_ref()),
            spins: decode_wanted(answer.spins.as_ref(), "spins")?.elements,
            key_offsets: offsets(decode_wanted(answer.key_offsets.as_ref(), "key_offsets")?.elements)?,
            keys: decode_wanted(answer.keys.as_ref(), "keys")?.elements,
            optimal_values: decode_wanted(answer.optimal_values.as_ref(), "optimal_values")?.elements,
            policy_values: decode_wanted(answer.policy_values.as_ref(), "policy_values")?.elements,
            policy_choices: decode_wanted(answer.policy_choices.as_ref(), "policy_choices")?.elements,
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

/// A tensor that is in the answer only if requested.
fn decode_wanted<T: Element>(tensor: Option<&pb::Tensor>, name: &str) -> Result<Array<T>, ClientError> {
    match tensor {
        Some(_) => decode(tensor, name),
        None => Ok(Array { shape: vec![0, 0], elements: vec![] }),
    }
}

/// Playfields, with integers of two bytes per row up to width 16, and of four bytes above.
fn decode_boards(tensor: Option<&pb::Tensor>, name: &str) -> Result<Array<u32>, ClientError> {
    if tensor.is_some_and(|tensor| tensor.dtype == i32::from(pb::DataType::Uint16)) {
        let Array { shape, elements } = decode::<u16>(tensor, name)?;
        return Ok(Array { shape, elements: elements.into_iter().map(u32::from).collect() });
    }
    decode_wanted(tensor, name)
}

fn offsets(offsets: Vec<i32>) -> Result<Vec<u32>, ClientError> {
    let wrong = |_| ClientError::Answer("it has a negative offset".to_owned());
    offsets.into_iter().map(|offset| u32::try_from(offset).map_err(wrong)).collect()
}

fn flags(tensor: Option<&pb::Tensor>) -> Vec<bool> {
    tensor.map(|tensor| tensor.data.iter().map(|byte| *byte != 0).collect()).unwrap_or_default()
}

pub(super) fn missing(field: &str) -> ClientError {
    ClientError::Answer(format!("it has no {field}"))
}
