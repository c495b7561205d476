//! The choice of a linear controller: it scores every placement and takes the first with the largest score.
//!
//! A score starts at 0 and adds weight times feature in the order of the set. Each product and each sum is rounded to a
//! double (no fused multiply-add). Only a strictly larger score wins, so among equals the first in ascending action
//! order is chosen. A client that adds up features in this way makes exactly the same choices.
//!
//! Scores are first estimated in floats, because a vector holds twice as many of them. Placements whose estimates are
//! within twice the error of the largest are scored again in doubles. Nearly always only one placement is left, which
//! needs no score.
//!
//! Three things did not pay. Keeping the sweeps for the scores in doubles costs more than the few repeated sweeps.
//! Writing a piece's cells into all words at once was no faster than column by column, although the next step reads
//! them all at once. A single function for all jobs on lanes that fit into registers was a quarter of a megabyte
//! smaller, at 0.92 to 0.96 of the speed.

use std::sync::Arc;

use super::base::SweepBase;
use super::bounds::LaneBounds;
use super::candidates::{Candidates, index};
use super::feature::{KernelFeature, NUM_SWEPT};
use super::set::{KernelColumn, KernelSet, SweepExtras};
use super::surface::Surface;
use super::sweep::{Sweep, sweep};
use super::{Kernel, LaneWork, dispatch};
use crate::engine::lanes::{Apart, Doubles, Floats, Lanes, Words};
use crate::engine::{
    Column, Landing, Placement, Playfield, PlayfieldOf, Rules, Shape, Tetromino, TopOut, choice, is_blocked,
};
use crate::features::sets::FeatureSet;

choice! {
    /// The score of a game-ending placement.
    pub enum TerminalValue: "terminal_value" {
        /// Lower than any other placement; if every placement ends the game, the first one is chosen.
        Avoid = 1, "avoid";
        /// The score of its features, as for any other placement.
        Score = 2, "score";
    }
}

/// A weight vector over a feature set, prepared for playing.
#[derive(Clone, Debug)]
pub(crate) struct Scorer {
    pub(super) set: KernelSet,
    /// The terms of the score.
    pub(super) terms: Arc<[Term]>,
    /// The terms that can differ from 0 for a placement that clears nothing.
    sweep_terms: Vec<Term>,
    /// Features and scaled weights of `sweep_terms`, if every sweep measures all of them, as with most sets.
    plain_terms: Option<Vec<(KernelFeature, f32)>>,
    /// A power of two that scales the largest weight to a number between 1 and 2.
    pub(super) scale: f64,
    pub(super) terminal_value: TerminalValue,
}

/// A term of a score. The kernels count landing height in halves, so its weight is halved here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) column: KernelColumn,
    pub(super) weight: f64,
    /// The weight on the scale of the estimates.
    scaled: f32,
}

impl Term {
    /// The terms of a weight vector. `None` if a weight is outside the range in which sums are exact: above 1e300, or
    /// so small that half of it would be rounded.
    ///
    /// # Panics
    /// If the numbers of weights and columns differ.
    pub(super) fn all(set: &KernelSet, weights: &[f64], scale: f64) -> Option<Vec<Term>> {
        assert_eq!(set.columns.len(), weights.len(), "one weight per column");
        let is_exact = |weight: f64| weight == 0.0 || (1e-300..=1e300).contains(&weight.abs());
        let term = |(&column, &weight): (&KernelColumn, &f64)| {
            let halved = weight * f64::from(column.feature.unit());
            is_exact(weight).then_some(Term { column, weight: halved, scaled: (halved * scale) as f32 })
        };
        set.columns.iter().zip(weights).map(term).collect()
    }
}

/// The best placement of a choice, with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredPlacement {
    pub placement: Placement,
    /// The score; minus infinity if every placement ends the game.
    pub score: f64,
}

