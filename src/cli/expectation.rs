//! The flags for what the pieces to come can reach, and how a file keeps them.

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::client::{Expectation, Terms};

/// The options of an expectation: the first asks for one, the others change it.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct ExpectationArgs {
    /// Let linear controllers weigh what the next piece can reach: as it is shown, or by the exact mean over the seven
    #[arg(long)]
    pub expectation: bool,

    /// Next pieces that are weighed; the first N - 1 must be shown [default: 1]
    #[arg(long, value_name = "N", requires = "expectation",
        value_parser = clap::value_parser!(u8).range(1..=i64::from(Expectation::MAX_PIECES)))]
    pub expectation_pieces: Option<u8>,

    /// Placements to look at for each piece but the last: the best by score [default: 8]
    #[arg(long, value_name = "N", requires = "expectation",
        value_parser = clap::value_parser!(u8).range(1..=i64::from(Expectation::MAX_PLACEMENTS)))]
    pub expectation_placements: Option<u8>,

    /// The value of a lost piece, in multiples of the largest weight, -1000000 to 0 [default: -100]
    #[arg(long, value_name = "MULTIPLE", requires = "expectation")]
    pub lost_piece: Option<f64>,

    /// Factor for the value of what is to come, 0 to 1 [default: 1]
    #[arg(long, value_name = "FACTOR", requires = "expectation")]
    pub discount: Option<f64>,

    /// Which terms of a placement count if another piece follows [default: landing]
    #[arg(long, value_name = "WHICH", requires = "expectation")]
    pub expectation_terms: Option<TermsName>,

    /// Standard deviations by which a hidden piece counts less than its mean, 0 to 10 [default: 0]
    #[arg(long, value_name = "DEVIATIONS", requires = "expectation")]
    pub caution: Option<f64>,
}

/// Which terms of a placement count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TermsName {
    /// Those of features of the landing, such as its height
    Landing,
    /// All of them
    All,
    /// None of them
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
    /// Standard deviations by which a hidden piece counts less than its mean. Files from before it existed have none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub caution: f64,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl ExpectationArgs {
    /// The expectation that is asked for, if one is.
    pub fn note(&self) -> Option<ExpectationNote> {
        let default = Expectation::default();
        self.expectation.then(|| ExpectationNote {
            pieces: self.expectation_pieces.unwrap_or(default.pieces),
            placements: self.expectation_placements.unwrap_or(default.placements),
            lost_piece: self.lost_piece.unwrap_or(default.lost_piece),
            discount: self.discount.unwrap_or(default.discount),
            terms: self.expectation_terms.unwrap_or(TermsName::Landing),
            caution: self.caution.unwrap_or(default.caution),
        })
    }
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
