//! The lookahead of a policy, as a message.

pub use tetrion_core::agents::{Expectation, Search, Terms};
use tetrion_core::engine::Rules;

use super::error::{DecodeError, InField};
use super::limits::MAX_LOOKAHEAD;
use super::pb;
use super::pb::search::Method;

/// Reads a search, checks it and fills in defaults.
pub(super) fn decode(message: &pb::Search, rules: &Rules) -> Result<Search, DecodeError> {
    let search = match &message.method {
        None => {
            let problem = "has no method, expected greedy, lookahead or expectation";
            return Err(DecodeError::field("", problem));
        }
        Some(Method::Greedy(pb::Greedy {})) => Search::Greedy,
        Some(Method::Lookahead(pb::Lookahead { pieces })) => Search::Lookahead { pieces: *pieces },
        Some(Method::Expectation(message)) => {
            Search::Expectation(decode_expectation(message).in_field("expectation")?)
        }
    };
    check(&search, rules)?;
    Ok(search)
}

/// A search with every field.
pub fn encode(search: Search) -> pb::Search {
    pb::Search {
        method: Some(match search {
            Search::Greedy => Method::Greedy(pb::Greedy {}),
            Search::Lookahead { pieces } => Method::Lookahead(pb::Lookahead { pieces }),
            Search::Expectation(expectation) => Method::Expectation(encode_expectation(&expectation)),
        }),
    }
}

/// Checks the numbers of a search, and that the rules show enough next pieces.
///
/// # Errors
/// [`DecodeError`] with the fields of `Search`.
pub fn check(search: &Search, rules: &Rules) -> Result<(), DecodeError> {
    match search {
        Search::Greedy => Ok(()),
        Search::Lookahead { pieces } => check_lookahead(*pieces, rules).in_field("lookahead"),
        Search::Expectation(expectation) => check_expectation(expectation, rules).in_field("expectation"),
    }
}

fn check_lookahead(pieces: u32, rules: &Rules) -> Result<(), DecodeError> {
    check_range("pieces", pieces, 1, MAX_LOOKAHEAD)?;
    if pieces > rules.preview.into() {
        let problem = format!("is {pieces}, expected at most the {} next pieces shown", rules.preview);
        return Err(DecodeError::field("pieces", problem));
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

/// Reads an expectation and fills in defaults. Refuses only values that do not fit the fields' types.
fn decode_expectation(message: &pb::Expectation) -> Result<Expectation, DecodeError> {
    let default = Expectation::default();
    let or = |number: u32, default: u8| if number == 0 { default.into() } else { number };
    let pieces = or(message.pieces, default.pieces);
    check_range("pieces", pieces, 1, Expectation::MAX_PIECES.into())?;
    let placements = or(message.placements, default.placements);
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
        caution: message.caution,
    })
}

fn encode_expectation(expectation: &Expectation) -> pb::Expectation {
    let Expectation { pieces, placements, lost_piece, discount, terms, caution } = *expectation;
    let terms = match terms {
        Terms::Landing => pb::ExpectationTerms::Landing,
        Terms::All => pb::ExpectationTerms::All,
        Terms::None => pb::ExpectationTerms::None,
    };
    pb::Expectation {
        pieces: pieces.into(),
        placements: placements.into(),
        lost_piece: Some(lost_piece),
        discount: Some(discount),
        terms: terms.into(),
        caution,
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
