//! The options of `tetrion watch`.

use std::path::PathBuf;

use crate::cli::connection::ConnectionArgs;
use crate::cli::rules::RulesArgs;
use crate::cli::screen::Palette;

/// The options of `tetrion watch`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("rules", |arg| arg.help("The rules preset [default: that of the first run, else simplified]")),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: the run's, else 10, or the rules']")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: the run's, else 20, or the rules']")),
    mut_arg("server", |arg| {
        let help = "The server of the session, HOST:PORT, or https://HOST:PORT where it has a certificate";
        arg.help(help).long_help(help)
    }),
)]
pub struct WatchArgs {
    /// Controllers or agents by name, such as dt-10 or monte_carlo, or folders of `train`, whose search so far plays; several play
    /// side by side on the same pieces
    #[arg(required_unless_present = "session", value_name = "NAME")]
    pub players: Vec<String>,

    /// Watch this session of a server while its learner steps it, in place of players. ListSessions has the names
    #[arg(
        long,
        value_name = "SESSION",
        conflicts_with_all = ["players", "expectation", "speed", "seed", "game", "record", "RulesArgs"]
    )]
    pub session: Option<String>,

    /// Which environments of the session, 64 at most [default: the first 64]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub envs: Vec<u32>,

    /// Let controllers weigh what the next piece can reach, as `evaluate --expectation` does
    #[arg(long)]
    pub expectation: bool,

    /// Steps a second; keys on the screen change it [default: 4, or 12 where keys move the pieces]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub speed: Option<u32>,

    /// Begin with a pause
    #[arg(long)]
    pub paused: bool,

    /// The seed from which those of the games are drawn, as in `evaluate`
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Which of them to begin with, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub game: u64,

    /// Write the game to this file when leaving, as far as it was watched, as a recording for `replay` and `export`: JSON if
    /// the name ends in .json. Of several players it is the game of the first
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// The colours of the pieces [default: usual, or ascii where NO_COLOR is set]
    #[arg(long, value_name = "NAME")]
    pub palette: Option<Palette>,

    /// Under which rules.
    #[command(flatten)]
    pub rules: RulesArgs,

    /// Where the session is.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
