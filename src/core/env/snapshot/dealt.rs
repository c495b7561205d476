//! The source of a state's pieces: a seed and its open bag, or a sequence.

use std::sync::Arc;

use crate::engine::randomizer::{DealerSource, DealerState};
use crate::engine::{Dealer, Piece, PieceSequence, Rules, Tetromino};

use super::reader::{Reader, SnapshotError, SnapshotError::Corrupt};

impl Reader<'_> {
    pub(super) fn dealer(&mut self, rules: &Rules) -> Result<Dealer, SnapshotError> {
        let dealt = self.u64()?;
        let source = match self.byte()? {
            0 if !rules.pieces.is_tetrominoes() => self.other_seed(rules)?,
            0 => self.seed(rules)?,
            1 => self.sequence(rules, dealt)?,
            2 => self.shared_sequence(rules, dealt)?,
            _ => return Err(Corrupt("the source of its pieces is unknown")),
        };
        Ok(Dealer::from_state(rules.randomizer, DealerState { dealt, source }))
    }

    fn other_seed(&mut self, rules: &Rules) -> Result<DealerSource, SnapshotError> {
        let seed = self.u64()?;
        let bag: Vec<Piece> = rules.pieces.iter().map(|_| self.piece(rules)).collect::<Result<_, _>>()?;
        if !rules.pieces.iter().all(|piece| bag.contains(&piece)) {
            return Err(Corrupt("a bag lacks a piece of the set"));
        }
        Ok(DealerSource::OtherSeed { seed, bag })
    }

    fn seed(&mut self, rules: &Rules) -> Result<DealerSource, SnapshotError> {
        let seed = self.u64()?;
        let mut bag = Tetromino::ALL;
        for piece in &mut bag {
            *piece = self.piece(rules)?;
        }
        if !Tetromino::ALL.iter().all(|piece| bag.contains(piece)) {
            return Err(Corrupt("a bag lacks one of the seven tetrominoes"));
        }
        let mut behind = [0; 7];
        for behind in &mut behind {
            *behind = u16::from_le_bytes(self.array()?);
        }
        if !behind.contains(&0) {
            return Err(Corrupt("the counts of the balanced randomizer lack a 0"));
        }
        Ok(DealerSource::Seed { seed, bag, behind })
    }

    fn shared_sequence(&mut self, rules: &Rules, dealt: u64) -> Result<DealerSource, SnapshotError> {
        let number = u32::from_le_bytes(self.array()?);
        match self.shared.get(number) {
            Some(shared) if shared.pieces.iter().any(|piece| piece.index() >= rules.pieces.len()) => {
                Err(Corrupt("a piece has an unknown number"))
            }
            Some(shared) if dealt <= shared.pieces.len() as u64 => {
                check_holes(&shared.holes, rules)?;
                Ok(DealerSource::Sequence(shared.clone()))
            }
            Some(_) => Err(Corrupt("it has dealt more pieces than its sequence has")),
            None => Err(Corrupt("it refers to a shared piece sequence that is missing")),
        }
    }

    fn sequence(&mut self, rules: &Rules, dealt: u64) -> Result<DealerSource, SnapshotError> {
        let length = u32::from_le_bytes(self.array()?);
        if length == 0 || dealt > length.into() {
            return Err(Corrupt("it has dealt more pieces than its sequence has"));
        }
        // Checks that the bytes exist before it allocates memory for them.
        let mut rest = Reader { bytes: self.take(length as usize)?, shared: self.shared };
        let pieces: Result<Arc<[Piece]>, _> = (0..length).map(|_| rest.piece(rules)).collect();
        let length = u32::from_le_bytes(self.array()?);
        let holes = self.take(length as usize)?;
        check_holes(holes, rules)?;
        Ok(DealerSource::Sequence(Arc::new(PieceSequence { pieces: pieces?, holes: holes.to_vec() })))
    }
}

/// Refuses columns of holes that no garbage has under these rules.
fn check_holes(holes: &[u8], rules: &Rules) -> Result<(), SnapshotError> {
    let is_wrong = |&column: &u8| column >= rules.width || rules.garbage.is_none();
    if holes.iter().any(is_wrong) { Err(Corrupt("holes are written that no garbage has")) } else { Ok(()) }
}
