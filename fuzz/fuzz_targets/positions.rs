//! Positions: drawings, packed playfields and snapshots, with rules of their own.

#![no_main]

use libfuzzer_sys::fuzz_target;
use prost::Message;
use tetrion::engine::Rules;
use tetrion::protocol::{pb, positions};
use tetrion_fuzz::outcome;

fuzz_target!(|input: &[u8]| {
    if let Ok(message) = pb::Positions::decode(input) {
        outcome(&positions::decode(&message, None));
        outcome(&positions::decode_colors(&message, &Rules::default()));
    }
});