impl Scorer {
    /// Prepares a weight vector for a feature set.
    ///
    /// `None` if no sweep measures one of the features, or if a weight is outside the range in which sums are exact:
    /// above 1e300, or so small that half of it would be rounded.
    ///
    /// # Panics
    /// If the numbers of weights and features differ.
    pub(crate) fn new(set: &FeatureSet, weights: &[f64], terminal_value: TerminalValue) -> Option<Scorer> {
        let set = set.on_kernels().filter(|set| set.needs.are_swept())?.clone();
        let largest = weights.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
        let scale = if largest > 0.0 { 2f64.powi(-(largest.log2().floor() as i32)) } else { 1.0 };
        let terms = Term::all(&set, weights, scale)?;
        let is_swept = |term: &&Term| {
            !matches!(term.column.feature, KernelFeature::ErodedPieceCells | KernelFeature::LinesCleared)
        };
        let sweep_terms: Vec<Term> = terms.iter().filter(is_swept).copied().collect();
        let plain_term = |term: &Term| {
            let feature = term.column.feature;
            ((feature as usize) < NUM_SWEPT).then_some((feature, term.scaled))
        };
        let plain_terms = sweep_terms.iter().map(plain_term).collect();
        let terms = terms.into();
        Some(Scorer { set, terms, sweep_terms, plain_terms, scale, terminal_value })
    }

    /// The terms of the score.
    #[inline(always)]
    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The score of a game-ending placement.
    pub(crate) fn terminal_value(&self) -> TerminalValue {
        self.terminal_value
    }

    /// Chooses a placement of a tetromino, on a kernel.
    pub(crate) fn choose_on(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        piece: Tetromino,
    ) -> ScoredPlacement {
        let look = ChooseAfter { scorer: self, rules, playfield, first: None, piece };
        let (_, choice) = dispatch(kernel, rules.width, rules.height, look);
        choice.expect("a choice from where the game stands")
    }

    /// The score of a placement, and the choice for the next tetromino on its afterstate; `None` if the game ends
    /// before that.
    ///
    /// # Panics
    /// If the placement does not exist.
    pub(crate) fn choose_after(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        first: (Tetromino, Placement),
        next: Tetromino,
    ) -> (f64, Option<ScoredPlacement>) {
        let look = ChooseAfter { scorer: self, rules, playfield, first: Some(first), piece: next };
        dispatch(kernel, rules.width, rules.height, look)
    }

    /// Prepares the scorer for playfields of one size.
    #[inline(always)]
    pub(crate) fn on<L: Lanes>(&self, size: LaneBounds<L>) -> Chooser<'_, L> {
        // The largest error of an estimate. Every weight, product and sum is rounded by at most half a unit in the last
        // place of the sum of all absolute values.
        let largest = |term: &Term| f64::from(size.largest(term.column.feature)) * term.weight.abs();
        let total: f64 = self.terms.iter().map(largest).sum();
        let roundings = (self.terms.len() + 8) as f64;
        let margin = 2.0 * roundings * f64::from(f32::EPSILON) / 2.0 * total * self.scale;
        Chooser { scorer: self, size, margin: margin as f32 }
    }

    /// The score of a landing, even one that ends the game.
    #[inline(always)]
    pub(crate) fn score<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &LaneBounds<L>,
        shape: &Shape,
        landing: &Landing<C, N>,
    ) -> f64 {
        let counts = self.set.measure(size, landing);
        let mut score = 0.0;
        for term in self.terms.iter() {
            score += term.weight * f64::from(term.column.value(shape, landing, &counts));
        }
        score
    }

    /// The placements of one orientation that the sweep measures correctly, and those to measure from their landing. If
    /// this controller avoids the end of the game, both exclude placements that the sweep knows to end it.
    #[inline(always)]
    pub(super) fn split<L: Words>(
        &self,
        swept: &Sweep<L>,
        base: &SweepBase<L>,
        top_out: TopOut,
    ) -> (u32, u32) {
        let ending = swept.ending(base, top_out);
        let plain = swept.exist & !swept.clearing & !ending;
        let whole = match (self.terminal_value, top_out) {
            (TerminalValue::Score, _) | (_, TopOut::SpawnBlocked) => swept.clearing | ending,
            (TerminalValue::Avoid, TopOut::Overflow) => swept.clearing & !ending,
            (TerminalValue::Avoid, _) => swept.clearing,
        };
        (plain, whole)
    }

    /// Estimated scores of one orientation, scaled, given [`Scorer::plain_terms`].
    #[inline(always)]
    pub(super) fn plain_estimates<L: Words>(
        &self,
        terms: &[(KernelFeature, f32)],
        swept: &Sweep<L>,
    ) -> L::Floats {
        let mut sums = L::Floats::splat(0.0);
        for &(feature, scaled) in terms {
            if let Some(value) = swept.values.get(feature as usize) {
                sums = value.estimate(sums, scaled);
            }
        }
        sums
    }

    /// The terms of the estimates, if every sweep measures all of their features.
    #[inline(always)]
    pub(super) fn plain_terms(&self) -> Option<&[(KernelFeature, f32)]> {
        self.plain_terms.as_deref()
    }

    /// The part of a score that comes from features of the landing.
    #[inline(always)]
    pub(super) fn landing_score<C: Column, const N: usize>(
        &self,
        shape: &Shape,
        landing: &Landing<C, N>,
    ) -> f64 {
        let mut score = 0.0;
        for term in self.terms.iter() {
            if let Some(value) = term.column.of_landing(shape, landing) {
                score += term.weight * f64::from(value);
            }
        }
        score
    }
}

