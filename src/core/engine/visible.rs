//! The pieces that a player sees: the current piece and the preview, dealt ahead of time.
//!
//! Environments and [`Live`](super::Live) games keep a [`Visible`] each. A game between two pieces ([`Game`](super::Game)) has none,
//! because evaluations deal each piece as it appears.

use super::hand::Hand;
use super::piece::Piece;
use super::randomizer::Dealer;
use super::rules::{MAX_PREVIEW, Rules};

/// The current piece and the preview: `preview + 1` slots. Slots past the end of an explicit sequence are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visible(pub [Option<Piece>; MAX_PREVIEW as usize + 1]);

impl Visible {
    pub(crate) const NOTHING: Visible = Visible([None; MAX_PREVIEW as usize + 1]);

    /// The first pieces of an episode.
    pub(crate) fn dealt(dealer: &mut Dealer, preview: u8) -> Visible {
        let mut visible = Visible::NOTHING;
        for slot in &mut visible.0[..=usize::from(preview)] {
            *slot = dealer.deal();
        }
        visible
    }

    /// The pieces with the first ones replaced by `given`.
    #[must_use]
    pub(crate) fn starting_with(mut self, given: impl IntoIterator<Item = Piece>) -> Visible {
        for (slot, piece) in self.0.iter_mut().zip(given) {
            *slot = Some(piece);
        }
        self
    }

    /// The current piece; `None` once an explicit sequence is used up.
    #[inline]
    pub(crate) fn current(&self) -> Option<Piece> {
        self.0[0]
    }

    /// The next piece, if it is shown.
    #[inline]
    pub(crate) fn next(&self) -> Option<Piece> {
        self.0[1]
    }

    /// The slots of the preview.
    #[inline]
    pub(crate) fn preview(&self, preview: u8) -> &[Option<Piece>] {
        &self.0[1..=usize::from(preview)]
    }

    /// The current piece and the preview, without empty slots.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece> {
        self.0.into_iter().flatten()
    }

    /// The pieces that can be placed while `held` is held; `None` without a current piece.
    #[inline]
    pub(crate) fn hand(&self, rules: &Rules, held: Option<Piece>) -> Option<Hand> {
        self.current().map(|current| Hand::new(rules, current, held, self.next()))
    }

    /// Moves all pieces up by one and deals the last one.
    #[inline]
    pub(crate) fn advance(&mut self, dealer: &mut Dealer, preview: u8) {
        self.0.copy_within(1.., 0);
        self.0[usize::from(preview)] = dealer.deal();
    }

    /// Holds the current piece. The held piece takes its place, or the next piece if none was held.
    ///
    /// # Panics
    /// When no piece is current.
    #[inline]
    pub(crate) fn hold(&mut self, held: &mut Option<Piece>, dealer: &mut Dealer, preview: u8) {
        let current = self.current().expect("a piece to hold");
        match held.replace(current) {
            None => self.advance(dealer, preview),
            before => self.0[0] = before,
        }
    }
}
