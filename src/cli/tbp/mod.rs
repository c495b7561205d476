//! `tetrion tbp`: both sides of the Tetris Bot Protocol: our agents as bots on stdin and stdout, and games for any bot. Neither
//! needs a server.

mod args;
mod bot;
mod host;
mod report;
mod rules;

pub use args::TbpArgs;

use std::process::ExitCode;

use self::args::Side;

/// Talks to a front end until it says quit, or plays games with a bot and prints how they went.
///
/// # Errors
/// A name or rules that cannot be played, a program that cannot be started, or a file that cannot be written.
pub fn run(args: TbpArgs) -> anyhow::Result<ExitCode> {
    match args.side {
        Side::Bot(args) => bot::run(&args),
        Side::Host(args) => host::run(&args),
    }
}
