//! The one place that writes to stdout and stderr.
//!
//! `println!` and `eprintln!` panic when the other end of the pipe is closed or the disk behind it is full. A program
//! must not end because its messages are lost, so nothing else in the crate prints: Clippy refuses the macros.
//!
//! | stream | carries | when it cannot be written |
//! | --- | --- | --- |
//! | stderr | messages, progress, the log of the server | the text is dropped, the work goes on |
//! | stdout, closed by its reader | results | the program ends without a word, with code [`READER_LEFT`] |
//! | stdout, any other error | results | the program says why and ends with code 1 |
//!
//! `tetrion serve` goes on without its line on stdout too.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::Context;

/// The exit code after the reader of stdout has left: the one that a shell reports of a program that SIGPIPE ended.
pub const READER_LEFT: u8 = 141;

/// The reader of stdout has left.
#[derive(Debug, thiserror::Error)]
#[error("the reader of stdout has left")]
pub struct ReaderLeft;

/// Writes a line to stderr.
pub fn say(line: impl Display) {
    // In one piece, so that lines of several threads do not mix.
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Writes a text to stdout, to its end.
///
/// # Errors
/// [`ReaderLeft`] if the pipe is closed, else what the system says.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(ReaderLeft.into()),
        written => written.context("cannot write to stdout"),
    }
}

/// Writes to stderr and never fails: what the log is written with.
#[derive(Debug)]
pub struct Log;

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether colours are unwanted: the variable `NO_COLOR` is set to anything, as <https://no-color.org> has it.
pub fn is_without_colours() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
