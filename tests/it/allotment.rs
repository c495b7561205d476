//! All limits on what callers can make a server hold stay below the memory that it was given.

use tetrion::service::allotment::{DEFAULT_MEMORY, LEAST_MEMORY};
use tetrion::service::{Allotment, EvaluationCapacity, NetworkLimits, StoreLimits};
use tetrion::wire::limits::{MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES};

#[test]
fn all_limits_together_stay_below_the_memory() {
    let mut memory = LEAST_MEMORY;
    while memory <= 1 << 40 {
        let allotment = Allotment::new(memory);
        let most = allotment.worst_case();
        // The rest is for what the allocator keeps.
        assert!(most <= memory / 16 * 15, "{} MiB of {}", most >> 20, memory >> 20);
        assert!(most >= memory / 4 * 3, "{} MiB of {}", most >> 20, memory >> 20);
        memory += memory / 7;
    }
}

#[test]
fn the_least_memory_has_room_for_the_largest_messages() {
    let least = Allotment::new(LEAST_MEMORY);
    assert!(least.requests >= 2 * u64::from(MAX_REQUEST_BYTES));
    assert!(least.answers >= 2 * u64::from(MAX_RESPONSE_BYTES));
}

#[test]
fn a_server_without_flags_has_the_limits_of_the_default() {
    let Allotment { sessions, evaluations, requests, answers, max_connections, max_calls, max_evaluations } =
        Allotment::new(DEFAULT_MEMORY);
    let (store, network, capacity) =
        (StoreLimits::default(), NetworkLimits::default(), EvaluationCapacity::default());
    assert_eq!(
        (store.memory, capacity.memory, network.request_memory, network.answer_memory),
        (sessions, evaluations, requests, answers)
    );
    assert_eq!(
        (network.max_connections, network.max_calls, capacity.max_evaluations),
        (max_connections, max_calls, max_evaluations)
    );
}
