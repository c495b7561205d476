//! Writes a `u64` where a format has only signed integers: TOML.
//!
//! `#[serde(with = "large_u64")]` writes a number while it fits and its digits in quotes beyond, and reads both:
//! every seed of the protocol can stand in a settings file.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Writes it.
///
/// # Errors
///
/// What the format says.
pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    match i64::try_from(*value) {
        Ok(value) => value.serialize(serializer),
        Err(_) => value.to_string().serialize(serializer),
    }
}

/// Reads it.
///
/// # Errors
///
/// Neither a number of 64 bits without a sign nor the digits of one.
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
