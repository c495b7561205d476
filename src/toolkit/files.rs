//! Whole files: written so that a reader finds the old file or the new one, and opened without waiting.
//!
//! [`write_with`] writes a new file in the folder of the old one, flushes it to the disk and renames it. On Linux the
//! new file has no name until it is complete, so the system removes it however the process ends. Where a file needs a
//! name, on other systems, some network disks and for other programs, the name is random; an error removes the file, and
//! a killed process leaves it.
//!
//! Links are followed. Bytes for a pipe or a device go into it, because replacing one would destroy it.
//!
//! The surprising decision: the file behind stdout or stderr, as in `--out /dev/stdout > file`, is not replaced either.
//! The shell has it open, and writes the output of the next command to it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Most links that lead from a name to a file, as in Linux.
const MAX_LINKS: usize = 40;

/// Writes a whole file.
///
/// # Errors
/// If the system reports an error. The old file is unchanged then, and no other file remains.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// Writes a whole file with the bytes that `write` writes.
///
/// A new file has the permissions that the process gives to new files. A replaced one keeps its permissions, and its
/// owner if the process may give files away.
///
/// # Errors
/// As with [`write()`], and errors of `write`.
pub fn write_with<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    match Destination::of(path)? {
        Destination::Open(mut file) => write(&mut file),
        Destination::Straight => write(&mut OpenOptions::new().write(true).open(path)?),
        Destination::Replace { path, old } => {
            let mut new = NewFile::beside(&path)?;
            write(new.file())?;
            Ok(new.replace(&path, old.as_ref())?)
        }
    }
}

/// Writes a whole file with the bytes that another program writes to a file with the name that `write` gets.
///
/// # Errors
/// As with [`write_with`].
pub fn write_by_name<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let Destination::Replace { path, old } = Destination::of(path)? else { return write(path) };
    let new = named(folder_of(&path))?;
    write(new.path())?;
    Ok(NewFile::Named(new).replace(&path, old.as_ref())?)
}

/// Checks in advance that a file can be written. Changes no file, and does not open a pipe or a device, whose reader
/// would notice.
///
/// # Errors
/// If the file cannot be written.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::Open(_) | Destination::Straight => Ok(()),
        Destination::Replace { path, .. } => NewFile::beside(&path).map(drop),
    }
}

/// Opens a regular file for reading. Anything else is an error: opening a pipe would wait, possibly forever, until
/// something writes to it.
///
/// # Errors
/// If the file cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    open_regular(path, OpenOptions::new().read(true))
}

/// Opens a regular file with these options, like [`open`].
///
/// # Errors
/// As with [`open`].
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

/// Where the bytes for a path go.
enum Destination {
    /// Into a file that this process has open: stdout or stderr.
    Open(File),
    /// Into a pipe or a device.
    Straight,
    /// Into a new file that replaces this one.
    Replace {
        /// The file at the end of all links.
        path: PathBuf,
        /// The file to replace, if there is one.
        old: Option<Metadata>,
    },
}

impl Destination {
    fn of(path: &Path) -> io::Result<Destination> {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if path.to_string_lossy().ends_with(std::path::is_separator) {
                    return Err(error); // a folder that is missing
                }
                return Ok(Destination::Replace { path: without_links(path), old: None });
            }
            Err(error) => return Err(error),
        };
        if found.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        if let Some(file) = standard_stream(&found) {
            return Ok(Destination::Open(file));
        }
        if !found.is_file() {
            return Ok(Destination::Straight);
        }
        OpenOptions::new().write(true).open(path)?; // a file that may not be written may not be replaced
        Ok(Destination::Replace { path: fs::canonicalize(path)?, old: Some(found) })
    }
}

/// The path to which links lead that end at no file.
fn without_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        path = folder_of(&path).join(target);
    }
    path
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Stdout or stderr, if it writes to the file with this metadata.
#[cfg(unix)]
fn standard_stream(found: &Metadata) -> Option<File> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let (stdout, stderr) = (io::stdout(), io::stderr());
    [stdout.as_fd(), stderr.as_fd()].into_iter().find_map(|stream| {
        let file = File::from(stream.try_clone_to_owned().ok()?);
        let open = file.metadata().ok()?;
        ((open.dev(), open.ino()) == (found.dev(), found.ino())).then_some(file)
    })
}

/// Other systems have no names for stdout and stderr.
#[cfg(not(unix))]
fn standard_stream(_: &Metadata) -> Option<File> {
    None
}

/// A file that is not complete yet; removed when it is dropped.
enum NewFile {
    /// A file without a name.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// A file with a random name.
    Named(tempfile::NamedTempFile),
}

impl NewFile {
    /// Makes a file in the folder of `path`.
    fn beside(path: &Path) -> io::Result<NewFile> {
        if path.file_name().is_none() {
            return Err(ErrorKind::InvalidInput.into());
        }
        let folder = folder_of(path);
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed(folder) {
            return Ok(NewFile::Unnamed(file));
        }
        named(folder).map(NewFile::Named)
    }

    fn file(&mut self) -> &mut File {
        match self {
            #[cfg(target_os = "linux")]
            NewFile::Unnamed(file) => file,
            NewFile::Named(file) => file.as_file_mut(),
        }
    }

    /// Gives the complete file its final name.
    fn replace(mut self, path: &Path, old: Option<&Metadata>) -> io::Result<()> {
        let file = self.file();
        if let Some(old) = old {
            keep_access(file, old)?;
        }
        file.sync_all()?;
        let folder = folder_of(path);
        let named = match self {
            // A file can take a name only if no other file has it, so it takes a random one first.
            #[cfg(target_os = "linux")]
            NewFile::Unnamed(file) => names().make_in(folder, |name| link(&file, name))?.into_temp_path(),
            NewFile::Named(file) => file.into_temp_path(),
        };
        named.persist(path)?;
        // The new name should reach the disk too. The file is already replaced, so this is best effort: some file
        // systems cannot flush a folder, and Windows has no such call.
        #[cfg(unix)]
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// Random names for files that are not complete, with the permissions that the process gives to new files.
fn names() -> tempfile::Builder<'static, 'static> {
    let mut names = tempfile::Builder::new();
    names.prefix(".tetrion-");
    #[cfg(unix)]
    names.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    names
}

/// A file with a random name in this folder.
fn named(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    fs::metadata(folder)?;
    // The message of the error has the random name, which says nothing to a user.
    names().tempfile_in(folder).map_err(|error| error.kind().into())
}

/// A file without a name in this folder; `None` if the system cannot make one that gets a name later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)).ok()?;
    Path::new("/proc/self/fd").exists().then(|| file.into())
}

/// Gives a name to a file without one.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{AtFlags, CWD, linkat};
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Gives a new file the permissions of the old one, and its owner if the process may give files away.
fn keep_access(new: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let owner = |file: &Metadata| (file.uid(), file.gid());
        if owner(&new.metadata()?) != owner(old) {
            let _ = fchown(new, Some(old.uid()), Some(old.gid()));
        }
    }
    new.set_permissions(old.permissions())
}
