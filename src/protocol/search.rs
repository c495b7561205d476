//! The lookahead of a policy, as a message.

use tetrion_core::agents::{BEAM_SETTINGS, EXPECTATION_SETTINGS, SearchSetting};
pub use tetrion_core::agents::{Beam, Expectation, Search, Terms};
use tetrion_core::engine::{NamedChoice, Rules};

use super::error::{DecodeError, InField};
use super::limits::MAX_LOOKAHEAD;
use super::pb;
use super::pb::search::Method;

/// Reads a search, checks it and fills in defaults.
pub(super) fn decode(message: &pb::Search, rules: &Rules) -> Result<Search, DecodeError> {
    let search = match &message.method {
        None => {
            let problem = "has no method, expected greedy, lookahead, expectation or beam";
            return Err(DecodeError::field("", problem));
        }
        Some(Method::Greedy(pb::Greedy {})) => Search::Greedy,
        Some(Method::Lookahead(pb::Lookahead { pieces })) => Search::Lookahead { pieces: *pieces },
        Some(Method::Expectation(message)) => {
            Search::Expectation(decode_expectation(message).in_field("expectation")?)
        }
        Some(Method::Beam(message)) => Search::Beam(decode_beam(message).in_field("beam")?),
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
            Search::Beam(beam) => Method::Beam(encode_beam(&beam)),
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
        Search::Beam(beam) => check_settings(&BEAM_SETTINGS, beam).in_field("beam"),
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
    check_settings(&EXPECTATION_SETTINGS, expectation)?;
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
    with_values(&EXPECTATION_SETTINGS, Expectation::DEFAULT, values)
}

/// Reads a beam search. What the message leaves out keeps its default.
fn decode_beam(message: &pb::Beam) -> Result<Beam, DecodeError> {
    let pb::Beam { width, perfect_clear_places, pieces, samples, sample_pieces, .. } = *message;
    let pb::Beam { attack, back_to_back, perfect_clear, t_slot, t_kept, .. } = *message;
    let given = |number: u32| (number != 0).then_some(f64::from(number));
    let values = [
        ("width", given(width)),
        ("perfect_clear_places", given(perfect_clear_places)),
        ("pieces", given(pieces)),
        ("samples", given(samples)),
        ("sample_pieces", given(sample_pieces)),
        ("attack", Some(attack)),
        ("back_to_back", Some(back_to_back)),
        ("perfect_clear", Some(perfect_clear)),
        ("t_slot", Some(t_slot)),
        ("t_kept", Some(t_kept)),
    ];
    with_values(&BEAM_SETTINGS, Beam::DEFAULT, values)
}

/// Most bytes that a beam search holds. A wrong one, which is refused when it is read, holds none.
pub(super) fn beam_bytes(message: &pb::Beam) -> u64 {
    decode_beam(message).map_or(0, |beam| beam.bytes())
}

/// Settings with the values that are given.
fn with_values<S, const N: usize>(
    table: &'static [SearchSetting<S>],
    mut settings: S,
    values: [(&str, Option<f64>); N],
) -> Result<S, DecodeError> {
    for (name, value) in values {
        let Some(value) = value else { continue };
        let setting = table.iter().find(|setting| setting.name == name).expect("a setting for each field");
        setting.set(&mut settings, value).map_err(|problem| DecodeError::field(name, problem))?;
    }
    Ok(settings)
}

fn check_settings<S: Clone>(table: &[SearchSetting<S>], settings: &S) -> Result<(), DecodeError> {
    for setting in table {
        setting.check(settings).map_err(|problem| DecodeError::field(setting.name, problem))?;
    }
    Ok(())
}

fn encode_beam(beam: &Beam) -> pb::Beam {
    let Beam { width, perfect_clear_places, pieces, samples, sample_pieces, .. } = *beam;
    let Beam { attack, back_to_back, perfect_clear, t_slot, t_kept, .. } = *beam;
    pb::Beam {
        width: width.into(),
        perfect_clear_places: perfect_clear_places.into(),
        pieces: pieces.into(),
        samples: samples.into(),
        sample_pieces: sample_pieces.into(),
        attack,
        back_to_back,
        perfect_clear,
        t_slot,
        t_kept,
    }
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
