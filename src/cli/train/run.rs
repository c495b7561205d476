//! The options that all methods of `tetrion train` share.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{RangedI64ValueParser, TypedValueParser};

use crate::cli::connection::PlayingArgs;
use crate::cli::options::{games_range, loss_trials_range, one_of};
use crate::cli::rules::RulesArgs;
use crate::cli::search::SearchArgs;
use crate::trainer::rounds::GameSeeds;
use crate::trainer::unit::Unit;
use tetrion_protocol::limits::{MAX_GAMES, MAX_PIECES, MAX_POLICIES, MAX_STEPS};

/// Options of a run with any method.
#[derive(Debug, Args)]
#[command(
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: 10, or the preset's]")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: 10, or the preset's]")),
)]
pub struct RunArgs {
    /// Folder of the new run [default: a new folder in `runs`]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Number of generations [default: 30 for cem, or as in --settings; 15 for genetic; 8 for td]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub generations: Option<u32>,

    /// Feature set, or features separated by commas [default: thiery9, or as in --settings; lab4 for genetic; seven
    /// features of thiery9 for td]
    #[arg(long, value_name = "SET|LIST")]
    pub features: Option<String>,

    #[command(flatten)]
    pub rules: RulesArgs,

    /// Score of a game [default: lines, or as in --settings; points for genetic]
    #[arg(long, value_name = "WHAT", value_parser = unit())]
    pub score_by: Option<Unit>,

    /// Games after each generation that score the current result
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = two_games_or_more())]
    pub check_games: u32,

    /// Games that score the final result; up to twelve finalists play half as many each for the choice
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = two_games_or_more())]
    pub final_games: u32,

    /// Stop each game after N pieces; 0 for the server's limit
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(..=MAX_PIECES))]
    pub max_pieces: u64,

    /// Stop each game after N steps (key presses if the rules use keys); 0 for the server's limit [default: 0, or as in
    /// --settings]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MAX_STEPS))]
    pub max_steps: Option<u64>,

    /// Estimate the length of every game instead of playing it to the end, with this many trials per stack height
    #[arg(long, value_name = "TRIALS", value_parser = loss_trials_range())]
    pub loss_trials: Option<u32>,

    #[command(flatten)]
    pub search: SearchArgs,

    /// Seed for the whole run; equal seeds give equal files
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Who plays the games.
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// Options of methods that score candidates by whole games.
#[derive(Debug, Args)]
pub struct CandidateArgs {
    /// Candidates per generation [default: 100, or as in --settings; 50 for genetic]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=i64::from(MAX_POLICIES)))]
    pub population: Option<u32>,

    /// Games per candidate; a second look plays four times as many [default: 5, or as in --settings; 1 for genetic]
    #[arg(long, value_name = "N", value_parser = games_range())]
    pub games: Option<u32>,

    /// Seeds of the games in a generation [default: common, or as in --settings; per_slot for genetic]
    #[arg(long, value_name = "WHICH", value_parser = game_seeds())]
    pub game_seeds: Option<GameSeeds>,
}

/// The parser of the seeds of candidates' games.
fn game_seeds() -> impl TypedValueParser<Value = GameSeeds> {
    one_of(&[
        ("common", "The same pieces for all candidates", GameSeeds::Common),
        ("per_slot", "Different pieces for each candidate", GameSeeds::PerSlot),
    ])
}

/// The parser of the score of a game.
fn unit() -> impl TypedValueParser<Value = Unit> {
    one_of(&[
        ("lines", "Lines cleared", Unit::Lines),
        ("points", "Points under the rules' scoring", Unit::Points),
    ])
}

/// At least two games, because an interval needs two.
fn two_games_or_more() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(2..=MAX_GAMES as i64)
}
