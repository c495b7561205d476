//! An environment as dm_env_rpc sees it: a sequence of states, from one episode to the next.
//!
//! No call of that protocol starts an episode: the step after the end of one does, and its actions are ignored. So the
//! end of an episode, a reset, and a new world have the same effect: the next step is a first step.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tetrion_core::env::{EnvBatch, Seeding, StepOutcome};
use tetrion_protocol::dm_env_rpc::pb;
use tetrion_protocol::dm_env_rpc::pb::EnvironmentStateType as StateType;
use tetrion_protocol::dm_env_rpc::specs::{Observation, decode_action, decode_wanted};
use tetrion_protocol::dm_env_rpc::tensor;

use super::refusal::Refusal;

/// The state of a world between two steps.
#[derive(Debug, Default)]
pub(super) struct World {
    phase: Phase,
    /// Seeding of the next episode, if a reset specified one.
    seeding: Option<Seeding>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// No episode is running, and a joined agent knows that: the next step starts one.
    #[default]
    Between,
    Running,
    /// A client ended the episode from outside: the next step only reports that.
    Cut,
}

impl World {
    /// Resets the world for its agent.
    pub fn reset(&mut self, seeding: Option<Seeding>) {
        *self = World { phase: Phase::Between, seeding };
    }

    /// Ends the episode from outside. An agent in the middle of it learns about that from its next step.
    pub fn cut(&mut self, seeding: Option<Seeding>) {
        let phase = if self.phase == Phase::Between { Phase::Between } else { Phase::Cut };
        *self = World { phase, seeding };
    }

    /// Performs a step, or starts an episode. A refused step changes nothing. Without a step of the environment, the
    /// outcome is empty.
    pub fn step(
        &mut self,
        batch: &mut EnvBatch,
        request: &pb::StepRequest,
    ) -> Result<(pb::StepResponse, StepOutcome), Refusal> {
        let wanted = decode_wanted(batch, &request.requested_observations)?;
        let mut outcome = StepOutcome::default();
        let state = match self.phase {
            Phase::Between => {
                batch.reset(None, self.seeding.as_ref())?;
                self.seeding = None;
                StateType::Running
            }
            Phase::Cut => StateType::Interrupted,
            // A call on the session ended the episode.
            Phase::Running if batch.has_ended(0) => StateType::Interrupted,
            Phase::Running => {
                outcome = batch.step(&[decode_action(&request.actions)?], None)?;
                match (outcome.terminated[0], outcome.truncated[0]) {
                    (true, _) => StateType::Terminated,
                    (false, true) => StateType::Interrupted,
                    (false, false) => StateType::Running,
                }
            }
        };
        self.phase = if state == StateType::Running { Phase::Running } else { Phase::Between };
        let reward = outcome.rewards.first().copied().unwrap_or_default();
        let observe = |observation| match observation {
            Observation::Reward => tensor::float(reward),
            Observation::Field(field) => {
                let spec = batch.spec(field);
                let mut data = Vec::new();
                batch.observe(field, None, &mut data);
                tensor::from_bytes(spec.dtype, &spec.shape, data)
            }
        };
        let observations = wanted.into_iter().map(|(uid, observation)| (uid, observe(observation)));
        let observations = observations.collect();
        Ok((pb::StepResponse { state: state.into(), observations }, outcome))
    }
}

/// Whether an agent is in a world, and whether its creator is still connected.
///
/// The world ends when its creator has left and its last agent leaves.
#[derive(Debug)]
pub(super) struct Door(Mutex<Presence>);

#[derive(Clone, Copy, Debug)]
struct Presence {
    joined: bool,
    maker: bool,
    closed: bool,
}

impl Door {
    /// The door of a new world: its creator is connected, and no agent is in it.
    pub fn new() -> Door {
        Door(Mutex::new(Presence { joined: false, maker: true, closed: false }))
    }

    /// Lets an agent in; false if the world already has an agent, or has ended.
    pub fn enter(&self) -> bool {
        let mut presence = self.presence();
        let free = !presence.joined && !presence.closed;
        presence.joined |= free;
        free
    }

    /// Lets the agent leave; true if that ends the world.
    pub fn leave(&self) -> bool {
        let mut presence = self.presence();
        presence.joined = false;
        presence.closed |= !presence.maker;
        presence.closed
    }

    /// Notes that the creator's connection has ended; true if that ends the world.
    pub fn abandon(&self) -> bool {
        let mut presence = self.presence();
        presence.maker = false;
        presence.closed |= !presence.joined;
        presence.closed
    }

    /// Closes the world to agents; false if an agent is in it.
    pub fn close(&self) -> bool {
        let mut presence = self.presence();
        presence.closed |= !presence.joined;
        presence.closed
    }

    fn presence(&self) -> MutexGuard<'_, Presence> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
