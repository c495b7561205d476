//! Expectimax over the next pieces: a linear controller that averages over the pieces that it does not see.
//!
//! The value of a placement is the sum of its own terms ([`Terms`]) plus [`Expectation::discount`] times the value of
//! the next piece. The value of a shown piece is the best value that it can reach. The value of a hidden piece is the
//! mean of the best values of all seven, weighted with their odds, minus [`Expectation::caution`] standard deviations.
//! Both are exact: products of odds and best values are added in the order of [`Tetromino::ALL`], in doubles, and the
//! sum is divided by the sum of the odds. For the last piece the best value is a score as [`Scorer`](super::Scorer)
//! defines it, for earlier pieces a value. A piece is lost if it has no placement, or if all of its placements end the
//! game and the controller avoids that.
//!
//! For every piece but the last, only the placements with the best scores are considered; the first of equals. The last
//! piece may go anywhere. The placement with the largest value wins; the first of equals in ascending action order.
//!
//! A playfield is prepared once for all pieces that may follow. Their placements that clear lines are measured
//! [together](super::clearing), and two shapes are [swept at once](super::prospects) if vectors are long enough. Values
//! are estimated in floats. Only placements whose estimates are within the error of the largest are computed in
//! doubles. Nearly always there is only one, whose value is then not needed. So the choice is the same on every
//! machine.

use super::base::SweepBase;
use super::candidates::{Candidates, index};
use super::clearing::Clearing;
use super::prospects::Prospects;
use super::scorer::{Chooser, TerminalValue};
use super::sweep::sweep;
use crate::engine::lanes::{Apart, Doubles, Floats, Lanes};
use crate::engine::{
    Column, Landing, Odds, Placement, PlayfieldOf, Rules, Shape, Tetromino, TopOut, choice, is_blocked,
};

/// Settings of a controller that takes the next pieces into account.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// Number of pieces after the placed one, 1 to [`Expectation::MAX_PIECES`]. Only the last may be hidden.
    pub pieces: u8,
    /// Number of placements considered for each piece but the last, the best by score. At least 1.
    pub placements: u8,
    /// Value of a lost piece, as a multiple of the largest absolute weight, from [`Expectation::LEAST_LOST_PIECE`] to
    /// 0. A piece is lost if it cannot be placed, or not without ending the game.
    pub lost_piece: f64,
    /// Discount per piece, 0 to 1.
    pub discount: f64,
    /// The terms of a score that count for every piece but the last.
    pub terms: Terms,
    /// Standard deviations subtracted from the mean over a hidden piece, 0 to [`Expectation::MOST_CAUTION`].
    pub caution: f64,
}

choice! {
    /// The terms of a score that count for every piece but the last.
    pub enum Terms: "terms" {
        /// Terms of features of the landing, such as its height: the playfield is judged once, after the last piece.
        Landing = 1, "landing";
        /// All terms, so that every intermediate playfield counts.
        All = 2, "all";
        /// No terms: only the last playfield counts.
        None = 3, "none";
    }
}

impl Expectation {
    /// Most pieces after the placed one.
    pub const MAX_PIECES: u8 = 2;
    /// Most placements considered; no piece has more.
    pub(crate) const MAX_PLACEMENTS: u8 = 128;
    /// Lowest value of a lost piece, as a multiple of the largest weight. Scores added to it still differ as doubles.
    pub const LEAST_LOST_PIECE: f64 = -1e6;
    /// Largest caution. With seven pieces of equal odds, the worst is at most 2.45 standard deviations below the mean,
    /// so more caution changes little.
    pub const MOST_CAUTION: f64 = 10.0;
    /// The exact mean over one piece, after each of the eight best placements.
    pub const DEFAULT: Expectation = Expectation {
        pieces: 1,
        placements: 8,
        lost_piece: -100.0,
        discount: 1.0,
        terms: Terms::Landing,
        caution: 0.0,
    };

    /// Number of next pieces that the rules must show: all but the last.
    pub fn pieces_shown(&self) -> u8 {
        self.pieces - 1
    }
}

