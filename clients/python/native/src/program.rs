//! The `tetrion` program, as a function.

use std::ffi::OsString;
use std::process::{self, ExitCode};

use pyo3::prelude::*;
use tetrion::{bench, cli};

/// Runs the `tetrion` program with these arguments, the first of which is its name, and ends this process with its exit
/// code. `command` starts the program in another process.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, args: Vec<OsString>, command: Vec<OsString>) {
    let _ = bench::COMMAND.set(command); // set once in a process
    py.detach(|| process::exit(number_of(cli::main(args))))
}

/// The number of an exit code, which Rust does not reveal.
fn number_of(code: ExitCode) -> i32 {
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).map_or(1, i32::from)
}
