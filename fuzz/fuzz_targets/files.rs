//! Files that a person may edit: weights, tokens, and the folder of a training run.

#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use tetrion::trainer::run_folder::{CHECKPOINT, CONFIG, GENERATIONS, RunFolder};
use tetrion::trainer::weights::Weights;
use tetrion::server::TokenFile;
use tetrion_fuzz::parts;

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        if let Ok(weights) = Weights::from_json(text) {
            let again = Weights::from_json(&weights.to_json());
            assert!(again.is_ok(), "what was written is read: {again:?}");
        }
        if let Err(error) = TokenFile::parse(text) {
            let _ = error.to_string();
        }
    }
    let parts = parts(input);
    let folder = std::env::temp_dir().join(format!("tetrion-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    for (name, part) in [CONFIG, CHECKPOINT, GENERATIONS].into_iter().zip(parts) {
        fs::write(folder.join(name), part).expect("a file");
    }
    let _ = RunFolder::resume::<serde_json::Value, serde_json::Value>(&folder);
    fs::remove_dir_all(&folder).expect("an end");
});
