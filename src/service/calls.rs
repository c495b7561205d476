//! Where a call does its work: short work on the thread where the call arrives, longer work on a pool.
//!
//! The threads that read and write connections must stay free, because all other calls wait while one of them works. So
//! the server estimates work before it starts. Work up to `SHORT` is done at once, because moving it would cost as
//! much. Work up to `INLINE`, such as every Step of hundreds of environments, is also done at once, as long as half of
//! those threads stay free. Longer work goes to a pool that callers share, in slices where possible. If the caller
//! leaves or its deadline passes, the future that waits for the work is dropped and the work ends early.
//!
//! The surprising part: in a crowd even short calls go to the pool, until its queue is empty. The pool's threads have a
//! lower priority than those of the connections, so reading and writing continue at once, and callers take turns.
//! Streams that never pause use the remaining time of the cores, and a learner waits for at most one turn of each of
//! them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use tetrion_core::pool::{Lane, Party, Pool};

use super::context::CallContext;
use super::pressure::Pressure;
use super::refusal::Refusal;

/// Longest work that always runs where the call arrives.
const SHORT: Duration = Duration::from_micros(40);

/// Longest work that runs where the call arrives if there is no crowd.
const INLINE: Duration = Duration::from_micros(400);

/// Longest work before other callers have a turn.
pub const SLICE: Duration = Duration::from_millis(2);

/// The threads for the calls of all callers, and the limit on the work of one call.
#[derive(Clone, Debug)]
pub struct CallPool {
    pool: Arc<Pool>,
    max_work: Duration,
    pressure: Pressure,
    crowd: Crowd,
}

/// The threads for calls, as one caller uses them.
#[derive(Clone, Debug)]
pub struct CallLane {
    lane: Lane,
    max_work: Duration,
    pressure: Pressure,
    crowd: Crowd,
}

/// Count of jobs in progress, here or on the pool, that are longer than `SHORT` and at most `INLINE`.
#[derive(Clone, Debug)]
struct Crowd {
    num_jobs: Arc<AtomicUsize>,
    /// Number of jobs that may run where they arrive; further ones go to the pool.
    places: usize,
}

/// The outcome of a slice of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slice<T> {
    /// There is more to do.
    Next,
    /// There is more to do, and something has changed that must not stay half done.
    MustEnd,
    /// The work is done, with this result.
    Done(T),
}

/// A job in progress, until this is dropped.
#[derive(Debug)]
pub struct UnderWay {
    is_here: bool,
    counted: Option<Arc<AtomicUsize>>,
}

impl CallPool {
    /// Creates the threads for calls. Each call may take `max_work` on one core, and long calls end when the process
    /// is about to use up its memory.
    pub fn new(pool: Arc<Pool>, max_work: Duration, pressure: Pressure) -> CallPool {
        let places = (pool.num_threads() / 2).max(1);
        CallPool { pool, max_work, pressure, crowd: Crowd { num_jobs: Arc::default(), places } }
    }

    /// The memory of the process.
    pub fn pressure(&self) -> &Pressure {
        &self.pressure
    }

    /// The threads for calls, as this caller uses them.
    pub fn lane(&self, party: Party) -> CallLane {
        let CallPool { pool, max_work, pressure, crowd } = self;
        let (max_work, pressure, crowd) = (*max_work, pressure.clone(), crowd.clone());
        CallLane { lane: pool.lane(party), max_work, pressure, crowd }
    }
}

impl CallLane {
    /// Decides where a job of about this much work runs. The job counts as in progress until the returned value is
    /// dropped.
    pub fn begin(&self, work: Duration) -> UnderWay {
        if work <= SHORT || work > INLINE {
            return UnderWay { is_here: work <= SHORT, counted: None };
        }
        let before = self.crowd.num_jobs.fetch_add(1, Ordering::Relaxed);
        UnderWay { is_here: before < self.crowd.places, counted: Some(self.crowd.num_jobs.clone()) }
    }

    /// Refuses work that takes too long.
    ///
    /// # Errors
    /// [`Refusal::TooMuchWork`].
    pub fn check(&self, work: Duration) -> Result<(), Refusal> {
        if work > self.max_work {
            return Err(Refusal::TooMuchWork { work, limit: self.max_work });
        }
        Ok(())
    }

