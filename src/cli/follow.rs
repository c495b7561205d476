//! Files that a server reads again while it runs: when they change, and on SIGHUP.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

/// How often they are read.
const INTERVAL: Duration = Duration::from_secs(1);

/// Starts a task that reads again and again, and hands over what is not `known`.
///
/// What is read counts when it is read twice in a row, so that a file in the middle of being written does not; or at once on
/// SIGHUP, even if it is known. Then it is the new `known`, whether or not it can be used.
///
/// # Errors
/// If SIGHUP cannot be listened to.
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
            // Elsewhere, for the file may lie on a disk that does not answer.
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

/// Notifies on SIGHUP, where there is one.
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
