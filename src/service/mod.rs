//! The services: decode, call, encode.
//!
//! # Layout
//! * [`environment`] has one short method for each call of `EnvironmentService`.
//! * [`calls`] decides where the work of a call is done.
//! * [`evaluation`] plays whole games and streams their results; [`games`] are they while they run, `places` how many may run.
//! * [`sessions`] knows who is here; `session` what one of them does and `memory` what it takes; `sequence` what was answered last.
//! * [`dm_env_rpc`] is the second door to the same store; `world` is one of its environments.
//! * `enumerate` answers EnumeratePlacements; `layout` knows how large answers become.
//! * [`info`] tells what this server is, can and allows.
//! * [`answers`] bounds what clients have not read.
//! * [`budget`] is so much for all and so much of it for each: bytes, calls, connections.
//! * [`caller`] says whose call it is.
//! * [`context`] is what errors and log lines say of the current call; [`brake`] bounds these lines.
//! * [`metrics`] has the one table of what is counted.
//! * [`status`] has the one table from what went wrong to what the caller is told.
//!
//! Nothing in here knows the rules of the game. The services do not know about tokens, panics or the end of the server either:
//! that is around every call, in the server.

pub mod answers;
pub mod brake;
pub mod budget;
pub mod caller;
pub mod calls;
pub mod clock;
pub mod context;
pub mod dm_env_rpc;
pub mod environment;
pub mod evaluation;
pub mod games;
pub mod info;
pub mod metrics;
pub mod sessions;
pub mod status;

mod enumerate;
mod layout;
mod memory;
mod places;
mod sequence;
mod session;
mod world;

pub use caller::{Caller, CallerLimits};
pub use calls::{Busy, CallPool};
pub use clock::Clock;
pub use context::CallContext;
pub use dm_env_rpc::Worlds;
pub use environment::Environments;
pub use evaluation::Evaluations;
pub use info::{Deadlines, NetworkLimits, ServerFacts};
pub use places::EvaluationLimits;
pub use sessions::stored::TakenUp;
pub use sessions::{SessionStore, StoreLimits, reap_forever};
