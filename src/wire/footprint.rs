//! Bytes that an evaluation will hold, computed from its request: no field is checked, and no memory is allocated.
//!
//! The figures are bounds. `cargo test --test attacks -- estimates` compares them with what a server holds.

use std::sync::Arc;

use crate::agents::Agent;
use crate::agents::controllers::Controller;
use crate::engine::Piece;
use crate::engine::rules::WIDTHS;
use crate::features::FeatureSet;
use crate::rollout::{Episode, GameResult};
use crate::summary::{PairedDifference, PolicySummary};

use super::evaluation::summary_bytes;
use super::limits::{
    MAX_FEATURES, MAX_GAMES, MAX_LOSS_TRIALS, MAX_POLICIES, MAX_RECORDED_BYTES, MAX_RECORDED_GAMES,
    MAX_REQUEST_SEQUENCE_PIECES, MAX_UNREAD_GAMES,
};
use super::pb;
use super::pb::evaluate_policies_request::Games;
use super::tensor::element_size;

/// Bytes of any evaluation: its task, its channels, its counters, and the games in progress.
const EVALUATION: u64 = 64 << 10;

/// Bytes of an allocator block besides its content.
const BLOCK: u64 = 16;

/// Bytes of a policy besides its features: itself and its echo, with their lists and names.
const POLICY: u64 = (size_of::<Agent>() + size_of::<pb::Agent>()) as u64 + 24 * BLOCK;

/// Bytes of a feature of a policy: its weight, as used by the features' functions and by the kernels.
const FEATURE: u64 = 144;

/// Bytes of a feature of a single agent: the measure, and its name in the echo. Rows share these.
const OWN_FEATURE: u64 = 112;

/// Bytes of a parameter of a model: the parameter itself, and its original while the policies are built.
const PARAMETER: u64 = 4 + 8;

/// Bytes of a tuple of a policy, and of one of its positions: the pattern and its echo.
const TUPLE: u64 = 256;
const POSITION: u64 = 16;

/// Bytes of a game in the table of games.
const GAME: u64 = 25;

/// Bytes of a game while its policy is summed up, and of its partner among the games of the baseline.
const SUMMED_GAME: u64 = 8;
const PAIRED_GAME: u64 = 2 * 16;

/// Bytes of a written sequence besides its letters: a list of sequences has at most twice its length.
const SEQUENCE: u64 = 2 * size_of::<Arc<[Piece]>>() as u64 + 2 * BLOCK;

/// Most bytes that an evaluation on this many threads will hold, until the last byte of its answer has left. Excludes
/// the request itself.
pub fn evaluation_bytes(request: &pb::EvaluatePoliciesRequest, num_threads: usize) -> u64 {
    let threads = num_threads as u64;
    // Beyond the bounds on requests, the request is refused when it is read.
    let rows = request.weights.as_ref().map_or(0, num_rows).min(MAX_POLICIES.into());
    let agents = request.agents.iter().take(MAX_POLICIES as usize);
    let policies = rows + agents.len() as u64;
    let (seeds, deal) = deal(request);
    let pairs = request.pairs.as_ref().map_or(0, |pairs| (num_values(pairs) / 2).min(MAX_GAMES));
    let episodes = u64::from(request.episodes_per_seed.max(1));
    let played = if request.pairs.is_some() { pairs } else { policies.saturating_mul(seeds) };
    let games = played.saturating_mul(episodes).min(MAX_GAMES);
    let of_a_policy = seeds.saturating_mul(episodes).min(games);
    let unread = if request.omit_results { 0 } else { games.min(MAX_UNREAD_GAMES as u64 + threads) };
    // On each thread, and twice as many at the end.
    let under_way = (2 * threads).min(games);
    EVALUATION
        + rows_bytes(request, rows)
        + agents.map(agent_bytes).sum::<u64>()
        + policies * summary_bytes_of_a_policy()
        + deal
        // As numbers, and as pairs.
        + pairs * 2 * size_of::<(u32, u32)>() as u64
        + games * GAME
        + of_a_policy * (SUMMED_GAME + if policies > 1 { PAIRED_GAME } else { 0 })
        // A list has twice its length at most. One waits for the reader while the next one fills.
        + unread * 4 * size_of::<GameResult>() as u64
        + under_way * trials_bytes(request)
        + recorded_bytes(request, games)
}

/// Bytes of the rows of the matrix.
fn rows_bytes(request: &pb::EvaluatePoliciesRequest, rows: u64) -> u64 {
    let Some(matrix) = &request.weights else { return 0 };
    let values = matrix.weights.as_ref().map_or(0, num_values);
    let features = values.min(rows * most_features(matrix.features.as_ref()));
    rows * POLICY + features * FEATURE + values * PARAMETER + tuples_bytes(matrix.n_tuple.as_ref())
}

