//! Rough times of the calls of a session, by which they run here or on the pool for calls.

use std::time::Duration;

use prost::Message;

use tetrion_core::engine::Rules;
use tetrion_protocol::policies::POLICY_BYTES;
use tetrion_protocol::rendering::Drawing;
use tetrion_protocol::session::SessionConfig;
use tetrion_protocol::{pb, seeding};

use super::calls::SLICE;
use super::drawing;

/// Rough time per environment of a session's calls, in nanoseconds on one core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub num_envs: u32,
    /// A step, a reset or a restore, and its part of the answer.
    pub step: u64,
    pub rules: Rules,
}

impl Costs {
    /// Cost of a call that steps, resets or restores the given environments; `None` means all.
    pub fn of_step(&self, env_ids: Option<&[u32]>) -> Duration {
        self.of(env_ids, self.step)
    }

    /// Cost of listing the legal actions of the given environments as text, or of reading actions.
    pub fn of_text(&self, env_ids: Option<&[u32]>) -> Duration {
        self.of(env_ids, drawing::nanoseconds_of_actions(&self.rules))
    }

    /// Cost of a call that takes snapshots of environments.
    pub fn of_save(&self, env_ids: Option<&[u32]>) -> Duration {
        self.of(env_ids, 1_000)
    }

    /// Cost of a call that draws environments.
    pub fn of_render(&self, drawing: &Drawing, env_ids: Option<&[u32]>) -> Duration {
        self.of(env_ids, drawing::nanoseconds(drawing, &self.rules))
    }

    /// Number of cells of one playfield.
    pub fn cells(&self) -> u64 {
        u64::from(self.rules.width) * u64::from(self.rules.height)
    }

    /// Cost of reading the current pieces and playfields of environments.
    pub fn of_positions(&self, env_ids: Option<&[u32]>) -> Duration {
        self.of(env_ids, 60)
    }

    /// Number of environments that a call names; `None` means all.
    pub fn rows(&self, env_ids: Option<&[u32]>) -> u64 {
        env_ids.map_or(self.num_envs.into(), |env_ids| env_ids.len() as u64)
    }

    fn of(&self, env_ids: Option<&[u32]>, nanoseconds: u64) -> Duration {
        Duration::from_nanos(self.rows(env_ids) * nanoseconds)
    }
}

/// Rough time to create environments.
pub(super) fn cost_of_new(config: &SessionConfig) -> Duration {
    let each = if config.keep_colors { 400 } else { 200 };
    Duration::from_nanos(each * u64::from(config.env.num_envs))
}

/// Rough time of an agent's thought per unit of its [cost](tetrion_core::agents::Agent::cost).
pub(super) const NANOSECONDS_PER_COST: u64 = 500;

/// Rough time to compute the exact values of a size.
pub(super) const SOLVING: Duration = Duration::from_secs(1);

/// Rough time to read a byte of a policy, in nanoseconds.
const NANOSECONDS_PER_BYTE: usize = 20;

/// Bytes of policies that are read before other callers have a turn.
pub(super) const POLICY_BYTES_A_SLICE: usize = SLICE.as_nanos() as usize / NANOSECONDS_PER_BYTE;

/// Rough time to make an agent of a policy.
pub(super) fn cost_of_policy(policy: Option<&pb::Policy>) -> Duration {
    let bytes = policy.map_or(0, |policy| POLICY_BYTES + policy.encoded_len());
    Duration::from_nanos((bytes * NANOSECONDS_PER_BYTE) as u64)
}

/// Rough time to read explicit pieces and holes.
pub(super) fn cost_of_sequences(seeding: Option<&pb::Seeding>) -> Duration {
    Duration::from_nanos(seeding::lengths(seeding).map(|length| 100 + 3 * length as u64).sum())
}
