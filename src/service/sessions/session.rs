//! One session: a name, an owner, a lease, and a state behind a lock.
//!
//! Calls get the lock in the order of arrival, and hold it from the first row to the last. A call does its work where it
//! arrives or, if that is long, on a pool thread, some rows at a time. If a caller leaves, its call ends before it has
//! changed anything, or goes on to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::caller::Caller;
use crate::calls::{CallLane, SLICE, Slice};
use crate::costs::Costs;
use crate::refusal::Refusal;
use crate::session_state::SessionState;
use tetrion_protocol::limits::check_name;
use tetrion_protocol::{DecodeError, pb};

/// Time after which the next server may have restored the sessions that this one has written.
const BACK_AFTER: Duration = Duration::from_secs(1);

/// The prefix of resource names.
const PREFIX: &str = "sessions/";

/// The id of a session: 128 random bits.
pub(super) type SessionId = u128;

/// A session: a name, an owner, a lease, and a state behind a lock.
#[derive(Debug)]
pub(crate) struct LeasedSession {
    pub(super) id: SessionId,
    pub(super) owner: Caller,
    /// Serial number; older sessions have lower numbers.
    pub(super) serial: u64,
    pub(super) request: Option<RequestId>,
    pub(super) num_envs: u32,
    pub(super) ttl: Duration,
    pub(super) made: SystemTime,
    /// Expiry of the lease, as nanoseconds on the store's clock.
    pub(super) expires: AtomicU64,
    pub(super) ended: AtomicBool,
    /// Whether the session is written for the next server. If so, nothing may change any more.
    pub(super) put_away: AtomicBool,
    /// The sequence number of the last call, for readers without the lock.
    pub(super) sequence_number: AtomicU64,
    /// The configuration, with every default filled in.
    pub(super) config: pb::SessionConfig,
    pub(super) costs: Costs,
    pub(super) state: Arc<tokio::sync::Mutex<SessionState>>,
}

/// A client's name for the request that created a session, and the request's digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId {
    pub name: String,
    pub digest: u128,
}

impl LeasedSession {
    /// Name of the session: `sessions/ID`.
    pub fn name(&self) -> String {
        format!("{PREFIX}{:032x}", self.id)
    }

    /// Serial number of the session; older sessions have lower numbers.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Sequence number of the last mutating call.
    pub fn sequence_number(&self) -> u64 {
        self.sequence_number.load(Ordering::Relaxed)
    }

    /// Number of environments, fixed when the session is created.
    pub fn num_envs(&self) -> u32 {
        self.num_envs
    }

    /// Rough time of calls on the session.
    pub fn costs(&self) -> Costs {
        self.costs
    }

    /// Runs a short job on the session after all earlier calls.
    ///
    /// `job` has no `.await`, so a caller that gives up cannot leave it half done: it can only be waiting in line.
    pub async fn call<T>(
        &self,
        job: impl FnOnce(&mut SessionState) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut state = self.state.lock().await;
        self.done(&mut state, job)
    }

