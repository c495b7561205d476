//! A model that a value function adds to its weighted sum: a shape and its parameters.
//!
//! A model has the inputs of a linear controller: features of landings, and afterstates. For each landing it computes
//! one finite float32, so that scores can be compared and added up.

use std::sync::Arc;

use super::mlp::Mlp;
use super::n_tuple::NTuple;
use crate::engine::{Column, PlayfieldOf};

/// Number of float32 per cache line.
const LINE: usize = 16;

/// A kind of model and its shape, without the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelShape {
    /// A network over the features, whose first hidden layer may also read tables over patterns of the afterstate.
    Mlp(Mlp),
    /// Tables over patterns of the afterstate.
    NTuple(NTuple),
}

/// A model: a shape, which many models may share, and parameters.
#[derive(Clone, Debug)]
pub struct Model {
    shape: Arc<ModelShape>,
    num_features: usize,
    /// The parameters, preceded by enough zeros to start a network's tables at a cache line: an entry of 16 numbers is
    /// then one line. Most of the time is spent waiting for these lines.
    padded: Box<[f32]>,
    padding: usize,
}

impl ModelShape {
    /// Number of parameters for this many features.
    pub fn num_parameters(&self, num_features: usize) -> usize {
        match self {
            ModelShape::Mlp(mlp) => mlp.num_parameters(num_features),
            ModelShape::NTuple(n_tuple) => n_tuple.num_entries(),
        }
    }

    /// The tables of the model, if any.
    pub fn tables(&self) -> Option<&NTuple> {
        match self {
            ModelShape::Mlp(mlp) => mlp.tables.as_ref(),
            ModelShape::NTuple(n_tuple) => Some(n_tuple),
        }
    }
}

impl Model {
    /// Creates a model for this many features.
    ///
    /// # Panics
    /// If the shape needs another number of parameters.
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

    /// The parameters of the model.
    pub fn parameters(&self) -> &[f32] {
        let len = self.shape.num_parameters(self.num_features);
        &self.padded[self.padding..][..len]
    }

    /// Rough time per placement, in multiplications of the network. Includes table look-ups; their time does not depend
    /// on the size of the tables.
    pub(crate) fn work(&self) -> u64 {
        // A digit takes as long as several multiplications, because these run in parallel.
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

    /// The model's output for each landing, given by a row of features and an afterstate.
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
