//! Ctrl-C for work that is not a future: a flag to check now and then. Programs that must put something back before they end
//! have SIGTERM raise it too, and SIGHUP, which comes when the window of their terminal is closed.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Poll;

use anyhow::Context;

/// The exit code of a program that was interrupted before it was done.
pub const INTERRUPTED: u8 = 130;

/// The exit code of a program that SIGTERM ended: the one that a shell reports.
pub const TERMINATED: u8 = 143;

/// The exit code of a program that ended because its terminal had gone: the one that a shell reports of SIGHUP.
pub const HUNG_UP: u8 = 129;

/// Ctrl-C was pressed.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Whether Ctrl-C has been pressed.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicU8>);

impl Interrupt {
    /// Watches for Ctrl-C from now on. The second one ends the process at once.
    ///
    /// # Errors
    /// If the system does not report signals.
    pub fn watch() -> anyhow::Result<Interrupt> {
        Interrupt::watch_for(false)
    }

    /// Watches for Ctrl-C, SIGTERM and SIGHUP from now on. The second one ends the process at once.
    ///
    /// # Errors
    /// If the system does not report signals.
    pub fn watch_every_end() -> anyhow::Result<Interrupt> {
        Interrupt::watch_for(true)
    }

    fn watch_for(every_end: bool) -> anyhow::Result<Interrupt> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let flag = Arc::new(AtomicU8::new(0));
        let raised = flag.clone();
        let (begun, begins) = std::sync::mpsc::channel();
        let watching = move || {
            runtime.block_on(async {
                let mut press = std::pin::pin!(signal(every_end));
                // The system reports it from the first poll on.
                let polled = poll_fn(|context| Poll::Ready(press.as_mut().poll(context))).await;
                let _ = begun.send(());
                let code = match polled {
                    Poll::Ready(result) => result,
                    Poll::Pending => press.await,
                };
                if let Ok(code) = code {
                    raised.store(code, Ordering::Relaxed);
                    let again = signal(every_end).await;
                    std::process::exit(again.unwrap_or(code).into());
                }
            });
        };
        std::thread::Builder::new()
            .name("interrupt".to_owned())
            .spawn(watching)
            .context("cannot watch for Ctrl-C")?;
        begins.recv().context("cannot watch for Ctrl-C")?;
        Ok(Interrupt(flag))
    }

    /// The exit code of a program that ends by it, once it has been pressed.
    pub fn exit_code(&self) -> Option<u8> {
        Some(self.0.load(Ordering::Relaxed)).filter(|code| *code != 0)
    }

    /// Whether it has been pressed.
    pub fn is_pressed(&self) -> bool {
        self.exit_code().is_some()
    }

    /// The same as an error, for work that ends with the first one.
    ///
    /// # Errors
    /// If it has been pressed.
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_pressed() { Err(Interrupted) } else { Ok(()) }
    }
}

/// Waits for Ctrl-C, or also for SIGTERM and SIGHUP where there are such things; returns the exit code for it.
async fn signal(every_end: bool) -> std::io::Result<u8> {
    #[cfg(unix)]
    if every_end {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        let hung_up = async {
            match &mut hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        return tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed.map(|()| INTERRUPTED),
            _ = terminate.recv() => Ok(TERMINATED),
            _ = hung_up => Ok(HUNG_UP),
        };
    }
    #[cfg(not(unix))]
    let _ = every_end;
    tokio::signal::ctrl_c().await.map(|()| INTERRUPTED)
}

/// Whether the process was started so that it outlives its terminal, as `nohup` does it; where the system does not say, it was not.
#[cfg(unix)]
pub fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The first bit is that of signal 1.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
