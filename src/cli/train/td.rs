//! `tetrion train td`: the options of temporal-difference learning, and the tables that a run learns.

use clap::Args;

use super::run::RunArgs;
use super::settings::{Defaults, LITERATURE, of_run};
use super::start::common_weights;
use crate::cli::rules::rules_by_default;
use crate::input::UsageError;
use crate::trainer::lessons::{Lessons, MethodName, Moves};
use crate::trainer::settings::Settings;
use tetrion_client::{Activation, Client, Mlp, ModelShape, NTuple, TupleKind, TuplePattern};
use tetrion_core::engine::Rules;
use tetrion_protocol::models::n_tuple;
use tetrion_toolkit::optimizers::network::MAX_UNITS;
use tetrion_toolkit::optimizers::{InvalidParameter, Network, NetworkConfig, Td, TdConfig};

/// The options of `tetrion train td`.
#[derive(Debug, Args)]
#[command(mut_arg("rules", |arg| rules_by_default(arg, "simplified")))]
pub struct TdArgs {
    #[command(flatten)]
    pub run: RunArgs,

    /// Games played in parallel [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=MAX_PARALLEL_GAMES))]
    pub parallel_games: Option<u32>,

    /// Pieces per game and generation [default: 512]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rounds: Option<u32>,

    /// Restart each game from a playfield seen earlier every N pieces (+-1/3), uniformly over stack heights; 0 for
    /// whole games [default: 0; 30 with --hidden-units]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub stretch: Option<u32>,

    /// Exploration rate: share of pieces placed at random [default: 0.02; 0 with --hidden-units]
    #[arg(long, value_name = "SHARE")]
    pub exploration: Option<f64>,

    /// Discount per piece [default: 0.9; 0.97 with --hidden-units]
    #[arg(long, value_name = "FACTOR")]
    pub gamma: Option<f64>,

    /// Initial learning rate of the weights [default: 0.1]
    #[arg(long, value_name = "RATE", conflicts_with = "hidden_units")]
    pub feature_rate: Option<f64>,

    /// Initial learning rate of the table entries [default: 0.1; 1 with --hidden-units]
    #[arg(long, value_name = "RATE")]
    pub table_rate: Option<f64>,

    /// Pieces after which learning rates halve; with --hidden-units, after which they fall to a quarter [default:
    /// 100000; a third of the run with --hidden-units]
    #[arg(long, value_name = "N")]
    pub rate_half_life: Option<f64>,

    /// Neighbouring height differences per table, 0 for no such tables [default: 4]
    #[arg(long, value_name = "N")]
    pub slope_tuple: Option<u32>,

    /// Largest height difference in these tables; larger ones are clipped [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub slope_clip: Option<u32>,

    /// Neighbouring column heights per table, 0 for no such tables [default: 2; 3 with --hidden-units]
    #[arg(long, value_name = "N")]
    pub height_tuple: Option<u32>,

    /// Learn a network with this many hidden units over the tables and the cells of each column and row, instead of the
    /// sum of the tables
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=i64::from(MAX_UNITS)))]
    pub hidden_units: Option<u32>,

    /// Learning rate of all hidden units after the first, relative to the first [default: 6]
    #[arg(long, value_name = "RATIO", requires = "hidden_units")]
    pub rate_ratio: Option<f64>,

    /// Controller, or file of weights, that the network starts from [default: dt-10]
    #[arg(long, value_name = "NAME|FILE", requires = "hidden_units")]
    pub start: Option<String>,

    /// Scale from the start controller's score to log-risk [default: 0.035]
    #[arg(long, value_name = "FACTOR", requires = "hidden_units")]
    pub start_scale: Option<f64>,
}

/// Default features: those that tables of the surface cannot express. Features of the landing are omitted, because
/// placements with equal afterstates have equal values.
const FEATURES: &str =
    "row_transitions,column_transitions,holes,cumulative_wells,hole_depth,rows_with_holes,pattern_diversity";

const DEFAULTS: Defaults = Defaults { features: FEATURES, generations: 8, games: 64, ..LITERATURE };

