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
    mut_arg("rules", |arg| arg.help("The rules preset [default: guideline, or that of a run under guideline]")),
    mut_arg("lookahead", |arg| arg.conflicts_with("host")),
    mut_arg("expectation", |arg| arg.conflicts_with("host")),
    mut_arg("terminal", |arg| arg.conflicts_with("host")),
    mut_arg("width", |arg| arg.help("Columns of the playfield: 10, as every bot takes for granted")),
    mut_arg("height", |arg| arg.help("Rows of the playfield, 20 of them visible [default: the run's, else 40]")),
)]
pub struct TbpArgs {
    /// Who plays as the bot: a controller or an agent by name, such as dt-10, a folder of `train`, or a weights.json
    #[arg(required_unless_present = "host", value_name = "NAME", conflicts_with = "host")]
    pub player: Option<String>,

    /// How it chooses.
    #[command(flatten)]
    pub thinking: ThinkingArgs,

    /// Play another bot: the program and its arguments stand behind --. The exit code is 1 if it lost a game otherwise than by
    /// topping out
    #[arg(long, requires = "program")]
    pub host: bool,

    /// The bot that is played, and its arguments
    #[arg(last = true, value_name = "PROGRAM", requires = "host")]
    pub program: Vec<OsString>,

    /// Games that it plays, each with a process of its own
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = games_range(), requires = "host")]
    pub games: u32,

    /// Pieces after which a game is over
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(1..=MAX_RECORDED_STEPS / 2), requires = "host")]
    pub pieces: u64,

    /// Games at a time. Bots that think as long as they may share the cores: leave each as many as it has threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MAX_JOBS), requires = "host")]
    pub jobs: u32,

    /// Milliseconds that it may think before it is asked for a move
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=600_000), requires = "host")]
    pub think: u64,

    /// Seconds that each of its answers may take, from 0.01 to 3600; silence beyond loses the game
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = patience, requires = "host")]
    pub timeout: f64,

    /// Write every game as a recording for `replay` and `export`: into this folder, or with --games 1 into this file if its name
    /// ends in .json
    #[arg(long, value_name = "PATH", requires = "host")]
    pub record: Option<PathBuf>,

    /// Print one JSON object, with every game
    #[arg(long, requires = "host")]
    pub json: bool,

    /// The seed that the seeds of the games are drawn from, as in `evaluate`; as a bot, that of an agent's random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Under which rules.
    #[command(flatten)]
    pub rules: RulesArgs,
}

fn patience(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.01..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "expected a number from 0.01 to 3600".to_owned())
}
