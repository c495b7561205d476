//! Evaluations: a request, checked and with every default filled in; and the messages of its answer.

use std::time::Duration;

use prost::{Message, length_delimiter_len};

use crate::engine::rng::{Tag, word};
use crate::engine::{PieceSet, RULES_VERSION, Rules};
use crate::features::kernel::Kernel;
use crate::rollout::{Actions, Deal, Evaluation, GameResult};
use crate::summary::{PairedDifference, PolicySummary, Statistics};

use super::error::{DecodeError, Fault, InField};
use super::limits::{
    DEFAULT_PROGRESS_INTERVAL, DEFAULT_RESPONSE_BYTES, MAX_GAMES, MAX_LOSS_TRIALS, MAX_PIECES, MAX_POLICIES,
    MAX_RECORDED_BYTES, MAX_RECORDED_GAMES, MAX_STEPS, MIN_LOSS_TRIALS, MIN_PROGRESS_INTERVAL, check_name,
};
use super::pb;
use super::pb::evaluate_policies_request::Games;
use super::policies::Policies;
use super::rules::ResolvedRules;
use super::session::response_bytes;
use super::tensor::{self, Dim};
use super::{duration, features, models, revision, sequences};

/// A decoded request for an evaluation.
#[derive(Clone, Debug)]
pub struct EvaluationRequest {
    /// The games to play. Its pairs are in ascending order.
    pub evaluation: Evaluation,
    /// First message of the answer, which reports the evaluation.
    pub started: pb::EvaluationStarted,
    /// The policy that others are compared with, if they can be.
    pub baseline: Option<u32>,
    /// Games in progress at a time; 0 for one per thread.
    pub parallelism: usize,
    /// How often to report progress; `None` for only at the end.
    pub progress_interval: Option<Duration>,
    /// Whether the answer leaves out single games.
    pub omit_results: bool,
    /// Whether the answer has the actions of each game.
    pub record: bool,
    /// The largest message in bytes that the client can take.
    pub max_response_bytes: u32,
}

/// Most bytes of a message besides its counted parts: the frame around it, and the lengths in it.
const MESSAGE_OVERHEAD: usize = 512;

/// Bytes of a game in `results`: five counters of eight bytes, three indices of four, and a flag.
const RESULT_BYTES: usize = 5 * 8 + 3 * 4 + 1;

impl EvaluationRequest {
    /// How many policies, from the first on, fit into messages that the client accepts; `None`: all of them.
    ///
    /// Two messages grow with the policies: `started`, whose size is known, and the summary, whose size is computed as if
    /// none of its numbers were 0.
    pub fn policies_that_fit(&self) -> Option<u32> {
        let EvaluationRequest { evaluation, started, baseline, omit_results, max_response_bytes, .. } = self;
        let room = (*max_response_bytes as usize).saturating_sub(MESSAGE_OVERHEAD);
        let agents: Vec<usize> = started.agents.iter().map(item_bytes).collect();
        let mut bytes = started.encoded_len() - agents.iter().sum::<usize>();
        let started_fits = if bytes > room {
            0
        } else {
            let fits = |agent: &&usize| {
                bytes += **agent;
                bytes <= room
            };
            evaluation.policies.len() - agents.len() + agents.iter().take_while(fits).count()
        };
        let has_spread = evaluation.deal.len() as u64 * u64::from(evaluation.episodes_per_seed) > 1;
        let summary_fits = room / summary_bytes(baseline.is_some(), has_spread);
        let results_fit = if *omit_results || self.results_a_message() > 0 { usize::MAX } else { 0 };
        let fit = started_fits.min(summary_fits).min(results_fit);
        (fit < evaluation.policies.len()).then_some(fit as u32)
    }

    /// How many games fit into one message of results.
    pub fn results_a_message(&self) -> usize {
        (self.max_response_bytes as usize).saturating_sub(MESSAGE_OVERHEAD) / RESULT_BYTES
    }
}

