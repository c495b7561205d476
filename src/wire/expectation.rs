//! How a controller evaluates the pieces to come, as a message.

pub use crate::agents::{Expectation, Terms};
use crate::engine::Rules;

use super::error::{DecodeError, InField};
use super::pb;

/// Reads an expectation and fills in defaults. An expectation excludes a `lookahead`.
pub(super) fn decode(
    message: Option<&pb::Expectation>,
    rules: &Rules,
    lookahead: u32,
) -> Result<Option<Expectation>, DecodeError> {
    let Some(message) = message else { return Ok(None) };
    if lookahead > 0 {
        let problem = format!("is given with a lookahead of {lookahead}, expected one of the two");
        return Err(DecodeError::field("expectation", problem));
    }
    let default = Expectation::default();
    let decoded = (|| {
        let pieces = message.pieces.unwrap_or(default.pieces.into());
        check("pieces", pieces, 1, Expectation::MAX_PIECES.into())?;
        if pieces > u32::from(rules.preview) + 1 {
            let problem = format!(
                "is {pieces}, expected at most {}: one more than the {} next pieces that the rules show",
                rules.preview + 1,
                rules.preview
            );
            return Err(DecodeError::field("pieces", problem));
        }
        let placements = message.placements.unwrap_or(default.placements.into());
        check("placements", placements, 1, Expectation::MAX_PLACEMENTS.into())?;
        let lost_piece = message.lost_piece.unwrap_or(default.lost_piece);
        check("lost_piece", lost_piece, Expectation::LEAST_LOST_PIECE, 0.0)?;
        let discount = message.discount.unwrap_or(default.discount);
        check("discount", discount, 0.0, 1.0)?;
        let terms = match pb::ExpectationTerms::try_from(message.terms) {
            Ok(pb::ExpectationTerms::Unspecified) => default.terms,
            Ok(pb::ExpectationTerms::Landing) => Terms::Landing,
            Ok(pb::ExpectationTerms::All) => Terms::All,
            Ok(pb::ExpectationTerms::None) => Terms::None,
            Err(_) => return Err(DecodeError::without_a_meaning("terms", message.terms)),
        };
        let caution = message.caution.unwrap_or(default.caution);
        check("caution", caution, 0.0, Expectation::MOST_CAUTION)?;
        // They were checked, so they fit.
        let (pieces, placements) = (pieces as u8, placements as u8);
        Ok(Expectation { pieces, placements, lost_piece, discount, terms, caution })
    })();
    decoded.in_field("expectation").map(Some)
}

/// An expectation with every field.
pub fn encode(expectation: &Expectation) -> pb::Expectation {
    let Expectation { pieces, placements, lost_piece, discount, terms, caution } = *expectation;
    let terms = match terms {
        Terms::Landing => pb::ExpectationTerms::Landing,
        Terms::All => pb::ExpectationTerms::All,
        Terms::None => pb::ExpectationTerms::None,
    };
    pb::Expectation {
        pieces: Some(pieces.into()),
        placements: Some(placements.into()),
        lost_piece: Some(lost_piece),
        discount: Some(discount),
        terms: terms.into(),
        caution: Some(caution),
    }
}

fn check<T: PartialOrd + std::fmt::Display>(
    field: &'static str,
    value: T,
    least: T,
    most: T,
) -> Result<(), DecodeError> {
    if least <= value && value <= most {
        return Ok(());
    }
    Err(DecodeError::field(field, format!("is {value}, expected {least} to {most}")))
}
