//! The fewest keys that take a piece that falls with every key to where placements come to rest.
//!
//! Every key costs 1, and the piece a row. So there may be no keys to a placement on a high stack: the piece comes to rest
//! before it is there. A drop need not be the last key, because a piece rests as soon as it cannot fall further.
//!
//! The search goes through single places, breadth first. Only cells count: some pieces look alike after different turns.

use super::column::Column;
use super::key::Key;
use super::keypress::FallingPiece;
use super::paths::PlaceSet;
use super::playfield::PlayfieldOf;
use super::shape::PieceCells;
use super::tetromino::Tetromino;

/// The keys in the order in which lists of the same length are compared. A key without an effect is left to the last one.
const KEYS: [Key; 6] = [Key::HardDrop, Key::Left, Key::Right, Key::TurnRight, Key::TurnLeft, Key::Idle];

/// A place on the way, and the last key before it.
struct FallingStep {
    piece: FallingPiece,
    before: usize,
    key: Key,
}

/// The keys from where a piece appears to each of these cells at rest; empty if there is no way.
pub(super) fn falling_paths<C: Column, const N: usize>(
    playfield: &PlayfieldOf<C, N>,
    tetromino: Tetromino,
    targets: &[PieceCells],
) -> Vec<Vec<Key>> {
    let mut found = vec![Vec::new(); targets.len()];
    let piece = FallingPiece::spawn(tetromino, playfield.width(), playfield.height());
    if !piece.is_free(playfield) {
        return found;
    }
    let (mut seen, mut missing, mut next) = (PlaceSet::default(), targets.len(), 0);
    let mut steps = vec![FallingStep { piece, before: 0, key: Key::Idle }];
    while let Some(&FallingStep { piece, .. }) = steps.get(next).filter(|_| missing > 0) {
        let idle = piece.step(Key::Idle, playfield);
        for key in KEYS {
            let fall = piece.step(key, playfield);
            if fall.piece == idle.piece && !matches!(key, Key::HardDrop | Key::Idle) {
                continue;
            }
            let FallingPiece { turns, column, row, .. } = fall.piece;
            if !fall.rests {
                if seen.add(0, turns.into(), column.into(), row.into()) {
                    steps.push(FallingStep { piece: fall.piece, before: next, key });
                }
            } else if let Some(at) = targets.iter().position(|cells| *cells == fall.piece.cells())
                && found[at].is_empty()
            {
                found[at] = keys_to(&steps, next, key);
                missing -= 1;
            }
        }
        next += 1;
    }
    found
}

/// The keys to a step, and one more.
fn keys_to(steps: &[FallingStep], mut at: usize, last: Key) -> Vec<Key> {
    let mut keys = vec![last];
    while at != 0 {
        keys.push(steps[at].key);
        at = steps[at].before;
    }
    keys.reverse();
    keys
}
