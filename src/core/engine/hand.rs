//! The pieces that a player can place: the current one and, with hold, another one instead.
//!
//! This file decides which piece the other one is, and which placements the two have. The code that deals pieces tracks
//! the held piece, which is part of the game next to the playfield, like the preview.

use super::column::Column;
use super::piece::Piece;
use super::placement::Placement;
use super::playfield::PlayfieldOf;
use super::reach::{append_placements, has_placement, is_blocked, num_placements};
use super::rules::Rules;

/// The pieces that a player can place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hand {
    pub current: Piece,
    /// The piece that is placed if the current one is held; `None` if hold is not possible or would change nothing.
    pub other: Option<Piece>,
}

impl Hand {
    /// The hand of a player who can place only the current piece.
    pub const fn only(current: Piece) -> Hand {
        Hand { current, other: None }
    }

    /// The current piece and, if the rules have hold, the held piece, or the next one if no piece is held.
    ///
    /// Swapping a piece for an equal one changes nothing, so that is not a choice.
    #[inline]
    pub fn new(rules: &Rules, current: Piece, held: Option<Piece>, next: Option<Piece>) -> Hand {
        let other = match held {
            _ if !rules.hold => None,
            Some(held) => Some(held).filter(|held| *held != current),
            None => next,
        };
        Hand { current, other }
    }

    /// The other piece, if it can come into play. A held piece may be blocked although the current one is not.
    #[inline]
    pub fn other_on<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
    ) -> Option<Piece> {
        self.other.filter(|other| !is_blocked(rules, playfield, *other))
    }

    /// The piece of a placement. Does not check that the piece has such a placement.
    #[inline]
    pub fn piece(&self, placement: Placement) -> Option<Piece> {
        if placement.hold { self.other } else { Some(self.current) }
    }

    /// Number of placements of both pieces.
    pub(crate) fn num_placements<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
    ) -> u32 {
        let of_other =
            self.other_on(rules, playfield).map_or(0, |other| num_placements(rules, playfield, other));
        num_placements(rules, playfield, self.current) + of_other
    }

    /// The placements of both pieces, each with its piece, in ascending order of actions.
    ///
    /// ```
    /// use tetrion_core::engine::{Hand, Playfield, Rules, Tetromino};
    ///
    /// let rules = Rules::simplified(10, 20);
    /// let hand = Hand::new(&rules, Tetromino::T, None, None);
    /// // Two of the four turned shapes are three columns wide, two are two.
    /// assert_eq!(hand.placements(&rules, &Playfield::empty(10, 20)).len(), 2 * 8 + 2 * 9);
    /// ```
    pub fn placements<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
    ) -> Vec<(Piece, Placement)> {
        // Most hands have fewer placements than this.
        let mut all = Vec::with_capacity(96);
        append_placements(rules, playfield, self.current, false, &mut all);
        if let Some(other) = self.other_on(rules, playfield) {
            append_placements(rules, playfield, other, true, &mut all);
        }
        all
    }

    /// The piece of a placement, if the piece has this placement here.
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
