//! dm_env_rpc: parts, each a message, on one stream.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tetrion_fuzz::{Services, parts};

fuzz_target!(|input: &[u8]| {
    Services::new().worlds(&parts(input));
});
