//! `tetrion tbp`: both sides of the Tetris Bot Protocol, without a server: `bot` runs an agent on stdin and stdout,
//! `host` plays games with any bot.

mod args;
mod bot;
mod host;
mod report;
mod rules;

pub use args::TbpArgs;

use std::process::ExitCode;

use self::args::Side;

/// Serves a front end until it quits, or plays games with a bot and prints the results.
///
/// # Errors
/// If a name is unknown, the rules cannot be played, a program cannot be started, or a file cannot be written.
pub fn run(args: TbpArgs) -> anyhow::Result<ExitCode> {
    match args.side {
        Side::Bot(args) => bot::run(&args),
        Side::Host(args) => host::run(&args),
    }
}
