//! Ctrl-C for blocking work: a flag that the work checks regularly. Programs that must clean up before they end also
//! watch for SIGTERM, and for SIGHUP, which comes when their terminal window closes.

use std::future::{Future, poll_fn};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Poll;
use std::time::Duration;

use anyhow::Context;

use super::output::say;

/// Exit code of a program that was interrupted before it finished.
pub const INTERRUPTED: u8 = 130;

/// Exit code of a program that SIGTERM ended, as shells report it.
pub const TERMINATED: u8 = 143;

/// Exit code of a program whose terminal closed, as shells report SIGHUP.
pub const HUNG_UP: u8 = 129;

/// The error of work that Ctrl-C has stopped.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// A flag that Ctrl-C sets.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicU8>);

impl Interrupt {
    /// Starts watching for Ctrl-C. The second Ctrl-C ends the process at once.
    ///
    /// # Errors
    /// If the system does not report signals.
    pub fn watch() -> anyhow::Result<Interrupt> {
        Interrupt::watch_for(false)
    }

    /// Starts watching for Ctrl-C, SIGTERM and SIGHUP. The second one ends the process at once, except for SIGHUP: a
    /// window that closes sends it from the system and from the shell.
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
                // The first poll registers the handler.
                let polled = poll_fn(|context| Poll::Ready(press.as_mut().poll(context))).await;
                let _ = begun.send(());
                let code = match polled {
                    Poll::Ready(result) => result,
                    Poll::Pending => press.await,
                };
                if let Ok(code) = code {
                    raised.store(code, Ordering::Relaxed);
                    let again = loop {
                        match signal(every_end).await {
                            Ok(HUNG_UP) => {}
                            again => break again,
                        }
                    };
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

    /// Exit code for the received signal, if any.
    pub fn exit_code(&self) -> Option<u8> {
        Some(self.0.load(Ordering::Relaxed)).filter(|code| *code != 0)
    }

    /// Whether Ctrl-C or another watched signal has come.
    pub fn is_pressed(&self) -> bool {
        self.exit_code().is_some()
    }

    /// Fails after Ctrl-C, for work that stops at its first error.
    ///
    /// # Errors
    /// [`Interrupted`] after Ctrl-C.
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_pressed() { Err(Interrupted) } else { Ok(()) }
    }
}

/// Waits for Ctrl-C, or also for SIGTERM and SIGHUP on systems that have them. Returns the exit code.
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

/// Whether the process ignores SIGHUP, as under `nohup`. False on systems that do not report it.
#[cfg(unix)]
pub fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The lowest bit is signal 1.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Runs asynchronous work to its end, or until Ctrl-C, SIGTERM or SIGHUP, which says `stopped`.
///
/// # Errors
/// The errors of the work, or if no threads can be started.
pub fn run_until_stopped(
    stopped: &str,
    work: impl Future<Output = anyhow::Result<ExitCode>>,
) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        tokio::select! {
            code = work => code,
            code = signal(true) => {
                say(stopped);
                Ok(ExitCode::from(code?))
            }
        }
    });
    // Time for blocking work to notice, and to end the processes that it has started.
    runtime.shutdown_timeout(Duration::from_secs(5));
    code
}
