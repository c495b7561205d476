//! The `tetrion` program.
//!
//! It ends with code 0 when all went well, 1 when something failed, 2 when it was asked for something that it cannot make
//! sense of, and 130 when it was interrupted before it was done.

use std::process::ExitCode;

use tetrion::cli::{self, args};

/// EnumeratePlacements of 4,096 environments answers with 4 MB: 1.2 times as many a second as with the C library's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let command = match args::parse() {
        Ok(command) => command,
        Err(error) => return fail(&error, 2),
    };
    cli::run(command).unwrap_or_else(|error| fail(&error, 1))
}

fn fail(error: &anyhow::Error, code: u8) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::from(code)
}
