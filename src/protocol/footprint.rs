//! Bytes that an evaluation or a policy will hold, computed from its request. This checks no field and allocates nothing.
//!
//! The figures are upper bounds. `cargo test --test attacks -- estimates` compares them with the memory of a server.

use std::sync::Arc;

use tetrion_core::agents::Agent;
use tetrion_core::agents::Controller;
use tetrion_core::engine::{Piece, WIDTHS};
use tetrion_core::features::FeatureSet;
use tetrion_core::rollout::{Episode, PlayedGame};
use tetrion_core::summary::{PairedDifference, PolicySummary};

use super::evaluation::summary_bytes;
use super::limits::{
    MAX_FEATURES, MAX_FORMULA_COST, MAX_GAMES, MAX_LOSS_TRIALS, MAX_POLICIES, MAX_RECORDED_BYTES,
    MAX_RECORDED_GAMES, MAX_REQUEST_SEQUENCE_PIECES, MAX_UNREAD_GAMES,
};
use super::pb;
use super::pb::feature_selection;
use super::pb::policy::Kind as PolicyKind;
use super::pb::search::Method;
use super::pb::seeding::Kind;
use super::search::{self, Search};
use super::tensor::element_size;

/// Bytes of any evaluation: its task, its channels, its counters, and the games in progress.
const EVALUATION: u64 = 64 << 10;

/// Bytes of an allocator block in addition to its content.
const BLOCK: u64 = 16;

/// Bytes of a policy in addition to its features: the policy and its echo, with their lists and names.
const POLICY: u64 = (size_of::<Agent>() + size_of::<pb::EvaluatedPolicy>()) as u64 + 24 * BLOCK;

/// Bytes of a feature of a policy: its weight, as used by the features' functions and by the kernels.
const FEATURE: u64 = 144;

/// Bytes of a feature of an entry: the measure, and its name in the echo. The rows of an entry share them.
const OWN_FEATURE: u64 = 112;

/// Bytes of a parameter of a model: the parameter itself, and its original while the policies are built.
const PARAMETER: u64 = 4 + 8;

/// Bytes of a value of a formula: a feature, a number, a fact or an operation, in lists of at most twice their length.
/// The sum of a family has the most values per byte of text, fewer than 16.
const FORMULA_VALUE: u64 = 64;

/// Bytes of a tuple of a policy, and of one of its positions: the pattern and its echo.
const TUPLE: u64 = 256;
const POSITION: u64 = 16;

/// Bytes of a row in the table of games, or in that of estimates.
const GAME: u64 = 40;

/// Bytes of two paired games, one of them the baseline's, while two policies are compared.
const PAIRED_GAME: u64 = 2 * 16;

/// Bytes of a sequence in addition to its letters. A list of sequences has at most twice its length.
const SEQUENCE: u64 = 2 * size_of::<Arc<[Piece]>>() as u64 + 2 * BLOCK;

/// Most bytes that an evaluation on this many threads holds until the last byte of its answer is sent. Excludes the
/// request.
pub fn evaluation_bytes(request: &pb::EvaluatePoliciesRequest, num_threads: usize) -> u64 {
    let threads = num_threads as u64;
    // A request beyond the bounds is refused when it is read.
    let entries = || request.policies.iter().take(MAX_POLICIES as usize);
    let policies = entries().map(num_rows).fold(0, u64::saturating_add).min(MAX_POLICIES.into());
    let (seeds, deal) = deal(request, policies);
    let pairs = request.pairs.as_ref().map_or(0, |pairs| (num_values(pairs) / 2).min(MAX_GAMES));
    let episodes = u64::from(request.episodes_per_seed.max(1));
    let played = if request.pairs.is_some() { pairs } else { policies.saturating_mul(seeds) };
    let games = played.saturating_mul(episodes).min(MAX_GAMES);
    let of_a_policy = seeds.saturating_mul(episodes).min(games);
    let unread = if request.include_results { games.min(MAX_UNREAD_GAMES as u64 + threads) } else { 0 };
    // One per thread, and twice as many at the end.
    let under_way = (2 * threads).min(games);
    EVALUATION
        + policies * POLICY
        + entries().map(entry_bytes).sum::<u64>()
        + request.opponent.as_ref().map_or(0, policy_bytes)
        + policies * summary_bytes_of_a_policy()
        + deal
        // First as numbers, then as pairs.
        + pairs * 2 * size_of::<(u32, u32)>() as u64
        + games * GAME
        + if policies > 1 { of_a_policy * PAIRED_GAME } else { 0 }
        // A list has at most twice its length. One waits for the reader while the next one fills.
        + unread * 4 * size_of::<PlayedGame>() as u64
        + under_way * (trials_bytes(request) + thinking_bytes(request))
        + recorded_bytes(request, games)
}

