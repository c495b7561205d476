//! The table of sessions: their names, limits and leases.
//!
//! A session belongs to the caller that created it: no other caller can find, list or end it.
//!
//! A session outlives connections. It ends when its caller deletes it, or when no call has come for the length of its
//! lease. The store checks a lease whenever a call looks up the session. It also checks all leases periodically
//! ([`reap_forever`]), so that abandoned sessions take no room. A session even outlives its server, if the server
//! writes it at shutdown and the next one restores it ([`stored`]).
//!
//! The table is locked for moments and never over an `.await`. Each session has its own lock; `session` explains how
//! calls take turns on it.

mod session;
pub mod stored;

pub(super) use session::{LeasedSession, RequestId};

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tetrion_core::engine::RULES_VERSION;
use tetrion_core::pool::Party;
use tetrion_protocol::{duration, pb};

use super::answers::Answers;
use super::budget::Budget;
use super::caller::{Caller, CallerLimits};
use super::clock::Clock;
use super::context::CallContext;
use super::limits::ServerLimits;
use super::metrics::SessionCounters;
use super::places::{CallPlace, Capacity, Full, Places};
use super::pressure::Pressure;
use super::refusal::{Refusal, Scope};
use super::session_state::SessionState;
use session::{SessionId, decode_name, nanoseconds, random_id};

/// Number of expired sessions that the store remembers, so that calls on them get the right error.
const REMEMBERED: usize = 4096;

/// How often the store checks all leases.
const REAPING_INTERVAL: Duration = Duration::from_secs(1);

/// All sessions of a server.
#[derive(Debug)]
pub struct SessionStore {
    limits: ServerLimits,
    memory: Arc<Budget>,
    watches: Arc<Places>,
    clock: Clock,
    counters: SessionCounters,
    table: RwLock<SessionTable>,
}

#[derive(Debug, Default)]
struct SessionTable {
    sessions: HashMap<SessionId, Arc<LeasedSession>>,
    /// Amounts taken by all callers.
    taken: SessionAmounts,
    /// Amounts taken by each caller that has sessions.
    taken_by: HashMap<Caller, SessionAmounts>,
    next_serial: u64,
    /// Sessions that were created with a request_id, by caller and request_id.
    requests: HashMap<(Caller, String), SessionId>,
    /// Names of the last expired sessions, oldest first.
    reaped: VecDeque<SessionId>,
    reaped_owners: HashMap<SessionId, Caller>,
}

/// Amounts that sessions take from the limits, including sessions in creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SessionAmounts {
    sessions: u32,
    envs: u32,
}

/// The parts of a new session.
#[derive(Debug)]
pub(super) struct NewSession {
    pub owner: Caller,
    pub limits: CallerLimits,
    pub request: Option<RequestId>,
    pub num_envs: u32,
    pub ttl: Duration,
    pub config: pb::SessionConfig,
}

impl SessionStore {
    /// A store without sessions. Leases follow this clock.
    pub fn new(limits: ServerLimits, clock: Clock, pressure: &Pressure) -> SessionStore {
        let capacity = Capacity {
            max: limits.max_watches,
            max_per_caller: limits.max_watches_per_caller,
            max_unread: limits.max_unread_time,
        };
        SessionStore {
            memory: Budget::of_bytes(limits.session_memory, pressure),
            watches: Places::new(capacity),
            limits,
            clock,
            counters: SessionCounters::new(),
            table: RwLock::default(),
        }
    }

    /// Number of sessions. Includes sessions that have expired since the last check.
    pub fn num_sessions(&self) -> u32 {
        self.read().sessions.len() as u32
    }

    /// Number of environments in all sessions, including those in creation.
    pub fn num_envs(&self) -> u32 {
        self.read().taken.envs
    }

    /// Memory that sessions use, out of [`ServerLimits::session_memory`].
    pub fn memory(&self) -> &Arc<Budget> {
        &self.memory
    }

    /// Number of calls that watch sessions.
    pub fn num_watches(&self) -> u32 {
        self.watches.num_taken()
    }

    /// Renews the lease of a session.
    pub(super) fn renew(&self, session: &LeasedSession) {
        session.renew(self.clock.elapsed());
    }

