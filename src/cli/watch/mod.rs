//! `tetrion watch`: controllers, agents and what runs of `train` have found play, a person watches. It needs no server, except to
//! watch a session there.
//!
//! The games are those of `tetrion evaluate` with the same seed. Several players get the same pieces and go step by step
//! together; the person can stop them, walk back and forth, and read why a controller places a piece where it does. A session
//! shows what its learner does; the person can stop the picture and go back, and the learner does not notice.

mod args;
mod session;

pub use args::WatchArgs;

use std::process::ExitCode;

use crate::input::UsageError;
use crate::players::Contender;
use crate::viewers::{Watch, WatchSetup};

/// Shows the games, or a session, until the person leaves, and prints how they stand then.
///
/// # Errors
/// A name or rules that cannot be played, a session that there is not, a terminal that is none, or a file that cannot be
/// written.
pub fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    if let Some(session) = &args.session {
        return session::run(&args, session);
    }
    // A server may be named for all clients, in the environment or in a file; players on this machine need none.
    if !args.envs.is_empty() {
        return Err(UsageError("--envs is for --session; leave it out, or name a session".to_owned()).into());
    }
    let mut watch = begin(&args)?;
    args.shown.show(&mut watch, Watch::recording, Watch::report)
}

/// The players before their first step.
///
/// # Errors
/// [`UsageError`] for an unknown player, or rules that cannot be played.
pub fn begin(args: &WatchArgs) -> Result<Watch, UsageError> {
    let contenders = args.players.iter().map(|name| Contender::new(name)).collect::<Result<Vec<_>, _>>()?;
    let choice = args.search.choice();
    let seed = args.shown.seed.expect("it has a default");
    Watch::new(WatchSetup {
        series: args.shown.series(&contenders, choice, seed)?,
        game: args.shown.game,
        contenders,
        choice,
        speed: args.speed,
        paused: args.paused,
        palette: args.shown.palette(),
    })
}
