//! A linear controller's choice: the score of every placement, and the first of the best.
//!
//! The score is 0, then plus weight times feature in the order of the set, each product and each sum rounded to a
//! double on its own (no fused multiply-add). A strictly larger score wins, so the first of equals in ascending action
//! order is chosen. A client that adds up features in the same way makes the same choices to the last one.
//!
//! Most scores need less precision. All are estimated in floats first, of which a vector holds twice as many; only those
//! that come as near to the largest as the errors of two estimates are added up again in doubles. Nearly always that is one
//! placement, and then there is nothing to add up.
//!
//! What was tried and did not pay: keeping the sweeps for the sums in doubles, which costs more than sweeping again in the
//! few cases where there are any; writing the cells of a piece into all words at once instead of column by column, although
//! the next look at the playfield reads them all at once; one function that chooses for all jobs on lanes that fit into
//! registers: a quarter of a megabyte less, at 0.92 to 0.96 of the speed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::candidates::{Candidates, index};
use super::ground::{Basis, Ground, LaneBounds};
use super::lanes::{Apart, Doubles, Floats, Lanes, Words};
use super::slots::{Beyond, KernelFeature, Slot, Slots};
use super::surface::Surface;
use super::sweep::{Sweep, sweep};
use super::{Kernel, LaneWork, dispatch};
use crate::engine::{
    Column, Landing, Placement, Playfield, PlayfieldOf, Rules, Shape, Tetromino, TopOut, is_blocked,
};
use crate::features::sets::FeatureSet;

/// Value of a placement that ends the game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalPolicy {
    /// Minus infinity; if every placement ends the game, the first one is chosen.
    #[default]
    Avoid,
    /// What its afterstate scores, like any other.
    Score,
}

/// A weight vector over a feature set, prepared for playing.
#[derive(Clone, Debug)]
pub struct Scorer {
    pub(super) slots: Slots,
    /// One a slot.
    weights: Vec<f64>,
    /// The sum.
    pub(super) terms: Arc<[Term]>,
    /// What of it the sweep adds up.
    sweep_terms: Vec<Term>,
    /// The same for the estimates, if every sweep measures all of it: what most sets are, in the fewest bytes.
    basis_terms: Option<Vec<(Basis, f32)>>,
    /// A power of two that makes the largest weight a number between 1 and 2.
    pub(super) scale: f64,
    pub(super) terminal: TerminalPolicy,
}

/// A feature in the sum; landing height is kept in halves, so its weight is halved here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) kind: KernelFeature,
    /// Whether it is taken before clearing.
    pub(super) preclear: bool,
    pub(super) weight: f64,
    /// The same weight on the scale of the estimates.
    scaled: f32,
}

impl Term {
    /// Those of a weight vector; `None` for a weight with which a sum could not be exact: one over 1e300, or so small that half of
    /// it would be rounded.
    ///
    /// # Panics
    /// When there is not one weight a feature.
    pub(super) fn all(slots: &Slots, weights: &[f64], scale: f64) -> Option<Vec<Term>> {
        assert_eq!(slots.slots.len(), weights.len(), "one weight a feature");
        let is_exact = |weight: f64| weight == 0.0 || (1e-300..=1e300).contains(&weight.abs());
        let term = |(&Slot { kind, preclear }, &weight): (&Slot, &f64)| {
            let halves = kind == KernelFeature::Basis(Basis::LandingHeight);
            let halved = if halves { weight / 2.0 } else { weight };
            let term = Term { kind, preclear, weight: halved, scaled: (halved * scale) as f32 };
            is_exact(weight).then_some(term)
        };
        slots.slots.iter().zip(weights).map(term).collect()
    }
}

/// A placement that was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredPlacement {
    /// Which.
    pub placement: Placement,
    /// Its score; minus infinity when every placement ends the game.
    pub score: f64,
}

impl Scorer {
    /// Prepares a weight vector for a feature set.
    ///
    /// `None` when the set has a feature that the kernel does not know, or a weight with which it could not be exact: one
    /// over 1e300, or so small that half of it would be rounded.
    ///
    /// # Panics
    /// When there is not one weight a feature.
    pub fn new(set: &FeatureSet, weights: &[f64], terminal: TerminalPolicy) -> Option<Scorer> {
        let slots = set.slots().filter(|slots| slots.are_swept)?.clone();
        let largest = weights.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
        let scale = if largest > 0.0 { 2f64.powi(-(largest.log2().floor() as i32)) } else { 1.0 };
        let terms = Term::all(&slots, weights, scale)?;
        // The others are zero wherever nothing is cleared, and adding zero changes no sum.
        let is_swept = |term: &&Term| {
            !matches!(term.kind, KernelFeature::Basis(Basis::ErodedPieceCells | Basis::LinesCleared))
        };
        let sweep_terms: Vec<Term> = terms.iter().filter(is_swept).copied().collect();
        let basis_term = |term: &Term| match term.kind {
            KernelFeature::Basis(basis) => Some((basis, term.scaled)),
            _ => None,
        };
        let basis_terms = sweep_terms.iter().map(basis_term).collect();
        let terms = terms.into();
        Some(Scorer { slots, weights: weights.into(), terms, sweep_terms, basis_terms, scale, terminal })
    }

