//! Fields of environments: their names, their types and the specs that clients get.

use tetrion_core::engine::{ActionModel, Digit, Rules};
use tetrion_core::env::{DataType, EnvConfig, Field, FieldInfo, FieldSpec, Kind, Role};
use tetrion_core::names;

use super::error::{DecodeError, Fault};
use super::limits::check_name;
use super::pb;

/// Reads a list of field names with a role, in the given order and without repetition. `None` selects the defaults.
///
/// # Errors
/// With the path `list.names[i]` of the first invalid name, or of the first field that these rules lack.
pub fn decode(
    names: Option<&pb::FieldNames>,
    list: &str,
    role: Role,
    env: &EnvConfig,
) -> Result<Vec<Field>, DecodeError> {
    let Some(pb::FieldNames { names }) = names else { return Ok(Field::defaults(role, env).collect()) };
    let known = || Field::with_role(role);
    let mut fields = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let path = || format!("{list}.names[{i}]");
        check_name(&path(), name)?;
        let Some(field) = known().find(|field| field.info().name == name) else {
            let problem = names::unknown("field", name, known().map(|field| field.info().name));
            return Err(DecodeError::invalid(Fault::UnknownName, path(), problem));
        };
        if fields.contains(&field) {
            return Err(DecodeError::field(path(), format!("{name} is listed twice")));
        }
        fields.push(field);
    }
    for (i, field) in fields.iter().enumerate() {
        if let Some(needs) = field.info().needs.filter(|needs| !(needs.are_met)(&env.rules)) {
            return Err(DecodeError::field(format!("{list}.names[{i}]"), needs.refusal));
        }
    }
    Ok(fields)
}

/// The names of fields, as a request lists them.
pub fn encode(fields: &[Field]) -> pb::FieldNames {
    pb::FieldNames { names: fields.iter().map(|field| field.info().name.to_owned()).collect() }
}

/// Spec of the only action of an environment.
pub fn action_spec(rules: &Rules) -> pb::TensorSpec {
    let description = match rules.action_model {
        ActionModel::Placement => "a placement, as its digits say".to_owned(),
        ActionModel::Keypress => {
            let keys = rules.keys().iter().map(|key| format!("{} {}", *key as u8, key.name()));
            keys.collect::<Vec<_>>().join(", ")
        }
    };
    pb::TensorSpec {
        name: "action".to_owned(),
        dtype: pb::DataType::Int32.into(),
        shape: vec![],
        low: Some(0.0),
        high: Some(f64::from(rules.num_actions() - 1)),
        description,
        kind: pb::TensorKind::Category.into(),
    }
}

/// The digits of actions or placements.
pub fn digits(digits: Vec<Digit>) -> Vec<pb::ActionDigit> {
    let digit = |Digit { name, size, description }| pb::ActionDigit {
        name: name.to_owned(),
        size,
        description: description.to_owned(),
    };
    digits.into_iter().map(digit).collect()
}

/// Digits without their descriptions, for frequent answers.
pub fn bare_digits(digits: Vec<Digit>) -> Vec<pb::ActionDigit> {
    let digit = |Digit { name, size, .. }| pb::ActionDigit {
        name: name.to_owned(),
        size,
        description: String::new(),
    };
    digits.into_iter().map(digit).collect()
}

impl From<&FieldSpec> for pb::TensorSpec {
    fn from(spec: &FieldSpec) -> pb::TensorSpec {
        pb::TensorSpec {
            name: spec.name.to_owned(),
            dtype: pb::DataType::from(spec.dtype).into(),
            shape: spec.shape.clone(),
            low: spec.low,
            high: spec.high,
            description: spec.description.to_owned(),
            kind: pb::TensorKind::from(spec.kind).into(),
        }
    }
}

impl From<&FieldInfo> for pb::FieldInfo {
    fn from(info: &FieldInfo) -> pb::FieldInfo {
        pb::FieldInfo {
            name: info.name.to_owned(),
            dtype: pb::DataType::from(info.dtype).into(),
            dims: info.dims.iter().map(|dim| dim.name().to_owned()).collect(),
            description: info.description.to_owned(),
        }
    }
}

impl From<Kind> for pb::TensorKind {
    fn from(kind: Kind) -> pb::TensorKind {
        match kind {
            Kind::Number => pb::TensorKind::Number,
            Kind::Category => pb::TensorKind::Category,
            Kind::Flag => pb::TensorKind::Flag,
        }
    }
}

impl From<DataType> for pb::DataType {
    fn from(dtype: DataType) -> pb::DataType {
        match dtype {
            DataType::Uint8 => pb::DataType::Uint8,
            DataType::Int8 => pb::DataType::Int8,
            DataType::Uint16 => pb::DataType::Uint16,
            DataType::Int32 => pb::DataType::Int32,
            DataType::Uint32 => pb::DataType::Uint32,
            DataType::Int64 => pb::DataType::Int64,
            DataType::Uint64 => pb::DataType::Uint64,
            DataType::Float32 => pb::DataType::Float32,
            DataType::Float64 => pb::DataType::Float64,
            DataType::Bool => pb::DataType::Bool,
        }
    }
}

/// The description of the fields with a role, for `GetCatalog`.
pub fn infos(role: Role) -> Vec<pb::FieldInfo> {
    Field::with_role(role).map(|field| field.info().into()).collect()
}
