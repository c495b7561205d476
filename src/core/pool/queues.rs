//! The order of jobs: each caller has a queue, and callers share the threads' time.
//!
//! A new caller starts with the least time that any other has used, so it is next, but has saved nothing. Nothing
//! here reads the clock: a thread that takes a job reports afterwards how long it took.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The owner of work: parties share threads and places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Party {
    /// This program itself, without a caller.
    #[default]
    Own,
    /// The holder of a token, by the token's name.
    Token(Arc<str>),
    /// A connection, by its number, if tokens have no names. A program usually has one; a program that opens several
    /// is several parties.
    Connection(u64),
}

impl Party {
    /// A party for a new connection of this process.
    pub fn new_connection() -> Party {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Party::Connection(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Activity of the threads of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolActivity {
    /// Jobs that wait for a thread.
    pub waiting: usize,
    pub running: usize,
    pub done: u64,
}

/// Work of a thread in one piece.
type Job = Box<dyn FnOnce() + Send>;

/// Waiting jobs, and what their callers have used.
#[derive(Default)]
pub struct Queues {
    /// The callers that have jobs waiting or running.
    parties: HashMap<Party, Queue>,
    /// Time used by the caller whose turn was last. A new caller starts with it, so that no caller saves up time.
    now: Duration,
    /// Numbers the callers in the order of their arrival.
    next_serial: u64,
    num_done: u64,
}

struct Queue {
    jobs: VecDeque<Job>,
    running: u32,
    /// The threads' time, counted from what others had used when this caller arrived.
    used: Duration,
    serial: u64,
}

/// Assumed time of a running job until its real time is known, so that one caller does not get all threads at once.
const USUAL: Duration = Duration::from_millis(2);

impl Queues {
    /// Numbers of waiting, running and finished jobs.
    pub(crate) fn activity(&self) -> PoolActivity {
        let mut activity = PoolActivity { done: self.num_done, ..Default::default() };
        for queue in self.parties.values() {
            activity.waiting += queue.jobs.len();
            activity.running += queue.running as usize;
        }
        activity
    }

    /// Number of callers with waiting or running jobs.
    pub fn num_parties(&self) -> usize {
        self.parties.len()
    }

    /// Queues a job of a caller after its others.
    pub fn put(&mut self, party: &Party, job: Job) {
        if let Some(queue) = self.parties.get_mut(party) {
            queue.jobs.push_back(job);
            return;
        }
        let queue =
            Queue { jobs: VecDeque::from([job]), running: 0, used: self.now, serial: self.next_serial };
        self.next_serial += 1;
        self.parties.insert(party.clone(), queue);
    }

    /// The oldest job of the caller that has used the threads least.
    pub fn take(&mut self) -> Option<(Party, Job)> {
        let waiting = self.parties.iter_mut().filter(|(_, queue)| !queue.jobs.is_empty());
        let (party, queue) =
            waiting.min_by_key(|(_, queue)| (queue.used + USUAL * queue.running, queue.serial))?;
        let job = queue.jobs.pop_front()?;
        queue.running += 1;
        self.now = self.now.max(queue.used);
        Some((party.clone(), job))
    }

    /// Records that a job of a caller is done, and its time. Forgets a caller without jobs.
    pub fn done(&mut self, party: &Party, took: Duration) {
        self.num_done += 1;
        let Some(queue) = self.parties.get_mut(party) else { return };
        queue.running -= 1;
        queue.used += took;
        if queue.running == 0 && queue.jobs.is_empty() {
            self.parties.remove(party);
        }
    }
}

impl fmt::Debug for Queues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queues").field("activity", &self.activity()).finish_non_exhaustive()
    }
}
