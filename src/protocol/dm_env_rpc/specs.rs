//! Actions and observations of a world: their numbers, names, types and bounds.
//!
//! There is a `reward` but no `discount`: the state of a step determines the discount (0 when TERMINATED, else 1),
//! and dm_env_rpc's adaptor computes it correctly only from the state. With a tensor named `discount` it would also
//! read one in the first step, which has none.

use std::collections::HashMap;

use tetrion_core::env::{DataType, EnvBatch, FIELDS, Field, FieldSpec, Kind};

use super::super::error::{DecodeError, Fault, InField};
use super::super::fields::action_spec;
use super::pb::tensor::*;
use super::pb::tensor_spec::Value;
use super::pb::tensor_spec::value::Payload as Bound;
use super::{pb, tensor};

/// Number of the only action. If a step omits it, the action is 0.
pub const ACTION: u64 = 1;

/// An observation that a step can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The reward of the step.
    Reward,
    /// A field of the environment.
    Field(Field),
}

/// Number of the reward among the observations.
const REWARD: u64 = 1;

/// The observations of a world, by number.
///
/// A field has the same number in every world, whatever the rules are.
pub fn observations(batch: &EnvBatch) -> impl Iterator<Item = (u64, Observation)> + '_ {
    let fields = FIELDS.iter().filter(|info| is_shown(info.field, batch));
    let fields = fields.map(|info| (info.number, Observation::Field(info.field)));
    std::iter::once((REWARD, Observation::Reward)).chain(fields)
}

/// Whether a field has a value under the rules of a world. Worlds compute no values, so they show no regret.
fn is_shown(field: Field, batch: &EnvBatch) -> bool {
    field != Field::Regret
        && batch.spec(field).shape.iter().all(|&size| size > 0)
        && field.is_of(&batch.config().rules)
}

/// The specs that a client receives when it joins a world.
pub fn encode(batch: &EnvBatch) -> pb::ActionObservationSpecs {
    let action = action_spec(&batch.config().rules);
    let bound = |bound: Option<f64>| bound.map(|bound| int32_bound(bound as i32));
    let action = pb::TensorSpec {
        name: action.name,
        shape: vec![],
        dtype: pb::DataType::Int32.into(),
        min: bound(action.low),
        max: bound(action.high),
    };
    let observations = observations(batch).map(|(uid, observation)| (uid, spec(batch, observation)));
    pb::ActionObservationSpecs {
        actions: HashMap::from([(ACTION, action)]),
        observations: observations.collect(),
    }
}

/// Reads the list of requested observations. Repeated entries count once.
///
/// # Errors
/// [`Fault::UnknownName`] for an unknown number.
pub fn decode_wanted(batch: &EnvBatch, uids: &[u64]) -> Result<HashMap<u64, Observation>, DecodeError> {
    let known: HashMap<u64, Observation> = observations(batch).collect();
    let mut wanted = HashMap::new();
    for uid in uids {
        let Some(observation) = known.get(uid) else {
            let problem = format!("this world has no observation {uid}");
            return Err(DecodeError::invalid(Fault::UnknownName, "requested_observations", problem));
        };
        wanted.insert(*uid, *observation);
    }
    Ok(wanted)
}

/// Reads the action of a step.
///
/// # Errors
/// [`DecodeError`] for an unknown number, or a tensor that is not a scalar of type INT32. The environment checks
/// whether the action exists under its rules.
pub fn decode_action(actions: &HashMap<u64, pb::Tensor>) -> Result<i32, DecodeError> {
    if let Some(uid) = actions.keys().filter(|uid| **uid != ACTION).min() {
        let problem = format!("this world has no action {uid}");
        return Err(DecodeError::invalid(Fault::UnknownName, "actions", problem));
    }
    match actions.get(&ACTION) {
        Some(action) => tensor::int32(action).in_field("actions[1]"),
        None => Ok(0),
    }
}

fn spec(batch: &EnvBatch, observation: Observation) -> pb::TensorSpec {
    let FieldSpec { name, dtype, shape, low, high, .. } = match observation {
        Observation::Field(field) => batch.spec(field),
        Observation::Reward => FieldSpec {
            name: "reward",
            dtype: DataType::Float32,
            shape: vec![],
            kind: Kind::Number,
            low: None,
            high: None,
            description: "points of the step",
        },
    };
    pb::TensorSpec {
        name: name.to_owned(),
        shape: shape.iter().map(|&size| size as i32).collect(),
        dtype: pb::DataType::from(dtype).into(),
        min: low.and_then(|low| bound(dtype, low)),
        max: high.and_then(|high| bound(dtype, high)),
    }
}

/// A bound for all elements, in their type. Booleans have no bounds in this protocol.
fn bound(dtype: DataType, number: f64) -> Option<Value> {
    let payload = match dtype {
        DataType::Bool => return None,
        DataType::Uint8 => Bound::Uint8s(Uint8Array { array: vec![number as u8].into() }),
        DataType::Int8 => Bound::Int8s(Int8Array { array: vec![number as i8 as u8].into() }),
        DataType::Int32 => return Some(int32_bound(number as i32)),
        DataType::Uint16 | DataType::Uint32 => Bound::Uint32s(Uint32Array { array: vec![number as u32] }),
        DataType::Int64 => Bound::Int64s(Int64Array { array: vec![number as i64] }),
        DataType::Uint64 => Bound::Uint64s(Uint64Array { array: vec![number as u64] }),
        DataType::Float32 => Bound::Floats(FloatArray { array: vec![number as f32] }),
        DataType::Float64 => Bound::Doubles(DoubleArray { array: vec![number] }),
    };
    Some(Value { payload: Some(payload) })
}

fn int32_bound(number: i32) -> Value {
    Value { payload: Some(Bound::Int32s(Int32Array { array: vec![number] })) }
}

/// 16-bit types become 32-bit types, because this protocol has none.
impl From<DataType> for pb::DataType {
    fn from(dtype: DataType) -> pb::DataType {
        match dtype {
            DataType::Uint8 => pb::DataType::Uint8,
            DataType::Int8 => pb::DataType::Int8,
            DataType::Int32 => pb::DataType::Int32,
            DataType::Uint16 | DataType::Uint32 => pb::DataType::Uint32,
            DataType::Int64 => pb::DataType::Int64,
            DataType::Uint64 => pb::DataType::Uint64,
            DataType::Float32 => pb::DataType::Float,
            DataType::Float64 => pb::DataType::Double,
            DataType::Bool => pb::DataType::Bool,
        }
    }
}
