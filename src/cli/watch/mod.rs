//! `tetrion watch`: controllers, agents and what runs of `train` have found play, a person watches. It needs no server, except to
//! watch a session there.
//!
//! The games are those of `tetrion evaluate` with the same seed. Several players get the same pieces and go step by step
//! together; the person can stop them, walk back and forth, and read why a controller places a piece where it does. A session
//! shows what its learner does; the person can stop the picture and go back, and the learner does not notice.

mod args;
mod kept;
mod session;
mod state;
mod viewer;

pub use args::WatchArgs;
pub use kept::{Kept, Link};
pub use state::Watch;
pub use viewer::Viewer;

use std::process::ExitCode;

use crate::input::UsageError;

/// Shows the games, or a session, until the person leaves, and prints how they stand then.
///
/// # Errors
/// A name or rules that cannot be played, a session that there is not, a terminal that is none, or a file that cannot be
/// written.
pub fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    if let Some(session) = &args.session {
        return session::run(&args, session);
    }
    let of_sessions = [("--server", args.connection.server.is_empty()), ("--envs", args.envs.is_empty())];
    if let Some((flag, _)) = of_sessions.into_iter().find(|(_, is_absent)| !is_absent) {
        return Err(UsageError(format!("{flag} is of --session; leave it out, or name a session")).into());
    }
    let mut watch = Watch::new(&args)?;
    args.shown.show(&mut watch, Watch::recording, Watch::report)
}
