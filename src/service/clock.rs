//! Time for leases. Games never see it.

use std::fmt;
use std::time::{Duration, Instant, SystemTime};

/// A clock: the time since its start, and the date of its start.
///
/// Leases use the time since the start, because nothing can set it back. The date is for clients.
pub struct Clock {
    started: SystemTime,
    elapsed: Box<dyn Fn() -> Duration + Send + Sync>,
}

impl Clock {
    /// A clock that starts now and reads the machine's monotonic time.
    pub fn system() -> Clock {
        let start = Instant::now();
        Clock::new(SystemTime::now(), move || start.elapsed())
    }

    /// A clock that reads the time from the given function.
    pub fn new(started: SystemTime, elapsed: impl Fn() -> Duration + Send + Sync + 'static) -> Clock {
        Clock { started, elapsed: Box::new(elapsed) }
    }

    /// The time since the start, which never decreases.
    pub fn elapsed(&self) -> Duration {
        (self.elapsed)()
    }

    /// The date at the given time since the start.
    pub fn date(&self, elapsed: Duration) -> SystemTime {
        self.started + elapsed
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("started", &self.started).field("elapsed", &self.elapsed()).finish()
    }
}
