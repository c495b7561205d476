//! The pieces that a player can place: the current one and, where the rules let it be held, another one in its place.
//!
//! This file says which one that is, and which placements the two have together. What becomes of the pieces afterwards is up
//! to the code that deals them: the held piece is a part of the game beside the playfield, as the pieces shown are.

use super::column::Column;
use super::piece::Piece;
use super::placement::Placement;
use super::playfield::PlayfieldOf;
use super::reach::{append_placements, has_placement, is_blocked, num_placements};
use super::rules::Rules;

/// The pieces that a player can place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hand {
    /// The current piece.
    pub current: Piece,
    /// The piece that is placed if the current one is held; none if it cannot be, or if that would change nothing.
    pub other: Option<Piece>,
}

impl Hand {
    /// The current piece alone.
    pub const fn only(current: Piece) -> Hand {
        Hand { current, other: None }
    }

    /// The current piece, and if it may be held the piece that is held already, or the next one while none is.
    ///
    /// To swap it for an equal one changes nothing, and so is no choice.
    #[inline]
    pub fn new(rules: &Rules, current: Piece, held: Option<Piece>, next: Option<Piece>) -> Hand {
        let other = match held {
            _ if !rules.hold => None,
            Some(held) => Some(held).filter(|held| *held != current),
            None => next,
        };
        Hand { current, other }
    }

    /// The other piece, if it can come into play: one that is held may be blocked although the current one is not.
    #[inline]
    pub fn other_on<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
    ) -> Option<Piece> {
        self.other.filter(|other| !is_blocked(rules, playfield, *other))
    }

    /// The piece that a placement is of, if there is one; whether it has such a placement is another question.
    #[inline]
    pub fn piece(&self, placement: Placement) -> Option<Piece> {
        if placement.hold { self.other } else { Some(self.current) }
    }

    /// How many placements the two have.
    pub fn num_placements<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
    ) -> u32 {
        let of_other =
            self.other_on(rules, playfield).map_or(0, |other| num_placements(rules, playfield, other));
        num_placements(rules, playfield, self.current) + of_other
    }

    /// The placements of both, each with its piece, in ascending action order.
    pub fn placements<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
    ) -> Vec<(Piece, Placement)> {
        // More than most hands have.
        let mut all = Vec::with_capacity(96);
        append_placements(rules, playfield, self.current, false, &mut all);
        if let Some(other) = self.other_on(rules, playfield) {
            append_placements(rules, playfield, other, true, &mut all);
        }
        all
    }

    /// The piece of a placement, if it has such a one here.
    #[inline]
    pub fn can_place<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        placement: Placement,
    ) -> Option<Piece> {
        let exists = |piece: &Piece| has_placement(rules, playfield, *piece, placement.holding(false));
        let piece = if placement.hold { self.other_on(rules, playfield) } else { Some(self.current) };
        piece.filter(exists)
    }
}
