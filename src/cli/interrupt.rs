//! Ctrl-C for work that is not a future: a flag to check now and then.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use anyhow::Context;

/// The exit code of a program that was interrupted before it was done.
pub const INTERRUPTED: u8 = 130;

/// Ctrl-C was pressed.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Whether Ctrl-C has been pressed.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for Ctrl-C from now on. The second one ends the process at once.
    ///
    /// # Errors
    /// If the system does not report signals.
    pub fn watch() -> anyhow::Result<Interrupt> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let flag = Arc::new(AtomicBool::new(false));
        let pressed = flag.clone();
        let (begun, begins) = std::sync::mpsc::channel();
        let watching = move || {
            runtime.block_on(async {
                let mut press = std::pin::pin!(tokio::signal::ctrl_c());
                // The system reports it from the first poll on.
                let polled = poll_fn(|context| Poll::Ready(press.as_mut().poll(context))).await;
                let _ = begun.send(());
                let press = match polled {
                    Poll::Ready(result) => result,
                    Poll::Pending => press.await,
                };
                if press.is_ok() {
                    pressed.store(true, Ordering::Relaxed);
                    let _ = tokio::signal::ctrl_c().await;
                    std::process::exit(INTERRUPTED.into());
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

    /// Whether it has been pressed.
    pub fn is_pressed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The same as an error, for work that ends with the first one.
    ///
    /// # Errors
    /// If it has been pressed.
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_pressed() { Err(Interrupted) } else { Ok(()) }
    }
}
