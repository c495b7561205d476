//! How a run of temporal differences learns: its settings, from flags and for `config.toml`. It plays nothing.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::args::TrainArgs;
use super::settings::{Defaults, LITERATURE, Settings};
use crate::cli::model::{ModelNote, ShapeNote, TupleName, TupleNote};
use crate::cli::options::UsageError;
use crate::cli::run_folder::CONFIG;
use crate::client::{Client, ModelShape};
use crate::engine::{ActionModel, NamedChoice, Randomizer};
use crate::optimizers::{Td, TdConfig};

/// What the features say and the tables cannot see: they look at the surface. Those of a landing are left out, because two
/// placements with one afterstate have one value.
const FEATURES: &str =
    "row_transitions,column_transitions,holes,cumulative_wells,hole_depth,rows_with_holes,pattern_diversity";

const DEFAULTS: Defaults = Defaults { features: FEATURES, generations: 8, games: 64, ..LITERATURE };

/// The most games at a time: the answer for half of them has some megabytes on a usual playfield.
const MOST_GAMES: u32 = 1024;

/// How a run learns from its games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lessons {
    method: MethodName,
    /// Pieces of each game in a generation.
    pub rounds: u32,
    /// The share of the pieces that are placed at random.
    pub exploration: f64,
    /// How scores move.
    pub learning: TdConfig,
    /// The tables; none for the features alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<ShapeNote>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MethodName {
    Td,
}

/// Whether there is a run in this folder that learns from every step.
pub fn is_learning(folder: &Path) -> bool {
    let config = std::fs::read_to_string(folder.join(CONFIG)).unwrap_or_default();
    let config = config.parse::<toml::Table>().unwrap_or_default();
    let method = config.get("optimizer").and_then(|optimizer| optimizer.get("method"));
    method.and_then(toml::Value::as_str) == Some("td")
}

impl Lessons {
    fn new(args: &TrainArgs, width: u32, height: u32) -> anyhow::Result<Lessons> {
        let default = TdConfig::default();
        let learning = TdConfig {
            discount: args.td_discount.unwrap_or(default.discount),
            feature_step: args.feature_step.unwrap_or(default.feature_step),
            entry_step: args.entry_step.unwrap_or(default.entry_step),
            half: args.step_half.unwrap_or(default.half),
        };
        if let Err(error) = Td::new(learning.clone(), 0, 0) {
            let problem =
                format!("the learning cannot begin; see the flags of temporal differences: {error}");
            return Err(UsageError(problem).into());
        }
        let exploration = args.exploration.unwrap_or(0.02);
        if !(0.0..=1.0).contains(&exploration) {
            return Err(UsageError(format!("--exploration: {exploration}, expected 0 to 1")).into());
        }
        let mut tuples = Vec::new();
        let mut add = |kind, places: u32, positions: u32, clip: u32| {
            let first = tuples.len() as u32;
            for place in 0..=places - positions {
                let positions = (place..place + positions).collect();
                tuples.push(TupleNote { kind, positions, clip, shares: (place > 0).then_some(first) });
            }
        };
        for (flag, kind, number, places, clip) in [
            (
                "--step-tuple",
                TupleName::Steps,
                args.step_tuple.unwrap_or(4),
                width.saturating_sub(1),
                args.step_clip.unwrap_or(3),
            ),
            ("--height-tuple", TupleName::Heights, args.height_tuple.unwrap_or(2), width, height),
        ] {
            if number > places {
                let problem = format!("{flag}: {number}, expected at most {places} at width {width}");
                return Err(UsageError(problem).into());
            }
            if number > 0 {
                add(kind, places, number, clip.min(height));
            }
        }
        let model = (!tuples.is_empty()).then_some(ShapeNote::NTuple { tuples });
        let rounds = args.rounds.unwrap_or(512);
        let lessons = Lessons { method: MethodName::Td, rounds, exploration, learning, model };
        match lessons.shape() {
            Ok(_) => Ok(lessons),
            Err(error) => {
                Err(UsageError(format!("--step-tuple, --step-clip and --height-tuple: {error}")).into())
            }
        }
    }

    /// The shape of the tables.
    ///
    /// # Errors
    /// A shape that no server plays.
    pub fn shape(&self) -> anyhow::Result<Option<ModelShape>> {
        let note = self.model.clone().map(|shape| ModelNote { shape, parameters: Vec::new() });
        note.map(|note| note.shape()).transpose().map_err(anyhow::Error::msg)
    }
}

/// Settings from flags; what the flags leave open, the server decides.
pub async fn new_settings(args: &TrainArgs, client: &Client) -> anyhow::Result<Settings<Lessons>> {
    let lessons = |_: &[String], (width, height): (u32, u32), _: u32| Lessons::new(args, width, height);
    let settings = Settings::with(args, DEFAULTS, client, lessons).await?;
    if !(2..=MOST_GAMES).contains(&settings.games) {
        let problem = format!("--games: {}, expected 2 to {MOST_GAMES} at a time", settings.games);
        return Err(UsageError(problem).into());
    }
    Ok(settings)
}

/// Whether a server would play the run's games, and whether they are of the kind that can be learned from.
pub async fn check(settings: &Settings<Lessons>, client: &Client) -> anyhow::Result<()> {
    let tables = settings.optimizer.shape()?;
    let num_features = settings.feature_names.len();
    let parameters = tables.as_ref().map_or(0, |tables| tables.num_parameters(num_features));
    let policies = settings.policies(vec![vec![0.0; num_features + parameters]], tables);
    let rules = settings.check_with(client, policies).await?.rules;
    let wrong = |flag: &str, value: &str, expected: &str| {
        Err(UsageError(format!("{flag}: {value}, expected {expected} with --optimizer td")).into())
    };
    // What a bag still holds, or a key that was pressed, is not part of the playfields that it learns from.
    if !rules.pieces.is_tetrominoes() {
        return wrong("--piece-set", &rules.pieces.to_string(), "tetrominoes");
    }
    if rules.randomizer != Randomizer::Uniform {
        return wrong("--randomizer", rules.randomizer.name(), Randomizer::Uniform.name());
    }
    if rules.action_model != ActionModel::Placement {
        return wrong("--action-model", rules.action_model.name(), ActionModel::Placement.name());
    }
    Ok(())
}
