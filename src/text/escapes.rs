//! Texts from files and servers, made fit to print: escaped where a terminal would obey them, and shortened.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal obeys a character instead of showing it, or writes on in another direction after it. Line ends and tabs are
/// as harmless as they look.
pub fn is_obeyed(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\n' | '\t');
    // The property Bidi_Control.
    let is_of_direction = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    is_control || is_of_direction
}

/// A text whose characters a terminal shows, all of them: those that it [would obey](is_obeyed) are written out as in JSON, so
/// that a JSON text says the same as before.
///
/// ```
/// use tetrion::text::escapes::visible;
/// assert_eq!(visible("\u{1b}]0;title\u{7} of a window"), r"\u001b]0;title\u0007 of a window");
/// assert_eq!(visible("two\n\tlines"), "two\n\tlines");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    written_out(text, is_obeyed)
}

/// A text with these characters written out as in JSON.
pub fn written_out(text: &str, is_obeyed: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_obeyed(character) {
            // All of them fit into four digits.
            let _ = write!(visible, "\\u{:04x}", u32::from(character));
        } else {
            visible.push(character);
        }
    }
    Cow::Owned(visible)
}

/// A text of at most this many characters, or its first and last ones: a quarter of as many at either end.
pub fn without_middle(text: &str, most: usize) -> Cow<'_, str> {
    let length = if text.len() <= most { text.len() } else { text.chars().count() };
    if length <= most {
        return Cow::Borrowed(text);
    }
    let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let (first, last) = (&text[..at(most / 4)], &text[at(length - most / 4)..]);
    Cow::Owned(format!("{first}... {} characters ...{last}", length - 2 * (most / 4)))
}
