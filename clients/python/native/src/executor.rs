//! The threads that run the tasks of calls, and Python's waits for calls.
//!
//! The services in this process have their own threads. The tasks of connections to servers run on the thread that waits for
//! an answer, so a call wakes no other thread of this process: the thread writes the request, sleeps until the socket is
//! readable, and reads the answer. If no thread has waited for a few milliseconds, a background thread takes over. It
//! answers the pings of servers and reads the answers of streams.

use std::future::Future;
use std::pin::pin;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Notify;

/// Longest wait before the next check for signals.
const SLICE: Duration = Duration::from_millis(100);

/// Time without a waiting thread after which the background thread takes over.
const TAKEOVER: Duration = Duration::from_millis(5);

/// Runs the tasks of calls.
#[derive(Clone)]
pub(crate) enum Executor {
    /// The runtime of the services in this process, with separate threads.
    Threads(Handle),
    /// The threads that wait for answers, and a background thread while none waits.
    Waiting(&'static Driver),
}

impl Executor {
    pub(crate) fn handle(&self) -> &Handle {
        match self {
            Executor::Threads(handle) => handle,
            Executor::Waiting(driver) => driver.runtime.handle(),
        }
    }

    /// Runs the tasks that are ready, unless other threads run them.
    pub(crate) fn run_ready(&self, py: Python<'_>) {
        if let Executor::Waiting(driver) = self {
            py.detach(|| driver.run_ready());
        }
    }

    /// Waits for a future without the GIL, and checks for signals from time to time.
    ///
    /// # Errors
    /// The exception of a signal handler, such as `KeyboardInterrupt`. The future is then dropped.
    pub(crate) fn wait<F: Future + Send>(&self, py: Python<'_>, future: F) -> PyResult<F::Output>
    where
        F::Output: Send,
    {
        let mut future = pin!(future);
        loop {
            let slice = async { tokio::time::timeout(SLICE, future.as_mut()).await };
            let waited = py.detach(|| match self {
                Executor::Threads(handle) => handle.block_on(slice),
                Executor::Waiting(driver) => driver.block_on(slice),
            });
            match waited {
                Ok(output) => return Ok(output),
                Err(_) => py.check_signals()?,
            }
        }
    }
}

/// The tasks of all connections of this process.
pub(crate) struct Driver {
    runtime: Runtime,
    /// Threads that wait at this moment.
    waiting: AtomicU64,
    /// Number of waits that have ended.
    waits: AtomicU64,
    /// Whether the background thread runs the tasks.
    in_background: AtomicBool,
    /// Tells the background thread to stop running the tasks.
    leave: Notify,
}

impl Driver {
    /// The driver of this process. A forked child, which has none of its parent's threads, gets another one.
    ///
    /// # Errors
    /// If the system has no thread or no file descriptor left.
    pub(crate) fn of_this_process() -> std::io::Result<&'static Driver> {
        static MADE: Mutex<Option<(u32, &Driver)>> = Mutex::new(None);
        // This code and `os.fork` hold the GIL, so no thread of a parent holds the lock at a fork.
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        match *made {
            Some((process, driver)) if process == process::id() => Ok(driver),
            _ => {
                let driver: &Driver = Box::leak(Box::new(Driver::new()?));
                thread::Builder::new().name("tetrion".to_owned()).spawn(|| driver.run_in_background())?;
                *made = Some((process::id(), driver));
                Ok(driver)
            }
        }
    }

    fn new() -> std::io::Result<Driver> {
        Ok(Driver {
            runtime: Builder::new_current_thread().enable_all().build()?,
            waiting: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            in_background: AtomicBool::new(false),
            leave: Notify::new(),
        })
    }

    fn run_in_background(&self) {
        loop {
            let before = self.waits.load(Ordering::SeqCst);
            thread::sleep(TAKEOVER);
            if self.waiting.load(Ordering::SeqCst) == 0 && self.waits.load(Ordering::SeqCst) == before {
                self.in_background.store(true, Ordering::SeqCst);
                self.runtime.block_on(self.leave.notified());
            }
        }
    }

    /// Runs tasks until a future is ready.
    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        if self.in_background.swap(false, Ordering::SeqCst) {
            self.leave.notify_one();
        }
        let output = self.runtime.block_on(future);
        self.waits.fetch_add(1, Ordering::SeqCst);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        output
    }

    fn run_ready(&self) {
        // The background thread wakes up by itself.
        if !self.in_background.load(Ordering::SeqCst) {
            self.block_on(tokio::task::yield_now());
        }
    }
}
