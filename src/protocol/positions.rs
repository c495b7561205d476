//! Positions in a request: snapshots, drawings by people, and playfields packed by programs.

use bytes::Bytes;

use tetrion_core::engine::{MAX_PREVIEW, Piece, PieceSet, Playfield, RULES_VERSION, Rules};
use tetrion_core::env::{EnvState, SnapshotError, StartPosition};
use tetrion_core::placements::bytes_per_cell_row;
use tetrion_toolkit::recording::Cells;

use super::colors;
use super::error::{DecodeError, Fault, InField};
use super::limits::{MAX_POSITIONS, MAX_SEQUENCE_PIECES, MAX_STATE_BYTES};
use super::pb;
use super::pb::positions::Kind;
use super::rules::ResolvedRules;
use super::tensor::{self, Array, DimSize};

/// The positions of a request, all under the same rules.
#[derive(Clone, Debug)]
pub enum Positions {
    /// Environments, restored from their snapshots.
    States(Vec<EnvState>),
    /// Playfields with the pieces to place on them.
    Drawn(Vec<StartPosition>),
}

/// Overhead of the allocator for a block of memory.
const BLOCK: u64 = 16;

/// Bytes of a start position and of its queue.
const START_POSITION: u64 = size_of::<StartPosition>() as u64 + 32 + BLOCK;

/// Rough time of [`decode`], in nanoseconds on one core.
pub fn nanoseconds(message: &pb::Positions) -> u64 {
    let bytes = |tensor: &Option<pb::Tensor>| {
        tensor.as_ref().map_or(0, |tensor| (tensor.data.len() + 8 * tensor.values.len()) as u64)
    };
    match &message.kind {
        None => 0,
        // Each byte of a snapshot may be a piece of a sequence.
        Some(Kind::Snapshots(pb::Snapshots { states })) => {
            states.iter().map(|state| 1_000 + 2 * state.len() as u64).sum()
        }
        Some(Kind::Drawings(pb::Drawings { drawings })) => {
            let text = |text: &String| 100 + 5 * text.len() as u64;
            let nanoseconds = |drawing: &pb::Drawing| {
                let pb::Drawing { rows, piece, queue, held } = drawing;
                rows.iter().chain([piece, queue, held]).map(text).sum::<u64>()
            };
            drawings.iter().map(nanoseconds).sum()
        }
        Some(Kind::Packed(packed)) => 2 * bytes(&packed.boards) + 20 * bytes(&packed.pieces),
    }
}

/// The rules of positions without a session: those in the request, else those of the first snapshot, else the default.
/// `None` if they are invalid.
pub fn rules(message: &pb::Positions) -> Option<Rules> {
    match (&message.rules, &message.kind) {
        (Some(rules), _) => ResolvedRules::try_from(rules).ok().map(|resolved| resolved.rules),
        (None, Some(Kind::Snapshots(pb::Snapshots { states }))) => {
            states.first().and_then(|state| decode_state(state).ok()).map(|state| *state.rules())
        }
        (None, _) => Some(Rules::default()),
    }
}

/// Most bytes of the positions that [`decode`] reads, and of what it needs on the way.
pub fn decoded_bytes(message: &pb::Positions) -> u64 {
    let numbers = |tensor: &Option<pb::Tensor>| tensor.as_ref().map_or(0, tensor::decoded_bytes::<u8>);
    match &message.kind {
        None => 0,
        // A sequence has a byte per piece, in the snapshot and in memory.
        Some(Kind::Snapshots(pb::Snapshots { states })) => {
            let bytes: u64 = states.iter().map(|state| state.len() as u64).sum();
            states.len() as u64 * (size_of::<EnvState>() as u64 + BLOCK) + bytes
        }
        Some(Kind::Drawings(pb::Drawings { drawings })) => drawings.len() as u64 * START_POSITION,
        Some(Kind::Packed(packed)) => {
            let pb::PackedPositions { boards, pieces, queues, held } = packed;
            // Rows of cells take at least two bytes each, and are widened to four.
            let rows = 3 * boards.as_ref().map_or(0, tensor::decoded_bytes::<u16>);
            let count = numbers(pieces).min(MAX_POSITIONS.into());
            // Without queues or held pieces, lists of -1 take their place.
            let missing = count * (u64::from(MAX_PREVIEW) + 1);
            rows + numbers(pieces) + numbers(queues) + numbers(held) + missing + count * START_POSITION
        }
    }
}