/// Reads a request.
///
/// # Errors
/// [`DecodeError`] with the fields of `EvaluatePoliciesRequest`.
pub fn decode(
    request: &pb::EvaluatePoliciesRequest,
    kernel: Kernel,
) -> Result<EvaluationRequest, DecodeError> {
    revision::check(request.min_revision)?;
    check_rules_version(&request.rules_version)?;
    let resolved = match &request.rules {
        Some(rules) => ResolvedRules::try_from(rules).in_field("rules")?,
        None => ResolvedRules::default(),
    };
    let rules = resolved.rules;
    let policies = Policies::decode(request, &rules)?;
    let num_policies = policies.all.len() as u32;
    let deal = decode_games(request, num_policies, &rules.pieces)?;
    let num_seeds = deal.len() as u32;
    let episodes_per_seed = request.episodes_per_seed.max(1);
    if matches!(deal, Deal::Sequences(_)) && episodes_per_seed > 1 {
        let problem = format!("is {episodes_per_seed}, expected 0 or 1 with piece_sequences");
        return Err(DecodeError::field("episodes_per_seed", problem));
    }
    let pairs = decode_pairs(request.pairs.as_ref(), num_policies, num_seeds)?;
    let num_pairs =
        pairs.as_ref().map_or(u64::from(num_policies) * u64::from(num_seeds), |pairs| pairs.len() as u64);
    let num_games = num_pairs.saturating_mul(episodes_per_seed.into());
    if num_games > MAX_GAMES {
        let problem = format!(
            "make {num_games} games ({num_pairs} of policy and seed, {episodes_per_seed} each), expected at most {MAX_GAMES}"
        );
        return Err(DecodeError::field("games", problem));
    }
    if !rules.end_games() && request.max_pieces == 0 && request.max_steps == 0 {
        let problem = "is 0, expected at least 1: no game ends under top_out sink";
        return Err(DecodeError::field("max_pieces", problem));
    }
    let max_pieces = limit("max_pieces", request.max_pieces, MAX_PIECES)?;
    let max_response_bytes = response_bytes(request.max_response_bytes, DEFAULT_RESPONSE_BYTES)?;
    if request.loss_trials > 0 {
        check_loss_trials(request, &rules, &deal)?;
    }
    if request.record {
        check_record(request, num_games)?;
    }
    let most_steps = if request.record { recorded_steps(&rules, max_response_bytes) } else { MAX_STEPS };
    let max_steps = limit("max_steps", request.max_steps, most_steps)?;
    // Estimates of two policies have no pieces in common.
    let shared_seeds = !matches!(deal, Deal::PerSlot { .. }) && request.loss_trials == 0;
    let baseline =
        decode_baseline(request.baseline, num_policies)?.filter(|_| shared_seeds && num_policies > 1);
    let (mlp, n_tuple) = policies.model.as_deref().map_or((None, None), models::encode);
    let started = pb::EvaluationStarted {
        rules: Some(pb::Rules::from(&resolved)),
        rules_version: RULES_VERSION.to_owned(),
        num_policies,
        num_seeds,
        episodes_per_seed,
        num_games,
        max_pieces,
        max_steps,
        feature_columns: policies.features.as_ref().map(features::encode_columns),
        agents: policies.named,
        terminal_value: policies.terminal_value.into(),
        baseline,
        mlp,
        n_tuple,
        loss_trials: request.loss_trials,
    };
    Ok(EvaluationRequest {
        evaluation: Evaluation {
            rules,
            policies: policies.all,
            deal,
            episodes_per_seed,
            pairs,
            max_pieces,
            max_steps,
            loss_trials: request.loss_trials,
            kernel,
        },
        started,
        baseline,
        parallelism: request.max_parallelism as usize,
        progress_interval: decode_progress_interval(request.progress_interval.as_ref())?,
        omit_results: request.omit_results,
        record: request.record,
        max_response_bytes,
    })
}

/// Checks that the actions of so many games can be kept.
fn check_record(request: &pb::EvaluatePoliciesRequest, num_games: u64) -> Result<(), DecodeError> {
    if request.omit_results {
        return Err(DecodeError::field("record", "is set together with omit_results, expected one of them"));
    }
    if num_games > MAX_RECORDED_GAMES.into() {
        let problem = format!("make {num_games} games, expected at most {MAX_RECORDED_GAMES} with record");
        return Err(DecodeError::field("games", problem));
    }
    Ok(())
}

/// Checks that the length of these games can be estimated.
fn check_loss_trials(
    request: &pb::EvaluatePoliciesRequest,
    rules: &Rules,
    deal: &Deal,
) -> Result<(), DecodeError> {
    let wrong = |problem: String| Err(DecodeError::field("loss_trials", problem));
    let trials = request.loss_trials;
    if !(MIN_LOSS_TRIALS..=MAX_LOSS_TRIALS).contains(&trials) {
        return wrong(format!("is {trials}, expected 0 or {MIN_LOSS_TRIALS} to {MAX_LOSS_TRIALS}"));
    }
    if request.record {
        return wrong(format!("is {trials}, expected 0 with record: an estimate plays no game"));
    }
    if matches!(deal, Deal::Sequences(_)) {
        return wrong(format!("is {trials}, expected 0 with piece_sequences: trials draw separate pieces"));
    }
    if rules.preview > 0 {
        let shown = rules.preview;
        return wrong(format!(
            "is {trials}, expected 0 with a preview of {shown}: trials do not deal the shown pieces"
        ));
    }
    if !rules.end_games() {
        return wrong(format!("is {trials}, expected 0 under top_out sink: no game is lost"));
    }
    Ok(())
}

