//! What was done in a game and what came of it, kept until its caller takes it.

use crate::engine::{Game, Rules};

/// A recorded game.
#[derive(Clone, Debug)]
pub struct GameRecord {
    /// What was done.
    pub actions: Actions,
    /// The lines of every landing.
    pub landing_lines: Vec<u8>,
    /// The game after its last action. It has ended if no piece could follow, even if a limit cut it there.
    pub game: Game<u64, 32>,
}

/// The actions of a game: a byte each where they all fit, else two.
#[derive(Clone, Debug)]
pub struct Actions {
    bytes: Vec<u8>,
    bytes_each: usize,
}

impl Actions {
    /// No actions yet, of a game by these rules.
    pub(super) fn new(rules: &Rules) -> Actions {
        Actions { bytes: Vec::new(), bytes_each: Actions::bytes_each(rules) }
    }

    /// Bytes that an action takes.
    pub fn bytes_each(rules: &Rules) -> usize {
        if rules.num_actions() <= 1 << 8 { 1 } else { 2 }
    }

    #[inline]
    pub(super) fn push(&mut self, action: u32) {
        // No rules have 2^16 of them: 2 * 4 * 32 columns * 40 rows * 3 labels are the most.
        self.bytes.extend_from_slice(&action.to_le_bytes()[..self.bytes_each]);
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.bytes.chunks_exact(self.bytes_each).map(|bytes| match *bytes {
            [low, high] => u16::from_le_bytes([low, high]),
            _ => bytes[0].into(),
        })
    }
}