/// Reads positions and their rules: the session's rules if the positions are for a session, else those in the request,
/// else those of the snapshots, else the default.
///
/// # Errors
/// [`DecodeError`] with the fields of `Positions`; [`DecodeError::RulesMismatch`] if rules that must be equal differ.
pub fn decode(message: &pb::Positions, session: Option<&Rules>) -> Result<(Rules, Positions), DecodeError> {
    let named = match &message.rules {
        Some(rules) => Some(ResolvedRules::try_from(rules).in_field("rules")?.rules),
        None => None,
    };
    if let (Some(session), Some(named)) = (session, &named)
        && session != named
    {
        return Err(DecodeError::RulesMismatch(
            "the positions and the session have different rules".to_owned(),
        ));
    }
    let known = session.copied().or(named);
    match &message.kind {
        None => Err(DecodeError::field("", "has no kind, expected snapshots, drawings or packed")),
        Some(Kind::Snapshots(pb::Snapshots { states })) => {
            let decode = || {
                check_count("states", states.len())?;
                decode_states(states)
            };
            let states = decode().in_field("snapshots")?;
            let rules = known.unwrap_or(*states[0].rules());
            if let Some(i) = states.iter().position(|state| *state.rules() != rules) {
                return Err(DecodeError::RulesMismatch(format!(
                    "states[{i}] has other rules than states[0]"
                )));
            }
            Ok((rules, Positions::States(states)))
        }
        Some(Kind::Drawings(pb::Drawings { drawings })) => {
            let rules = known.unwrap_or_default();
            let decode = || {
                check_count("drawings", drawings.len())?;
                let decode = |(i, drawing)| decode_drawing(drawing, &rules).in_item("drawings", i);
                drawings.iter().enumerate().map(decode).collect::<Result<_, _>>()
            };
            let drawn = decode().in_field("drawings")?;
            Ok((rules, Positions::Drawn(drawn)))
        }
        Some(Kind::Packed(packed)) => {
            let rules = known.unwrap_or_default();
            Ok((rules, Positions::Drawn(decode_packed(packed, &rules).in_field("packed")?)))
        }
    }
}

/// The origins of the cells of each position of a session with these rules; `None` for positions without them.
///
/// # Errors
/// [`DecodeError`] with the fields of `Positions`.
pub fn decode_colors(message: &pb::Positions, rules: &Rules) -> Result<Vec<Option<Cells>>, DecodeError> {
    let Some(Kind::Snapshots(pb::Snapshots { states })) = &message.kind else { return Ok(Vec::new()) };
    let decode = |(i, bytes): (usize, &Bytes)| {
        let (_, cells) = colors::split(bytes).in_item("states", i)?;
        cells.map(|cells| colors::decode("colors", cells, rules)).transpose().in_item("states", i)
    };
    states.iter().enumerate().map(decode).collect::<Result<_, _>>().in_field("snapshots")
}

/// Most bytes of the cells that [`decode_colors`] reads.
pub fn colors_bytes(message: &pb::Positions) -> u64 {
    let Some(Kind::Snapshots(pb::Snapshots { states })) = &message.kind else { return 0 };
    // A cell has a byte in the snapshot and in memory.
    states.iter().map(|state| size_of::<Option<Cells>>() as u64 + BLOCK + state.len() as u64).sum()
}

/// A request's positions, given as snapshots.
pub fn from_snapshots(states: Vec<Bytes>) -> pb::Positions {
    pb::Positions { rules: None, kind: Some(Kind::Snapshots(pb::Snapshots { states })) }
}

