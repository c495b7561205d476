//! The command line: what a person starts, sees, and finds on disk afterwards.
//!
//! One file a subcommand; what several of them share lies beside them. Nothing below this layer
//! reads flags, prints, or names a file.

pub mod args;

pub mod bench;
pub mod evaluate;
pub mod perft;
pub mod reproduce;
pub mod serve;
pub mod train;

pub mod connection;
pub mod large_u64;
pub mod numbers;
pub mod plot;
pub mod progress;
pub mod run_folder;
pub mod weights;

use std::process::ExitCode;

/// Does what a person asked for, and tells how it went.
///
/// # Errors
/// Whatever the subcommand could not do, with the reasons.
pub fn run(command: args::Command) -> anyhow::Result<ExitCode> {
    match command {
        args::Command::Serve(args) => serve::run(args),
        args::Command::Train(args) => train::run(args),
        args::Command::Evaluate(args) => evaluate::run(args),
        args::Command::Reproduce(args) => reproduce::run(args),
        args::Command::Perft(args) => perft::run(args),
        args::Command::Bench(args) => bench::run(args),
    }
}
