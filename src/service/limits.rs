//! The limits on a server as a whole: what all callers together can make it hold, and for how long.
//!
//! A limit is a field of [`ServerLimits`], a default with its reason in [`ServerLimits::for_memory`], a field of the log
//! line in [`ServerLimits::log`], and a row of [`LIMITS`]. `tetrion serve` makes its flags from the rows, and the table in
//! `docs/protocol.md` is written from them. Limits on single requests are in [`tetrion_protocol::limits`].
//!
//! The surprising decision: one number determines every limit on memory. The budgets for sessions, evaluations,
//! requests and answers count bytes. Everything else is bounded by a number and a size: connections with their buffers,
//! calls with their headers and small answers. [`ServerLimits::worst_case`] adds up everything, and stays below the
//! memory of the server. The rest is a reserve for the allocator.

use std::time::Duration;

use tetrion_protocol::limits::{
    CONNECTION_BYTES, DEFAULT_TTL, MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, OWN_MEMORY,
};

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

/// Limits on what clients can make a server hold by connecting, by calling, and by not reading answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Bytes that the process may use. When it uses nearly all of them, the server refuses large calls.
    pub memory: u64,
    /// Bytes of all sessions: environments, explicit sequences, kept answers.
    pub session_memory: u64,
    /// Bytes of all evaluations.
    pub evaluation_memory: u64,
    /// Bytes of requests, from arrival to answer.
    pub request_memory: u64,
    /// Bytes of answers that clients have not read.
    pub answer_memory: u64,
    pub max_sessions: u32,
    /// Environments of all sessions.
    pub max_envs: u32,
    /// Concurrent calls that watch sessions.
    pub max_watches: u32,
    pub max_watches_per_caller: u32,
    pub max_evaluations: u32,
    pub max_evaluations_per_caller: u32,
    /// Estimated time of a call on one core, except evaluations.
    pub max_call_work: Duration,
    /// Concurrent calls on all connections.
    pub max_calls: u32,
    /// Concurrent calls on one connection. Further calls wait in the client, which learns the limit when it connects.
    pub max_calls_per_connection: u32,
    pub max_connections: u32,
    /// Concurrent connections from one address; `None` for half of all, rounded up.
    pub max_connections_per_address: Option<u32>,
    /// Time until the first request on a connection, including the TLS handshake.
    pub first_request_timeout: Duration,
    /// Time until the next 64 KiB of a request that has begun.
    pub request_timeout: Duration,
    /// Time until a client has read an answer.
    pub answer_timeout: Duration,
    /// Time until the next call on a connection. Clients reconnect by themselves.
    pub idle_timeout: Duration,
    /// Time after which an unread answer must yield if another call needs its place.
    pub max_unread_time: Duration,
}

impl ServerLimits {
    /// Limits of a server with the default memory.
    pub const DEFAULT: ServerLimits = ServerLimits::for_memory(DEFAULT_MEMORY);

    /// The default limits of a server with this much memory, in bytes.
    pub const fn for_memory(memory: u64) -> ServerLimits {
        let mib = memory / MIB;
        ServerLimits {
            memory,
            session_memory: mib / 16 * 3 * MIB,
            evaluation_memory: mib / 8 * MIB,
            request_memory: mib / 8 * MIB,
            answer_memory: mib / 8 * MIB,
            // More learners than a machine can feed.
            max_sessions: 1_024,
            // 64 MiB on small playfields, 256 MiB on the largest.
            max_envs: 262_144,
            // Enough for everyone who looks at a cluster's learners.
            max_watches: 256,
            // A quarter of all.
            max_watches_per_caller: 64,
            max_evaluations: (mib / 64) as u32,
            // A quarter of all on a server with the default memory.
            max_evaluations_per_caller: 16,
            // Under nearly all rules and features, enough for every placement of the largest number of positions.
            max_call_work: Duration::from_secs(60),
            max_calls: if memory < ROOMY { mib } else { mib * 2 } as u32,
            max_calls_per_connection: 1_024,
            max_connections: if memory < ROOMY { mib / 8 } else { mib / 4 } as u32,
            // Half is enough for a proxy or a lab with one address, and leaves as much to others.
            max_connections_per_address: None,
            first_request_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(30),
            // Longer than a learner thinks between two reads.
            answer_timeout: DEFAULT_TTL,
            // Longer than the default lease.
            idle_timeout: Duration::from_secs(15 * 60),
            // Programs take less time between two messages, and other callers need not wait longer.
            max_unread_time: Duration::from_secs(10),
        }
    }

