//! Evaluations: a request, checked and with every default filled in, and the message that describes it. `results.rs` has
//! the other messages of the answer.

use std::time::Duration;

use prost::{Message, length_delimiter_len};

use tetrion_core::agents::Agent;
use tetrion_core::engine::{Game, RULES_VERSION, Rules};
use tetrion_core::features::kernel::Kernel;
use tetrion_core::rollout::{Deal, Evaluation, GameRecord, PackedActions, PlayedGame};
use tetrion_toolkit::recording::{Outcome, Pieces, RecordedOpponent, Recording, Setup};

use super::error::{DecodeError, Fault, InField};
use super::limits::{
    DEFAULT_PROGRESS_INTERVAL, DEFAULT_RESPONSE_BYTES, MAX_GAMES, MAX_LOSS_TRIALS, MAX_PIECES, MAX_POLICIES,
    MAX_RECORDED_BYTES, MAX_RECORDED_GAMES, MAX_STEPS, MIN_LOSS_TRIALS, MIN_PROGRESS_INTERVAL, check_name,
};
use super::pb;
use super::policies::{Policies, decode_single};
use super::rules::ResolvedRules;
use super::session::response_bytes;
use super::tensor::{self, DimSize};
use super::{duration, recording, revision, seeding};

/// A decoded request for an evaluation.
#[derive(Clone, Debug)]
pub struct DecodedEvaluation {
    /// The games to play, with pairs in ascending order.
    pub evaluation: Evaluation,
    /// First message of the answer, which reports the evaluation.
    pub started: pb::EvaluationStarted,
    /// Index of the policy that the others are compared with, if a comparison is possible.
    pub baseline: Option<u32>,
    /// Concurrent games; 0 for one per thread.
    pub parallelism: usize,
    /// Interval of progress reports; `None` for a single report at the end.
    pub progress_interval: Option<Duration>,
    /// Whether the answer lists every game, or every estimate.
    pub include_results: bool,
    /// Whether the answer contains a recording of each game.
    pub include_recordings: bool,
    /// Largest message in bytes that the client accepts.
    pub max_response_bytes: u32,
}

/// Most bytes of a message in addition to its counted parts: the frame around it, and its length prefixes.
const MESSAGE_OVERHEAD: usize = 512;

/// Most bytes of a recording in addition to its actions, landings and explicit pieces: the rules with their piece set,
/// and the final playfield.
const RECORDING_OVERHEAD: usize = 8 << 10;

/// Bytes of a game in `results`, or of an estimate in `estimates`: five numbers of eight bytes, three indices of four,
/// and a flag.
const RESULT_BYTES: usize = 5 * 8 + 3 * 4 + 1;

impl DecodedEvaluation {
    /// Number of policies, from the first on, that fit into messages that the client accepts; `None` if all fit.
    ///
    /// Two messages grow with the number of policies: `started`, whose size is known, and the summary. The size of the
    /// summary is computed as if none of its numbers were 0.
    pub fn policies_that_fit(&self) -> Option<u32> {
        let DecodedEvaluation { evaluation, started, baseline, include_results, max_response_bytes, .. } =
            self;
        let room = (*max_response_bytes as usize).saturating_sub(MESSAGE_OVERHEAD);
        let entries: Vec<usize> = started.policies.iter().map(item_bytes).collect();
        let mut bytes = started.encoded_len() - entries.iter().sum::<usize>();
        let mut started_fits = 0;
        for (entry, entry_bytes) in started.policies.iter().zip(entries) {
            bytes += entry_bytes;
            if bytes > room {
                break;
            }
            started_fits += entry.num_rows as usize;
        }
        let has_spread = evaluation.deal.len() as u64 * u64::from(evaluation.episodes_per_seed) > 1;
        let summary_fits = room / summary_bytes(baseline.is_some(), has_spread);
        let results_fit = if !*include_results || self.results_a_message() > 0 { usize::MAX } else { 0 };
        let fit = started_fits.min(summary_fits).min(results_fit);
        (fit < evaluation.policies.len()).then_some(fit as u32)
    }

    /// Number of games that fit into one message of results.
    pub fn results_a_message(&self) -> usize {
        (self.max_response_bytes as usize).saturating_sub(MESSAGE_OVERHEAD) / RESULT_BYTES
    }
}

