//! The `tetrion` program.
//!
//! It ends with code 0 when all went well, 1 when something failed, 2 when it was asked for something that it cannot make
//! sense of, and 130 when it was interrupted before it was done.

use std::process::ExitCode;

use tetrion::cli::{self, args};

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
