//! Seeds in files: as text, because JavaScript and jq round numbers above 2^53, and TOML has none above 2^63.
//!
//! `#[serde(with = "seed_text")]` writes a seed as a string of digits, as protobuf's JSON does, and also reads a number.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Writes a seed.
///
/// # Errors
///
/// If the serializer fails.
pub fn serialize<S: Serializer>(seed: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(seed)
}

/// Reads a seed.
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
