//! Writes the expected answers into the files of the kit, and the file of encoded answers for clients.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::{Kind, MessageDescriptor};
use serde_json::{Map, Value};
use tetrion::client::RawClient;
use tetrion::conformance::{
    Expected, KIT, Names, Request, Script, ScriptLine, ScriptStep, ServerEvent, encode, from_value, methods,
    run,
};

/// Columns of a line, where it can be broken.
const WIDTH: usize = 118;

/// Fields that are recorded as `*` at first: times, limits and facts of a server, and texts for people.
const ANY: [&str; 15] = [
    "createTime",
    "description",
    "elapsed",
    "expireTime",
    "formula",
    "kernel",
    "limits",
    "maxResponseBytes",
    "numThreads",
    "protocolRevision",
    "#message",
    "serverVersion",
    "source",
    "ttl",
    "prompt",
];

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

/// The files of the kit, as they are now.
pub fn scripts() -> Vec<Script> {
    let read = |name| fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
    KIT.iter()
        .map(|(name, _)| Script::parse(name, &read(name)).unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

/// Writes what a server answers into the files, where it differs. Names, `*` and `...` stay.
pub async fn record(client: &RawClient) {
    let mut events = BTreeMap::<String, Vec<(ScriptLine, ServerEvent, Names)>>::new();
    let scripts = scripts();
    let report = run(client, &scripts, true, |script, line, event, names| {
        let event = (line.clone(), event.clone(), names.clone());
        events.entry(script.name.clone()).or_default().push(event);
    });
    let unplayed: Vec<String> = report.await.differences.iter().map(ToString::to_string).collect();
    let unplayed: Vec<&String> = unplayed.iter().filter(|text| text.contains(": not run")).collect();
    for (name, events) in events {
        let path = folder().join(format!("{name}.txt"));
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<Option<String>> = text.lines().map(|line| Some(line.to_owned())).collect();
        let mut write = |ScriptLine { number, num_more, .. }: &ScriptLine, text: String| {
            lines[number - 1] = Some(text);
            lines[*number..number + num_more].fill(None);
        };
        for line in
            scripts.iter().filter(|script| script.name == name).flat_map(|script| script.cases.concat())
        {
            let (sign, request) = match &line.step {
                ScriptStep::Call { method, request } => (format!("> {method}"), request),
                ScriptStep::Send(request) => (">>".to_owned(), request),
                ScriptStep::Expect(_) => continue,
            };
            if let Request::Message(value) = request {
                write(&line, format!("{sign} {}", written(value, sign.len() + 1, 2)));
            }
        }
        for (line, event, names) in events {
            if let ScriptStep::Expect(expected) = &line.step {
                write(&line, rewritten(expected, &event, &names));
            }
        }
        let text: String = lines.into_iter().flatten().map(|line| line + "\n").collect();
        fs::write(path, text).unwrap();
    }
    assert!(unplayed.is_empty(), "{unplayed:#?}");
}

fn rewritten(expected: &Expected, event: &ServerEvent, names: &Names) -> String {
    let (old, is_stream) = match expected {
        Expected::Answer(value) | Expected::Refusal(value) => (value, false),
        Expected::Next(value) | Expected::Break(value) => (value, true),
        Expected::End => (&Value::Null, true),
    };
    let (sign, found) = match event {
        ServerEvent::Message(found) => ("<", found),
        ServerEvent::Refusal(found) => ("!", found),
        ServerEvent::End => return "<< end".to_owned(),
        ServerEvent::Wrong(problem) => panic!("{problem}"),
    };
    let sign = if is_stream { sign.repeat(2) } else { sign.to_owned() };
    let value = merged(old, found, names);
    let text = written(&value, sign.len() + 1, 2);
    format!("{sign} {text}")
}

/// The found value, with the names and the `*` of the expected one.
fn merged(old: &Value, found: &Value, names: &Names) -> Value {
    let is_kept = |old: &str| old == "*" || old.starts_with('$');
    match (old, found) {
        (Value::String(text), _) if is_kept(text) => old.clone(),
        (Value::Array(list), Value::Array(values)) if list.last().is_some_and(|last| last == "...") => {
            let named = |old: &Value| {
                let name = names.resolve(&old["name"]).ok()?;
                let found = values.iter().find(|value| value["name"] == name);
                found.map(|found| merged(old, found, names))
            };
            list.iter().filter_map(named).chain([Value::from("...")]).collect()
        }
        (_, Value::Array(values)) => {
            values.iter().enumerate().map(|(index, value)| merged(&old[index], value, names)).collect()
        }
        (_, Value::Object(fields)) => {
            let field = |(key, value): (&String, &Value)| {
                let value = match old.get(key) {
                    None if ANY.contains(&&**key) => "*".into(),
                    old => merged(old.unwrap_or(&Value::Null), value, names),
                };
                (key.clone(), value)
            };
            let is_open = old.get("...").is_some();
            let is_there = |key: &String| !is_open || old.get(key).is_some();
            let fields = fields.iter().filter(|(key, _)| is_there(key)).map(field);
            let more = is_open.then(|| ("...".to_owned(), Value::from("*")));
            fields.chain(more).collect::<Map<_, _>>().into()
        }
        (_, Value::String(text)) if text.len() > 8 => {
            let name = names.0.iter().find(|(_, value)| *value == found).map(|(name, _)| name);
            name.map_or_else(|| found.clone(), |name| name.as_str().into())
        }
        _ => found.clone(),
    }
}

/// A value as text that starts in this column, on several lines with this indentation if it is long.
fn written(value: &Value, column: usize, indent: usize) -> String {
    let flat = flat(value);
    if column + flat.chars().count() <= WIDTH {
        return flat;
    }
    let inner = " ".repeat(indent + 2);
    match value {
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                let key = format!("{inner}{key:?}: ");
                let value = written(value, key.len(), indent + 2);
                format!("{key}{value}")
            };
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{\n{}\n{}}}", fields.join(",\n"), &inner[2..])
        }
        Value::Array(list) if list.iter().any(|value| value.is_object() || value.is_array()) => {
            let element = |value| format!("{inner}{}", written(value, indent + 2, indent + 2));
            let elements: Vec<String> = list.iter().map(element).collect();
            format!("[\n{}\n{}]", elements.join(",\n"), &inner[2..])
        }
        Value::Array(list) => {
            let mut lines = vec![inner.clone()];
            for (index, value) in list.iter().enumerate() {
                let word = self::flat(value) + if index + 1 < list.len() { "," } else { "" };
                let line = lines.last_mut().unwrap();
                if line.trim().is_empty() || line.len() + word.len() < WIDTH {
                    *line += if line.trim().is_empty() { "" } else { " " };
                    *line += &word;
                } else {
                    lines.push(format!("{inner}{word}"));
                }
            }
            format!("[\n{}\n{}]", lines.join("\n"), &inner[2..])
        }
        _ => flat,
    }
}