/// A request for an evaluation whose policies are being read. There may be thousands, so they are read some at a time. The
/// request is the same in all calls.
#[derive(Debug)]
pub struct ReadEvaluation {
    resolved: ResolvedRules,
    policies: Policies,
}

impl ReadEvaluation {
    /// Reads the rules.
    ///
    /// # Errors
    /// [`DecodeError`] with the fields of `EvaluatePoliciesRequest`, here and in the other methods.
    pub fn begin(request: &pb::EvaluatePoliciesRequest) -> Result<ReadEvaluation, DecodeError> {
        revision::check(request.min_revision)?;
        check_rules_version(&request.rules_version)?;
        let resolved = match &request.rules {
            Some(rules) => ResolvedRules::try_from(rules).in_field("rules")?,
            None => ResolvedRules::default(),
        };
        Ok(ReadEvaluation { resolved, policies: Policies::default() })
    }

    /// Reads the next policies, about as many as take the time of `max_bytes` of formulas: some 20 ns each. Returns whether
    /// there are more.
    pub fn read_policies(
        &mut self,
        request: &pb::EvaluatePoliciesRequest,
        max_bytes: usize,
    ) -> Result<bool, DecodeError> {
        self.policies.read_some(&request.policies, &self.resolved.rules, max_bytes)
    }

    /// Reads the rest of the request, after all policies.
    pub fn finish(
        self,
        request: &pb::EvaluatePoliciesRequest,
        kernel: Kernel,
    ) -> Result<DecodedEvaluation, DecodeError> {
        let ReadEvaluation { resolved, policies } = self;
        let rules = resolved.rules;
        let num_policies = policies.all.len() as u32;
        let seeding = request.seeding.as_ref().ok_or_else(|| DecodeError::missing("seeding"))?;
        let deal = seeding::decode_deal(seeding, num_policies, &rules.pieces).in_field("seeding")?;
        let num_seeds = deal.len() as u32;
        let episodes_per_seed = request.episodes_per_seed.max(1);
        let most_episodes = if rules.is_match() { 2 } else { 1 };
        if matches!(deal, Deal::Sequences(_)) && episodes_per_seed > most_episodes {
            let problem =
                format!("is {episodes_per_seed}, expected 0 to {most_episodes} with piece_sequences");
            return Err(DecodeError::field("episodes_per_seed", problem));
        }
        let opponent = match &request.opponent {
            Some(_) if !rules.is_match() => {
                return Err(DecodeError::field(
                    "opponent",
                    "is set, expected none: the rules have players 1",
                ));
            }
            Some(opponent) => Some(decode_single(opponent, &rules).in_field("opponent")?),
            None if rules.is_match() => return Err(DecodeError::missing("opponent")),
            None => None,
        };
        if opponent.is_some() && request.loss_estimation.is_some() {
            return Err(DecodeError::field("loss_estimation", "is set, expected not: the games are matches"));
        }
        let pairs = decode_pairs(request.pairs.as_ref(), num_policies, num_seeds)?;
        let num_pairs =
            pairs.as_ref().map_or(u64::from(num_policies) * u64::from(num_seeds), |pairs| pairs.len() as u64);
        let num_games = num_pairs.saturating_mul(episodes_per_seed.into());
        if num_games > MAX_GAMES {
            let problem = format!(
                "makes {num_games} games ({num_pairs} of policy and seed, {episodes_per_seed} each), expected at most {MAX_GAMES}"
            );
            return Err(DecodeError::field("seeding", problem));
        }
        if !rules.end_games() && request.max_pieces == 0 && request.max_steps == 0 {
            let problem = "is 0, expected at least 1: no game ends under top_out sink";
            return Err(DecodeError::field("max_pieces", problem));
        }
        let max_pieces = limit("max_pieces", request.max_pieces, MAX_PIECES)?;
        let max_response_bytes = response_bytes(request.max_response_bytes, DEFAULT_RESPONSE_BYTES)?;
        let loss_trials = match &request.loss_estimation {
            Some(estimation) => {
                check_estimation(estimation, request.include_recordings, &rules, &deal, &policies.all)
                    .in_field("loss_estimation")?;
                estimation.trials
            }
            None => 0,
        };
        if request.include_recordings {
            check_recordings(request, num_games)?;
        }
        let most_steps = match request.include_recordings {
            true => recorded_steps(&rules, &deal, max_response_bytes),
            false => MAX_STEPS,
        };
        let max_steps = limit("max_steps", request.max_steps, most_steps)?;
        // Estimates of two policies share no pieces.
        let shared_seeds = !matches!(deal, Deal::PerSlot { .. }) && loss_trials == 0;
        let baseline = decode_baseline(request.baseline, num_policies)?;
        let baseline = (shared_seeds && num_policies > 1).then_some(baseline);
        let started = pb::EvaluationStarted {
            rules: Some(pb::Rules::from(&resolved)),
            rules_version: RULES_VERSION.to_owned(),
            num_policies,
            num_seeds,
            episodes_per_seed,
            num_games,
            max_pieces,
            max_steps,
            policies: policies.entries,
            baseline,
            loss_estimation: request.loss_estimation,
        };
        Ok(DecodedEvaluation {
            evaluation: Evaluation {
                rules,
                policies: policies.all,
                deal,
                episodes_per_seed,
                pairs,
                max_pieces,
                max_steps,
                loss_trials,
                opponent,
                kernel,
            },
            started,
            baseline,
            parallelism: request.max_parallelism as usize,
            progress_interval: progress_interval(request.progress_interval.as_ref())?,
            include_results: request.include_results,
            include_recordings: request.include_recordings,
            max_response_bytes,
        })
    }
}

