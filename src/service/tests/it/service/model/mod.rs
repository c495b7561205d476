//! Random calls against a plain model: sessions in a list, environments in the library's own batches, whole answers kept.
//! The service and the model must answer the same; a failure prints its seed and the call.

mod calls;

use std::time::Duration;

use bytes::Bytes;
use tetrion_core::engine::rng::{Tag, below, word};
use tetrion_core::engine::{ActionModel, Rules};
use tetrion_core::env::{EnvBatch, EnvState, Field, Restored, Role, Seeding};
use tetrion_protocol::pb;
use tetrion_service::ServerLimits;

use crate::support::numbers;

const LIMITS: ServerLimits = ServerLimits {
    max_sessions: 4,
    max_envs: 12,
    session_memory: 1 << 30,
    max_watches: 4,
    max_watches_per_caller: 4,
    max_unread_time: Duration::MAX,
    ..ServerLimits::DEFAULT
};

const TTL: u64 = 100;

struct Dice(u64, u64);

impl Dice {
    fn word(&mut self) -> u64 {
        self.1 += 1;
        word(self.0, Tag::Agent, self.1)
    }

    fn below(&mut self, bound: usize) -> usize {
        below(self.word(), bound as u64) as usize
    }
}

/// A session as the model knows it.
struct Model {
    name: String,
    batch: EnvBatch,
    sequence_number: u64,
    /// The last numbered request and its answer, if nothing has come after it.
    kept: Option<(Mutation, Changed)>,
    expires: u64,
}

/// A mutating request, without session and number.
#[derive(Clone, Debug, PartialEq)]
enum Mutation {
    Reset(Option<Vec<u32>>, Vec<u64>),
    Step(Option<Vec<u32>>, Vec<i32>),
    Restore(Option<Vec<u32>>, Vec<Bytes>, Option<u64>),
}

/// What all answers to mutating requests share, and what steps add.
#[derive(Clone, Debug, PartialEq)]
struct Changed {
    observations: Vec<Bytes>,
    mask: Bytes,
    infos: Vec<Bytes>,
    /// Rewards and both flags.
    step: Option<(Vec<f64>, Vec<f64>, Vec<f64>)>,
    final_rows: Vec<u32>,
    sequence_number: u64,
}

/// What a session shows if it names no observations, by placements and by keys.
const OBSERVATIONS: [&[Field]; 2] =
    [&[Field::Board, Field::Current], &[Field::Board, Field::Current, Field::Falling]];

/// The infos that the games of this file have.
fn infos() -> impl Iterator<Item = Field> {
    Field::with_role(Role::Info).filter(|field| field.is_of(&Rules::default()))
}

impl Model {
    fn see(&self, field: Field, env_ids: Option<&[u32]>) -> Bytes {
        let mut bytes = Vec::new();
        self.batch.observe(field, env_ids, &mut bytes);
        bytes.into()
    }

    fn changed(&self, env_ids: Option<&[u32]>) -> Changed {
        let by_keys = self.batch.config().rules.action_model == ActionModel::Keypress;
        let observations = OBSERVATIONS[usize::from(by_keys)].iter();
        Changed {
            observations: observations.map(|&field| self.see(field, env_ids)).collect(),
            mask: self.see(Field::ActionMask, env_ids),
            infos: infos().map(|field| self.see(field, env_ids)).collect(),
            step: None,
            final_rows: vec![],
            sequence_number: self.sequence_number + 1,
        }
    }

