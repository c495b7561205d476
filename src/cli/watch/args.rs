//! The options of `tetrion watch`.

use crate::cli::connection::ConnectionArgs;
use crate::cli::shown::ShownArgs;
use crate::cli::thinking::ThinkingArgs;

/// The options of `tetrion watch`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("rules", |arg| arg.help("The rules preset [default: that of the first run, else simplified]")),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: the run's, else 10, or the rules']")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: the run's, else 20, or the rules']")),
    mut_arg("seed", |arg| arg.default_value("1")),
    mut_arg("record", |arg| {
        let help = "Write the game to this file when leaving, as far as it was watched, as a recording for `replay` and `export`: \
                    JSON if the name ends in .json. Of several players it is the game of the first";
        arg.help(help)
    }),
    mut_arg("server", |arg| {
        let help = "The server of the session, HOST:PORT, or https://HOST:PORT where it has a certificate";
        arg.help(help).long_help(help)
    }),
)]
pub struct WatchArgs {
    /// Controllers or agents by name, such as dt-10 or monte_carlo, folders of `train`, whose search so far plays, or files such as
    /// weights.json; several play side by side on the same pieces
    #[arg(required_unless_present = "session", value_name = "NAME")]
    pub players: Vec<String>,

    /// Watch this session of a server while its learner steps it, in place of players. Without a name, the only session there is;
    /// of several it says the names
    #[arg(
        long,
        value_name = "SESSION",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with_all = ["players", "lookahead", "expectation", "terminal", "speed", "seed", "game", "record", "RulesArgs"]
    )]
    pub session: Option<String>,

    /// Which environments of the session, 64 at most [default: the first 64]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub envs: Vec<u32>,

    /// How controllers choose.
    #[command(flatten)]
    pub thinking: ThinkingArgs,

    /// Steps a second; keys on the screen change it [default: 4, or 12 where keys move the pieces]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub speed: Option<u32>,

    /// Begin with a pause
    #[arg(long)]
    pub paused: bool,

    /// Which game, under which rules, and how it is shown.
    #[command(flatten)]
    pub shown: ShownArgs,

    /// Where the session is.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