/// Most bytes that a policy holds, its search included. Excludes the request.
pub fn policy_bytes(policy: &pb::Policy) -> u64 {
    num_rows(policy).min(MAX_POLICIES.into()) * POLICY + entry_bytes(policy) + search_bytes(policy)
}

/// Most bytes that the searches in a game or a match hold.
fn thinking_bytes(request: &pb::EvaluatePoliciesRequest) -> u64 {
    let policies = request.policies.iter().take(MAX_POLICIES as usize);
    let largest = policies.map(search_bytes).max().unwrap_or(0);
    let of_opponent = if request.pairs.is_some() { largest } else { 0 };
    largest + of_opponent.max(request.opponent.as_ref().map_or(0, search_bytes))
}

/// Most bytes that a policy's search holds.
fn search_bytes(policy: &pb::Policy) -> u64 {
    let given = policy.search.as_ref().and_then(|search| search.method.as_ref());
    match (given, &policy.kind) {
        (Some(Method::Beam(beam)), _) => search::beam_bytes(beam),
        (None, Some(PolicyKind::Name(name))) => match Controller::named(name).map(|own| own.play.search) {
            Ok(Search::Beam(beam)) => beam.bytes(),
            _ => 0,
        },
        _ => 0,
    }
}

/// Bytes of an entry in addition to its policies: its weights, and its echo as a message and as bytes.
fn entry_bytes(policy: &pb::Policy) -> u64 {
    let of_kind = match &policy.kind {
        None | Some(PolicyKind::MonteCarlo(_)) => 0,
        Some(PolicyKind::Name(name)) => {
            let features = Controller::named(name).map_or(0, |controller| controller.weights.len() as u64);
            features * (FEATURE + OWN_FEATURE) + 2 * name.len() as u64
        }
        Some(PolicyKind::Formula(formula)) => {
            let values = (16 * formula.text.len() as u64).min(MAX_FORMULA_COST.into());
            values * FORMULA_VALUE
        }
        Some(PolicyKind::Weights(weights)) => {
            let values = weights.weights.as_ref().map_or(0, num_values);
            let rows = num_rows(policy).max(1);
            let of_a_row = most_features(weights.features.as_ref()).min(values / rows);
            rows.saturating_mul(of_a_row) * FEATURE
                + of_a_row * OWN_FEATURE
                + values * PARAMETER
                + tuples_bytes(weights.n_tuple.as_ref())
        }
    };
    POLICY + of_kind + 2 * policy.label.len() as u64
}

fn tuples_bytes(n_tuple: Option<&pb::NTuple>) -> u64 {
    let tuples = n_tuple.map_or(&[][..], |n_tuple| &n_tuple.tuples);
    tuples.iter().map(|tuple| TUPLE + tuple.positions.len() as u64 * POSITION).sum()
}

/// Bytes of a policy's summary: as computed, as a message, and as bytes.
fn summary_bytes_of_a_policy() -> u64 {
    let computed = size_of::<PolicySummary>() + size_of::<PairedDifference>();
    let message = size_of::<pb::PolicySummary>() + size_of::<pb::PairedDifference>();
    // Growing lists have at most twice their length.
    (2 * computed + message + summary_bytes(true, true)) as u64
}

