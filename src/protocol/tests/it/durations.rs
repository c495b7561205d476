//! Lengths of time on the wire, to both ends of what a message can hold.

use std::time::Duration;

use tetrion_protocol::duration::{decode, encode, written};

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
