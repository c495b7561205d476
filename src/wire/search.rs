//! The search of a controller, as fields of a message.

pub use crate::agents::{Expectation, Search, Terms};
use crate::engine::Rules;

use super::error::{DecodeError, InField};
use super::limits::MAX_LOOKAHEAD;
use super::pb;

/// Reads a search and fills in defaults; `None` if the caller chose none. A `lookahead` above 0 excludes an expectation.
pub(super) fn decode_search(
    lookahead: Option<u32>,
    expectation: Option<&pb::Expectation>,
    rules: &Rules,
) -> Result<Option<Search>, DecodeError> {
    let search = match (lookahead, expectation) {
        (Some(lookahead @ 1..), Some(_)) => {
            let problem = format!("is given with a lookahead of {lookahead}, expected one of the two");
            return Err(DecodeError::field("expectation", problem));
        }
        (_, Some(message)) => Search::Expectation(decode(message).in_field("expectation")?),
        (Some(0), None) => Search::Greedy,
        (Some(pieces), None) => Search::Lookahead(pieces),
        (None, None) => return Ok(None),
    };
    check(&search, rules)?;
    Ok(Some(search))
}

/// The fields `lookahead` and `expectation` of a search.
pub fn encode_search(search: Search) -> (u32, Option<pb::Expectation>) {
    match search {
        Search::Greedy => (0, None),
        Search::Lookahead(pieces) => (pieces, None),
        Search::Expectation(expectation) => (0, Some(encode(&expectation))),
    }
}

/// Checks the numbers of a search, and that the rules show the pieces that it needs.
///
/// # Errors
/// [`DecodeError`] with the field `lookahead`, or a field of `expectation`.
pub fn check(search: &Search, rules: &Rules) -> Result<(), DecodeError> {
    match search {
        Search::Greedy => Ok(()),
        Search::Lookahead(pieces) => check_lookahead(*pieces, rules),
        Search::Expectation(expectation) => check_expectation(expectation, rules).in_field("expectation"),
    }
}

fn check_lookahead(pieces: u32, rules: &Rules) -> Result<(), DecodeError> {
    let wrong = |problem: String| Err(DecodeError::field("lookahead", problem));
    if pieces > MAX_LOOKAHEAD {
        return wrong(format!("is {pieces}, expected at most {MAX_LOOKAHEAD}"));
    }
    if pieces > rules.preview.into() {
        return wrong(format!("is {pieces}, expected at most the {} next pieces shown", rules.preview));
    }
    Ok(())
}

fn check_expectation(expectation: &Expectation, rules: &Rules) -> Result<(), DecodeError> {
    let Expectation { pieces, placements, lost_piece, discount, terms: _, caution } = *expectation;
    check_range("pieces", pieces, 1, Expectation::MAX_PIECES)?;
    if pieces > rules.preview + 1 {
        let problem = format!(
            "is {pieces}, expected at most {}: one more than the {} next pieces that the rules show",
            rules.preview + 1,
            rules.preview
        );
        return Err(DecodeError::field("pieces", problem));
    }
    check_range("placements", placements, 1, Expectation::MAX_PLACEMENTS)?;
    check_range("lost_piece", lost_piece, Expectation::LEAST_LOST_PIECE, 0.0)?;
    check_range("discount", discount, 0.0, 1.0)?;
    check_range("caution", caution, 0.0, Expectation::MOST_CAUTION)
}

/// Reads an expectation and fills in defaults. Only what does not fit the fields is refused.
fn decode(message: &pb::Expectation) -> Result<Expectation, DecodeError> {
    let default = Expectation::default();
    let pieces = message.pieces.unwrap_or(default.pieces.into());
    check_range("pieces", pieces, 1, Expectation::MAX_PIECES.into())?;
    let placements = message.placements.unwrap_or(default.placements.into());
    check_range("placements", placements, 1, Expectation::MAX_PLACEMENTS.into())?;
    let terms = match pb::ExpectationTerms::try_from(message.terms) {
        Ok(pb::ExpectationTerms::Unspecified) => default.terms,
        Ok(pb::ExpectationTerms::Landing) => Terms::Landing,
        Ok(pb::ExpectationTerms::All) => Terms::All,
        Ok(pb::ExpectationTerms::None) => Terms::None,
        Err(_) => return Err(DecodeError::without_a_meaning("terms", message.terms)),
    };
    Ok(Expectation {
        pieces: pieces as u8,
        placements: placements as u8,
        lost_piece: message.lost_piece.unwrap_or(default.lost_piece),
        discount: message.discount.unwrap_or(default.discount),
        terms,
        caution: message.caution.unwrap_or(default.caution),
    })
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

fn check_range<T: PartialOrd + std::fmt::Display>(
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