/// Checks that this many games can be recorded.
fn check_recordings(request: &pb::EvaluatePoliciesRequest, num_games: u64) -> Result<(), DecodeError> {
    if !request.include_results {
        let problem = "is true without include_results, expected both";
        return Err(DecodeError::field("include_recordings", problem));
    }
    if num_games > MAX_RECORDED_GAMES.into() {
        let problem =
            format!("makes {num_games} games, expected at most {MAX_RECORDED_GAMES} with include_recordings");
        return Err(DecodeError::field("seeding", problem));
    }
    Ok(())
}

/// Checks that the length of these games can be estimated.
fn check_estimation(
    &pb::LossEstimation { trials }: &pb::LossEstimation,
    include_recordings: bool,
    rules: &Rules,
    deal: &Deal,
    policies: &[Agent],
) -> Result<(), DecodeError> {
    if !(MIN_LOSS_TRIALS..=MAX_LOSS_TRIALS).contains(&trials) {
        let problem = format!("is {trials}, expected {MIN_LOSS_TRIALS} to {MAX_LOSS_TRIALS}");
        return Err(DecodeError::field("trials", problem));
    }
    let excluded = |with: &str| Err(DecodeError::field("", format!("is given with {with}")));
    if include_recordings {
        return excluded("include_recordings, expected one of the two: an estimate plays no game");
    }
    if matches!(deal, Deal::Sequences(_)) {
        return excluded("piece_sequences, expected seeds: trials draw separate pieces");
    }
    if rules.preview > 0 {
        let shown = rules.preview;
        return excluded(&format!("a preview of {shown}, expected 0: trials do not deal the shown pieces"));
    }
    if !rules.end_games() {
        return excluded("top_out sink, under which no game is lost; expected another top_out");
    }
    if policies.iter().any(Agent::knows_counts) {
        return excluded("a formula that names lines or pieces, expected none: trials begin within games");
    }
    Ok(())
}

/// Most steps of a recorded game, or turns of a match. It must fit into one message, with one byte per seven bits of an action and one byte
/// per landing, and its actions must fit into the memory for recordings.
fn recorded_steps(rules: &Rules, deal: &Deal, max_response_bytes: u32) -> u64 {
    let letters = match deal {
        Deal::Sequences(sequences) => sequences.iter().map(|pieces| pieces.len()).max().unwrap_or(0),
        Deal::Common(_) | Deal::PerSlot { .. } => 0,
    };
    let sides = u64::from(rules.players);
    let overhead = RECORDING_OVERHEAD * usize::from(rules.players) + letters;
    let room = (max_response_bytes as usize).saturating_sub(overhead) as u64 / sides;
    let bits = (rules.num_actions() - 1).max(1).ilog2() + 1;
    let kept = MAX_RECORDED_BYTES / (PackedActions::bytes_each(rules) as u64 * sides);
    kept.min((room / u64::from(bits.div_ceil(7) + 1)).max(1))
}