impl Default for Expectation {
    fn default() -> Expectation {
        Expectation::DEFAULT
    }
}

/// Knowledge of the pieces after the current one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead<'a> {
    pub shown: &'a [Tetromino],
    /// The odds of each tetromino to come next after them.
    pub odds: Odds,
}

/// Expectimax on playfields of one size.
#[derive(Clone, Debug)]
pub(crate) struct Foresight<'a, L: Lanes> {
    chooser: Chooser<'a, L>,
    expectation: &'a Expectation,
    lost: f64,
    prospects: Option<Prospects<L>>,
}

/// Precision in which values are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precision {
    Estimated,
    Exact,
}

impl<'a, L: Lanes> Foresight<'a, L> {
    /// Prepares the controller for some rules. `lost` is the value of a lost piece, in the units of scores.
    #[inline(always)]
    pub(crate) fn new(
        chooser: Chooser<'a, L>,
        rules: &Rules,
        expectation: &'a Expectation,
        lost: f64,
    ) -> Foresight<'a, L> {
        let prospects = if L::IS_WIDENED { Prospects::new(chooser.scorer, rules) } else { None };
        Foresight { chooser, expectation, lost, prospects }
    }

    /// Chooses a placement of a tetromino. If every placement ends the game and the controller avoids that, the first
    /// one.
    #[inline(always)]
    pub(crate) fn place<const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<L::Word, N>,
        piece: Tetromino,
        ahead: &Ahead<'_>,
    ) -> Placement {
        let mut candidates = self.candidates(rules, playfield, piece);
        let mut best = Placement::straight(0, 0);
        for precision in [Precision::Estimated, Precision::Exact] {
            let mut values = [f64::NEG_INFINITY; Candidates::ROOM];
            let mut largest = f64::NEG_INFINITY;
            for placement in candidates {
                let value = self.value(rules, playfield, (piece, placement), ahead, precision);
                values[index(placement)] = value;
                if value > largest {
                    (largest, best) = (value, placement);
                }
            }
            if precision == Precision::Estimated {
                // The standard deviation changes by no more than the numbers.
                let margin = self.chooser.score_margin() * (1.0 + self.expectation.caution);
                let limit = largest - margin;
                candidates.retain(|placement| values[index(placement)] >= limit);
                if candidates.only().is_some() {
                    break;
                }
            }
        }
        best
    }

    /// The value of a placement.
    #[inline(always)]
    fn value<const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<L::Word, N>,
        (piece, placement): (Tetromino, Placement),
        ahead: &Ahead<'_>,
        precision: Precision,
    ) -> f64 {
        let (next, shown) = match *ahead.shown {
            [next, ref shown @ ..] if self.expectation.pieces > 1 => (next, shown),
            _ => return self.followed_by_the_last(rules, playfield, (piece, placement), ahead, precision),
        };
        let (terms, landing) = self.land(rules, playfield, piece, placement);
        let mut best = f64::NEG_INFINITY;
        if !landing.terminal {
            let rest = Ahead { shown, ..*ahead };
            for placement in self.candidates(rules, &landing.afterstate, next) {
                let next = (next, placement);
                let value = self.followed_by_the_last(rules, &landing.afterstate, next, &rest, precision);
                best = best.max(value);
            }
        }
        terms + self.expectation.discount * self.or_lost(best)
    }

    /// The value of a placement, if only the last piece follows it.
    #[inline(always)]
    fn followed_by_the_last<const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<L::Word, N>,
        (piece, placement): (Tetromino, Placement),
        ahead: &Ahead<'_>,
        precision: Precision,
    ) -> f64 {
        let (terms, landing) = self.land(rules, playfield, piece, placement);
        let last = if landing.terminal {
            self.odds_of_the_last(ahead).cautious_mean(&[self.lost; 7], self.expectation.caution)
        } else {
            self.last(rules, &landing.afterstate, ahead, precision)
        };
        terms + self.expectation.discount * last
    }

    /// Lands a piece. Returns the sum of the terms that count, and the landing.
    #[inline(always)]
    fn land<const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<L::Word, N>,
        piece: Tetromino,
        placement: Placement,
    ) -> (f64, Landing<L::Word, N>) {
        let shape = &rules.shapes(piece)[usize::from(placement.orientation)];
        let mut landed = None;
        let (chooser, terms, column) = (&self.chooser, self.expectation.terms, placement.column);
        L::apart(Land {
            chooser,
            terms,
            playfield,
            shape,
            column,
            top_out: rules.top_out,
            landed: &mut landed,
        });
        landed.expect("a piece that has landed")
    }

    /// The placements of a piece to consider.
    #[inline(always)]
    fn candidates<const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<L::Word, N>,
        piece: Tetromino,
    ) -> Candidates {
        let mut scores = [f64::NEG_INFINITY; Candidates::ROOM];
        let mut found = Candidates::default();
        let what = What::Placements { piece, scores: &mut scores, found: &mut found };
        L::apart(LookAtPlacements { chooser: &self.chooser, rules, playfield, what });
        found.keep_largest(&scores, self.expectation.placements.into());
        found
    }

    /// The value of the last piece: its best score if it is shown, otherwise the mean.
    #[inline(always)]
    fn last<const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<L::Word, N>,
        ahead: &Ahead<'_>,
        precision: Precision,
    ) -> f64 {
        let odds = self.odds_of_the_last(ahead);
        let mut bests = [f64::NEG_INFINITY; 7];
        if L::IS_WIDENED
            && precision == Precision::Estimated
            && let Some(prospects) = &self.prospects
        {
            let mut pieces = 0;
            for piece in Tetromino::ALL {
                let can_come = odds.of(piece) > 0 && !is_blocked(rules, playfield, piece);
                pieces |= u32::from(can_come) << u32::from(piece.number());
            }
            prospects.bests(&self.chooser, playfield, pieces, &mut bests);
        } else {
            let what = What::Bests { odds, precision, bests: &mut bests };
            L::apart(LookAtPlacements { chooser: &self.chooser, rules, playfield, what });
        }
        odds.cautious_mean(&bests.map(|best| self.or_lost(best)), self.expectation.caution)
    }

    /// The odds of each tetromino to be the last piece.
    #[inline(always)]
    fn odds_of_the_last(&self, ahead: &Ahead<'_>) -> Odds {
        ahead.shown.first().map_or(ahead.odds, |piece| Odds::certain(*piece))
    }

    /// The best score, or the value of a lost piece if there is no placement.
    #[inline(always)]
    fn or_lost(&self, best: f64) -> f64 {
        if best == f64::NEG_INFINITY { self.lost } else { best }
    }
}

