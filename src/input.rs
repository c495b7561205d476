//! Input from people and files: the error for input that the program does not understand, and bounded reading of
//! files.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Input that the program does not understand: a flag, a value, a name. The exit code is 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Reads a file of at most this many bytes; reads no more than that of a larger one.
///
/// # Errors
/// If the file cannot be read, or is larger.
pub fn read_bytes(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_open(File::open(path)?, max_bytes)
}

/// Reads an open file of at most this many bytes.
///
/// # Errors
/// If the file cannot be read, or is larger.
pub fn read_open(file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        let problem = format!("it has more than {max_bytes} bytes");
        Err(io::Error::new(ErrorKind::FileTooLarge, problem))
    };
    // A pipe and a device have no length, and may have no end either.
    let len = file.metadata()?.len();
    if len > max_bytes {
        return too_large();
    }
    let mut bytes = Vec::with_capacity(len as usize);
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { too_large() } else { Ok(bytes) }
}

/// Reads a text file of at most this many bytes.
///
/// # Errors
/// If the file cannot be read, is larger, or is not UTF-8.
pub fn read_utf8(path: &Path, max_bytes: u64) -> io::Result<String> {
    utf8(read_bytes(path, max_bytes)?)
}

/// The bytes as text.
///
/// # Errors
/// If they are not UTF-8.
pub fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is no text in UTF-8"))
}
