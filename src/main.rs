//! The `tetrion` program.
//!
//! | exit code | meaning |
//! | --- | --- |
//! | 0 | it did what the caller asked |
//! | 1 | something failed |
//! | 2 | it does not understand the request: a flag, a value, a name |
//! | 130 | it was interrupted before it was done |
//! | 141 | the reader of its stdout left before it was done |

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see tetrion::cli::output

use std::process::ExitCode;

fn main() -> ExitCode {
    tetrion::cli::main(std::env::args_os().collect())
}
