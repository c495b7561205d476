//! Threads for work that takes longer than a call may delay others.
//!
//! Callers share the threads, not jobs: a caller that queues eight times as many jobs gets no more of the threads than the
//! others. Work is cut into jobs of a few milliseconds, and the end of one job queues the next. A free thread takes the
//! oldest job of the caller that has used the threads least, so a new caller waits for one job at most.
//!
//! The surprising decision: jobs do not wait in rayon's own queues. A rayon thread takes the jobs that it spawned itself
//! before those from outside, so one evaluation of endless games would keep all other callers out for good. Here the jobs
//! wait in our own queues, and rayon gets tickets: a thread that draws a ticket does the job whose turn it is.

pub mod queues;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The system provides no threads.
pub use rayon::ThreadPoolBuildError as PoolError;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tracing::Span;

use queues::Queues;
pub use queues::{Party, PoolActivity};

/// The most threads that a user can ask for in a pool: all but the largest machines have fewer cores. Each idle thread first
/// looks for work at all the others, so that 4,096 of them take half a minute to start on two cores.
pub const MAX_THREADS: usize = 512;

/// A fixed number of threads and the jobs that wait for them. They end when the last handle is dropped.
pub struct Pool {
    threads: ThreadPool,
    queues: Mutex<Queues>,
}

/// The pool for one caller.
#[derive(Clone, Debug)]
pub struct Lane {
    pool: Arc<Pool>,
    party: Party,
    span: Span,
}

impl Pool {
    /// A pool of `num_threads`; 0 for one per core.
    ///
    /// # Errors
    /// If the system provides no threads.
    pub fn new(num_threads: usize) -> Result<Arc<Pool>, PoolError> {
        Pool::with_niceness(num_threads, "player", 0)
    }

    /// A pool with threads of this name, `niceness` steps nicer than the program's other threads. Without niceness, a
    /// thread that wakes up for a short call may wait milliseconds for a thread that plays.
    ///
    /// # Errors
    /// If the system provides no threads.
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

    /// Number of threads, which never changes.
    pub fn num_threads(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// The pool for this caller.
    pub fn lane(self: &Arc<Pool>, party: Party) -> Lane {
        Lane { pool: self.clone(), party, span: Span::none() }
    }

    /// Applies a function to each item on all threads, in any order, and returns when all are done. For pools with a
    /// single user: it waits in no queue, and lets no other caller go first.
    pub fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        let work = &work;
        self.threads.scope(|scope| {
            for (index, item) in items.iter_mut().enumerate() {
                scope.spawn(move |_| work(index, item));
            }
        });
    }

    /// Current activity of the threads.
    pub fn activity(&self) -> PoolActivity {
        self.queues().activity()
    }

    /// Runs the next job of the party whose turn it is, on this thread.
    fn work(&self) {
        let (party, job) = self.queues().take().expect("a job for each ticket");
        let start = Instant::now();
        // A job that panics is lost, and the task that waits for it notices; the thread goes on. The panic hook has logged
        // it.
        let _ = catch_unwind(AssertUnwindSafe(job));
        self.queues().done(&party, start.elapsed());
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    /// Number of threads of the pool, which all lanes share.
    pub(crate) fn num_threads(&self) -> usize {
        self.pool.num_threads()
    }

    /// A lane whose jobs' log lines show this span.
    pub fn in_span(self, span: Span) -> Lane {
        Lane { span, ..self }
    }

    /// Queues a job. It begins after all jobs that this caller queued before.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        let span = self.span.clone();
        self.pool.queues().put(&self.party, Box::new(move || span.in_scope(job)));
        let pool = self.pool.clone();
        self.pool.threads.spawn(move || pool.work());
    }
}

/// Makes this thread nicer, and the threads that it starts. Does nothing where the system has one niceness for the whole
/// process.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
pub fn give_way(niceness: i32) {
    #[cfg(target_os = "linux")]
    if niceness > 0
        && let Ok(own) = rustix::process::getpriority_process(None)
    {
        // Every thread may become nicer; a sandbox that forbids it only costs a little latency.
        let _ = rustix::process::setpriority_process(None, own + niceness);
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("num_threads", &self.num_threads()).finish_non_exhaustive()
    }
}
