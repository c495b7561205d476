//! `weights.json`: a controller, with everything needed to play it again and to check its score.
//!
//! Weights mean nothing without their features, and a score means nothing without rules, seeds and number of games. So
//! one file holds them all, and a reader checks them together. Numbers are read back bit for bit.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::model::ModelNote;
use super::rules::RulesNote;
use crate::input::{UsageError, parse_json, read_utf8};
use crate::text::escapes::without_middle;
use crate::text::numbers::count;
use tetrion_client::{Features, Play, PlayChoice, Policy, PolicyKind, Search, TerminalValue, WeightRows};
use tetrion_protocol::limits::MAX_MODEL_PARAMETERS;
use tetrion_toolkit::optimizers::seed_text;

/// The format that this program writes, and the only one it reads.
pub const WEIGHTS_FORMAT: u32 = 1;

/// Most bytes of a weight file: twice the size of the largest model at 32 bytes, one line, per parameter.
const MAX_FILE_BYTES: u64 = 64 * MAX_MODEL_PARAMETERS as u64;

/// A linear controller, optionally with a model, and its origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Format of the file, [`WEIGHTS_FORMAT`].
    pub format: u32,
    /// Feature set of the weights, as the server lists it; empty for an explicit list of features.
    pub feature_set: String,
    /// Version of the feature set; changes with the meaning, the order or the number of its columns. Empty for an
    /// explicit list.
    pub feature_set_version: String,
    /// Names of the features, one per weight, in the order of the weights.
    pub feature_names: Vec<String>,
    /// The weights: finite, with magnitudes of at most 1e300.
    pub weights: Vec<f64>,
    /// Model whose output is added to the weighted sum, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelNote>,
    /// Value of a placement that ends the game: `avoid` (last choice) or `score` (by its features).
    pub terminal_value: TerminalValue,
    /// How the controller uses the next pieces: `greedy` (not at all), `lookahead` or `expectation`.
    pub search: Search,
    pub rules: RulesNote,
    /// Seeds that led to the weights and to the score.
    pub seeds: SeedsNote,
    /// Generations after which a run wrote the weights; absent for the result of a run and for weights of no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// Score of the weights; absent if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreNote>,
}

/// Seeds of training and scoring. They differ, because games that chose a controller must not score it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedsNote {
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
pub struct ScoreNote {
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
    #[error("its format is {0}, not {WEIGHTS_FORMAT}")]
    Format(u32),
    /// The numbers of weights and names differ.
    #[error("it has {} and {}", count(*names as u64, "feature name"), count(*weights as u64, "weight"))]
    Length { names: usize, weights: usize },
    /// No controller can use the weight.
    #[error("the weight of {name} is {value:?}, not a number of at most 1e300")]
    Weight { name: String, value: f64 },
    /// The model's shape or one of its parameters is invalid.
    #[error("its model cannot be played: {0}")]
    Model(String),
}

/// The features as a request contains them: the set, or an explicit list if there is no set.
pub(super) fn features(set: &str, version: &str, names: &[String]) -> Features {
    match set {
        "" => Features::List(names.to_vec()),
        name => Features::Set { name: name.to_owned(), version: version.to_owned() },
    }
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
    /// If the format differs, the numbers of weights and names differ, a weight is not finite or exceeds 1e300, or the
    /// model has an invalid shape or a parameter that is not finite.
    pub fn check(&self) -> Result<(), WeightsError> {
        if self.format != WEIGHTS_FORMAT {
            return Err(WeightsError::Format(self.format));
        }
        let (names, weights) = (self.feature_names.len(), self.weights.len());
        if names != weights {
            return Err(WeightsError::Length { names, weights });
        }
        if let Some(index) = self.weights.iter().position(|weight| !(-1e300..=1e300).contains(weight)) {
            let (name, value) = (self.feature_names[index].clone(), self.weights[index]);
            return Err(WeightsError::Weight { name, value });
        }
        let Some(model) = &self.model else { return Ok(()) };
        model.shape().map_err(WeightsError::Model)?;
        match model.parameters.iter().position(|parameter| !parameter.is_finite()) {
            Some(index) => {
                let problem =
                    format!("parameter {index} is {:?}, expected a float32", model.parameters[index]);
                Err(WeightsError::Model(problem))
            }
            None => Ok(()),
        }
    }

    /// How the controller plays: the value of lost games, and the search.
    pub fn play(&self) -> Play {
        Play { terminal_value: self.terminal_value, search: self.search }
    }

    /// The controller as a request contains it, playing as the caller chose, or else as the file says.
    ///
    /// # Errors
    /// If the model's shape is invalid.
    pub fn policy(&self, choice: PlayChoice) -> Result<Policy, WeightsError> {
        let model = self.model.as_ref().map(ModelNote::shape).transpose().map_err(WeightsError::Model)?;
        let features = features(&self.feature_set, &self.feature_set_version, &self.feature_names);
        let weights = WeightRows { features, rows: vec![self.row()], model };
        Ok(Policy { kind: PolicyKind::Weights(weights), play: choice.or(self.play()).into() })
    }

    /// The row of a weight matrix: the weights, then the parameters of the model.
    pub fn row(&self) -> Vec<f64> {
        let parameters = self.model.iter().flat_map(|model| &model.parameters);
        self.weights.iter().copied().chain(parameters.map(|parameter| f64::from(*parameter))).collect()
    }
}
