//! `tetrion watch`: controllers and agents play, a person watches. It needs no server.
//!
//! The games are those of `tetrion evaluate` with the same seed. Several players get the same pieces and go step by step
//! together; the person can stop them, walk back and forth, and read why a controller places a piece where it does.

mod args;
mod state;

pub use args::WatchArgs;
pub use state::Watch;

use std::process::ExitCode;

use super::options::check_writable;
use super::output::print;
use super::recordings;
use super::screen::terminal;
use super::setting::Setting;

/// Shows the games until the person leaves, and prints how they stand then.
///
/// # Errors
/// A name or rules that cannot be played, a terminal that is none, or a file that cannot be written.
pub fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    let setting = Setting::new(&args.rules, args.seed, args.palette)?;
    let mut watch = Watch::new(setting, &args)?;
    if let Some(path) = &args.record {
        check_writable(path)?;
    }
    let left = terminal::run(&mut watch)?;
    print(&watch.report())?;
    if let Some(path) = &args.record {
        recordings::write(path, &watch.recording())?;
    }
    Ok(left.into())
}
