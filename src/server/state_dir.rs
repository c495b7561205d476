//! The folder in which a server leaves its sessions for the next one at shutdown.
//!
//! | file | content |
//! | --- | --- |
//! | `sessions` | the sessions of the previous server; removed as soon as the next one serves them |
//! | `sessions.new` | sessions being written; renamed to `sessions` when they are on the disk |
//! | `sessions.reserve` | space for `sessions.new`, reserved while the server runs, in case the disk fills up |
//! | `sessions.left`, `sessions.left.2`, ... | each `sessions` file that could not be restored completely |
//! | `lock` | locked by the server that uses the folder |
//!
//! So the folder always has a complete file or none. A killed server leaves none, and its clients get the error that
//! their sessions do not exist. The server checks the file anyway. If space runs out, the file has as many sessions as
//! fit.

use std::convert::Infallible;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tracing::{error, info, warn};

use tetrion_service::{PutAway, SessionStore};
use tetrion_toolkit::files::{open, open_regular};

/// Interval at which the size of the reserve is adjusted to the sessions.
const RESERVE_INTERVAL: Duration = Duration::from_secs(1);

/// The size of the reserve is a multiple of this.
const RESERVE_STEP: u64 = 64 << 10;

/// The folder, locked until this value is dropped.
#[derive(Debug)]
pub(super) struct StateDir {
    path: PathBuf,
    _lock: File,
    reserve: Arc<Reserve>,
    /// New path for a `sessions` file that was not restored completely.
    left: Option<PathBuf>,
}

/// The file to which the sessions will be written, with reserved space.
#[derive(Debug, Default)]
struct Reserve(Mutex<Option<(File, u64)>>);

