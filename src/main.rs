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

/// Returns freed memory to the system within seconds, with a thread in the background.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    tetrion::cli::main(std::env::args_os().collect())
}
