//! What callers under load have seen: times and errors by kind of call, as a table.
//!
//! Where faults are inflicted on the server, an error that such a fault explains is counted apart, and so is the time of a
//! call that a fault fell into.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tonic::Status;

use crate::faults::Faults;

/// Times and errors by kind of call.
#[derive(Clone, Debug, Default)]
pub struct Records {
    kinds: Arc<Mutex<BTreeMap<&'static str, Record>>>,
    faults: Faults,
}

#[derive(Debug, Default)]
struct Record {
    /// In microseconds.
    times: Vec<u32>,
    /// Of calls that a fault fell into.
    times_over_faults: Vec<u32>,
    /// Errors that a fault explains, and all others.
    expected: BTreeMap<String, u64>,
    errors: BTreeMap<String, u64>,
}

impl Records {
    /// Records of calls to a server on which these faults are inflicted.
    pub fn over(faults: Faults) -> Records {
        Records { faults, ..Records::default() }
    }

    /// Notes the answer to a call that was due then.
    pub fn note(&self, kind: &'static str, since: Instant, answer: Result<(), Status>) {
        let took = since.elapsed().as_micros() as u32;
        let fell = self.faults.fell_into(since);
        let mut kinds = self.kinds.lock().expect("a lock that is not poisoned");
        let record = kinds.entry(kind).or_default();
        match answer {
            Ok(()) if fell => record.times_over_faults.push(took),
            Ok(()) => record.times.push(took),
            Err(status) => {
                let errors = if self.faults.explain(since, &status) {
                    &mut record.expected
                } else {
                    &mut record.errors
                };
                // Without the names of sessions: a thousand of them may be lost at once.
                let message = status.message().split("\"sessions/").next().unwrap_or_default();
                *errors.entry(format!("{:?}: {message}", status.code())).or_default() += 1;
            }
        }
    }

    /// How many errors nothing explains.
    pub fn num_errors(&self) -> u64 {
        let kinds = self.kinds.lock().expect("a lock that is not poisoned");
        kinds.values().flat_map(|record| record.errors.values()).sum()
    }

    /// A table, and under it what the errors were.
    pub fn table(&self, duration: Duration) -> String {
        let mut table = "| calls | a second | p50 | p99 | p99.9 | worst | errors |\n".to_owned();
        table += "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
        let mut said = String::new();
        for (kind, record) in self.kinds.lock().expect("a lock that is not poisoned").iter_mut() {
            let errors: u64 = record.errors.values().sum();
            table += &row(kind, &mut record.times, errors, duration);
            if !record.times_over_faults.is_empty() {
                let expected: u64 = record.expected.values().sum();
                table +=
                    &row(&format!("{kind}, over a fault"), &mut record.times_over_faults, expected, duration);
            }
            for (error, times) in &record.expected {
                let _ = writeln!(said, "{times} x {kind}, over a fault: {error}");
            }
            for (error, times) in &record.errors {
                let _ = writeln!(said, "{times} x {kind}: {error}");
            }
        }
        table + &said
    }
}

fn row(kind: &str, times: &mut [u32], errors: u64, duration: Duration) -> String {
    times.sort_unstable();
    let rate = times.len() as f64 / duration.as_secs_f64();
    let [p50, p99, p999, worst] = [0.5, 0.99, 0.999, 1.0].map(|part| quantile(times, part));
    format!("| {kind} | {rate:.1} | {p50} | {p99} | {p999} | {worst} | {errors} |\n")
}

/// The time within which this part of the calls was answered.
fn quantile(sorted: &[u32], part: f64) -> String {
    let at = (sorted.len() as f64 * part) as usize;
    let time = sorted.get(at.min(sorted.len().saturating_sub(1)));
    time.map_or("-".to_owned(), |&time| format!("{:.1} ms", f64::from(time) / 1000.0))
}
