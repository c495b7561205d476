//! Snapshots, with a checksum that fits their bytes: accepted ones are played on, and come back as they were.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tetrion::env::{EnvBatch, EnvConfig, EnvState, InvalidActionPolicy, Restored, Seeding};
use tetrion_fuzz::outcome;
use xxhash_rust::xxh3::xxh3_64;

fuzz_target!(|input: &[u8]| {
    let _ = EnvState::from_bytes(input);
    let bytes = [input, &xxh3_64(input).to_le_bytes()].concat();
    let state = EnvState::from_bytes(&bytes);
    outcome(&state);
    let Ok(state) = state else { return };
    assert_eq!(EnvState::from_bytes(&state.to_bytes()).as_ref(), Ok(&state), "what was written is read");
    let config = EnvConfig {
        rules: *state.rules(),
        invalid_action_policy: InvalidActionPolicy::Terminate,
        ..EnvConfig::default()
    };
    let Ok(mut batch) = EnvBatch::new(config, &Seeding::Seed(1)) else { return };
    if batch.restore(None, Restored::States(std::slice::from_ref(&state)), None).is_err() {
        return;
    }
    for action in [0, 3, 5, 1] {
        if batch.step(&[action], None).is_err() {
            break;
        }
    }
    assert!(EnvState::from_bytes(&batch.state(0).to_bytes()).is_ok(), "what was played on can be saved");
});
