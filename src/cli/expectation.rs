//! The flags for what the pieces to come can reach.

use clap::Args;
use clap::builder::TypedValueParser;

use super::options::one_of;
use crate::client::Expectation;
use crate::trainer::expectation::{ExpectationNote, TermsName};

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
    #[arg(long, value_name = "WHICH", requires = "expectation", value_parser = terms())]
    pub expectation_terms: Option<TermsName>,

    /// Standard deviations by which a hidden piece counts less than its mean, 0 to 10 [default: 0]
    #[arg(long, value_name = "DEVIATIONS", requires = "expectation")]
    pub caution: Option<f64>,
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

/// The parser of what counts if another piece follows.
fn terms() -> impl TypedValueParser<Value = TermsName> {
    one_of(&[
        ("landing", "Those of features of the landing, such as its height", TermsName::Landing),
        ("all", "All of them", TermsName::All),
        ("none", "None of them", TermsName::None),
    ])
}
