//! The position in which a task starts.

use std::sync::Arc;

use super::suite::Split;
use tetrion_core::engine::rng::mix;
use tetrion_core::engine::{LowPlayfield, Piece, Rules};
use tetrion_core::env::{EnvBatch, EnvConfig, EnvState, Restored, Seeding, StartPosition};

/// A playfield and all pieces of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    pub playfield: LowPlayfield,
    /// The pieces, in order, at least one. After the last one the task is over.
    pub pieces: Vec<Piece>,
}

impl Start {
    /// The pieces that a player sees: the current one and the next ones.
    pub fn shown(&self, rules: &Rules) -> &[Piece] {
        &self.pieces[..=usize::from(rules.preview)]
    }

    /// Whether the start may belong to a split. All starts that look alike belong to one: those with the same playfield,
    /// current piece and next pieces, in whatever group.
    pub(super) fn is_in(&self, split: Split, rules: &Rules) -> bool {
        let words = [self.playfield.width().into(), self.playfield.height().into()].into_iter();
        let words = words.chain(self.playfield.columns().iter().map(|column| u64::from(*column)));
        let words = words.chain(self.shown(rules).iter().map(|piece| piece.number().into()));
        words.fold(0, |print: u64, word| mix(print.rotate_left(1) ^ mix(word + 1))) & 1 == split.bit()
    }

    /// The start as environments in a batch of one, in which it can be shown.
    pub(super) fn batch(&self, rules: &Rules) -> EnvBatch {
        let config = EnvConfig { rules: *rules, ..EnvConfig::default() };
        let seeding = Seeding::from_pieces(vec![Arc::from(&self.pieces[..])]);
        let mut batch = EnvBatch::new(config, &seeding).expect("rules that can be played");
        let queue = self.pieces.iter().skip(1).take(rules.preview.into()).copied().collect();
        let position =
            StartPosition { playfield: self.playfield.resized(), piece: self.pieces[0], queue, held: None };
        let restored = Restored::Positions(std::slice::from_ref(&position));
        batch.restore(None, restored, None).expect("a position of these rules");
        batch
    }

    /// The start as the state of an environment.
    pub fn state(&self, rules: &Rules) -> EnvState {
        self.batch(rules).state(0)
    }
}
