//! Input from people and files: the error for input that the program does not understand, bounded reading of files, and
//! strict JSON.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Input that the program does not understand: a flag, a value, a name. The exit code is 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Reads a file of at most this many bytes; reads no more than that of a larger one.
///
/// # Errors
/// If the file cannot be read, or is larger.
pub fn read_bytes(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_open(File::open(path)?, max_bytes)
}

/// Reads an open file of at most this many bytes.
///
/// # Errors
/// If the file cannot be read, or is larger.
pub fn read_open(file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        let problem = format!("it has more than {max_bytes} bytes");
        Err(io::Error::new(ErrorKind::FileTooLarge, problem))
    };
    // A pipe and a device have no length, and may have no end either.
    let len = file.metadata()?.len();
    if len > max_bytes {
        return too_large();
    }
    let mut bytes = Vec::with_capacity(len as usize);
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { too_large() } else { Ok(bytes) }
}

/// Reads a text file of at most this many bytes.
///
/// # Errors
/// If the file cannot be read, is larger, or is not UTF-8.
pub fn read_utf8(path: &Path, max_bytes: u64) -> io::Result<String> {
    utf8(read_bytes(path, max_bytes)?)
}

/// The bytes as text.
///
/// # Errors
/// If they are not UTF-8.
pub fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is no text in UTF-8"))
}

/// Reads JSON. Refuses an object with a key that comes twice, because readers differ in the value that they take, and a
/// field that no type has.
///
/// # Errors
/// If the text is not the JSON of a `T`.
pub fn parse_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str::<UniqueKeys>(text)?;
    let mut json = serde_json::Deserializer::from_str(text);
    let value = known_fields(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Reads a value, and refuses the fields that messages pass over because newer programs may write them.
///
/// # Errors
/// If the input is no `T`, or has a field that no type in it has.
pub fn known_fields<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let mut unknown = None;
    let value = serde_ignored::deserialize(deserializer, |path| unknown = Some(path.to_string()))?;
    match unknown {
        // A ? stands for a value that is optional.
        Some(path) => Err(D::Error::custom(format!("unknown field `{}`", path.replace(".?", "")))),
        None => Ok(value),
    }
}

/// Any JSON in which each key of an object comes once.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<UniqueKeys, D::Error> {
        deserializer.deserialize_any(UniqueKeys)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_bool<E>(self, _: bool) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_str<E>(self, _: &str) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<UniqueKeys, A::Error> {
        while list.next_element::<UniqueKeys>()?.is_some() {}
        Ok(UniqueKeys)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<UniqueKeys, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = object.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format!("the key {key:?} comes twice")));
            }
            keys.insert(key);
            object.next_value::<UniqueKeys>()?;
        }
        Ok(UniqueKeys)
    }
}
