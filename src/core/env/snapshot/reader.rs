//! The bytes of a snapshot, read one number after another, and the reasons why they are refused.

use crate::engine::{FallingPiece, Piece, RULES_VERSION, Rules, Tetromino};
use crate::env::columns::MAX_COUNT;

use super::FORMAT;
use super::sequences::SharedSequences;

/// The reason why bytes are not a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes are no snapshot, or one that was damaged or forged.
    #[error("the snapshot is damaged: {0}")]
    Corrupt(&'static str),
    /// The program does not know this layout of bytes.
    #[error("the snapshot has format {0}, expected {FORMAT}")]
    UnknownFormat(u16),
    /// The snapshot comes from another version of the rules, where equal actions could lead to another game.
    #[error("the snapshot has rules version {found:?}, expected {RULES_VERSION:?}")]
    OtherRulesVersion {
        /// The version in the snapshot.
        found: String,
    },
}

use SnapshotError::Corrupt;

/// The bytes of a snapshot that are still to be read, with the sequences that it may name.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) shared: &'a SharedSequences,
}

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], SnapshotError> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(Corrupt("it is too short"))?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(super) fn array<const L: usize>(&mut self) -> Result<[u8; L], SnapshotError> {
        Ok(self.take(L)?.try_into().expect("as long as was taken"))
    }

    pub(super) fn byte(&mut self) -> Result<u8, SnapshotError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn flag(&mut self) -> Result<bool, SnapshotError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Corrupt("a flag is neither 0 nor 1")),
        }
    }

    pub(super) fn u64(&mut self) -> Result<u64, SnapshotError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn u16(&mut self) -> Result<u16, SnapshotError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn count(&mut self) -> Result<u64, SnapshotError> {
        let count = self.u64()?;
        if count <= MAX_COUNT {
            Ok(count)
        } else {
            Err(Corrupt("a counter is larger than any game can reach"))
        }
    }

    pub(super) fn f64(&mut self) -> Result<f64, SnapshotError> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    pub(super) fn piece(&mut self, rules: &Rules) -> Result<Piece, SnapshotError> {
        rules.pieces.piece(self.byte()?).ok_or(Corrupt("a piece has an unknown number"))
    }

    pub(super) fn pose(&mut self, tetromino: Tetromino) -> Result<FallingPiece, SnapshotError> {
        let [turns, column, row] = self.array()?;
        if turns > 3 {
            return Err(Corrupt("an orientation is larger than 3"));
        }
        Ok(FallingPiece { tetromino, turns, column, row })
    }
}