    /// Runs a job of about `work` on the session; on the pool, if it is long or many jobs are in progress.
    pub async fn call_on<T: Send + 'static>(
        self: &Arc<LeasedSession>,
        lane: &CallLane,
        work: Duration,
        job: impl FnOnce(&mut SessionState) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        // Check before waiting for earlier calls.
        lane.check(work)?;
        let mut state = self.state.clone().lock_owned().await;
        let session = self.clone();
        lane.run(work, move || session.done(&mut state, job)).await
    }

    /// Runs a job of about `work` on `rows` environments of the session, after about `reading` in its first slice; on the
    /// pool, row by row, if it is long or many jobs are in progress. `job` does the next rows, at most as many as it is
    /// given. The session is locked from the first row to the last. If the caller leaves, the job does no further rows,
    /// unless it [must end](Slice::MustEnd).
    pub async fn call_by_rows<T: Send + 'static>(
        self: &Arc<LeasedSession>,
        lane: &CallLane,
        (reading, work, rows): (Duration, Duration, u64),
        mut job: impl FnMut(&mut SessionState, u32) -> Result<Slice<T>, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        // Check before waiting for earlier calls.
        lane.check(reading + work)?;
        let mut state = self.state.clone().lock_owned().await;
        let under_way = lane.begin(reading + work);
        let count = if under_way.is_here() { u32::MAX } else { rows_of_a_slice(work, rows) };
        let session = self.clone();
        let mut must_end = false;
        let mut slice = move || {
            let job = |state: &mut SessionState| job(state, count);
            let done = if must_end { session.go_on(&mut state, job) } else { session.done(&mut state, job) };
            must_end = matches!(done, Ok(Slice::MustEnd));
            match done {
                Ok(Slice::Next) => Slice::Next,
                Ok(Slice::MustEnd) => Slice::MustEnd,
                Ok(Slice::Done(answer)) => Slice::Done(Ok(answer)),
                Err(refusal) => Slice::Done(Err(refusal)),
            }
        };
        while under_way.is_here() {
            if let Slice::Done(answer) = slice() {
                return answer;
            }
        }
        lane.run_stages(slice).await
    }

    /// Runs a job on the session after all earlier calls. Blocks, so it must not run in an asynchronous task.
    pub fn call_blocking<T>(
        &self,
        job: impl FnOnce(&mut SessionState) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.done(&mut self.state.blocking_lock(), job)
    }

    /// Runs a job on the session, or returns `None` if another call has the lock.
    pub fn try_call<T>(
        &self,
        job: impl FnOnce(&mut SessionState) -> Result<T, Refusal>,
    ) -> Option<Result<T, Refusal>> {
        let mut state = self.state.try_lock().ok()?;
        Some(self.done(&mut state, job))
    }

    fn done<T>(
        &self,
        state: &mut SessionState,
        job: impl FnOnce(&mut SessionState) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        if self.ended.load(Ordering::Acquire) {
            return Err(Refusal::SessionNotFound(self.name()));
        }
        if self.put_away.load(Ordering::Acquire) {
            return Err(Refusal::Draining { retry_after: BACK_AFTER });
        }
        self.go_on(state, job)
    }

    /// Runs a job, or the rest of one that has begun, even if the session has ended in the meantime.
    fn go_on<T>(
        &self,
        state: &mut SessionState,
        job: impl FnOnce(&mut SessionState) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let broken = EndOnPanic(self);
        let answer = job(state);
        drop(broken);
        self.sequence_number.store(state.sequence_number(), Ordering::Relaxed);
        answer
    }

    pub(super) fn renew(&self, now: Duration) {
        self.expires.store(nanoseconds(now + self.ttl), Ordering::Relaxed);
    }

    /// Whether the lease has expired and no call uses the session. The caller holds the table, so no call can start in
    /// the meantime.
    pub(super) fn is_over(self: &Arc<LeasedSession>, now: Duration) -> bool {
        self.expires.load(Ordering::Relaxed) <= nanoseconds(now) && Arc::strong_count(self) == 1
    }
}

/// Number of rows that take about one turn, if all rows together take `work`.
fn rows_of_a_slice(work: Duration, rows: u64) -> u32 {
    let slices = work.as_nanos().div_ceil(SLICE.as_nanos()).max(1);
    u128::from(rows).div_ceil(slices).clamp(1, u32::MAX.into()) as u32
}

/// Guard that ends a session if a call on it panics, because its state is then unknown.
struct EndOnPanic<'a>(&'a LeasedSession);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.ended.store(true, Ordering::Release);
        }
    }
}

/// Reads a resource name; `None` for a name that the server never gave out.
pub(super) fn decode_name(field: &str, name: &str) -> Result<Option<SessionId>, DecodeError> {
    if name.is_empty() {
        return Err(DecodeError::missing(field));
    }
    check_name(field, name)?;
    let digits = name.strip_prefix(PREFIX).filter(|digits| {
        digits.len() == 32 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    });
    Ok(digits.and_then(|digits| SessionId::from_str_radix(digits, 16).ok()))
}

/// A random id from the operating system. No caller can guess it, and no two servers give out the same.
pub(super) fn random_id() -> SessionId {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    SessionId::from_le_bytes(bytes)
}

/// Time since the start in nanoseconds; a u64 lasts for 584 years.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    time.as_nanos() as u64
}
