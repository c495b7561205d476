//! The options of `tetrion train`.

use std::path::PathBuf;

use clap::builder::{RangedI64ValueParser, TypedValueParser};

use crate::cli::computing::ComputingArgs;
use crate::cli::connection::ConnectionArgs;
use crate::cli::expectation::ExpectationArgs;
use crate::cli::options::{games_range, loss_trials_range, one_of};
use crate::cli::rules::RulesArgs;
use crate::optimizers::cem::CEM_PRESETS;
use crate::optimizers::network::MAX_UNITS;
use crate::trainer::settings::GameSeeds;
use crate::trainer::unit::Unit;
use crate::wire::limits::{MAX_GAMES, MAX_PIECES, MAX_POLICIES, MAX_STEPS};

/// The options of `tetrion train`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("resume", |arg| arg.conflicts_with_all(RulesArgs::ids())),
    mut_arg("rules", |arg| {
        arg.help("Rules preset [default: as in --preset, or simplified; genetic for --optimizer genetic]")
    }),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: 10, or the preset's]")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: 10, or the preset's]")),
)]
pub struct TrainArgs {
    /// Resume the run in this folder with its settings; --generations extends it
    #[arg(long, value_name = "RUN", conflicts_with_all = [
        "out", "optimizer", "preset", "features", "population", "games", "check_games", "game_seeds", "final_games",
        "max_pieces", "max_steps", "seed", "tournament", "crossover", "blend", "mutation", "mutation_std", "keep", "expectation",
        "start", "initial_std", "noise", "covariance", "elites", "second_look", "rounds", "exploration", "td_discount",
        "feature_step", "entry_step", "step_half", "step_tuple", "step_clip", "height_tuple", "units", "unit_share", "start_scale",
        "stretch", "unit", "loss_trials",
    ])]
    pub resume: Option<PathBuf>,

    /// Folder of the new run [default: a new folder in `runs`]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Training method
    #[arg(long, value_name = "METHOD", default_value = "cem")]
    pub optimizer: Method,

    /// Named settings of the cross-entropy method: `tetrion` is this project's, the others are from publications [default:
    /// tetrion]
    #[arg(long, value_name = "NAME",
        value_parser = clap::builder::PossibleValuesParser::new(CEM_PRESETS.map(|(name, _)| name)))]
    pub preset: Option<String>,

    /// Feature set, or features separated by commas [default: thiery9, or the preset's; lab4 for genetic; seven of thiery9
    /// for td]
    #[arg(long, value_name = "SET|LIST")]
    pub features: Option<String>,

    /// Rules of the games.
    #[command(flatten)]
    pub rules: RulesArgs,

    /// Number of generations [default: 30, or the preset's; 8 for td]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub generations: Option<u32>,

    /// Candidates per generation [default: the preset's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=i64::from(MAX_POLICIES)))]
    pub population: Option<u32>,

    /// Games per candidate; a second look plays four times as many [default: 5, or the preset's]. For td, games in parallel
    /// [default: 64]
    #[arg(long, value_name = "N", value_parser = games_range())]
    pub games: Option<u32>,

    /// Seeds of the games in a generation [default: common, or the preset's]
    #[arg(long, value_name = "WHICH", value_parser = game_seeds())]
    pub game_seeds: Option<GameSeeds>,

    /// Score of a game [default: lines, or the preset's; points for genetic]
    #[arg(long, value_name = "WHAT", value_parser = unit())]
    pub unit: Option<Unit>,

    /// Games after each generation that score the current result
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = two_games_or_more())]
    pub check_games: u32,

    /// Games that score the final result; up to twelve finalists play half as many each for the choice
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = two_games_or_more())]
    pub final_games: u32,

    /// Stop each game after N pieces; 0 for the server's limit
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(..=MAX_PIECES))]
    pub max_pieces: u64,

    /// Stop each game after N steps (key presses if the rules use keys); 0 for the server's limit [default: 0, or the
    /// preset's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MAX_STEPS))]
    pub max_steps: Option<u64>,

    /// Estimate the length of every game instead of playing it to the end, with this many trials per stack height
    #[arg(long, value_name = "TRIALS", value_parser = loss_trials_range())]
    pub loss_trials: Option<u32>,

    /// Expectation of the candidates.
    #[command(flatten)]
    pub expectation: ExpectationArgs,

    /// Initial mean for cem: a controller, or a file of weights; features that it lacks start at 0 [default: 0]. For td
    /// with --units: the controller that the network starts from [default: dt-10]
    #[arg(long, value_name = "NAME|FILE")]
    pub start: Option<String>,

    /// Initial standard deviation of each weight [default: the preset's]
    #[arg(long, value_name = "SIZE")]
    pub initial_std: Option<f64>,

    /// Initial extra variance; later generations follow the preset's schedule [default: the preset's]
    #[arg(long, value_name = "VARIANCE")]
    pub noise: Option<f64>,

    /// Covariance of the distribution [default: the preset's]
    #[arg(long, value_name = "KIND")]
    pub covariance: Option<CovarianceKind>,

    /// Share of the population that forms the next distribution [default: the preset's]
    #[arg(long, value_name = "SHARE")]
    pub elites: Option<f64>,

    /// Share of the population that plays again with more games, 0 or at least --elites [default: the preset's]
    #[arg(long, value_name = "SHARE")]
    pub second_look: Option<f64>,

    /// Tournament size for selecting a parent [default: 3]
    #[arg(long, value_name = "N")]
    pub tournament: Option<u32>,

    /// Crossover probability [default: 0.5]
    #[arg(long, value_name = "P")]
    pub crossover: Option<f64>,

    /// Blend crossover alpha: how far children may lie beyond their parents, 0 for not at all [default: 0.5]
    #[arg(long, value_name = "ALPHA")]
    pub blend: Option<f64>,

    /// Mutation probability per weight [default: 0.2]
    #[arg(long, value_name = "P")]
    pub mutation: Option<f64>,

    /// Standard deviation of a mutation [default: 0.2]
    #[arg(long, value_name = "SIZE")]
    pub mutation_std: Option<f64>,

    /// Number of elite individuals that survive unchanged [default: 1]
    #[arg(long, value_name = "N")]
    pub keep: Option<u32>,

    /// Pieces per game and generation [default: 512]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rounds: Option<u32>,

    /// Exploration rate: share of pieces placed at random [default: 0.02; 0 with --units]
    #[arg(long, value_name = "SHARE")]
    pub exploration: Option<f64>,

    /// Discount per piece [default: 0.9; 0.97 with --units]
    #[arg(long, value_name = "FACTOR")]
    pub td_discount: Option<f64>,

    /// Initial learning rate of the weights [default: 0.1]
    #[arg(long, value_name = "SHARE")]
    pub feature_step: Option<f64>,

    /// Initial learning rate of the table entries [default: 0.1; 1 with --units]
    #[arg(long, value_name = "SHARE")]
    pub entry_step: Option<f64>,

    /// Pieces after which learning rates halve; with --units, after which they fall to a quarter [default: 100000; a third
    /// of the run with --units]
    #[arg(long, value_name = "N")]
    pub step_half: Option<f64>,

    /// Neighbouring height differences per table, 0 for no such tables [default: 4]
    #[arg(long, value_name = "N")]
    pub step_tuple: Option<u32>,

    /// Largest height difference in these tables; larger ones are clipped [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub step_clip: Option<u32>,

    /// Neighbouring column heights per table, 0 for no such tables [default: 2; 3 with --units]
    #[arg(long, value_name = "N")]
    pub height_tuple: Option<u32>,

    /// Hidden units of a network over the tables and the cells of each column and row, 0 for the sum of the tables alone
    /// [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_UNITS)))]
    pub units: Option<u32>,

    /// With --units: learning rate of all hidden units after the first, relative to the first [default: 6]
    #[arg(long, value_name = "SHARE")]
    pub unit_share: Option<f64>,

    /// With --units: scale from the start controller's score to log-risk [default: 0.035]
    #[arg(long, value_name = "FACTOR")]
    pub start_scale: Option<f64>,

    /// Restart each game from a playfield seen earlier every N pieces (+-1/3), uniformly over stack heights; 0 for whole
    /// games [default: 0; 30 with --units]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub stretch: Option<u32>,

    /// Seed for the whole run; equal seeds give equal files
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Servers that play the games.
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Threads and kernel of games in this process.
    #[command(flatten)]
    pub computing: ComputingArgs,
}

/// The parser of the pieces that candidates meet.
fn game_seeds() -> impl TypedValueParser<Value = GameSeeds> {
    one_of(&[
        ("common", "The same pieces for all candidates", GameSeeds::Common),
        ("per_slot", "Different pieces for each candidate", GameSeeds::PerSlot),
    ])
}

/// The parser of what games are scored by.
fn unit() -> impl TypedValueParser<Value = Unit> {
    one_of(&[
        ("lines", "Lines cleared", Unit::Lines),
        ("points", "Points under the rules' scoring", Unit::Points),
    ])
}

/// An interval needs two games.
fn two_games_or_more() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(2..=MAX_GAMES as i64)
}

/// Which search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Method {
    /// Cross-entropy method
    Cem,
    /// Genetic algorithm
    Genetic,
    /// Temporal-difference learning of a value function
    Td,
}

/// How the weights of a candidate are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CovarianceKind {
    /// Independent weights
    Diagonal,
    /// Full covariance matrix of the elites
    Full,
}