/// Work that makes a choice, optionally after a given placement. One job for both, because each job is compiled per
/// kernel.
struct ChooseAfter<'a> {
    scorer: &'a Scorer,
    rules: &'a Rules,
    playfield: &'a Playfield,
    first: Option<(Tetromino, Placement)>,
    piece: Tetromino,
}

impl LaneWork for ChooseAfter<'_> {
    /// The score of the given placement, 0 without one, and the choice.
    type Output = (f64, Option<ScoredPlacement>);

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> (f64, Option<ScoredPlacement>) {
        let ChooseAfter { scorer, rules, playfield, first, piece } = self;
        let size = LaneBounds::<L>::new(rules.width, rules.height);
        let mut playfield: PlayfieldOf<C, N> = playfield.resized();
        let mut score = 0.0;
        if let Some((first, placement)) = first {
            let shape = placement.shape(rules, first).expect("a placement of the piece");
            let landing = playfield.land(shape, placement.column, rules.top_out);
            if landing.terminal && scorer.terminal_value == TerminalValue::Avoid {
                return (f64::NEG_INFINITY, None);
            }
            score = scorer.score(&size, shape, &landing);
            if is_blocked(rules, &landing.afterstate, piece) {
                return (score, None);
            }
            playfield = landing.afterstate;
        }
        (score, Some(scorer.on(size).choose(&playfield, rules.shapes(piece), rules.top_out)))
    }
}

struct Contest<'a, L: Lanes, const N: usize> {
    chooser: &'a Chooser<'a, L>,
    playfield: &'a PlayfieldOf<L::Word, N>,
    shapes: &'a [Shape],
    top_out: TopOut,
    scored: bool,
}

impl<L: Lanes, const N: usize> Apart for Contest<'_, L, N> {
    type Output = ScoredPlacement;

    #[inline(always)]
    fn run(self) -> ScoredPlacement {
        self.chooser.contest(self.playfield, self.shapes, self.top_out, self.scored)
    }
}

/// A scorer on playfields of one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chooser<'a, L: Lanes> {
    pub(super) scorer: &'a Scorer,
    pub(super) size: LaneBounds<L>,
    /// Estimates that differ by more than this have the same order as the scores.
    margin: f32,
}