    /// Most bytes that a server holds under these limits.
    pub const fn worst_case(&self) -> u64 {
        let budgets = self.session_memory + self.evaluation_memory + self.request_memory + self.answer_memory;
        let connections = self.max_connections as u64 * (CONNECTION_BYTES + 2 * OWN_MEMORY);
        let calls = self.max_calls as u64 * (CALL_BYTES + SMALL_ANSWER_BYTES);
        PROGRAM_BYTES + TASK_BYTES + budgets + connections + calls
    }

    /// Concurrent connections from one address.
    pub fn connections_per_address(&self) -> u32 {
        self.max_connections_per_address.unwrap_or(self.max_connections.div_ceil(2))
    }

    /// Bytes of the largest request. One connection gets at most half of the memory for requests.
    pub fn max_request_bytes(&self) -> u32 {
        MAX_REQUEST_BYTES.min(u32::try_from(self.request_memory / 2).unwrap_or(u32::MAX))
    }

    /// Bytes of the largest answer. One connection gets at most half of the memory for answers.
    pub fn max_response_bytes(&self) -> u32 {
        MAX_RESPONSE_BYTES.min(u32::try_from(self.answer_memory / 2).unwrap_or(u32::MAX))
    }

    /// Writes all limits to the log, as fields of one line.
    pub fn log(&self) {
        tracing::info!(
            memory_mib = self.memory / MIB,
            session_memory_mib = self.session_memory / MIB,
            evaluation_memory_mib = self.evaluation_memory / MIB,
            request_memory_mib = self.request_memory / MIB,
            answer_memory_mib = self.answer_memory / MIB,
            max_sessions = self.max_sessions,
            max_envs = self.max_envs,
            max_watches = self.max_watches,
            max_watches_per_caller = self.max_watches_per_caller,
            max_evaluations = self.max_evaluations,
            max_evaluations_per_caller = self.max_evaluations_per_caller,
            max_call_work = ?self.max_call_work,
            max_calls = self.max_calls,
            max_calls_per_connection = self.max_calls_per_connection,
            max_connections = self.max_connections,
            max_connections_per_address = self.connections_per_address(),
            first_request_timeout = ?self.first_request_timeout,
            request_timeout = ?self.request_timeout,
            answer_timeout = ?self.answer_timeout,
            idle_timeout = ?self.idle_timeout,
            max_unread_time = ?self.max_unread_time,
            "limits"
        );
    }
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits::DEFAULT
    }
}

/// A limit as operators see it: a flag of `tetrion serve` and a row of the documentation.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimit {
    /// Name of its field. The flag has hyphens.
    pub name: &'static str,
    /// Heading above the flag in the help.
    pub heading: &'static str,
    pub kind: LimitKind,
    /// Help of the flag.
    pub about: &'static str,
    /// What happens beyond the limit: the reason of a refusal or a few words, in Markdown.
    pub beyond: &'static str,
}