    /// Takes a place among the calls that watch sessions.
    pub(super) fn take_watch(
        &self,
        party: &Party,
        caller: &Caller,
        limits: CallerLimits,
        answers: &Answers,
    ) -> Result<CallPlace, Refusal> {
        self.watches.take(party, limits.max_watches, answers).map_err(|full| match full {
            Full::Caller { limit } => Refusal::WatchLimit { scope: caller.scope(), limit },
            Full::Server { limit } => Refusal::WatchLimit { scope: Scope::Server, limit },
        })
    }

    /// Ends all expired sessions. Returns their number.
    pub fn reap(&self) -> usize {
        let now = self.clock.elapsed();
        let mut table = self.write();
        let over = table.sessions.values().filter(|session| session.is_over(now));
        let over: Vec<SessionId> = over.map(|session| session.id).collect();
        for id in &over {
            table.reap(*id);
        }
        self.counters.sessions_expired.increment(over.len() as u64);
        over.len()
    }

    /// Reserves room for a new session, or returns the session that an identical request created before.
    pub(super) fn prepare(&self, new: &NewSession) -> Result<Prepared<'_>, Refusal> {
        self.reap();
        let mut table = self.write();
        if let Some(request) = &new.request
            && let Some(session) = self.made_by(&table, &new.owner, request)?
        {
            return Ok(Prepared::Made(session));
        }
        self.check_room(&table, new)?;
        table.take(&new.owner, new.num_envs);
        Ok(Prepared::Room(SessionRoom { store: self, taken: Some((new.owner.clone(), new.num_envs)) }))
    }

    /// Finds the caller's session named in a field of a request, and renews its lease.
    pub(super) fn find(
        &self,
        caller: &Caller,
        field: &str,
        name: &str,
    ) -> Result<Arc<LeasedSession>, Refusal> {
        let id = decode_name(field, name)?.ok_or_else(|| Refusal::SessionNotFound(name.to_owned()))?;
        let now = self.clock.elapsed();
        CallContext::note_session(id);
        if let Some(session) = self.read().sessions.get(&id)
            && session.owner == *caller
            && session.expires.load(Ordering::Relaxed) > nanoseconds(now)
        {
            session.renew(now);
            return Ok(session.clone());
        }
        let mut table = self.write();
        if table.sessions.get(&id).is_some_and(|session| session.is_over(now)) {
            table.reap(id);
            self.counters.sessions_expired.increment(1);
        }
        match table.sessions.get(&id) {
            Some(session) if session.owner == *caller => {
                session.renew(now);
                Ok(session.clone())
            }
            None if table.reaped_owners.get(&id) == Some(caller) => {
                Err(Refusal::SessionExpired(name.to_owned()))
            }
            _ => Err(Refusal::SessionNotFound(name.to_owned())),
        }
    }

    /// Finds the caller's session named in a field of a request, without renewing its lease or ending it.
    pub(super) fn look(
        &self,
        caller: &Caller,
        field: &str,
        name: &str,
    ) -> Result<Arc<LeasedSession>, Refusal> {
        let id = decode_name(field, name)?.ok_or_else(|| Refusal::SessionNotFound(name.to_owned()))?;
        let now = self.clock.elapsed();
        CallContext::note_session(id);
        let table = self.read();
        match table.sessions.get(&id).filter(|session| session.owner == *caller) {
            Some(session) if session.is_over(now) => Err(Refusal::SessionExpired(name.to_owned())),
            Some(session) => Ok(session.clone()),
            None if table.reaped_owners.get(&id) == Some(caller) => {
                Err(Refusal::SessionExpired(name.to_owned()))
            }
            None => Err(Refusal::SessionNotFound(name.to_owned())),
        }
    }

    /// Ends a caller's session. Queued calls on it will not find it any more.
    pub(super) fn remove(&self, caller: &Caller, name: &str) -> Result<(), Refusal> {
        let session = self.find(caller, "name", name)?;
        session.ended.store(true, Ordering::Release);
        if self.write().remove(session.id) {
            self.counters.sessions_deleted.increment(1);
        }
        Ok(())
    }

    /// At most `size` of the caller's sessions that are younger than serial number `after`, oldest first. The flag
    /// tells whether there are more.
    pub(super) fn page(
        &self,
        caller: &Caller,
        after: Option<u64>,
        size: usize,
    ) -> (Vec<Arc<LeasedSession>>, bool) {
        let now = nanoseconds(self.clock.elapsed());
        let mut sessions: Vec<Arc<LeasedSession>> = {
            let table = self.read();
            let listed = table.sessions.values().filter(|session| {
                session.owner == *caller
                    && after.is_none_or(|after| session.serial > after)
                    && session.expires.load(Ordering::Relaxed) > now
            });
            listed.cloned().collect()
        };
        sessions.sort_unstable_by_key(|session| session.serial);
        let more = sessions.len() > size;
        sessions.truncate(size);
        (sessions, more)
    }

    /// A session's entry in a list, which lacks its specs and feature columns.
    pub(super) fn summary(&self, session: &LeasedSession) -> pb::Session {
        let expires = Duration::from_nanos(session.expires.load(Ordering::Relaxed));
        pb::Session {
            name: session.name(),
            config: Some(session.config.clone()),
            expire_time: Some(self.clock.date(expires).into()),
            ttl: duration::encode(session.ttl),
            sequence_number: session.sequence_number.load(Ordering::Relaxed),
            rules_version: RULES_VERSION.to_owned(),
            create_time: Some(session.made.into()),
            ..Default::default()
        }
    }

    fn made_by(
        &self,
        table: &SessionTable,
        owner: &Caller,
        request: &RequestId,
    ) -> Result<Option<Arc<LeasedSession>>, Refusal> {
        let key = (owner.clone(), request.name.clone());
        let Some(session) = table.requests.get(&key).and_then(|id| table.sessions.get(id)) else {
            return Ok(None);
        };
        if session.request.as_ref() != Some(request) {
            return Err(Refusal::RequestIdReused(request.name.clone()));
        }
        session.renew(self.clock.elapsed());
        Ok(Some(session.clone()))
    }

    fn check_room(&self, table: &SessionTable, new: &NewSession) -> Result<(), Refusal> {
        let NewSession { owner, limits, num_envs, .. } = new;
        self.check_own_room(table, *num_envs)?;
        let own = (limits.max_sessions.unwrap_or(u32::MAX), limits.max_envs.unwrap_or(u32::MAX));
        self.check_limits(table, Some(owner), own, *num_envs)
    }

    /// Checks that the server has room for one more session of any caller.
    fn check_own_room(&self, table: &SessionTable, num_envs: u32) -> Result<(), Refusal> {
        self.check_limits(table, None, (self.limits.max_sessions, self.limits.max_envs), num_envs)
    }

    /// Checks that one more session stays within these limits, of one caller or of the server.
    fn check_limits(
        &self,
        table: &SessionTable,
        owner: Option<&Caller>,
        (max_sessions, max_envs): (u32, u32),
        wanted: u32,
    ) -> Result<(), Refusal> {
        let taken = owner.map_or(table.taken, |owner| table.taken_by.get(owner).copied().unwrap_or_default());
        let full = taken.sessions >= max_sessions;
        if !full && wanted <= max_envs.saturating_sub(taken.envs) {
            return Ok(());
        }
        let sessions = table.sessions.values();
        let counted = sessions.filter(|session| owner.is_none_or(|owner| session.owner == *owner));
        let next = counted.map(|session| session.expires.load(Ordering::Relaxed)).min();
        let next = Duration::from_nanos(next.unwrap_or(0));
        let retry_after = next.saturating_sub(self.clock.elapsed()).max(Duration::from_millis(1));
        let scope = owner.map_or(Scope::Server, Caller::scope);
        Err(if full {
            Refusal::SessionLimit { scope, limit: max_sessions, retry_after }
        } else {
            Refusal::EnvLimit { scope, used: taken.envs, limit: max_envs, wanted, retry_after }
        })
    }

    /// Reads the table. No code panics while it holds the lock, so a poisoned table is valid.
    fn read(&self) -> std::sync::RwLockReadGuard<'_, SessionTable> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, SessionTable> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Outcome of preparing a new session.
