//! Requests below the services: what is around every call reads their headers and decompresses their messages.
//!
//! The first part says how the messages are encoded and how long the caller waits; the others are pieces of the body.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tetrion_fuzz::{parts, receive};

fuzz_target!(|input: &[u8]| {
    let parts = parts(input);
    let Some((headers, body)) = parts.split_first() else { return };
    let (encoding, timeout) = headers.split_first().unwrap_or((&0, &[]));
    let encoding = ["identity", "gzip", "zstd", "br"][usize::from(encoding % 4)];
    receive(encoding, timeout, body);
});
