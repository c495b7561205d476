//! Splits a whole batch into environments and reassembles it, including environments that have not started an episode.

use std::sync::Arc;

use crate::engine::PieceSequence;
use crate::engine::randomizer::DealerSource;

use super::columns::{AnyEnvs, EpisodePhase, each_size};
use super::{CreateError, EnvBatch, EnvConfig, EnvState, RestoreError, Restored, Seeding};

/// An environment of a batch, whether or not it has started an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum EnvSlot {
    /// An episode has started, and may have ended.
    Begun(Box<EnvState>),
    /// No episode has started; the environment has this seed.
    Seeded(u64),
    /// No episode has started; the environment deals this explicit sequence.
    Sequenced(Arc<PieceSequence>),
}

/// The reason why environments do not form a batch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SlotsError {
    /// The configuration or the number of environments is invalid.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// A state belongs to other rules.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// Some environments have seeds, others explicit sequences. A batch cannot start with both.
    #[error("some environments have seeds before their first episode, others explicit sequences")]
    Mixed,
}

impl EnvBatch {
    /// The current state of an environment.
    ///
    /// # Panics
    /// If the environment does not exist.
    pub fn slot(&self, env_id: u32) -> EnvSlot {
        let i = env_id as usize;
        each_size!(&self.envs, envs => match (envs.phases[i], envs.dealers[i].state(&self.config.rules.pieces).source) {
            (EpisodePhase::NotStarted, DealerSource::Sequence(sequence)) => EnvSlot::Sequenced(sequence),
            (EpisodePhase::NotStarted, DealerSource::Seed { .. } | DealerSource::OtherSeed { .. }) => EnvSlot::Seeded(envs.episodes[i].env_seed),
            (EpisodePhase::Running | EpisodePhase::Ended(_), _) => EnvSlot::Begun(Box::new(self.state(env_id))),
        })
    }

    /// Creates a batch from these environments. It continues like the batch that they come from.
    ///
    /// # Errors
    /// [`SlotsError`] if the environments do not form a batch.
    pub fn from_slots(config: EnvConfig, slots: Vec<EnvSlot>) -> Result<EnvBatch, SlotsError> {
        let mut batch = EnvBatch::new(config, &seeding(&slots)?)?;
        let (mut env_ids, mut states) = (Vec::new(), Vec::new());
        for (slot, env_id) in slots.into_iter().zip(0..) {
            if let EnvSlot::Begun(state) = slot {
                env_ids.push(env_id);
                states.push(*state);
            }
        }
        if !states.is_empty() {
            batch.restore(Some(&env_ids), Restored::States(&states), None)?;
        }
        Ok(batch)
    }
}

/// The seeding of environments that have not started an episode. The states of the others contain their source of
/// pieces.
fn seeding(slots: &[EnvSlot]) -> Result<Seeding, SlotsError> {
    let sequence = |slot: &EnvSlot| match slot {
        EnvSlot::Sequenced(sequence) => Some(sequence.clone()),
        EnvSlot::Begun(_) | EnvSlot::Seeded(_) => None,
    };
    let seed = |slot: &EnvSlot| match slot {
        EnvSlot::Seeded(seed) => Some(*seed),
        EnvSlot::Begun(_) | EnvSlot::Sequenced(_) => None,
    };
    match slots.iter().find_map(sequence) {
        Some(_) if slots.iter().any(|slot| seed(slot).is_some()) => Err(SlotsError::Mixed),
        Some(any) => Ok(Seeding::PieceSequences(
            slots.iter().map(|slot| sequence(slot).unwrap_or(any.clone())).collect(),
        )),
        None => Ok(Seeding::Seeds(slots.iter().map(|slot| seed(slot).unwrap_or(0)).collect())),
    }
}
