//! The options of `tetrion evaluate`.

use std::path::PathBuf;

use super::record::Selection;
use super::sweep::SettingSweep;
use crate::cli::connection::PlayingArgs;
use crate::cli::numbers::NumbersArgs;
use crate::cli::options::{games_range, loss_trials_range};
use crate::cli::rules::{RulesArgs, rules_by_default};
use crate::cli::search::SearchArgs;

/// The options of `tetrion evaluate`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("rules", |arg| rules_by_default(arg, "the rules of the first run, or simplified")),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: 10, or the preset's]")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: 10, or the preset's]")),
    mut_arg("preview", |arg| arg.help("Number of next pieces shown [default: the preset's, or as many as --search needs]")),
)]
pub struct EvaluateArgs {
    /// Controllers or agents such as dt-10 or monte_carlo, training runs, or files such as weights.json or my.formula;
    /// several are compared on the same pieces
    #[arg(value_name = "NAME")]
    pub players: Vec<String>,

    /// Formula that scores placements, such as "-4*holes - max_height^2"; repeat to compare several
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub formula: Vec<String>,

    #[command(flatten)]
    pub numbers: NumbersArgs,

    /// Random games per placement, for monte_carlo and monte_carlo_coded [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub playouts: Option<u32>,

    #[command(flatten)]
    pub search: SearchArgs,

    /// Play once per value of a setting: of --search, such as width=8,32, or the playouts of monte_carlo
    #[arg(long, value_name = "SETTING=VALUE,...")]
    pub sweep: Option<SettingSweep>,

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
    #[arg(long, value_name = "FILE")]
    pub games_csv: Option<PathBuf>,

    /// Draw the means as bars with 95 % intervals in this SVG file; a terminal shows them after the table
    #[arg(long, value_name = "FILE")]
    pub chart: Option<PathBuf>,

    /// Record games of each controller: `best`, `worst`, `median`, or `all=N` for the first N; separate several with
    /// commas
    #[arg(long, value_name = "WHICH")]
    pub record: Option<Selection>,

    /// Folder for the recordings of --record
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Who plays the games.
    #[command(flatten)]
    pub playing: PlayingArgs,
}
