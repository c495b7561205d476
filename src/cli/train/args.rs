//! The options of `tetrion train`.

use std::path::PathBuf;

use clap::builder::RangedI64ValueParser;
use serde::{Deserialize, Serialize};

use super::unit::Unit;
use crate::cli::computing::ComputingArgs;
use crate::cli::connection::ConnectionArgs;
use crate::cli::expectation::ExpectationArgs;
use crate::cli::options::{games_range, loss_trials_range};
use crate::cli::rules::RulesArgs;
use crate::optimizers::cem::CEM_PRESETS;
use crate::optimizers::network::MAX_UNITS;
use crate::wire::limits::{MAX_GAMES, MAX_PIECES, MAX_POLICIES, MAX_STEPS};

/// The options of `tetrion train`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("resume", |arg| arg.conflicts_with_all(RulesArgs::ids())),
    mut_arg("rules", |arg| {
        arg.help("The rules preset [default: simplified, or the preset's; genetic for the genetic algorithm]")
    }),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: 10, or the rules']")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: 10, or the rules']")),
)]
pub struct TrainArgs {
    /// Go on with the run in this folder, with the settings that it began with; with --generations, to more generations than
    /// planned
    #[arg(long, value_name = "RUN", conflicts_with_all = [
        "out", "optimizer", "preset", "features", "population", "games", "check_games", "game_seeds", "final_games",
        "max_pieces", "max_steps", "seed", "tournament", "crossover", "blend", "mutation", "mutation_std", "keep", "expectation",
        "start", "initial_std", "noise", "covariance", "elites", "second_look", "rounds", "exploration", "td_discount",
        "feature_step", "entry_step", "step_half", "step_tuple", "step_clip", "height_tuple", "units", "unit_share", "start_scale",
        "stretch", "unit", "loss_trials",
    ])]
    pub resume: Option<PathBuf>,

    /// The folder of a new run [default: a new one in `runs`]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Which search, or td, which learns from every step
    #[arg(long, value_name = "METHOD", default_value = "cem")]
    pub optimizer: Method,

    /// Settings of the cross-entropy method by name: `tetrion` is ours, the others are their authors' [default:
    /// tetrion]
    #[arg(long, value_name = "NAME",
        value_parser = clap::builder::PossibleValuesParser::new(CEM_PRESETS.map(|(name, _)| name)))]
    pub preset: Option<String>,

    /// The feature set, or features separated by commas [default: thiery9, or the preset's; lab4 for the genetic
    /// algorithm; seven of thiery9 for td]
    #[arg(long, value_name = "SET|LIST")]
    pub features: Option<String>,

    /// Under which rules.
    #[command(flatten)]
    pub rules: RulesArgs,

    /// Generations [default: 30, or the preset's; 8 for td]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub generations: Option<u32>,

    /// Candidates per generation [default: the search's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=i64::from(MAX_POLICIES)))]
    pub population: Option<u32>,

    /// Games per candidate; a second look plays four times as many [default: 5, or the preset's]. With td, games at a
    /// time [default: 64]
    #[arg(long, value_name = "N", value_parser = games_range())]
    pub games: Option<u32>,

    /// Whether the candidates of a generation meet the same pieces, or each has games of its own [default: common, or the
    /// preset's]
    #[arg(long, value_name = "WHICH")]
    pub game_seeds: Option<GameSeeds>,

    /// What a game is scored by [default: lines, or the preset's; points for the genetic algorithm]
    #[arg(long, value_name = "WHAT")]
    pub unit: Option<Unit>,

    /// Games after each generation that score the result so far
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = two_games_or_more())]
    pub check_games: u32,

    /// Games that score the result; to choose it, up to twelve candidates play half as many each
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = two_games_or_more())]
    pub final_games: u32,

    /// Cut a game after this many pieces; 0 for the server's limit alone
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(..=MAX_PIECES))]
    pub max_pieces: u64,

    /// Cut a game after this many steps, which are keys under rules of key presses; 0 for the server's limit alone
    /// [default: 0, or the preset's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MAX_STEPS))]
    pub max_steps: Option<u64>,

    /// Estimate how long games last instead of playing them, with this many trials at each height of the stack: each game of
    /// a run is such an estimate, those of the result too
    #[arg(long, value_name = "TRIALS", value_parser = loss_trials_range())]
    pub loss_trials: Option<u32>,

    /// Whether and how candidates weigh what the next pieces can reach.
    #[command(flatten)]
    pub expectation: ExpectationArgs,

    /// Cross-entropy: begin around the weights of a controller by name, or of a file, and around 0 for the features that it
    /// does not have; plain numbers are one for each feature, in order [default: around 0]. With --units, what the network
    /// begins with; features that are not learned from are left out [default: dt-10]
    #[arg(long, value_name = "NAME|FILE")]
    pub start: Option<String>,

    /// Cross-entropy: standard deviation of every weight at the beginning [default: the preset's]
    #[arg(long, value_name = "SIZE")]
    pub initial_std: Option<f64>,

    /// Cross-entropy: variance added at the beginning; it then changes as in the preset [default: the preset's]
    #[arg(long, value_name = "VARIANCE")]
    pub noise: Option<f64>,

    /// Cross-entropy: whether weights are drawn one by one, or as the best ones vary together [default: the preset's]
    #[arg(long, value_name = "KIND")]
    pub covariance: Option<CovarianceKind>,

    /// Cross-entropy: share of the population that makes the next distribution [default: the preset's]
    #[arg(long, value_name = "SHARE")]
    pub elites: Option<f64>,

    /// Cross-entropy: share of the population that is scored a second time, in more games, 0 for none; at least --elites
    /// [default: the preset's]
    #[arg(long, value_name = "SHARE")]
    pub second_look: Option<f64>,

    /// Genetic: individuals of a tournament, the best of which becomes a parent [default: 3]
    #[arg(long, value_name = "N")]
    pub tournament: Option<u32>,

    /// Genetic: probability that two parents are crossed rather than copied [default: 0.5]
    #[arg(long, value_name = "P")]
    pub crossover: Option<f64>,

    /// Genetic: how far a child may lie beyond its parents; 0 keeps it between them [default: 0.5]
    #[arg(long, value_name = "ALPHA")]
    pub blend: Option<f64>,

    /// Genetic: probability that a weight of a child is changed [default: 0.2]
    #[arg(long, value_name = "P")]
    pub mutation: Option<f64>,

    /// Genetic: standard deviation of that change [default: 0.2]
    #[arg(long, value_name = "SIZE")]
    pub mutation_std: Option<f64>,

    /// Genetic: best individuals that go on unchanged [default: 1]
    #[arg(long, value_name = "N")]
    pub keep: Option<u32>,

    /// Temporal differences: pieces of each game a generation [default: 512]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rounds: Option<u32>,

    /// Temporal differences: share of the pieces that are placed at random while learning [default: 0.02; 0 with --units]
    #[arg(long, value_name = "SHARE")]
    pub exploration: Option<f64>,

    /// Temporal differences: what a loss counts that is one piece further away [default: 0.9; 0.97 with --units]
    #[arg(long, value_name = "FACTOR")]
    pub td_discount: Option<f64>,

    /// Temporal differences: share of an error that weights make up for at the beginning [default: 0.1]
    #[arg(long, value_name = "SHARE")]
    pub feature_step: Option<f64>,

    /// Temporal differences: share of an error that entries of tables make up for at the beginning; with --units, that
    /// one update makes up for [default: 0.1; 1 with --units]
    #[arg(long, value_name = "SHARE")]
    pub entry_step: Option<f64>,

    /// Temporal differences: pieces after which these shares are half as large; a quarter with --units [default: 100000;
    /// a third of the run with --units]
    #[arg(long, value_name = "N")]
    pub step_half: Option<f64>,

    /// Temporal differences: steps between neighbouring columns that are looked up together, at every place in one table; 0 for no
    /// such table [default: 4]
    #[arg(long, value_name = "N")]
    pub step_tuple: Option<u32>,

    /// Temporal differences: where these steps are cut off [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub step_clip: Option<u32>,

    /// Temporal differences: heights of neighbouring columns that are looked up together, at every place in one table; 0 for no
    /// such table [default: 2; 3 with --units]
    #[arg(long, value_name = "N")]
    pub height_tuple: Option<u32>,

    /// Temporal differences: hidden units of a network that looks up the tables, each place in one of its own, and the cells
    /// of every column and every row; 0 for the sum of the tables alone [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_UNITS)))]
    pub units: Option<u32>,

    /// With --units: how much the others take part in a correction beside the first unit, which hands on the tables'
    /// sum [default: 6]
    #[arg(long, value_name = "SHARE")]
    pub unit_share: Option<f64>,

    /// With --units: what a unit of the score that it begins with counts, in logarithms of the risk [default: 0.035]
    #[arg(long, value_name = "FACTOR")]
    pub start_scale: Option<f64>,

    /// Temporal differences: pieces, a third more or less, after which a game goes on from another playfield that was seen,
    /// one of each height as likely as one of any other; 0 for whole games [default: 0; 30 with --units]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub stretch: Option<u32>,

    /// The seed of all draws; the same seed gives the same files
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Which servers play.
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// What they play with, without a server.
    #[command(flatten)]
    pub computing: ComputingArgs,
}

/// An interval needs two games.
fn two_games_or_more() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(2..=MAX_GAMES as i64)
}

/// Which search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Method {
    /// The cross-entropy method.
    Cem,
    /// A genetic algorithm.
    Genetic,
    /// Temporal-difference learning of a value function with tables.
    Td,
}

/// How the weights of a candidate are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CovarianceKind {
    /// Each with its own variance
    Diagonal,
    /// With all covariances of the best candidates
    Full,
}

/// Which games the candidates of a generation play.
///
/// On common pieces luck favours no candidate. On pieces of its own, luck is part of a candidate's score, as it was in
/// searches that played like that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum GameSeeds {
    /// All candidates meet the same pieces.
    #[default]
    Common,
    /// Each candidate meets pieces of its own, new ones in every generation.
    PerSlot,
}
