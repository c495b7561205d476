//! The source of pieces: seeds or explicit letters, for environments and for evaluations.

use std::sync::Arc;

use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::engine::{Piece, PieceSequence, PieceSet, Rules};
pub use tetrion_core::env::Seeding;
use tetrion_core::rollout::Deal;

use super::error::{DecodeError, InField};
use super::limits::{MAX_ENVS_PER_SESSION, MAX_GAMES, MAX_REQUEST_SEQUENCE_PIECES, MAX_SEQUENCE_PIECES};
use super::pb;
use super::pb::seeding::Kind;

/// Bytes of a sequence in memory in addition to its pieces and holes: their places, two pairs of counters, and the
/// overhead of the allocator.
const SEQUENCE: usize = size_of::<PieceSequence>() + 3 * 32;

/// Reads the seeding of `num_envs` environments with these rules.
///
/// # Errors
/// [`DecodeError`] with the fields of `Seeding`.
pub fn decode(message: &pb::Seeding, num_envs: u32, rules: &Rules) -> Result<Seeding, DecodeError> {
    match kind(message)? {
        Kind::Seed(seed) => Ok(Seeding::Seed(*seed)),
        Kind::Seeds(pb::Seeds { per_policy: true, .. }) => Err(DecodeError::field(
            "seeds.per_policy",
            "is true, expected false: environments have no policies",
        )),
        Kind::Seeds(pb::Seeds { seeds, .. }) => {
            if seeds.len() != num_envs as usize {
                let problem = format!("has {} seeds, expected {num_envs}: one per environment", seeds.len());
                return Err(DecodeError::field("seeds.seeds", problem));
            }
            Ok(Seeding::Seeds(seeds.clone()))
        }
        Kind::Drawn(drawn) => {
            if drawn.count != num_envs {
                let problem = format!("is {}, expected {num_envs}: one per environment", drawn.count);
                return Err(DecodeError::field("drawn.count", problem));
            }
            Ok(Seeding::Seeds(draw(drawn)))
        }
        Kind::PieceSequences(message) => {
            let sequences = &message.sequences;
            if sequences.len() > 1 && sequences.len() != num_envs as usize {
                let problem = format!(
                    "has {} strings, expected {num_envs}, one per environment, or 1 for all",
                    sequences.len()
                );
                return Err(DecodeError::field("piece_sequences.sequences", problem));
            }
            Ok(Seeding::PieceSequences(decode_written(message, rules).in_field("piece_sequences")?))
        }
    }
}

/// Most bytes of the seeds or pieces that [`decode`] reads.
pub fn decoded_bytes(message: &pb::Seeding) -> u64 {
    match &message.kind {
        None | Some(Kind::Seed(_)) => 0,
        Some(Kind::Seeds(pb::Seeds { seeds, .. })) => size_of_val(&seeds[..]) as u64,
        Some(Kind::Drawn(drawn)) => {
            u64::from(drawn.count.min(MAX_ENVS_PER_SESSION)) * size_of::<u64>() as u64
        }
        Some(Kind::PieceSequences(pb::PieceSequences { sequences, hole_columns })) => {
            // In lists of at most twice their length.
            let own = 2 * size_of::<Arc<[Piece]>>() + 2 * size_of::<Arc<PieceSequence>>() + SEQUENCE;
            let pieces: usize = sequences.iter().map(|letters| own + letters.len()).sum();
            let holes: usize = hole_columns.iter().map(|holes| holes.columns.len()).sum();
            (pieces + holes) as u64
        }
    }
}

