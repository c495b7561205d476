//! The table of rules fields: complete, equal to the protocol's message, and the same rules in every form.

use std::collections::BTreeSet;

use prost::Message;
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FileDescriptorSet};
use tetrion_core::engine::{Changes, FieldKind, PRESETS, RULES_FIELDS, Rules, RulesField};
use tetrion_protocol::rules::{ResolvedRules, RulesChoice, parse};
use tetrion_protocol::{FILE_DESCRIPTOR_SET, pb};

/// Every preset, and rules that have all that no preset has.
fn specimens() -> Vec<Rules> {
    let keys = [("action_model", "keypress"), ("fall_delay", "3"), ("lock_resets", "0"), ("spawn_row", "19")];
    let garbage = [
        ("garbage.lines_per_piece", "1.5"),
        ("garbage.hole_move_chance", "0"),
        ("garbage.delay_pieces", "7"),
    ];
    let drawn =
        [("piece_set", "A=X./XX B=XX"), ("scoring.lines", "1,-2,3.5,1e15"), ("scoring.game_end", "-4")];
    let with = |preset: &str, fields: &[(&str, &str)]| {
        let mut changes = Changes::default();
        for (name, value) in fields {
            changes.set(name, parse(RulesField::named(name).unwrap(), value).unwrap()).unwrap();
        }
        Rules::preset(preset).unwrap().with(&changes).unwrap()
    };
    let presets = PRESETS.iter().map(|preset| preset.rules);
    presets.chain([with("guideline", &keys), with("lab", &garbage), with("simplified", &drawn)]).collect()
}

#[test]
fn the_fields_are_those_of_the_protocol() {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let message = |name: &str| -> &DescriptorProto {
        let messages = set.file.iter().flat_map(|file| &file.message_type);
        messages.into_iter().find(|message| message.name() == name).unwrap()
    };
    let mut paths = BTreeSet::new();
    for field in &message("Rules").field {
        match field.r#type() {
            Type::Message => {
                let parts = &message(field.type_name().rsplit('.').next().unwrap()).field;
                paths.extend(parts.iter().map(|part| format!("{}.{}", field.name(), part.name())));
            }
            _ => drop(paths.insert(field.name().to_owned())),
        }
    }
    assert!(paths.remove("preset"));
    assert_eq!(paths, RULES_FIELDS.iter().map(|field| field.name.to_owned()).collect());
}

#[test]
fn rules_are_the_same_in_every_form() {
    for rules in specimens() {
        let resolved = ResolvedRules::from(rules);
        let message = pb::Rules::from(&resolved);
        assert_eq!(ResolvedRules::try_from(&message).unwrap().rules, rules, "a message");
        let choice = RulesChoice::from(&resolved);
        assert_eq!(pb::Rules::from(&choice), message);
        assert_eq!(RulesChoice::try_from(&message).unwrap(), choice);
        let fields = rules.fields();
        for (field, value) in fields.iter() {
            let text = value.to_string().replace(['[', ']'], "");
            assert_eq!(parse(field, &text).unwrap(), value, "the flag for {}", field.name);
        }
        for preset in &PRESETS {
            let changes = rules.changes_from(&preset.rules);
            match preset.rules.with(&changes) {
                Ok(changed) => assert_eq!(changed.fields(), rules.fields(), "{} changed", preset.name),
                // What a preset has and other rules lack can't be changed away, as garbage could.
                Err(error) => panic!("{} cannot become {rules:?}: {error}", preset.name),
            }
        }
    }
}

#[test]
fn every_value_at_the_bounds_is_taken_and_one_past_them_is_refused() {
    for field in &RULES_FIELDS {
        let refused = |text: &str| {
            let mut changes = Changes::default();
            changes.set(field.name, parse(field, text).unwrap()).unwrap();
            let keys = Rules::preset("guideline").unwrap();
            let keys = keys.with(
                &RulesChoice::default()
                    .with("action_model", tetrion_core::engine::ActionModel::Keypress)
                    .unwrap()
                    .changes,
            );
            keys.unwrap().with(&changes).unwrap_err().to_string()
        };
        match field.kind {
            FieldKind::Count { most, .. } => {
                let text = (u32::from(most) + 1).to_string();
                let expected = format!("{} is {text}, expected ", field.name);
                assert!(refused(&text).starts_with(&expected), "{}", refused(&text));
            }
            FieldKind::Number { .. } if field.name.starts_with("garbage.") => {
                assert!(refused("NaN").contains("expected "), "{}", refused("NaN"));
            }
            FieldKind::Number { .. } => assert!(refused("inf").contains(" is inf, expected a finite")),
            FieldKind::Numbers { .. } => assert!(refused("0,0,0,NaN").contains("expected four numbers")),
            FieldKind::Flag { .. } => assert!(parse(field, "maybe").is_err()),
            FieldKind::Choice { values, .. } => {
                for (number, value) in (1..).zip(values) {
                    assert_eq!((value.number, parse(field, value.name).is_ok()), (number, true));
                }
                assert!(parse(field, "nonsense").unwrap_err().contains("expected one of"));
            }
            FieldKind::Pieces { .. } => assert!(parse(field, "nonsense").is_err()),
        }
    }
}
