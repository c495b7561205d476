//! The files of a training run, and how they survive an interruption at any point.
//!
//! | file | is | written |
//! | --- | --- | --- |
//! | `config.toml` | the settings of the run | last when a run is created; replaced when the run is extended |
//! | `generations.jsonl` | the results, one line per generation | appended every generation |
//! | `timing.jsonl` | end and duration of each generation; no other file has clock values | appended every generation |
//! | `checkpoint` | the state to resume from, and the number of generations in it | replaced every generation |
//! | `weights.json` | the result ([`Weights`]) | replaced |
//! | `best.json` | a recording of the best game among those that scored the result | replaced at the end |
//! | `curve.svg` | the learning curve | replaced |
//! | `lock` | empty; locked by the writing process | |
//!
//! A replacement is written next to the old file, flushed to the disk and renamed, so a reader finds either the old
//! file or the new one. A generation counts once its checkpoint is in place; its line is on the disk by then. An
//! interruption can leave one line too many, whole or torn, which `resume` cuts off. So an interrupted and resumed run
//! leaves the same bytes as an uninterrupted one, except in `timing.jsonl`.
//!
//! This module does not know the contents of the files: settings, lines and checkpoints are any types that `serde` can
//! write.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::weights::{Weights, other_format};
use crate::input::{known_fields, read_bytes, utf8};
use crate::text::numbers::count;
use tetrion_toolkit::files;

/// File name of the settings.
pub const CONFIG: &str = "config.toml";
/// File name of the results per generation.
pub const GENERATIONS: &str = "generations.jsonl";
/// File name of the clock values per generation.
pub const TIMING: &str = "timing.jsonl";
/// File name of the checkpoint.
pub const CHECKPOINT: &str = "checkpoint";
/// File name of the result.
pub const WEIGHTS: &str = "weights.json";
/// File name of the best game.
pub const BEST: &str = "best.json";
/// File name of the learning curve.
pub const CURVE: &str = "curve.svg";
/// File name of the lock.
pub const LOCK: &str = "lock";

/// The checkpoint format this program writes, and the only one it reads.
pub const CHECKPOINT_FORMAT: u32 = 2;

/// Most bytes of a run's file: many times a checkpoint with the largest model, or the lines of a million generations.
const MAX_FILE_BYTES: u64 = 1 << 30;

const CONFIG_HEAD: &str = "# The settings of this run. A resumed run reads them from here.\n\n";

/// A run that this process may write to. No other process may write to it until this value is dropped.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    generations: LineFile,
    timing: LineFile,
    num_generations: u64,
    /// Held, never read. The operating system releases it even if this process is killed.
    _lock: File,
}

/// A run read from its folder.
#[derive(Debug)]
pub struct Resumed<C, S> {
    /// The run, ready for its next generation.
    pub run: RunFolder,
    pub config: C,
    /// State after the last complete generation; `None` if none was completed.
    pub state: Option<S>,
}

/// The reason why a run cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// The folder already holds a run.
    #[error("{} already holds a run: resume it, or choose another folder", folder.display())]
    Exists { folder: PathBuf },
    /// The folder holds no run.
    #[error("{} holds no run: there is no {CONFIG} in it", folder.display())]
    NotARun { folder: PathBuf },
    /// Another process is writing to the run.
    #[error("another process is writing to the run in {}", folder.display())]
    Locked { folder: PathBuf },
    /// A file cannot be read, written, locked or truncated. Earlier records stay valid.
    #[error("cannot {action} {}: {reason}", path.display())]
    Io {
        /// The failed operation as a verb, such as `read`.
        action: &'static str,
        path: PathBuf,
        /// The system's error. Not a `source`, because the message already shows it.
        reason: io::Error,
    },
    /// A file has unexpected contents.
    #[error("{} is not what this program writes: {reason}", path.display())]
    Malformed {
        path: PathBuf,
        /// Place and cause of the first mistake.
        reason: String,
    },
    /// The number of lines does not match the checkpoint: some are missing, or there are more than one interruption can
    /// leave.
    #[error(
        "{} holds {}, but the checkpoint was written after {}: restore the file that matches the other, or \
         begin a new run",
        path.display(),
        count(*found, "complete line"),
        count(*expected, "generation")
    )]
    OutOfStep {
        path: PathBuf,
        /// Number of complete lines in the file.
        found: u64,
        /// Number of generations that the checkpoint covers.
        expected: u64,
    },
    /// The checkpoint is missing, but generations were recorded.
    #[error("{} is gone, and generations were recorded with it: put it back, or begin a new run", path.display())]
    CheckpointLost {
        /// Expected path of the checkpoint.
        path: PathBuf,
    },
}

