//! Lengths of time, from the wire and back.
//!
//! The message holds any 64-bit number of seconds, negative ones included, and some of what its own crate does with it
//! overflows at the ends; here nothing does. Sums of a caller's time and a clock are for their makers to check.

use std::time::Duration;

/// Reads a length of time; `None` for a negative one.
pub fn decode(message: &prost_types::Duration) -> Option<Duration> {
    let prost_types::Duration { seconds, nanos } = message.normalized();
    Some(Duration::new(seconds.try_into().ok()?, nanos.try_into().ok()?))
}

/// The message of a length of time, which is none of more than 2^63 seconds.
pub fn encode(duration: Duration) -> Option<prost_types::Duration> {
    prost_types::Duration::try_from(duration).ok()
}

/// A length of time as an error shows it: `-1.5 s`.
pub fn written(message: &prost_types::Duration) -> String {
    let nanos = i128::from(message.seconds) * 1_000_000_000 + i128::from(message.nanos);
    let (sign, size) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    let decimals = format!("{}.{:09}", size / 1_000_000_000, size % 1_000_000_000);
    format!("{sign}{} s", decimals.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_read_or_refused() {
        #[track_caller]
        fn check(seconds: i64, nanos: i32, expected: Option<Duration>, shown: &str) {
            let message = prost_types::Duration { seconds, nanos };
            assert_eq!((decode(&message), written(&message).as_str()), (expected, shown));
        }
        check(0, 0, Some(Duration::ZERO), "0 s");
        check(2, 500_000_000, Some(Duration::from_millis(2500)), "2.5 s");
        check(1, -500_000_000, Some(Duration::from_millis(500)), "0.5 s");
        check(-1, -500_000_000, None, "-1.5 s");
        check(0, -1, None, "-0.000000001 s");
        check(i64::MIN, 0, None, "-9223372036854775808 s");
        check(i64::MIN, i32::MIN, None, "-9223372036854775810.147483648 s");
        let longest = Duration::new(i64::MAX as u64, 999_999_999);
        check(i64::MAX, i32::MAX, Some(longest), "9223372036854775809.147483647 s");
        check(100, 0, Some(Duration::from_secs(100)), "100 s");
    }

    #[test]
    fn what_is_written_is_read() {
        for duration in [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(86_400)] {
            assert_eq!(encode(duration).as_ref().and_then(decode), Some(duration));
        }
        assert_eq!(encode(Duration::MAX), None);
    }
}
