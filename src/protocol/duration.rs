//! Durations, to and from the wire.
//!
//! The message allows any 64-bit number of seconds, including negative ones. Some functions of its crate overflow at
//! the extremes; this module does not. Code that adds a caller's duration to a clock must check the sum itself.

use std::time::Duration;

/// Reads a duration; `None` if it is negative.
pub fn decode(message: &prost_types::Duration) -> Option<Duration> {
    let prost_types::Duration { seconds, nanos } = message.normalized();
    Some(Duration::new(seconds.try_into().ok()?, nanos.try_into().ok()?))
}

/// The message of a duration; `None` for more than 2^63 seconds.
pub fn encode(duration: Duration) -> Option<prost_types::Duration> {
    prost_types::Duration::try_from(duration).ok()
}

/// A duration as an error shows it: `-1.5 s`.
pub fn written(message: &prost_types::Duration) -> String {
    let nanos = i128::from(message.seconds) * 1_000_000_000 + i128::from(message.nanos);
    let (sign, size) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    let decimals = format!("{}.{:09}", size / 1_000_000_000, size % 1_000_000_000);
    format!("{sign}{} s", decimals.trim_end_matches('0').trim_end_matches('.'))
}