impl RunFolderError {
    /// The error for a folder that cannot be created.
    pub fn no_folder(folder: &Path, source: io::Error) -> RunFolderError {
        io_error("create", folder, source)
    }
}

#[derive(Serialize, Deserialize)]
struct Checkpoint<S> {
    format: u32,
    num_generations: u64,
    state: S,
}

impl RunFolder {
    /// Starts a run in `folder`, and creates the folder if it is missing.
    ///
    /// # Errors
    ///
    /// If the folder already holds a run, another process is writing there, or a file cannot be written.
    pub fn create(folder: &Path, config: &impl Serialize) -> Result<Self, RunFolderError> {
        fs::create_dir_all(folder).map_err(|source| io_error("create", folder, source))?;
        let lock = lock(folder)?;
        if [CONFIG, CHECKPOINT].iter().any(|name| folder.join(name).exists())
            || fs::metadata(folder.join(GENERATIONS)).is_ok_and(|file| file.len() > 0)
        {
            return Err(RunFolderError::Exists { folder: folder.to_path_buf() });
        }
        let path = folder.join(CONFIG);
        let settings = config_text(&path, config)?;
        let generations = LineFile::open(folder.join(GENERATIONS), 0)?;
        let timing = LineFile::open(folder.join(TIMING), 0)?;
        if let Err(source) = files::write(&path, settings.as_bytes()) {
            // A folder without settings is not a run: remove the files made for it, and the folder if it is empty then.
            [GENERATIONS, TIMING, LOCK].iter().for_each(|name| drop(fs::remove_file(folder.join(name))));
            drop(fs::remove_dir(folder));
            return Err(io_error("write", &path, source));
        }
        Ok(Self { folder: folder.to_path_buf(), generations, timing, num_generations: 0, _lock: lock })
    }

    /// Opens a run to resume it, and truncates its records to its checkpoint.
    ///
    /// # Errors
    ///
    /// If there is no run, another process is writing to it, a file cannot be read or is not ours, or checkpoint and
    /// records do not match. In all of these cases, nothing is truncated.
    pub fn resume<C: DeserializeOwned, S: DeserializeOwned>(
        folder: &Path,
    ) -> Result<Resumed<C, S>, RunFolderError> {
        let path = folder.join(CONFIG);
        if !path.exists() {
            return Err(RunFolderError::NotARun { folder: folder.to_path_buf() });
        }
        let lock = lock(folder)?;
        // First, because settings have no format: those of another version come with its checkpoint.
        let (num_generations, state) = match read_checkpoint(folder)? {
            Some(checkpoint) => (checkpoint.num_generations, Some(checkpoint.state)),
            None => (0, None),
        };
        let text = utf8(read(&path)?).map_err(|error| malformed(&path, error))?;
        let config = toml::Deserializer::parse(&text).and_then(known_fields);
        let config = config.map_err(|error| malformed(&path, error))?;

        let path = folder.join(GENERATIONS);
        let text = if path.exists() { read(&path)? } else { Vec::new() };
        let found = complete_lines(&text).count() as u64;
        // An interruption between a line and its checkpoint leaves one line too many. The first result is written after
        // both.
        if state.is_none() && (found > 1 || folder.join(WEIGHTS).exists()) {
            return Err(RunFolderError::CheckpointLost { path: folder.join(CHECKPOINT) });
        }
        if !(num_generations..=num_generations.saturating_add(1)).contains(&found) {
            return Err(RunFolderError::OutOfStep { path, found, expected: num_generations });
        }
        parse_lines::<IgnoredAny>(&path, complete_lines(&text).take(num_generations as usize))?;
        let generations = LineFile::open(path, num_generations)?;
        let timing = LineFile::open(folder.join(TIMING), num_generations)?;
        let run = Self { folder: folder.to_path_buf(), generations, timing, num_generations, _lock: lock };
        Ok(Resumed { run, config, state })
    }

