//! Calls of `EnvironmentService`: parts, each the number of a method and a message.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tetrion_fuzz::methods::METHODS;
use tetrion_fuzz::{Services, parts};

fuzz_target!(|input: &[u8]| {
    let services = Services::new();
    for part in parts(input).into_iter().take(8) {
        if let Some((method, message)) = part.split_first() {
            services.call(&METHODS[usize::from(*method) % METHODS.len()], message);
        }
    }
});
