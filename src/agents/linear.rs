//! The linear controller: a weight a feature, and the placement with the largest sum.

use super::flat_stacking::FlatScorer;
use crate::engine::{
    Playfield, Rules, Tetromino, every_placement_always_exists, every_placement_exists, placements,
};
use crate::features::kernel::{Choice, Kernel, Scorer, TerminalPolicy};
use crate::features::{FeatureSet, Seen};

/// The largest size of a weight: sums of products with any feature stay finite below it.
pub const MAX_WEIGHT: f64 = 1e300;

/// A weight vector with the features it belongs to.
///
/// The score of a placement is 0, then plus weight times feature in the order of the set, in doubles without fused
/// multiply-add. The first placement with the largest score is chosen, in ascending action order.
#[derive(Clone, Debug)]
pub struct LinearAgent {
    set: FeatureSet,
    weights: Vec<f64>,
    terminal: TerminalPolicy,
    /// The same, prepared for the fast kernels; `None` for features or weights they do not take.
    scorer: Option<Scorer>,
    /// The same for the features of the set `flatstack`.
    flat: Option<FlatScorer>,
}

/// Why weights do not make a controller.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum WeightError {
    /// Not one weight a feature.
    #[error("{weights} weights were given, expected one for each of {features} features")]
    Length {
        /// Weights given.
        weights: usize,
        /// Features there are.
        features: usize,
    },
    /// A weight that is not finite, or too large.
    #[error("weight {index} is {value}, expected a finite number of at most {MAX_WEIGHT:e} in size")]
    Value {
        /// Which weight.
        index: usize,
        /// What it was.
        value: f64,
    },
}

impl LinearAgent {
    /// A controller from a feature set and one weight a feature.
    ///
    /// # Errors
    /// [`WeightError`] for a wrong number of weights or one that is not a finite number of at most [`MAX_WEIGHT`].
    pub fn new(set: FeatureSet, weights: Vec<f64>, terminal: TerminalPolicy) -> Result<Self, WeightError> {
        if weights.len() != set.len() {
            return Err(WeightError::Length { weights: weights.len(), features: set.len() });
        }
        if let Some(index) = weights.iter().position(|weight| weight.is_nan() || weight.abs() > MAX_WEIGHT) {
            return Err(WeightError::Value { index, value: weights[index] });
        }
        let scorer = Scorer::new(&set, &weights, terminal);
        let flat = FlatScorer::new(&set, &weights, terminal);
        Ok(LinearAgent { set, weights, terminal, scorer, flat })
    }

    /// The features, one a weight.
    pub fn set(&self) -> &FeatureSet {
        &self.set
    }

    /// The weights, in the order of the features.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// What a placement that ends the game is worth.
    pub fn terminal(&self) -> TerminalPolicy {
        self.terminal
    }

    /// The controller prepared for the fast kernels, if they know its features.
    pub fn scorer(&self) -> Option<&Scorer> {
        self.scorer.as_ref()
    }

    /// The controller prepared for the fast kernels, if they know its features and see every placement: they do not know
    /// that a playfield can make some impossible.
    pub fn scorer_under(&self, rules: &Rules) -> Option<&Scorer> {
        self.scorer.as_ref().filter(|_| every_placement_always_exists(rules))
    }

    /// Whether there is a faster way than by the features' own functions.
    pub fn is_fast(&self) -> bool {
        self.scorer.is_some() || self.flat.is_some()
    }

    /// Chooses a placement on the fastest path there is: the kernel if it can, else [`Self::choose_plainly`].
    ///
    /// Where a playfield can make placements impossible, the kernel can as long as it makes none impossible.
    pub fn choose(&self, kernel: Kernel, rules: &Rules, playfield: &Playfield, piece: Tetromino) -> Choice {
        match (&self.scorer, &self.flat) {
            _ if !every_placement_exists(rules, playfield) => self.choose_plainly(rules, playfield, piece),
            (Some(scorer), _) => scorer.choose_on(kernel, rules, playfield, piece),
            (None, Some(flat)) => flat.choose_on(kernel, rules, playfield, piece),
            (None, None) => self.choose_plainly(rules, playfield, piece),
        }
    }

    /// The score of a landing, whether or not it ends the game.
    pub fn score(&self, seen: &Seen<'_>) -> f64 {
        let mut features = vec![0.0; self.set.len()];
        self.set.evaluate(seen, &mut features);
        self.sum(&features)
    }

    /// The part of the score of a landing that its features of landings add up to, such as the landing height.
    pub fn landing_score(&self, seen: &Seen<'_>) -> f64 {
        let terms = self.set.columns().iter().zip(&self.weights);
        terms
            .filter(|(column, _)| column.feature.is_of_landing())
            .fold(0.0, |sum, (column, weight)| sum + weight * column.of_landing(seen))
    }

    /// The largest weight by size.
    pub fn largest_weight(&self) -> f64 {
        self.weights.iter().fold(0.0, |largest, weight| largest.max(weight.abs()))
    }

    fn sum(&self, features: &[f64]) -> f64 {
        self.weights.iter().zip(features).fold(0.0, |sum, (weight, value)| sum + weight * value)
    }

    /// Chooses a placement one landing at a time, by the features' own functions.
    ///
    /// # Panics
    /// When the playfield has another size than the rules, the rules another width than the set, or the piece no placement.
    pub fn choose_plainly(&self, rules: &Rules, playfield: &Playfield, piece: Tetromino) -> Choice {
        let first = placements(rules, playfield, piece).nth(0).expect("a piece that can be played");
        let first = Choice { placement: first, score: f64::NEG_INFINITY };
        let larger = |best: Choice, other: Choice| if other.score > best.score { other } else { best };
        self.scores(rules, playfield, piece).fold(first, larger)
    }

    /// The score of every placement of a piece, in ascending action order; without those that end the game, if it avoids
    /// them.
    pub fn scores(
        &self,
        rules: &Rules,
        playfield: &Playfield,
        piece: Tetromino,
    ) -> impl Iterator<Item = Choice> {
        let mut features = vec![0.0; self.set.len()];
        placements(rules, playfield, piece).iter().filter_map(move |placement| {
            let shape = &rules.shapes(piece)[usize::from(placement.orientation)];
            let landing = playfield.land(shape, placement.column, rules.top_out);
            if landing.terminal && self.terminal == TerminalPolicy::Avoid {
                return None;
            }
            self.set.evaluate(&Seen { shape, landing: &landing }, &mut features);
            Some(Choice { placement, score: self.sum(&features) })
        })
    }
}
