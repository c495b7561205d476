//! The effect of each action on each piece, looked up in tables instead of computed.
//!
//! If every placement exists, the placements of a piece depend only on the piece and the width, so a mask is a row of a
//! table that is created once. Otherwise the mask depends on the playfield too. Every key can be pressed, whatever its
//! effect.
//!
//! Placements that name their spots are too many for a table, and each of them needs a look at the playfield anyway. So
//! they are checked one by one ([`Hand`]), and so are placements that hold the current piece.

use crate::engine::{
    ActionModel, Column, Hand, Piece, Placement, PlayfieldOf, Rules, Shape, every_placement_exists,
};

/// A shape, and the column of its leftmost cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drop {
    pub shape: &'static Shape,
    pub column: u8,
}

/// The effect of every action on all pieces under one set of rules.
#[derive(Debug)]
pub(super) struct ActionTable {
    rules: Rules,
    num_actions: usize,
    has_drops: bool,
    /// Number of placements per piece, or of keys.
    num_of_a_piece: usize,
    /// By piece, then by action; empty if actions are keys or placements with spots.
    drops: Vec<Option<Drop>>,
    /// By piece, then by action: 1 for every drop and every key; empty if placements have spots.
    masks: Vec<u8>,
    /// The mask of environments that wait for a reset: 1 for action 0.
    waiting_mask: Vec<u8>,
    /// The mask of environments before their first reset: zeros.
    not_started_mask: Vec<u8>,
}

impl ActionTable {
    /// Computes the tables of all pieces; see [`ActionTable::bytes`] for their size.
    pub(super) fn new(rules: &Rules) -> ActionTable {
        let num_actions = rules.num_actions();
        let drop = |piece, action| {
            let placement = Placement::from_action(action, rules);
            let shape = placement.shape(rules, piece)?;
            Some(Drop { shape, column: placement.column })
        };
        let num_of_a_piece = match rules.action_model {
            ActionModel::Placement => rules.num_placements(),
            ActionModel::Keypress => num_actions,
        };
        let of_each_piece =
            rules.pieces.iter().flat_map(|piece| (0..num_of_a_piece).map(move |action| (piece, action)));
        let (drops, masks): (Vec<_>, Vec<u8>) = match rules.action_model {
            ActionModel::Placement if rules.names_spots() => (Vec::new(), Vec::new()),
            ActionModel::Placement => of_each_piece
                .map(|(piece, action)| drop(piece, action))
                .map(|drop| (drop, u8::from(drop.is_some())))
                .unzip(),
            ActionModel::Keypress => (Vec::new(), of_each_piece.map(|_| 1).collect()),
        };
        let num_actions = num_actions as usize;
        let not_started_mask = vec![0; num_actions];
        let mut waiting_mask = not_started_mask.clone();
        waiting_mask[0] = 1;
        let num_of_a_piece = num_of_a_piece as usize;
        ActionTable {
            rules: *rules,
            num_actions,
            has_drops: !drops.is_empty() && !rules.hold,
            num_of_a_piece,
            drops,
            masks,
            waiting_mask,
            not_started_mask,
        }
    }

    /// Bytes of the table under these rules.
    pub(super) fn bytes(rules: &Rules) -> usize {
        rules.pieces.len() * rules.num_placements() as usize * (size_of::<Option<Drop>>() + 1)
    }

    /// Whether actions are placements that [`ActionTable::drop`] knows.
    #[inline]
    pub(super) fn has_drops(&self) -> bool {
        self.has_drops
    }

    /// Size of the action space, which is also the length of a mask.
    pub(super) fn num_actions(&self) -> usize {
        self.num_actions
    }

    /// The effect of a placement below [`ActionTable::num_actions`]; `None` if the piece has no such placement on any
    /// playfield. Only under rules that [have drops](ActionTable::has_drops).
    #[inline]
    pub(super) fn drop(&self, piece: Piece, action: usize) -> Option<Drop> {
        debug_assert!(action < self.num_actions);
        self.drops[piece.index() * self.num_of_a_piece + action]
    }

    /// The effect of a placement; `None` if it does not exist on this playfield.
    #[inline]
    pub(crate) fn drop_on<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        piece: Piece,
        action: usize,
    ) -> Option<Drop> {
        let exists = |_: &Drop| {
            every_placement_exists(&self.rules, playfield)
                || Hand::only(piece)
                    .can_place(&self.rules, playfield, Placement::from_action(action as u32, &self.rules))
                    .is_some()
        };
        self.drop(piece, action).filter(exists)
    }

    /// Appends the mask of the pieces that can be placed on a playfield, by the rules for the current piece.
    #[inline]
    pub(crate) fn append_mask<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        hand: Hand,
        out: &mut Vec<u8>,
    ) {
        self.append_mask_of(rules, playfield, hand.current, out);
        match hand.other_on(rules, playfield) {
            Some(other) => self.append_mask_of(rules, playfield, other, out),
            None => out.resize(out.len() + self.num_actions - self.num_of_a_piece, 0),
        }
    }

    #[inline]
    fn append_mask_of<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        piece: Piece,
        out: &mut Vec<u8>,
    ) {
        let are_keys = rules.action_model == ActionModel::Keypress;
        if are_keys || every_placement_exists(rules, playfield) {
            out.extend_from_slice(&self.masks[piece.index() * self.num_of_a_piece..][..self.num_of_a_piece]);
            return;
        }
        let start = out.len();
        out.resize(start + self.num_of_a_piece, 0);
        for (_, placement) in Hand::only(piece).placements(rules, playfield) {
            out[start + placement.action(rules) as usize] = 1;
        }
    }

    /// The mask of an ended episode: action 0, which the next step ignores.
    pub(crate) fn waiting_mask(&self) -> &[u8] {
        &self.waiting_mask
    }

    /// The mask before the first reset: no action exists.
    pub(crate) fn not_started_mask(&self) -> &[u8] {
        &self.not_started_mask
    }
}