/// Steps of the longest game whose actions fit into one message, one byte per seven bits of an action, and into the
/// memory for recordings.
fn recorded_steps(rules: &Rules, max_response_bytes: u32) -> u64 {
    let room = (max_response_bytes as usize).saturating_sub(MESSAGE_OVERHEAD).max(1);
    let bits = (rules.num_actions() - 1).max(1).ilog2() + 1;
    let kept = MAX_RECORDED_BYTES / Actions::bytes_each(rules) as u64;
    kept.min(room as u64 / u64::from(bits.div_ceil(7)))
}

/// The actions of a finished game, as a message.
pub fn encode_actions(result: &GameResult, actions: &Actions) -> pb::EvaluationActions {
    pb::EvaluationActions {
        policy_index: result.policy,
        seed_index: result.seed_index,
        episode_index: result.episode,
        actions: actions.iter().map(u32::from).collect(),
    }
}

/// Bytes of a message as an item of a list.
fn item_bytes(message: &impl Message) -> usize {
    let bytes = message.encoded_len();
    1 + length_delimiter_len(bytes) + bytes
}

/// Most bytes of a policy in the summary.
pub(super) fn summary_bytes(is_compared: bool, has_spread: bool) -> usize {
    let spread = has_spread.then_some(1.0);
    let statistics = || {
        let [std, ci95_low, ci95_high] = [spread; 3];
        Some(pb::Statistics { mean: 1.0, std, ci95_low, ci95_high, min: 1.0, max: 1.0 })
    };
    let policy = pb::PolicySummary {
        policy_index: MAX_POLICIES,
        num_games: MAX_GAMES,
        num_truncated: MAX_GAMES,
        lower_bound: true,
        lines: statistics(),
        pieces: statistics(),
        score: statistics(),
    };
    let difference = pb::PairedDifference {
        policy_index: MAX_POLICIES,
        baseline_index: MAX_POLICIES,
        num_games: MAX_GAMES,
        num_truncated: MAX_GAMES,
        lines: statistics(),
        score: statistics(),
    };
    item_bytes(&policy) + if is_compared { item_bytes(&difference) } else { 0 }
}

fn check_rules_version(version: &str) -> Result<(), DecodeError> {
    check_name("rules_version", version)?;
    if !version.is_empty() && version != RULES_VERSION {
        let (expected, got) = (RULES_VERSION.to_owned(), version.to_owned());
        return Err(DecodeError::RulesVersionMismatch { expected, got });
    }
    Ok(())
}

fn limit(field: &str, wanted: u64, max: u64) -> Result<u64, DecodeError> {
    match wanted {
        0 => Ok(max),
        wanted if wanted > max => {
            Err(DecodeError::field(field, format!("is {wanted}, expected at most {max}")))
        }
        wanted => Ok(wanted),
    }
}

fn decode_baseline(baseline: Option<u32>, num_policies: u32) -> Result<Option<u32>, DecodeError> {
    match baseline {
        Some(index) if index >= num_policies => {
            let problem = format!("is {index}, expected a policy below {num_policies}");
            Err(DecodeError::field("baseline", problem))
        }
        baseline => Ok(Some(baseline.unwrap_or(0))),
    }
}

fn decode_progress_interval(
    interval: Option<&prost_types::Duration>,
) -> Result<Option<Duration>, DecodeError> {
    let Some(interval) = interval else { return Ok(Some(DEFAULT_PROGRESS_INTERVAL)) };
    let interval = duration::decode(interval).ok_or_else(|| {
        let problem = format!("is {}, expected 0 s or more", duration::written(interval));
        DecodeError::field("progress_interval", problem)
    })?;
    Ok((!interval.is_zero()).then(|| interval.max(MIN_PROGRESS_INTERVAL)))
}

fn decode_games(
    request: &pb::EvaluatePoliciesRequest,
    num_policies: u32,
    pieces: &PieceSet,
) -> Result<Deal, DecodeError> {
    let deal = match &request.games {
        None => return Err(DecodeError::missing("games")),
        Some(Games::Seeds(seeds)) => decode_seeds(seeds, num_policies).in_field("seeds")?,
        Some(Games::SeedRange(pb::SeedRange { seed, count })) => {
            if *count == 0 || u64::from(*count) > MAX_GAMES {
                let problem = format!("is {count}, expected 1 to {MAX_GAMES}");
                return Err(DecodeError::field("seed_range.count", problem));
            }
            Deal::Common((0..u64::from(*count)).map(|j| word(*seed, Tag::Game, j)).collect())
        }
        Some(Games::PieceSequences(pb::PieceSequences { sequences })) => Deal::Sequences(
            sequences::decode_list(pieces, "sequences", sequences).in_field("piece_sequences")?,
        ),
    };
    Ok(deal)
}

