//! The services: decode, call, encode.
//!
//! # Layout
//! * [`environment`] has one short method per call of `EnvironmentService`.
//! * [`calls`] decides where the work of a call runs.
//! * [`evaluation`] plays whole games and streams their results; [`games`] holds the running games, `places` limits
//!   evaluations.
//! * [`sessions`] holds the table of sessions; `session_state` performs a session's calls, `memory` counts its bytes,
//!   `sequence` keeps its last answer. Long calls work row by row: `stepping`, `restarting` (both with `changing`) and
//!   `reading`.
//! * [`direct`] steps a session without messages, for a caller in the same process.
//! * `watching` streams sessions to callers that watch them; `watched` is the state that a session keeps for them.
//! * `enumerate` answers EnumeratePlacements, `judging` lets a policy value the placements; `layout` computes the
//!   largest size of answers.
//! * `tasks` answers GetTask and ScoreTask; `tables` has tables of exact values computed for them and for others.
//! * [`info`] reports what this server is and allows; `catalog` what it supports, by name.
//! * [`answers`] limits the memory of unread answers.
//! * [`limits`] has the only table of the limits on a server as a whole, and divides its memory into them.
//! * [`budget`] limits bytes, calls and connections, in total and per holder; [`pressure`] compares the real memory of
//!   the process with its limit, and `reserved` holds lists in memory that a budget has granted.
//! * [`caller`] identifies the caller of a call.
//! * [`context`] holds what errors and log lines show of the current call; [`brake`] limits these lines.
//! * [`metrics`] has the only table of metrics.
//! * [`refusal`] has the errors as plain values; [`status`] has the only table from them to what the caller gets.
//!
//! Nothing in this package knows the rules of the game. Tokens, panics and the shutdown of the server are not its concern
//! either: the server handles them around every call.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see cli::output of `tetrion`

pub mod answers;
pub mod brake;
pub mod budget;
pub mod caller;
pub mod calls;
pub mod clock;
pub mod context;
pub mod direct;
pub mod environment;
pub mod evaluation;
pub mod games;
pub mod info;
pub mod limits;
pub mod metrics;
pub mod pressure;
pub mod refusal;
pub mod sessions;
pub mod status;

mod catalog;
mod changing;
mod costs;
mod drawing;
mod enumerate;
mod history;
mod judging;
mod layout;
mod memory;
mod places;
mod policies;
mod reading;
mod reserved;
mod restarting;
mod sequence;
mod session_state;
mod stepping;
mod tables;
mod tasks;
mod watched;
mod watching;

pub use caller::{Caller, CallerLimits};
pub use calls::{Busy, CallPool};
pub use clock::Clock;
pub use context::CallContext;
pub use direct::Direct;
pub use environment::Environments;
pub use evaluation::Evaluations;
pub use info::ServerFacts;
pub use limits::ServerLimits;
pub use pressure::Pressure;
pub use sessions::stored::{PutAway, TakenUp};
pub use sessions::{SessionStore, reap_forever};
pub use tetrion_core::features::kernel::Kernel;
