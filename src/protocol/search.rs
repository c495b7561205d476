//! The lookahead of a policy, as a message.

use tetrion_core::agents::EXPECTATION_SETTINGS;
pub use tetrion_core::agents::{Expectation, Search, Terms};
use tetrion_core::engine::{NamedChoice, Rules};

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
    if !(1..=MAX_LOOKAHEAD).contains(&pieces) {
        return Err(DecodeError::field("pieces", format!("is {pieces}, expected 1 to {MAX_LOOKAHEAD}")));
    }
    if pieces > rules.preview.into() {
        let problem = format!("is {pieces}, expected at most the {} next pieces shown", rules.preview);
        return Err(DecodeError::field("pieces", problem));
    }
    Ok(())
}

fn check_expectation(expectation: &Expectation, rules: &Rules) -> Result<(), DecodeError> {
    for setting in &EXPECTATION_SETTINGS {
        setting.check(expectation).map_err(|problem| DecodeError::field(setting.name, problem))?;
    }
    if expectation.pieces > rules.preview + 1 {
        let problem = format!(
            "is {}, expected at most {}: one more than the {} next pieces that the rules show",
            expectation.pieces,
            rules.preview + 1,
            rules.preview
        );
        return Err(DecodeError::field("pieces", problem));
    }
    Ok(())
}

/// Reads an expectation. What the message leaves out keeps its default.
fn decode_expectation(message: &pb::Expectation) -> Result<Expectation, DecodeError> {
    let pb::Expectation { pieces, placements, lost_piece, discount, terms, caution } = *message;
    let given = |number: f64| (number != 0.0).then_some(number);
    let values = [
        ("pieces", given(pieces.into())),
        ("placements", given(placements.into())),
        ("lost_piece", lost_piece),
        ("discount", discount),
        ("terms", given(terms.into())),
        ("caution", Some(caution)),
    ];
    let mut expectation = Expectation::DEFAULT;
    for (name, value) in values {
        let Some(value) = value else { continue };
        let setting = EXPECTATION_SETTINGS.iter().find(|setting| setting.name == name);
        let setting = setting.expect("a setting for each field");
        setting.set(&mut expectation, value).map_err(|problem| DecodeError::field(name, problem))?;
    }
    Ok(expectation)
}

fn encode_expectation(expectation: &Expectation) -> pb::Expectation {
    let Expectation { pieces, placements, lost_piece, discount, terms, caution } = *expectation;
    pb::Expectation {
        pieces: pieces.into(),
        placements: placements.into(),
        lost_piece: Some(lost_piece),
        discount: Some(discount),
        terms: terms.number().into(),
        caution,
    }
}
