//! The memory that the process really uses, compared with the memory that it may use.
//!
//! Budgets count what they know. This file knows nothing of them: it reads the resident memory of the process, so it also
//! sees what no budget counts, the allocator's own blocks included. When the process comes close to its limit, budgets
//! refuse large amounts ([`Level::Tight`]), and work in progress is given up ([`Level::Critical`]). Small calls on
//! existing sessions go on.
//!
//! The surprising decision: the memory is read at most once per millisecond, so every call can afford to ask.
//! In that time a core can fill a few megabytes, far less than what is left above the highest level.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Shortest time between two readings of the memory.
const READING_INTERVAL: Duration = Duration::from_millis(1);

/// Share of the limit, in percent, above which large amounts are refused.
const TIGHT_PERCENT: u64 = 80;

/// Share of the limit, in percent, above which work in progress is given up.
const CRITICAL_PERCENT: u64 = 95;

/// An amount is large if the limit has room for fewer than this many of it.
const LARGE_PARTS: u64 = 1024;

/// How close the process is to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Calm,
    /// Large amounts are refused, small ones are not.
    Tight,
    /// Work in progress is given up.
    Critical,
}

/// The memory of the process and its limit. The default has no limit and is always calm.
#[derive(Clone, Debug, Default)]
pub struct Pressure(Option<Arc<Gauge>>);

/// The refusal for a process that is close to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressed {
    /// Bytes that the process uses.
    pub used: u64,
    /// Bytes that it may use.
    pub memory: u64,
}

#[derive(Debug)]
struct Gauge {
    memory: u64,
    read: fn() -> Option<u64>,
    start: Instant,
    /// Time of the next reading, in microseconds since the start.
    next: AtomicU64,
    used: AtomicU64,
}

impl Pressure {
    /// The pressure of a process that may use `memory` bytes. `read` returns the bytes that it uses, or `None` if the
    /// system does not tell; then the process is always calm.
    pub fn new(memory: u64, read: fn() -> Option<u64>) -> Pressure {
        let (next, used) = (AtomicU64::new(0), AtomicU64::new(0));
        Pressure(Some(Arc::new(Gauge { memory, read, start: Instant::now(), next, used })))
    }

    /// How close the process is to its limit.
    pub fn level(&self) -> Level {
        let Some(gauge) = &self.0 else { return Level::Calm };
        let percent = |percent| gauge.memory / 100 * percent;
        match gauge.used() {
            used if used > percent(CRITICAL_PERCENT) => Level::Critical,
            used if used > percent(TIGHT_PERCENT) => Level::Tight,
            _ => Level::Calm,
        }
    }

    /// Refuses an amount that is too large for the current level.
    ///
    /// # Errors
    /// [`Pressed`] if it is.
    pub fn admit(&self, bytes: u64) -> Result<(), Pressed> {
        match &self.0 {
            Some(gauge) if bytes > gauge.memory / LARGE_PARTS => self.refuse_from(Level::Tight),
            _ => Ok(()),
        }
    }

    /// Refuses to go on with long work if the process is about to reach its limit.
    ///
    /// # Errors
    /// [`Pressed`] if it is.
    pub fn go_on(&self) -> Result<(), Pressed> {
        self.refuse_from(Level::Critical)
    }

    fn refuse_from(&self, level: Level) -> Result<(), Pressed> {
        match &self.0 {
            Some(gauge) if self.level() >= level => {
                Err(Pressed { used: gauge.used.load(Ordering::Relaxed), memory: gauge.memory })
            }
            _ => Ok(()),
        }
    }
}

impl Gauge {
    /// Bytes that the process uses, at most [`READING_INTERVAL`] old.
    fn used(&self) -> u64 {
        let now = self.start.elapsed();
        let (now, next) = (now.as_micros() as u64, self.next.load(Ordering::Relaxed));
        let later = now + READING_INTERVAL.as_micros() as u64;
        let is_due = now >= next
            && self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_due && let Some(used) = (self.read)() {
            self.used.store(used, Ordering::Relaxed);
        }
        self.used.load(Ordering::Relaxed)
    }
}
