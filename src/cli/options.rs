//! Shared parts of the options: value parsers, and functions that read the files named by flags.

use std::path::Path;

use anyhow::{Context, bail};
use clap::builder::{
    NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, RangedI64ValueParser, TypedValueParser,
};

use crate::input::{read_open, read_utf8, utf8};
use tetrion_protocol::limits::{MAX_GAMES, MAX_LOSS_TRIALS, MIN_LOSS_TRIALS};
use tetrion_protocol::secret::Secret;
use tetrion_toolkit::files;

/// The parser of a secret. It accepts every non-empty text, so that no error quotes one.
pub fn secret() -> impl TypedValueParser<Value = Secret> {
    NonEmptyStringValueParser::new().map(Secret::from)
}

/// The parser of a named choice. `--help` shows a line per value.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = values.iter().map(|(name, about, _)| PossibleValue::new(*name).help(*about));
    let value = |name: String| values.iter().find(|row| row.0 == name).expect("one of the names").2;
    PossibleValuesParser::new(names).map(value)
}

/// The parser of a number of games, up to the most per evaluation.
pub fn games_range() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=MAX_GAMES as i64)
}

/// The parser of a number of trials in an estimate of game lengths.
pub fn loss_trials_range() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(i64::from(MIN_LOSS_TRIALS)..=i64::from(MAX_LOSS_TRIALS))
}

/// The size of a playfield as text: `10x20` is 10 columns and 20 rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub width: u8,
    pub height: u8,
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Largest text file that a flag may name: options, certificates, tokens.
const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Reads a text file that a flag names.
///
/// # Errors
/// With the file's name, if it cannot be read.
pub fn read_text(path: &Path) -> anyhow::Result<String> {
    read_utf8(path, MAX_TEXT_BYTES).with_context(|| format!("cannot read {}", path.display()))
}

/// Largest file that a server reads at its start or reloads: options, certificates, tokens.
const MAX_SERVER_FILE_BYTES: u64 = 1 << 20;

/// Reads a text file that a server needs at its start or reloads. Refuses a pipe, because reading it could block.
///
/// # Errors
/// With the file's name, if it cannot be read, is not a regular file, or is longer than 1 MiB.
pub fn read_server_file(path: &Path) -> anyhow::Result<String> {
    let read = || utf8(read_open(files::open(path)?, MAX_SERVER_FILE_BYTES)?);
    read().with_context(|| format!("cannot read {}", path.display()))
}

/// Reads a PEM file that a flag names, which must hold a `label` such as `CERTIFICATE`.
///
/// # Errors
/// With the file's name, if it cannot be read or holds something else.
pub fn read_pem(path: &Path, label: &str) -> anyhow::Result<String> {
    pem(path, label, read_text(path)?)
}

/// Checks that the text of a file is PEM with this label.
///
/// # Errors
/// With the file's name, if it holds something else.
pub fn pem(path: &Path, label: &str, text: String) -> anyhow::Result<String> {
    let begins =
        |line: &str| line.starts_with("-----BEGIN ") && line.trim_end().ends_with(&format!("{label}-----"));
    if !text.lines().any(begins) {
        bail!("{} holds no {label} in PEM form", path.display());
    }
    Ok(text)
}

/// Checks in advance that a result can be written to a file. Does not change the file.
///
/// # Errors
/// With the file's name, if it cannot be written.
pub fn check_writable(path: &Path) -> anyhow::Result<()> {
    files::check_writable(path).with_context(|| format!("cannot write {}", path.display()))
}
