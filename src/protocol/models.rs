//! Shapes of models that add to a weighted sum, as messages. The parameters are part of the weights.

pub use tetrion_core::agents::{Activation, Mlp, ModelShape, NTuple, TupleKind, TuplePattern};
use tetrion_core::engine::Rules;

use super::error::{DecodeError, InField};
use super::limits::{
    MAX_HIDDEN_LAYERS, MAX_HIDDEN_UNITS, MAX_MODEL_PARAMETERS, MAX_TUPLE_POSITIONS, MAX_TUPLES,
};
use super::pb;

/// Reads the model of weights with this many features: a network, tables, or a network that reads tables.
pub(super) fn decode(
    mlp: Option<&pb::Mlp>,
    n_tuple: Option<&pb::NTuple>,
    num_features: usize,
    rules: &Rules,
) -> Result<Option<ModelShape>, DecodeError> {
    let mlp = mlp.map(decode_mlp).transpose().in_field("mlp")?;
    let n_tuple = n_tuple.map(|n_tuple| decode_n_tuple(n_tuple, rules)).transpose().in_field("n_tuple")?;
    Ok(match (mlp, n_tuple) {
        (None, None) => None,
        (None, Some(n_tuple)) => Some(ModelShape::NTuple(n_tuple)),
        (Some(mlp), tables) => {
            let mlp = Mlp { tables, ..mlp };
            check_size(&mlp, num_features).in_field("n_tuple")?;
            Some(ModelShape::Mlp(mlp))
        }
    })
}

/// Checks that a model over this many features can be played under these rules.
///
/// # Errors
/// [`DecodeError`] with the fields `mlp` and `n_tuple`.
pub(super) fn check(shape: &ModelShape, num_features: usize, rules: &Rules) -> Result<(), DecodeError> {
    if let Some(tables) = shape.tables() {
        check_tuples(tables.tuples(), rules).in_field("n_tuple")?;
    }
    if let ModelShape::Mlp(mlp) = shape {
        check_hidden(&mlp.hidden).in_field("mlp")?;
        check_size(mlp, num_features).in_field("n_tuple")?;
    }
    Ok(())
}

/// Refuses tables whose entries, times the hidden units, exceed the limit on parameters. Both factors are too small for
/// the product to overflow.
fn check_size(mlp: &Mlp, num_features: usize) -> Result<(), DecodeError> {
    let Some(tables) = &mlp.tables else { return Ok(()) };
    let parameters = mlp.num_parameters(num_features);
    if parameters <= MAX_MODEL_PARAMETERS as usize {
        return Ok(());
    }
    let problem = format!(
        "have tables of {} entries of {} numbers, which with the {} parameters of the network are {parameters}, expected \
         at most {MAX_MODEL_PARAMETERS} in all",
        tables.num_entries(),
        mlp.entry_len(),
        mlp.num_weights(num_features),
    );
    Err(DecodeError::field("tuples", problem))
}

/// A model with every field.
pub fn encode(shape: &ModelShape) -> (Option<pb::Mlp>, Option<pb::NTuple>) {
    match shape {
        ModelShape::Mlp(mlp) => {
            let activation = encode_activation(mlp.activation).into();
            let tables = mlp.tables.as_ref().map(encode_n_tuple);
            (Some(pb::Mlp { hidden: mlp.hidden.clone(), activation }), tables)
        }
        ModelShape::NTuple(n_tuple) => (None, Some(encode_n_tuple(n_tuple))),
    }
}

fn check_hidden(hidden: &[u32]) -> Result<(), DecodeError> {
    let layers = hidden.len();
    if layers == 0 || layers > MAX_HIDDEN_LAYERS as usize {
        let problem = format!("has {layers} layers, expected 1 to {MAX_HIDDEN_LAYERS}");
        return Err(DecodeError::field("hidden", problem));
    }
    for (layer, units) in hidden.iter().enumerate() {
        if !(1..=MAX_HIDDEN_UNITS).contains(units) {
            let problem = format!("is {units}, expected 1 to {MAX_HIDDEN_UNITS} units");
            return Err(DecodeError::field(format!("hidden[{layer}]"), problem));
        }
    }
    Ok(())
}

fn decode_mlp(message: &pb::Mlp) -> Result<Mlp, DecodeError> {
    check_hidden(&message.hidden)?;
    let activation = match pb::Activation::try_from(message.activation) {
        Ok(pb::Activation::Unspecified) => Activation::default(),
        Ok(pb::Activation::Relu) => Activation::Relu,
        Ok(pb::Activation::LeakyRelu) => Activation::LeakyRelu,
        Ok(pb::Activation::HardTanh) => Activation::HardTanh,
        Ok(pb::Activation::Softsign) => Activation::Softsign,
        Ok(pb::Activation::HardSwish) => Activation::HardSwish,
        Ok(pb::Activation::Tanh) => Activation::Tanh,
        Err(_) => return Err(DecodeError::without_a_meaning("activation", message.activation)),
    };
    Ok(Mlp { hidden: message.hidden.clone(), activation, tables: None })
}

fn encode_activation(activation: Activation) -> pb::Activation {
    match activation {
        Activation::Relu => pb::Activation::Relu,
        Activation::LeakyRelu => pb::Activation::LeakyRelu,
        Activation::HardTanh => pb::Activation::HardTanh,
        Activation::Softsign => pb::Activation::Softsign,
        Activation::HardSwish => pb::Activation::HardSwish,
        Activation::Tanh => pb::Activation::Tanh,
    }
}

