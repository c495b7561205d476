//! The linear controller: one weight per feature; it chooses the placement with the largest weighted sum.
//!
//! A [`Model`] may add to the sum. The controller then is a general value function, and agents that use it for
//! lookahead or expectations need not know.

use std::cell::Cell;
use std::sync::Arc;

use super::Sight;
use super::flat_stacking::FlatScorer;
use super::model::{Model, ModelShape};
use super::scored_clear::ScoredClear;
use crate::engine::{
    Column, Drops, Hand, Piece, Placement, Playfield, PlayfieldOf, Rules, Shape, comes_to_rest, drops,
    every_choice_always_exists, every_placement_exists, is_locked_out, land, lock, placements,
};
use crate::features::kernel::{
    Extractor, Kernel, LaneBounds, LaneWork, Lanes, Measurements, PlacementRows, RestingPiece,
    ScoredPlacement, Scorer, TerminalValue, Together, dispatch,
};
use crate::features::{FeatureSet, Seen};

/// Largest absolute value of a weight, so that sums of products with any feature stay finite.
pub const MAX_WEIGHT: f64 = 1e300;

/// A weight vector and its features.
///
/// The score of a placement starts at 0 and adds weight times feature in the order of the set, in doubles without fused
/// multiply-add, then the output of the model, if any. The controller chooses the first placement with the largest
/// score, in ascending action order.
#[derive(Clone, Debug)]
pub struct LinearAgent {
    set: FeatureSet,
    weights: Vec<f64>,
    terminal_value: TerminalValue,
    /// Weights prepared for the fast kernels; `None` if these do not support the features or weights.
    scorer: Option<Scorer>,
    /// Weights prepared for the features of the set `flatstack`; `None` for other features.
    flat: Option<FlatScorer>,
    /// Weights prepared for placements other than straight drops; `None` if the kernels do not support the features.
    together: Option<Together>,
    /// Model whose output is added to the sum; excludes `scorer` and `flat`.
    model: Option<Added>,
}

/// A model that adds to the weighted sum.
#[derive(Clone, Debug)]
struct Added {
    model: Model,
    /// Extracts the features with the kernels; `None` if these do not support all of them.
    extractor: Option<Extractor>,
}

/// The reason why weights do not form a controller.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum WeightError {
    /// The number of weights differs from the number of features plus parameters of the model.
    #[error("{weights} weights were given, expected {}", expected_weights(*.features, *.parameters))]
    Length {
        weights: usize,
        features: usize,
        /// Number of parameters of the model; 0 without one.
        parameters: usize,
    },
    /// A weight is not finite, or too large.
    #[error("weight {index} is {value}, expected a finite number of at most {MAX_WEIGHT:e} in size")]
    Value { index: usize, value: f64 },
    /// A parameter of the model is not a finite float32.
    #[error(
        "weight {index}, a parameter of the model, is {value:e}, expected a finite number of at most {:e} in size",
        f32::MAX
    )]
    Parameter {
        /// Index of the parameter, counted from the first weight of a feature.
        index: usize,
        value: f64,
    },
}

/// The expected number of weights, as text.
pub fn expected_weights(features: usize, parameters: usize) -> String {
    if parameters == 0 {
        return format!("one for each of {features} features");
    }
    format!("{features} features + {parameters} parameters = {}", features + parameters)
}

impl LinearAgent {
    /// Creates a controller from a feature set and one weight per feature.
    ///
    /// # Errors
    /// [`WeightError`] for a wrong number of weights, or a weight that is not finite or exceeds [`MAX_WEIGHT`].
    pub fn new(
        set: FeatureSet,
        weights: Vec<f64>,
        terminal_value: TerminalValue,
    ) -> Result<Self, WeightError> {
        LinearAgent::with_model(set, None, weights, terminal_value)
    }

