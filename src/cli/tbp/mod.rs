//! `tetrion tbp`: the Tetris Bot Protocol on stdin and stdout, as a bot; or its other side, for any bot. It needs no server.

mod args;
mod bot;
mod host;
mod report;
mod rules;

pub use args::TbpArgs;

use std::process::ExitCode;

/// Talks to a front end until it says quit, or plays games with a bot and prints how they went.
///
/// # Errors
/// A name or rules that cannot be played, a program that cannot be started, or a file that cannot be written.
pub fn run(args: TbpArgs) -> anyhow::Result<ExitCode> {
    if args.host { host::run(&args) } else { bot::run(&args) }
}
