//! The options of `tetrion tbp`: subcommands `bot` and `host`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::options::games_range;
use crate::cli::rules::{RulesArgs, rules_by_default};
use crate::cli::search::SearchArgs;
use tetrion_protocol::limits::MAX_RECORDED_STEPS;

/// Most games in parallel; each has a process, and some threads here.
const MAX_JOBS: i64 = 256;

/// The options of `tetrion tbp`.
#[derive(Debug, Args)]
pub struct TbpArgs {
    #[command(subcommand)]
    pub side: Side,
}

/// The sides of the protocol.
#[derive(Debug, Subcommand)]
pub enum Side {
    /// Run a controller as a bot on stdin and stdout
    Bot(BotArgs),
    /// Host a bot: play games with it and measure it
    Host(HostArgs),
}

/// The rules of the games.
#[derive(Debug, Args)]
#[command(
    mut_arg("rules", |arg| rules_by_default(arg, "guideline, or the run's")),
    mut_arg("width", |arg| arg.help("Columns of the playfield; bots support 10 only")),
    mut_arg("height", |arg| arg.help("Rows of the playfield, 20 of them visible [default: the run's, or 40]")),
)]
pub struct GuidelineArgs {
    #[command(flatten)]
    pub rules: RulesArgs,
}

/// The options of `tetrion tbp bot`.
#[derive(Debug, Args)]
pub struct BotArgs {
    /// Player: a controller or an agent such as dt-10, a training run, or a weights.json
    #[arg(value_name = "NAME")]
    pub player: String,

    #[command(flatten)]
    pub search: SearchArgs,

    /// Seed of an agent's random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    #[command(flatten)]
    pub rules: GuidelineArgs,
}

/// The options of `tetrion tbp host`. The exit code is 1 if the bot lost a game other than by topping out.
#[derive(Debug, Args)]
#[command(override_usage = "tetrion tbp host [OPTIONS] -- <PROGRAM> [ARGUMENTS]...")]
pub struct HostArgs {
    /// Bot, with its arguments
    #[arg(last = true, value_name = "PROGRAM", required = true)]
    pub program: Vec<OsString>,

    /// Games to play, each with a new process of the bot
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = games_range())]
    pub games: u32,

    /// Pieces per game
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(1..=MAX_RECORDED_STEPS / 2))]
    pub pieces: u64,

    /// Games to play in parallel; leave enough cores for the threads of each bot
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MAX_JOBS))]
    pub jobs: u32,

    /// Milliseconds that the bot may think before each request for a move
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=600_000))]
    pub think: u64,

    /// Seconds that the bot may take to answer, 0.01 to 3600; a late answer loses the game
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = patience)]
    pub timeout: f64,

    /// Record every game in this folder, for `replay` and `export`; with --games 1, in this file if its name ends in
    /// .json
    #[arg(long, value_name = "PATH")]
    pub record: Option<PathBuf>,

    /// Print one JSON object with every game
    #[arg(long)]
    pub json: bool,

    /// Seed for the games, as in `evaluate`
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    #[command(flatten)]
    pub rules: GuidelineArgs,
}

fn patience(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.01..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "expected a number from 0.01 to 3600".to_owned())
}
