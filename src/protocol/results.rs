//! Results of evaluations, both ways: games and estimates as parallel columns, and the message of their summary.

use tetrion_core::engine::EpisodeEnd;
use tetrion_core::rollout::{Estimate, EstimatedGame, PlayedGame};
use tetrion_core::summary::{EstimateSummary, PairedDifference, PolicySummary, Statistics};

use super::error::{DecodeError, Fault};
use super::pb;
use super::tensor::{self, DimSize, Element};

/// Finished games as a message, in the order given.
pub fn encode_results(results: &[PlayedGame]) -> pb::EvaluationResults {
    pb::EvaluationResults {
        policy_indices: column(results, |result| result.policy as i32),
        seed_indices: column(results, |result| result.seed_index as i32),
        episode_indices: column(results, |result| result.episode as i32),
        seeds: column(results, |result| result.seed),
        lines: column(results, |result| result.lines as i64),
        pieces: column(results, |result| result.pieces as i64),
        steps: column(results, |result| result.steps as i64),
        scores: column(results, |result| result.score),
        ends: column(results, |result| EpisodeEnd::number(result.end)),
    }
}

/// Finished estimates as a message, in the order given.
pub fn encode_estimates(estimates: &[EstimatedGame]) -> pb::EvaluationEstimates {
    pb::EvaluationEstimates {
        policy_indices: column(estimates, |result| result.policy as i32),
        seed_indices: column(estimates, |result| result.seed_index as i32),
        episode_indices: column(estimates, |result| result.episode as i32),
        seeds: column(estimates, |result| result.seed),
        loss_rates: column(estimates, |result| result.estimate.loss_rate),
        lines_per_piece: column(estimates, |result| result.estimate.lines_per_piece),
        steps_per_piece: column(estimates, |result| result.estimate.steps_per_piece),
        score_per_piece: column(estimates, |result| result.estimate.score_per_piece),
        lasts_longer: flags(estimates, |result| result.estimate.lasts_longer),
    }
}

fn column<R, T: Element>(results: &[R], value: impl Fn(&R) -> T) -> Option<pb::Tensor> {
    let values: Vec<T> = results.iter().map(value).collect();
    Some(tensor::encode(vec![values.len() as u32], &values))
}

fn flags<R>(results: &[R], flag: impl Fn(&R) -> bool) -> Option<pb::Tensor> {
    let flags: Vec<bool> = results.iter().map(flag).collect();
    Some(tensor::encode_bools(vec![flags.len() as u32], &flags))
}

/// Reads finished games. What a game's place is among all games depends on the request, and is left 0.
///
/// # Errors
/// Columns of other types or of different lengths, or a number that no game has.
pub fn decode_results(results: &pb::EvaluationResults) -> Result<Vec<PlayedGame>, DecodeError> {
    let keys = read_keys(
        [&results.policy_indices, &results.seed_indices, &results.episode_indices],
        &results.seeds,
    )?;
    let length = DimSize::Exactly(keys.len() as u32);
    let lines: Vec<i64> = read(&results.lines, "lines", length)?;
    let pieces: Vec<i64> = read(&results.pieces, "pieces", length)?;
    let steps: Vec<i64> = read(&results.steps, "steps", length)?;
    let scores: Vec<f64> = read(&results.scores, "scores", length)?;
    let ends: Vec<u8> = read(&results.ends, "ends", length)?;
    let game = |(row, &(policy, seed_index, episode, seed)): (usize, &ResultKey)| {
        Ok(PlayedGame {
            game: 0,
            policy,
            seed_index,
            episode,
            seed,
            lines: number("lines", row, lines[row])?,
            pieces: number("pieces", row, pieces[row])?,
            steps: number("steps", row, steps[row])?,
            score: scores[row],
            end: EpisodeEnd::with_number(ends[row])
                .ok_or_else(|| DecodeError::without_a_meaning(format!("ends[{row}]"), ends[row].into()))?,
        })
    };
    keys.iter().enumerate().map(game).collect()
}

