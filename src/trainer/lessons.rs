//! Settings of a temporal-difference run, for `config.toml`. This file plays no games.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::TrainError;
use super::run_folder::{CONFIG, read};
use super::settings::Settings;
use crate::input::UsageError;
use tetrion_client::Client;
use tetrion_core::engine::{ActionModel, NamedChoice, Randomizer};
use tetrion_toolkit::optimizers::{NetworkConfig, TdConfig};

/// The way a run learns from its games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lessons {
    /// The method, which distinguishes these settings from those of a search.
    pub method: MethodName,
    /// Pieces per game in a generation.
    pub rounds: u32,
    /// Share of the pieces that are placed at random.
    pub exploration: f64,
    /// Mean number of pieces (+-1/3) after which a game restarts from another playfield; 0 for whole games.
    pub stretch: u32,
    /// The learner and its parameters.
    #[serde(flatten)]
    pub moves: Moves,
    /// Feature weights that a network starts from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<f64>,
}

/// What a run learns, and the learner's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Moves {
    /// A sum of weights and entries.
    #[serde(rename = "learning")]
    OfSum(TdConfig),
    #[serde(rename = "network")]
    OfNetwork(NetworkConfig),
}

/// The method of a run that learns, as its settings name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    /// Temporal differences, learned from every step.
    Td,
}

/// Whether a folder holds a run that learns from every step.
pub fn is_learning(folder: &Path) -> bool {
    let config = read(&folder.join(CONFIG)).unwrap_or_default();
    let config = toml::from_slice::<toml::Table>(&config).unwrap_or_default();
    let method = config.get("optimizer").and_then(|optimizer| optimizer.get("method"));
    method.and_then(toml::Value::as_str) == Some("td")
}

/// Checks that a server would play the run's games, and that a run can learn from them.
///
/// # Errors
/// If the server refuses, a number exceeds a limit of the server, or the rules do not allow learning from every step.
pub async fn check(settings: &Settings<Lessons>, client: &Client) -> Result<(), TrainError> {
    let num_features = settings.feature_names.len();
    let parameters = settings.policy.model.as_ref().map_or(0, |model| model.num_parameters(num_features));
    let policy = settings.policy.with_rows(vec![vec![0.0; num_features + parameters]]);
    let rules = settings.check_with(client, policy).await?.rules;
    let wrong = |setting: &str, value: &str, expected: &str| {
        Err(UsageError(format!("{setting}: {value}, expected {expected} to learn from every step")).into())
    };
    // A playfield does not contain the rest of a bag or the keys pressed so far, so its value would be ambiguous.
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
