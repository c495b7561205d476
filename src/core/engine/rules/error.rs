//! Why rules cannot be played, in words that name the field, its value and what was expected.

use std::fmt::Display;

/// Why rules cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RulesError {
    /// A value that a field cannot have.
    #[error("{field} is {value}, expected {expected}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// What was given, in words.
        value: String,
        /// What may be given, in words.
        expected: String,
    },
    /// A name of no field.
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
    /// Two choices that cannot go together.
    #[error("{0}")]
    Contradiction(&'static str),
}

/// The error of a value that a field cannot have.
pub(super) fn expected(field: &'static str, value: impl Display, expected: impl Into<String>) -> RulesError {
    RulesError::Field { field, value: value.to_string(), expected: expected.into() }
}
