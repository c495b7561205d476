//! The origins of the cells of a playfield as bytes, in frames for viewers and next to snapshots.
//!
//! A snapshot of a session that keeps colors is the snapshot of the environment with something before it: `TTRC`, the length of
//! the snapshot as a little-endian u32, the snapshot, and one byte per cell. Wrong colors do no harm, so no checksum covers them.

use tetrion_core::engine::{PieceSet, Rules};
use tetrion_toolkit::recording::{Cell, Cells};

use super::error::{DecodeError, Fault};

const MAGIC: [u8; 4] = *b"TTRC";

/// One byte per cell, row by row from the lowest.
pub fn encode(cells: &Cells, pieces: &PieceSet) -> Vec<u8> {
    let encode = |cell: &Cell| match cell {
        Cell::Empty => 0,
        Cell::Of(piece) => 1 + piece.number(),
        Cell::Given => 1 + pieces.len() as u8,
    };
    cells.rows().flatten().map(encode).collect()
}

/// Reads the cells of a playfield; all are empty without bytes, as before the first episode.
///
/// # Errors
/// With this field, if the bytes are not of a playfield of these rules.
pub fn decode(field: &str, bytes: &[u8], rules: &Rules) -> Result<Cells, DecodeError> {
    let Rules { width, height, .. } = *rules;
    let count = usize::from(width) * usize::from(height);
    if bytes.is_empty() {
        return Ok(Cells::new(width, height, vec![Cell::Empty; count]));
    }
    if bytes.len() != count {
        let problem = format!("has {} bytes, expected {count}", bytes.len());
        return Err(DecodeError::field(field, problem));
    }
    let given = 1 + rules.pieces.len() as u8;
    let cell =
        |&byte: &u8| match byte {
            0 => Ok(Cell::Empty),
            byte if byte == given => Ok(Cell::Given),
            byte => rules.pieces.piece(byte - 1).map(Cell::Of).ok_or_else(|| {
                DecodeError::field(field, format!("has a byte {byte}, expected 0 to {given}"))
            }),
        };
    Ok(Cells::new(width, height, bytes.iter().map(cell).collect::<Result<_, _>>()?))
}

/// A snapshot with the origins of its cells.
pub fn join(snapshot: &[u8], cells: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(MAGIC.len() + 4 + snapshot.len() + cells.len());
    out.extend(MAGIC);
    out.extend((snapshot.len() as u32).to_le_bytes());
    out.extend(snapshot);
    out.extend(cells);
    out
}

/// The snapshot alone, and the bytes of its cells, if it has them.
///
/// # Errors
/// Without a field, if the snapshot is cut.
pub fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), DecodeError> {
    let Some(rest) = bytes.strip_prefix(&MAGIC) else { return Ok((bytes, None)) };
    let parts = rest.split_first_chunk().and_then(|(length, rest)| {
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        rest.split_at_checked(length)
    });
    let (snapshot, cells) = parts.ok_or_else(|| {
        DecodeError::invalid(Fault::State, "", "the snapshot is damaged: it is too short".to_owned())
    })?;
    Ok((snapshot, Some(cells)))
}
