//! What is computed when a call first needs it, and then serves all callers until the process ends: tables of exact values,
//! and the tasks of a kind.
//!
//! That takes up to seconds of a core, so it is not the work of the call that needs it first: a thread of its own, nicer
//! than all others, computes it, and the calls wait without a thread. It goes on if they leave; there are only
//! [`ON_DEMAND`] sizes and [`NUM_KINDS`] kinds.

use std::sync::OnceLock;
use std::thread;

use tokio::sync::watch;

use tetrion_core::engine::Rules;
use tetrion_core::pool::give_way;
use tetrion_core::values;
use tetrion_protocol::pb;
use tetrion_protocol::pb::policy::Kind;
use tetrion_protocol::rules::ResolvedRules;
use tetrion_toolkit::optimum::{self, ON_DEMAND};
use tetrion_toolkit::tasks::{self, NUM_KINDS, Split, Task};

use super::calls::CallLane;
use super::costs::SOLVING;
use super::refusal::Refusal;

/// Niceness of the threads: that of the threads that play games.
const NICENESS: i32 = 10;

/// Something that is computed once; the channel closes when it is.
#[derive(Debug)]
struct Computed(OnceLock<watch::Receiver<()>>);

impl Computed {
    const fn not_yet() -> Computed {
        Computed(OnceLock::new())
    }

    /// Waits until it is computed.
    ///
    /// # Errors
    /// [`Refusal::TooMuchWork`] if calls have no time to compute it.
    async fn ready(
        &self,
        lane: &CallLane,
        name: String,
        compute: impl FnOnce() + Send + 'static,
    ) -> Result<(), Refusal> {
        lane.check(SOLVING)?;
        let start = || {
            let (running, end) = watch::channel(());
            let compute = move || {
                let _running = running;
                give_way(NICENESS);
                compute();
            };
            // Without a thread the channel closes, and the call computes it itself.
            let _ = thread::Builder::new().name(name).spawn(compute);
            end
        };
        let mut end = self.0.get_or_init(start).clone();
        let _closed = end.changed().await;
        Ok(())
    }
}

/// Waits for the table of a size, if it is computed on demand.
///
/// # Errors
/// [`Refusal::TooMuchWork`] if the table is not known and calls have no time to compute it.
pub(super) async fn ready(lane: &CallLane, (width, height): (u8, u8)) -> Result<(), Refusal> {
    static TABLES: [Computed; ON_DEMAND.len()] = [const { Computed::not_yet() }; ON_DEMAND.len()];
    let Some(index) = ON_DEMAND.iter().position(|size| *size == (width, height)) else { return Ok(()) };
    if values::known(width, height).is_some() {
        return Ok(());
    }
    let compute = move || drop(optimum::values(&Rules::simplified(width, height)));
    TABLES[index].ready(lane, format!("values {width}x{height}"), compute).await
}

/// Waits for the tasks that are drawn together with this one.
///
/// # Errors
/// [`Refusal::TooMuchWork`] if they are not drawn yet and calls have no time to draw them.
pub(super) async fn ready_for_task(lane: &CallLane, index: u32) -> Result<(), Refusal> {
    static DRAWN: [Computed; NUM_KINDS] = [const { Computed::not_yet() }; NUM_KINDS];
    if tasks::is_drawn(index) {
        return Ok(());
    }
    let kind = index as usize % NUM_KINDS;
    let draw = move || Split::ALL.into_iter().for_each(|split| drop(Task::new(split, index)));
    DRAWN[kind].ready(lane, format!("tasks {kind}"), draw).await
}

/// Waits for the table of these rules, if they have one on demand.
///
/// # Errors
/// Like [`ready`].
pub(super) async fn ready_for(lane: &CallLane, rules: &Rules) -> Result<(), Refusal> {
    ready(lane, (rules.width, rules.height)).await
}

/// Waits for the table of the rules of a request. Invalid rules are refused elsewhere.
///
/// # Errors
/// Like [`ready`].
pub(super) async fn ready_for_message(lane: &CallLane, rules: Option<&pb::Rules>) -> Result<(), Refusal> {
    let rules = rules.map_or_else(|| Ok(ResolvedRules::default()), ResolvedRules::try_from);
    match rules {
        Ok(ResolvedRules { rules, .. }) => ready_for(lane, &rules).await,
        Err(_) => Ok(()),
    }
}

/// Whether a policy plays by exact values.
pub(super) fn plays_by_values(policy: &pb::Policy) -> bool {
    matches!(&policy.kind, Some(Kind::Name(name)) if name == "optimal")
}

/// Whether a session shows exact values.
pub(super) fn shows_values(config: &pb::SessionConfig) -> bool {
    config.info_fields.as_ref().is_some_and(|infos| infos.names.iter().any(|name| name == "regret"))
}