/// The recording of a finished game, as a message.
pub fn encode_recording(
    evaluation: &Evaluation,
    result: &PlayedGame,
    record: GameRecord,
) -> pb::EvaluationRecording {
    let pieces = match &evaluation.deal {
        Deal::Sequences(sequences) => Pieces::Sequence(sequences[result.seed_index as usize].clone()),
        Deal::Common(_) | Deal::PerSlot { .. } => Pieces::Seed(result.seed),
    };
    let outcome = |Game { playfield, lines, pieces, score, end, .. }: Game<u64, 32>| Outcome {
        pieces,
        lines,
        score,
        end,
        playfield,
    };
    let recording = Recording {
        setup: Setup::new(evaluation.rules, pieces),
        player: String::new(),
        origin: String::new(),
        actions: record.actions.iter().collect(),
        landing_lines: record.landing_lines,
        outcome: outcome(record.game),
        opponent: record.opponent.map(|side| RecordedOpponent {
            player: String::new(),
            actions: side.actions.iter().collect(),
            landing_lines: side.landing_lines,
            outcome: outcome(side.game),
        }),
    };
    pb::EvaluationRecording {
        policy_index: result.policy,
        seed_index: result.seed_index,
        episode_index: result.episode,
        recording: Some(recording::encode(&recording)),
    }
}

/// Size of a message as an item of a list.
fn item_bytes(message: &impl Message) -> usize {
    let bytes = message.encoded_len();
    1 + length_delimiter_len(bytes) + bytes
}

/// Most bytes of a policy in the summary. Estimates have as many statistics as games.
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
        lines: statistics(),
        pieces: statistics(),
        steps: statistics(),
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

fn decode_baseline(baseline: u32, num_policies: u32) -> Result<u32, DecodeError> {
    if baseline >= num_policies {
        let problem = format!("is {baseline}, expected a policy below {num_policies}");
        return Err(DecodeError::field("baseline", problem));
    }
    Ok(baseline)
}

/// Time between two reports of progress; `None` for a single one at the end.
///
/// # Errors
/// If it is negative.
pub fn progress_interval(interval: Option<&prost_types::Duration>) -> Result<Option<Duration>, DecodeError> {
    let Some(interval) = interval else { return Ok(Some(DEFAULT_PROGRESS_INTERVAL)) };
    let interval = duration::decode(interval).ok_or_else(|| {
        let problem = format!("is {}, expected 0 s or more", duration::written(interval));
        DecodeError::field("progress_interval", problem)
    })?;
    Ok((!interval.is_zero()).then(|| interval.max(MIN_PROGRESS_INTERVAL)))
}

/// Reads the pairs to play, and sorts them.
fn decode_pairs(
    pairs: Option<&pb::Tensor>,
    num_policies: u32,
    num_seeds: u32,
) -> Result<Option<Vec<(u32, u32)>>, DecodeError> {
    let Some(pairs) = pairs else { return Ok(None) };
    let wrong = |problem: String| DecodeError::invalid(Fault::Tensor, "pairs", problem);
    let mut pairs = read_pairs(pairs).in_field("pairs")?;
    if pairs.is_empty() {
        return Err(wrong("has no rows, expected at least one".to_owned()));
    }
    if let Some(row) = pairs.iter().position(|pair| pair.0 >= num_policies || pair.1 >= num_seeds) {
        let (policy, seed) = (pairs[row].0 as i32, pairs[row].1 as i32);
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

/// Pairs of policy and seed, in the order of the tensor. A negative index is out of range: it becomes a huge number.
///
/// # Errors
/// If the tensor has other elements than `int32`, or rows of another length than two.
pub fn read_pairs(pairs: &pb::Tensor) -> Result<Vec<(u32, u32)>, DecodeError> {
    let numbers = tensor::decode::<i32>(pairs, &[DimSize::Any, DimSize::Exactly(2)])?.elements;
    Ok(numbers.chunks_exact(2).map(|pair| (pair[0] as u32, pair[1] as u32)).collect())
}

/// The tensor of pairs of policy and seed.
pub fn write_pairs(pairs: impl Iterator<Item = (u32, u32)>) -> pb::Tensor {
    let numbers: Vec<i32> = pairs.flat_map(|(policy, seed)| [policy as i32, seed as i32]).collect();
    tensor::encode(vec![numbers.len() as u32 / 2, 2], &numbers)
}
