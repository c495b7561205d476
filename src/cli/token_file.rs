//! Token files: a single token, or a table of tokens that is reloaded when it changes.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tracing::{info, warn};

use super::follow::follow;
use super::options::{read_server_file, read_text};
use super::output::shell_path;
use tetrion_protocol::secret::Secret;
use tetrion_server::{Replaced, TokenFile, Tokens};

/// Reads a client's token from a file with one line.
///
/// # Errors
/// With the file's name, if the file cannot be read or its text is not a valid token.
pub fn read_token(path: &Path) -> anyhow::Result<Secret> {
    token(path, &read_text(path)?)
}

/// Reads a server's token from a regular file with one line.
///
/// # Errors
/// With the file's name, if it cannot be read or holds no token.
pub fn read_server_token(path: &Path) -> anyhow::Result<Secret> {
    token(path, &read_server_file(path)?)
}

fn token(path: &Path, text: &str) -> anyhow::Result<Secret> {
    let secret = Secret::from(text.trim_end_matches(['\r', '\n']).to_owned());
    if !secret.is_sendable() {
        bail!(
            "{} holds no token: expected one line of printable ASCII characters, no space at either end",
            path.display()
        );
    }
    Ok(secret)
}

/// Reads a table of tokens. Also returns the text of the file.
///
/// # Errors
/// With the file's name and the line, if it cannot be read or used.
pub fn read_tokens(path: &Path) -> anyhow::Result<(TokenFile, String)> {
    let text = read_server_file(path)?;
    let file = TokenFile::parse(&text).with_context(|| path.display().to_string())?;
    Ok((file, text))
}

/// A warning if other users can read the file.
pub fn exposure(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path).ok()?.permissions().mode();
        if mode & 0o004 != 0 {
            return Some(format!(
                "other users of this machine can read {}: `chmod 600 {}` makes it private",
                path.display(),
                shell_path(path)
            ));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    None
}

/// Starts a task that follows changes of the file, from this text on. If a new text cannot be used, the task logs that,
/// and the previous tokens stay.
///
/// # Errors
/// If the process cannot listen for SIGHUP.
pub fn follow_tokens(tokens: Tokens, path: PathBuf, text: String) -> std::io::Result<()> {
    let file = path.clone();
    let read = move || read_server_file(&file).map_err(|error| format!("{error:#}"));
    follow(Ok(text), read, move |text| take_up(&tokens, &path, text))
}

fn take_up(tokens: &Tokens, path: &Path, text: &Result<String, String>) {
    let parsed = text.as_ref().map_err(Clone::clone);
    let parsed = parsed.and_then(|text| TokenFile::parse(text).map_err(|error| error.to_string()));
    let path_shown = path.display();
    match parsed {
        Ok(file) => {
            let Replaced { tokens, added, removed } = tokens.replace(file);
            info!(file = %path_shown, tokens, added, removed, "tokens read again");
            if let Some(exposure) = exposure(path) {
                warn!("{exposure}");
            }
        }
        Err(problem) => {
            warn!(file = %path_shown, problem, "the file of tokens cannot be used; the previous ones stay");
        }
    }
}
