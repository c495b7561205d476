//! The command line: subcommands, their output, and their files.
//!
//! Each subcommand has a file or folder here; code that several subcommands share has separate files. No layer below
//! this one reads flags, prints, or names a file.

pub mod args;

pub mod bench;
pub mod catalog;
pub mod completions;
pub mod conformance;
pub mod evaluate;
pub mod export;
pub mod health;
pub mod man;
pub mod optimum;
pub mod perft;
pub mod play;
pub mod replay;
pub mod serve;
pub mod tbp;
pub mod train;
pub mod verify;
pub mod watch;

pub mod access;
pub mod computing;
pub mod connection;
mod failure;
mod follow;
pub mod help;
pub mod interrupt;
pub mod limits;
mod notify;
pub mod options;
pub mod output;
pub mod progress;
pub mod recordings;
pub mod rules;
pub mod search;
pub mod shown;
pub mod terminal;
pub mod tls_files;
pub mod token_file;

pub use failure::fail;

use std::ffi::OsString;
use std::process::ExitCode;

/// The whole program. The first argument is its name.
pub fn main(args: Vec<OsString>) -> ExitCode {
    args::parse(args).and_then(run).unwrap_or_else(|error| fail(&error))
}

/// Runs a subcommand. Returns the exit code.
///
/// # Errors
/// The error of the subcommand, with its causes.
pub fn run(command: args::Command) -> anyhow::Result<ExitCode> {
    match command {
        args::Command::Serve(args) => serve::run(args),
        args::Command::Train(args) => train::run(*args),
        args::Command::Evaluate(args) => evaluate::run(args),
        args::Command::Play(args) => play::run(args),
        args::Command::Watch(args) => watch::run(args),
        args::Command::Tbp(args) => tbp::run(args),
        args::Command::Replay(args) => replay::run(&args),
        args::Command::Verify(args) => verify::run(args),
        args::Command::Export(args) => export::run(&args),
        args::Command::Perft(args) => perft::run(args),
        args::Command::Optimum(args) => optimum::run(&args),
        args::Command::Bench(args) => bench::run(args),
        args::Command::Health(args) => health::run(&args),
        args::Command::Conformance(args) => conformance::run(args),
        args::Command::Catalog(args) => catalog::run(&args),
        args::Command::Completions(args) => completions::run(&args, args::command()),
        args::Command::Man(args) => man::run(&args, args::command()),
    }
}
