//! The `tetrion-lab` program, with the exit codes of `tetrion`.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see tetrion::cli::output

use std::process::ExitCode;

fn main() -> ExitCode {
    tetrion_lab::run().unwrap_or_else(|error| tetrion::cli::fail(&error))
}