    /// Creates a controller from a feature set, one weight per feature, and optionally a model. The model's parameters
    /// follow the weights and are rounded to float32.
    ///
    /// # Errors
    /// The errors of [`LinearAgent::new`], and an error for a parameter that is not a finite float32.
    pub fn with_model(
        set: FeatureSet,
        shape: Option<Arc<ModelShape>>,
        mut weights: Vec<f64>,
        terminal_value: TerminalValue,
    ) -> Result<Self, WeightError> {
        let num_parameters = shape.as_ref().map_or(0, |shape| shape.num_parameters(set.len()));
        check_weights(&weights, set.len(), num_parameters)?;
        let Some(shape) = shape else {
            let scorer = Scorer::new(&set, &weights, terminal_value);
            let flat = FlatScorer::new(&set, &weights, terminal_value);
            let together = match &scorer {
                Some(scorer) => Some(Together::like(scorer)),
                None => Together::new(Some(&set), Some(&weights)),
            };
            return Ok(LinearAgent { set, weights, terminal_value, scorer, flat, together, model: None });
        };
        let parameters = weights.drain(set.len()..).map(|parameter| parameter as f32).collect();
        // An evaluation keeps its agents, so they should not hold memory for a second copy of the parameters.
        weights.shrink_to_fit();
        let model = Model::new(shape, set.len(), parameters);
        let added = Added { model, extractor: Extractor::new(Some(&set)) };
        let together = Together::new(Some(&set), Some(&weights));
        Ok(LinearAgent {
            set,
            weights,
            terminal_value,
            scorer: None,
            flat: None,
            together,
            model: Some(added),
        })
    }

    /// The features, one per weight.
    pub fn set(&self) -> &FeatureSet {
        &self.set
    }

    /// The weights, in the order of the features.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Value of a game-ending placement.
    pub(super) fn terminal_value(&self) -> TerminalValue {
        self.terminal_value
    }

    /// The controller prepared for the fast kernels, if these support its features and the rules. The kernels support
    /// neither blocked placements, nor hold, nor pieces other than tetrominoes.
    pub(crate) fn scorer_under(&self, rules: &Rules) -> Option<&Scorer> {
        self.scorer.as_ref().filter(|_| rules.pieces.is_tetrominoes() && every_choice_always_exists(rules))
    }

    /// Whether a faster path than the features' own functions exists.
    pub fn is_fast(&self) -> bool {
        self.scorer.is_some() || self.flat.is_some() || self.extractor().is_some()
    }

