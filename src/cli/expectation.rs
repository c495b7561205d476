//! The flags for what the pieces to come can reach.

use clap::Args;
use clap::builder::TypedValueParser;

use super::options::one_of;
use crate::client::Expectation;
use crate::trainer::expectation::{ExpectationNote, TermsName};

/// The options of an expectation: the first asks for one, the others change it.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct ExpectationArgs {
    /// Search ahead (expectimax): use the next piece if it is shown, else the exact mean over all pieces. For linear
    /// controllers
    #[arg(long)]
    pub expectation: bool,

    /// Search depth in pieces; the first N - 1 must be shown [default: 1]
    #[arg(long, value_name = "N", requires = "expectation",
        value_parser = clap::value_parser!(u8).range(1..=i64::from(Expectation::MAX_PIECES)))]
    pub expectation_pieces: Option<u8>,

    /// Placements to expand per piece except the last, best first [default: 8]
    #[arg(long, value_name = "N", requires = "expectation",
        value_parser = clap::value_parser!(u8).range(1..=i64::from(Expectation::MAX_PLACEMENTS)))]
    pub expectation_placements: Option<u8>,

    /// Value of losing the game, in multiples of the largest weight, -1000000 to 0 [default: -100]
    #[arg(long, value_name = "MULTIPLE", requires = "expectation")]
    pub lost_piece: Option<f64>,

    /// Discount per piece, 0 to 1 [default: 1]
    #[arg(long, value_name = "FACTOR", requires = "expectation")]
    pub discount: Option<f64>,

    /// Terms of a placement's score that count if another piece follows [default: landing]
    #[arg(long, value_name = "WHICH", requires = "expectation", value_parser = terms())]
    pub expectation_terms: Option<TermsName>,

    /// Standard deviations to subtract from the mean over hidden pieces, 0 to 10 [default: 0]
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
        ("landing", "Terms of features of the landing, such as its height", TermsName::Landing),
        ("all", "All terms", TermsName::All),
        ("none", "No terms", TermsName::None),
    ])
}