/// A value on one line.
fn flat(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("{key:?}: {}", flat(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(flat).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

/// The expected answers as encoded messages: file and line, the message's name, and its bytes in
/// base64. Parts that differ from
/// server to server are left out; names of sessions are those of the kit.
pub fn answers() -> String {
    let mut text = String::from(
        "# The expected answers of the kit as encoded messages, for the tests of clients: UPDATE_GOLDEN=1 cargo test.\n",
    );
    for script in scripts() {
        for case in &script.cases {
            let (mut call, mut stream) = (None, None);
            for line in case {
                let (answer, value) = match &line.step {
                    ScriptStep::Call { method, .. } => {
                        let method = methods().find(|known| known.name() == method).unwrap();
                        let is_stream = method.is_client_streaming() || method.is_server_streaming();
                        *(if is_stream { &mut stream } else { &mut call }) = Some(method.output());
                        continue;
                    }
                    ScriptStep::Expect(Expected::Answer(value)) => (call.clone().unwrap(), value),
                    ScriptStep::Expect(Expected::Next(value)) => (stream.clone().unwrap(), value),
                    _ => continue,
                };
                let plain = plain(value, &Kind::Message(answer.clone())).unwrap();
                let name = format!("{}.txt:{}", script.name, line.number);
                let message =
                    from_value(answer.clone(), &plain).unwrap_or_else(|error| panic!("{name}: {error}"));
                let bytes = STANDARD.encode(encode(&message));
                text += format!("{name} {} {bytes}", answer.name()).trim_end();
                text += "\n";
            }
        }
    }
    text
}

/// The value without its unknown parts.
fn plain(value: &Value, kind: &Kind) -> Option<Value> {
    let message: Option<&MessageDescriptor> = kind.as_message();
    match value {
        _ if message.is_some_and(|message| message.full_name() == "google.rpc.Status") => None,
        Value::String(text) if text == "*" || text == "..." => None,
        Value::String(text) if text.starts_with('$') && *kind != Kind::String => None,
        Value::Array(list) => Some(list.iter().filter_map(|value| plain(value, kind)).collect()),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                if name == "..." {
                    return None;
                }
                let field = message.and_then(|message| message.get_field_by_json_name(name));
                Some((name.clone(), plain(value, &field.unwrap().kind())?))
            };
            Some(fields.iter().filter_map(field).collect::<Map<_, _>>().into())
        }
        value => Some(value.clone()),
    }
}

/// Checks that every call of a case has its answer, and that every stream but a watch has its end.
pub fn check_case(file: &str, case: &[ScriptLine]) {
    let mut open: Option<&str> = None;
    let mut lines = case.iter().peekable();
    while let Some(ScriptLine { number, step, .. }) = lines.next() {
        let at = format!("conformance/{file}.txt:{number}");
        match step {
            ScriptStep::Call { method, .. } => {
                let known = methods().find(|known| known.name() == method).unwrap_or_else(|| panic!("{at}"));
                let is_stream = known.is_client_streaming() || known.is_server_streaming();
                if is_stream {
                    assert!(
                        open.is_none_or(|open| open == "WatchSession"),
                        "{at}: a stream has no end before"
                    );
                    open = Some(method);
                } else {
                    let next = lines.peek().map(|line| &line.step);
                    let answer =
                        matches!(next, Some(ScriptStep::Expect(Expected::Answer(_) | Expected::Refusal(_))));
                    assert!(answer, "{at}: expected an answer on the next line");
                }
            }
            ScriptStep::Expect(Expected::Break(_) | Expected::End) => open = None,
            _ => {}
        }
    }
    assert!(open.is_none_or(|open| open == "WatchSession"), "conformance/{file}.txt: a stream has no end");
}