    /// The model that adds to the weighted sum, if any.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_ref().map(|added| &added.model)
    }

    fn extractor(&self) -> Option<&Extractor> {
        self.model.as_ref()?.extractor.as_ref()
    }

    /// Chooses a placement on the fastest path: by sweeps if possible, otherwise like [`Self::choose_of_hand`].
    ///
    /// Under rules where the playfield can block placements, sweeps are used as long as it blocks none. They support
    /// only the shapes of the tetrominoes.
    pub fn choose(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        piece: Piece,
    ) -> ScoredPlacement {
        match (&self.scorer, &self.flat, &self.model) {
            _ if !rules.pieces.is_tetrominoes() || !every_placement_exists(rules, playfield) => {
                self.choose_together(kernel, rules, playfield, Hand::only(piece))
            }
            (Some(scorer), ..) => scorer.choose_on(kernel, rules, playfield, piece),
            (_, Some(flat), _) => flat.choose_on(kernel, rules, playfield, piece),
            (.., Some(Added { model, extractor: Some(extractor) })) => {
                let job = ModelJob { agent: self, model, extractor, rules, playfield, piece };
                dispatch(kernel, rules.width, rules.height, job)
            }
            _ => self.choose_together(kernel, rules, playfield, Hand::only(piece)),
        }
    }

    /// Chooses among all placements of the hand, including those that hold the current piece. Of equals, the first
    /// wins.
    pub fn choose_of_hand(&self, kernel: Kernel, sight: &Sight<'_>) -> ScoredPlacement {
        let Sight { rules, playfield, piece, .. } = *sight;
        if !self.is_fast() || !every_placement_exists(rules, playfield) {
            return self.choose_together(kernel, rules, playfield, sight.hand());
        }
        let current = self.choose(kernel, rules, playfield, piece);
        let Some(Sight { piece: other, .. }) = sight.holding() else { return current };
        let other = self.choose(kernel, rules, playfield, other);
        if other.score > current.score {
            ScoredPlacement { placement: other.placement.holding(true), ..other }
        } else {
            current
        }
    }

    /// The first placement with the largest score, from scores measured together.
    fn choose_together(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        hand: Hand,
    ) -> ScoredPlacement {
        let together = self.together.as_ref().filter(|_| Together::holds(rules, playfield));
        let best = if let Some(together) = together {
            let (all, Measurements { scores, .. }) =
                self.measured_together(together, kernel, rules, playfield, hand);
            let best = first_largest(scores.iter().copied());
            best.map(|best| ScoredPlacement { placement: all[best], score: scores[best] })
        } else {
            let scores = self.scores_of_hand(kernel, rules, playfield, hand);
            first_largest(scores.iter().map(|choice| choice.score)).map(|best| scores[best])
        };
        best.unwrap_or_else(|| none_to_choose(rules, playfield, hand.current))
    }

    /// The score of a landing, even one that ends the game.
    pub fn score(&self, seen: &Seen<'_>) -> f64 {
        let mut features = vec![0.0; self.set.len()];
        self.set.evaluate(seen, &mut features);
        let sum = self.sum(features.iter().copied());
        let Some(model) = self.model() else { return sum };
        let row: Vec<f32> = features.iter().map(|&value| value as f32).collect();
        let [output] = model.outputs(&row, [seen.landing.afterstate].into_iter())[..] else {
            unreachable!("an output for one landing")
        };
        sum + f64::from(output)
    }

    /// The part of a landing's score that comes from features of landings, such as the landing height.
    pub(crate) fn landing_score(&self, seen: &Seen<'_>) -> f64 {
        let terms = self.set.columns().iter().zip(&self.weights);
        terms
            .filter(|(column, _)| column.feature.is_of_landing())
            .fold(0.0, |sum, (column, weight)| sum + weight * column.of_landing(seen))
    }

    /// The largest absolute value of all weights and parameters of the model.
    pub(crate) fn largest_weight(&self) -> f64 {
        let parameters = self.model().map_or(&[][..], Model::parameters);
        let numbers = self.weights.iter().copied().chain(parameters.iter().copied().map(f64::from));
        numbers.fold(0.0, |largest, number| largest.max(number.abs()))
    }

    /// The weighted sum of features, added up in the order of the set.
    fn sum(&self, features: impl Iterator<Item = f64>) -> f64 {
        self.weights.iter().zip(features).fold(0.0, |sum, (weight, value)| sum + weight * value)
    }

    /// The score of every placement of a piece, in ascending action order. Without those that end the game, if the
    /// controller avoids that.
    pub fn scores(&self, rules: &Rules, playfield: &Playfield, piece: Piece) -> Vec<ScoredPlacement> {
        let mut features = vec![0.0; self.set.len()];
        let (mut scores, mut rows, mut afterstates) = (Vec::new(), Vec::new(), Vec::new());
        for placement in placements(rules, playfield, piece).iter() {
            let (shape, landing) = land(rules, playfield, piece, placement);
            if landing.terminal && self.terminal_value == TerminalValue::Avoid {
                continue;
            }
            let seen = Seen { piece, spin: placement.spin(), shape, landing: &landing };
            self.set.evaluate(&seen, &mut features);
            scores.push(ScoredPlacement { placement, score: self.sum(features.iter().copied()) });
            if self.model.is_some() {
                rows.extend(features.iter().map(|&value| value as f32));
                afterstates.push(landing.afterstate);
            }
        }
        if let Some(model) = self.model() {
            let outputs = model.outputs(&rows, afterstates.into_iter());
            for (choice, output) in scores.iter_mut().zip(outputs) {
                choice.score += f64::from(output);
            }
        }
        scores
    }

    /// The score of every placement of the hand: first those of the current piece, then those of the other piece with
    /// the current one held. Without those that end the game, if the controller avoids that.
    pub fn scores_of_hand(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        hand: Hand,
    ) -> Vec<ScoredPlacement> {
        if let Some(together) = self.together.as_ref().filter(|_| Together::holds(rules, playfield)) {
            let (all, measured) = self.measured_together(together, kernel, rules, playfield, hand);
            let scored = all.into_iter().zip(measured.scores);
            return scored.map(|(placement, score)| ScoredPlacement { placement, score }).collect();
        }
        let mut scores = self.scores(rules, playfield, hand.current);
        if let Some(other) = hand.other_on(rules, playfield) {
            let of_other = self.scores(rules, playfield, other).into_iter();
            scores.extend(
                of_other
                    .map(|choice| ScoredPlacement { placement: choice.placement.holding(true), ..choice }),
            );
        }
        scores
    }

    /// The placements of the hand that do not end the game, with scores and clears, if many can be measured together.
    pub(super) fn clears_together(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        hand: Hand,
    ) -> Option<Vec<ScoredClear>> {
        let avoids = self.terminal_value == TerminalValue::Avoid;
        let together = self.together.as_ref().filter(|_| avoids && Together::holds(rules, playfield))?;
        let (all, Measurements { scores, lines, is_empty, .. }) =
            self.measured_together(together, kernel, rules, playfield, hand);
        let clears = lines.into_iter().zip(is_empty);
        let rows = all.into_iter().zip(scores).zip(clears);
        let clear = |((placement, score), (lines, is_empty))| ScoredClear {
            placement,
            score,
            lines,
            is_perfect: lines > 0 && is_empty,
        };
        Some(rows.map(clear).collect())
    }

    /// The placements of the hand and their scores, with the features of many placements measured together.
    fn measured_together(
        &self,
        together: &Together,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        hand: Hand,
    ) -> (Vec<Placement>, Measurements) {
        let listed = hand.placements(rules, playfield);
        let mut all = Vec::with_capacity(listed.len());
        let mut rests = Vec::with_capacity(listed.len());
        for (piece, placement) in listed {
            let (shape, row) = comes_to_rest(rules, playfield, piece, placement);
            // On such a playfield, nothing else ends a game.
            if self.terminal_value == TerminalValue::Score || !is_locked_out(rules, row) {
                let (column, spin) = (placement.column, placement.spin());
                all.push(placement);
                rests.push(RestingPiece { piece, shape, row, column, spin });
            }
        }
        let mut measured = together.measure(kernel, rules, playfield, &rests, self.model.is_some());
        if let Some(model) = self.model() {
            let after = |rest: &RestingPiece| locked(rules, playfield, rest.shape, rest.row, rest.column);
            let outputs = model.outputs(&measured.features, rests.iter().map(after));
            for (score, output) in measured.scores.iter_mut().zip(outputs) {
                *score += f64::from(output);
            }
        }
        (all, measured)
    }
}