/// Work that lands a piece and adds up the terms that count.
struct Land<'a, L: Lanes, const N: usize> {
    chooser: &'a Chooser<'a, L>,
    terms: Terms,
    playfield: &'a PlayfieldOf<L::Word, N>,
    shape: &'a Shape,
    column: u8,
    top_out: TopOut,
    landed: &'a mut Option<(f64, Landing<L::Word, N>)>,
}

impl<L: Lanes, const N: usize> Apart for Land<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Land { chooser: Chooser { scorer, size, .. }, terms, playfield, shape, column, top_out, landed } =
            self;
        let landing = playfield.land_here(shape, column, top_out);
        let terms = match terms {
            Terms::Landing => scorer.landing_score(shape, &landing),
            Terms::All => scorer.score(size, shape, &landing),
            Terms::None => 0.0,
        };
        *landed = Some((terms, landing));
    }
}

/// Work that scores all placements on a playfield, of one piece or of several.
struct LookAtPlacements<'a, L: Lanes, const N: usize> {
    chooser: &'a Chooser<'a, L>,
    rules: &'a Rules,
    playfield: &'a PlayfieldOf<L::Word, N>,
    what: What<'a>,
}

/// The results that [`LookAtPlacements`] returns. Without game-ending placements, if the controller avoids them.
enum What<'a> {
    /// The placements of a piece, and their scores by index.
    Placements { piece: Tetromino, scores: &'a mut [f64; Candidates::ROOM], found: &'a mut Candidates },
    /// The best score of each possible piece; minus infinity for the others.
    Bests { odds: Odds, precision: Precision, bests: &'a mut [f64; 7] },
}

