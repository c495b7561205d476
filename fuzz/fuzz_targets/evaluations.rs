//! EvaluatePolicies: one message; the caller leaves the games after some answers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tetrion_fuzz::Services;

fuzz_target!(|input: &[u8]| {
    Services::new().evaluate(input);
});
