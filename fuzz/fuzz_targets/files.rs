//! Files that a person may edit: weights, and the folder of a training run.

#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use tetrion::cli::run_folder::{CHECKPOINT, CONFIG, GENERATIONS, RunFolder};
use tetrion::cli::weights::Weights;
use tetrion_fuzz::parts;

fuzz_target!(|input: &[u8]| {
    if let Ok(weights) =
        std::str::from_utf8(input).map_err(drop).and_then(|text| Weights::from_json(text).map_err(drop))
    {
        let again = Weights::from_json(&weights.to_json());
        assert!(again.is_ok(), "what was written is read: {again:?}");
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
