//! Division of a server's memory: one number determines every limit on what callers can make the server hold.
//!
//! The budgets for sessions, evaluations, requests and answers count bytes. Everything else is bounded by a number and
//! a size: connections with their buffers, calls with their headers and small answers. [`Allotment::worst_case`] adds
//! up everything, and stays below the memory of the allotment. The rest is a reserve for the allocator.

use tetrion_protocol::limits::{CONNECTION_BYTES, OWN_MEMORY};

use super::answers::SMALL_ANSWER_BYTES;

/// Default memory of a server, in bytes.
pub const DEFAULT_MEMORY: u64 = 4 << 30;

/// Least memory of a server, in bytes: enough for a course's learners. The largest requests need 1 GiB.
pub const LEAST_MEMORY: u64 = 256 << 20;

/// Memory of a server with room for two of the largest requests, in bytes. A smaller one also has fewer connections and
/// calls for its size.
const ROOMY: u64 = 1 << 30;

/// Bytes of a server that has just started: its program, threads and tables.
const PROGRAM_BYTES: u64 = 24 << 20;

/// Bytes of tables of exact values for tasks, and of searches for the oracles of tasks.
const TASK_BYTES: u64 = 32 << 20;

/// Bytes of a call outside the budgets: its task and initial buffers, small headers, and a small request encoded, decoded
/// and read.
const CALL_BYTES: u64 = 32 << 10;

const MIB: u64 = 1 << 20;

/// The limits on what callers can make a server hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allotment {
    /// Bytes of all sessions.
    pub sessions: u64,
    /// Bytes of all evaluations.
    pub evaluations: u64,
    /// Bytes of requests, from arrival to answer.
    pub requests: u64,
    /// Bytes of answers that clients have not read.
    pub answers: u64,
    pub max_connections: u32,
    /// Concurrent calls on all connections.
    pub max_calls: u32,
    pub max_evaluations: u32,
}

impl Allotment {
    /// Limits of a server with the default memory.
    pub const DEFAULT: Allotment = Allotment::new(DEFAULT_MEMORY);

    /// The limits of a server with this much memory, in bytes.
    pub const fn new(memory: u64) -> Allotment {
        let mib = memory / MIB;
        Allotment {
            sessions: mib / 16 * 3 * MIB,
            evaluations: mib / 8 * MIB,
            requests: mib / 8 * MIB,
            answers: mib / 8 * MIB,
            max_connections: if memory < ROOMY { mib / 8 } else { mib / 4 } as u32,
            max_calls: if memory < ROOMY { mib } else { mib * 2 } as u32,
            max_evaluations: (mib / 64) as u32,
        }
    }

    /// Most bytes that a server holds under these limits.
    pub const fn worst_case(&self) -> u64 {
        let budgets = self.sessions + self.evaluations + self.requests + self.answers;
        let connections = self.max_connections as u64 * (CONNECTION_BYTES + 2 * OWN_MEMORY);
        let calls = self.max_calls as u64 * (CALL_BYTES + SMALL_ANSWER_BYTES);
        PROGRAM_BYTES + TASK_BYTES + budgets + connections + calls
    }
}
