//! An agent's view of a game.

use crate::engine::{Chain, Hand, Incoming, Landing, Odds, Piece, Placement, Playfield, Rules};

/// An agent's view of a game.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    pub rules: &'a Rules,
    pub playfield: &'a Playfield,
    /// The current piece, which can enter the playfield.
    pub piece: Piece,
    /// The shown pieces after the current one.
    pub next: &'a [Piece],
    /// The held piece; `None` under rules without hold.
    pub held: Option<Piece>,
    /// Odds of each piece to come next after the shown ones.
    pub odds: Odds,
    /// Lines cleared so far in the game.
    pub lines: u64,
    /// Pieces placed so far in the game.
    pub pieces: u64,
    /// The recent clears, on which the value of the next one may depend.
    pub chain: Chain,
    /// Garbage that waits; `None` in games without it.
    pub incoming: Option<&'a Incoming>,
}

impl<'a> Sight<'a> {
    /// The view of a game that has just begun, with this playfield: nothing is shown, held or known of the past.
    pub fn of(rules: &'a Rules, playfield: &'a Playfield, piece: Piece) -> Sight<'a> {
        Sight {
            rules,
            playfield,
            piece,
            next: &[],
            held: None,
            odds: Odds::EVEN,
            lines: 0,
            pieces: 0,
            chain: Chain::default(),
            incoming: None,
        }
    }

    /// The pieces that can be placed.
    pub fn hand(&self) -> Hand {
        Hand::new(self.rules, self.piece, self.held, self.next.first().copied())
    }

    /// The view after holding the current piece; `None` if it cannot be held.
    pub fn holding(&self) -> Option<Sight<'a>> {
        let piece = self.hand().other_on(self.rules, self.playfield)?;
        let next = if self.held.is_none() { &self.next[1..] } else { self.next };
        Some(Sight { piece, next, held: Some(self.piece), ..*self })
    }

    /// The view in which a placement is made: after holding the current piece, if the placement does that.
    ///
    /// # Panics
    /// If the placement holds a piece that cannot be held.
    pub(crate) fn placing(&self, placement: Placement) -> Sight<'a> {
        if placement.hold { self.holding().expect("a piece that can be held") } else { *self }
    }

    /// The view of the next piece, after the current one has landed.
    pub(crate) fn after(&self, landing: &'a Landing<u64, 32>, piece: Piece, next: &'a [Piece]) -> Sight<'a> {
        let (lines, pieces) = (self.lines + u64::from(landing.lines), self.pieces + 1);
        Sight { playfield: &landing.afterstate, piece, next, lines, pieces, ..*self }
    }

    /// Every placement, in ascending action order.
    pub(super) fn placements(&self) -> Vec<Placement> {
        self.hand()
            .placements(self.rules, self.playfield)
            .into_iter()
            .map(|(_, placement)| placement)
            .collect()
    }
}