/// Number of seeds or sequences per policy, and the bytes of all of them.
fn deal(request: &pb::EvaluatePoliciesRequest, policies: u64) -> (u64, u64) {
    match request.seeding.as_ref().and_then(|seeding| seeding.kind.as_ref()) {
        None | Some(Kind::Seed(_)) => (0, 0),
        Some(Kind::Seeds(pb::Seeds { seeds, per_policy })) => {
            let all = (seeds.len() as u64).min(MAX_GAMES);
            (if *per_policy { all.div_ceil(policies.max(1)) } else { all }, all * size_of::<u64>() as u64)
        }
        Some(Kind::Drawn(drawn)) => {
            let all = u64::from(drawn.count).min(MAX_GAMES);
            (all, all * size_of::<u64>() as u64)
        }
        Some(Kind::PieceSequences(list)) => {
            let letters: u64 = list.sequences.iter().map(|letters| letters.len() as u64).sum();
            // No sequence is empty.
            let letters = letters.min(MAX_REQUEST_SEQUENCE_PIECES.into());
            let all = (list.sequences.len() as u64).min(letters);
            (all, all * SEQUENCE + letters)
        }
    }
}

/// Bytes of an estimate of game lengths: two positions per trial.
fn trials_bytes(request: &pb::EvaluatePoliciesRequest) -> u64 {
    let trials = request.loss_estimation.map_or(0, |estimation| estimation.trials);
    u64::from(trials.min(MAX_LOSS_TRIALS)) * 2 * size_of::<Option<Episode>>() as u64
}

/// Bytes of the actions and landings of recorded games, in lists of at most twice their length, and of one game's
/// recording as a message.
fn recorded_bytes(request: &pb::EvaluatePoliciesRequest, games: u64) -> u64 {
    if !request.include_recordings {
        return 0;
    }
    let most = if request.max_steps == 0 { MAX_RECORDED_BYTES } else { request.max_steps };
    let sides = if request.opponent.is_some() { 2 } else { 1 };
    let steps = most.saturating_mul(sides).min(MAX_RECORDED_BYTES);
    // An action takes two bytes as a number, four in the message, and at most three once encoded. A landing takes one.
    let kept = (2 * steps).min(MAX_RECORDED_BYTES) + steps;
    let numbers = (size_of::<u16>() + size_of::<u32>()) as u64;
    games.min(MAX_RECORDED_GAMES.into()) * 2 * kept + steps * (numbers + 3 + 2)
}

/// Most features of a selection.
fn most_features(selection: Option<&pb::FeatureSelection>) -> u64 {
    let kind = selection.and_then(|selection| selection.kind.as_ref());
    // A list may name families. A set has the most features at the largest width.
    match kind {
        None => 0,
        Some(feature_selection::Kind::FeatureSet(set)) => {
            FeatureSet::named(set, *WIDTHS.end()).map_or(MAX_FEATURES.into(), |set| set.len() as u64)
        }
        Some(feature_selection::Kind::Names(_)) => MAX_FEATURES.into(),
    }
}

/// Number of policies of an entry: the rows of its weights. The largest possible number if the tensor has no shape.
pub fn num_rows(policy: &pb::Policy) -> u64 {
    let Some(PolicyKind::Weights(pb::Weights { weights: Some(weights), features, .. })) = &policy.kind else {
        return 1;
    };
    let values = num_values(weights);
    let rows = match weights.shape[..] {
        [rows, _, ..] => u64::from(rows),
        [_] => 1,
        [] => {
            let least = match features.as_ref().and_then(|features| features.kind.as_ref()) {
                None => return 1,
                // A set has the fewest features at the smallest width.
                Some(feature_selection::Kind::FeatureSet(set)) => {
                    FeatureSet::named(set, *WIDTHS.start()).map_or(1, |set| set.len() as u64)
                }
                Some(feature_selection::Kind::Names(list)) => list.names.len() as u64,
            };
            values / least.max(1)
        }
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
