//! Calls of `EnvironmentService`: parts, each the number of a method and a message.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tetrion_fuzz::{Services, parts};

const METHODS: [&str; 12] = [
    "GetServerInfo",
    "CreateSession",
    "GetSession",
    "ListSessions",
    "DeleteSession",
    "Reset",
    "Step",
    "StepStream",
    "Render",
    "SaveState",
    "RestoreState",
    "EnumeratePlacements",
];

fuzz_target!(|input: &[u8]| {
    let services = Services::new();
    for part in parts(input).into_iter().take(8) {
        if let Some((method, message)) = part.split_first() {
            services.call(METHODS[usize::from(*method) % METHODS.len()], message);
        }
    }
});
