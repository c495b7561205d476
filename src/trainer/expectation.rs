//! How a file keeps what weights make of the pieces to come.

use serde::{Deserialize, Serialize};

use crate::client::{Expectation, Terms};

/// Which terms of a placement count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TermsName {
    /// Terms of features of the landing, such as its height.
    Landing,
    /// All of them.
    All,
    /// None of them.
    None,
}

/// An expectation in a file, with every field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectationNote {
    /// Next pieces that are weighed.
    pub pieces: u8,
    /// Placements to look at for each piece but the last.
    pub placements: u8,
    /// The value of a lost piece, in multiples of the largest weight.
    pub lost_piece: f64,
    /// Factor for the value of what is to come.
    pub discount: f64,
    /// Which terms of a placement count if another piece follows.
    pub terms: TermsName,
    /// Standard deviations by which a hidden piece counts less than its mean.
    pub caution: f64,
}

impl ExpectationNote {
    /// The expectation, as a request takes it.
    pub fn expectation(&self) -> Expectation {
        let ExpectationNote { pieces, placements, lost_piece, discount, terms, caution } = *self;
        let terms = match terms {
            TermsName::Landing => Terms::Landing,
            TermsName::All => Terms::All,
            TermsName::None => Terms::None,
        };
        Expectation { pieces, placements, lost_piece, discount, terms, caution }
    }
}
