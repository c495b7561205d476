//! Records of games: the actions and their outcome, kept until the caller takes them.

use crate::engine::{Game, Rules};

/// The record of a finished game, from which a recording is made.
#[derive(Clone, Debug)]
pub struct GameRecord {
    pub actions: PackedActions,
    /// The lines of each landing.
    pub landing_lines: Vec<u8>,
    /// The game after its last action. If no piece could follow, the game has ended, even if a limit cut it there.
    pub game: Game<u64, 32>,
    /// In a match, the record of side 1; the other fields are those of side 0.
    pub opponent: Option<Box<GameRecord>>,
}

/// The actions of a game, one byte each if all actions of the rules fit, else two.
#[derive(Clone, Debug)]
pub struct PackedActions {
    bytes: Vec<u8>,
    bytes_each: usize,
}

impl PackedActions {
    /// An empty list of actions for a game under these rules.
    pub(super) fn new(rules: &Rules) -> PackedActions {
        PackedActions { bytes: Vec::new(), bytes_each: PackedActions::bytes_each(rules) }
    }

    /// Bytes per action of a game under these rules, 1 or 2.
    pub fn bytes_each(rules: &Rules) -> usize {
        if rules.num_actions() <= 1 << 8 { 1 } else { 2 }
    }

    #[inline]
    pub(super) fn push(&mut self, action: u32) {
        // No rules have 2^16 actions. The maximum is 2 * 4 * 32 columns * 40 rows * 3 labels.
        self.bytes.extend_from_slice(&action.to_le_bytes()[..self.bytes_each]);
    }

    /// The actions, in the order in which they were played.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.bytes.chunks_exact(self.bytes_each).map(|bytes| match *bytes {
            [low, high] => u16::from_le_bytes([low, high]),
            _ => bytes[0].into(),
        })
    }
}