    /// Does it, or returns the reason for refusing.
    fn change(&mut self, number: u64, mutation: &Mutation) -> Result<Changed, &'static str> {
        if number != 0 && number != self.sequence_number + 1 {
            return match &self.kept {
                Some((request, answer)) if number == self.sequence_number && request == mutation => {
                    Ok(answer.clone())
                }
                _ => Err("SEQUENCE_MISMATCH"),
            };
        }
        let changed = match mutation {
            Mutation::Reset(env_ids, seeds) => {
                let env_ids = env_ids.as_deref();
                let seeding = (!seeds.is_empty()).then(|| Seeding::Seeds(seeds.clone()));
                self.batch.reset(env_ids, seeding.as_ref()).map_err(|_| "INVALID_FIELD")?;
                self.changed(env_ids)
            }
            Mutation::Step(env_ids, actions) => {
                let env_ids = env_ids.as_deref();
                use tetrion_core::env::ActionError::*;
                use tetrion_core::env::StepError::*;
                // The shape of a tensor is checked before its contents.
                let rows = env_ids.map_or(self.batch.config().num_envs as usize, <[u32]>::len);
                if actions.len() != rows {
                    return Err("INVALID_TENSOR");
                }
                let outcome = self.batch.step(actions, env_ids).map_err(|error| match error {
                    EnvIds(_) => "INVALID_FIELD",
                    WrongLength(_) => unreachable!("as many actions as rows"),
                    NotReset(_) => "NOT_RESET",
                    Action(EpisodeEnded { .. }) => "EPISODE_ENDED",
                    Action(OutOfRange { .. }) => "ACTION_OUT_OF_RANGE",
                    Action(Illegal { .. }) => "ILLEGAL_ACTION",
                })?;
                let flags = |flags: &[bool]| flags.iter().map(|&flag| f64::from(u8::from(flag))).collect();
                let rewards = outcome.rewards.iter().map(|&reward| f64::from(reward)).collect();
                Changed {
                    step: Some((rewards, flags(&outcome.terminated), flags(&outcome.truncated))),
                    final_rows: outcome.finals.rows().to_vec(),
                    ..self.changed(env_ids)
                }
            }
            Mutation::Restore(env_ids, states, reseed) => {
                let env_ids = env_ids.as_deref();
                let states: Result<Vec<EnvState>, _> =
                    states.iter().map(|bytes| EnvState::from_bytes(bytes)).collect();
                let states = states.map_err(|_| "INVALID_STATE")?;
                let rules = self.batch.config().rules;
                if states.iter().any(|state| *state.rules() != rules) {
                    return Err("RULES_MISMATCH");
                }
                let restored = Restored::States(&states);
                self.batch.restore(env_ids, restored, *reseed).map_err(|_| "INVALID_FIELD")?;
                self.changed(env_ids)
            }
        };
        self.sequence_number += 1;
        self.kept = (number != 0).then(|| (mutation.clone(), changed.clone()));
        Ok(changed)
    }
}

fn data(tensors: Vec<pb::Tensor>) -> Vec<Bytes> {
    tensors.into_iter().map(|tensor| tensor.data).collect()
}

fn from_reset(answer: pb::ResetResponse) -> Changed {
    Changed {
        observations: data(answer.observations),
        mask: answer.action_mask.expect("a mask").data,
        infos: data(answer.infos),
        step: None,
        final_rows: vec![],
        sequence_number: answer.sequence_number,
    }
}

fn from_step(answer: pb::StepResponse) -> Changed {
    let [rewards, terminated, truncated] = [answer.rewards, answer.terminated, answer.truncated];
    let flat = |tensor: Option<pb::Tensor>| numbers(&tensor.expect("a tensor"));
    Changed {
        observations: data(answer.observations),
        mask: answer.action_mask.expect("a mask").data,
        infos: data(answer.infos),
        step: Some((flat(rewards), flat(terminated), flat(truncated))),
        final_rows: answer.final_batch.map(|batch| batch.rows).unwrap_or_default(),
        sequence_number: answer.sequence_number,
    }
}

fn from_restore(answer: pb::RestoreStateResponse) -> Changed {
    let pb::RestoreStateResponse { observations, action_mask, infos, sequence_number } = answer;
    from_reset(pb::ResetResponse { observations, action_mask, infos, sequence_number })
}