/// A request's positions, given as drawings.
pub fn from_drawings(drawings: Vec<pb::Drawing>) -> pb::Positions {
    pb::Positions { rules: None, kind: Some(Kind::Drawings(pb::Drawings { drawings })) }
}

/// A request's positions, given as packed playfields.
pub fn from_packed(packed: pb::PackedPositions) -> pb::Positions {
    pb::Positions { rules: None, kind: Some(Kind::Packed(packed)) }
}

fn check_count(list: &str, count: usize) -> Result<(), DecodeError> {
    if count == 0 {
        return Err(DecodeError::missing(list));
    }
    if count > MAX_POSITIONS as usize {
        return Err(DecodeError::field(
            list,
            format!("has {count} positions, expected at most {MAX_POSITIONS}"),
        ));
    }
    Ok(())
}

fn decode_states(states: &[Bytes]) -> Result<Vec<EnvState>, DecodeError> {
    states.iter().enumerate().map(|(i, bytes)| decode_state(bytes).in_item("states", i)).collect()
}

fn decode_state(bytes: &[u8]) -> Result<EnvState, DecodeError> {
    if bytes.len() > MAX_STATE_BYTES as usize {
        return Err(DecodeError::field(
            "",
            format!("has {} bytes, expected at most {MAX_STATE_BYTES}", bytes.len()),
        ));
    }
    let (snapshot, _) = colors::split(bytes)?;
    let state = EnvState::from_bytes(snapshot).map_err(|error| match error {
        SnapshotError::OtherRulesVersion { found } => {
            DecodeError::RulesVersionMismatch { expected: RULES_VERSION.to_owned(), got: found }
        }
        SnapshotError::Corrupt(_) | SnapshotError::UnknownFormat(_) => {
            DecodeError::invalid(Fault::State, "", error.to_string())
        }
    })?;
    // A snapshot after the next landing is a few bytes longer: with a longer sequence, a server could not restore it.
    match state.sequence_len() {
        length if length <= MAX_SEQUENCE_PIECES as usize => Ok(state),
        length => {
            let problem = format!(
                "has a sequence of {length} pieces and holes, expected at most {MAX_SEQUENCE_PIECES}"
            );
            Err(DecodeError::invalid(Fault::State, "", problem))
        }
    }
}

/// Reads a drawing under these rules. The environment checks whether a game can continue from it.
pub(super) fn decode_drawing(drawing: &pb::Drawing, rules: &Rules) -> Result<StartPosition, DecodeError> {
    let playfield = Playfield::from_drawn_rows(rules.width, rules.height, &drawing.rows)
        .map_err(|error| DecodeError::invalid(Fault::Position, "rows", error.to_string()))?;
    let pieces = &rules.pieces;
    let &[piece] = decode_letters(pieces, &drawing.piece, 1).in_field("piece")?.as_slice() else {
        let letters: Vec<String> = pieces.letters().map(String::from).collect();
        return Err(DecodeError::field("piece", format!("is not one of the letters {}", letters.join(" "))));
    };
    let queue = decode_letters(pieces, &drawing.queue, rules.preview.into()).in_field("queue")?;
    let held = decode_letters(pieces, &drawing.held, 1).in_field("held")?.first().copied();
    Ok(StartPosition { playfield, piece, queue, held })
}

/// Draws a position as text, with the letters of these pieces.
pub(super) fn encode_drawing(position: &StartPosition, pieces: &PieceSet) -> pb::Drawing {
    let StartPosition { playfield, piece, queue, held } = position;
    pb::Drawing {
        rows: drawn_rows(playfield),
        piece: pieces.written([piece]),
        queue: pieces.written(queue),
        held: pieces.written(held),
    }
}

/// The rows of a playfield as text, without the empty ones at the top.
pub(super) fn drawn_rows(playfield: &Playfield) -> Vec<String> {
    let drawing = playfield.to_string();
    drawing.lines().skip_while(|row| !row.contains('#')).map(str::to_owned).collect()
}