impl StateDir {
    /// Creates the folder if it is missing, and restores the sessions in it.
    ///
    /// # Errors
    /// If the folder cannot be used, or another server uses it.
    pub(super) fn open(path: &Path, store: &SessionStore) -> io::Result<StateDir> {
        make_folder(path)?;
        survive_large_files()?;
        let lock = path.join("lock");
        let lock =
            open_regular(&lock, private().create(true).truncate(false)).map_err(|e| about(&lock, e))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another server uses it"),
            TryLockError::Error(error) => error,
        })?;
        let mut folder = StateDir { path: path.to_owned(), _lock: lock, reserve: Arc::default(), left: None };
        remove(&folder.reserved())?;
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
        let file = match open(&self.sessions()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(about(&self.sessions(), error)),
        };
        let num_bytes = file.metadata()?.len();
        let taken = store.take_up(&mut BufReader::new(file), num_bytes)?;
        let left = self.free_left()?;
        for problem in &taken.problems {
            error!(problem, left_in = %left.display(), "sessions could not be restored");
        }
        self.left = Some(left).filter(|_| !taken.problems.is_empty());
        info!(sessions = taken.sessions, num_bytes, "restored the sessions of the previous server");
        Ok(())
    }

    /// Removes the file of the previous server: restoring its sessions a second time would bring back old states.
    /// Creates the file to which this server will write its sessions.
    ///
    /// # Errors
    /// If the old file cannot be removed, or the new one cannot be created.
    pub(super) fn begin(&self, store: &SessionStore) -> io::Result<()> {
        match &self.left {
            None => remove(&self.sessions()).map(drop)?,
            Some(left) => fs::rename(self.sessions(), left)?,
        }
        self.reserve.begin(private().create_new(true).open(self.reserved())?);
        self.warn_of_little_room(file_bytes(store.memory().limit()));
        self.sync()
    }

    /// Warns if the file cannot grow to the size of the most sessions. The reserve follows the actual sessions, so it
    /// would reveal that too late.
    fn warn_of_little_room(&self, most: u64) {
        #[cfg(unix)]
        {
            let disk = rustix::fs::statvfs(&self.path);
            let free = disk.map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
            let longest = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
            let room = free.min(longest.unwrap_or(u64::MAX));
            if room < most {
                let (folder, room_mib, most_mib) = (self.path.display(), room >> 20, most >> 20);
                warn!(
                    %folder, room_mib, most_mib,
                    "little room for the sessions: a server with the most that --session-memory allows would lose some"
                );
            }
        }
        #[cfg(not(unix))]
        let _ = most;
    }

    /// Keeps disk space reserved for the sessions of the store, as long as this future is polled.
    pub(super) async fn keep_room(&self, store: &SessionStore) -> Infallible {
        let mut interval = tokio::time::interval(RESERVE_INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut has_room = true;
        loop {
            interval.tick().await;
            let wanted = file_bytes(store.memory().taken());
            let reserve = self.reserve.clone();
            // On another thread, because the disk may block.
            let kept = tokio::task::spawn_blocking(move || reserve.resize(wanted)).await;
            let kept = kept.unwrap_or_else(|panic| Err(io::Error::other(panic)));
            if let Err(error) = &kept
                && has_room
            {
                let folder = self.path.display();
                warn!(%folder, num_bytes = wanted, %error, "no room for the sessions: a server that stops may lose some");
            }
            has_room = kept.is_ok();
        }
    }

    /// Writes the sessions of the store to the file. From then on nothing can change them.
    ///
    /// # Errors
    /// If some could not be written. The file holds the others.
    pub(super) async fn put_away(&self, store: &SessionStore) -> io::Result<()> {
        let written = self.write(store).await;
        if written.is_err() {
            let _ = remove(&self.unfinished()); // the first error says more
        }
        let PutAway { sessions, num_bytes, lost, error } = written?;
        info!(sessions, num_bytes, file = %self.sessions().display(), "wrote the sessions for the next server");
        match error {
            Some(error) if lost > 0 => {
                let all = sessions + lost;
                Err(io::Error::new(
                    error.kind(),
                    format!("{lost} of {all} sessions could not be written: {error}"),
                ))
            }
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    async fn write(&self, store: &SessionStore) -> io::Result<PutAway> {
        let mut file = self.reserve.take().ok_or(io::ErrorKind::NotFound)?;
        fs::rename(self.reserved(), self.unfinished())?;
        let mut done = store.put_away(&mut file).await?;
        let durable = file.set_len(done.num_bytes).and_then(|()| file.sync_all());
        // Each session in the file has a checksum, so one that did not reach the disk is not restored.
        fs::rename(self.unfinished(), self.sessions())?;
        let durable = durable.and_then(|()| self.sync());
        done.error = done.error.or(durable.err());
        Ok(done)
    }

    /// Makes the names of the files durable, like `sync_all` for their contents.
    fn sync(&self) -> io::Result<()> {
        if cfg!(unix) { File::open(&self.path)?.sync_all() } else { Ok(()) }
    }

    fn sessions(&self) -> PathBuf {
        self.path.join("sessions")
    }

    fn unfinished(&self) -> PathBuf {
        self.path.join("sessions.new")
    }

    fn reserved(&self) -> PathBuf {
        self.path.join("sessions.reserve")
    }

    /// The first unused name for such a file; broken links count as used.
    fn free_left(&self) -> io::Result<PathBuf> {
        let mut left = self.path.join("sessions.left");
        for number in 2.. {
            match fs::symlink_metadata(&left) {
                Ok(_) => left = self.path.join(format!("sessions.left.{number}")),
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(error),
            }
        }
        Ok(left)
    }
}

impl Reserve {
    /// Starts with an empty file.
    fn begin(&self, file: File) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((file, 0));
    }

    /// Takes the file out; it is not resized any more.
    fn take(&self) -> Option<File> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map(|(file, _)| file)
    }

    /// Reserves `wanted` bytes, or releases most of the reserve. Does nothing if the system cannot reserve space.
    fn resize(&self, wanted: u64) -> io::Result<()> {
        let mut reserve = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((file, size)) = reserve.as_mut() else { return Ok(()) };
        if (*size / 2..=*size).contains(&wanted) {
            return Ok(());
        }
        if wanted > *size {
            #[cfg(target_os = "linux")]
            match rustix::fs::fallocate(&*file, rustix::fs::FallocateFlags::empty(), 0, wanted) {
                Ok(()) | Err(rustix::io::Errno::OPNOTSUPP) => {}
                Err(error) => return Err(error.into()),
            }
        } else {
            file.set_len(wanted)?;
        }
        *size = wanted;
        Ok(())
    }
}

/// Room for the file of sessions that take this many bytes of memory: many environments take up to 1.09 bytes of the
/// file per byte.
fn file_bytes(memory: u64) -> u64 {
    (memory / 4 * 5 / RESERVE_STEP + 2) * RESERVE_STEP
}

/// Makes a write beyond the system's limit on file sizes return an error. By default it would kill the process.
fn survive_large_files() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let _handled = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
    }
    Ok(())
}

/// Options for files that only their owner can read, because the name of a session gives access to it.
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
    builder.create(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
        _ => error,
    })
}

/// Adds the name of the file to an error.
fn about(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Removes a file. Returns whether it existed.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