/// What a limit bounds: its field, and the least value of its flag.
#[derive(Clone, Copy, Debug)]
pub enum LimitKind {
    /// Bytes. Operators write MiB.
    Memory(LimitField<u64>, u64),
    /// A number.
    Count(LimitField<u32>, u32),
    /// A number of at least one, by default half of the limit with this name.
    Half(LimitField<Option<u32>>, &'static str),
    /// A time. Operators write seconds.
    Time(LimitField<Duration>, Duration),
}

/// A function that borrows the field of a limit.
pub type LimitField<T> = fn(&mut ServerLimits) -> &mut T;

const MEMORY_LIMITS: &str = "Limits on memory";
const CALL_LIMITS: &str = "Limits on sessions and calls";
const CONNECTION_LIMITS: &str = "Limits on connections";

/// Requests and answers have at least as much memory as on the smallest server.
const LEAST_TRAFFIC: u64 = ServerLimits::for_memory(LEAST_MEMORY).request_memory;

/// Time that every client needs for one message.
const LEAST_TIMEOUT: Duration = Duration::from_millis(100);

/// All limits, in the order of the help and of the documentation.
pub static LIMITS: [ServerLimit; 21] = [
    ServerLimit {
        name: "memory",
        heading: MEMORY_LIMITS,
        kind: LimitKind::Memory(|limits| &mut limits.memory, LEAST_MEMORY),
        about: "Memory for the whole server, in MiB, at least 256. Sets the defaults of the limits on sessions, \
                evaluations, requests, answers, connections and calls",
        beyond: "`MEMORY_LIMIT`",
    },
    ServerLimit {
        name: "session_memory",
        heading: MEMORY_LIMITS,
        kind: LimitKind::Memory(|limits| &mut limits.session_memory, MIB),
        about: "Memory for all sessions, in MiB: environments, explicit piece sequences, histories and stored answers",
        beyond: "`MEMORY_LIMIT`",
    },
    ServerLimit {
        name: "evaluation_memory",
        heading: MEMORY_LIMITS,
        kind: LimitKind::Memory(|limits| &mut limits.evaluation_memory, MIB),
        about: "Memory for all evaluations, in MiB, as the server estimates it when they start",
        beyond: "`MEMORY_LIMIT`",
    },
    ServerLimit {
        name: "request_memory",
        heading: MEMORY_LIMITS,
        kind: LimitKind::Memory(|limits| &mut limits.request_memory, LEAST_TRAFFIC),
        about: "Memory for requests, in MiB, from arrival until the answer",
        beyond: "`REQUEST_LIMIT`",
    },
    ServerLimit {
        name: "answer_memory",
        heading: MEMORY_LIMITS,
        kind: LimitKind::Memory(|limits| &mut limits.answer_memory, LEAST_TRAFFIC),
        about: "Memory for unread answers, in MiB",
        beyond: "`ANSWER_LIMIT`",
    },
    ServerLimit {
        name: "max_sessions",
        heading: CALL_LIMITS,
        kind: LimitKind::Count(|limits| &mut limits.max_sessions, 0),
        about: "Maximum number of sessions",
        beyond: "`SESSION_LIMIT`",
    },
    ServerLimit {
        name: "max_envs",
        heading: CALL_LIMITS,
        kind: LimitKind::Count(|limits| &mut limits.max_envs, 0),
        about: "Maximum number of environments in all sessions together",
        beyond: "`ENV_LIMIT`",
    },
    ServerLimit {
        name: "max_watches",
        heading: CALL_LIMITS,
        kind: LimitKind::Count(|limits| &mut limits.max_watches, 0),
        about: "Maximum number of calls that watch sessions",
        beyond: "`WATCH_LIMIT`",
    },
    ServerLimit {
        name: "max_watches_per_caller",
        heading: CALL_LIMITS,
        kind: LimitKind::Count(|limits| &mut limits.max_watches_per_caller, 0),
        about: "Maximum number of calls that watch sessions, per caller",
        beyond: "`WATCH_LIMIT`",
    },
    ServerLimit {
        name: "max_evaluations",
        heading: CALL_LIMITS,
        kind: LimitKind::Count(|limits| &mut limits.max_evaluations, 0),
        about: "Maximum number of evaluations in progress",
        beyond: "`EVALUATION_LIMIT`",
    },
    ServerLimit {
        name: "max_evaluations_per_caller",
        heading: CALL_LIMITS,
        kind: LimitKind::Count(|limits| &mut limits.max_evaluations_per_caller, 0),
        about: "Maximum number of evaluations in progress, per caller",
        beyond: "`EVALUATION_LIMIT`",
    },
    ServerLimit {
        name: "max_call_work",
        heading: CALL_LIMITS,
        kind: LimitKind::Time(|limits| &mut limits.max_call_work, Duration::ZERO),
        about: "CPU seconds per call, as the server estimates them; evaluations are exempt",
        beyond: "`TOO_MUCH_WORK`",
    },
    ServerLimit {
        name: "max_calls",
        heading: CALL_LIMITS,
        kind: LimitKind::Count(|limits| &mut limits.max_calls, 1),
        about: "Maximum number of calls in progress",
        beyond: "`CALL_LIMIT`",
    },
    ServerLimit {
        name: "max_calls_per_connection",
        heading: CALL_LIMITS,
        kind: LimitKind::Count(|limits| &mut limits.max_calls_per_connection, 1),
        about: "Maximum number of calls in progress, per connection",
        beyond: "further calls wait in the client",
    },
    ServerLimit {
        name: "max_connections",
        heading: CONNECTION_LIMITS,
        kind: LimitKind::Count(|limits| &mut limits.max_connections, 1),
        about: "Maximum number of connections",
        beyond: "closed at once",
    },
    ServerLimit {
        name: "max_connections_per_address",
        heading: CONNECTION_LIMITS,
        kind: LimitKind::Half(|limits| &mut limits.max_connections_per_address, "max_connections"),
        about: "Maximum number of connections per address; a proxy is one address, and an IPv6 /64 network too",
        beyond: "closed at once",
    },
    ServerLimit {
        name: "first_request_timeout",
        heading: CONNECTION_LIMITS,
        kind: LimitKind::Time(|limits| &mut limits.first_request_timeout, LEAST_TIMEOUT),
        about: "Seconds until a connection's first request, including the TLS handshake",
        beyond: "the connection is closed",
    },
    ServerLimit {
        name: "request_timeout",
        heading: CONNECTION_LIMITS,
        kind: LimitKind::Time(|limits| &mut limits.request_timeout, LEAST_TIMEOUT),
        about: "Seconds to wait for the next 64 KiB of a request",
        beyond: "`SLOW_REQUEST`",
    },
    ServerLimit {
        name: "answer_timeout",
        heading: CONNECTION_LIMITS,
        kind: LimitKind::Time(|limits| &mut limits.answer_timeout, LEAST_TIMEOUT),
        about: "Seconds to wait for a client to read an answer",
        beyond: "the connection is closed",
    },
    ServerLimit {
        name: "idle_timeout",
        heading: CONNECTION_LIMITS,
        kind: LimitKind::Time(|limits| &mut limits.idle_timeout, LEAST_TIMEOUT),
        about: "Seconds that a connection may stay open without a call",
        beyond: "the connection is closed; clients reconnect by themselves",
    },
    ServerLimit {
        name: "max_unread_time",
        heading: CONNECTION_LIMITS,
        kind: LimitKind::Time(|limits| &mut limits.max_unread_time, Duration::ZERO),
        about: "Seconds that a client may leave an answer unread while others wait: an evaluation or a watch when all \
                places are taken, any answer when a quarter of --answer-memory is in use",
        beyond: "`ANSWER_UNREAD`; the connection is closed",
    },
];

impl ServerLimit {
    /// The flag, such as `max-sessions`.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The value as operators write it: a number, MiB or seconds.
    pub fn value(&self, mut limits: ServerLimits) -> String {
        let limits = &mut limits;
        match self.kind {
            LimitKind::Memory(field, _) => (*field(limits) / MIB).to_string(),
            LimitKind::Count(field, _) => field(limits).to_string(),
            LimitKind::Half(field, of) => match field(limits) {
                Some(number) => number.to_string(),
                None => format!("half of --{}", of.replace('_', "-")),
            },
            LimitKind::Time(field, _) => field(limits).as_secs_f64().to_string(),
        }
    }
}
