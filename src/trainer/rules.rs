//! Rules in summaries: fields and values, in the words of the flags.

use serde_json::{Map, Value, json};

use tetrion_core::engine::{Changes, FieldValue, PRESETS, Rules};

/// Differences between rules and their preset, except the size. Empty for a preset that only the server knows.
fn changed(preset: &str, rules: &Rules) -> Changes {
    let preset = PRESETS.iter().find(|row| row.name == preset);
    let mut changes = preset.map_or_else(Changes::default, |preset| rules.changes_from(&preset.rules));
    for of_size in ["width", "height"] {
        changes.remove(of_size);
    }
    changes
}

/// Differences between rules and their preset, except the size, as `--json` shows them.
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

/// Changes as JSON for `--json`: an object with the names of the protocol, as in `{"garbage":
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