    /// Records a generation: a line of results, a line of clock values, and the state from which to resume.
    ///
    /// # Errors
    ///
    /// If a file cannot be written. The last checkpoint stays valid, lines appended after it do not count, and the
    /// caller may record the same generation again.
    pub fn record(
        &mut self,
        generation: &impl Serialize,
        timing: &impl Serialize,
        state: &impl Serialize,
    ) -> Result<(), RunFolderError> {
        let checkpoint_path = self.folder.join(CHECKPOINT);
        let num_generations = self.num_generations + 1;
        let checkpoint = Checkpoint { format: CHECKPOINT_FORMAT, num_generations, state };
        let checkpoint = json_line(&checkpoint).map_err(|error| malformed(&checkpoint_path, error))?;
        let generation = json_line(generation).map_err(|error| malformed(&self.generations.path, error))?;
        let timing = json_line(timing).map_err(|error| malformed(&self.timing.path, error))?;

        let marks = (self.generations.len, self.timing.len);
        let written = self
            .generations
            .append(&generation)
            .and_then(|()| self.timing.append(&timing))
            .and_then(|()| files::write(&checkpoint_path, &checkpoint).map_err(|e| (checkpoint_path, e)));
        if let Err((path, source)) = written {
            (self.generations.len, self.timing.len) = marks;
            return Err(io_error("write", &path, source));
        }
        self.num_generations = num_generations;
        Ok(())
    }

    /// Replaces the settings. The recorded generations must be consistent with the new settings.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_config(&self, config: &impl Serialize) -> Result<(), RunFolderError> {
        self.replace(CONFIG, &config_text(&self.folder.join(CONFIG), config)?)
    }

    /// Number of generations recorded so far.
    pub fn num_generations(&self) -> u64 {
        self.num_generations
    }

    /// Path of the folder, as the caller gave it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Replaces the result of the run.
    ///
    /// # Errors
    ///
    /// If the weights do not match the feature names, or the file cannot be written.
    pub fn write_weights(&self, weights: &Weights) -> Result<(), RunFolderError> {
        let path = self.folder.join(WEIGHTS);
        weights.check().map_err(|error| malformed(&path, error))?;
        self.replace(WEIGHTS, &weights.to_json())
    }

    /// Replaces the learning curve.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_curve(&self, svg: &str) -> Result<(), RunFolderError> {
        self.replace(CURVE, svg)
    }

    /// Replaces the recording of the best game, as JSON. `None` removes the old one, because other weights played it.
    ///
    /// # Errors
    ///
    /// If the file cannot be written or removed.
    pub fn write_best(&self, recording: Option<&str>) -> Result<(), RunFolderError> {
        let Some(recording) = recording else {
            let path = self.folder.join(BEST);
            return match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    Err(io_error("take away", &path, source))
                }
                _ => Ok(()),
            };
        };
        self.replace(BEST, recording)
    }

    fn replace(&self, name: &str, text: &str) -> Result<(), RunFolderError> {
        let path = self.folder.join(name);
        files::write(&path, text.as_bytes()).map_err(|source| io_error("write", &path, source))
    }
}

/// The recorded generations of a run, which another process may be writing. Skips a last line that is not yet complete.
///
/// # Errors
///
/// If the file cannot be read, or a complete line is not a `T`.
pub fn read_generations<T: DeserializeOwned>(folder: &Path) -> Result<Vec<T>, RunFolderError> {
    let path = folder.join(GENERATIONS);
    let text = read(&path)?;
    parse_lines(&path, complete_lines(&text))
}

/// The planned number of generations, if the settings have one.
///
/// # Errors
///
/// If there is no run, or its settings cannot be read.
pub fn num_generations_planned(folder: &Path) -> Result<Option<u32>, RunFolderError> {
    #[derive(Deserialize)]
    struct Planned {
        generations: Option<u32>,
    }
    let path = folder.join(CONFIG);
    if !path.exists() {
        return Err(RunFolderError::NotARun { folder: folder.to_path_buf() });
    }
    let Planned { generations } = toml::from_slice(&read(&path)?).map_err(|error| malformed(&path, error))?;
    Ok(generations)
}