/// Reads the seeding of an evaluation of this many policies.
///
/// # Errors
/// [`DecodeError`] with the fields of `Seeding`.
pub(super) fn decode_deal(
    message: &pb::Seeding,
    num_policies: u32,
    pieces: &PieceSet,
) -> Result<Deal, DecodeError> {
    match kind(message)? {
        Kind::Seed(seed) => {
            let problem = format!("is {seed}, the seed of a session; expected drawn: {{seed, count}}");
            Err(DecodeError::field("seed", problem))
        }
        Kind::Seeds(pb::Seeds { seeds, .. }) if seeds.is_empty() => Err(DecodeError::missing("seeds.seeds")),
        Kind::Seeds(pb::Seeds { seeds, per_policy: false }) => Ok(Deal::Common(seeds.clone())),
        Kind::Seeds(pb::Seeds { seeds, per_policy: true }) => {
            if !seeds.len().is_multiple_of(num_policies as usize) {
                let problem = format!(
                    "has {} seeds, expected as many for each of {num_policies} policies",
                    seeds.len()
                );
                return Err(DecodeError::field("seeds.seeds", problem));
            }
            Ok(Deal::PerSlot { seeds: seeds.clone(), columns: seeds.len() / num_policies as usize })
        }
        Kind::Drawn(drawn) => {
            if drawn.count == 0 || u64::from(drawn.count) > MAX_GAMES {
                let problem = format!("is {}, expected 1 to {MAX_GAMES}", drawn.count);
                return Err(DecodeError::field("drawn.count", problem));
            }
            Ok(Deal::Common(draw(drawn)))
        }
        Kind::PieceSequences(pb::PieceSequences { hole_columns, .. }) if !hole_columns.is_empty() => {
            let problem = "is set, expected none: only sessions take the columns of holes";
            Err(DecodeError::field("piece_sequences.hole_columns", problem))
        }
        Kind::PieceSequences(pb::PieceSequences { sequences, .. }) => {
            Ok(Deal::Sequences(decode_sequences(sequences, pieces).in_field("piece_sequences")?))
        }
    }
}

/// The message of a session's seed.
pub fn from_seed(seed: u64) -> pb::Seeding {
    pb::Seeding { kind: Some(Kind::Seed(seed)) }
}

/// The message of a list of seeds.
pub fn from_seeds(seeds: Vec<u64>) -> pb::Seeding {
    pb::Seeding { kind: Some(Kind::Seeds(pb::Seeds { seeds, per_policy: false })) }
}

/// The message of a matrix of seeds, one row per policy.
pub fn from_seeds_per_policy(seeds: Vec<u64>) -> pb::Seeding {
    pb::Seeding { kind: Some(Kind::Seeds(pb::Seeds { seeds, per_policy: true })) }
}

/// The message of seeds drawn from one number.
pub fn from_drawn(seed: u64, count: u32) -> pb::Seeding {
    pb::Seeding { kind: Some(Kind::Drawn(pb::DrawnSeeds { seed, count })) }
}

/// The message of explicit pieces.
pub fn from_sequences(sequences: Vec<String>) -> pb::Seeding {
    from_sequences_with_holes(sequences, Vec::new())
}

/// The message of explicit pieces, with the columns of the holes in garbage.
pub fn from_sequences_with_holes(sequences: Vec<String>, holes: Vec<Vec<u32>>) -> pb::Seeding {
    let hole_columns = holes.into_iter().map(|columns| pb::HoleColumns { columns }).collect();
    pb::Seeding { kind: Some(Kind::PieceSequences(pb::PieceSequences { sequences, hole_columns })) }
}

/// The session's seed; `None` if the seeding has another form.
pub fn session_seed(message: &pb::Seeding) -> Option<u64> {
    match message.kind {
        Some(Kind::Seed(seed)) => Some(seed),
        _ => None,
    }
}

/// Lengths of the lists of explicit pieces, and of columns of holes.
pub fn lengths(message: Option<&pb::Seeding>) -> impl Iterator<Item = usize> {
    let written = match message.and_then(|message| message.kind.as_ref()) {
        Some(Kind::PieceSequences(written)) => Some(written),
        _ => None,
    };
    written.into_iter().flat_map(|written| {
        let holes = written.hole_columns.iter().map(|holes| holes.columns.len());
        written.sequences.iter().map(|letters| letters.len()).chain(holes)
    })
}

fn kind(message: &pb::Seeding) -> Result<&Kind, DecodeError> {
    let expected = "has no kind, expected seed, seeds, drawn or piece_sequences";
    message.kind.as_ref().ok_or_else(|| DecodeError::field("", expected))
}

fn draw(pb::DrawnSeeds { seed, count }: &pb::DrawnSeeds) -> Vec<u64> {
    (0..u64::from(*count)).map(|j| word(*seed, Tag::Game, j)).collect()
}

