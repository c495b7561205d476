//! What each action does to each piece, looked up instead of worked out.
//!
//! Where every placement exists, the placements of a piece depend on the piece and the width alone, so a mask is a row of a
//! table that is made once. Elsewhere the mask depends on the playfield too. Every key can be pressed, whatever it does.

use crate::engine::{
    ActionModel, Column, Placement, PlayfieldOf, Rules, Shape, Tetromino, every_placement_exists, placements,
};

/// A shape over the column of its leftmost cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drop {
    pub shape: &'static Shape,
    pub column: u8,
}

/// What every action does to all seven pieces under one set of rules.
#[derive(Debug)]
pub(super) struct ActionTable {
    rules: Rules,
    num_actions: usize,
    /// By piece, then by action; empty where an action is a key.
    drops: Vec<Option<Drop>>,
    /// By piece, then by action: 1 where there is a drop, and for every key; then a row for environments that wait for a reset, and a row of zeros.
    masks: Vec<u8>,
}

const WAITING: usize = Tetromino::ALL.len();
const NOT_STARTED: usize = WAITING + 1;

impl ActionTable {
    pub fn new(rules: &Rules) -> ActionTable {
        let num_actions = rules.num_actions();
        let drop = |piece, action| {
            let placement = Placement::from_action(action, rules.width);
            let shape = placement.shape(rules, piece)?;
            Some(Drop { shape, column: placement.column })
        };
        let of_each_piece =
            Tetromino::ALL.iter().flat_map(|&piece| (0..num_actions).map(move |action| (piece, action)));
        let (drops, mut masks): (Vec<_>, Vec<u8>) = match rules.action_model {
            ActionModel::Placement => of_each_piece
                .map(|(piece, action)| drop(piece, action))
                .map(|drop| (drop, u8::from(drop.is_some())))
                .unzip(),
            ActionModel::Keypress => (Vec::new(), of_each_piece.map(|_| 1).collect()),
        };
        let num_actions = num_actions as usize;
        masks.resize(masks.len() + 2 * num_actions, 0);
        masks[WAITING * num_actions] = 1;
        ActionTable { rules: *rules, num_actions, drops, masks }
    }

    pub fn num_actions(&self) -> usize {
        self.num_actions
    }

    /// What a placement below [`ActionTable::num_actions`] does, or `None` when the piece has no such placement on any
    /// playfield.
    #[inline]
    pub fn drop(&self, piece: Tetromino, action: usize) -> Option<Drop> {
        debug_assert!(action < self.num_actions);
        self.drops[piece as usize * self.num_actions + action]
    }

    /// What a placement does, or `None` when it does not exist on this playfield.
    #[inline]
    pub fn drop_on<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        piece: Tetromino,
        action: usize,
    ) -> Option<Drop> {
        let exists = |_: &Drop| {
            every_placement_exists(&self.rules, playfield)
                || placements(&self.rules, playfield, piece)
                    .contains(Placement::from_action(action as u32, self.rules.width))
        };
        self.drop(piece, action).filter(exists)
    }

    /// Appends the mask of a piece on a playfield.
    #[inline]
    pub fn append_mask<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        piece: Tetromino,
        out: &mut Vec<u8>,
    ) {
        let are_keys = self.drops.is_empty();
        if are_keys || every_placement_exists(&self.rules, playfield) {
            out.extend_from_slice(self.mask_row(piece as usize));
            return;
        }
        let start = out.len();
        out.resize(start + self.num_actions, 0);
        for placement in placements(&self.rules, playfield, piece).iter() {
            out[start + placement.action(self.rules.width) as usize] = 1;
        }
    }

    /// The mask of an ended episode: action 0, which the next step ignores.
    pub fn waiting_mask(&self) -> &[u8] {
        self.mask_row(WAITING)
    }

    /// The mask before the first reset: no action exists.
    pub fn not_started_mask(&self) -> &[u8] {
        self.mask_row(NOT_STARTED)
    }

    #[inline]
    fn mask_row(&self, row: usize) -> &[u8] {
        &self.masks[row * self.num_actions..][..self.num_actions]
    }
}
