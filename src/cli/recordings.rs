//! Recording files: reading and writing them, and the palette of the commands that show them.

use std::path::Path;

use anyhow::{Context, bail};

use crate::input::{UsageError, read_bytes};
use tetrion_protocol::limits::{MAX_RECORDED_STEPS, MAX_RECORDING_BYTES};
use tetrion_protocol::recording;
use tetrion_toolkit::files;
use tetrion_toolkit::picture::ColourScheme;
use tetrion_toolkit::recording::{Recording, Replay};

/// The option for the palette.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct PaletteArg {
    /// Colours of the pieces
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    pub palette: PaletteName,
}

/// A colour scheme by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum PaletteName {
    /// Standard colours since 2001
    #[default]
    Usual,
    /// Seven colours that are safe for colour-blind people
    #[value(name = "color-blind")]
    ColourBlind,
}

impl From<PaletteName> for ColourScheme {
    fn from(name: PaletteName) -> ColourScheme {
        match name {
            PaletteName::Usual => ColourScheme::Usual,
            PaletteName::ColourBlind => ColourScheme::ColourBlind,
        }
    }
}

/// Reads a recording in JSON or binary form.
///
/// # Errors
/// If the file cannot be read, or [`UsageError`] if it holds no recording.
pub fn read(path: &Path) -> anyhow::Result<Recording> {
    let bytes = read_bytes(path, MAX_RECORDING_BYTES.into());
    let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
    let wrong = |error| UsageError(format!("{}: {error}", path.display()));
    Ok(recording::read(&bytes).map_err(wrong)?)
}

/// Reads a recording and replays it.
///
/// # Errors
/// The errors of [`read`].
pub fn replay(path: &Path) -> anyhow::Result<Replay> {
    let wrong = |error| UsageError(format!("{}: {error}", path.display()));
    Ok(Replay::new(read(path)?).map_err(wrong)?)
}

/// Writes a recording: as JSON if the name ends in `.json`, else in binary form.
///
/// # Errors
/// If the file cannot be written, or the recording is longer than [`read`] allows.
pub fn write(path: &Path, recording: &Recording) -> anyhow::Result<()> {
    let steps = recording.actions.len() as u64;
    if steps > MAX_RECORDED_STEPS {
        bail!(
            "cannot write {}: the game has {steps} steps, expected at most {MAX_RECORDED_STEPS}",
            path.display()
        );
    }
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let bytes =
        if is_json { recording::to_json(recording).into_bytes() } else { recording::to_bytes(recording) };
    files::write(path, &bytes).with_context(|| format!("cannot write {}", path.display()))
}