fn decode_seeds(seeds: &pb::Tensor, num_policies: u32) -> Result<Deal, DecodeError> {
    let none = || DecodeError::invalid(Fault::Tensor, "", "has no seeds, expected at least one");
    if seeds.shape.len() < 2 {
        let seeds = tensor::decode::<u64>(seeds, &[Dim::Any])?.elements;
        return if seeds.is_empty() { Err(none()) } else { Ok(Deal::Common(seeds)) };
    }
    let matrix = tensor::decode::<u64>(seeds, &[Dim::Exactly(num_policies), Dim::Any])?;
    let columns = matrix.shape[1] as usize;
    if columns == 0 { Err(none()) } else { Ok(Deal::PerSlot { seeds: matrix.elements, columns }) }
}

/// Reads the pairs to play, into ascending order.
fn decode_pairs(
    pairs: Option<&pb::Tensor>,
    num_policies: u32,
    num_seeds: u32,
) -> Result<Option<Vec<(u32, u32)>>, DecodeError> {
    let Some(pairs) = pairs else { return Ok(None) };
    let wrong = |problem: String| DecodeError::invalid(Fault::Tensor, "pairs", problem);
    let numbers = tensor::decode::<u32>(pairs, &[Dim::Any, Dim::Exactly(2)]).in_field("pairs")?.elements;
    let mut pairs: Vec<(u32, u32)> = numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    if pairs.is_empty() {
        return Err(wrong("has no rows, expected at least one".to_owned()));
    }
    if let Some(row) = pairs.iter().position(|pair| pair.0 >= num_policies || pair.1 >= num_seeds) {
        let (policy, seed) = pairs[row];
        let problem = format!(
            "row {row} is [{policy}, {seed}], expected a policy below {num_policies} and a seed below {num_seeds}"
        );
        return Err(wrong(problem));
    }
    pairs.sort_unstable();
    if let Some(twice) = pairs.windows(2).find(|two| two[0] == two[1]) {
        return Err(wrong(format!("has the row [{}, {}] twice", twice[0].0, twice[0].1)));
    }
    Ok(Some(pairs))
}

/// Finished games as a message, in the order given.
pub fn encode_results(results: &[GameResult]) -> pb::EvaluationResults {
    fn column<T: tensor::Element>(
        results: &[GameResult],
        value: impl Fn(&GameResult) -> T,
    ) -> Option<pb::Tensor> {
        let values: Vec<T> = results.iter().map(value).collect();
        Some(tensor::encode(vec![values.len() as u32], &values))
    }
    let truncated: Vec<bool> = results.iter().map(|result| result.truncated).collect();
    pb::EvaluationResults {
        policy_indices: column(results, |result| result.policy),
        seed_indices: column(results, |result| result.seed_index),
        episode_indices: column(results, |result| result.episode),
        seeds: column(results, |result| result.seed),
        lines: column(results, |result| result.lines),
        pieces: column(results, |result| result.pieces),
        steps: column(results, |result| result.steps),
        scores: column(results, |result| result.score),
        truncated: Some(tensor::encode_bools(vec![truncated.len() as u32], &truncated)),
    }
}

/// The last message of an answer.
pub fn encode_summary(policies: &[PolicySummary], differences: &[PairedDifference]) -> pb::EvaluationSummary {
    pb::EvaluationSummary {
        policies: policies.iter().map(pb::PolicySummary::from).collect(),
        paired_differences: differences.iter().map(pb::PairedDifference::from).collect(),
    }
}

impl From<&PolicySummary> for pb::PolicySummary {
    fn from(summary: &PolicySummary) -> pb::PolicySummary {
        pb::PolicySummary {
            policy_index: summary.policy,
            num_games: summary.num_games,
            num_truncated: summary.num_truncated,
            lower_bound: summary.num_truncated > 0,
            lines: Some(summary.lines.into()),
            pieces: Some(summary.pieces.into()),
            score: Some(summary.score.into()),
        }
    }
}

impl From<&PairedDifference> for pb::PairedDifference {
    fn from(difference: &PairedDifference) -> pb::PairedDifference {
        pb::PairedDifference {
            policy_index: difference.policy,
            baseline_index: difference.baseline,
            num_games: difference.num_games,
            num_truncated: difference.num_truncated,
            lines: Some(difference.lines.into()),
            score: Some(difference.score.into()),
        }
    }
}

impl From<Statistics> for pb::Statistics {
    fn from(Statistics { mean, spread, min, max }: Statistics) -> pb::Statistics {
        pb::Statistics {
            mean,
            std: spread.map(|spread| spread.std),
            ci95_low: spread.map(|spread| spread.ci95.0),
            ci95_high: spread.map(|spread| spread.ci95.1),
            min,
            max,
        }
    }
}
