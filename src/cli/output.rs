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
//!
//! Texts come from servers and files too, and a terminal obeys some characters: an escape sequence sets its title or its
//! clipboard, and an override of the direction of writing reorders a line. So whatever is printed here has such characters
//! written out ([`visible`]). What a program draws on a whole screen goes through [`super::screen::terminal`] instead.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, Write};

use anyhow::Context;

use crate::text::escapes::{is_obeyed, visible, without_middle, written_out};

/// The exit code after the reader of stdout has left: the one that a shell reports of a program that SIGPIPE ended.
pub const READER_LEFT: u8 = 141;

/// The reader of stdout has left.
#[derive(Debug, thiserror::Error)]
#[error("the reader of stdout has left")]
pub struct ReaderLeft;

/// Words with more characters are shortened in messages: longer ones are nothing that a person has typed.
const LONGEST_WORD: usize = 1_000;
/// Messages with more characters are shortened, words or not.
const LONGEST_MESSAGE: usize = 10_000;

/// Writes a line to stderr, with all of it [`visible`], and no longer than a person reads.
pub fn say(line: impl Display) {
    let line = line.to_string();
    // In one piece, so that lines of several threads do not mix.
    let _ = io::stderr().write_all(format!("{}\n", shortened(&visible(&line))).as_bytes());
}

/// Writes a text to stdout, to its end and with all of it [`visible`].
///
/// # Errors
/// [`ReaderLeft`] if the pipe is closed, else what the system says.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_drawing(&visible(text))
}

/// Writes a drawing of our own to stdout, whose colours are escape sequences. No text of a file or a server may be in it.
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

/// A message without the middle of its longest words, and of itself where it is too long: a file that is not what it should be may
/// be a single word.
fn shortened(message: &str) -> Cow<'_, str> {
    if message.len() <= LONGEST_WORD {
        return Cow::Borrowed(message);
    }
    let words = message.split_inclusive(char::is_whitespace);
    let message: String = words.map(|word| without_middle(word, LONGEST_WORD)).collect();
    Cow::Owned(without_middle(&message, LONGEST_MESSAGE).into_owned())
}

/// A word of a command line as a shell reads it: as it is, or in quotes.
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
        // A form of bash and zsh that has escapes.
        let word = word.replace('\\', r"\\").replace('\'', r"\'");
        return format!("$'{}'", written_out(&word, |letter| is_obeyed(letter) || letter.is_control()));
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Writes to stderr and never fails: what the log is written with.
#[derive(Debug)]
pub struct Log;

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let log = String::from_utf8_lossy(text);
        // The escape character is that of the log's own colours: in what it quotes, the log writes it out itself.
        let log = written_out(&log, |character| is_obeyed(character) && character != '\x1b');
        let _ = io::stderr().write_all(log.as_bytes());
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
