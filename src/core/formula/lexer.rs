//! The words of a formula: numbers, names and symbols, with their places in the text.

use std::ops::Range;

use super::error::FormulaError;

/// Largest number that a formula may contain, like the largest weight.
const MAX_NUMBER: f64 = 1e300;

/// Symbols, the longer ones first.
const SYMBOLS: [&str; 18] =
    ["==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ";", "="];

/// A word of the text and its place. Words are numbers, names and symbols.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    /// The kind of the word.
    pub kind: TokenKind<'a>,
    /// The bytes of the word in the text.
    pub span: Range<usize>,
}

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TokenKind<'a> {
    /// A finite number, at least 0.
    Number(f64),
    /// A name or a keyword.
    Name(&'a str),
    /// One of [`SYMBOLS`], such as `<=`.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

/// Splits a text into words; the last one is [`TokenKind::End`]. Leaves out space, and comments from `#` to the end of
/// the line.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, FormulaError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_number = first.is_ascii_digit() || first == '.';
        let length;
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if is_number {
            length = number_length(rest);
            tokens.push(Token { kind: number(text, at..at + length)?, span: at..at + length });
        } else if first.is_ascii_alphabetic() {
            length = prefix_length(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
            tokens.push(Token { kind: TokenKind::Name(&rest[..length]), span: at..at + length });
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            length = symbol.len();
            tokens.push(Token { kind: TokenKind::Symbol(symbol), span: at..at + length });
        } else {
            let span = at..at + first.len_utf8();
            return Err(FormulaError::new(text, span, format!("{first:?} is no part of a formula")));
        }
        at += length;
    }
    tokens.push(Token { kind: TokenKind::End, span: text.len()..text.len() });
    Ok(tokens)
}

/// Length of the number at the beginning of a text: digits with at most one point, and an exponent.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| from + prefix_length(&text[from..], |byte| byte.is_ascii_digit());
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

fn prefix_length(text: &str, belongs: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|byte| !belongs(byte)).unwrap_or(text.len())
}

fn number(text: &str, span: Range<usize>) -> Result<TokenKind<'_>, FormulaError> {
    let digits = &text[span.clone()];
    match digits.parse::<f64>() {
        Ok(number) if number <= MAX_NUMBER => Ok(TokenKind::Number(number)),
        Ok(_) => {
            let problem = format!("{digits} is too large, expected at most {MAX_NUMBER:e}");
            Err(FormulaError::new(text, span, problem))
        }
        Err(_) => Err(FormulaError::new(text, span, format!("{digits:?} is no number"))),
    }
}
