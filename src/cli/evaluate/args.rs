//! The options of `tetrion evaluate`.

use std::path::PathBuf;

use crate::cli::computing::ComputingArgs;
use crate::cli::connection::ConnectionArgs;
use crate::cli::options::{games_range, loss_trials_range};
use crate::cli::rules::RulesArgs;
use crate::cli::search::SearchArgs;

/// The options of `tetrion evaluate`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("rules", |arg| arg.help("Rules preset [default: the rules of the first weights.json, or simplified]")),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: 10, or the preset's]")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: 10, or the preset's]")),
    mut_arg("preview", |arg| arg.help("Number of next pieces shown [default: the preset's, or as many as --lookahead and --expectation-pieces need]")),
)]
pub struct EvaluateArgs {
    /// Controller or agent by name, such as dt-10 or monte_carlo; repeat the flag to compare several on the same pieces
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub controller: Vec<String>,

    /// File of weights: weights.json of a training run, or plain numbers with --features
    #[arg(long, value_name = "FILE")]
    pub weights: Vec<PathBuf>,

    /// Features for a file of plain numbers: a feature set, or features separated by commas
    #[arg(long, value_name = "SET", requires = "weights")]
    pub features: Option<String>,

    /// Random games per placement, for monte_carlo and monte_carlo_coded [default: 50]
    #[arg(long, value_name = "N")]
    pub playouts: Option<u32>,

    /// How the players play.
    #[command(flatten)]
    pub search: SearchArgs,

    /// Rules of the games.
    #[command(flatten)]
    pub rules: RulesArgs,

    /// Games per controller
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = games_range())]
    pub games: u32,

    /// Seed for the games; equal seeds give equal games
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Stop each game after N pieces; 0 for the server's limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_pieces: u64,

    /// Stop each game after N steps (key presses if the rules use keys); 0 for the server's limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_steps: u64,

    /// Estimate the length of games instead of playing them to the end, with this many trials per stack height; for
    /// controllers that rarely lose
    #[arg(long, value_name = "TRIALS", conflicts_with = "record", value_parser = loss_trials_range())]
    pub loss_trials: Option<u32>,

    /// Write one line per game to this CSV file
    #[arg(long, value_name = "FILE.csv")]
    pub per_game: Option<PathBuf>,

    /// Record games of each controller in a folder: `best`, `worst`, `median`, or `all=N` for the first N; separate several
    /// with commas
    #[arg(long, num_args = 2, value_names = ["WHICH", "DIR"])]
    pub record: Vec<String>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Servers that play the games.
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Threads and kernel of games in this process.
    #[command(flatten)]
    pub computing: ComputingArgs,
}