/// Most games in parallel. On a usual playfield, the answer for half of them takes some megabytes.
const MAX_PARALLEL_GAMES: i64 = 1024;

/// Longest column or row for tables of whole lines, because such a table has 2 to the power of this many rows.
const LONGEST_LINE: u32 = 12;

/// The controller that a network starts from, and the scale from its score to log-risk.
const START: (&str, f64) = ("dt-10", 0.035);

impl TdArgs {
    /// The settings of a run with these options.
    ///
    /// # Errors
    /// If the server does not know a name, or a parameter is invalid.
    pub async fn settings(&self, client: &Client) -> anyhow::Result<Settings<Lessons>> {
        let defaults = Defaults { games: self.games(), ..DEFAULTS };
        let lessons = |features: &[String], size: (u32, u32), generations: u32| {
            self.lessons(features, size, generations)
        };
        of_run(&self.run, defaults, client, lessons).await
    }

    /// Number of games in parallel.
    fn games(&self) -> u32 {
        self.parallel_games.unwrap_or(DEFAULTS.games)
    }

    /// The lessons of a run with these options, and the tables and the network that it learns.
    fn lessons(
        &self,
        features: &[String],
        size: (u32, u32),
        generations: u32,
    ) -> anyhow::Result<(Lessons, Option<ModelShape>)> {
        let exploration = self.exploration.unwrap_or(if self.hidden_units.is_some() { 0.0 } else { 0.02 });
        if !(0.0..=1.0).contains(&exploration) {
            return Err(UsageError(format!("--exploration: {exploration}, expected 0 to 1")).into());
        }
        let rounds = self.rounds.unwrap_or(512);
        let (moves, start, model) = match self.hidden_units {
            Some(units) => {
                let updates = f64::from(generations) * f64::from(rounds) * f64::from(self.games());
                let (config, start) = self.network(units, features, size.0, updates)?;
                (Moves::OfNetwork(config), start, Some(self.tables_of_network(units, size)?))
            }
            None => (Moves::OfSum(self.sum()?), Vec::new(), self.tables_of_sum(size)?),
        };
        let stretch = self.stretch.unwrap_or(if self.hidden_units.is_some() { 30 } else { 0 });
        Ok((Lessons { method: MethodName::Td, rounds, exploration, stretch, moves, start }, model))
    }

    /// Parameters of a run without --hidden-units.
    fn sum(&self) -> Result<TdConfig, UsageError> {
        let default = TdConfig::default();
        let config = TdConfig {
            gamma: self.gamma.unwrap_or(default.gamma),
            feature_rate: self.feature_rate.unwrap_or(default.feature_rate),
            table_rate: self.table_rate.unwrap_or(default.table_rate),
            rate_half_life: self.rate_half_life.unwrap_or(default.rate_half_life),
        };
        Td::new(config.clone(), 0, 0).map_err(cannot_begin)?;
        Ok(config)
    }

    /// Parameters of a network over this many updates, and its initial weights for these features at this width.
    fn network(
        &self,
        units: u32,
        features: &[String],
        width: u32,
        updates: f64,
    ) -> anyhow::Result<(NetworkConfig, Vec<f64>)> {
        let default = NetworkConfig::default();
        let config = NetworkConfig {
            gamma: self.gamma.unwrap_or(default.gamma),
            hidden_units: units,
            table_rate: self.table_rate.unwrap_or(default.table_rate),
            rate_ratio: self.rate_ratio.unwrap_or(default.rate_ratio),
            rate_half_life: self.rate_half_life.unwrap_or((updates / 3.0).ceil()),
        };
        let scale = self.start_scale.unwrap_or(START.1);
        let mut start = common_weights(self.start.as_deref().unwrap_or(START.0), features, width)?;
        start.iter_mut().for_each(|weight| *weight *= scale);
        Network::new(config.clone(), &start, 0, 0).map_err(cannot_begin)?;
        Ok((config, start))
    }