    /// The sum that a score is.
    #[inline(always)]
    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// What a placement that ends the game is worth.
    pub fn terminal(&self) -> TerminalPolicy {
        self.terminal
    }

    /// Chooses a placement of a tetromino on a kernel.
    pub fn choose_on(
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

    /// The score of a placement of one tetromino, and the choice for the next one from where that leads: `None` where the
    /// game ends before.
    ///
    /// # Panics
    /// When there is no such placement.
    pub fn choose_after(
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

    /// Prepares for playfields of one size.
    #[inline(always)]
    pub fn on<L: Lanes>(&self, size: LaneBounds<L>) -> Chooser<'_, L> {
        // An estimate is off by at most this much: every weight, product and sum is rounded by at most half a unit in the
        // last place of the sum of all absolute values.
        let bounds = self.slots.slots.iter().map(|slot| slot.largest(&size));
        let total: f64 = bounds.zip(&self.weights).map(|(bound, weight)| bound * weight.abs()).sum();
        let roundings = (self.weights.len() + 8) as f64;
        let margin = 2.0 * roundings * f64::from(f32::EPSILON) / 2.0 * total * self.scale;
        Chooser { scorer: self, size, margin: margin as f32 }
    }

    /// The score of a landing, whether or not it ends the game.
    #[inline(always)]
    pub fn score<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &LaneBounds<L>,
        shape: &Shape,
        landing: &Landing<C, N>,
    ) -> f64 {
        let measures = self.slots.measure(size, landing);
        let mut score = 0.0;
        for (slot, weight) in self.slots.slots.iter().zip(&self.weights) {
            score += weight * slot.value(shape, landing, &measures);
        }
        score
    }

    /// The placements of one orientation that the sweep measures right, and those that must be measured whole. Those that
    /// end the game are in neither if this controller avoids them, unless they must be measured to tell.
    #[inline(always)]
    pub(super) fn split<L: Words>(
        &self,
        swept: &Sweep<L>,
        ground: &Ground<L>,
        top_out: TopOut,
    ) -> (u32, u32) {
        let ending = swept.ending(ground, top_out);
        let plain = swept.exist & !swept.clearing & !ending;
        let whole = match (self.terminal, top_out) {
            (TerminalPolicy::Score, _) | (_, TopOut::SpawnBlocked) => swept.clearing | ending,
            (TerminalPolicy::Avoid, TopOut::Overflow) => swept.clearing & !ending,
            (TerminalPolicy::Avoid, _) => swept.clearing,
        };
        (plain, whole)
    }

    /// About what the placements of one orientation score, by the scale, if the sweep measures all of it.
    #[inline(always)]
    pub(super) fn basis_estimates<L: Words>(&self, terms: &[(Basis, f32)], swept: &Sweep<L>) -> L::Floats {
        let mut sums = L::Floats::splat(0.0);
        for &(basis, scaled) in terms {
            sums = swept.values[basis as usize].estimate(sums, scaled);
        }
        sums
    }

    /// The terms of the estimates, if every sweep measures all of it.
    #[inline(always)]
    pub(super) fn basis_terms(&self) -> Option<&[(Basis, f32)]> {
        self.basis_terms.as_deref()
    }

    /// The part of the score of a landing that its features of landings add up to.
    #[inline(always)]
    pub(super) fn landing_score<C: Column, const N: usize>(
        &self,
        shape: &Shape,
        landing: &Landing<C, N>,
    ) -> f64 {
        let mut score = 0.0;
        for (slot, weight) in self.slots.slots.iter().zip(&self.weights) {
            if let Some(value) = slot.of_landing(shape, landing) {
                score += weight * value;
            }
        }
        score
    }
}

/// A choice, maybe behind a given placement. One job for both, since each job is compiled for every kernel.
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
            if landing.terminal && scorer.terminal == TerminalPolicy::Avoid {
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
pub struct Chooser<'a, L: Lanes> {
    pub(super) scorer: &'a Scorer,
    pub(super) size: LaneBounds<L>,
    /// Scores whose estimates differ by more than this differ in the same direction.
    margin: f32,
}