/// The index of the first of the largest scores; `None` without scores.
fn first_largest(scores: impl Iterator<Item = f64>) -> Option<usize> {
    let mut best = None;
    for (at, score) in scores.enumerate() {
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((at, score));
        }
    }
    best.map(|(at, _)| at)
}

/// The choice if every placement ends the game: the first one.
///
/// # Panics
/// If the piece has no placement.
pub(super) fn none_to_choose(rules: &Rules, playfield: &Playfield, piece: Piece) -> ScoredPlacement {
    let placement = placements(rules, playfield, piece).nth(0).expect("a piece that can be played");
    ScoredPlacement { placement, score: f64::NEG_INFINITY }
}

/// The playfield after a shape has locked.
#[inline(always)]
fn locked<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    shape: &Shape,
    row: u8,
    column: u8,
) -> PlayfieldOf<C, N> {
    let mut afterstate = *playfield;
    lock(rules, &mut afterstate, shape, row, column);
    afterstate
}

/// Checks the weights of this many features, then parameters of a model.
///
/// # Errors
/// [`WeightError`] for a wrong number of them, or one that is not finite or too large.
pub fn check_weights(weights: &[f64], features: usize, parameters: usize) -> Result<(), WeightError> {
    if weights.len() != features + parameters {
        return Err(WeightError::Length { weights: weights.len(), features, parameters });
    }
    for (index, &value) in weights.iter().enumerate() {
        if index < features && (value.is_nan() || value.abs() > MAX_WEIGHT) {
            return Err(WeightError::Value { index, value });
        }
        if index >= features && !(value as f32).is_finite() {
            return Err(WeightError::Parameter { index, value });
        }
    }
    Ok(())
}

