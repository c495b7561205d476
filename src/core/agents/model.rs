//! What a value function adds to a sum of weight times feature: a model of some shape, and its parameters.
//!
//! A model sees what a linear controller sees: the features of landings, and afterstates. It makes one float32 of each, never
//! an infinite one, so that scores can be compared and added up like all others.

use std::sync::Arc;

use super::mlp::Mlp;
use super::n_tuple::NTuple;
use crate::engine::{Column, PlayfieldOf};

/// A kind of model and its shape, without parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelShape {
    /// A network over the features.
    Mlp(Mlp),
    /// Tables over patterns of the afterstate.
    NTuple(NTuple),
}

/// A model: a shape, which many of them may share, and parameters.
#[derive(Clone, Debug)]
pub struct Model {
    shape: Arc<ModelShape>,
    num_features: usize,
    parameters: Box<[f32]>,
}

impl ModelShape {
    /// How many parameters it has beside this many features.
    pub fn num_parameters(&self, num_features: usize) -> usize {
        match self {
            ModelShape::Mlp(mlp) => mlp.num_parameters(num_features),
            ModelShape::NTuple(n_tuple) => n_tuple.num_parameters(),
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
        Model { shape, num_features, parameters }
    }

    /// Its parameters.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// About how long it takes for one placement, in multiplications of the network or digits of the tables.
    pub fn work(&self) -> u64 {
        let work = match &*self.shape {
            ModelShape::Mlp(_) => self.parameters.len(),
            // A digit takes as long as some multiplications, which are done side by side.
            ModelShape::NTuple(n_tuple) => 16 * n_tuple.num_digits(),
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
        let mut outputs = Vec::with_capacity(rows.len() / self.num_features);
        match &*self.shape {
            ModelShape::Mlp(mlp) => {
                mlp.append_outputs(&self.parameters, self.num_features, rows, &mut outputs)
            }
            ModelShape::NTuple(n_tuple) => {
                n_tuple.append_outputs(&self.parameters, afterstates, &mut outputs);
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
