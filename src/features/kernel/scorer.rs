//! A linear controller's choice: the score of every placement, and the first of the best.
//!
//! The score is 0, then plus weight times feature in the order of the set, each product and each sum rounded to a
//! double on its own (no fused multiply-add). A strictly larger score wins, so the first of equals in ascending action
//! order is chosen. A client that adds up features in the same way makes the same choices to the last one.

use super::lanes::{Doubles, Lanes};
use super::slots::{Kind, Slots};
use super::sweep::{Basis, Ground, Size, Sweep, sweep};
use super::{Job, Kernel, dispatch};
use crate::engine::{Column, Landing, Placement, Playfield, PlayfieldOf, Rules, Shape, Tetromino, TopOut};
use crate::features::FeatureSet;

/// What a placement that ends the game is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
    slots: Slots,
    /// One a slot.
    weights: Vec<f64>,
    /// What the sweep adds up; landing height is kept in halves, so its weight is halved here.
    sweep_terms: Vec<(Kind, f64)>,
    terminal: TerminalPolicy,
}

/// A placement that was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
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
        assert_eq!(set.len(), weights.len(), "one weight a feature");
        let slots = Slots::of(set.columns())?;
        if !weights.iter().all(|w| *w == 0.0 || (1e-300..=1e300).contains(&w.abs())) {
            return None;
        }
        let kinds = slots.slots.iter().map(|slot| slot.kind);
        let sweep_terms = kinds
            .zip(weights)
            // Zero wherever nothing is cleared, and adding zero changes no sum.
            .filter(|(kind, _)| !matches!(kind, Kind::Basis(Basis::ErodedPieceCells | Basis::LinesCleared)))
            .map(|(kind, &weight)| {
                let halves = kind == Kind::Basis(Basis::LandingHeight);
                (kind, if halves { weight / 2.0 } else { weight })
            })
            .collect();
        Some(Scorer { slots, weights: weights.into(), sweep_terms, terminal })
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
    ) -> Choice {
        struct Choose<'a>(&'a Scorer, &'a Rules, &'a Playfield, Tetromino);
        impl Job for Choose<'_> {
            type Output = Choice;
            #[inline(always)]
            fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> Choice {
                let Choose(scorer, rules, playfield, piece) = self;
                let size = Size::<L>::new(rules.width, rules.height);
                let playfield: PlayfieldOf<C, N> = playfield.resized();
                scorer.choose(&size, &playfield, rules.shapes(piece), rules.top_out)
            }
        }
        dispatch(kernel, rules.width, rules.height, Choose(self, rules, playfield, piece))
    }

    /// Chooses among all placements of a tetromino, given by its shapes.
    #[inline(always)]
    pub fn choose<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &Size<L>,
        playfield: &PlayfieldOf<C, N>,
        shapes: &[Shape],
        top_out: TopOut,
    ) -> Choice {
        let ground = Ground::<L>::new(size, playfield.words(), self.slots.needs);
        let mut best = L::Doubles::splat(f64::NEG_INFINITY);
        let mut best_orientation = L::Doubles::splat(0.0);
        // The best of the placements that are measured whole, kept apart; actions decide between equals at the end.
        let mut best_single = f64::NEG_INFINITY;
        let mut single = Placement { orientation: u8::MAX, column: 0 };

        for (shape, orientation) in shapes.iter().zip(0u8..) {
            let swept = sweep(&ground, shape, self.slots.needs);
            let ending = swept.ending(&ground, shape, top_out);
            let mut scores = L::Doubles::splat(0.0);
            if self.slots.uses_columns {
                scores = self.score_with_columns(scores, &ground, shape, &swept);
            } else {
                for &(kind, weight) in &self.sweep_terms {
                    if let Kind::Basis(basis) = kind {
                        scores = swept.values[basis as usize].accumulate(scores, weight);
                    }
                }
            }
            let plain = swept.exist & !swept.clearing & !ending;
            let better = scores.greater(best) & plain;
            best = best.select(better, scores);
            best_orientation = best_orientation.select(better, L::Doubles::splat(orientation.into()));

            let mut apart = match self.terminal {
                TerminalPolicy::Avoid => swept.clearing,
                TerminalPolicy::Score => swept.clearing | ending,
            };
            if top_out == TopOut::Overflow && self.terminal == TerminalPolicy::Avoid {
                apart &= !ending;
            }
            while apart != 0 {
                let column = apart.trailing_zeros() as u8;
                apart &= apart - 1;
                let landing = playfield.land(shape, column, top_out);
                if landing.terminal && self.terminal == TerminalPolicy::Avoid {
                    continue;
                }
                let score = self.score(size, shape, &landing);
                if score > best_single {
                    best_single = score;
                    single = Placement { orientation, column };
                }
            }
        }

        // The first of the best lanes: the smallest orientation, then the smallest column.
        let mut choice = Choice { placement: single, score: best_single };
        let largest = best.largest();
        if largest >= best_single && largest > f64::NEG_INFINITY {
            let mut equal = best.equal(largest);
            let mut first = if largest > best_single { u32::MAX } else { order(single) };
            while equal != 0 {
                let lane = equal.trailing_zeros();
                equal &= equal - 1;
                first = first.min((best_orientation.lane(lane as usize) as u32) << 8 | lane);
            }
            choice = Choice {
                placement: Placement { orientation: (first >> 8) as u8, column: first as u8 },
                score: largest,
            };
        }
        if choice.score == f64::NEG_INFINITY {
            choice.placement = Placement { orientation: 0, column: 0 };
        }
        choice
    }

    /// The score of a landing, whether or not it ends the game.
    #[inline(always)]
    pub fn score<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &Size<L>,
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

    /// The sum for sets that name single columns.
    #[inline(always)]
    fn score_with_columns<L: Lanes>(
        &self,
        mut scores: L::Doubles,
        ground: &Ground<L>,
        shape: &Shape,
        swept: &Sweep<L>,
    ) -> L::Doubles {
        let heights = swept.column_heights(ground, shape);
        for &(kind, weight) in &self.sweep_terms {
            let value = kind.lanes(swept, &heights);
            scores = value.accumulate(scores, weight);
        }
        scores
    }
}

/// The order of placements: by orientation, then by column.
fn order(placement: Placement) -> u32 {
    u32::from(placement.orientation) << 8 | u32::from(placement.column)
}
