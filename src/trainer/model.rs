//! Models in files of weights: the shape and the parameters of a model that is added to the weighted sum.

use serde::{Deserialize, Serialize};

use tetrion_client::{Activation, Mlp, ModelShape, NTuple, TuplePattern};
use tetrion_protocol::limits::MAX_MODEL_PARAMETERS;

/// A model in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelNote {
    /// The model's shape, in the protocol's words.
    pub shape: ShapeNote,
    /// The model's parameters, in the protocol's order.
    pub parameters: Vec<f32>,
}

/// A model's shape in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ShapeNote {
    /// A network over the features.
    Mlp {
        /// Units of each hidden layer.
        hidden: Vec<u32>,
        /// Activation of the hidden units.
        activation: Activation,
        /// Patterns of the tables that the first hidden layer reads; empty if it reads none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tuples: Vec<TuplePattern>,
    },
    /// Tables over patterns of the afterstate.
    NTuple { tuples: Vec<TuplePattern> },
}

impl ModelNote {
    /// A model for a file.
    pub fn new(shape: &ModelShape, parameters: Vec<f32>) -> ModelNote {
        let shape = match shape {
            ModelShape::Mlp(Mlp { hidden, activation, tables }) => {
                let tuples = tables.as_ref().map_or_else(Vec::new, |tables| tables.tuples().to_vec());
                ShapeNote::Mlp { hidden: hidden.clone(), activation: *activation, tuples }
            }
            ModelShape::NTuple(tables) => ShapeNote::NTuple { tuples: tables.tuples().to_vec() },
        };
        ModelNote { shape, parameters }
    }

    /// The model's shape for a request. The server checks everything else about it.
    ///
    /// # Errors
    /// A tuple that shares the table of a later tuple, or tables that are too large.
    pub fn shape(&self) -> Result<ModelShape, String> {
        match &self.shape {
            ShapeNote::Mlp { hidden, activation, tuples } => {
                let tables = (!tuples.is_empty()).then(|| tables(tuples)).transpose()?;
                Ok(ModelShape::Mlp(Mlp { hidden: hidden.clone(), activation: *activation, tables }))
            }
            ShapeNote::NTuple { tuples } => Ok(ModelShape::NTuple(tables(tuples)?)),
        }
    }
}

fn tables(tuples: &[TuplePattern]) -> Result<NTuple, String> {
    let misplaced = tuples
        .iter()
        .enumerate()
        .find(|(at, tuple)| tuple.shares.is_some_and(|earlier| u64::from(earlier) >= *at as u64));
    if let Some((at, TuplePattern { shares: Some(other), .. })) = misplaced {
        return Err(format!("tuple {at} shares the table of {other}, expected an earlier one"));
    }
    let tables = tuples.iter().filter(|tuple| tuple.shares.is_none());
    let entries = tables.map(TuplePattern::num_entries).fold(0, u64::saturating_add);
    if entries > MAX_MODEL_PARAMETERS.into() {
        return Err(format!("tables of {entries} entries, expected at most {MAX_MODEL_PARAMETERS}"));
    }
    Ok(NTuple::new(tuples.to_vec()))
}
