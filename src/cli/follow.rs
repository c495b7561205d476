//! Files that a server reads again while it runs: after changes, and on SIGHUP.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

/// Time between two reads of a file.
const INTERVAL: Duration = Duration::from_secs(1);

/// Starts a task that reads repeatedly and passes on contents that differ from `known`.
///
/// A change takes effect after two equal reads in a row, so that a half-written file is never used. On SIGHUP the
/// current content takes effect at once, even if it is known. It becomes the new `known` even if it cannot be used.
///
/// # Errors
/// If the process cannot listen for SIGHUP.
pub fn follow<T: Clone + PartialEq + Send + 'static>(
    mut known: T,
    read: impl Fn() -> T + Clone + Send + 'static,
    take_up: impl Fn(&T) + Send + 'static,
) -> std::io::Result<()> {
    let reload = Arc::new(Notify::new());
    notify_on_hangup(reload.clone())?;
    tokio::spawn(async move {
        let mut seen = known.clone();
        loop {
            let asked = tokio::select! {
                () = reload.notified() => true,
                () = tokio::time::sleep(INTERVAL) => false,
            };
            // On a blocking thread, because the file's disk may not respond.
            let Ok(read) = tokio::task::spawn_blocking(read.clone()).await else { return };
            let is_new = read == seen && read != known;
            seen = read;
            if is_new || asked {
                known = seen.clone();
                take_up(&known);
            }
        }
    });
    Ok(())
}

/// Notifies on SIGHUP, on systems that have it.
fn notify_on_hangup(reload: Arc<Notify>) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mut hangup = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?;
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                reload.notify_one();
            }
        });
    }
    #[cfg(not(unix))]
    drop(reload);
    Ok(())
}
