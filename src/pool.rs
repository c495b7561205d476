//! Threads for work that takes longer than a call may hold up the others.
//!
//! The threads are shared by callers, not by jobs: a caller that hands in eight times as many jobs gets no more of them than
//! the others. Work is cut into jobs of a few milliseconds, and the end of one job hands in the next. A thread that is free
//! takes the oldest job of the caller that has used the threads least, so a caller that comes new waits for one job at most.
//!
//! The surprising decision: rayon's own queues are not used as such. A rayon thread takes what it handed in itself before
//! what came from outside, so one evaluation of endless games would keep everybody else out for good. Here the jobs wait in
//! queues of our own, and what rayon is given are tickets: a thread that draws a ticket does the job whose turn it is.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The system gives no threads.
pub use rayon::ThreadPoolBuildError as PoolError;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tracing::Span;

/// Threads of a pool that a user can ask for: more than all but the largest machines have cores. Each one that idles looks for
/// work at all the others first, so that 4,096 of them take half a minute to start on two cores.
pub const MAX_THREADS: usize = 512;

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

/// A fixed number of threads and the jobs that wait for them. They end when the last handle is dropped.
pub struct Pool {
    threads: ThreadPool,
    queues: Mutex<Queues>,
}

/// The pool as one caller uses it.
#[derive(Clone, Debug)]
pub struct Lane {
    pool: Arc<Pool>,
    party: Party,
    span: Span,
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

type Job = Box<dyn FnOnce() + Send>;

/// Waiting jobs, as many as there are tickets.
#[derive(Default)]
struct Queues {
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

impl Pool {
    /// A pool of so many threads; 0 for as many as there are cores.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn new(num_threads: usize) -> Result<Arc<Pool>, PoolError> {
        Pool::with_niceness(num_threads, "player", 0)
    }

    /// The same with threads of this name that give way to the program's other ones, by so many steps of `nice`. Without it a
    /// thread that wakes up for a short call may have to wait for milliseconds until one that plays has had its turn.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn with_niceness(
        num_threads: usize,
        name: &'static str,
        niceness: i32,
    ) -> Result<Arc<Pool>, PoolError> {
        let threads = ThreadPoolBuilder::new()
            .num_threads(num_threads)
            .thread_name(move |i| format!("{name}-{i}"))
            .start_handler(move |_| give_way(niceness))
            .build()?;
        Ok(Arc::new(Pool { threads, queues: Mutex::default() }))
    }

    /// How many threads there are.
    pub fn num_threads(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// The pool as this caller uses it.
    pub fn lane(self: &Arc<Pool>, party: Party) -> Lane {
        Lane { pool: self.clone(), party, span: Span::none() }
    }

    /// What the threads are doing.
    pub fn activity(&self) -> PoolActivity {
        let queues = self.queues();
        let mut activity = PoolActivity { done: queues.num_done, ..Default::default() };
        for queue in queues.parties.values() {
            activity.waiting += queue.jobs.len();
            activity.running += queue.running as usize;
        }
        activity
    }

    /// Does the job whose turn it is.
    fn work(&self) {
        let (party, job) = self.queues().take().expect("a job for each ticket");
        let start = Instant::now();
        // A job that panics is lost, and the task that waits for it sees that; the thread goes on. The panic hook has logged it.
        let _ = catch_unwind(AssertUnwindSafe(job));
        self.queues().done(&party, start.elapsed());
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    /// How many threads there are.
    pub fn num_threads(&self) -> usize {
        self.pool.num_threads()
    }

    /// The same for jobs whose lines in the log show this span.
    pub fn in_span(self, span: Span) -> Lane {
        Lane { span, ..self }
    }

    /// Hands in a job. It is begun when all that this caller handed in before have been.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        let span = self.span.clone();
        self.pool.queues().put(&self.party, Box::new(move || span.in_scope(job)));
        let pool = self.pool.clone();
        self.pool.threads.spawn(move || pool.work());
    }
}

impl Queues {
    fn put(&mut self, party: &Party, job: Job) {
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
    fn take(&mut self) -> Option<(Party, Job)> {
        let waiting = self.parties.iter_mut().filter(|(_, queue)| !queue.jobs.is_empty());
        let (party, queue) =
            waiting.min_by_key(|(_, queue)| (queue.used + USUAL * queue.running, queue.serial))?;
        let job = queue.jobs.pop_front()?;
        queue.running += 1;
        self.now = self.now.max(queue.used);
        Some((party.clone(), job))
    }

    fn done(&mut self, party: &Party, took: Duration) {
        self.num_done += 1;
        let Some(queue) = self.parties.get_mut(party) else { return };
        queue.running -= 1;
        queue.used += took;
        if queue.running == 0 && queue.jobs.is_empty() {
            self.parties.remove(party);
        }
    }
}

/// Makes this thread nicer. Where the system counts niceness by the process and not by the thread, nothing happens.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
fn give_way(niceness: i32) {
    #[cfg(target_os = "linux")]
    if niceness > 0
        && let Ok(own) = rustix::process::getpriority_process(None)
    {
        // To be nicer is allowed to everyone; a sandbox that forbids it takes a little latency and no more.
        let _ = rustix::process::setpriority_process(None, own + niceness);
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("num_threads", &self.num_threads()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who would get the next turns of one thread, if every job took so long.
    fn turns(queues: &mut Queues, number: usize, took: impl Fn(&Party) -> Duration) -> Vec<Party> {
        let turn = |_| {
            let (party, job) = queues.take().expect("a job");
            job();
            queues.put(&party, Box::new(|| {}));
            queues.done(&party, took(&party));
            party
        };
        (0..number).map(turn).collect()
    }

    fn count(turns: &[Party], party: &Party) -> usize {
        turns.iter().filter(|turn| *turn == party).count()
    }

    #[test]
    fn callers_share_the_threads_however_many_jobs_they_have_and_however_long_these_are() {
        let (greedy, slow, modest) = (Party::Connection(1), Party::Connection(2), Party::Connection(3));
        let mut queues = Queues::default();
        for _ in 0..8 {
            queues.put(&greedy, Box::new(|| {}));
        }
        queues.put(&slow, Box::new(|| {}));
        queues.put(&modest, Box::new(|| {}));
        let took = |party: &Party| Duration::from_millis(if *party == slow { 10 } else { 1 });
        let turns = turns(&mut queues, 2100, took);
        assert_eq!([&greedy, &slow, &modest].map(|party| count(&turns, party)), [1000, 100, 1000]);
    }

    #[test]
    fn a_caller_that_comes_new_is_next_and_has_saved_up_nothing() {
        let (old, new) = (Party::Connection(1), Party::Connection(2));
        let mut queues = Queues::default();
        queues.put(&old, Box::new(|| {}));
        let millisecond = |_: &Party| Duration::from_millis(1);
        turns(&mut queues, 1000, millisecond);
        queues.put(&new, Box::new(|| {}));
        let turns = turns(&mut queues, 100, millisecond);
        assert!(turns[..2].contains(&new), "{turns:?}");
        assert_eq!(count(&turns, &new), 50);
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let mut queues = Queues::default();
        queues.put(&Party::Own, Box::new(|| {}));
        let (party, _) = queues.take().unwrap();
        queues.done(&party, Duration::ZERO);
        assert!(queues.parties.is_empty() && queues.take().is_none());
    }
}
