//! Playfields sent along: drawn by people, packed by programs.

use crate::engine::{Playfield, Rules, Tetromino};
use crate::placements::bytes_per_cell_row;

use super::error::{DecodeError, Fault, InField};
use super::limits::MAX_POSITIONS;
use super::pb;
use super::tensor::{self, Array, Dim};

/// A playfield and its pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The cells.
    pub playfield: Playfield,
    /// The current piece, then the next ones that were given, at most as many as are shown.
    pub pieces: Vec<Tetromino>,
}

/// What kind of positions a request has.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// Snapshots.
    States(&'a [bytes::Bytes]),
    /// Playfields as people draw them.
    Drawings(&'a [pb::Drawing]),
    /// Playfields as programs keep them.
    Packed(&'a pb::PackedPositions),
}

impl<'a> Kind<'a> {
    /// The one kind of positions that a request has.
    ///
    /// # Errors
    /// When there is none, more than one, or more of them than the limit; with the path of the list.
    pub fn of(positions: &'a pb::Positions) -> Result<Kind<'a>, DecodeError> {
        let pb::Positions { states, drawings, packed, .. } = positions;
        let too_many = |list: &str, len: usize| {
            DecodeError::field(list, format!("has {len} positions, expected at most {MAX_POSITIONS}"))
        };
        let max = MAX_POSITIONS as usize;
        match (states.as_slice(), drawings.as_slice(), packed) {
            ([], [], Some(packed)) => Ok(Kind::Packed(packed)),
            ([], [], None) => {
                Err(DecodeError::field("", "has no positions, expected states, drawings or packed"))
            }
            (states, [], None) if states.len() > max => Err(too_many("states", states.len())),
            (states, [], None) => Ok(Kind::States(states)),
            ([], drawings, None) if drawings.len() > max => Err(too_many("drawings", drawings.len())),
            ([], drawings, None) => Ok(Kind::Drawings(drawings)),
            _ => Err(DecodeError::field("", "has more than one of states, drawings and packed")),
        }
    }
}

/// Reads drawings.
///
/// # Errors
/// [`Fault::Position`] for playfields that cannot be, [`Fault::Field`] for pieces that are none.
pub fn decode_drawings(drawings: &[pb::Drawing], rules: &Rules) -> Result<Vec<Drawn>, DecodeError> {
    let decode = |(i, drawing)| decode_drawing(drawing, rules).in_item("drawings", i);
    drawings.iter().enumerate().map(decode).collect()
}

/// Reads packed playfields.
///
/// # Errors
/// [`Fault::Tensor`] for tensors of another type or shape, [`Fault::Position`] for cells outside of the playfield,
/// [`Fault::Field`] for pieces that are none.
pub fn decode_packed(packed: &pb::PackedPositions, rules: &Rules) -> Result<Vec<Drawn>, DecodeError> {
    decode_packed_fields(packed, rules).in_field("packed")
}

fn decode_drawing(drawing: &pb::Drawing, rules: &Rules) -> Result<Drawn, DecodeError> {
    let playfield = Playfield::from_drawn_rows(rules.width, rules.height, &drawing.rows)
        .map_err(|error| DecodeError::invalid(Fault::Position, "rows", error.to_string()))?;
    let mut letters = drawing.piece.chars();
    let piece = match (letters.next(), letters.next()) {
        (Some(letter), None) => decode_letter(letter).in_field("piece")?,
        _ => return Err(DecodeError::field("piece", "is not one of the letters I O T Z S J L")),
    };
    if drawing.queue.len() > usize::from(rules.preview) {
        let problem = format!("has {} letters, expected at most {}", drawing.queue.len(), rules.preview);
        return Err(DecodeError::field("queue", problem));
    }
    let mut pieces = vec![piece];
    for letter in drawing.queue.chars() {
        pieces.push(decode_letter(letter).in_field("queue")?);
    }
    Ok(Drawn { playfield, pieces })
}

fn decode_letter(letter: char) -> Result<Tetromino, DecodeError> {
    Tetromino::from_letter(letter)
        .ok_or_else(|| DecodeError::field("", format!("{letter:?} is not one of the letters I O T Z S J L")))
}

fn decode_packed_fields(packed: &pb::PackedPositions, rules: &Rules) -> Result<Vec<Drawn>, DecodeError> {
    let boards = decode_boards(packed.boards.as_ref(), rules)?;
    let count = boards.shape[0];
    if count > MAX_POSITIONS {
        let problem = format!("has {count} playfields, expected at most {MAX_POSITIONS}");
        return Err(DecodeError::field("boards", problem));
    }
    let pieces = tensor::decode_field::<u8>(packed.pieces.as_ref(), "pieces", &[Dim::Exactly(count)])?;
    let preview = usize::from(rules.preview);
    let queues = match &packed.queues {
        Some(queues) => {
            let dims = [Dim::Exactly(count), Dim::Exactly(preview as u32)];
            tensor::decode::<i8>(queues, &dims).in_field("queues")?.elements
        }
        None => vec![-1; count as usize * preview],
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
        let mut pieces = vec![decode_number(piece.into()).in_item("pieces", i)?];
        let mut queue = queues[i * preview..][..preview].iter();
        for &number in queue.by_ref().take_while(|&&number| number != -1) {
            pieces.push(decode_number(number.into()).in_item("queues", i)?);
        }
        if queue.any(|&number| number != -1) {
            let problem = "has a piece behind one that is to be dealt";
            return Err(DecodeError::field(format!("queues[{i}]"), problem));
        }
        positions.push(Drawn { playfield, pieces });
    }
    Ok(positions)
}

/// Reads boards as integers of the width that the playfield has, made as wide as the widest.
fn decode_boards(boards: Option<&pb::Tensor>, rules: &Rules) -> Result<Array<u32>, DecodeError> {
    let dims = [Dim::Any, Dim::Exactly(rules.height.into())];
    if bytes_per_cell_row(rules.width) == 4 {
        return tensor::decode_field::<u32>(boards, "boards", &dims);
    }
    let Array { shape, elements } = tensor::decode_field::<u16>(boards, "boards", &dims)?;
    Ok(Array { shape, elements: elements.into_iter().map(u32::from).collect() })
}

fn decode_number(number: i16) -> Result<Tetromino, DecodeError> {
    u8::try_from(number)
        .ok()
        .and_then(Tetromino::from_index)
        .ok_or_else(|| DecodeError::field("", format!("is {number}, expected 0..=6")))
}