impl<L: Lanes> Chooser<'_, L> {
    /// The margin, in the units of scores.
    #[inline(always)]
    pub(super) fn score_margin(&self) -> f64 {
        f64::from(self.margin) / self.scorer.scale
    }

    /// Chooses among all placements of a tetromino, whose shapes the caller passes.
    #[inline(always)]
    pub(crate) fn choose<const N: usize>(
        &self,
        playfield: &PlayfieldOf<L::Word, N>,
        shapes: &[Shape],
        top_out: TopOut,
    ) -> ScoredPlacement {
        self.best(playfield, shapes, top_out, true)
    }

    /// Like [`Chooser::choose`], without the score.
    #[inline(always)]
    pub(crate) fn place<const N: usize>(
        &self,
        playfield: &PlayfieldOf<L::Word, N>,
        shapes: &[Shape],
        top_out: TopOut,
    ) -> Placement {
        self.best(playfield, shapes, top_out, false).placement
    }

    /// The best placement. Unless `scored` is set, the score is undefined.
    #[inline(always)]
    fn best<const N: usize>(
        &self,
        playfield: &PlayfieldOf<L::Word, N>,
        shapes: &[Shape],
        top_out: TopOut,
        scored: bool,
    ) -> ScoredPlacement {
        L::large(Contest { chooser: self, playfield, shapes, top_out, scored })
    }

    #[inline(always)]
    fn contest<const N: usize>(
        &self,
        playfield: &PlayfieldOf<L::Word, N>,
        shapes: &[Shape],
        top_out: TopOut,
        scored: bool,
    ) -> ScoredPlacement {
        let scorer = self.scorer;
        let base = SweepBase::<L>::new(&self.size, playfield.words(), scorer.set.needs);
        let surface = self.size.surface(playfield.words(), scorer.set.needs);
        let out_of_question = L::Floats::splat(f32::NEG_INFINITY);
        let mut highest = out_of_question;
        let mut estimates = [out_of_question; 4];
        // Placements to measure from their landings.
        let mut apart = Candidates::default();
        let mut best = ScoredPlacement { placement: Placement::straight(0, 0), score: f64::NEG_INFINITY };

        // Two rounds in one loop, so that all inlined code exists once: the first estimates every placement, the second
        // scores the candidates.
        let mut candidates = Candidates::ALL;
        let mut is_second = false;
        loop {
            for (orientation, shape) in shapes.iter().enumerate().take(4) {
                let lanes = candidates.lanes(orientation);
                if lanes == 0 {
                    continue;
                }
                let swept = sweep(&base, shape, scorer.set.needs);
                if is_second {
                    let scores = self.scores(&base, &surface, shape, &swept);
                    for placement in Candidates::of_lanes(orientation, lanes) {
                        let score = scores.lane(placement.column.into());
                        let is_first = index(placement) < index(best.placement);
                        if score > best.score || score == best.score && is_first {
                            best = ScoredPlacement { placement, score };
                        }
                    }
                    continue;
                }
                let (plain, whole) = scorer.split(&swept, &base, top_out);
                estimates[orientation] =
                    out_of_question.select(plain, self.estimates(&base, &surface, shape, &swept));
                highest = highest.max(estimates[orientation]);
                apart.add(orientation, whole);
            }
            if is_second {
                return best;
            }
            is_second = true;

            for placement in apart {
                let shape = &shapes[usize::from(placement.orientation)];
                let landing = playfield.land(shape, placement.column, top_out);
                if landing.terminal && scorer.terminal_value == TerminalValue::Avoid {
                    continue;
                }
                let score = scorer.score(&self.size, shape, &landing);
                if score > best.score {
                    best = ScoredPlacement { placement, score };
                }
            }

            let best_estimate = (best.score * scorer.scale) as f32;
            let limit = highest.largest().max(best_estimate) - self.margin;
            if limit == f32::NEG_INFINITY {
                return best;
            }
            candidates = Candidates::default();
            for (orientation, estimates) in estimates.into_iter().enumerate().take(shapes.len()) {
                candidates.add(orientation, estimates.at_least(limit));
            }
            if !scored
                && best_estimate < limit
                && let Some(placement) = candidates.only()
            {
                return ScoredPlacement { placement, ..best };
            }
        }
    }

    /// Estimated scores of one orientation, scaled. Lanes that clear lines or end the game are undefined.
    #[inline(always)]
    pub(super) fn estimates(
        &self,
        base: &SweepBase<L>,
        surface: &Option<Surface<L>>,
        shape: &Shape,
        swept: &Sweep<L>,
    ) -> L::Floats {
        let mut sums = L::Floats::splat(0.0);
        if let Some(terms) = self.scorer.plain_terms() {
            sums = self.scorer.plain_estimates(terms, swept);
        } else {
            let mut extras = SweepExtras::none();
            extras.measure(swept, base, surface, shape, self.scorer.set.needs);
            for term in &self.scorer.sweep_terms {
                sums = extras.lanes(swept, term.column).estimate(sums, term.scaled);
            }
        }
        sums
    }

    /// Scores of one orientation. Lanes that clear lines or end the game are undefined.
    #[inline(always)]
    pub(super) fn scores(
        &self,
        base: &SweepBase<L>,
        surface: &Option<Surface<L>>,
        shape: &Shape,
        swept: &Sweep<L>,
    ) -> L::Doubles {
        let mut extras = SweepExtras::none();
        extras.measure(swept, base, surface, shape, self.scorer.set.needs);
        let mut scores = L::Doubles::splat(0.0);
        for term in &self.scorer.sweep_terms {
            scores = extras.lanes(swept, term.column).accumulate(scores, term.weight);
        }
        scores
    }
}
