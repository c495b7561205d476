//! What a value function adds to a sum of weight times feature: a model of some shape, and its parameters.
//!
//! A model sees what a linear controller sees: the features of landings, and afterstates. It makes one float32 of each, never
//! an infinite one, so that scores can be compared and added up like all others.

use std::sync::Arc;

use super::mlp::Mlp;
use super::n_tuple::NTuple;
use crate::engine::{Column, PlayfieldOf};

/// How many numbers a cache line holds.
const LINE: usize = 16;

/// A kind of model and its shape, without parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelShape {
    /// A network over the features, whose first hidden layer may read tables over patterns of the afterstate too.
    Mlp(Mlp),
    /// Tables over patterns of the afterstate.
    NTuple(NTuple),
}

/// A model: a shape, which many of them may share, and parameters.
#[derive(Clone, Debug)]
pub struct Model {
    shape: Arc<ModelShape>,
    num_features: usize,
    /// The parameters, behind as many zeros as it takes for the tables that a network reads to begin with a cache line: an entry
    /// of 16 numbers is one line then, and not parts of two. Most of the time goes into waiting for them.
    padded: Box<[f32]>,
    padding: usize,
}

impl ModelShape {
    /// How many parameters it has beside this many features.
    pub fn num_parameters(&self, num_features: usize) -> usize {
        match self {
            ModelShape::Mlp(mlp) => mlp.num_parameters(num_features),
            ModelShape::NTuple(n_tuple) => n_tuple.num_entries(),
        }
    }

    /// The tables that it looks up, if it does.
    pub fn tables(&self) -> Option<&NTuple> {
        match self {
            ModelShape::Mlp(mlp) => mlp.tables.as_ref(),
            ModelShape::NTuple(n_tuple) => Some(n_tuple),
        }
    }
}

impl Model {
    /// A model over this many features.
    ///
    /// # Panics
    /// When the shape has another number of parameters.
    pub(super) fn new(shape: Arc<ModelShape>, num_features: usize, parameters: Box<[f32]>) -> Model {
        assert_eq!(parameters.len(), shape.num_parameters(num_features), "as many as the shape has");
        let weights = match &*shape {
            ModelShape::Mlp(mlp) if mlp.tables.is_some() => mlp.num_weights(num_features),
            _ => return Model { shape, num_features, padded: parameters, padding: 0 },
        };
        let mut padded = vec![0.0; parameters.len() + LINE - 1].into_boxed_slice();
        let padding = padded[weights..].as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE - 1);
        padded[padding..][..parameters.len()].copy_from_slice(&parameters);
        Model { shape, num_features, padded, padding }
    }

    /// Its parameters.
    pub fn parameters(&self) -> &[f32] {
        let len = self.shape.num_parameters(self.num_features);
        &self.padded[self.padding..][..len]
    }

    /// About how long it takes for one placement, in multiplications of the network. What it looks up counts, not how large the
    /// tables are.
    pub fn work(&self) -> u64 {
        // A digit takes as long as some multiplications, which are done side by side.
        let digits = |n_tuple: &NTuple| 16 * n_tuple.num_digits();
        let work = match &*self.shape {
            ModelShape::Mlp(mlp) => {
                let tables = |n_tuple: &NTuple| digits(n_tuple) + n_tuple.tuples().len() * mlp.entry_len();
                mlp.num_weights(self.num_features) + mlp.tables.as_ref().map_or(0, tables)
            }
            ModelShape::NTuple(n_tuple) => digits(n_tuple),
        };
        work as u64
    }

    /// What it adds to the score of each of some landings, given by a row of features and an afterstate.
    #[inline(always)]
    pub(super) fn outputs<C: Column, const N: usize>(
        &self,
        rows: &[f32],
        afterstates: impl Iterator<Item = PlayfieldOf<C, N>>,
    ) -> Vec<f32> {
        let parameters = self.parameters();
        let mut outputs = Vec::with_capacity(rows.len() / self.num_features);
        match &*self.shape {
            ModelShape::Mlp(mlp) => {
                mlp.append_outputs(parameters, self.num_features, rows, afterstates, &mut outputs);
            }
            ModelShape::NTuple(n_tuple) => {
                n_tuple.append_outputs(parameters, afterstates, &mut outputs);
            }
        }
        for output in &mut outputs {
            if !output.is_finite() {
                *output = f32::MIN;
            }
        }
        outputs
    }
}
