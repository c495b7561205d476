//! The places of evaluations: how many there may be at a time, in all and for each caller, and which one must make room.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::pool::Party;
use crate::wire::limits::{DEFAULT_MAX_EVALUATIONS, DEFAULT_MAX_EVALUATIONS_PER_CALLER, DEFAULT_MAX_UNREAD};

use super::caller::{Caller, CallerLimits};
use super::refusal::{Refusal, Scope};

/// How long a refused caller should wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How many evaluations there may be, and how long their answers may lie unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationCapacity {
    /// Evaluations at one time.
    pub max_evaluations: u32,
    /// Evaluations of one caller at one time.
    pub max_per_caller: u32,
    /// How long an answer may lie unread before its evaluation must make room for another one.
    pub max_unread: Duration,
}

impl Default for EvaluationCapacity {
    fn default() -> EvaluationCapacity {
        EvaluationCapacity {
            max_evaluations: DEFAULT_MAX_EVALUATIONS,
            max_per_caller: DEFAULT_MAX_EVALUATIONS_PER_CALLER,
            max_unread: DEFAULT_MAX_UNREAD,
        }
    }
}

/// The places of evaluations, and which callers have them.
#[derive(Debug)]
pub(super) struct Places {
    pub limits: EvaluationCapacity,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    holders: HashMap<u64, Holder>,
    next_number: u64,
}

#[derive(Debug)]
struct Holder {
    party: Party,
    /// Since when its answer has been unread, if it is.
    unread_since: Option<Instant>,
    lost: CancellationToken,
}

/// The place of one evaluation, free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    pub places: Arc<Places>,
    number: u64,
    /// Cancelled when another evaluation takes this place.
    pub lost: CancellationToken,
}

impl Places {
    pub fn new(limits: EvaluationCapacity) -> Arc<Places> {
        Arc::new(Places { limits, taken: Mutex::default() })
    }

    /// How many places are taken.
    pub fn num_taken(&self) -> u32 {
        self.taken().holders.len() as u32
    }

    /// Takes a free place, or that of an evaluation whose answer has been unread for too long.
    pub fn take(
        self: &Arc<Places>,
        party: &Party,
        caller: &Caller,
        limits: CallerLimits,
    ) -> Result<Place, Refusal> {
        let EvaluationCapacity { max_evaluations, max_per_caller, max_unread } = self.limits;
        let max_own = limits.max_evaluations.unwrap_or(max_per_caller);
        let mut taken = self.taken();
        let own = taken.holders.values().filter(|holder| holder.party == *party).count();
        let own_full = own >= max_own as usize;
        if own_full || taken.holders.len() >= max_evaluations as usize {
            let lies = |holder: &Holder| holder.unread_since.filter(|since| since.elapsed() >= max_unread);
            let may_go = taken.holders.iter().filter(|(_, holder)| !own_full || holder.party == *party);
            let longest = may_go.filter_map(|(number, holder)| Some((lies(holder)?, *number))).min();
            let Some(loser) = longest.and_then(|(_, number)| taken.holders.remove(&number)) else {
                let (scope, limit) =
                    if own_full { (caller.scope(), max_own) } else { (Scope::Server, max_evaluations) };
                if limit == 0 {
                    let limit = match scope {
                        Scope::Server => "the server's --max-evaluations",
                        _ if limits.max_evaluations.is_some() => "its max_evaluations in the file of tokens",
                        _ => "the server's --max-evaluations-per-caller",
                    };
                    return Err(Refusal::NoEvaluations { scope, limit });
                }
                return Err(Refusal::EvaluationLimit { scope, limit, retry_after: RETRY_AFTER });
            };
            loser.lost.cancel();
        }
        let (number, lost) = (taken.next_number, CancellationToken::new());
        taken.next_number += 1;
        let holder = Holder { party: party.clone(), unread_since: None, lost: lost.clone() };
        taken.holders.insert(number, holder);
        drop(taken);
        Ok(Place { places: self.clone(), number, lost })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Notes whether the answer is unread.
    pub fn note(&self, unread: bool) {
        if let Some(holder) = self.places.taken().holders.get_mut(&self.number) {
            holder.unread_since = unread.then(|| holder.unread_since.unwrap_or_else(Instant::now));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().holders.remove(&self.number);
    }
}
