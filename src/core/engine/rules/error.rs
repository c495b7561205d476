//! The errors of rules that cannot be played. Each names the field, its value and the expected value.

use std::fmt::Display;

/// The reason why rules cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RulesError {
    /// A value that a field cannot have.
    #[error("{field} is {value}, expected {expected}")]
    Field {
        field: &'static str,
        /// The given value, in words.
        value: String,
        /// The allowed values, in words.
        expected: String,
    },
    /// A name that no field has.
    #[error("no field of the rules is called {0:?}")]
    UnknownField(String),
    /// A piece that is too wide for the playfield in all of its orientations.
    #[error("piece {letter:?} of the set has no orientation of at most {width} columns, expected one")]
    TooWide {
        /// The letter of the piece.
        letter: char,
        /// The columns of the playfield.
        width: u8,
    },
    /// Two choices that contradict each other.
    #[error("{0}")]
    Contradiction(&'static str),
}

/// The error for a value that a field cannot have.
pub(super) fn expected(field: &'static str, value: impl Display, expected: impl Into<String>) -> RulesError {
    RulesError::Field { field, value: value.to_string(), expected: expected.into() }
}
