//! Threads for work that takes longer than a call may hold up the others.
//!
//! Jobs are begun in the order in which they came. That is what the pool is for: whoever has much to do cuts it into jobs of
//! a few milliseconds and hands in the next one at the end of the last, behind what others have handed in meanwhile, and so
//! all get their share.
//!
//! The surprising decision: rayon's own queues are not used as such. A rayon thread takes what it handed in itself before
//! what came from outside, so one evaluation of endless games would keep everybody else out for good. Here the jobs wait in
//! one queue, and what rayon is given are tickets: whoever draws a ticket does the first job of the queue.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The system gives no threads.
pub use rayon::ThreadPoolBuildError as PoolError;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tracing::error;

/// Threads of a pool that a user can ask for: more than all but the largest machines have cores. Each one that idles looks for
/// work at all the others first, so that 4,096 of them take half a minute to start on two cores.
pub const MAX_THREADS: usize = 512;

/// A fixed number of threads and a queue of jobs. They end when the last handle is dropped.
pub struct Pool {
    threads: ThreadPool,
    /// As long as there are tickets.
    queue: Mutex<VecDeque<Job>>,
}

type Job = Box<dyn FnOnce() + Send>;

impl Pool {
    /// A pool of so many threads; 0 for as many as there are cores.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn new(num_threads: usize) -> Result<Arc<Pool>, PoolError> {
        let threads = ThreadPoolBuilder::new()
            .num_threads(num_threads)
            .thread_name(|i| format!("player-{i}"))
            // The job is lost, and whoever waits for it sees that; the thread goes on.
            .panic_handler(|panic| {
                let text = panic.downcast_ref::<&str>().copied();
                let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
                error!(panic = text.unwrap_or("no message"), "a job panicked");
            })
            .build()?;
        Ok(Arc::new(Pool { threads, queue: Mutex::default() }))
    }

    /// How many threads there are.
    pub fn num_threads(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// Hands in a job. It is begun when all that were handed in before have been.
    pub fn spawn(self: &Arc<Pool>, job: impl FnOnce() + Send + 'static) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(Box::new(job));
        let pool = self.clone();
        self.threads.spawn(move || {
            let job = pool.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            job.expect("a job for each ticket")();
        });
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("num_threads", &self.num_threads()).finish_non_exhaustive()
    }
}