fn decode_letters(set: &PieceSet, letters: &str, max: usize) -> Result<Vec<Piece>, DecodeError> {
    let pieces = set.parse_sequence(letters).map_err(|error| DecodeError::field("", error.to_string()))?;
    if pieces.len() > max {
        return Err(DecodeError::field("", format!("has {} letters, expected at most {max}", pieces.len())));
    }
    Ok(pieces)
}

fn decode_packed(packed: &pb::PackedPositions, rules: &Rules) -> Result<Vec<StartPosition>, DecodeError> {
    let boards = decode_boards(packed.boards.as_ref(), rules)?;
    let count = boards.shape[0];
    if count > MAX_POSITIONS {
        let problem = format!("has {count} playfields, expected at most {MAX_POSITIONS}");
        return Err(DecodeError::field("boards", problem));
    }
    let pieces = tensor::decode_field::<u8>(packed.pieces.as_ref(), "pieces", &[DimSize::Exactly(count)])?;
    let preview = usize::from(rules.preview);
    let queues = match &packed.queues {
        Some(queues) => {
            let dims = [DimSize::Exactly(count), DimSize::Exactly(preview as u32)];
            tensor::decode::<i8>(queues, &dims).in_field("queues")?.elements
        }
        None => vec![-1; count as usize * preview],
    };
    let held = match &packed.held {
        Some(held) => tensor::decode::<i8>(held, &[DimSize::Exactly(count)]).in_field("held")?.elements,
        None => vec![-1; count as usize],
    };
    let mut positions = Vec::with_capacity(count as usize);
    for (i, &piece) in pieces.elements.iter().enumerate() {
        let rows = &boards.elements[i * usize::from(rules.height)..][..usize::from(rules.height)];
        let outside = u32::MAX.checked_shl(rules.width.into()).unwrap_or(0);
        if let Some(row) = rows.iter().position(|row| row & outside != 0) {
            let problem =
                format!("row {row} is {:#x}, which has cells beyond width {}", rows[row], rules.width);
            return Err(DecodeError::invalid(Fault::Position, format!("boards[{i}]"), problem));
        }
        let playfield = Playfield::from_rows(rules.width, rules.height, rows.iter().copied());
        let piece = decode_number(&rules.pieces, piece.into()).in_item("pieces", i)?;
        let mut queue = Vec::new();
        let mut numbers = queues[i * preview..][..preview].iter();
        for &number in numbers.by_ref().take_while(|&&number| number != -1) {
            queue.push(decode_number(&rules.pieces, number.into()).in_item("queues", i)?);
        }
        if numbers.any(|&number| number != -1) {
            let problem = "has a piece after one that is not yet dealt";
            return Err(DecodeError::field(format!("queues[{i}]"), problem));
        }
        let held = match held[i] {
            -1 => None,
            number => Some(decode_number(&rules.pieces, number.into()).in_item("held", i)?),
        };
        positions.push(StartPosition { playfield, piece, queue, held });
    }
    Ok(positions)
}

/// Reads playfields as integers of the width that these rules need, and widens them.
fn decode_boards(boards: Option<&pb::Tensor>, rules: &Rules) -> Result<Array<u32>, DecodeError> {
    let dims = [DimSize::Any, DimSize::Exactly(rules.height.into())];
    if bytes_per_cell_row(rules.width) == 4 {
        return tensor::decode_field::<u32>(boards, "boards", &dims);
    }
    let Array { shape, elements } = tensor::decode_field::<u16>(boards, "boards", &dims)?;
    Ok(Array { shape, elements: elements.into_iter().map(u32::from).collect() })
}

fn decode_number(set: &PieceSet, number: i16) -> Result<Piece, DecodeError> {
    let piece = u8::try_from(number).ok().and_then(|number| set.piece(number));
    piece.ok_or_else(|| DecodeError::field("", format!("is {number}, expected 0 to {}", set.len() - 1)))
}
