//! The files of a training run, and how they survive whatever stops it.
//!
//! | file | is | written |
//! | --- | --- | --- |
//! | `config.toml` | the settings of the run | last of all when a run is created; replaced when it is made longer |
//! | `generations.jsonl` | what came of each generation, one line each | appended every generation |
//! | `timing.jsonl` | when, and how long it took; the only file with clock values | appended every generation |
//! | `checkpoint` | everything needed to go on, and how many generations that covers | replaced every generation |
//! | `weights.json` | the result ([`Weights`]) | replaced |
//! | `best.json` | the best of the games that scored the result of the end, as a recording | replaced at the end |
//! | `curve.svg` | the learning curve | replaced |
//! | `lock` | empty; locked by the process that writes | |
//!
//! A file that is replaced is written beside its place, flushed to the disk and renamed, so a reader finds the
//! old one or the new one. A generation counts when its checkpoint is in place: its line is on the disk by then. A stop can
//! leave one line beyond the checkpoint (whole or torn); it is cut off when the run is opened again. So a run that was
//! stopped anywhere and resumed leaves the same bytes as one that never stopped, `timing.jsonl` apart.
//!
//! This module knows files, not what is in them: settings, lines and checkpoints are whatever `serde` can write.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::weights::Weights;
use crate::input::read_bytes;
use crate::text::numbers::count;

/// Name of the settings.
pub const CONFIG: &str = "config.toml";
/// Name of the results by generation.
pub const GENERATIONS: &str = "generations.jsonl";
/// Name of the clock values by generation.
pub const TIMING: &str = "timing.jsonl";
/// Name of the checkpoint.
pub const CHECKPOINT: &str = "checkpoint";
/// Name of the result.
pub const WEIGHTS: &str = "weights.json";
/// Name of the best game.
pub const BEST: &str = "best.json";
/// Name of the learning curve.
pub const CURVE: &str = "curve.svg";
/// Name of the file that is locked.
pub const LOCK: &str = "lock";

/// The checkpoint format this program writes, and the only one it reads.
pub const CHECKPOINT_FORMAT: u32 = 1;

/// Bytes of a file of a run: many times those of a checkpoint with the largest model, or of a million generations.
const MAX_FILE_BYTES: u64 = 1 << 30;

const CONFIG_HEAD: &str = "# The settings of this run. A resumed run reads them from here.\n\n";

/// A run this process may write to; no other process may until it is dropped.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    generations: Lines,
    timing: Lines,
    num_generations: u64,
    /// Held, never read. The system releases it even if this process is killed.
    _lock: File,
}

/// A run found on disk.
#[derive(Debug)]
pub struct Resumed<C, S> {
    /// To go on with.
    pub run: RunFolder,
    /// The settings it began with.
    pub config: C,
    /// The state after its last complete generation; `None` if it stopped before there was one.
    pub state: Option<S>,
}

/// Why a run cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// Creating a run where there is one.
    #[error("{} already holds a run: resume it, or choose another folder", folder.display())]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// Resuming what is not a run.
    #[error("{} holds no run: there is no {CONFIG} in it", folder.display())]
    NotARun {
        /// The folder.
        folder: PathBuf,
    },
    /// Two processes, one run.
    #[error("another process is writing to the run in {}", folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// A file cannot be read, written, locked or cut. What was recorded before stands.
    #[error("cannot {action} {}: {reason}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system says; no source, which would say it twice.
        reason: io::Error,
    },
    /// A file is there but says something else than it should.
    #[error("{} is not what this program writes: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// Lines that the checkpoint counts on are gone, or there are more than one stopped run leaves behind it: the
    /// two are not of one moment.
    #[error(
        "{} holds {}, but the checkpoint was written after {}: put the file that belongs to the other one back, or \
         begin a new run",
        path.display(),
        count(*found, "complete line"),
        count(*expected, "generation")
    )]
    OutOfStep {
        /// The file.
        path: PathBuf,
        /// Complete lines in it.
        found: u64,
        /// Generations the checkpoint covers.
        expected: u64,
    },
    /// Generations were recorded, and there is no checkpoint to go on from.
    #[error("{} is gone, and generations were recorded with it: put it back, or begin a new run", path.display())]
    CheckpointLost {
        /// Where it was.
        path: PathBuf,
    },
}