impl<L: Lanes, const N: usize> Apart for LookAtPlacements<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let LookAtPlacements { chooser, rules, playfield, mut what } = self;
        let Chooser { scorer, size, .. } = chooser;
        let base = SweepBase::<L>::new(size, playfield.words(), scorer.set.needs);
        let surface = size.surface(playfield.words(), scorer.set.needs);
        let odds = match what {
            What::Placements { piece, .. } => Odds::certain(piece),
            What::Bests { odds, .. } => odds,
        };
        let mut bests = [f64::NEG_INFINITY; 7];
        // Placements that clear lines are measured together if only a landing that sticks out ends the game.
        let clear_together = rules.top_out == TopOut::Overflow;
        let mut clearing = Clearing::<L, N>::none();
        for piece in Tetromino::ALL {
            if odds.of(piece) == 0 || is_blocked(rules, playfield, piece) {
                continue;
            }
            let out_of_question = L::Floats::splat(f32::NEG_INFINITY);
            let mut highest = out_of_question;
            let mut best = f64::NEG_INFINITY;
            // Placements that are measured one by one.
            let mut apart = Candidates::default();
            let shapes = rules.shapes(piece);
            for (orientation, shape) in shapes.iter().enumerate().take(4) {
                let swept = sweep(&base, shape, scorer.set.needs);
                let (plain, whole) = scorer.split(&swept, &base, rules.top_out);
                let mut together = 0;
                if clear_together {
                    together = swept.clearing & !swept.ending(&base, rules.top_out);
                }
                apart.add(orientation, whole & !together);
                if together != 0 {
                    let mut rows = [L::Word::EMPTY; 32];
                    swept.rows.store(&mut rows);
                    for placement in Candidates::of_lanes(orientation, together) {
                        if clearing.is_full() {
                            settle(chooser, playfield, &mut clearing, &mut bests, &mut what);
                        }
                        clearing.add(piece, placement, shape, rows[usize::from(placement.column)]);
                    }
                }
                if let What::Bests { precision: Precision::Estimated, .. } = what {
                    let estimates = chooser.estimates(&base, &surface, shape, &swept);
                    highest = highest.max(out_of_question.select(plain, estimates));
                    continue;
                }
                let all = chooser.scores(&base, &surface, shape, &swept);
                for placement in Candidates::of_lanes(orientation, plain) {
                    let score = all.lane(placement.column.into());
                    best = best.max(score);
                    what.note(placement, score);
                }
            }
            for placement in apart {
                let shape = &shapes[usize::from(placement.orientation)];
                let landing = playfield.land(shape, placement.column, rules.top_out);
                if landing.terminal && scorer.terminal_value == TerminalValue::Avoid {
                    continue;
                }
                let score = scorer.score(size, shape, &landing);
                best = best.max(score);
                what.note(placement, score);
            }
            best = best.max(f64::from(highest.largest()) / scorer.scale);
            bests[piece.index()] = bests[piece.index()].max(best);
        }
        settle(chooser, playfield, &mut clearing, &mut bests, &mut what);
        if let What::Bests { bests: found, .. } = what {
            *found = bests;
        }
    }
}

/// Stores the scores of placements that clear lines.
#[inline(always)]
fn settle<L: Lanes, const N: usize>(
    chooser: &Chooser<'_, L>,
    playfield: &PlayfieldOf<L::Word, N>,
    clearing: &mut Clearing<L, N>,
    bests: &mut [f64; 7],
    what: &mut What<'_>,
) {
    for (piece, placement, score) in clearing.take_scored(chooser.scorer, &chooser.size, playfield) {
        bests[piece.index()] = bests[piece.index()].max(score);
        what.note(placement, score);
    }
}

impl What<'_> {
    /// Stores the score of a placement, if it is wanted.
    #[inline(always)]
    fn note(&mut self, placement: Placement, score: f64) {
        if let What::Placements { scores, found, .. } = self {
            scores[index(placement)] = score;
            found.insert(placement);
        }
    }
}