#[derive(Debug)]
pub(super) enum Prepared<'a> {
    /// The session that an identical request created before.
    Made(Arc<LeasedSession>),
    /// Room for a new session.
    Room(SessionRoom<'a>),
}

/// Reserved room for a session in creation, released if creation fails.
#[derive(Debug)]
pub(super) struct SessionRoom<'a> {
    store: &'a SessionStore,
    /// The owner and the number of environments; `None` once the session has taken over the room.
    taken: Option<(Caller, u32)>,
}

impl SessionRoom<'_> {
    /// Creates the session. If an identical request has created one in the meantime, returns that session.
    pub fn fill(mut self, new: NewSession, state: SessionState) -> Result<Arc<LeasedSession>, Refusal> {
        let NewSession { owner, request, num_envs, ttl, config, .. } = new;
        let store = self.store;
        let now = store.clock.elapsed();
        let mut table = store.write();
        if let Some(request) = &request
            && let Some(session) = store.made_by(&table, &owner, request)?
        {
            return Ok(session);
        }
        let session = Arc::new(LeasedSession {
            id: random_id(),
            owner,
            serial: table.next_serial,
            request,
            num_envs,
            ttl,
            made: store.clock.date(now),
            expires: AtomicU64::new(nanoseconds(now + ttl)),
            ended: AtomicBool::new(false),
            put_away: AtomicBool::new(false),
            sequence_number: AtomicU64::new(0),
            config,
            costs: state.costs(),
            state: Arc::new(tokio::sync::Mutex::new(state)),
        });
        self.taken = None;
        table.insert(session.clone());
        store.counters.sessions_created.increment(1);
        CallContext::note_session(session.id);
        Ok(session)
    }
}