thread_local! {
    /// The feature rows of the last choice, kept to reuse their memory. Lists of more than a kilobyte come from memory
    /// that threads share, and a player with an expectation makes dozens of choices per piece.
    static ROWS: Cell<PlacementRows> = Cell::default();
}

/// Work that makes a choice with a model whose features the kernels support.
struct ModelJob<'a> {
    agent: &'a LinearAgent,
    model: &'a Model,
    extractor: &'a Extractor,
    rules: &'a Rules,
    playfield: &'a Playfield,
    piece: Piece,
}

impl LaneWork for ModelJob<'_> {
    type Output = ScoredPlacement;

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> ScoredPlacement {
        let ModelJob { agent, model, extractor, rules, playfield, piece } = self;
        let size = LaneBounds::<L>::new(rules.width, rules.height);
        let playfield: PlayfieldOf<C, N> = playfield.resized();
        let all = drops(rules, &playfield, piece);
        let num_features = extractor.num_features();
        let mut rows = ROWS.take();
        rows.clear();
        extractor.append(&size, &playfield, rules.shapes(piece), rules.top_out, &mut rows);
        let afterstates =
            Afterstates { rules, playfield: &playfield, piece, all, rows: &rows.landing_rows, next: 0 };
        let outputs = model.outputs(&rows.features, afterstates);
        let first = all.nth(0).expect("a piece that can be played");
        let mut best = ScoredPlacement { placement: first, score: f64::NEG_INFINITY };
        for (n, (placement, output)) in all.iter().zip(outputs).enumerate() {
            if rows.terminated[n] && agent.terminal_value == TerminalValue::Avoid {
                continue;
            }
            let features = &rows.features[n * num_features..][..num_features];
            let score = agent.sum(features.iter().copied().map(f64::from)) + f64::from(output);
            if score > best.score {
                best = ScoredPlacement { placement, score };
            }
        }
        ROWS.set(rows);
        best
    }
}

/// The afterstates of straight drops, in ascending action order. A type and not a closure, because a closure may be
/// compiled separately, for any processor.
struct Afterstates<'a, C: Column, const N: usize> {
    rules: &'a Rules,
    playfield: &'a PlayfieldOf<C, N>,
    piece: Piece,
    all: Drops,
    /// Row in which each shape comes to rest.
    rows: &'a [u8],
    next: u32,
}

impl<C: Column, const N: usize> Iterator for Afterstates<'_, C, N> {
    type Item = PlayfieldOf<C, N>;

    #[inline(always)]
    fn next(&mut self) -> Option<PlayfieldOf<C, N>> {
        let placement = self.all.nth(self.next)?;
        let row = self.rows[self.next as usize];
        self.next += 1;
        let shape = &self.rules.shapes(self.piece)[usize::from(placement.orientation)];
        Some(locked(self.rules, self.playfield, shape, row, placement.column))
    }
}
