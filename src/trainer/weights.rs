//! `weights.json`: a controller, with everything needed to play it again and to check its score.
//!
//! Weights mean nothing without their features, and a score means nothing without rules, seeds and number of games. So
//! one file holds them all, and a reader checks them together. Policy and rules are messages, as a request has them.
//! Numbers are read back bit for bit.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::input::{UsageError, parse_json, read_utf8};
use crate::text::escapes::without_middle;
use tetrion_client::{PlayChoice, Policy, RulesChoice};
use tetrion_core::agents::{WeightError, check_weights};
use tetrion_protocol::files::WeightPolicy;
use tetrion_protocol::limits::MAX_MODEL_PARAMETERS;
use tetrion_toolkit::optimizers::seed_text;

/// The format that this program writes, and the only one it reads.
pub const WEIGHTS_FORMAT: u32 = 2;

/// Most bytes of a weight file, more than the largest model takes at 40 bytes, one line, per parameter.
const MAX_FILE_BYTES: u64 = 64 * MAX_MODEL_PARAMETERS as u64;

/// A linear controller, optionally with a model, and its origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Format of the file, [`WEIGHTS_FORMAT`].
    pub format: u32,
    /// Names of the features, one per weight, in the order of the weights.
    pub feature_names: Vec<String>,
    /// The controller.
    pub policy: WeightPolicy,
    /// The rules of the games, with every field.
    pub rules: RulesChoice,
    /// Version of the rules: within one version, equal seeds and actions give equal games.
    pub rules_version: String,
    /// Seeds that led to the weights and to the score.
    pub seeds: RunSeeds,
    /// Generations after which a run wrote the weights; absent for the result of a run and for weights of no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// Score of the weights; absent if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<MeasuredScore>,
}

/// Seeds of training and scoring. They differ, because games that chose a controller must not score it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSeeds {
    /// Seed of the run that found the weights.
    #[serde(with = "seed_text")]
    pub training: u64,
    /// Seed of the games that the score comes from.
    #[serde(with = "seed_text")]
    pub evaluation: u64,
}

/// A score as files of a run have it, with everything needed to judge it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredScore {
    /// Unit of the score: `lines`, `pieces` or `points`.
    pub unit: String,
    pub num_games: u64,
    /// Number of games that a limit cut short; unless it is 0, the mean is a lower bound.
    pub num_truncated: u64,
    /// Mean of the unit over the games.
    pub mean: f64,
    /// Standard deviation over the games, with divisor n - 1.
    pub std: f64,
    /// Lower end of the 95 % interval of the mean.
    pub ci95_low: f64,
    /// Upper end of the 95 % interval of the mean.
    pub ci95_high: f64,
}

/// The reason why a weight file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The file cannot be read.
    #[error("cannot read it: {0}")]
    Io(std::io::Error),
    /// The file is not JSON, or a field is missing, unknown or of another type.
    #[error("it is not a file of weights: {0}")]
    Json(serde_json::Error),
    /// Another version wrote the file.
    #[error("{}", other_format(*.0, WEIGHTS_FORMAT))]
    Format(u32),
    /// The weights do not fit the names of the features and the model.
    #[error("policy.weights.weights: {0}")]
    Weights(#[from] WeightError),
}

/// The reason why a file of another format is refused.
pub(super) fn other_format(found: u32, expected: u32) -> String {
    format!(
        "its format is {found}, not {expected}: use the version of the program that wrote it, or train again"
    )
}

/// Reads the text of a weight file of any format.
///
/// # Errors
/// If the file cannot be read, or is larger than any weight file.
pub fn read_text(path: &Path) -> Result<String, WeightsError> {
    read_utf8(path, MAX_FILE_BYTES).map_err(WeightsError::Io)
}

/// Reads plain numbers, separated by spaces, commas, lines or brackets.
///
/// # Errors
/// If a word is not a finite number.
pub fn plain_numbers(text: &str) -> Result<Vec<f64>, UsageError> {
    let words = text.split(|c: char| c.is_whitespace() || ",;[]".contains(c)).filter(|word| !word.is_empty());
    let number = |word: &str| word.parse().ok().filter(|number: &f64| number.is_finite());
    let problem = |word: &str| {
        let expected = "expected a weights.json of `tetrion train`, or plain numbers";
        let shown = without_middle(word, 100); // shortened before quoting: the word may be the whole file
        UsageError(format!("it holds {shown:?}, which is no finite number: {expected}"))
    };
    let numbers = words.map(|word| number(word).ok_or_else(|| problem(word)));
    let numbers: Vec<f64> = numbers.collect::<Result<_, _>>()?;
    if numbers.is_empty() {
        return Err(UsageError("it is empty, expected weights".to_owned()));
    }
    Ok(numbers)
}

impl Weights {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or [`check`](Self::check) refuses it.
    pub fn read(path: &Path) -> Result<Self, WeightsError> {
        Self::from_json(&read_text(path)?)
    }

    /// Reads weights from the text of a file.
    ///
    /// # Errors
    ///
    /// The errors of [`read`](Self::read).
    pub fn from_json(text: &str) -> Result<Self, WeightsError> {
        #[derive(Deserialize)]
        struct WeightsFormat {
            format: u32,
        }
        // Check the format first: a file of another format need not have our other fields.
        let WeightsFormat { format } = serde_json::from_str(text).map_err(WeightsError::Json)?;
        if format != WEIGHTS_FORMAT {
            return Err(WeightsError::Format(format));
        }
        let weights: Self = parse_json(text).map_err(WeightsError::Json)?;
        weights.check()?;
        Ok(weights)
    }

    /// Indented JSON for people to read, with a newline at the end.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings and numbers can be written") + "\n"
    }

    /// Checks that the file describes a valid controller.
    ///
    /// # Errors
    ///
    /// If the format differs, the number of weights is not that of the names and of the model's parameters, or a weight
    /// or a parameter is not finite or too large.
    pub fn check(&self) -> Result<(), WeightsError> {
        if self.format != WEIGHTS_FORMAT {
            return Err(WeightsError::Format(self.format));
        }
        let WeightPolicy { row, model, .. } = &self.policy;
        let num_features = self.feature_names.len();
        let num_parameters = model.as_ref().map_or(0, |model| model.num_parameters(num_features));
        Ok(check_weights(row, num_features, num_parameters)?)
    }

    /// The controller as a request contains it, playing as the caller chose, or else as the file says.
    pub fn policy(&self, choice: PlayChoice) -> Policy {
        let policy = self.policy.with_rows(vec![self.policy.row.clone()]);
        Policy { play: choice.or(self.policy.play).into(), ..policy }
    }
}
