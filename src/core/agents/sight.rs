//! What an agent sees of a game.

use crate::engine::{Hand, Odds, Piece, Placement, Playfield, Rules};

/// What an agent sees of a game.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The cells.
    pub playfield: &'a Playfield,
    /// The piece to be placed; it can come into play.
    pub piece: Piece,
    /// The pieces after it, as far as the rules show them.
    pub next: &'a [Piece],
    /// The piece that is held; none where the rules let none be held.
    pub held: Option<Piece>,
    /// How likely each piece is to follow those.
    pub odds: Odds,
    /// Lines cleared so far in the game.
    pub lines: u64,
}

impl<'a> Sight<'a> {
    /// The pieces that can be placed.
    pub fn hand(&self) -> Hand {
        Hand::new(self.rules, self.piece, self.held, self.next.first().copied())
    }

    /// What is seen once the current piece is held; none if it cannot be.
    pub fn holding(&self) -> Option<Sight<'a>> {
        let piece = self.hand().other_on(self.rules, self.playfield)?;
        let next = if self.held.is_none() { &self.next[1..] } else { self.next };
        Some(Sight { piece, next, held: Some(self.piece), ..*self })
    }

    /// What is seen when a placement is made: if it holds the current piece, as after that.
    ///
    /// # Panics
    /// When it holds a piece that cannot be held.
    pub fn placing(&self, placement: Placement) -> Sight<'a> {
        if placement.hold { self.holding().expect("a piece that can be held") } else { *self }
    }

    /// Every placement, in ascending action order.
    pub fn placements(&self) -> Vec<Placement> {
        self.hand()
            .placements(self.rules, self.playfield)
            .into_iter()
            .map(|(_, placement)| placement)
            .collect()
    }
}
