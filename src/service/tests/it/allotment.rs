//! All limits on what callers can make a server hold stay below the memory that it was given.

use tetrion_protocol::limits::{MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES};
use tetrion_service::allotment::{DEFAULT_MEMORY, LEAST_MEMORY};
use tetrion_service::{Allotment, EvaluationCapacity, NetworkLimits, StoreLimits};

#[test]
fn all_limits_together_stay_below_the_memory() {
    let mut memory = LEAST_MEMORY;
    while memory <= 1 << 40 {
        let allotment = Allotment::new(memory);
        let most = allotment.worst_case();
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
        let Allotment { requests: request_memory, answers: answer_memory, .. } = Allotment::new(memory);
        let network = NetworkLimits { request_memory, answer_memory, ..NetworkLimits::default() };
        (network.max_request_bytes(), network.max_response_bytes())
    };
    assert_eq!(largest(DEFAULT_MEMORY), (MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES));
    assert_eq!(largest(1 << 30), (MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES));
    assert_eq!(largest(LEAST_MEMORY), (16 << 20, 16 << 20));
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
