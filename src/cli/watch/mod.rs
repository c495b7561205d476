//! `tetrion watch`: shows games of controllers, agents and training runs, or a session of a server. Only sessions need
//! a server.
//!
//! The games equal those of `tetrion evaluate` with the same seed. Several players get the same pieces and move in
//! step. The viewer can pause, step back and forth, and read why a controller chooses a placement. A session shows its
//! learner's steps; pausing or stepping back does not affect the learner.

mod args;
mod session;

pub use args::WatchArgs;

use std::process::ExitCode;

use crate::input::UsageError;
use crate::players::Contender;
use crate::viewers::{WatchScreen, WatchSetup};

/// Shows the games, or a session, until the viewer leaves, then prints the result.
///
/// # Errors
/// If a name or a session is unknown, the rules cannot be played, there is no terminal, or a file cannot be written.
pub fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    if let Some(session) = &args.session {
        return session::run(&args, session);
    }
    // The environment or a file may name a server for all clients. Players on this machine do not need it.
    if !args.envs.is_empty() {
        return Err(UsageError("--envs needs --session: remove it, or add --session".to_owned()).into());
    }
    let mut watch = begin(&args)?;
    args.shown.show(&mut watch, WatchScreen::recording, WatchScreen::report)
}

/// Creates the players before their first step.
///
/// # Errors
/// [`UsageError`] for an unknown player, or rules that cannot be played.
pub fn begin(args: &WatchArgs) -> Result<WatchScreen, UsageError> {
    let mut contenders =
        args.players.iter().map(|name| Contender::new(name)).collect::<Result<Vec<_>, _>>()?;
    contenders.extend(Contender::from_formulas(&args.formula));
    contenders.extend(args.numbers.contenders()?);
    let choice = args.search.choice();
    let seed = args.shown.seed.expect("it has a default");
    WatchScreen::new(WatchSetup {
        series: args.shown.series(&contenders, choice, seed)?,
        game: args.shown.first_game,
        contenders,
        choice,
        speed: args.steps_per_second,
        paused: args.paused,
        palette: args.shown.palette(),
    })
}
