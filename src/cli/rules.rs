//! The flags for the rules, which every subcommand that plays shares, and rules as fields and values in files and summaries.
//!
//! Both follow from the engine's table of fields: nothing here names a field but the size, which some commands treat apart.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::client::RulesChoice;
use crate::engine::{
    Changes, ChoiceValue, FieldKind, FieldValue, PRESETS, PieceSet, RULES_FIELDS, Rules, RulesField,
};
use crate::wire::rules;

/// The options for the rules: a preset, and the changes to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesArgs {
    /// The rules preset.
    pub rules: Option<String>,
    /// The changes to it.
    pub changes: Changes,
}

/// Name of the group of these flags.
const GROUP: &str = "RulesArgs";

/// Id of the flag for a field, such as `garbage_delay` for `garbage.delay`. The flag has hyphens: `--garbage-delay`.
fn id(field: &RulesField) -> String {
    field.name.replace('.', "_")
}

impl Args for RulesArgs {
    fn group_id() -> Option<clap::Id> {
        Some(GROUP.into())
    }

    fn augment_args(command: Command) -> Command {
        let preset = Arg::new("rules")
            .long("rules")
            .value_name("PRESET")
            .help("The rules preset [default: simplified]");
        let group = ArgGroup::new(GROUP).multiple(true).args(RulesArgs::ids());
        command.arg(preset).args(RULES_FIELDS.iter().map(arg)).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        RulesArgs::augment_args(command)
    }
}

impl FromArgMatches for RulesArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<RulesArgs, clap::Error> {
        let mut args = RulesArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        if let Some(preset) = matches.get_one::<String>("rules") {
            self.rules = Some(preset.clone());
        }
        for field in &RULES_FIELDS {
            if let Some(&value) = matches.get_one::<FieldValue>(&id(field)) {
                self.changes.set(field.name, value).expect("it is a field of the rules");
            }
        }
        Ok(())
    }
}

/// The flag for a field.
fn arg(field: &'static RulesField) -> Arg {
    let value_name = match field.kind {
        FieldKind::Count { .. } => "N",
        FieldKind::Number { .. } => "NUMBER",
        FieldKind::Numbers { .. } => "NUMBERS",
        FieldKind::Flag { .. } => "BOOL",
        FieldKind::Choice { .. } => "NAME",
        FieldKind::Pieces { .. } => "SET",
    };
    let bounds = match field.kind {
        FieldKind::Count { .. } => format!(", {}", field.expects()),
        FieldKind::Number { bounds, .. } if bounds.most <= 100.0 => format!(", {}", field.expects()),
        FieldKind::Numbers { .. } => ", separated by commas".to_owned(),
        _ => String::new(),
    };
    Arg::new(id(field))
        .long(id(field).replace('_', "-"))
        .value_name(value_name)
        .value_parser(value_parser(field))
        .allow_hyphen_values(matches!(field.kind, FieldKind::Numbers { .. }))
        .help(format!("{}{bounds} [default: {}]", field.about, field.default))
}

/// The parser of a field's values. Those of a choice are listed with their meanings in `--help`.
fn value_parser(field: &'static RulesField) -> ValueParser {
    let parse = |text: &str| rules::parse(field, text);
    match field.kind {
        FieldKind::Count { least, most, .. } => {
            let range = i64::from(least)..=i64::from(most);
            clap::value_parser!(u32).range(range).map(FieldValue::Count).into()
        }
        FieldKind::Number { .. } => ValueParser::new(|text: &str| text.parse().map(FieldValue::Number)),
        FieldKind::Choice { values, .. } => {
            let about = |value: &ChoiceValue| value.meaning.trim_end_matches('.');
            let values = values.iter().map(|value| PossibleValue::new(value.name).help(about(value)));
            PossibleValuesParser::new(values).try_map(move |name| parse(&name)).into()
        }
        _ => ValueParser::new(parse),
    }
}

impl RulesArgs {
    /// The ids of all of them.
    pub fn ids() -> impl Iterator<Item = clap::Id> {
        ["rules".to_owned()].into_iter().chain(RULES_FIELDS.iter().map(id)).map(clap::Id::from)
    }

    /// The rules as a request names them. Fields that the flags leave open are those of `others`.
    pub fn choice(&self, others: RulesChoice) -> RulesChoice {
        RulesChoice {
            preset: self.rules.clone().unwrap_or(others.preset),
            changes: self.changes.clone().or(&others.changes),
        }
    }

    /// The rules as a request names them, with at least this many next pieces shown unless the flags say how many.
    pub fn choice_that_shows(&self, least: u32, others: RulesChoice) -> RulesChoice {
        let mut choice = self.choice(others);
        if self.changes.get("preview").is_none() {
            let of_preset = Rules::preset(&choice.preset).unwrap_or_default().preview.into();
            if choice.changes.count("preview").unwrap_or(of_preset) < least {
                choice.changes.set("preview", least).expect("rules have a preview");
            }
        }
        choice
    }
}

/// What rules change of a preset besides its size. Nothing if the preset is one that only the server knows.
fn changed(preset: &str, rules: &Rules) -> Changes {
    let preset = PRESETS.iter().find(|row| row.name == preset);
    let mut changes = preset.map_or_else(Changes::default, |preset| rules.changes_from(&preset.rules));
    for of_size in ["width", "height"] {
        changes.remove(of_size);
    }
    changes
}

/// What rules change of a preset besides its size, as files and `--json` have it.
pub fn changes(preset: &str, rules: &Rules) -> Map<String, Value> {
    to_json(&changed(preset, rules))
}

/// A preset, and what rules change of it besides its size, in words.
pub fn in_words(preset: &str, rules: &Rules) -> String {
    let changes = changed(preset, rules);
    let changes: Vec<String> =
        changes.iter().map(|(field, value)| format!("{} {value}", field.name)).collect();
    if changes.is_empty() { preset.to_owned() } else { format!("{preset} with {}", changes.join(", ")) }
}

/// Changes as files and `--json` have them: an object with the names of the protocol, as in `{"garbage": {"delay": 2}}`.
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

/// Changes from an object of a file.
///
/// # Errors
/// The field that is unknown or has a value of another kind.
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

/// The value of a field from a file; `None` if it is of another kind.
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

/// Writes changes into a file as an object, for serde.
///
/// # Errors
/// If the serializer refuses the object.
pub fn write_changes<S: Serializer>(changes: &Changes, serializer: S) -> Result<S::Ok, S::Error> {
    to_json(changes).serialize(serializer)
}

/// Reads changes from an object of a file, for serde.
///
/// # Errors
/// A field that is unknown or has a value of another kind.
pub fn read_changes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Changes, D::Error> {
    let object = Map::<String, Value>::deserialize(deserializer)?;
    from_json(&object).map_err(D::Error::custom)
}
