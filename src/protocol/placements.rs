//! Which columns a request for placements wants, and the policy whose values it wants.

use tetrion_core::agents::Agent;
use tetrion_core::engine::Rules;
use tetrion_core::placements::Options;
use tetrion_toolkit::optimum;

use super::error::{DecodeError, InField};
use super::pb;
use super::policies::decode_scoring;

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

/// The policy whose values are wanted, if any.
///
/// # Errors
/// If it scores no placements, is not a single one, or only some placements are listed.
pub fn decode_policy(
    request: &pb::EnumeratePlacementsRequest,
    rules: &Rules,
) -> Result<Option<Agent>, DecodeError> {
    let Some(policy) = &request.policy else { return Ok(None) };
    if request.actions.is_some() {
        let problem = "is given with `actions`, but a policy chooses among all placements";
        return Err(DecodeError::field("policy", problem));
    }
    decode_scoring(policy, rules).in_field("policy").map(Some)
}
