//! Tables of exact values, computed when a call first needs them.
//!
//! Computing a table takes up to seconds of a core, and the table serves all callers until the process ends. So it is
//! not the work of the call that needs it first: a thread of its size, nicer than all others, computes it, and the calls
//! wait without a thread. It goes on if they leave; there are only [`ON_DEMAND`] sizes.

use std::sync::OnceLock;
use std::thread;

use tokio::sync::watch;

use crate::engine::Rules;
use crate::optimum::{self, ON_DEMAND};
use crate::pool::give_way;
use crate::values;
use crate::wire::pb;
use crate::wire::pb::policy::Kind;
use crate::wire::rules::ResolvedRules;

use super::calls::CallLane;
use super::costs::SOLVING;
use super::refusal::Refusal;

/// Niceness of the threads: that of the threads that play games.
const NICENESS: i32 = 10;

/// For each size the end of its thread, as a channel that closes.
static ENDS: [OnceLock<watch::Receiver<()>>; ON_DEMAND.len()] = [const { OnceLock::new() }; ON_DEMAND.len()];

/// Waits for the table of a size, if it is computed on demand.
///
/// # Errors
/// [`Refusal::TooMuchWork`] if the table is not known and calls have no time to compute it.
pub(super) async fn ready(lane: &CallLane, (width, height): (u8, u8)) -> Result<(), Refusal> {
    let Some(index) = ON_DEMAND.iter().position(|size| *size == (width, height)) else { return Ok(()) };
    if values::known(width, height).is_some() {
        return Ok(());
    }
    lane.check(SOLVING)?;
    let mut end = ENDS[index].get_or_init(|| compute(width, height)).clone();
    let _closed = end.changed().await;
    Ok(())
}

fn compute(width: u8, height: u8) -> watch::Receiver<()> {
    let (running, end) = watch::channel(());
    let compute = move || {
        let _running = running;
        give_way(NICENESS);
        let _ = optimum::values(&Rules::simplified(width, height));
    };
    // Without a thread the channel closes, and the call computes the table itself.
    let _ = thread::Builder::new().name(format!("values {width}x{height}")).spawn(compute);
    end
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
