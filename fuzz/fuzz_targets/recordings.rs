//! Recordings in files of either form: those that are read can be replayed, and come back as they were.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tetrion::recording::Replay;
use tetrion::wire::recording::{read, to_bytes, to_json};

fuzz_target!(|input: &[u8]| {
    let recording = match read(input) {
        Ok(recording) => recording,
        Err(error) => return drop(error.to_string()),
    };
    assert_eq!(read(&to_bytes(&recording)).ok().as_ref(), Some(&recording), "what was written is read");
    assert_eq!(
        read(to_json(&recording).as_bytes()).ok().as_ref(),
        Some(&recording),
        "what was written is read"
    );
    let Ok(mut replay) = Replay::new(recording) else { return };
    for step in [usize::MAX, 0, 7] {
        replay.seek(step);
        let _ = replay.scene();
    }
});
