//! Controllers and formulas that play whole slices of games inside one kernel.

use std::cell::RefCell;

use crate::agents::{Agent, DropScorer, ExpectationAgent};
use crate::engine::{ActionModel, Dealer, Game, MAX_PREVIEW, Piece, Placement, Rules};
use crate::features::kernel::{Ahead, Chooser, Foresight, LaneBounds, Lanes, Scorer};
use crate::formula::Batch;

/// A controller that plays whole slices in a kernel.
pub(super) enum Fast<'a> {
    Linear(&'a Scorer),
    Formula(DropScorer<'a>),
    Foreseeing(Foreseeing<'a>),
}

impl Fast<'_> {
    /// The fast path for an agent, if the kernels support the agent and the rules. Slices support no garbage.
    pub(super) fn of<'a>(agent: &'a Agent, rules: &Rules) -> Option<Fast<'a>> {
        match agent {
            _ if rules.action_model != ActionModel::Placement || rules.garbage.is_some() => None,
            Agent::Linear(agent) => agent.scorer_under(rules).map(Fast::Linear),
            Agent::Formula(agent) => agent.drops_under(rules).map(Fast::Formula),
            Agent::Expectation(agent) => {
                let foreseeing = |scorer| Fast::Foreseeing(Foreseeing { agent, scorer });
                agent.values().scorer_under(rules).map(foreseeing)
            }
            _ => None,
        }
    }
}

/// A controller that plays slices on playfields of any size.
pub(super) trait SlicePlayer: Copy {
    /// The number of extra rows that the controller's lookahead needs.
    fn rows_ahead(self) -> u32;
    /// Prepares the controller for these rules and one size.
    fn on<L: Lanes>(self, rules: &Rules, size: LaneBounds<L>) -> impl Placer<L>;
}

/// A controller prepared for one size. Implementations of `place` must be `#[inline(always)]`, as for a [`LaneWork`].
pub(super) trait Placer<L: Lanes> {
    /// Places the piece that was dealt last.
    fn place<const N: usize>(
        &self,
        rules: &Rules,
        game: &Game<L::Word, N>,
        piece: Piece,
        dealer: &Dealer,
    ) -> Placement;
}

impl SlicePlayer for &Scorer {
    fn rows_ahead(self) -> u32 {
        0
    }

    #[inline(always)]
    fn on<L: Lanes>(self, _: &Rules, size: LaneBounds<L>) -> impl Placer<L> {
        Scorer::on(self, size)
    }
}

impl<L: Lanes> Placer<L> for Chooser<'_, L> {
    #[inline(always)]
    fn place<const N: usize>(
        &self,
        rules: &Rules,
        game: &Game<L::Word, N>,
        piece: Piece,
        _: &Dealer,
    ) -> Placement {
        Chooser::place(self, &game.playfield, rules.shapes(piece), rules.top_out)
    }
}

impl SlicePlayer for DropScorer<'_> {
    fn rows_ahead(self) -> u32 {
        0
    }

    #[inline(always)]
    fn on<L: Lanes>(self, _: &Rules, size: LaneBounds<L>) -> impl Placer<L> {
        FormulaPlacer { scorer: self, size, batch: RefCell::default() }
    }
}

/// A formula on playfields of one size.
struct FormulaPlacer<'a, L: Lanes> {
    scorer: DropScorer<'a>,
    size: LaneBounds<L>,
    /// The numbers of the last choice, whose memory the next one reuses.
    batch: RefCell<Batch>,
}

impl<L: Lanes> Placer<L> for FormulaPlacer<'_, L> {
    #[inline(always)]
    fn place<const N: usize>(
        &self,
        rules: &Rules,
        game: &Game<L::Word, N>,
        piece: Piece,
        dealer: &Dealer,
    ) -> Placement {
        let mut room = [piece; MAX_PREVIEW as usize];
        let next =
            if self.scorer.knows_next() { ahead(dealer, rules, &mut room).shown.first() } else { None };
        let mut batch = self.batch.borrow_mut();
        self.scorer.place(&self.size, rules, game, (piece, next.copied()), &mut batch)
    }
}

/// A controller that averages over future pieces.
#[derive(Clone, Copy)]
pub(super) struct Foreseeing<'a> {
    pub agent: &'a ExpectationAgent,
    scorer: &'a Scorer,
}

impl SlicePlayer for Foreseeing<'_> {
    fn rows_ahead(self) -> u32 {
        4 * u32::from(self.agent.expectation().pieces)
    }

    #[inline(always)]
    fn on<L: Lanes>(self, rules: &Rules, size: LaneBounds<L>) -> impl Placer<L> {
        Foresight::new(self.scorer.on(size), rules, self.agent.expectation(), self.agent.lost())
    }
}

impl<L: Lanes> Placer<L> for Foresight<'_, L> {
    #[inline(always)]
    fn place<const N: usize>(
        &self,
        rules: &Rules,
        game: &Game<L::Word, N>,
        piece: Piece,
        dealer: &Dealer,
    ) -> Placement {
        let mut room = [piece; MAX_PREVIEW as usize];
        Foresight::place(self, rules, &game.playfield, piece, &ahead(dealer, rules, &mut room))
    }
}

/// The known future: the pieces of the preview, written to `room` (fewer at the end of an explicit sequence), and the
/// odds of the piece after them.
#[inline]
pub(super) fn ahead<'a>(
    dealer: &Dealer,
    rules: &Rules,
    room: &'a mut [Piece; MAX_PREVIEW as usize],
) -> Ahead<'a> {
    if rules.preview == 0 {
        return Ahead { shown: &[], odds: dealer.odds() };
    }
    let mut dealer = dealer.clone();
    let mut shown = 0;
    while shown < usize::from(rules.preview)
        && let Some(piece) = dealer.deal()
    {
        room[shown] = piece;
        shown += 1;
    }
    Ahead { shown: &room[..shown], odds: dealer.odds() }
}
