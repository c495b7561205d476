//! The journal of a session: everything needed to make the session again after its server was lost.
//!
//! A session lives in the memory of one server. If that server is killed and started again, the client restores the last
//! snapshots and repeats the later calls. By the promise of the protocol, this gives the same bytes. Snapshots are taken
//! every few hundred calls, so that both the journal and its repetition stay short.

use std::collections::BTreeSet;

use bytes::Bytes;
use prost::Message;

use super::message::{Asked, RESET, RESTORE_STATE};
use tetrion_protocol::pb;

/// The creation of a session, its last snapshots, and every later call that changed it.
#[derive(Debug)]
pub(super) struct Journal {
    creation: pb::CreateSessionRequest,
    /// Number of changes between two snapshots.
    every: usize,
    /// Whether snapshots are on their way.
    is_waiting: bool,
    /// Environments that have not started their first episode, and so have no snapshot.
    not_begun: BTreeSet<u32>,
    /// A snapshot of each environment; empty before the first.
    states: Vec<Bytes>,
    /// Sequence number of the snapshots; 0 for a session in its initial state.
    number: u64,
    changes: Vec<Change>,
}

/// A call that changed the session.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// Sequence number of the session after the call.
    pub number: u64,
    pub asked: Asked,
}

impl Journal {
    /// The journal of a new session, from the request that made it and the answer.
    pub fn new(mut creation: pb::CreateSessionRequest, session: &pb::Session, every: u32) -> Journal {
        let made = session.config.as_ref();
        let config = creation.config.get_or_insert_default();
        if config.seeding.is_none() {
            // The server drew a seed; a session made again must have the same one.
            config.seeding = made.and_then(|made| made.seeding.clone());
        }
        Journal {
            creation,
            every: every as usize,
            is_waiting: false,
            not_begun: (0..made.map_or(0, |made| made.num_envs)).collect(),
            states: Vec::new(),
            number: 0,
            changes: Vec::new(),
        }
    }

    /// The request that made the session.
    pub fn creation(&self) -> &pb::CreateSessionRequest {
        &self.creation
    }

    /// The last snapshots and their number; none in the initial state.
    pub fn snapshots(&self) -> (u64, &[Bytes]) {
        (self.number, &self.states)
    }

    /// The later calls, in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Records an answered call. Returns whether snapshots are due: true only once, until they are kept or given up.
    pub fn add(&mut self, change: Change) -> bool {
        if change.number <= self.number {
            return false; // snapshots taken after it include it
        }
        if !self.not_begun.is_empty() {
            match begun(&change.asked) {
                Some(Some(envs)) => envs.ids.iter().for_each(|env| {
                    self.not_begun.remove(env);
                }),
                Some(None) => self.not_begun.clear(),
                None => {}
            }
        }
        self.changes.push(change);
        let is_due = !self.is_waiting && self.not_begun.is_empty() && self.changes.len() >= self.every;
        self.is_waiting |= is_due;
        is_due
    }

    /// Keeps snapshots with this number, and forgets the calls before them.
    pub fn keep(&mut self, states: Vec<Bytes>, number: u64) {
        self.is_waiting = false;
        (self.states, self.number) = (states, number);
        self.changes.retain(|change| change.number > number);
    }

    /// Gives up on snapshots that were due; they are due again after as many calls.
    pub fn give_up(&mut self) {
        self.is_waiting = false;
        self.every += self.changes.len();
    }
}

/// The environments whose episodes a call begins, `Some(None)` for all; `None` if it begins none.
fn begun(asked: &Asked) -> Option<Option<pb::EnvIds>> {
    if *asked.kind == RESET {
        Some(pb::ResetRequest::decode(asked.message.clone()).ok()?.envs)
    } else if *asked.kind == RESTORE_STATE {
        Some(pb::RestoreStateRequest::decode(asked.message.clone()).ok()?.envs)
    } else {
        None
    }
}
