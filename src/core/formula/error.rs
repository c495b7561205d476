//! Mistakes in a formula, with their position.

use std::fmt;
use std::ops::Range;

/// Characters of a line that an error quotes on each side of the mistake.
const QUOTED: usize = 40;

/// A mistake in a formula: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    problem: String,
    /// Line, from 1.
    line: usize,
    /// Column in characters, from 1.
    column: usize,
    /// The line, or the part of it around the mistake, and under it carets that point at the mistake. Empty for a
    /// mistake of the whole text.
    quote: String,
}

impl FormulaError {
    /// A mistake in these bytes of the text.
    pub(super) fn new(text: &str, span: Range<usize>, problem: String) -> FormulaError {
        let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[span.start..].find('\n').map_or(text.len(), |newline| span.start + newline);
        let before: Vec<char> = text[start..span.start].chars().collect();
        let after: Vec<char> = text[span.start..end].chars().collect();
        let marked = text[span.start..span.end.clamp(span.start, end)].chars().count().clamp(1, QUOTED);

        let left_out = before.len().saturating_sub(QUOTED);
        let dots = |is_cut| if is_cut { "..." } else { "" };
        let (head, tail) = (dots(left_out > 0), dots(after.len() > QUOTED));
        let quoted = before[left_out..].iter().chain(after.iter().take(QUOTED));
        let quoted: String = quoted.map(|&char| if char.is_control() { ' ' } else { char }).collect();
        let indent = head.len() + before.len() - left_out;
        FormulaError {
            problem,
            line: text[..start].matches('\n').count() + 1,
            column: before.len() + 1,
            quote: format!("\n  {head}{quoted}{tail}\n  {}{}", " ".repeat(indent), "^".repeat(marked)),
        }
    }

    /// A mistake of the whole text.
    pub(super) fn of_text(problem: String) -> FormulaError {
        FormulaError { problem, line: 1, column: 1, quote: String::new() }
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FormulaError { problem, line, column, quote } = self;
        if quote.is_empty() {
            return f.write_str(problem);
        }
        write!(f, "{problem} (line {line}, column {column}):{quote}")
    }
}

impl std::error::Error for FormulaError {}
