//! What was done in a game, kept until its caller takes it: a byte an action where they all fit, else two.

use crate::engine::Rules;

/// The actions of a game.
#[derive(Clone, Debug)]
pub struct Actions {
    bytes: Vec<u8>,
    bytes_each: usize,
}

impl Actions {
    /// None yet, of a game by these rules.
    pub fn new(rules: &Rules) -> Actions {
        Actions { bytes: Vec::new(), bytes_each: Actions::bytes_each(rules) }
    }

    /// Bytes that each one takes.
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
