//! A limit on the log lines that callers can cause.
//!
//! A server may have to refuse tens of thousands of calls per second. One line per refusal would fill the disk and hide
//! other lines. So the log gets only the first lines of every second, and the next line reports how many were withheld.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::metrics::LOG_LINES_WITHHELD;

/// A rate limit for one kind of log line.
#[derive(Debug)]
pub struct Brake {
    lines: u32,
    /// Length of a counting period.
    window: Duration,
    state: Mutex<BrakeState>,
}

#[derive(Debug)]
struct BrakeState {
    began: Option<Instant>,
    lines: u32,
    withheld: u64,
}

impl Brake {
    /// A brake that passes this many lines per second.
    pub const fn new(lines: u32) -> Brake {
        Brake::of(lines, Duration::from_secs(1))
    }

    /// A brake that passes one line per period.
    pub const fn every(window: Duration) -> Brake {
        Brake::of(1, window)
    }

    const fn of(lines: u32, window: Duration) -> Brake {
        Brake { lines, window, state: Mutex::new(BrakeState { began: None, lines: 0, withheld: 0 }) }
    }

    /// Whether a line may be written, and how many were withheld since the last one.
    pub fn pass(&self) -> Option<u64> {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.began.is_none_or(|began| now.duration_since(began) >= self.window) {
            (state.began, state.lines) = (Some(now), 0);
        }
        if state.lines >= self.lines {
            state.withheld += 1;
            metrics::counter!(LOG_LINES_WITHHELD).increment(1);
            return None;
        }
        state.lines += 1;
        Some(std::mem::take(&mut state.withheld))
    }
}
