//! The inputs that the targets of `fuzz/` begin with, made from the messages of [`messages`](crate::messages).
//!
//! ```sh
//! cargo test --test attacks -- --corpus fuzz/corpus
//! ```

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use tetrion::engine::{PRESETS, Playfield, Randomizer, Rules, Tetromino};
use tetrion::env::{EnvBatch, EnvConfig, Field, Seeding, StartPosition};
use tetrion::protocol::{pb, recording, tensor};
use tetrion::recording::{Pieces, Recorder, Recording, Setup};

use crate::messages::{EVALUATE, RESTORE, samples};
use crate::methods::METHODS;

/// What `fuzz` replaces with the name of a session.
const PLACEHOLDER: &str = "sessions/################################";

const TOKENS: &str =
    "max_sessions = 3\n\n[[token]]\nname = \"alice\"\nsecret = \"n2IpfLQ0nTBHqYmL6JGT7tZr\"\nmax_envs = 64\n";

/// Every part of the language, and some mistakes.
const FORMULAS: [&str; 6] = [
    "-4.5 * holes - 3.2e0*cumulative_wells + eroded_piece_cells",
    "let x = max(0, max_height - 12); # high\nlet high = x > 0 and not lines >= 40 or pieces == 7;\n-x^2 + (if high then bumpiness else -.5)",
    "if next == I and held != O or current == T then sum(column_height) / width else column_height_preclear[3] / height",
    "min(holes, 1, exp(-bumpiness)) + abs(ln(bumpiness)) <= 2",
    "((((((((((holes))))))))))^16 - - -2 * 1e300 / 0",
    "hole + column_height[4] < 1 < 2 ; then",
];

/// Writes every input as a file of its own.
pub fn write(folder: &Path) -> Result<()> {
    let states = states()?;
    let samples = samples(PLACEHOLDER, 3, &states[0]);
    for (number, (path, message)) in samples.iter().enumerate() {
        let name = path.rsplit('/').next().unwrap_or_default();
        match METHODS.iter().position(|method| *method == name) {
            Some(method) => {
                let call = part(&[&[method as u8], &message[..]].concat());
                put(folder, "calls", &format!("{number:02}-{name}"), &call)?;
            }
            None if *path == EVALUATE => put(folder, "evaluations", name, message)?,
            None => {}
        }
        if *path == RESTORE {
            let positions = pb::RestoreStateRequest::decode(&message[..])?.positions.context("positions")?;
            put(folder, "positions", &format!("{number:02}"), &positions.encode_to_vec())?;
        }
    }
    // The headers of a request, and a body of two compressed messages in pieces.
    let message = &samples[0].1[..];
    for (name, headers, compressed) in
        [("gzip", &b"\x01100m"[..], gzip(message)?), ("zstd", b"\x0250m", zstd::encode_all(message, 0)?)]
    {
        let framed = [&[1][..], &(compressed.len() as u32).to_be_bytes(), &compressed].concat();
        let pieces = framed.repeat(2).chunks(7).flat_map(part).collect::<Vec<_>>();
        put(folder, "requests", name, &[part(headers), pieces].concat())?;
    }
    put(folder, "files", "tokens", TOKENS.as_bytes())?;
    for (number, text) in FORMULAS.iter().enumerate() {
        let rules = 1; // with hold and a preview, so that every fact has a meaning
        put(folder, "formulas", &format!("{number:02}"), &[&[rules], text.as_bytes()].concat())?;
    }
    for (number, state) in states.iter().enumerate() {
        put(folder, "snapshots", &format!("{number:02}"), &state[..state.len() - 8])?;
    }
    let recording = recording()?;
    put(folder, "recordings", "json", recording::to_json(&recording).as_bytes())?;
    put(folder, "recordings", "bytes", &recording::to_bytes(&recording))?;
    let data = tensor::encode(vec![3, 2], &[1_i32, -1, 2, 0, 7, i32::MAX]);
    let values = pb::Tensor { values: vec![1.0, -0.5, 3e9, f64::NAN], ..Default::default() };
    put(folder, "tensors", "data", &data.encode_to_vec())?;
    put(folder, "tensors", "values", &values.encode_to_vec())
}

fn gzip(message: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(message)?;
    Ok(encoder.finish()?)
}

/// Snapshots of environments of several kinds.
fn states() -> Result<Vec<Vec<u8>>> {
    let bags = Rules { randomizer: Randomizer::Bag7, preview: 3, ..Rules::simplified(6, 12) };
    let kinds = PRESETS.iter().map(|preset| preset.rules).chain([bags]);
    let mut states = Vec::new();
    for rules in kinds {
        let mut batch = EnvBatch::new(EnvConfig { rules, ..EnvConfig::default() }, &Seeding::Seed(1))?;
        batch.reset(None, None)?;
        for step in 0..3 {
            let mut mask = Vec::new();
            batch.observe(Field::ActionMask, None, &mut mask);
            let mut allowed =
                (0..).zip(&mask).filter(|(_, allowed)| **allowed == 1).map(|(action, _)| action);
            batch.step(&[allowed.nth(step).context("three actions are allowed")?], None)?;
        }
        states.push(batch.state(0).to_bytes());
    }
    Ok(states)
}

/// A game from a position, which clears a line.
fn recording() -> Result<Recording> {
    let rules = Rules { preview: 1, ..Rules::simplified(5, 6) };
    let playfield = Playfield::from_drawing(5, 6, "#.###")?;
    let start = Some(StartPosition { playfield, piece: Tetromino::I, queue: vec![Tetromino::O], held: None });
    let mut recorder = Recorder::new(Setup { start, ..Setup::new(rules, Pieces::Seed(7)) })?;
    for action in [1, 0] {
        recorder.play(action)?;
    }
    Ok(recorder.recording("corpus", ""))
}

/// A part of an input: its length, as two bytes, and itself.
fn part(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_le_bytes()[..], bytes].concat()
}

fn put(folder: &Path, target: &str, name: &str, bytes: &[u8]) -> Result<()> {
    let folder = folder.join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes).with_context(|| format!("cannot write to {}", folder.display()))
}
