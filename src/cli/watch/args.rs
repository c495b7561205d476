//! The options of `tetrion watch`.

use crate::cli::connection::ConnectionArgs;
use crate::cli::numbers::NumbersArgs;
use crate::cli::rules::rules_by_default;
use crate::cli::search::SearchArgs;
use crate::cli::shown::ShownArgs;

/// The options of `tetrion watch`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("rules", |arg| rules_by_default(arg, "the first run's, or simplified")),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: the run's or the preset's, or 10]")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: the run's or the preset's, or 20]")),
    mut_arg("seed", |arg| arg.default_value("1")),
    mut_arg("record", |arg| {
        let help = "Record the game watched so far in this file on exit, for `replay` and `export`; JSON if the name ends in .json. \
                    With several players, records the first player's game";
        arg.help(help)
    }),
    mut_arg("server", |arg| {
        let help = "Server of the session: HOST:PORT, or https://HOST:PORT with TLS";
        arg.help(help).long_help(help)
    }),
)]
pub struct WatchArgs {
    /// Controllers or agents such as dt-10 or monte_carlo, training runs, or files such as weights.json or my.formula;
    /// several play side by side on the same pieces
    #[arg(required_unless_present_any = ["session", "formula", "weights"], value_name = "NAME")]
    pub players: Vec<String>,

    /// Formula that scores placements, such as "-4*holes - max_height^2"; repeat to compare several
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub formula: Vec<String>,

    #[command(flatten)]
    pub numbers: NumbersArgs,

    /// Watch a server's session while a learner steps it, by its label or its name. Without either: the only learner's
    /// session; if there are several, the error lists them
    #[arg(
        long,
        value_name = "SESSION",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with_all = ["players", "formula", "weights", "features", "search", "terminal_value", "steps_per_second", "seed", "first_game", "record", "RulesArgs"]
    )]
    pub session: Option<String>,

    /// Environments of the session to show, at most 64 [default: the first 64]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub envs: Vec<u32>,

    #[command(flatten)]
    pub search: SearchArgs,

    /// Steps per second; keys on the screen change it [default: 4, or 12 if keys move the pieces]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub steps_per_second: Option<u32>,

    /// Start paused
    #[arg(long)]
    pub paused: bool,

    /// The game, its rules and its colours.
    #[command(flatten)]
    pub shown: ShownArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
