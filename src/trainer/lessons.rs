//! How a run of temporal differences learns: its settings, for `config.toml`. It plays nothing.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::TrainError;
use super::model::{ModelNote, ShapeNote};
use super::run_folder::{CONFIG, read};
use super::settings::Settings;
use crate::client::{Client, ModelShape};
use crate::engine::{ActionModel, NamedChoice, Randomizer};
use crate::input::UsageError;
use crate::optimizers::{NetworkConfig, TdConfig};

/// How a run learns from its games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lessons {
    /// Tells such settings from those of a search.
    pub method: MethodName,
    /// Pieces of each game in a generation.
    pub rounds: u32,
    /// The share of the pieces that are placed at random.
    pub exploration: f64,
    /// Pieces, a third more or less, after which a game goes on from another playfield; 0 for whole games.
    pub stretch: u32,
    /// How scores move.
    #[serde(flatten)]
    pub moves: Moves,
    /// The weights of the features that a network begins with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<f64>,
    /// The tables, and the units that read them; none for the features alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ShapeNote>,
}

/// What is learned, and how its scores move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Moves {
    /// A sum of weights and entries.
    #[serde(rename = "learning")]
    OfSum(TdConfig),
    /// A network.
    #[serde(rename = "network")]
    OfNetwork(NetworkConfig),
}

/// The name of the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    /// Temporal differences.
    Td,
}

/// Whether there is a run in this folder that learns from every step.
pub fn is_learning(folder: &Path) -> bool {
    let config = read(&folder.join(CONFIG)).unwrap_or_default();
    let config = toml::from_slice::<toml::Table>(&config).unwrap_or_default();
    let method = config.get("optimizer").and_then(|optimizer| optimizer.get("method"));
    method.and_then(toml::Value::as_str) == Some("td")
}

impl Lessons {
    /// The shape of the model.
    ///
    /// # Errors
    /// A shape that no server plays.
    pub fn shape(&self) -> Result<Option<ModelShape>, TrainError> {
        let note = self.model.clone().map(|shape| ModelNote { shape, parameters: Vec::new() });
        note.map(|note| note.shape()).transpose().map_err(TrainError::Settings)
    }
}

/// Whether a server would play the run's games, and whether they are of the kind that can be learned from.
///
/// # Errors
/// The server's refusal, numbers beyond its limits, or rules that cannot be learned from.
pub async fn check(settings: &Settings<Lessons>, client: &Client) -> Result<(), TrainError> {
    let model = settings.optimizer.shape()?;
    let num_features = settings.feature_names.len();
    let parameters = model.as_ref().map_or(0, |model| model.num_parameters(num_features));
    let policy = settings.policy(vec![vec![0.0; num_features + parameters]], model);
    let rules = settings.check_with(client, policy).await?.rules;
    let wrong = |setting: &str, value: &str, expected: &str| {
        Err(UsageError(format!("{setting}: {value}, expected {expected} to learn from every step")).into())
    };
    // What a bag still holds, or a key that was pressed, is not part of the playfields that it learns from.
    if !rules.pieces.is_tetrominoes() {
        return wrong("piece_set", &rules.pieces.to_string(), "tetrominoes");
    }
    if rules.randomizer != Randomizer::Uniform {
        return wrong("randomizer", rules.randomizer.name(), Randomizer::Uniform.name());
    }
    if rules.action_model != ActionModel::Placement {
        return wrong("action_model", rules.action_model.name(), ActionModel::Placement.name());
    }
    Ok(())
}
