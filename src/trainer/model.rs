//! How a file of weights keeps the model that is added to their sum: its shape, and its parameters.

use serde::{Deserialize, Serialize};

use crate::client::{Activation, Mlp, ModelShape, NTuple, TupleKind, TuplePattern};
use crate::wire::limits::MAX_MODEL_PARAMETERS;

/// A model in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelNote {
    /// What it is, in the words of the protocol.
    pub shape: ShapeNote,
    /// Parameters of the model, in the order of the protocol.
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
        /// What hidden units do with their sum.
        activation: ActivationName,
        /// The patterns of the tables that the first hidden layer reads; none if it reads none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tuples: Vec<TupleNote>,
    },
    /// Tables over patterns of the afterstate.
    NTuple {
        /// The patterns.
        tuples: Vec<TupleNote>,
    },
}

/// A pattern in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TupleNote {
    /// What a digit is.
    pub kind: TupleName,
    /// Where digits are read.
    pub positions: Vec<u32>,
    /// Where digits are cut off; 0 for cells.
    pub clip: u32,
    /// An earlier tuple whose table it looks up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<u32>,
}

/// An activation in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub enum ActivationName {
    Relu,
    LeakyRelu,
    HardTanh,
    Softsign,
    HardSwish,
}

/// A kind of tuple in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub enum TupleName {
    Steps,
    Heights,
    Cells,
}

impl ModelNote {
    /// A model as a file keeps it.
    pub fn of(shape: &ModelShape, parameters: Vec<f32>) -> ModelNote {
        let shape = match shape {
            ModelShape::Mlp(Mlp { hidden, activation, tables }) => {
                let activation = match activation {
                    Activation::Relu => ActivationName::Relu,
                    Activation::LeakyRelu => ActivationName::LeakyRelu,
                    Activation::HardTanh => ActivationName::HardTanh,
                    Activation::Softsign => ActivationName::Softsign,
                    Activation::HardSwish => ActivationName::HardSwish,
                };
                let tuples = tables.as_ref().map(TupleNote::all_of).unwrap_or_default();
                ShapeNote::Mlp { hidden: hidden.clone(), activation, tuples }
            }
            ModelShape::NTuple(n_tuple) => ShapeNote::NTuple { tuples: TupleNote::all_of(n_tuple) },
        };
        ModelNote { shape, parameters }
    }

    /// The model's shape, as a request takes it. What else may be wrong with it, the server says.
    ///
    /// # Errors
    /// A tuple that shares the table of none before it, or tables that are too large.
    pub fn shape(&self) -> Result<ModelShape, String> {
        match &self.shape {
            ShapeNote::Mlp { hidden, activation, tuples } => {
                let activation = match activation {
                    ActivationName::Relu => Activation::Relu,
                    ActivationName::LeakyRelu => Activation::LeakyRelu,
                    ActivationName::HardTanh => Activation::HardTanh,
                    ActivationName::Softsign => Activation::Softsign,
                    ActivationName::HardSwish => Activation::HardSwish,
                };
                let tables = (!tuples.is_empty()).then(|| tables(tuples)).transpose()?;
                Ok(ModelShape::Mlp(Mlp { hidden: hidden.clone(), activation, tables }))
            }
            ShapeNote::NTuple { tuples } => Ok(ModelShape::NTuple(tables(tuples)?)),
        }
    }
}

impl TupleNote {
    fn all_of(n_tuple: &NTuple) -> Vec<TupleNote> {
        let note = |TuplePattern { kind, positions, clip, shares }: &TuplePattern| TupleNote {
            kind: match kind {
                TupleKind::Steps => TupleName::Steps,
                TupleKind::Heights => TupleName::Heights,
                TupleKind::Cells => TupleName::Cells,
            },
            positions: positions.clone(),
            clip: *clip,
            shares: *shares,
        };
        n_tuple.tuples().iter().map(note).collect()
    }
}

fn tables(tuples: &[TupleNote]) -> Result<NTuple, String> {
    let misplaced = tuples
        .iter()
        .enumerate()
        .find(|(at, tuple)| tuple.shares.is_some_and(|earlier| u64::from(earlier) >= *at as u64));
    if let Some((at, TupleNote { shares: Some(other), .. })) = misplaced {
        return Err(format!("tuple {at} shares the table of {other}, expected an earlier one"));
    }
    let pattern = |TupleNote { kind, positions, clip, shares }: &TupleNote| TuplePattern {
        kind: match kind {
            TupleName::Steps => TupleKind::Steps,
            TupleName::Heights => TupleKind::Heights,
            TupleName::Cells => TupleKind::Cells,
        },
        positions: positions.clone(),
        clip: *clip,
        shares: *shares,
    };
    let tuples: Vec<TuplePattern> = tuples.iter().map(pattern).collect();
    let tables = tuples.iter().filter(|tuple| tuple.shares.is_none());
    let entries = tables.map(TuplePattern::num_entries).fold(0, u64::saturating_add);
    if entries > MAX_MODEL_PARAMETERS.into() {
        return Err(format!("tables of {entries} entries, expected at most {MAX_MODEL_PARAMETERS}"));
    }
    Ok(NTuple::new(tuples))
}
