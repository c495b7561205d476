//! `weights.json`: a controller, with all that is needed to play it again and to doubt its score.
//!
//! Weights mean nothing without the features they belong to, and a score means nothing without the rules, the seeds
//! and the number of games. So they travel together, and a reader checks them together. Numbers come back with every bit.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::model::ModelNote;
use super::rules::RulesNote;
use crate::client::{Features, Play, PlayChoice, Policy, PolicyKind, Search, TerminalValue, WeightRows};
use crate::input::{UsageError, read_utf8};
use crate::text::escapes::without_middle;
use crate::text::numbers::count;
use crate::wire::limits::MAX_MODEL_PARAMETERS;

/// The format this program writes, and the only one it reads.
pub const WEIGHTS_FORMAT: u32 = 1;

/// Bytes of a file of weights: twice what the largest model takes, with a line of 32 bytes for each parameter.
const MAX_FILE_BYTES: u64 = 64 * MAX_MODEL_PARAMETERS as u64;

/// A linear controller, with a model beside its sum if there is one, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// [`WEIGHTS_FORMAT`].
    pub format: u32,
    /// The feature set that the weights belong to, as the server lists it; empty for a list of the caller's own.
    pub feature_set: String,
    /// Changes whenever the meaning, the order or the number of its columns changes; empty for a list of the caller's own.
    pub feature_set_version: String,
    /// One name a weight, in the order of the weights.
    pub feature_names: Vec<String>,
    /// Signed and finite, at most 1e300 in size.
    pub weights: Vec<f64>,
    /// What is added to the sum of weight times feature, if anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelNote>,
    /// Value of a placement that ends the game: `avoid` (last choice) or `score` (by its features).
    pub terminal_value: TerminalValue,
    /// How the controller uses the next pieces: `greedy` (not at all), `lookahead` or `expectation`.
    pub search: Search,
    /// What was played.
    pub rules: RulesNote,
    /// Where the weights, and the games of the score, come from.
    pub seeds: SeedsNote,
    /// Generations after which a run wrote the weights; absent for the result of a run and for weights of no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// Score of the weights; absent if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreNote>,
}

/// Seeds, kept apart because a controller must not be judged by the games it was chosen by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedsNote {
    /// Seed of the run that found the weights.
    pub training: u64,
    /// Seed of the games that the score comes from.
    pub evaluation: u64,
}

/// A measured score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreNote {
    /// What was counted: `lines`, `pieces` or `points`.
    pub unit: String,
    /// Number of games played.
    pub num_games: u64,
    /// Number of games that a limit cut short; unless it is 0, the mean is a lower bound.
    pub num_truncated: u64,
    /// Mean over the games.
    pub mean: f64,
    /// Standard deviation over the games, divided by n - 1.
    pub std: f64,
    /// Lower end of the 95 % interval of the mean.
    pub ci95_low: f64,
    /// Upper end of the 95 % interval of the mean.
    pub ci95_high: f64,
}

/// Why a file of weights cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The file cannot be read.
    #[error("cannot read it: {0}")]
    Io(std::io::Error),
    /// The file is not JSON, or a field is missing, unknown or of another type.
    #[error("it is not a file of weights: {0}")]
    Json(serde_json::Error),
    /// Written by another version.
    #[error("its format is {0}, not {WEIGHTS_FORMAT}")]
    Format(u32),
    /// Not one name a weight.
    #[error("it has {} and {}", count(*names as u64, "feature name"), count(*weights as u64, "weight"))]
    Length {
        /// Feature names.
        names: usize,
        /// Weights.
        weights: usize,
    },
    /// A weight no controller can use.
    #[error("the weight of {name} is {value:?}, not a number of at most 1e300")]
    Weight {
        /// Name of the feature.
        name: String,
        /// The weight.
        value: f64,
    },
    /// A model that cannot be: its shape, or a parameter.
    #[error("its model cannot be played: {0}")]
    Model(String),
}

/// The features as a request names them: the set, or these features if there is none.
pub(super) fn features(set: &str, version: &str, names: &[String]) -> Features {
    match set {
        "" => Features::List(names.to_vec()),
        name => Features::Set { name: name.to_owned(), version: version.to_owned() },
    }
}

/// Reads the text of a file of weights, whatever its format.
///
/// # Errors
/// A file that cannot be read, or is larger than any with weights.
pub fn read_text(path: &Path) -> Result<String, WeightsError> {
    read_utf8(path, MAX_FILE_BYTES).map_err(WeightsError::Io)
}

/// The numbers of a text that is no file of this format: between spaces, commas, lines or brackets.
///
/// # Errors
/// The first word that is no finite number.
pub fn plain_numbers(text: &str) -> Result<Vec<f64>, UsageError> {
    let words = text.split(|c: char| c.is_whitespace() || ",;[]".contains(c)).filter(|word| !word.is_empty());
    let number = |word: &str| word.parse().ok().filter(|number: &f64| number.is_finite());
    let problem = |word: &str| {
        let expected = "expected a weights.json of `tetrion train`, or plain numbers";
        let shown = without_middle(word, 100); // before it is quoted: the word may be the whole file
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
    /// A file that cannot be read, or that [`check`](Self::check) refuses.
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
        struct Format {
            format: u32,
        }
        // The format first: a file of another one need not have anything else we know.
        let Format { format } = serde_json::from_str(text).map_err(WeightsError::Json)?;
        if format != WEIGHTS_FORMAT {
            return Err(WeightsError::Format(format));
        }
        let weights: Self = serde_json::from_str(text).map_err(WeightsError::Json)?;
        weights.check()?;
        Ok(weights)
    }

    /// Indented, for people to read; ends with a newline.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings and numbers can be written") + "\n"
    }

    /// Whether a controller can be made of it.
    ///
    /// # Errors
    ///
    /// Another format, not one name a weight, a weight that is not a number of at most 1e300, or a model without a shape or
    /// with a parameter that is not finite.
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

    /// How the controller plays.
    pub fn play(&self) -> Play {
        Play { terminal_value: self.terminal_value, search: self.search }
    }

    /// The controller as a request names it, playing as a caller chose, and else as the file says.
    ///
    /// # Errors
    /// A model that has no shape.
    pub fn policy(&self, choice: PlayChoice) -> Result<Policy, WeightsError> {
        let model = self.model.as_ref().map(ModelNote::shape).transpose().map_err(WeightsError::Model)?;
        let features = features(&self.feature_set, &self.feature_set_version, &self.feature_names);
        let weights = WeightRows { features, rows: vec![self.row()], model };
        Ok(Policy { kind: PolicyKind::Weights(weights), play: choice.or(self.play()).into() })
    }

    /// The numbers of a row of a matrix: the weights, then the parameters of the model.
    pub fn row(&self) -> Vec<f64> {
        let parameters = self.model.iter().flat_map(|model| &model.parameters);
        self.weights.iter().copied().chain(parameters.map(|parameter| f64::from(*parameter))).collect()
    }
}