    /// Runs a job of about this much work, here or on the pool.
    ///
    /// # Errors
    /// [`Refusal::TooMuchWork`], and the job's own errors.
    pub async fn run<T: Send + 'static>(
        &self,
        work: Duration,
        job: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let under_way = self.begin(work);
        if under_way.is_here() {
            return job();
        }
        self.check(work)?;
        self.run_elsewhere(job).await
    }

    /// Runs a job on the pool. If the caller leaves before its turn, the job does not run.
    ///
    /// # Errors
    /// The job's own errors.
    ///
    /// # Panics
    /// If the job panics.
    pub async fn run_elsewhere<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let mut job = Some(job);
        self.run_slices(move || job.take().map(|job| job())).await
    }

    /// Runs work on the pool, slice by slice until one of them returns an outcome. If the caller leaves, no further
    /// slice runs.
    ///
    /// # Errors
    /// The work's own errors, and [`Refusal::MemoryPressure`] between two slices if the process is about to use up its
    /// memory.
    ///
    /// # Panics
    /// If a slice panics.
    pub async fn run_slices<T: Send + 'static>(
        &self,
        mut slice: impl FnMut() -> Option<Result<T, Refusal>> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.run_stages(move || slice().map_or(Slice::Next, Slice::Done)).await
    }

    /// Runs work like [`CallLane::run_slices`]. From the first slice that returns [`Slice::MustEnd`], the work goes on to
    /// its end, whether or not the caller leaves.
    ///
    /// # Errors
    /// Like [`CallLane::run_slices`]; after [`Slice::MustEnd`], only the work's own.
    ///
    /// # Panics
    /// If a slice panics.
    pub async fn run_stages<T: Send + 'static>(
        &self,
        mut slice: impl FnMut() -> Slice<Result<T, Refusal>> + Send + 'static,
    ) -> Result<T, Refusal> {
        let pressure = self.pressure.clone();
        // The first slice always runs: most work has only one.
        let mut may_stop = false;
        let slice = move || {
            if may_stop && let Err(pressed) = pressure.go_on() {
                return Slice::Done(Err(pressed.into()));
            }
            let done = slice();
            may_stop = matches!(done, Slice::Next);
            done
        };
        let (sender, done) = oneshot::channel();
        queue(self.lane.clone().in_span(CallContext::current_span()), slice, sender, false);
        match done.await {
            Ok(Ok(done)) => done,
            // Continues the job's panic in this call.
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => panic!("a job for a call was lost"),
        }
    }
}

impl UnderWay {
    /// Whether the job runs where its call arrived.
    pub fn is_here(&self) -> bool {
        self.is_here
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(num_jobs) = &self.counted {
            num_jobs.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Queues the next slice after the caller's other work.
fn queue<T: Send + 'static>(
    lane: Lane,
    mut slice: impl FnMut() -> Slice<T> + Send + 'static,
    sender: oneshot::Sender<thread::Result<T>>,
    must_end: bool,
) {
    let next = lane.clone();
    lane.spawn(move || {
        if sender.is_closed() && !must_end {
            return;
        }
        match catch_unwind(AssertUnwindSafe(&mut slice)) {
            Ok(Slice::Next) => queue(next, slice, sender, false),
            Ok(Slice::MustEnd) => queue(next, slice, sender, true),
            Ok(Slice::Done(done)) => drop(sender.send(Ok(done))),
            Err(panic) => drop(sender.send(Err(panic))),
        }
    });
}

/// A flag that tells whether a stream is working on a request. The server may end an idle stream at any time.
#[derive(Clone, Debug, Default)]
pub struct Busy(Arc<AtomicBool>);

impl Busy {
    /// Whether a request is in progress.
    pub fn is_busy(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Marks the stream as busy until the returned value is dropped.
    pub fn begin(&self) -> impl Drop + use<> {
        self.0.store(true, Ordering::Relaxed);
        Working(self.clone())
    }
}

struct Working(Busy);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Relaxed);
    }
}
