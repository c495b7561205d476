//! Calls of a session without encoded messages, for a caller in the same process.
//!
//! For one environment, a step through messages takes a hundred times as long as the game itself. Here the caller
//! passes actions and a block of bytes, into which the step writes every tensor of the answer. The session's state
//! decides what a step does and what its tensors contain, as for the call Step; only the path there and back is
//! shorter.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tonic::Status;

pub use super::layout::{BlockLayout, FinalRows, SLACK};

use super::answers::Answers;
use super::calls::SLICE;
use super::enumerate::Question;
use super::metrics::SessionCounters;
use super::refusal::Refusal;
use super::session_state::SessionState;
use super::sessions::{LeasedSession, SessionStore};
use tetrion_core::features::kernel::Kernel;
use tetrion_protocol::pb::enumerate_placements_request::Source;
use tetrion_protocol::{envs, pb};

/// A handle to a session in this process. While it exists, the session's lease does not run out.
pub struct Direct {
    session: Arc<LeasedSession>,
    store: Arc<SessionStore>,
    counters: SessionCounters,
    kernel: Kernel,
}

impl Direct {
    pub(super) fn new(
        session: Arc<LeasedSession>,
        store: Arc<SessionStore>,
        counters: SessionCounters,
        kernel: Kernel,
    ) -> Direct {
        Direct { session, store, counters, kernel }
    }

    /// Rough time of a step or a reset.
    pub fn work(&self) -> Duration {
        self.session.costs().of_step(None)
    }

    /// Performs one action in each environment. `number` must be the next sequence number of
    /// the session. Where an environment already shows its next episode, returns the last states of the ended episodes.
    /// Returns the outer `None` if another call has the session and `may_wait` is false.
    ///
    /// # Errors
    /// The errors of Step. Then nothing has changed, and neither has the block.
    ///
    /// # Panics
    /// In an asynchronous task, because it waits for the session's lock. The other methods panic there too.
    pub fn step(
        &self,
        actions: &[i32],
        number: u64,
        block: &mut Vec<u8>,
        may_wait: bool,
    ) -> Option<Result<Option<FinalRows>, Status>> {
        let done = self.call(may_wait, |state| state.step_into(actions, number, block))?;
        if done.is_ok() {
            self.counters.steps.increment(actions.len() as u64);
        }
        Some(done)
    }

    /// Starts episodes in these environments, from one seed each, or the next episode of each. Returns `None` like
    /// [`Direct::step`].
    ///
    /// # Errors
    /// The errors of Reset. Then nothing has changed, and neither has the block.
    pub fn reset(
        &self,
        (seeds, env_ids): (Option<&[u64]>, Option<&[u32]>),
        number: u64,
        block: &mut Vec<u8>,
        may_wait: bool,
    ) -> Option<Result<(), Status>> {
        self.call(may_wait, |state| state.reset_into(seeds, env_ids, number, block))
    }

    /// Writes what all environments show now, like a reset of none.
    ///
    /// # Errors
    /// If the session has ended. Then the block is unchanged.
    pub fn observe(&self, block: &mut Vec<u8>) -> Result<(), Status> {
        let shown = |state: &mut SessionState| {
            state.observe_into(None, block);
            Ok(())
        };
        self.session.call_blocking(shown).map_err(Status::from)
    }

    /// Lists placements of the session's environments. Returns `None` if the request is better made as a call: it is about
    /// other positions, asks a policy or for exact values, or takes long.
    ///
    /// # Errors
    /// The errors of EnumeratePlacements.
    pub fn enumerate(
        &self,
        mut request: pb::EnumeratePlacementsRequest,
    ) -> Option<Result<pb::EnumeratePlacementsResponse, Status>> {
        let Some(Source::SessionEnvs(named)) = request.source.take() else { return None };
        if request.policy.is_some() || request.include_optimal_values {
            return None;
        }
        let (env_ids, answers) = (envs::decode(named.envs.as_ref()), Answers::default());
        if self.session.costs().of_positions(env_ids) > SLICE {
            return None;
        }
        let question =
            self.call(true, |state| Question::of_session(state, env_ids, &mut request, None, &answers))?;
        let question = match question {
            Ok(question) => question,
            Err(status) => return Some(Err(status)),
        };
        if question.time() > SLICE {
            return None;
        }
        let answer = question.answer_here(self.kernel, &answers);
        if let Ok(answer) = &answer {
            self.counters.count_placements(answer);
        }
        Some(answer.map_err(Status::from))
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
