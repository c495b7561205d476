//! Steps and resets of a session without messages, for a caller in the same process.
//!
//! For one environment, a step through messages takes a hundred times as long as the game itself. Here the caller
//! passes actions and a block of bytes, into which the step writes every tensor of the answer. The session's state
//! decides what a step does and what its tensors contain, as for the call Step; only the path there and back is
//! shorter.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tonic::Status;

pub use super::layout::{BlockLayout, SLACK};

use super::metrics::SessionCounters;
use super::refusal::Refusal;
use super::session_state::SessionState;
use super::sessions::{LeasedSession, SessionStore};
use tetrion_protocol::pb;

/// A handle to a session in this process. While it exists, the session's lease does not run out.
pub struct Direct {
    session: Arc<LeasedSession>,
    store: Arc<SessionStore>,
    counters: SessionCounters,
}

impl Direct {
    pub(super) fn new(
        session: Arc<LeasedSession>,
        store: Arc<SessionStore>,
        counters: SessionCounters,
    ) -> Direct {
        Direct { session, store, counters }
    }

    /// Number of environments, which is also the number of rows in a block.
    pub fn num_envs(&self) -> u32 {
        self.session.num_envs()
    }

    /// Places of the tensors in a block. If a block has [`SLACK`] bytes of capacity after its last byte, filling it
    /// allocates no memory.
    ///
    /// # Panics
    /// In an asynchronous task, because it waits for the session's lock. The other methods panic there too.
    pub fn block(&self) -> BlockLayout {
        self.session.read_blocking(SessionState::block)
    }

    /// Rough time of a step or a reset.
    pub fn work(&self) -> Duration {
        self.session.costs().of_step(None)
    }

    /// Performs one action per environment. `number` must be the next sequence number of the session. Where an
    /// environment already shows its next episode, returns the last states of the ended episodes. Returns the outer `None`
    /// if another call has the session and `may_wait` is false.
    ///
    /// # Errors
    /// The errors of Step. Then nothing has changed, and neither has the block.
    pub fn step(
        &self,
        actions: &[i32],
        number: u64,
        block: &mut Vec<u8>,
        may_wait: bool,
    ) -> Option<Result<Option<pb::FinalBatch>, Status>> {
        let done = self.call(may_wait, |state| state.step_into(actions, number, block))?;
        if done.is_ok() {
            self.counters.steps.increment(actions.len() as u64);
        }
        Some(done)
    }

    /// Starts episodes in all environments, from one seed each, or the next episode of each. Returns `None` like
    /// [`Direct::step`].
    ///
    /// # Errors
    /// The errors of Reset. Then nothing has changed, and neither has the block.
    pub fn reset(
        &self,
        seeds: Option<&[u64]>,
        number: u64,
        block: &mut Vec<u8>,
        may_wait: bool,
    ) -> Option<Result<(), Status>> {
        self.call(may_wait, |state| state.reset_into(seeds, number, block))
    }

    fn call<T>(
        &self,
        may_wait: bool,
        job: impl FnOnce(&mut SessionState) -> Result<T, Refusal>,
    ) -> Option<Result<T, Status>> {
        let done = if may_wait { self.session.call_blocking(job) } else { self.session.try_call(job)? };
        Some(done.map_err(Status::from))
    }
}

impl Drop for Direct {
    /// Renews the session's lease, which has not run while the handle existed.
    fn drop(&mut self) {
        self.store.renew(&self.session);
    }
}

impl fmt::Debug for Direct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Direct").field(&self.session.name()).finish()
    }
}
