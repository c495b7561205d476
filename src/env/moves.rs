//! What each action does to each piece, looked up instead of worked out.
//!
//! Without obstacles on the way down, the placements of a piece depend on the piece and the width alone, so a mask is a row
//! of a table that is made once.

use crate::engine::{Placement, Rules, Shape, Tetromino};

/// A shape over the column of its leftmost cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drop {
    pub shape: &'static Shape,
    pub column: u8,
}

/// The placements of all seven pieces under one set of rules.
#[derive(Debug)]
pub(super) struct Moves {
    num_actions: usize,
    /// By piece, then by action.
    drops: Vec<Option<Drop>>,
    /// The same as bytes, 1 where there is a drop; then a row for environments that wait for a reset, and a row of zeros.
    masks: Vec<u8>,
}

const WAITING: usize = Tetromino::ALL.len();
const NOT_STARTED: usize = WAITING + 1;

impl Moves {
    pub fn new(rules: &Rules) -> Moves {
        let num_actions = rules.num_actions();
        let drop = |piece, action| {
            let placement = Placement::from_action(action, rules.width);
            let shape = placement.shape(rules, piece)?;
            Some(Drop { shape, column: placement.column })
        };
        let drops: Vec<Option<Drop>> = Tetromino::ALL
            .iter()
            .flat_map(|&piece| (0..num_actions).map(move |action| drop(piece, action)))
            .collect();
        let num_actions = num_actions as usize;
        let mut masks: Vec<u8> = drops.iter().map(|drop| u8::from(drop.is_some())).collect();
        masks.resize(masks.len() + 2 * num_actions, 0);
        masks[WAITING * num_actions] = 1;
        Moves { num_actions, drops, masks }
    }

    pub fn num_actions(&self) -> usize {
        self.num_actions
    }

    /// What an action below [`Moves::num_actions`] does, or `None` when the piece has no such placement.
    #[inline]
    pub fn drop(&self, piece: Tetromino, action: usize) -> Option<Drop> {
        debug_assert!(action < self.num_actions);
        self.drops[piece as usize * self.num_actions + action]
    }

    /// The mask of a piece.
    #[inline]
    pub fn mask(&self, piece: Tetromino) -> &[u8] {
        self.mask_row(piece as usize)
    }

    /// The mask of an ended episode: action 0, which will not be looked at.
    pub fn waiting_mask(&self) -> &[u8] {
        self.mask_row(WAITING)
    }

    /// The mask before the first reset: nothing can be done.
    pub fn not_started_mask(&self) -> &[u8] {
        self.mask_row(NOT_STARTED)
    }

    #[inline]
    fn mask_row(&self, row: usize) -> &[u8] {
        &self.masks[row * self.num_actions..][..self.num_actions]
    }
}
