//! The folder in which a server that shuts down leaves its sessions for the next one.
//!
//! | file | what it is |
//! | --- | --- |
//! | `sessions` | the sessions of the previous server; removed as soon as the next one serves them |
//! | `sessions.new` | the same while the server writes it; renamed to `sessions` when all of it is on the disk |
//! | `sessions.left` | a `sessions` that could not be restored completely, kept for the operator |
//! | `lock` | held by the server that uses the folder |
//!
//! So at any moment the folder has a whole file or none: a killed server leaves none, and its clients get the error that
//! their sessions do not exist. The server checks the file all the same.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use tracing::{error, info, warn};

use crate::service::SessionStore;

/// The folder, locked until this is dropped.
#[derive(Debug)]
pub(super) struct StateDir {
    path: PathBuf,
    _lock: File,
    /// Whether all of `sessions` was restored.
    is_whole: bool,
}

impl StateDir {
    /// Makes the folder if there is none, and restores the sessions in it.
    ///
    /// # Errors
    /// If the folder cannot be used, or another server uses it.
    pub(super) fn open(path: &Path, store: &SessionStore) -> io::Result<StateDir> {
        make_folder(path)?;
        let lock = private().create(true).truncate(false).open(path.join("lock"))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another server uses it"),
            TryLockError::Error(error) => error,
        })?;
        let mut folder = StateDir { path: path.to_owned(), _lock: lock, is_whole: true };
        if remove(&folder.unfinished())? {
            warn!(
                file = %folder.unfinished().display(),
                "the previous server did not finish writing its sessions; they are lost"
            );
        }
        folder.take_up(store)?;
        Ok(folder)
    }

    fn take_up(&mut self, store: &SessionStore) -> io::Result<()> {
        let file = match File::open(self.sessions()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let num_bytes = file.metadata()?.len();
        let taken = store.take_up(&mut BufReader::new(file), num_bytes)?;
        for problem in &taken.problems {
            error!(problem, left_in = %self.left().display(), "sessions could not be restored");
        }
        self.is_whole = taken.problems.is_empty();
        info!(sessions = taken.sessions, num_bytes, "restored the sessions of the previous server");
        Ok(())
    }

    /// Removes the file: from now on the restored sessions belong to this server, and no other one may restore them again,
    /// older than they have become.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub(super) fn begin(&self) -> io::Result<()> {
        if self.is_whole {
            remove(&self.sessions())?;
        } else {
            fs::rename(self.sessions(), self.left())?;
        }
        self.sync()
    }

    /// Writes the sessions of the store to the file; nothing can change them from then on.
    ///
    /// # Errors
    /// If they cannot be written. Then there is no file.
    pub(super) async fn put_away(&self, store: &SessionStore) -> io::Result<()> {
        let written = self.write(store).await;
        if written.is_err() {
            let _ = remove(&self.unfinished()); // the first error says more
        }
        let sessions = written?;
        info!(sessions, file = %self.sessions().display(), "wrote the sessions for the next server");
        Ok(())
    }

    async fn write(&self, store: &SessionStore) -> io::Result<u32> {
        let file = private().create_new(true).open(self.unfinished())?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let sessions = store.put_away(&mut out).await?;
        out.flush()?;
        out.get_ref().sync_all()?;
        fs::rename(self.unfinished(), self.sessions())?;
        self.sync()?;
        Ok(sessions)
    }

    /// Makes the names of the files durable, as `sync_all` does their contents.
    fn sync(&self) -> io::Result<()> {
        if cfg!(unix) { File::open(&self.path)?.sync_all() } else { Ok(()) }
    }

    fn sessions(&self) -> PathBuf {
        self.path.join("sessions")
    }

    fn unfinished(&self) -> PathBuf {
        self.path.join("sessions.new")
    }

    fn left(&self) -> PathBuf {
        self.path.join("sessions.left")
    }
}

/// Opens files that only their owner can read: a session's name is all it takes to use the session.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Removes a file; returns whether there was one.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