/// A file that is extended by whole lines.
#[derive(Debug)]
struct LineFile {
    path: PathBuf,
    file: File,
    /// Number of valid bytes; after a failed write the file may be longer.
    len: u64,
}

impl LineFile {
    /// Opens or creates the file, and truncates it after `max_lines` complete lines.
    fn open(path: PathBuf, max_lines: u64) -> Result<Self, RunFolderError> {
        let opened = OpenOptions::new().append(true).read(true).create(true).open(&path);
        let file = opened.map_err(|source| io_error("open", &path, source))?;
        let text = read(&path)?;
        let len = complete_lines(&text).take(max_lines as usize).map(|line| line.len() as u64 + 1).sum();
        if len != text.len() as u64 {
            file.set_len(len)
                .and_then(|()| file.sync_all())
                .map_err(|source| io_error("cut back", &path, source))?;
        }
        Ok(Self { path, file, len })
    }

    fn append(&mut self, line: &[u8]) -> Result<(), (PathBuf, io::Error)> {
        let mut write = || {
            if self.file.metadata()?.len() != self.len {
                self.file.set_len(self.len)?; // drops the rest of a failed write
            }
            self.file.write_all(line)?;
            self.file.sync_data()
        };
        write().map_err(|error| (self.path.clone(), error))?;
        self.len += line.len() as u64;
        Ok(())
    }
}

fn config_text(path: &Path, config: &impl Serialize) -> Result<String, RunFolderError> {
    let settings = toml::to_string(config).map_err(|error| malformed(path, error))?;
    Ok(format!("{CONFIG_HEAD}{settings}"))
}

fn lock(folder: &Path) -> Result<File, RunFolderError> {
    let path = folder.join(LOCK);
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = opened.map_err(|source| io_error("open", &path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(RunFolderError::Locked { folder: folder.to_path_buf() }),
        Err(TryLockError::Error(source)) => Err(io_error("lock", &path, source)),
    }
}

fn read_checkpoint<S: DeserializeOwned>(folder: &Path) -> Result<Option<Checkpoint<S>>, RunFolderError> {
    #[derive(Deserialize)]
    struct CheckpointFormat {
        format: u32,
    }
    let path = folder.join(CHECKPOINT);
    if !path.exists() {
        return Ok(None);
    }
    let text = read(&path)?;
    // Check the format first: a checkpoint of another format need not have our other fields.
    let CheckpointFormat { format } =
        serde_json::from_slice(&text).map_err(|error| malformed(&path, error))?;
    if format != CHECKPOINT_FORMAT {
        return Err(malformed(&path, other_format(format, CHECKPOINT_FORMAT)));
    }
    serde_json::from_slice(&text).map(Some).map_err(|error| malformed(&path, error))
}

/// The lines that end with a newline, without the newline. Bytes, because a torn line may end inside a character.
fn complete_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"))
}

fn parse_lines<'a, T: DeserializeOwned>(
    path: &Path,
    lines: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<T>, RunFolderError> {
    let parse = |(index, line)| {
        serde_json::from_slice(line)
            .map_err(|error| malformed(path, format_args!("line {}: {error}", index + 1)))
    };
    lines.enumerate().map(parse).collect()
}

fn json_line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads a file of a run.
///
/// # Errors
/// If the file cannot be read, or is larger than any file that this program writes.
pub fn read(path: &Path) -> Result<Vec<u8>, RunFolderError> {
    let read = || match fs::metadata(path)? {
        // A device has no length, and reading it may never end.
        found if !found.is_file() => Ok(Vec::new()),
        _ => read_bytes(path, MAX_FILE_BYTES),
    };
    read().map_err(|source| io_error("read", path, source))
}

fn io_error(action: &'static str, path: &Path, reason: io::Error) -> RunFolderError {
    RunFolderError::Io { action, path: path.to_path_buf(), reason }
}

fn malformed(path: &Path, reason: impl std::fmt::Display) -> RunFolderError {
    RunFolderError::Malformed { path: path.to_path_buf(), reason: reason.to_string() }
}