impl<L: Lanes> Chooser<'_, L> {
    /// The same margin in the units of scores.
    #[inline(always)]
    pub(super) fn score_margin(&self) -> f64 {
        f64::from(self.margin) / self.scorer.scale
    }

    /// Chooses among all placements of a tetromino, given by its shapes.
    #[inline(always)]
    pub fn choose<const N: usize>(
        &self,
        playfield: &PlayfieldOf<L::Word, N>,
        shapes: &[Shape],
        top_out: TopOut,
    ) -> ScoredPlacement {
        self.best(playfield, shapes, top_out, true)
    }

    /// The same without the score.
    #[inline(always)]
    pub fn place<const N: usize>(
        &self,
        playfield: &PlayfieldOf<L::Word, N>,
        shapes: &[Shape],
        top_out: TopOut,
    ) -> Placement {
        self.best(playfield, shapes, top_out, false).placement
    }

    /// The best placement; without `scored`, its score may be that of another.
    #[inline(always)]
    fn best<const N: usize>(
        &self,
        playfield: &PlayfieldOf<L::Word, N>,
        shapes: &[Shape],
        top_out: TopOut,
        scored: bool,
    ) -> ScoredPlacement {
        if L::SHARED {
            self.contest_shared(playfield, shapes, top_out, scored)
        } else if L::IS_LARGE {
            L::apart(Contest { chooser: self, playfield, shapes, top_out, scored })
        } else {
            self.contest(playfield, shapes, top_out, scored)
        }
    }

    #[inline(never)]
    fn contest_shared<const N: usize>(
        &self,
        playfield: &PlayfieldOf<L::Word, N>,
        shapes: &[Shape],
        top_out: TopOut,
        scored: bool,
    ) -> ScoredPlacement {
        self.contest(playfield, shapes, top_out, scored)
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
        let ground = Ground::<L>::new(&self.size, playfield.words(), scorer.slots.needs);
        let surface = self.size.surface(playfield.words(), scorer.slots.needs.surface);
        let out_of_question = L::Floats::splat(f32::NEG_INFINITY);
        let mut highest = out_of_question;
        let mut estimates = [out_of_question; 4];
        // Placements that are measured whole.
        let mut apart = Candidates::default();
        let mut best = ScoredPlacement { placement: Placement::straight(0, 0), score: f64::NEG_INFINITY };

        // Two rounds in one loop, so that there is one copy of all that is inlined: the first estimates every placement, the
        // second scores the candidates.
        let mut candidates = Candidates::ALL;
        let mut is_second = false;
        loop {
            for (orientation, shape) in shapes.iter().enumerate().take(4) {
                let lanes = candidates.lanes(orientation);
                if lanes == 0 {
                    continue;
                }
                let swept = sweep(&ground, shape, scorer.slots.needs);
                if is_second {
                    let scores = self.scores(&ground, &surface, shape, &swept);
                    for placement in Candidates::of_lanes(orientation, lanes) {
                        let score = scores.lane(placement.column.into());
                        let is_first = index(placement) < index(best.placement);
                        if score > best.score || score == best.score && is_first {
                            best = ScoredPlacement { placement, score };
                        }
                    }
                    continue;
                }
                let (plain, whole) = scorer.split(&swept, &ground, top_out);
                estimates[orientation] =
                    out_of_question.select(plain, self.estimates(&ground, &surface, shape, &swept));
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
                if landing.terminal && scorer.terminal == TerminalPolicy::Avoid {
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

    /// About what the placements of one orientation score, by the scale.
    #[inline(always)]
    pub(super) fn estimates(
        &self,
        ground: &Ground<L>,
        surface: &Option<Surface<L>>,
        shape: &Shape,
        swept: &Sweep<L>,
    ) -> L::Floats {
        let mut sums = L::Floats::splat(0.0);
        if let Some(terms) = self.scorer.basis_terms() {
            sums = self.scorer.basis_estimates(terms, swept);
        } else {
            let mut beyond = Beyond::none();
            self.scorer.slots.measure_beyond(swept, ground, surface, shape, &mut beyond);
            for term in &self.scorer.sweep_terms {
                sums = term.kind.lanes(swept, &beyond).estimate(sums, term.scaled);
            }
        }
        sums
    }

    /// What the placements of one orientation score that neither clear nor end; the rest is noise.
    #[inline(always)]
    pub(super) fn scores(
        &self,
        ground: &Ground<L>,
        surface: &Option<Surface<L>>,
        shape: &Shape,
        swept: &Sweep<L>,
    ) -> L::Doubles {
        let mut beyond = Beyond::none();
        self.scorer.slots.measure_beyond(swept, ground, surface, shape, &mut beyond);
        let mut scores = L::Doubles::splat(0.0);
        for term in &self.scorer.sweep_terms {
            scores = term.kind.lanes(swept, &beyond).accumulate(scores, term.weight);
        }
        scores
    }
}