fn decode_n_tuple(message: &pb::NTuple, rules: &Rules) -> Result<NTuple, DecodeError> {
    check_count(message.tuples.len())?;
    let decode = |(i, tuple)| decode_tuple(tuple).in_item("tuples", i);
    n_tuple(message.tuples.iter().enumerate().map(decode).collect::<Result<Vec<_>, _>>()?, rules)
}

/// Tables that can be played under these rules.
///
/// # Errors
/// [`DecodeError`] with the fields of `NTuple`.
pub fn n_tuple(tuples: Vec<TuplePattern>, rules: &Rules) -> Result<NTuple, DecodeError> {
    check_tuples(&tuples, rules)?;
    Ok(NTuple::new(tuples))
}

fn decode_tuple(message: &pb::TuplePattern) -> Result<TuplePattern, DecodeError> {
    let kind = match pb::TupleKind::try_from(message.kind) {
        Ok(pb::TupleKind::Unspecified) => return Err(DecodeError::missing("kind")),
        Ok(pb::TupleKind::Steps) => TupleKind::Steps,
        Ok(pb::TupleKind::Heights) => TupleKind::Heights,
        Ok(pb::TupleKind::Cells) => TupleKind::Cells,
        Err(_) => return Err(DecodeError::without_a_meaning("kind", message.kind)),
    };
    let pb::TuplePattern { positions, clip, shares, .. } = message.clone();
    Ok(TuplePattern { kind, positions, clip, shares })
}

fn check_count(count: usize) -> Result<(), DecodeError> {
    if count == 0 || count > MAX_TUPLES as usize {
        return Err(DecodeError::field("tuples", format!("has {count} tuples, expected 1 to {MAX_TUPLES}")));
    }
    Ok(())
}

/// Checks tuples in order, and the total size of their tables.
fn check_tuples(tuples: &[TuplePattern], rules: &Rules) -> Result<(), DecodeError> {
    check_count(tuples.len())?;
    let mut entries = 0u64;
    for (i, tuple) in tuples.iter().enumerate() {
        check_tuple(tuple, &tuples[..i], rules).in_item("tuples", i)?;
        if tuple.shares.is_none() {
            entries = entries.saturating_add(tuple.num_entries());
        }
        if entries > MAX_MODEL_PARAMETERS.into() {
            let problem = format!(
                "have tables of {entries} entries up to tuples[{i}], expected at most {MAX_MODEL_PARAMETERS} in all"
            );
            return Err(DecodeError::field("tuples", problem));
        }
    }
    Ok(())
}

fn check_tuple(tuple: &TuplePattern, earlier: &[TuplePattern], rules: &Rules) -> Result<(), DecodeError> {
    let (width, height) = (u32::from(rules.width), u32::from(rules.height));
    let TuplePattern { kind, positions, clip, shares } = tuple;
    let (places, clips) = match kind {
        TupleKind::Steps => (width - 1, 1..=height),
        TupleKind::Heights => (width, 1..=height),
        TupleKind::Cells => (width * height, 0..=0),
    };
    if positions.is_empty() || positions.len() > MAX_TUPLE_POSITIONS as usize {
        let problem = format!("has {} positions, expected 1 to {MAX_TUPLE_POSITIONS}", positions.len());
        return Err(DecodeError::field("positions", problem));
    }
    for (i, position) in positions.iter().enumerate() {
        let wrong = |problem| Err(DecodeError::field(format!("positions[{i}]"), problem));
        if *position >= places {
            return wrong(format!("is {position}, expected 0 to {} on {width} x {height}", places - 1));
        }
        if positions[..i].contains(position) {
            return wrong(format!("is {position} again, expected each position once"));
        }
    }
    if !clips.contains(clip) {
        let problem = match kind {
            TupleKind::Cells => format!("is {clip}, expected none: cells are not cut off"),
            _ => format!("is {clip}, expected 1 to {height}, the height of the playfield"),
        };
        return Err(DecodeError::field("clip", problem));
    }
    let Some(shares) = *shares else { return Ok(()) };
    let wrong = |problem| Err(DecodeError::field("shares", problem));
    match earlier.get(shares as usize) {
        None => wrong(format!("is {shares}, expected an earlier tuple: below {}", earlier.len())),
        Some(other) if other.shares.is_some() => {
            wrong(format!("is {shares}, expected a tuple with its own table"))
        }
        Some(other) if !other.has_shape_of(tuple) => {
            wrong(format!("is {shares}, expected a tuple of the same kind, clip and number of positions"))
        }
        Some(_) => Ok(()),
    }
}

fn encode_n_tuple(n_tuple: &NTuple) -> pb::NTuple {
    pb::NTuple { tuples: n_tuple.tuples().iter().map(encode_tuple).collect() }
}

fn encode_tuple(tuple: &TuplePattern) -> pb::TuplePattern {
    let kind = match tuple.kind {
        TupleKind::Steps => pb::TupleKind::Steps,
        TupleKind::Heights => pb::TupleKind::Heights,
        TupleKind::Cells => pb::TupleKind::Cells,
    };
    let TuplePattern { positions, clip, shares, .. } = tuple.clone();
    pb::TuplePattern { kind: kind.into(), positions, clip, shares }
}
