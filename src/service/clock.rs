//! Time for leases. Games never see it.

use std::fmt;
use std::time::{Duration, Instant, SystemTime};

/// A clock: how long it has been running, and the date when it started.
///
/// Leases count running time, which no one can set; the date is for clients.
pub struct Clock {
    started: SystemTime,
    elapsed: Box<dyn Fn() -> Duration + Send + Sync>,
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Clock {
        let start = Instant::now();
        Clock::new(SystemTime::now(), move || start.elapsed())
    }

    /// A clock driven by the given function.
    pub fn new(started: SystemTime, elapsed: impl Fn() -> Duration + Send + Sync + 'static) -> Clock {
        Clock { started, elapsed: Box::new(elapsed) }
    }

    /// The running time, which never goes back.
    pub fn elapsed(&self) -> Duration {
        (self.elapsed)()
    }

    /// The date at a running time.
    pub fn date(&self, elapsed: Duration) -> SystemTime {
        self.started + elapsed
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("started", &self.started).field("elapsed", &self.elapsed()).finish()
    }
}
