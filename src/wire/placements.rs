//! Which columns a request for placements wants.

use crate::engine::Rules;
use crate::optimum;
use crate::placements::Options;

use super::error::DecodeError;
use super::pb;

/// The wanted columns. The first request for exact values of a size may take seconds, because it computes them.
///
/// # Errors
/// If these rules have no keys to placements, or no exact values.
pub fn options(request: &pb::EnumeratePlacementsRequest, rules: &Rules) -> Result<Options, DecodeError> {
    if request.include_keys && !rules.names_spots() {
        let problem = "is true, but keys to placements exist only under REACH_MOVES";
        return Err(DecodeError::field("include_keys", problem));
    }
    let values = request.include_optimal_values.then(|| optimum::values(rules)).transpose();
    let optimal_values = values.map_err(|error| {
        DecodeError::field("include_optimal_values", format!("is true, but has no answer: {error}"))
    })?;
    Ok(Options {
        afterstates: request.include_afterstates,
        anchors: request.include_anchors,
        cells: request.include_cells,
        preclear_boards: request.include_preclear_boards,
        position_features: request.include_position_features,
        keys: request.include_keys,
        optimal_values,
    })
}
