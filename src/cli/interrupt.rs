//! Ctrl-C for work that is not a future: a flag to check now and then. Programs that must put something back before they end
//! have SIGTERM raise it too.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Poll;

use anyhow::Context;

/// The exit code of a program that was interrupted before it was done.
pub const INTERRUPTED: u8 = 130;

/// The exit code of a program that SIGTERM ended: the one that a shell reports.
pub const TERMINATED: u8 = 143;

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

    /// Watches for Ctrl-C and SIGTERM from now on. The second one ends the process at once.
    ///
    /// # Errors
    /// If the system does not report signals.
    pub fn watch_with_sigterm() -> anyhow::Result<Interrupt> {
        Interrupt::watch_for(true)
    }

    fn watch_for(sigterm: bool) -> anyhow::Result<Interrupt> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let flag = Arc::new(AtomicU8::new(0));
        let raised = flag.clone();
        let (begun, begins) = std::sync::mpsc::channel();
        let watching = move || {
            runtime.block_on(async {
                let mut press = std::pin::pin!(signal(sigterm));
                // The system reports it from the first poll on.
                let polled = poll_fn(|context| Poll::Ready(press.as_mut().poll(context))).await;
                let _ = begun.send(());
                let code = match polled {
                    Poll::Ready(result) => result,
                    Poll::Pending => press.await,
                };
                if let Ok(code) = code {
                    raised.store(code, Ordering::Relaxed);
                    let again = signal(sigterm).await;
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

/// Waits for Ctrl-C, or also for SIGTERM where there is such a thing; returns the exit code for it.
async fn signal(sigterm: bool) -> std::io::Result<u8> {
    #[cfg(unix)]
    if sigterm {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        return tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed.map(|()| INTERRUPTED),
            _ = terminate.recv() => Ok(TERMINATED),
        };
    }
    #[cfg(not(unix))]
    let _ = sigterm;
    tokio::signal::ctrl_c().await.map(|()| INTERRUPTED)
}
