//! Recordings in files of either form: those that are read can be replayed, and come back as they were.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tetrion::protocol::recording::{read, to_bytes, to_json};
use tetrion::recording::Replay;
use tetrion_fuzz::outcome;

fuzz_target!(|input: &[u8]| {
    let recording = read(input);
    outcome(&recording);
    let Ok(recording) = recording else { return };
    assert_eq!(read(&to_bytes(&recording)).ok().as_ref(), Some(&recording), "what was written is read");
    assert_eq!(
        read(to_json(&recording).as_bytes()).ok().as_ref(),
        Some(&recording),
        "what was written is read"
    );
    let replay = Replay::new(recording);
    outcome(&replay);
    let Ok(mut replay) = replay else { return };
    for step in [usize::MAX, 0, 7] {
        replay.seek(step);
        let _ = replay.scene();
    }
});
