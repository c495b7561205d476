//! The kit has every call, field, name, choice and reason of the protocol, except for the ones that this file excuses.

use std::collections::{BTreeMap, BTreeSet};

use prost_reflect::{Kind, MessageDescriptor};
use serde_json::Value;
use tetrion::agents::{AGENTS, CONTROLLERS};
use tetrion::conformance::{Expected, Request, ScriptStep, Tensor, methods};
use tetrion::engine::{PIECE_SETS, PRESETS};
use tetrion::env::{FIELDS, Role};
use tetrion::features::{FEATURE_SETS, FEATURES};

use super::record::scripts;

/// Everything that the kit contains.
#[derive(Default)]
pub struct Content {
    calls: BTreeSet<String>,
    /// Fields as `Message.field`, with the texts of their values.
    fields: BTreeMap<String, BTreeSet<String>>,
    enum_values: BTreeSet<String>,
    reasons: BTreeSet<String>,
    dtypes: BTreeSet<i32>,
    keys: BTreeSet<String>,
}

impl Content {
    fn of_the_kit() -> Content {
        let mut content = Content::default();
        for script in scripts() {
            for case in &script.cases {
                let (mut call, mut stream) = (None, None);
                for line in case {
                    match &line.step {
                        ScriptStep::Call { method, request } => {
                            content.calls.insert(method.clone());
                            let method = methods().find(|known| known.name() == method).unwrap();
                            content.request(&method.input(), request);
                            let is_stream = method.is_client_streaming() || method.is_server_streaming();
                            *(if is_stream { &mut stream } else { &mut call }) = Some(method);
                        }
                        ScriptStep::Send(request) => {
                            content.request(&stream.as_ref().unwrap().input(), request)
                        }
                        ScriptStep::Expect(Expected::Answer(value)) => {
                            content.value(&Kind::Message(call.as_ref().unwrap().output()), value);
                        }
                        ScriptStep::Expect(Expected::Next(value)) => {
                            content.value(&Kind::Message(stream.as_ref().unwrap().output()), value);
                        }
                        ScriptStep::Expect(Expected::Refusal(value) | Expected::Break(value)) => {
                            content.reason(value)
                        }
                        ScriptStep::Expect(Expected::End) => {}
                    }
                }
            }
        }
        content
    }

    fn request(&mut self, descriptor: &MessageDescriptor, request: &Request) {
        if let Request::Message(value) = request {
            self.value(&Kind::Message(descriptor.clone()), value);
        }
    }

    fn reason(&mut self, refusal: &Value) {
        self.reasons.insert(refusal["reason"].as_str().unwrap().to_owned());
    }

    fn value(&mut self, kind: &Kind, value: &Value) {
        match (kind, value) {
            (_, Value::Array(list)) => list.iter().for_each(|value| self.value(kind, value)),
            (Kind::Message(message), value) if message.full_name() == "google.rpc.Status" => {
                self.reason(value)
            }
            (Kind::Message(message), Value::Object(fields)) => {
                for (name, value) in fields.iter().filter(|(name, _)| *name != "...") {
                    let field = message.get_field_by_json_name(name).unwrap();
                    let name = format!("{}.{}", message.name(), field.name());
                    let texts = self.fields.entry(name.clone()).or_default();
                    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                    texts.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
                    self.value(&field.kind(), value);
                    if name == "EnumeratePlacementsResponse.keys" {
                        let tensor = Tensor::from_text(value.as_str().unwrap()).unwrap();
                        self.keys.extend(tensor.elements().unwrap());
                    }
                }
            }
            (Kind::Message(_), Value::String(text)) => {
                self.dtypes.extend(Tensor::from_text(text).map(|tensor| tensor.dtype));
            }
            (Kind::Enum(_), Value::String(name)) => drop(self.enum_values.insert(name.clone())),
            _ => {}
        }
    }

    fn has(&self, field: &str, text: &str) -> bool {
        self.fields.get(field).is_some_and(|texts| texts.contains(text))
    }
}

/// The descriptors of all messages of `tetrion.v1`.
fn messages() -> Vec<MessageDescriptor> {
    let pool = methods().next().unwrap().parent_pool().clone();
    pool.all_messages().filter(|message| message.package_name() == "tetrion.v1").collect()
}

/// Fields that no line has, and why.
const NO_FIELD: [(&str, &str); 8] = [
    ("Limits.", "differ from server to server"),
    ("Recording.invalid_action_reward", "evaluations have no penalty"),
    ("Recording.start", "evaluations start with empty playfields"),
    ("Recording.player", "left to the caller"),
    ("RecordedOpponent.player", "left to the caller"),
    ("Recording.origin", "left to the caller"),
    ("Recording.hole_columns", "evaluations take no columns of holes"),
    ("RecordedOpponent.hole_columns", "evaluations take no columns of holes"),
];

