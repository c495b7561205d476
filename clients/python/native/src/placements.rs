//! Lists of placements: the columns of an answer, checked and copied into memory that numpy arrays view.

use pyo3::prelude::*;
use tetrion::protocol::placements::{COLUMNS, check};
use tetrion::protocol::{DecodeError, pb};
use tetrion::service::direct::BlockLayout;

use super::block::Block;
use super::call::decoded;
use super::failure::unfit;

/// What Python learns of an answer: the columns in a block, each with its name, the number of its type, its shape and its
/// place; then the names of the features, the session's number, and the digits of a placement with their sizes and meanings.
pub(crate) type ReadPlacements =
    (Block, Vec<(&'static str, i32, Vec<u32>, usize)>, Vec<String>, u64, Vec<(String, u32, String)>);

/// Reads an encoded answer about so many positions.
///
/// # Errors
/// `AnswerError` if columns are missing, or do not fit each other.
#[pyfunction]
pub(crate) fn read_placements(encoded: &[u8], positions: usize) -> PyResult<ReadPlacements> {
    listed(decoded(encoded)?, positions)
}

/// The columns of an answer about so many positions.
pub(crate) fn listed(
    mut answer: pb::EnumeratePlacementsResponse,
    positions: usize,
) -> PyResult<ReadPlacements> {
    check(&mut answer, positions as u32).map_err(unfit)?;
    if answer.placement_digits.is_empty() {
        return Err(unfit(DecodeError::missing("placement_digits")));
    }
    let mut found: Vec<(&'static str, pb::Tensor)> = Vec::new();
    for column in COLUMNS {
        found.extend((column.field)(&mut answer).take().map(|tensor| (column.name, tensor)));
    }
    let layout = BlockLayout::new(found.iter().map(|(_, tensor)| tensor.data.len()));
    let mut bytes = vec![0; layout.num_bytes];
    let columns = found.into_iter().zip(layout.starts).map(|((name, tensor), start)| {
        bytes[start..start + tensor.data.len()].copy_from_slice(&tensor.data);
        (name, tensor.dtype, tensor.shape, start)
    });
    let columns = columns.collect();
    let names = answer.feature_columns.map(|columns| columns.names).unwrap_or_default();
    let digits = answer.placement_digits.into_iter().map(|digit| (digit.name, digit.size, digit.description));
    Ok((Block::new(bytes, positions), columns, names, answer.sequence_number, digits.collect()))
}
