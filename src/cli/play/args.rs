//! The options of `tetrion play`.

use crate::cli::shown::ShownArgs;
use crate::cli::thinking::ThinkingArgs;

/// The options of `tetrion play`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("lookahead", |arg| arg.requires("against")),
    mut_arg("expectation", |arg| arg.requires("against")),
    mut_arg("terminal", |arg| arg.requires("against")),
    mut_arg("rules", |arg| arg.help("Rules preset; under lab and guideline you steer falling pieces by keys [default: the rules of a run in --against, or simplified]")),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: 10, or the preset's]")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: 20, or the preset's]")),
    mut_arg("seed", |arg| arg.help("Seed for the games, as in `evaluate` [default: random]")),
)]
pub struct PlayArgs {
    /// Opponent that gets the same pieces and moves after each of yours: a controller, an agent, a training run, or a
    /// weights.json
    #[arg(long, value_name = "NAME")]
    pub against: Option<String>,

    /// Search and expectation of the opponent.
    #[command(flatten)]
    pub thinking: ThinkingArgs,

    /// Controller that gives hints
    #[arg(long, value_name = "NAME", default_value = "dt-10")]
    pub hint: String,

    /// Rows per second that a piece falls, 0 to 100; 0 advances time only with each key [default: 2, or 1 under rules such
    /// as guideline]
    #[arg(long, value_name = "N", value_parser = speed)]
    pub speed: Option<f64>,

    /// The game, its rules and its colours.
    #[command(flatten)]
    pub shown: ShownArgs,
}

/// The fastest that a piece falls, in rows a second.
pub const MAX_SPEED: f64 = 100.0;

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.0..=MAX_SPEED).contains(speed));
    speed.ok_or_else(|| format!("expected a number from 0 to {MAX_SPEED}"))
}
