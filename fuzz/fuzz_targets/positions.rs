//! Positions: drawings, packed playfields and snapshots, with rules of their own.

#![no_main]

use libfuzzer_sys::fuzz_target;
use prost::Message;
use tetrion::engine::Rules;
use tetrion::wire::{pb, positions};

fuzz_target!(|input: &[u8]| {
    if let Ok(message) = pb::Positions::decode(input) {
        let _ = positions::decode(&message, None);
        let _ = positions::decode_colors(&message, &Rules::default());
    }
});
