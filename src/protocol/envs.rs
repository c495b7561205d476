//! The environments that a request names: an absent list means all of them, an empty one none.

use super::pb;

/// Reads the environments that a request names; `None` for all.
pub fn decode(envs: Option<&pb::EnvIds>) -> Option<&[u32]> {
    envs.map(|envs| envs.ids.as_slice())
}

/// Names environments in a request; `None` for all.
pub fn encode(env_ids: Option<&[u32]>) -> Option<pb::EnvIds> {
    env_ids.map(|ids| pb::EnvIds { ids: ids.to_vec() })
}