/// Reads one or more strings of letters, with columns of holes.
fn decode_written(
    message: &pb::PieceSequences,
    rules: &Rules,
) -> Result<Vec<Arc<PieceSequence>>, DecodeError> {
    let pb::PieceSequences { sequences, hole_columns } = message;
    let pieces = decode_sequences(sequences, &rules.pieces)?;
    if !hole_columns.is_empty() && hole_columns.len() != pieces.len() {
        let problem = format!("has {} lists, expected {}, one per string", hole_columns.len(), pieces.len());
        return Err(DecodeError::field("hole_columns", problem));
    }
    if !hole_columns.is_empty() && rules.garbage.is_none() {
        return Err(DecodeError::field("hole_columns", "is set, expected none: the rules have no garbage"));
    }
    let count = |holes: &pb::HoleColumns| holes.columns.len();
    let all = pieces.iter().map(|pieces| pieces.len()).chain(hole_columns.iter().map(count)).sum::<usize>();
    if all > MAX_REQUEST_SEQUENCE_PIECES as usize {
        let problem =
            format!("makes {all} letters and columns in all, expected at most {MAX_REQUEST_SEQUENCE_PIECES}");
        return Err(DecodeError::field("hole_columns", problem));
    }
    let decode = |(i, pieces): (usize, Arc<[Piece]>)| {
        let columns = hole_columns.get(i).map_or(&[][..], |holes| &holes.columns);
        let holes = decode_holes(columns, pieces.len(), rules).in_item("hole_columns", i)?;
        Ok(Arc::new(PieceSequence { pieces, holes }))
    };
    pieces.into_iter().enumerate().map(decode).collect()
}

/// Reads the columns of holes of a game with this many pieces.
fn decode_holes(columns: &[u32], pieces: usize, rules: &Rules) -> Result<Vec<u8>, DecodeError> {
    let all = columns.len() + pieces;
    if all > MAX_SEQUENCE_PIECES as usize {
        let problem = format!(
            "makes {all} letters and columns with its string, expected at most {MAX_SEQUENCE_PIECES}"
        );
        return Err(DecodeError::field("columns", problem));
    }
    decode_columns("columns", columns, rules)
}

/// Reads the columns of holes in a field of this name.
pub(super) fn decode_columns(name: &str, columns: &[u32], rules: &Rules) -> Result<Vec<u8>, DecodeError> {
    let decode = |(i, &column): (usize, &u32)| {
        let known = u8::try_from(column).ok().filter(|&column| column < rules.width);
        let problem = || format!("is {column}, expected 0 to {}", rules.width - 1);
        known.ok_or_else(|| DecodeError::field(format!("{name}[{i}]"), problem()))
    };
    columns.iter().enumerate().map(decode).collect()
}

/// Reads one or more strings of letters.
fn decode_sequences(sequences: &[String], pieces: &PieceSet) -> Result<Vec<Arc<[Piece]>>, DecodeError> {
    if sequences.is_empty() {
        return Err(DecodeError::missing("sequences"));
    }
    let letters: usize = sequences.iter().map(|letters| num_letters(letters)).sum();
    if letters > MAX_REQUEST_SEQUENCE_PIECES as usize {
        let problem = format!("has {letters} letters in all, expected at most {MAX_REQUEST_SEQUENCE_PIECES}");
        return Err(DecodeError::field("sequences", problem));
    }
    let decode = |(i, letters): (usize, &String)| decode_sequence(letters, pieces).in_item("sequences", i);
    sequences.iter().enumerate().map(decode).collect()
}

fn decode_sequence(letters: &str, set: &PieceSet) -> Result<Arc<[Piece]>, DecodeError> {
    let count = num_letters(letters);
    if count > MAX_SEQUENCE_PIECES as usize {
        let problem = format!("has {count} letters, expected at most {MAX_SEQUENCE_PIECES}");
        return Err(DecodeError::field("", problem));
    }
    let pieces = set.parse_sequence(letters).map_err(|error| DecodeError::field("", error.to_string()))?;
    if pieces.is_empty() {
        return Err(DecodeError::field("", "has no letters, expected at least one"));
    }
    Ok(pieces.into())
}

/// Counts letters, without the blanks between them.
fn num_letters(letters: &str) -> usize {
    letters.bytes().filter(|letter| !letter.is_ascii_whitespace()).count()
}

/// Number of seeds or piece sequences of each policy, without reading them; 0 for a seeding that no evaluation takes.
pub fn num_seeds(seeding: &pb::Seeding, num_policies: u32) -> u32 {
    match &seeding.kind {
        Some(Kind::Seeds(pb::Seeds { seeds, per_policy })) => {
            let rows = if *per_policy { num_policies.max(1) } else { 1 };
            seeds.len() as u32 / rows
        }
        Some(Kind::Drawn(drawn)) => drawn.count,
        Some(Kind::PieceSequences(pieces)) => pieces.sequences.len() as u32,
        Some(Kind::Seed(_)) | None => 0,
    }
}