/// Choices that no line names.
const NO_CHOICE: [(&str, &str); 6] = [
    ("_UNSPECIFIED", "is not sent: it is the number 0, which JSON leaves out"),
    ("KEY_", "is a number in tensors"),
    ("EPISODE_END_PIECE_LIMIT", "is for `ends` of evaluations, a tensor"),
    ("EPISODE_END_WON", "is in the info `end`, and in `ends` of evaluations, tensors"),
    ("EPISODE_END_DRAWN", "is in the info `end`, and in `ends` of evaluations, tensors"),
    ("EPISODE_END_INVALID_ACTION", "is for sessions that nothing watches, in the info `end`"),
];

/// Reasons that an ordinary client does not get from an ordinary server.
const NO_REASON: [(&str, &str); 16] = [
    ("INVALID_TOKEN", "only servers with tokens"),
    ("UNKNOWN_HOST", "only servers without tokens on the loopback interface"),
    ("TOO_MUCH_WORK", "depends on a limit of the server"),
    ("REQUEST_TOO_LARGE", "depends on a limit of the server"),
    ("ANSWER_UNREAD", "takes ten seconds and all places for evaluations"),
    ("SESSION_LIMIT", "depends on a limit of the server"),
    ("ENV_LIMIT", "depends on a limit of the server"),
    ("EVALUATION_LIMIT", "depends on a limit of the server"),
    ("WATCH_LIMIT", "depends on a limit of the server"),
    ("MEMORY_LIMIT", "depends on a limit of the server"),
    ("CALL_LIMIT", "depends on a limit of the server"),
    ("REQUEST_LIMIT", "depends on a limit of the server"),
    ("ANSWER_LIMIT", "depends on a limit of the server"),
    ("SLOW_REQUEST", "takes half a minute"),
    ("DRAINING", "only while a server stops"),
    ("INTERNAL", "a bug"),
];

/// Calls, fields, choices and reasons that no line of the kit has, in words.
pub fn missing() -> Vec<String> {
    let content = Content::of_the_kit();
    let mut missing = Vec::new();
    let mut expect = |is_there: bool, what: String| {
        if !is_there {
            missing.push(what);
        }
    };
    for method in methods() {
        expect(content.calls.contains(method.name()), format!("the call {}", method.name()));
    }
    for message in messages() {
        for field in message.fields() {
            let name = format!("{}.{}", message.name(), field.name());
            let is_tensor = message.name() == "Tensor";
            let is_excused = NO_FIELD.iter().any(|(excused, _)| name.contains(excused));
            expect(
                is_tensor || content.fields.contains_key(&name) != is_excused,
                format!("the field {name}"),
            );
            if let Kind::Enum(choices) = field.kind() {
                for choice in choices.values() {
                    let name = choice.name();
                    let is_excused = NO_CHOICE.iter().any(|(part, _)| name.contains(part));
                    expect(content.enum_values.contains(name) || is_excused, format!("the choice {name}"));
                }
            }
        }
    }
    for dtype in [1, 2, 3, 5, 6, 7, 8, 9, 11, 12] {
        expect(content.dtypes.contains(&dtype), format!("a tensor of the type {dtype}"));
    }
    for key in 0..=11 {
        let is_idle = key == 0; // no list of keys waits
        expect(content.keys.contains(&key.to_string()) || is_idle, format!("the key {key} in a list"));
    }
    for preset in PRESETS {
        expect(content.has("Rules.preset", preset.name), format!("the preset {}", preset.name));
    }
    missing.extend(names(&content));
    let table = include_str!("../../../proto/tetrion/v1/environment_service.proto");
    let rows =
        table.lines().filter_map(|line| line.strip_prefix("//   ")).map(|line| line.split_whitespace());
    let is_capital = |word: &str| {
        word.len() > 4 && word.chars().all(|letter| letter == '_' || letter.is_ascii_uppercase())
    };
    let rows = rows.map(|words| words.take(2).collect::<Vec<_>>());
    let reasons: Vec<&str> = rows
        .filter(|row| row.len() == 2 && row.iter().all(|word| is_capital(word)))
        .map(|row| row[1])
        .collect();
    assert!(reasons.len() > 30, "{reasons:?}");
    for reason in reasons {
        let is_excused = NO_REASON.iter().any(|(excused, _)| *excused == reason);
        if content.reasons.contains(reason) == is_excused {
            missing.push(format!("the reason {reason}"));
        }
    }
    missing
}

/// Names that the kit does not use.
fn names(content: &Content) -> Vec<String> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    names.extend(PIECE_SETS.iter().map(|set| ("Rules.piece_set", set.name)));
    names.extend(FEATURE_SETS.iter().map(|set| ("FeatureSelection.feature_set", set.name)));
    names.extend(FEATURES.iter().map(|feature| ("FeatureNames.names", feature.name)));
    names.extend(CONTROLLERS.iter().map(|controller| ("Policy.name", controller.name)));
    names.extend(AGENTS.iter().map(|agent| ("Policy.name", agent.name)));
    names.extend(
        FIELDS.iter().filter(|field| field.role != Role::Mask).map(|field| ("FieldNames.names", field.name)),
    );
    let missing = names.into_iter().filter(|(field, name)| !content.has(field, name));
    missing.map(|(field, name)| format!("{name} as {field}")).collect()
}
