//! Panics: a bug fails only the call that hits it, and leaves a line in the log.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;
use std::thread;

use tracing::error;

use tetrion_service::CallContext;
use tetrion_service::brake::Brake;
use tetrion_service::metrics::PANICS;

/// The payload of a panic, which is passed on after it was logged.
pub(super) type Panic = Box<dyn Any + Send>;

/// Limit on log lines about panics.
static LINES: Brake = Brake::new(20);

/// From now on, logs and counts every panic of this process. The log gets one line with the id of the request, instead
/// of Rust's own message.
pub fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        metrics::counter!(PANICS).increment(1);
        let Some(withheld) = LINES.pass() else { return };
        let text = text(panic.payload());
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let thread = thread::current();
        let thread = thread.name().unwrap_or_default();
        CallContext::log(|| error!(place, thread, withheld, "a panic: {text}"));
    }));
}

/// The message of a panic.
pub(super) fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Waits for a future that may panic, or that may have panicked when it was created. It may also panic when it is
/// dropped, when no task waits for it any more.
pub(super) async fn caught<F: Future>(future: thread::Result<F>) -> Result<F::Output, Panic> {
    let mut future = Caught(Some(Box::pin(future?)));
    poll_fn(|cx| {
        let future = future.0.as_mut().expect("a future until it is dropped");
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}

struct Caught<F>(Option<Pin<Box<F>>>);

impl<F> Drop for Caught<F> {
    fn drop(&mut self) {
        drop_caught(self.0.take());
    }
}

/// Drops a value whose drop may panic.
pub(super) fn drop_caught<T>(value: T) {
    // The panic hook has logged it, and no caller is left to get an error.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}
