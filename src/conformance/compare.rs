//! Expected and found values, compared part by part.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::tensor::Tensor;

/// Marks an expected object or list that may contain more.
const MORE: &str = "...";
/// Most differences of an answer that are looked for.
const MAX_MISMATCHES: usize = 10;
/// Longest value in a report, in characters.
const LONGEST: usize = 200;

/// Values of the names in a case: `$session` has the value that it stood for when it first appeared.
#[derive(Clone, Debug, Default)]
pub struct Names(pub BTreeMap<String, Value>);

/// Two values that should be equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Path of the part that differs, such as `rewards[1]`; empty for the whole.
    pub path: String,
    /// The value of the kit; empty if the line could not be run.
    pub expected: String,
    /// The value of the server, or why the line could not be run.
    pub found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { path, expected, found } = self;
        if expected.is_empty() {
            return f.write_str(found);
        }
        let separator = if path.is_empty() { "" } else { ": " };
        write!(f, "{path}{separator}{expected} expected, {found} found")
    }
}

impl Names {
    /// The request with the values of its names.
    ///
    /// # Errors
    /// The first name that no answer has given.
    pub fn resolve(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(name) if name.starts_with('$') => {
                self.0.get(name).ok_or_else(|| name.clone())?.clone()
            }
            Value::Array(list) => list.iter().map(|value| self.resolve(value)).collect::<Result<_, _>>()?,
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| Ok((key.clone(), self.resolve(value)?)))
                .collect::<Result<Map<_, _>, String>>()?
                .into(),
            value => value.clone(),
        })
    }

    /// Compares an answer with the expected one, and gives new names their values.
    pub fn compare(&mut self, expected: &Value, found: &Value) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        self.walk("", expected, Some(found), &mut mismatches);
        if mismatches.len() > MAX_MISMATCHES {
            mismatches.truncate(MAX_MISMATCHES);
            mismatches.push(Mismatch::note("and more differences"));
        }
        mismatches
    }

    fn walk(&mut self, path: &str, expected: &Value, found: Option<&Value>, mismatches: &mut Vec<Mismatch>) {
        if mismatches.len() > MAX_MISMATCHES {
            return;
        }
        let expected = match (expected, found) {
            (Value::String(any), Some(_)) if any == "*" => return,
            (Value::String(name), Some(found)) if name.starts_with('$') => {
                self.0.entry(name.clone()).or_insert_with(|| found.clone()).clone()
            }
            _ => expected.clone(),
        };
        match (&expected, found) {
            (Value::Object(expected), Some(Value::Object(found))) => {
                for (key, value) in expected.iter().filter(|(key, _)| *key != MORE) {
                    self.walk(&member(path, key), value, found.get(key), mismatches);
                }
                let is_open = expected.contains_key(MORE);
                for (key, value) in found.iter().filter(|(key, _)| !is_open && !expected.contains_key(*key)) {
                    mismatches.push(Mismatch::new(&member(path, key), None, Some(value)));
                }
            }
            (Value::Array(expected), Some(Value::Array(found))) => {
                self.walk_list(path, expected, found, mismatches);
            }
            (Value::Number(expected), Some(Value::Number(found))) if expected.as_f64() == found.as_f64() => {}
            (expected, found) if Some(expected) == found => {}
            (Value::String(expected), Some(Value::String(found))) => {
                mismatches.extend(elements(path, expected, found).unwrap_or_else(|| {
                    vec![Mismatch::new(path, Some(&expected.clone().into()), Some(&found.clone().into()))]
                }));
            }
            (expected, found) => mismatches.push(Mismatch::new(path, Some(expected), found)),
        }
    }

    /// Compares lists. If the expected list ends in `...`, its elements are looked up by their names.
    fn walk_list(&mut self, path: &str, expected: &[Value], found: &[Value], mismatches: &mut Vec<Mismatch>) {
        if let [named @ .., Value::String(more)] = expected
            && more == MORE
        {
            for value in named {
                let name = self.resolve(&value["name"]).unwrap_or_default();
                let path = format!("{path}[{name}]");
                self.walk(&path, value, found.iter().find(|found| found["name"] == name), mismatches);
            }
            return;
        }
        for (index, value) in expected.iter().enumerate() {
            self.walk(&format!("{path}[{index}]"), value, found.get(index), mismatches);
        }
        for (index, value) in found.iter().enumerate().skip(expected.len()).take(MAX_MISMATCHES) {
            mismatches.push(Mismatch::new(&format!("{path}[{index}]"), None, Some(value)));
        }
    }
}

fn member(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

impl Mismatch {
    pub(super) fn note(text: impl Into<String>) -> Mismatch {
        Mismatch { path: String::new(), expected: String::new(), found: text.into() }
    }

    pub(super) fn new(path: &str, expected: Option<&Value>, found: Option<&Value>) -> Mismatch {
        let text = |value: Option<&Value>| match value {
            None => "nothing".to_owned(),
            Some(Value::String(text)) => shortened(text),
            Some(value) => shortened(&value.to_string()),
        };
        Mismatch { path: path.to_owned(), expected: text(expected), found: text(found) }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The elements that differ in two tensors of one type and shape; `None` for all other texts.
fn elements(path: &str, expected: &str, found: &str) -> Option<Vec<Mismatch>> {
    let read = |text: &str| Tensor::from_text(text).ok();
    let (one, other) = (read(expected)?, read(found)?);
    if (one.dtype, &one.shape) != (other.dtype, &other.shape) {
        return None;
    }
    let pairs = one.elements()?.into_iter().zip(other.elements()?).enumerate();
    let different = pairs.filter(|(_, (expected, found))| expected != found);
    let mismatch = |(index, (expected, found)): (usize, (String, String))| {
        let mut rest = index;
        let mut indices: Vec<String> = Vec::new();
        for &size in one.shape.iter().rev() {
            indices.insert(0, (rest % size as usize).to_string());
            rest /= size as usize;
        }
        Mismatch { path: format!("{path}[{}]", indices.join(",")), expected, found }
    };
    Some(different.take(MAX_MISMATCHES + 1).map(mismatch).collect())
}