impl RunFolderError {
    /// A folder that cannot be created.
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
    /// Begins a run in `folder`, which is made if need be.
    ///
    /// # Errors
    ///
    /// There is a run already, another process is writing there, or a file cannot be written.
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
        let generations = Lines::open(folder.join(GENERATIONS), 0)?;
        let timing = Lines::open(folder.join(TIMING), 0)?;
        if let Err(source) = write_atomically(&path, settings.as_bytes()) {
            // A folder without settings is not a run: the files made for it go, and the folder too if nothing else is in it.
            [GENERATIONS, TIMING, LOCK].iter().for_each(|name| drop(fs::remove_file(folder.join(name))));
            drop(fs::remove_dir(folder));
            return Err(io_error("write", &path, source));
        }
        Ok(Self { folder: folder.to_path_buf(), generations, timing, num_generations: 0, _lock: lock })
    }

    /// Opens a run to go on with it, and cuts its records back to its checkpoint.
    ///
    /// # Errors
    ///
    /// There is no run, another process is writing to it, a file cannot be read or is not ours, or checkpoint and
    /// records are not of one moment. Nothing is cut then.
    pub fn resume<C: DeserializeOwned, S: DeserializeOwned>(
        folder: &Path,
    ) -> Result<Resumed<C, S>, RunFolderError> {
        let path = folder.join(CONFIG);
        if !path.exists() {
            return Err(RunFolderError::NotARun { folder: folder.to_path_buf() });
        }
        let lock = lock(folder)?;
        let config = toml::from_slice(&read(&path)?).map_err(|error| malformed(&path, error))?;
        let (num_generations, state) = match read_checkpoint(folder)? {
            Some(checkpoint) => (checkpoint.num_generations, Some(checkpoint.state)),
            None => (0, None),
        };

        let path = folder.join(GENERATIONS);
        let text = if path.exists() { read(&path)? } else { Vec::new() };
        let found = complete_lines(&text).count() as u64;
        // A stop between a line and its checkpoint leaves one line too many, and the first result comes after both.
        if state.is_none() && (found > 1 || folder.join(WEIGHTS).exists()) {
            return Err(RunFolderError::CheckpointLost { path: folder.join(CHECKPOINT) });
        }
        if !(num_generations..=num_generations.saturating_add(1)).contains(&found) {
            return Err(RunFolderError::OutOfStep { path, found, expected: num_generations });
        }
        parse_lines::<IgnoredAny>(&path, complete_lines(&text).take(num_generations as usize))?;
        let generations = Lines::open(path, num_generations)?;
        let timing = Lines::open(folder.join(TIMING), num_generations)?;
        let run = Self { folder: folder.to_path_buf(), generations, timing, num_generations, _lock: lock };
        Ok(Resumed { run, config, state })
    }

    /// Records a generation: a line of results, a line of clock values, and the state to go on from.
    ///
    /// # Errors
    ///
    /// A file could not be written. The last checkpoint stands, what was appended after it does not count, and the
    /// same generation may be recorded again.
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
        let written =
            self.generations.append(&generation).and_then(|()| self.timing.append(&timing)).and_then(|()| {
                write_atomically(&checkpoint_path, &checkpoint).map_err(|e| (checkpoint_path, e))
            });
        if let Err((path, source)) = written {
            (self.generations.len, self.timing.len) = marks;
            return Err(io_error("write", &path, source));
        }
        self.num_generations = num_generations;
        Ok(())
    }

    /// Replaces the settings, by ones that the generations recorded so far could have been made with.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn write_config(&self, config: &impl Serialize) -> Result<(), RunFolderError> {
        self.replace(CONFIG, &config_text(&self.folder.join(CONFIG), config)?)
    }

    /// Generations recorded so far.
    pub fn num_generations(&self) -> u64 {
        self.num_generations
    }

    /// Where the run lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Replaces the result of the run.
    ///
    /// # Errors
    ///
    /// Weights that do not fit their names, or a file that cannot be written.
    pub fn write_weights(&self, weights: &Weights) -> Result<(), RunFolderError> {
        let path = self.folder.join(WEIGHTS);
        weights.check().map_err(|error| malformed(&path, error))?;
        self.replace(WEIGHTS, &weights.to_json())
    }

    /// Replaces the learning curve.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn write_curve(&self, svg: &str) -> Result<(), RunFolderError> {
        self.replace(CURVE, svg)
    }

    /// Replaces the best game, a recording as JSON; without one it takes away the game that was there, which other weights have
    /// played.
    ///
    /// # Errors
    ///
    /// A file that cannot be written or taken away.
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
        write_atomically(&path, text.as_bytes()).map_err(|source| io_error("write", &path, source))
    }
}

/// The recorded generations of a run, which another process may be writing: a line that is not complete
/// yet is left out.
///
/// # Errors
///
/// A file that cannot be read, or a complete line that is not a `T`.
pub fn read_generations<T: DeserializeOwned>(folder: &Path) -> Result<Vec<T>, RunFolderError> {
    let path = folder.join(GENERATIONS);
    let text = read(&path)?;
    parse_lines(&path, complete_lines(&text))
}

/// How many generations a run will have, if its settings say so.
///
/// # Errors
///
/// There is no run, or its settings cannot be read.
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

/// Puts `bytes` at `path` so that a reader, or a machine that loses power, finds the old file or the new one whole.
///
/// # Errors
///
/// What the system says; the old file is still there then, and nothing beside it.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let temporary = parent.join(format!(".{name}.tmp"));
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| fs::rename(&temporary, path)) {
        let _ = fs::remove_file(&temporary); // the first error is the one to report
        return Err(error);
    }
    // The new name itself should reach the disk too. The file is replaced by now, so a file system that cannot
    // flush a folder (and Windows, which has no such call) is no reason to say that it was not.
    #[cfg(unix)]
    let _ = File::open(parent).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A file that grows by whole lines.
#[derive(Debug)]
struct Lines {
    path: PathBuf,
    file: File,
    /// Bytes that count; the file may hold more after a write that failed.
    len: u64,
}

impl Lines {
    /// Opens or makes the file and cuts it after `max_lines` complete lines.
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
                self.file.set_len(self.len)?; // what an attempt that failed has left
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
    struct Format {
        format: u32,
    }
    let path = folder.join(CHECKPOINT);
    if !path.exists() {
        return Ok(None);
    }
    let text = read(&path)?;
    // The format first: a checkpoint of another one need not have anything else we know.
    let Format { format } = serde_json::from_slice(&text).map_err(|error| malformed(&path, error))?;
    if format != CHECKPOINT_FORMAT {
        return Err(malformed(&path, format_args!("its format is {format}, not {CHECKPOINT_FORMAT}")));
    }
    serde_json::from_slice(&text).map(Some).map_err(|error| malformed(&path, error))
}

/// The lines that end with a newline, without it. Bytes, because a torn line may end inside a character.
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
/// If it cannot be read, or is larger than any that this program writes.
pub fn read(path: &Path) -> Result<Vec<u8>, RunFolderError> {
    let read = || match fs::metadata(path)? {
        // A device has no length, and may have no end either.
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
