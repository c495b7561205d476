//! Lines of bounded length, from a stream whose writer cannot be trusted to end them.

use std::io::{self, BufRead};

/// Most bytes of a line. A `start` with a full board takes 2 KiB, a suggestion of every placement on a board full of
/// holes 100 KiB.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// A line, or why it is unusable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputLine {
    /// A line without its end.
    Text(String),
    /// A line that is not UTF-8.
    NotText,
    /// A line of more than [`MAX_LINE_BYTES`], which is not kept.
    TooLong,
}

/// Reads the next line; `None` at the end of the stream. A last line without an end counts. A line that is too long
/// is read only as far as needed to know that; [`skip_line`] reads the rest.
///
/// # Errors
/// The system's errors.
pub fn read_line(stream: &mut impl BufRead) -> io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    loop {
        let some = match stream.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            some => some?,
        };
        if some.is_empty() && line.is_empty() {
            return Ok(None);
        }
        let end = some.iter().position(|byte| *byte == b'\n');
        let len = end.unwrap_or(some.len());
        let (is_last, is_too_long) = (end.is_some() || some.is_empty(), line.len() + len > MAX_LINE_BYTES);
        if is_too_long {
            return Ok(Some(InputLine::TooLong));
        }
        line.extend_from_slice(&some[..len]);
        stream.consume(len + usize::from(end.is_some()));
        if is_last {
            return Ok(Some(String::from_utf8(line).map_or(InputLine::NotText, InputLine::Text)));
        }
    }
}

/// Reads the rest of a line.
///
/// # Errors
/// The system's errors.
pub fn skip_line(stream: &mut impl BufRead) -> io::Result<()> {
    loop {
        let some = match stream.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            some => some?,
        };
        let end = some.iter().position(|byte| *byte == b'\n');
        let (len, is_last) = (end.map_or(some.len(), |end| end + 1), end.is_some() || some.is_empty());
        stream.consume(len);
        if is_last {
            return Ok(());
        }
    }
}

/// Most bytes of the other side's texts that are shown.
pub(super) const SHOWN: usize = 120;

/// A bot's text in a form that is safe to print: without control characters, which would move the cursor or change
/// colours, and at most this many bytes.
///
/// ```
/// assert_eq!(tetrion_toolkit::tbp::lines::shown("Cold\u{1b}[2J Clear\n", 10), "Cold[2J…");
/// ```
pub fn shown(text: &str, max_bytes: usize) -> String {
    let plain: String = text.chars().filter(|letter| !letter.is_control()).take(max_bytes + 1).collect();
    if plain.len() <= max_bytes {
        return plain;
    }
    let ellipsis = '…';
    let mut end = max_bytes.saturating_sub(ellipsis.len_utf8());
    while !plain.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ellipsis}", &plain[..end])
}