/// Bytes of an agent, and of its echo as a message and as bytes.
fn agent_bytes(agent: &pb::Agent) -> u64 {
    let named = Controller::named(&agent.name).map_or(0, |controller| controller.weights.len());
    let values = (agent.weights.len() + named) as u64;
    let texts = [&agent.name, &agent.label].map(|text| 2 * text.len() as u64);
    POLICY
        + values.min(MAX_FEATURES.into()) * (FEATURE + OWN_FEATURE)
        // The echo repeats them.
        + values * (PARAMETER + 2 * size_of::<f64>() as u64)
        + tuples_bytes(agent.n_tuple.as_ref())
        + texts.iter().sum::<u64>()
}

fn tuples_bytes(n_tuple: Option<&pb::NTuple>) -> u64 {
    let tuples = n_tuple.map_or(&[][..], |n_tuple| &n_tuple.tuples);
    tuples.iter().map(|tuple| TUPLE + tuple.positions.len() as u64 * POSITION).sum()
}

/// Bytes of the summary of a policy: as computed, as a message, and as bytes.
fn summary_bytes_of_a_policy() -> u64 {
    let computed = size_of::<PolicySummary>() + size_of::<PairedDifference>();
    let message = size_of::<pb::PolicySummary>() + size_of::<pb::PairedDifference>();
    // Lists that grow have twice their length at most.
    (2 * computed + message + summary_bytes(true, true)) as u64
}

/// Seeds or sequences per policy, and bytes of all of them.
fn deal(request: &pb::EvaluatePoliciesRequest) -> (u64, u64) {
    match &request.games {
        None => (0, 0),
        Some(Games::Seeds(seeds)) => {
            let all = num_values(seeds).min(MAX_GAMES);
            let each = match seeds.shape[..] {
                [_, columns] => u64::from(columns).min(all),
                _ => all,
            };
            (each, all * size_of::<u64>() as u64)
        }
        Some(Games::SeedRange(range)) => {
            let all = u64::from(range.count).min(MAX_GAMES);
            (all, all * size_of::<u64>() as u64)
        }
        Some(Games::PieceSequences(list)) => {
            let letters: u64 = list.sequences.iter().map(|letters| letters.len() as u64).sum();
            // None is empty.
            let letters = letters.min(MAX_REQUEST_SEQUENCE_PIECES.into());
            let all = (list.sequences.len() as u64).min(letters);
            (all, all * SEQUENCE + letters)
        }
    }
}

/// Bytes of an estimate of the length of games: two positions per trial.
fn trials_bytes(request: &pb::EvaluatePoliciesRequest) -> u64 {
    u64::from(request.loss_trials.min(MAX_LOSS_TRIALS)) * 2 * size_of::<Option<Episode>>() as u64
}

/// Bytes of the actions of recorded games, in lists of at most twice their length, and of one game's actions as a
/// message.
fn recorded_bytes(request: &pb::EvaluatePoliciesRequest, games: u64) -> u64 {
    if !request.record {
        return 0;
    }
    let steps =
        if request.max_steps == 0 { MAX_RECORDED_BYTES } else { request.max_steps.min(MAX_RECORDED_BYTES) };
    // An action has two bytes at most, in the message a number, and then up to three bytes.
    let kept = (2 * steps).min(MAX_RECORDED_BYTES);
    games.min(MAX_RECORDED_GAMES.into()) * 2 * kept + steps * (size_of::<u32>() as u64 + 3)
}

/// Most features that a selection may have.
fn most_features(selection: Option<&pb::FeatureSelection>) -> u64 {
    let Some(pb::FeatureSelection { feature_set, .. }) = selection else { return 0 };
    // A list may name families; a set has the most features at the largest width.
    let named = FeatureSet::named(feature_set, *WIDTHS.end()).map(|set| set.len() as u64);
    named.unwrap_or(MAX_FEATURES.into())
}

/// Number of rows of the weights; the largest possible number if the tensor has no shape.
fn num_rows(matrix: &pb::WeightMatrix) -> u64 {
    let Some(weights) = &matrix.weights else { return 0 };
    let values = num_values(weights);
    let rows = match (&weights.shape[..], &matrix.features) {
        ([rows, ..], _) => u64::from(*rows),
        ([], Some(features)) if features.feature_set.is_empty() => {
            values / (features.features.len() as u64).max(1)
        }
        // A set has the fewest features at the least width.
        ([], Some(features)) => {
            let set = FeatureSet::named(&features.feature_set, *WIDTHS.start());
            values / set.map_or(1, |set| set.len() as u64)
        }
        ([], None) => 0,
    };
    rows.min(values)
}

/// Number of values of a tensor.
fn num_values(tensor: &pb::Tensor) -> u64 {
    if tensor.values.is_empty() {
        (tensor.data.len() / element_size(tensor.dtype()).max(1)) as u64
    } else {
        tensor.values.len() as u64
    }
}
