//! Places of long calls, such as evaluations: limits on their number, in total and per caller. If all places are taken,
//! the call whose answer has been unread for longest may have to yield.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use tetrion_core::pool::Party;

use super::answers::Answers;

/// Number of places, and the time after which an unread answer may cost a call its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capacity {
    pub max: u32,
    pub max_per_caller: u32,
    pub max_unread: Duration,
}

/// The reason why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The caller has reached its limit.
    Caller { limit: u32 },
    /// All places of the server are taken.
    Server { limit: u32 },
}

/// All places, and the callers that hold them.
#[derive(Debug)]
pub(super) struct Places {
    capacity: Capacity,
    taken: Mutex<PlaceHolders>,
}

#[derive(Debug, Default)]
struct PlaceHolders {
    holders: HashMap<u64, Holder>,
    next_number: u64,
}

#[derive(Debug)]
struct Holder {
    party: Party,
    /// The answers of the call, which know how long the client has left them unread.
    answers: Answers,
    lost: CancellationToken,
}

/// The place of one call, released when this value is dropped.
#[derive(Debug)]
pub(super) struct CallPlace {
    places: Arc<Places>,
    number: u64,
    /// Cancelled when another call takes over this place.
    pub lost: CancellationToken,
}

impl Places {
    /// Creates places that are all free.
    pub fn new(capacity: Capacity) -> Arc<Places> {
        Arc::new(Places { capacity, taken: Mutex::default() })
    }

    /// Number of places that calls hold at the moment.
    pub fn num_taken(&self) -> u32 {
        self.taken().holders.len() as u32
    }

    /// Takes a free place for the call with these answers, or takes over the place of a call whose answer has been
    /// unread for too long. `own` is the caller's own limit, if any.
    pub fn take(
        self: &Arc<Places>,
        party: &Party,
        own: Option<u32>,
        answers: &Answers,
    ) -> Result<CallPlace, Full> {
        let Capacity { max, max_per_caller, .. } = self.capacity;
        let max_own = own.unwrap_or(max_per_caller);
        let mut taken = self.taken();
        let num_own = taken.holders.values().filter(|holder| holder.party == *party).count();
        let own_full = num_own >= max_own as usize;
        if own_full || taken.holders.len() >= max as usize {
            let may_go = taken.holders.iter().filter(|(_, holder)| !own_full || holder.party == *party);
            let longest = may_go.filter_map(|(number, holder)| Some((self.overdue(holder)?, *number))).min();
            let Some(loser) = longest.and_then(|(_, number)| taken.holders.remove(&number)) else {
                return Err(if own_full {
                    Full::Caller { limit: max_own }
                } else {
                    Full::Server { limit: max }
                });
            };
            loser.lost.cancel();
        }
        let (number, lost) = (taken.next_number, CancellationToken::new());
        taken.next_number += 1;
        let holder = Holder { party: party.clone(), answers: answers.clone(), lost: lost.clone() };
        taken.holders.insert(number, holder);
        drop(taken);
        Ok(CallPlace { places: self.clone(), number, lost })
    }

    /// Time since which a holder's answer has been unread, if that is too long.
    fn overdue(&self, holder: &Holder) -> Option<Instant> {
        holder.answers.unread_since().filter(|since| since.elapsed() >= self.capacity.max_unread)
    }

    fn taken(&self) -> MutexGuard<'_, PlaceHolders> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallPlace {
    /// Time since which the answer of this call has been unread, if that is too long.
    pub fn overdue(&self) -> Option<Instant> {
        self.places.overdue(self.places.taken().holders.get(&self.number)?)
    }

    /// Gives the place up to another call.
    pub fn lose(&self) {
        self.places.taken().holders.remove(&self.number);
        self.lost.cancel();
    }

    /// Time after which an unread answer may cost a call its place.
    pub fn max_unread(&self) -> Duration {
        self.places.capacity.max_unread
    }
}

impl Drop for CallPlace {
    fn drop(&mut self) {
        self.places.taken().holders.remove(&self.number);
    }
}
