//! The options of `tetrion play`.

use crate::cli::shown::ShownArgs;
use crate::cli::thinking::ThinkingArgs;

/// The options of `tetrion play`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("lookahead", |arg| arg.requires("against")),
    mut_arg("expectation", |arg| arg.requires("against")),
    mut_arg("terminal", |arg| arg.requires("against")),
    mut_arg("rules", |arg| arg.help("The rules preset; under lab, keys move pieces that fall [default: that of a run of --against, else simplified]")),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: 10, or the rules']")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: 20, or the rules']")),
    mut_arg("seed", |arg| arg.help("The seed from which those of the games are drawn, as in `evaluate` [default: a new one each time]")),
)]
pub struct PlayArgs {
    /// A controller, an agent, the folder of a run of `train`, or a weights.json, which plays beside you: one piece for each of
    /// yours, on the same pieces
    #[arg(long, value_name = "NAME")]
    pub against: Option<String>,

    /// How it chooses.
    #[command(flatten)]
    pub thinking: ThinkingArgs,

    /// The controller that gives hints
    #[arg(long, value_name = "NAME", default_value = "dt-10")]
    pub hint: String,

    /// Rows a second that a piece falls where keys move it, 0 to 100; 0: time passes with each key only [default: 2; 1 where
    /// keys steer it, as under guideline]
    #[arg(long, value_name = "N", value_parser = speed)]
    pub speed: Option<f64>,

    /// Which game, under which rules, and how it is shown.
    #[command(flatten)]
    pub shown: ShownArgs,
}

/// The fastest that a piece falls, in rows a second.
pub const MAX_SPEED: f64 = 100.0;

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.0..=MAX_SPEED).contains(speed));
    speed.ok_or_else(|| format!("expected a number from 0 to {MAX_SPEED}"))
}
