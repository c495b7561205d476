//! A formula as a flat list of operations on the columns of a [`Batch`].

use super::batch::{BLOCK, Batch};
use super::op::Op;
use super::state::{Fact, Seat, State};
use crate::features::FeatureSet;

/// The range of scores: a larger value counts as this number, a smaller one and one that is not a number as its
/// negative. So sums of a few scores stay finite.
const LARGEST_SCORE: f64 = 1e300;

/// A formula that was read and checked for the rules of a game.
#[derive(Clone, Debug)]
pub enum Formula {
    /// A weighted sum: the features in the order of the text, and one weight per feature.
    Weights(FeatureSet, Vec<f64>),
    /// Any formula that is not a weighted sum.
    Program(Program),
}

/// A compiled formula. A batch of placements has one column per feature, fact and number, in this order, and columns
/// for the results of steps; the last step writes the scores.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) set: FeatureSet,
    pub(super) facts: Vec<Fact>,
    pub(super) numbers: Vec<f64>,
    pub(super) steps: Vec<ProgramStep>,
    pub(super) num_columns: usize,
    pub(super) cost: u32,
    pub(super) largest_number: f64,
}

/// One operation, the columns that it reads, and the column that it writes, which may be one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramStep {
    pub op: Op,
    pub reads: [u16; 3],
    pub writes: u16,
}

impl Program {
    /// The features, which are the first columns of a batch.
    pub fn set(&self) -> &FeatureSet {
        &self.set
    }

    /// Rough time for one placement, in additions.
    pub(crate) fn cost(&self) -> u32 {
        self.cost
    }

    /// Number of columns of a batch.
    pub(crate) fn num_columns(&self) -> usize {
        self.num_columns
    }

    /// The largest number of the text, at least 1.
    pub fn largest_number(&self) -> f64 {
        self.largest_number
    }

    /// Whether the scores depend on the piece that follows.
    pub(crate) fn knows_next(&self) -> bool {
        self.facts.iter().any(|fact| matches!(fact, Fact::Is(Seat::Next, _)))
    }

    /// Whether the scores depend on how many lines or pieces the game has had.
    pub(crate) fn knows_counts(&self) -> bool {
        self.facts.iter().any(|fact| matches!(fact, Fact::Lines | Fact::Pieces))
    }

    /// The score of one placement with these features.
    ///
    /// # Panics
    /// When there is not one number per feature.
    pub(crate) fn score(&self, state: &State, features: &[f64]) -> f64 {
        assert_eq!(features.len(), self.set.len(), "a number for each feature");
        let mut batch = Batch::default();
        batch.resize(self.num_columns(), 1);
        let (cells, stride) = batch.cells_mut();
        for (at, &feature) in features.iter().enumerate() {
            cells[at * stride] = feature;
        }
        self.run(state, &mut batch)[0]
    }

    /// Scores placements whose features are in the batch.
    ///
    /// # Panics
    /// When the batch does not have the columns of this program.
    #[inline(always)]
    pub(crate) fn run<'a>(&self, state: &State, batch: &'a mut Batch) -> &'a [f64] {
        let (columns, blocks) = batch.blocks_mut();
        let mut at = self.set.len() * blocks;
        for number in self.facts.iter().map(|fact| fact.value(state)).chain(self.numbers.iter().copied()) {
            columns[at..at + blocks].fill([number; BLOCK]);
            at += blocks;
        }
        let mut scores = 0;
        for step in &self.steps {
            let [a, b, c] = step.reads.map(|column| usize::from(column) * blocks);
            scores = usize::from(step.writes) * blocks;
            // One loop per operation, so that each is compiled to vectors.
            macro_rules! each {
                ($($op:ident),*) => {
                    match step.op {
                        $(Op::$op => {
                            for at in 0..blocks {
                                let (a, b, c) = (columns[a + at], columns[b + at], columns[c + at]);
                                let out = &mut columns[scores + at];
                                for lane in 0..BLOCK {
                                    out[lane] = Op::$op.apply([a[lane], b[lane], c[lane]]);
                                }
                            }
                        })*
                    }
                };
            }
            each!(Add, Sub, Mul, Div, Min, Max, Abs, Exp, Ln, Less, AtMost, Equal, And, Or, Not, Select);
        }
        for score in columns[scores..scores + blocks].as_flattened_mut() {
            *score = in_range(*score);
        }
        batch.rows_from(scores)
    }
}

/// The score of a value.
#[inline(always)]
fn in_range(value: f64) -> f64 {
    // Not a number is not larger.
    let value = if value > -LARGEST_SCORE { value } else { -LARGEST_SCORE };
    if value < LARGEST_SCORE { value } else { LARGEST_SCORE }
}
