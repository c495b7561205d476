//! The limits on a server have a flag each, and all together stay below the memory that it was given.

use std::time::Duration;

use tetrion_protocol::limits::{MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES};
use tetrion_service::ServerLimits;
use tetrion_service::limits::{DEFAULT_MEMORY, LEAST_MEMORY, LIMITS, LimitKind};

/// The limits as `name: value`.
fn fields(limits: ServerLimits) -> Vec<String> {
    let text = format!("{limits:?}");
    let fields = text.strip_prefix("ServerLimits { ").unwrap().strip_suffix(" }").unwrap();
    fields.split(", ").map(str::to_owned).collect()
}

#[test]
fn every_limit_has_a_row_that_sets_it() {
    let before = fields(ServerLimits::DEFAULT);
    assert_eq!(before.len(), LIMITS.len());
    for (limit, before) in LIMITS.iter().zip(before) {
        let mut limits = ServerLimits::DEFAULT;
        match limit.kind {
            LimitKind::Memory(field, _) => *field(&mut limits) += 1 << 20,
            LimitKind::Count(field, _) => *field(&mut limits) += 1,
            LimitKind::Half(field, _) => *field(&mut limits) = Some(1),
            LimitKind::Time(field, _) => *field(&mut limits) += Duration::from_secs(1),
        }
        assert!(before.starts_with(&format!("{}: ", limit.name)), "{before}");
        assert!(!fields(limits).contains(&before), "{} sets another limit", limit.name);
        assert_ne!(limit.value(limits), limit.value(ServerLimits::DEFAULT));
    }
}

#[test]
fn all_limits_together_stay_below_the_memory() {
    let mut memory = LEAST_MEMORY;
    while memory <= 1 << 40 {
        let most = ServerLimits::for_memory(memory).worst_case();
        // The rest is for what the allocator keeps. On the smallest server that is little, and the process's real memory
        // decides earlier.
        assert!(most <= memory / 100 * 98, "{} MiB of {}", most >> 20, memory >> 20);
        assert!(most >= memory / 3 * 2, "{} MiB of {}", most >> 20, memory >> 20);
        memory += memory / 7;
    }
}

#[test]
fn a_gibibyte_has_room_for_the_largest_messages_and_less_memory_for_smaller_ones() {
    let largest = |memory| {
        let limits = ServerLimits::for_memory(memory);
        (limits.max_request_bytes(), limits.max_response_bytes())
    };
    assert_eq!(largest(DEFAULT_MEMORY), (MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES));
    assert_eq!(largest(1 << 30), (MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES));
    assert_eq!(largest(LEAST_MEMORY), (16 << 20, 16 << 20));
}