    /// The tables of a sum: one table per kind, read at every place of the surface.
    fn tables_of_sum(&self, size: (u32, u32)) -> Result<Option<ModelShape>, UsageError> {
        let mut tuples = Vec::new();
        for TupleGroup { kind, length, places, clip } in self.surface(size, 2)? {
            let first = tuples.len() as u32;
            for place in 0..=places - length {
                let positions = (place..place + length).collect();
                tuples.push(TuplePattern { kind, positions, clip, shares: (place > 0).then_some(first) });
            }
        }
        (!tuples.is_empty()).then(|| Ok(ModelShape::NTuple(tables(tuples, size)?))).transpose()
    }

    /// The tables and hidden units of a network: one table per place of the surface, and one per column and row.
    fn tables_of_network(&self, units: u32, (width, height): (u32, u32)) -> Result<ModelShape, UsageError> {
        if width.max(height) > LONGEST_LINE {
            return Err(UsageError(format!(
                "--hidden-units: {units}, expected none on {width} x {height}: the tables of whole columns and rows are for at \
                 most {LONGEST_LINE} of each"
            )));
        }
        let mut tuples = Vec::new();
        for TupleGroup { kind, length, places, clip } in self.surface((width, height), 3)? {
            let first = tuples.len() as u32;
            for place in 0..=places - length {
                // The mirror image of a height is a height; the mirror image of a step has the opposite sign.
                let mirrored = places - length - place;
                let is_image = kind == TupleKind::Heights && mirrored < place;
                let mut positions: Vec<u32> = (place..place + length).collect();
                if is_image {
                    positions.reverse();
                }
                tuples.push(TuplePattern {
                    kind,
                    positions,
                    clip,
                    shares: is_image.then_some(first + mirrored),
                });
            }
        }
        let first = tuples.len() as u32;
        let cells =
            |positions: Vec<u32>, shares| TuplePattern { kind: TupleKind::Cells, positions, clip: 0, shares };
        for column in 0..width {
            let mirrored = width - 1 - column;
            let positions = (0..height).rev().map(|row| row * width + column).collect();
            tuples.push(cells(positions, (mirrored < column).then_some(first + mirrored)));
        }
        for row in 0..height {
            tuples.push(cells((0..width).rev().map(|column| row * width + column).collect(), None));
        }
        let tables = Some(tables(tuples, (width, height))?);
        Ok(ModelShape::Mlp(Mlp { hidden: vec![units], activation: Activation::LeakyRelu, tables }))
    }

    /// The tuples of the surface that the flags select.
    fn surface(&self, (width, height): (u32, u32), heights: u32) -> Result<Vec<TupleGroup>, UsageError> {
        let (length, clip) = (self.slope_tuple.unwrap_or(4), self.slope_clip.unwrap_or(3).min(height));
        let steps = TupleGroup { kind: TupleKind::Steps, length, places: width.saturating_sub(1), clip };
        let length = self.height_tuple.unwrap_or(heights);
        let heights = TupleGroup { kind: TupleKind::Heights, length, places: width, clip: height };
        let groups = [("--slope-tuple", steps), ("--height-tuple", heights)];
        if let Some((flag, TupleGroup { length, places, .. })) =
            groups.iter().find(|(_, group)| group.length > group.places)
        {
            return Err(UsageError(format!("{flag}: {length}, expected at most {places} at width {width}")));
        }
        Ok(groups.into_iter().map(|(_, group)| group).filter(|group| group.length > 0).collect())
    }
}

/// Tuples of one kind, one per place.
struct TupleGroup {
    kind: TupleKind,
    length: u32,
    places: u32,
    clip: u32,
}

fn tables(tuples: Vec<TuplePattern>, (width, height): (u32, u32)) -> Result<NTuple, UsageError> {
    let flags = "--slope-tuple, --slope-clip and --height-tuple";
    let tables = n_tuple(tuples, &Rules::simplified(width as u8, height as u8));
    tables.map_err(|error| UsageError(format!("{flags}: {error}")))
}

fn cannot_begin(error: InvalidParameter) -> UsageError {
    UsageError(format!("the learning cannot begin with these options: {error}"))
}
