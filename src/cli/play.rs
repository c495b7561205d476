//! `tetrion play`: a person plays in the terminal, without a server.
//!
//! Any preset works. If a step is a placement, the player moves and turns the piece without time pressure and drops it.
//! If a step is a key, the piece falls in real time. An opponent can play the same pieces, alternating with the player,
//! and a controller gives hints with its reasons.

use std::process::ExitCode;

use clap::{ArgAction, ArgGroup};

use super::numbers::NumbersArgs;
use super::rules::rules_by_default;
use super::search::SearchArgs;
use super::shown::ShownArgs;
use crate::input::UsageError;
use crate::players::Contender;
use crate::viewers::{MAX_FALL_SPEED, PlayScreen, PlaySetup};

/// The options of `tetrion play`.
#[derive(Debug, clap::Args)]
#[command(
    group(ArgGroup::new("opponent").args(["against", "weights"])),
    mut_arg("weights", |arg| {
        arg.action(ArgAction::Set).help("Opponent from a file of plain numbers, one weight per feature of --features")
    }),
    mut_arg("search", |arg| arg.requires("opponent")),
    mut_arg("terminal_value", |arg| arg.requires("opponent")),
    mut_arg("rules", |arg| rules_by_default(arg, "the rules of a run in --against, or simplified")),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: 10, or the preset's]")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: 20, or the preset's]")),
    mut_arg("seed", |arg| arg.help("Seed for the games, as in `evaluate` [default: random]")),
)]
pub struct PlayArgs {
    /// Opponent that gets the same pieces and moves after each of yours: a controller, an agent, a training run, or a
    /// weights.json
    #[arg(long, value_name = "NAME")]
    pub against: Option<String>,

    #[command(flatten)]
    pub numbers: NumbersArgs,

    #[command(flatten)]
    pub search: SearchArgs,

    /// Controller that gives hints
    #[arg(long, value_name = "NAME", default_value = "dt-10")]
    pub hint: String,

    /// Rows per second that a piece falls, 0 to 100; 0 advances time only with each key [default: 2, or 1 under rules
    /// such as guideline]
    #[arg(long, value_name = "N", value_parser = rows_per_second)]
    pub rows_per_second: Option<f64>,

    /// Options of the game, its rules and its colours.
    #[command(flatten)]
    pub shown: ShownArgs,
}

/// Shows the game until the player leaves, then prints the result.
///
/// # Errors
/// If a name is unknown, the rules cannot be played, there is no terminal, or the recording cannot be written.
pub fn run(args: PlayArgs) -> anyhow::Result<ExitCode> {
    let seed = match args.shown.seed {
        Some(seed) => seed,
        // Short enough to read aloud.
        None => getrandom::u32()?.into(),
    };
    let mut play = begin(&args, seed)?;
    args.shown.show(&mut play, PlayScreen::recording, PlayScreen::report)
}

/// Creates the game before its first key.
///
/// # Errors
/// [`UsageError`] for an unknown name, or rules that cannot be played.
pub fn begin(args: &PlayArgs, seed: u64) -> Result<PlayScreen, UsageError> {
    let mut numbers = args.numbers.contenders()?;
    let against = args.against.as_deref().map(Contender::new).transpose()?.or_else(|| numbers.pop());
    let choice = args.search.choice();
    PlayScreen::new(PlaySetup {
        series: args.shown.series(against.as_slice(), choice, seed)?,
        game: args.shown.first_game,
        against,
        choice,
        hint: args.hint.clone(),
        speed: args.rows_per_second,
        palette: args.shown.palette(),
    })
}

fn rows_per_second(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.0..=MAX_FALL_SPEED).contains(speed));
    speed.ok_or_else(|| format!("expected a number from 0 to {MAX_FALL_SPEED}"))
}
