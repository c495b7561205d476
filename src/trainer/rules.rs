//! Rules in files and summaries: fields and values, in the words of the protocol.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use tetrion_client::{RulesChoice, Started};
use tetrion_core::engine::{Changes, FieldKind, FieldValue, PRESETS, PieceSet, Rules, RulesField};
use tetrion_protocol::rules;

/// The rules of the games with every field, in the words of the protocol.
///
/// Files hold them as one object: the preset, the version, and the fields.
#[derive(Debug, Clone, PartialEq)]
pub struct RulesNote {
    /// Preset that the rules are based on.
    pub preset: String,
    /// Version of the rules: within one version, equal seeds and actions give equal games.
    pub rules_version: String,
    /// Every field that applies to the rules.
    pub fields: Changes,
}

impl Serialize for RulesNote {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = [("preset", &self.preset), ("rules_version", &self.rules_version)];
        let mut object: Map<String, Value> =
            names.into_iter().map(|(name, value)| (name.to_owned(), value.as_str().into())).collect();
        object.extend(to_json(&self.fields));
        object.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RulesNote {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RulesNote, D::Error> {
        let mut object = Map::<String, Value>::deserialize(deserializer)?;
        let mut text = |name| match object.remove(name) {
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(D::Error::custom(format!("{name} is {other}, expected a text"))),
            None => Err(D::Error::missing_field(name)),
        };
        let (preset, rules_version) = (text("preset")?, text("rules_version")?);
        let fields = from_json(&object).map_err(D::Error::custom)?;
        Ok(RulesNote { preset, rules_version, fields })
    }
}

impl RulesNote {
    /// The rules that a server plays.
    pub fn of(Started { preset, rules, rules_version, .. }: &Started) -> RulesNote {
        RulesNote { preset: preset.clone(), rules_version: rules_version.clone(), fields: rules.fields() }
    }

    /// The rules as a request contains them, with every field.
    pub fn choice(&self) -> RulesChoice {
        RulesChoice { preset: self.preset.clone(), changes: self.fields.clone() }
    }
}

/// Differences between rules and their preset, except the size. Empty for a preset that only the server knows.
fn changed(preset: &str, rules: &Rules) -> Changes {
    let preset = PRESETS.iter().find(|row| row.name == preset);
    let mut changes = preset.map_or_else(Changes::default, |preset| rules.changes_from(&preset.rules));
    for of_size in ["width", "height"] {
        changes.remove(of_size);
    }
    changes
}

/// Differences between rules and their preset, except the size, as files and `--json` show them.
pub fn changes(preset: &str, rules: &Rules) -> Map<String, Value> {
    to_json(&changed(preset, rules))
}

/// A preset, and the differences between it and the rules, except the size, as text.
pub fn in_words(preset: &str, rules: &Rules) -> String {
    let changes = changed(preset, rules);
    let changes: Vec<String> =
        changes.iter().map(|(field, value)| format!("{} {value}", field.name)).collect();
    if changes.is_empty() { preset.to_owned() } else { format!("{preset} with {}", changes.join(", ")) }
}

/// Changes as JSON for files and `--json`: an object with the names of the protocol, as in `{"garbage":
/// {"delay_pieces": 2}}`.
pub fn to_json(changes: &Changes) -> Map<String, Value> {
    let mut object = Map::new();
    for (field, value) in changes.iter() {
        let value = match value {
            FieldValue::Count(count) => json!(count),
            FieldValue::Number(number) => json!(number),
            FieldValue::Numbers(numbers) => json!(numbers),
            FieldValue::Flag(flag) => json!(flag),
            FieldValue::Choice(name) => json!(name),
            FieldValue::Pieces(pieces) => json!(pieces.to_string()),
        };
        match field.name.split_once('.') {
            None => object.insert(field.name.to_owned(), value),
            Some((message, name)) => {
                let message = object.entry(message).or_insert_with(|| json!({}));
                message.as_object_mut().expect("made above").insert(name.to_owned(), value)
            }
        };
    }
    object
}

/// Reads changes from a JSON object.
///
/// # Errors
/// If a field is unknown, or its value has another type.
pub fn from_json(object: &Map<String, Value>) -> Result<Changes, String> {
    let mut changes = Changes::default();
    let mut put = |name: &str, value: &Value| {
        let field = rules::field(name)?;
        let value = value_of(field, value)
            .ok_or_else(|| format!("{name} is {value}, expected {}", field.expects()))?;
        changes.set(name, value).map_err(|error| error.to_string())
    };
    for (name, value) in object {
        match value {
            Value::Object(message) => {
                for (part, value) in message {
                    put(&format!("{name}.{part}"), value)?;
                }
            }
            value => put(name, value)?,
        }
    }
    Ok(changes)
}

/// The value of a field from a file; `None` if it has another type.
fn value_of(field: &RulesField, value: &Value) -> Option<FieldValue> {
    match field.kind {
        FieldKind::Count { .. } => Some(FieldValue::Count(value.as_u64()?.try_into().ok()?)),
        FieldKind::Number { .. } => value.as_f64().map(FieldValue::Number),
        FieldKind::Numbers { .. } => {
            let numbers: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
            Some(FieldValue::Numbers(numbers?.try_into().ok()?))
        }
        FieldKind::Flag { .. } => value.as_bool().map(FieldValue::Flag),
        FieldKind::Choice { .. } => rules::parse(field, value.as_str()?).ok(),
        FieldKind::Pieces { .. } => PieceSet::parse(value.as_str()?).ok().map(FieldValue::Pieces),
    }
}

/// Writes changes to a file as an object, for serde.
///
/// # Errors
/// If the serializer refuses the object.
pub fn write_changes<S: Serializer>(changes: &Changes, serializer: S) -> Result<S::Ok, S::Error> {
    to_json(changes).serialize(serializer)
}

/// Reads changes from an object in a file, for serde.
///
/// # Errors
/// If a field is unknown, or its value has another type.
pub fn read_changes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Changes, D::Error> {
    let object = Map::<String, Value>::deserialize(deserializer)?;
    from_json(&object).map_err(D::Error::custom)
}
