//! Files that a person may edit: weights, tokens, and the folder of a training run.

#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use tetrion::server::TokenFile;
use tetrion::trainer::run_folder::{CHECKPOINT, CONFIG, GENERATIONS, RunFolder};
use tetrion::trainer::weights::Weights;
use tetrion_fuzz::{outcome, parts};

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        let weights = Weights::from_json(text);
        outcome(&weights);
        if let Ok(weights) = weights {
            let again = Weights::from_json(&weights.to_json());
            assert!(again.is_ok(), "what was written is read: {again:?}");
        }
        outcome(&TokenFile::parse(text));
    }
    let parts = parts(input);
    let folder = std::env::temp_dir().join(format!("tetrion-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    for (name, part) in [CONFIG, CHECKPOINT, GENERATIONS].into_iter().zip(parts) {
        fs::write(folder.join(name), part).expect("a file");
    }
    outcome(&RunFolder::resume::<serde_json::Value, serde_json::Value>(&folder));
    fs::remove_dir_all(&folder).expect("an end");
});