/// Reads finished estimates, like [`decode_results`].
///
/// # Errors
/// Columns of other types or of different lengths, or a negative index.
pub fn decode_estimates(estimates: &pb::EvaluationEstimates) -> Result<Vec<EstimatedGame>, DecodeError> {
    let indices = [&estimates.policy_indices, &estimates.seed_indices, &estimates.episode_indices];
    let keys = read_keys(indices, &estimates.seeds)?;
    let length = DimSize::Exactly(keys.len() as u32);
    let loss_rates: Vec<f64> = read(&estimates.loss_rates, "loss_rates", length)?;
    let lines: Vec<f64> = read(&estimates.lines_per_piece, "lines_per_piece", length)?;
    let steps: Vec<f64> = read(&estimates.steps_per_piece, "steps_per_piece", length)?;
    let scores: Vec<f64> = read(&estimates.score_per_piece, "score_per_piece", length)?;
    let lasts_longer = tensor::decode_bools(estimates.lasts_longer.as_ref(), "lasts_longer", keys.len())?;
    let estimate = |(row, &(policy, seed_index, episode, seed)): (usize, &ResultKey)| {
        Ok(EstimatedGame {
            game: 0,
            policy,
            seed_index,
            episode,
            seed,
            estimate: Estimate {
                loss_rate: loss_rates[row],
                lines_per_piece: lines[row],
                steps_per_piece: steps[row],
                score_per_piece: scores[row],
                lasts_longer: lasts_longer[row],
            },
        })
    };
    keys.iter().enumerate().map(estimate).collect()
}

/// What identifies a result: the indices of its policy, its seed and its episode, and its seed.
type ResultKey = (u32, u32, u32, u64);

fn read_keys(
    indices: [&Option<pb::Tensor>; 3],
    seeds: &Option<pb::Tensor>,
) -> Result<Vec<ResultKey>, DecodeError> {
    const NAMES: [&str; 3] = ["policy_indices", "seed_indices", "episode_indices"];
    let policies: Vec<i32> = read(indices[0], NAMES[0], DimSize::Any)?;
    let length = DimSize::Exactly(policies.len() as u32);
    let seed_indices: Vec<i32> = read(indices[1], NAMES[1], length)?;
    let episodes: Vec<i32> = read(indices[2], NAMES[2], length)?;
    let seeds: Vec<u64> = read(seeds, "seeds", length)?;
    let key = |row: usize| {
        let index = |at: usize, column: &[i32]| number(NAMES[at], row, column[row]);
        Ok((index(0, &policies)?, index(1, &seed_indices)?, index(2, &episodes)?, seeds[row]))
    };
    (0..seeds.len()).map(key).collect()
}

fn read<T: Element>(column: &Option<pb::Tensor>, name: &str, length: DimSize) -> Result<Vec<T>, DecodeError> {
    Ok(tensor::decode_field(column.as_ref(), name, &[length])?.elements)
}

/// A number of a row, none of which is negative.
fn number<T: TryFrom<N>, N: Copy + std::fmt::Display>(
    name: &str,
    row: usize,
    number: N,
) -> Result<T, DecodeError> {
    let wrong = || format!("has {number} in row {row}, expected 0 or more");
    T::try_from(number).map_err(|_| DecodeError::invalid(Fault::Tensor, name, wrong()))
}

/// The last message of an answer about games.
pub fn encode_summary(policies: &[PolicySummary], differences: &[PairedDifference]) -> pb::EvaluationSummary {
    pb::EvaluationSummary {
        policies: policies.iter().map(pb::PolicySummary::from).collect(),
        paired_differences: differences.iter().map(pb::PairedDifference::from).collect(),
        estimates: Vec::new(),
    }
}

/// The last message of an answer about estimates.
pub fn encode_estimate_summary(estimates: &[EstimateSummary]) -> pb::EvaluationSummary {
    let estimates = estimates.iter().map(pb::EstimateSummary::from).collect();
    pb::EvaluationSummary { estimates, ..Default::default() }
}

impl From<&PolicySummary> for pb::PolicySummary {
    fn from(summary: &PolicySummary) -> pb::PolicySummary {
        pb::PolicySummary {
            policy_index: summary.policy,
            num_games: summary.num_games,
            num_truncated: summary.num_truncated,
            lines: Some(summary.lines.into()),
            pieces: Some(summary.pieces.into()),
            steps: Some(summary.steps.into()),
            score: Some(summary.score.into()),
        }
    }
}

impl From<&EstimateSummary> for pb::EstimateSummary {
    fn from(summary: &EstimateSummary) -> pb::EstimateSummary {
        pb::EstimateSummary {
            policy_index: summary.policy,
            num_estimates: summary.num_estimates,
            num_lasting_longer: summary.num_lasting_longer,
            lines: Some(summary.lines.into()),
            pieces: Some(summary.pieces.into()),
            steps: Some(summary.steps.into()),
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
