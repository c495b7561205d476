//! The options of `tetrion tbp`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::cli::options::games_range;
use crate::cli::rules::RulesArgs;
use crate::cli::thinking::ThinkingArgs;
use crate::wire::limits::MAX_RECORDED_STEPS;

/// The most games that are played at a time: each has a process of its own and some threads here.
const MAX_JOBS: i64 = 256;

/// The options of `tetrion tbp`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "tetrion tbp [OPTIONS] <NAME>\n       tetrion tbp --host [OPTIONS] -- <PROGRAM> [ARGUMENTS]...",
    mut_arg("rules", |arg| arg.help("Rules preset [default: guideline, or the run's]")),
    mut_arg("lookahead", |arg| arg.conflicts_with("host")),
    mut_arg("expectation", |arg| arg.conflicts_with("host")),
    mut_arg("terminal", |arg| arg.conflicts_with("host")),
    mut_arg("width", |arg| arg.help("Columns of the playfield; bots support 10 only")),
    mut_arg("height", |arg| arg.help("Rows of the playfield, 20 of them visible [default: the run's, or 40]")),
)]
pub struct TbpArgs {
    /// Player that runs as the bot: a controller or an agent such as dt-10, a training run, or a weights.json
    #[arg(required_unless_present = "host", value_name = "NAME", conflicts_with = "host")]
    pub player: Option<String>,

    /// Search and expectation.
    #[command(flatten)]
    pub thinking: ThinkingArgs,

    /// Host the bot given after `--` and measure it. Exits with code 1 if it lost a game other than by topping out
    #[arg(long, requires = "program")]
    pub host: bool,

    /// Bot to host, with its arguments
    #[arg(last = true, value_name = "PROGRAM", requires = "host")]
    pub program: Vec<OsString>,

    /// Games to play, each with a new process of the bot
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = games_range(), requires = "host")]
    pub games: u32,

    /// Pieces per game
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(1..=MAX_RECORDED_STEPS / 2), requires = "host")]
    pub pieces: u64,

    /// Games to play in parallel; leave enough cores for the threads of each bot
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MAX_JOBS), requires = "host")]
    pub jobs: u32,

    /// Milliseconds that the bot may think before each request for a move
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=600_000), requires = "host")]
    pub think: u64,

    /// Seconds that the bot may take to answer, 0.01 to 3600; a late answer loses the game
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = patience, requires = "host")]
    pub timeout: f64,

    /// Record every game in this folder, for `replay` and `export`; with --games 1, in this file if its name ends in .json
    #[arg(long, value_name = "PATH", requires = "host")]
    pub record: Option<PathBuf>,

    /// Print one JSON object with every game
    #[arg(long, requires = "host")]
    pub json: bool,

    /// Seed for the games, as in `evaluate`; for a bot, the seed of an agent's random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Rules of the games.
    #[command(flatten)]
    pub rules: RulesArgs,
}

fn patience(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.01..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "expected a number from 0.01 to 3600".to_owned())
}
