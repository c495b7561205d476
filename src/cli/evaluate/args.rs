//! The options of `tetrion evaluate`.

use std::path::PathBuf;

use crate::cli::computing::ComputingArgs;
use crate::cli::connection::ConnectionArgs;
use crate::cli::options::{games_range, loss_trials_range};
use crate::cli::rules::RulesArgs;
use crate::cli::thinking::ThinkingArgs;

/// The options of `tetrion evaluate`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("rules", |arg| arg.help("The rules preset [default: the rules of the first weights.json, else simplified]")),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: 10, or the rules']")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: 10, or the rules']")),
    mut_arg("preview", |arg| arg.help("Next pieces that are shown [default: the rules', or as many as --lookahead and --expectation-pieces want]")),
)]
pub struct EvaluateArgs {
    /// A controller or an agent by name, such as dt-10 or monte_carlo; repeat the flag to compare several on the same
    /// pieces
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub controller: Vec<String>,

    /// A file of weights: weights.json of a run, or plain numbers, which need --features
    #[arg(long, value_name = "FILE")]
    pub weights: Vec<PathBuf>,

    /// The features that plain numbers belong to: a feature set, or features separated by commas
    #[arg(long, value_name = "SET", requires = "weights")]
    pub features: Option<String>,

    /// Games that monte_carlo and monte_carlo_coded play at random for each placement [default: 50]
    #[arg(long, value_name = "N")]
    pub playouts: Option<u32>,

    /// How they choose.
    #[command(flatten)]
    pub thinking: ThinkingArgs,

    /// Under which rules.
    #[command(flatten)]
    pub rules: RulesArgs,

    /// Games per controller
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = games_range())]
    pub games: u32,

    /// The seed that the seeds of the games are drawn from
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Cut a game after this many pieces; 0 for the server's limit alone
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_pieces: u64,

    /// Cut a game after this many steps, which are keys under rules of key presses; 0 for the server's limit alone
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_steps: u64,

    /// Estimate how long games last instead of playing them to their end, with this many trials at each height of the stack:
    /// for controllers that hardly ever lose
    #[arg(long, value_name = "TRIALS", conflicts_with = "record", value_parser = loss_trials_range())]
    pub loss_trials: Option<u32>,

    /// Write a line for every game to this file
    #[arg(long, value_name = "FILE.csv")]
    pub per_game: Option<PathBuf>,

    /// Write recordings of games of each controller into a folder: `best`, `worst`, `median`, or `all=N` for the first N, with
    /// commas between them
    #[arg(long, num_args = 2, value_names = ["WHICH", "DIR"])]
    pub record: Vec<String>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Which servers play.
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// What they play with, without a server.
    #[command(flatten)]
    pub computing: ComputingArgs,
}
