//! Explicit pieces: strings of letters.

use std::sync::Arc;

use crate::engine::{Piece, PieceSet};

use super::error::DecodeError;
use super::limits::{MAX_REQUEST_SEQUENCE_PIECES, MAX_SEQUENCE_PIECES};

/// Reads strings of letters of a set: one per environment, or one for all.
///
/// # Errors
/// With the path `piece_sequences`, or the path of one string.
pub fn decode(
    pieces: &PieceSet,
    sequences: &[String],
    num_envs: u32,
) -> Result<Vec<Arc<[Piece]>>, DecodeError> {
    if sequences.len() != 1 && sequences.len() != num_envs as usize {
        let problem =
            format!("has {} strings for {num_envs} environments, expected one each or one", sequences.len());
        return Err(DecodeError::field("piece_sequences", problem));
    }
    decode_list(pieces, "piece_sequences", sequences)
}

/// Reads one string or more.
///
/// # Errors
/// With the path `list`, or the path of one string.
pub fn decode_list(
    pieces: &PieceSet,
    list: &str,
    sequences: &[String],
) -> Result<Vec<Arc<[Piece]>>, DecodeError> {
    if sequences.is_empty() {
        return Err(DecodeError::missing(list));
    }
    let letters: usize = sequences.iter().map(|letters| num_letters(letters)).sum();
    if letters > MAX_REQUEST_SEQUENCE_PIECES as usize {
        let problem = format!("has {letters} letters in all, expected at most {MAX_REQUEST_SEQUENCE_PIECES}");
        return Err(DecodeError::field(list, problem));
    }
    sequences
        .iter()
        .enumerate()
        .map(|(i, letters)| decode_one(pieces, letters, &format!("{list}[{i}]")))
        .collect()
}

fn decode_one(set: &PieceSet, letters: &str, path: &str) -> Result<Arc<[Piece]>, DecodeError> {
    let count = num_letters(letters);
    if count > MAX_SEQUENCE_PIECES as usize {
        let problem = format!("has {count} letters, expected at most {MAX_SEQUENCE_PIECES}");
        return Err(DecodeError::field(path, problem));
    }
    let pieces = set.parse_sequence(letters).map_err(|error| DecodeError::field(path, error.to_string()))?;
    if pieces.is_empty() {
        return Err(DecodeError::field(path, "has no letters, expected at least one"));
    }
    Ok(pieces.into())
}

/// Counts the letters: blanks between them are skipped.
fn num_letters(letters: &str) -> usize {
    letters.bytes().filter(|letter| !letter.is_ascii_whitespace()).count()
}
