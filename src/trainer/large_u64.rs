//! Writes `u64` values in formats that have only signed integers, such as TOML.
//!
//! `#[serde(with = "large_u64")]` writes a value as a number if it fits and as a quoted string of digits if not. It
//! reads both, so a settings file can hold every seed of the protocol.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Writes a `u64`.
///
/// # Errors
///
/// If the serializer fails.
pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    match i64::try_from(*value) {
        Ok(value) => value.serialize(serializer),
        Err(_) => value.to_string().serialize(serializer),
    }
}

/// Reads a `u64`.
///
/// # Errors
///
/// If the value is neither an unsigned 64-bit number nor a string with the digits of one.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u64),
        Text(String),
    }
    match Either::deserialize(deserializer)? {
        Either::Number(value) => Ok(value),
        Either::Text(digits) => {
            digits.parse().map_err(|_| D::Error::custom(format!("{digits:?} is not a seed")))
        }
    }
}
