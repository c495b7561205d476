//! The only place that writes to stdout and stderr.
//!
//! `println!` and `eprintln!` panic if the reader has closed the pipe or the disk is full. A program must not end
//! because a message is lost, so nothing else in the crate prints: Clippy refuses the macros.
//!
//! | stream | content | if it cannot be written |
//! | --- | --- | --- |
//! | stderr | messages, progress, the log of the server | the text is dropped, the work continues |
//! | stdout, closed by its reader | results | the program ends silently, with code [`READER_LEFT`] |
//! | stdout, any other error | results | the program reports the reason and ends with code 1 |
//!
//! `tetrion serve` also continues without its line on stdout.
//!
//! Texts also come from servers and files, and terminals obey some characters: an escape sequence sets the title or the
//! clipboard, and a direction override reorders a line. So this module escapes such characters in everything that it
//! prints ([`visible`]). Full-screen drawings go through [`super::terminal`] instead.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use terminal_size::{Height, Width, terminal_size_of};

use crate::text::escapes::{is_obeyed, visible, without_middle, written_out};

/// Exit code if the reader of stdout has closed it, as shells report a program that SIGPIPE ended.
pub const READER_LEFT: u8 = 141;

/// The error of writing to stdout after its reader has closed it.
#[derive(Debug, thiserror::Error)]
#[error("the reader of stdout has left")]
pub struct ReaderLeft;

/// Longest word in a message, in characters; people do not type longer ones.
const LONGEST_WORD: usize = 1_000;
/// Length in characters at which a message is cut.
const LONGEST_MESSAGE: usize = 10_000;

/// Writes a line to stderr, escaped ([`visible`]), shortened to a readable length, and broken between words.
pub fn say(line: impl Display) {
    let line = line.to_string();
    let line = broken(&shortened(&visible(&line)), stderr_columns());
    // In one piece, so that lines from several threads do not mix.
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Clears the terminal on stderr, and starts at its top.
pub fn clear_screen() {
    let _ = io::stderr().write_all(b"\x1b[2J\x1b[H");
}

/// Writes a text to stdout, escaped ([`visible`]) and complete. On a terminal, breaks its lines between words.
///
/// # Errors
/// [`ReaderLeft`] if the pipe is closed, else the system's error.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_drawing(&broken(&visible(text), stdout_columns()))
}

/// Columns of the terminal on stdout; `None` without a terminal.
pub fn stdout_columns() -> Option<usize> {
    columns(terminal_size_of(io::stdout()))
}

/// Columns of the terminal on stderr; `None` without a terminal.
pub fn stderr_columns() -> Option<usize> {
    columns(terminal_size_of(io::stderr()))
}

/// Some terminals do not know their size, and say 0.
fn columns(size: Option<(Width, Height)>) -> Option<usize> {
    size.map(|(width, _)| width.0.into()).filter(|columns| *columns > 0)
}

/// Breaks the lines of a text between words. A terminal would break them anywhere, even in numbers. Leaves commands and
/// JSON to the terminal, whose breaks are not copied.
///
/// ```
/// use tetrion::cli::output::broken;
/// let text = "resume with:\ntetrion train --resume runs/bcts-1";
/// assert_eq!(broken(text, Some(10)), "resume\nwith:\ntetrion train --resume runs/bcts-1");
/// assert_eq!(broken("over 1,000 games", Some(10)), "over 1,000\ngames");
/// ```
pub fn broken(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let options = textwrap::Options::new(columns)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let is_copied = |line: &str| line.starts_with("tetrion ") || line.starts_with(['{', '[']);
    let line = |line| if is_copied(line) { line.to_owned() } else { textwrap::fill(line, &options) };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Writes a drawing to stdout, with escape sequences for its colours. It must not contain text from a file or a server.
///
/// # Errors
/// If stdout cannot be written.
pub fn print_drawing(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(ReaderLeft.into()),
        written => written.context("cannot write to stdout"),
    }
}

/// Shortens a message and its longest words in the middle: a file of the wrong kind may be a single word.
fn shortened(message: &str) -> Cow<'_, str> {
    if message.len() <= LONGEST_WORD {
        return Cow::Borrowed(message);
    }
    let words = message.split_inclusive(char::is_whitespace);
    let message: String = words.map(|word| without_middle(word, LONGEST_WORD)).collect();
    Cow::Owned(without_middle(&message, LONGEST_MESSAGE).into_owned())
}

/// A word in the form that a shell command needs: plain, or in quotes.
///
/// ```
/// use tetrion::cli::output::shell_word;
/// let quoted = ["runs/bcts-1", "my run", "it's", "-", "", "a\u{7}"].map(shell_word);
/// assert_eq!(quoted, ["runs/bcts-1", "'my run'", r"'it'\''s'", "-", "''", r"$'a\u0007'"]);
/// ```
pub fn shell_word(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref().to_string_lossy();
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./,:=@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into_owned();
    }
    if word.contains(|letter: char| is_obeyed(letter) || letter.is_control()) {
        // bash and zsh have a form with escapes.
        let word = word.replace('\\', r"\\").replace('\'', r"\'");
        return format!("$'{}'", written_out(&word, |letter| is_obeyed(letter) || letter.is_control()));
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A path in the form that a shell command needs. A name that begins with a dash would be read as an option.
///
/// ```
/// use tetrion::cli::output::shell_path;
/// assert_eq!(["runs/bcts-1", "-run", "-my run"].map(shell_path), ["runs/bcts-1", "./-run", "'./-my run'"]);
/// ```
pub fn shell_path(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    match path.as_os_str().as_encoded_bytes() {
        [b'-', ..] => shell_word(Path::new(".").join(path)),
        _ => shell_word(path),
    }
}

/// The log's writer, which writes to stderr and never fails.
#[derive(Debug)]
pub struct Log;

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let log = String::from_utf8_lossy(text);
        // The log's own colours start with the escape character. The log already escapes the texts that it quotes.
        let log = written_out(&log, |character| is_obeyed(character) && character != '\x1b');
        let _ = io::stderr().write_all(log.as_bytes());
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether colours are off because the variable `NO_COLOR` is not empty, as <https://no-color.org> defines it.
pub fn is_without_colours() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