impl Drop for SessionRoom<'_> {
    fn drop(&mut self) {
        if let Some((owner, num_envs)) = self.taken.take() {
            self.store.write().give_back(&owner, num_envs);
        }
    }
}

/// Ends sessions whose lease has expired, for as long as it is polled.
pub async fn reap_forever(store: Arc<SessionStore>) {
    let mut interval = tokio::time::interval(REAPING_INTERVAL);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        // A panic here would end the server. The panic hook has already logged it.
        if let Ok(reaped @ 1..) = catch_unwind(AssertUnwindSafe(|| store.reap())) {
            tracing::info!(reaped, "sessions ended by their lease");
        }
    }
}

impl SessionTable {
    /// Adds a session whose environments are counted already.
    fn insert(&mut self, session: Arc<LeasedSession>) {
        self.next_serial = self.next_serial.max(session.serial + 1);
        if let Some(request) = &session.request {
            self.requests.insert((session.owner.clone(), request.name.clone()), session.id);
        }
        self.sessions.insert(session.id, session);
    }

    /// Counts a session in creation.
    fn take(&mut self, owner: &Caller, num_envs: u32) {
        for taken in [&mut self.taken, self.taken_by.entry(owner.clone()).or_default()] {
            taken.sessions += 1;
            taken.envs += num_envs;
        }
    }

    fn give_back(&mut self, owner: &Caller, num_envs: u32) {
        let Some(own) = self.taken_by.get_mut(owner) else { return };
        for taken in [&mut self.taken, own] {
            taken.sessions -= 1;
            taken.envs -= num_envs;
        }
        if *own == SessionAmounts::default() {
            self.taken_by.remove(owner);
        }
    }

    /// Removes a session. Returns whether it was in the table.
    fn remove(&mut self, id: SessionId) -> bool {
        let Some(session) = self.sessions.remove(&id) else { return false };
        self.give_back(&session.owner, session.num_envs);
        if let Some(request) = &session.request {
            self.requests.remove(&(session.owner.clone(), request.name.clone()));
        }
        true
    }

    fn reap(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.get(&id) {
            self.reaped_owners.insert(id, session.owner.clone());
        }
        self.remove(id);
        self.reaped.push_back(id);
        if self.reaped.len() > REMEMBERED
            && let Some(oldest) = self.reaped.pop_front()
        {
            self.reaped_owners.remove(&oldest);
        }
    }
}
