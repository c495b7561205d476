//! Whose turn it is: the jobs of each caller in a queue of its own, and the threads' time shared out among callers.
//!
//! A caller that is new begins with what the others have used at least, so it is next, and has saved up nothing. Nothing here
//! reads the clock: who takes a job says afterwards how long it took.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The caller whose work it is: threads and places are shared out among parties.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Party {
    /// This program itself.
    #[default]
    Own,
    /// The holder of a token, by the token's name.
    Token(Arc<str>),
    /// A connection, by its number, where tokens have no names. A program has one as a rule; one that opens several is
    /// several parties.
    Connection(u64),
}

impl Party {
    /// A connection that is unlike all others of this process.
    pub fn new_connection() -> Party {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Party::Connection(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What the threads of a pool do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolActivity {
    /// Jobs that wait for a thread.
    pub waiting: usize,
    /// Jobs that threads are doing.
    pub running: usize,
    /// Jobs that are done.
    pub done: u64,
}

/// What a thread does in one go.
pub type Job = Box<dyn FnOnce() + Send>;

/// Waiting jobs, and what their callers have used.
#[derive(Default)]
pub struct Queues {
    /// Of the callers that have jobs waiting or running.
    parties: HashMap<Party, Queue>,
    /// What the caller whose turn was last had used. A new caller begins with it: nobody saves up time.
    now: Duration,
    /// Numbers the callers in the order in which they came.
    next_serial: u64,
    num_done: u64,
}

struct Queue {
    jobs: VecDeque<Job>,
    running: u32,
    /// Time of the threads, counted from what others had used when this caller came.
    used: Duration,
    serial: u64,
}

/// What a running job counts until it is known how long it took, so that one caller does not get all threads at once.
const USUAL: Duration = Duration::from_millis(2);

impl Queues {
    /// What waits, runs, and is done.
    pub fn activity(&self) -> PoolActivity {
        let mut activity = PoolActivity { done: self.num_done, ..Default::default() };
        for queue in self.parties.values() {
            activity.waiting += queue.jobs.len();
            activity.running += queue.running as usize;
        }
        activity
    }

    /// Of how many callers jobs wait or run.
    pub fn num_parties(&self) -> usize {
        self.parties.len()
    }

    /// Queues a job of a caller behind its others.
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

    /// Notes that a job of a caller is done, and how long it took. A caller without jobs is forgotten.
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
