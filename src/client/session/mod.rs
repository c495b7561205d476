//! Sessions: environments that a server keeps for the client and steps together.
//!
//! Every call has a deadline. The client repeats a call whose server went away until [`ConnectOptions::patience`] has run
//! out. This is safe, because calls that change something are numbered: a server that has performed one returns its
//! answer again. A session lives in the memory of one server. If that is killed and started again, the client makes the
//! session again from snapshots and the calls since, and goes on as if nothing had been.
//!
//! [`Session`] has the plain types of Rust; [`HeldSession`] is the same in messages, for callers that read and write them.
//!
//! [`ConnectOptions::patience`]: super::ConnectOptions::patience

mod answer;
mod call;
mod digits;
mod held;
mod journal;
mod message;
mod request;
mod stream;

pub use answer::{Columns, Finals, PlacementList, Shown, Stepped};
pub use digits::ActionDigit;
pub use held::HeldSession;
pub use message::{Answered, Asked, CallKind, ENUMERATE_PLACEMENTS, KINDS, STEP};
pub use request::{PackedPositions, PieceSource, PlacementsRequest, SessionRequest};
pub use stream::{SessionStream, StepStream};
pub use tetrion_protocol::rendering::{ColourScheme, RenderFormat, TextFormat};
pub use tetrion_protocol::session::{AutoresetMode, InvalidActionPolicy};

use bytes::Bytes;

use super::{Client, ClientError, RulesChoice};
use answer::ColumnNames;
use call::{answer, patiently, request};
use digits::ActionDigits;
use message::{RESET, RESTORE_STATE, SAVE_STATE};
use request::encode;
use tetrion_protocol::{envs, pb, positions, rendering, tensor};

/// A session on a server.
#[derive(Debug)]
pub struct Session {
    held: HeldSession,
    num_envs: u32,
    num_actions: u32,
    digits: ActionDigits,
    names: ColumnNames,
}

impl Client {
    /// Makes a session on the first server.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn create_session(&self, request: &SessionRequest) -> Result<Session, ClientError> {
        let min_revision = self.servers[0].min_revision;
        let ttl = request.ttl.map(prost_types::Duration::try_from).transpose();
        let creation = pb::CreateSessionRequest {
            config: Some(pb::SessionConfig { min_revision, ..encode(request) }),
            ttl: ttl.map_err(|_| ClientError::Answer("a lease that cannot be sent".to_owned()))?,
            ..Default::default()
        };
        let held = HeldSession::create(self, creation, request.snapshot_every).await?;
        let session = held.description();
        let num_actions = session.action_spec.as_ref().map_or(0, |spec| spec.high() as u32 + 1);
        let names = |specs: &[pb::TensorSpec]| specs.iter().map(|spec| spec.name.clone()).collect();
        Ok(Session {
            num_envs: session.config.as_ref().map_or(1, |config| config.num_envs),
            num_actions,
            digits: ActionDigits::decode(session.action_digits.clone(), num_actions)?,
            names: ColumnNames {
                num_actions,
                observations: names(&session.observation_specs),
                infos: names(&session.info_specs),
            },
            held,
        })
    }

    /// Lists every placement of positions outside of sessions, on the first server.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn enumerate_placements(
        &self,
        rules: &RulesChoice,
        positions: &PackedPositions,
        wanted: &PlacementsRequest,
    ) -> Result<PlacementList, ClientError> {
        let (server, settings) = (&self.servers[0], &self.settings);
        let source = pb::enumerate_placements_request::Source::Positions(positions.encode(rules));
        let message = wanted.encode(source, server.min_revision)?;
        let answered = patiently(settings, async || {
            let call = request(server, settings, message.clone());
            answer(server, settings, server.environments().enumerate_placements(call)).await
        });
        PlacementList::decode(answered.await?)
    }
}

impl Session {
    /// Name of the session, `sessions/ID`, which gives access to it.
    pub fn name(&self) -> &str {
        self.held.name()
    }

    /// Number of environments, fixed when the session was created.
    pub fn num_envs(&self) -> u32 {
        self.num_envs
    }

    /// Number of actions; actions are the numbers below it.
    pub fn num_actions(&self) -> u32 {
        self.num_actions
    }

    /// The digits of an action, the most significant first.
    pub fn action_digits(&self) -> &[ActionDigit] {
        self.digits.as_slice()
    }

    /// The digits of an action, in the order of [`Session::action_digits`]; `None` if there is no such action.
    pub fn decode_action(&self, action: u32) -> Option<Vec<u32>> {
        self.digits.values_of(action)
    }

    /// The action with these digits, in the order of [`Session::action_digits`]; `None` if their number is wrong or one of
    /// them is too large.
    pub fn encode_action(&self, digits: &[u32]) -> Option<u32> {
        self.digits.action_of(digits)
    }

    /// Starts episodes; `None` means in all environments. They are episodes 0 of a seeding, or without one the next episodes.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn reset(
        &mut self,
        env_ids: Option<&[u32]>,
        seeding: Option<&PieceSource>,
    ) -> Result<Shown, ClientError> {
        self.restart(env_ids, seeding, false).await
    }

    /// Starts the mirrored matches of those that [`Session::reset`] starts: each side has the holes of the other.
    ///
    /// # Errors
    /// If the server refuses, as under rules of one player, or has not answered for as long as the client is patient.
    pub async fn reset_mirrored(
        &mut self,
        env_ids: Option<&[u32]>,
        seeding: Option<&PieceSource>,
    ) -> Result<Shown, ClientError> {
        self.restart(env_ids, seeding, true).await
    }

    async fn restart(
        &mut self,
        env_ids: Option<&[u32]>,
        seeding: Option<&PieceSource>,
        swap_sides: bool,
    ) -> Result<Shown, ClientError> {
        let (envs, seeding) = (envs::encode(env_ids), seeding.map(PieceSource::encode));
        let request = pb::ResetRequest { envs, seeding, swap_sides, ..Default::default() };
        let answer: pb::ResetResponse = self.held.call(Asked::new(&RESET, &request)).await?.decode()?;
        self.names.seen(answer.observations, answer.infos, answer.action_mask.as_ref())
    }

    /// Performs an action in each of these environments; `None` means all.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn step(&mut self, actions: &[i32], env_ids: Option<&[u32]>) -> Result<Stepped, ClientError> {
        let answered = self.held.call(step(actions, env_ids)).await?;
        self.names.stepped(answered.decode()?)
    }

    /// Draws environments as text; `None` means all.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn render(
        &mut self,
        format: impl Into<TextFormat>,
        env_ids: Option<&[u32]>,
    ) -> Result<Vec<String>, ClientError> {
        let request = rendering::text_request(String::new(), envs::encode(env_ids), format.into());
        Ok(self.held.render(request).await?.frames)
    }

    /// Takes snapshots of environments; `None` means all.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn save_state(&mut self, env_ids: Option<&[u32]>) -> Result<Vec<Bytes>, ClientError> {
        let request = pb::SaveStateRequest { envs: envs::encode(env_ids), ..Default::default() };
        let answer: pb::SaveStateResponse =
            self.held.call(Asked::new(&SAVE_STATE, &request)).await?.decode()?;
        Ok(answer.states)
    }

    /// Restores environments from snapshots: one per environment, or one for all; `reseed` changes the future. `None`
    /// means all environments.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn restore_state(
        &mut self,
        env_ids: Option<&[u32]>,
        states: &[Bytes],
        reseed: Option<u64>,
    ) -> Result<Shown, ClientError> {
        let (envs, positions) = (envs::encode(env_ids), Some(positions::from_snapshots(states.to_vec())));
        let request = pb::RestoreStateRequest { envs, positions, reseed, ..Default::default() };
        let answered = self.held.call(Asked::new(&RESTORE_STATE, &request)).await?;
        let answer: pb::RestoreStateResponse = answered.decode()?;
        self.names.seen(answer.observations, answer.infos, answer.action_mask.as_ref())
    }

    /// Lists every placement of the current pieces of environments; `None` means all.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn enumerate_placements(
        &mut self,
        env_ids: Option<&[u32]>,
        wanted: &PlacementsRequest,
    ) -> Result<PlacementList, ClientError> {
        let envs = pb::SessionEnvs { envs: envs::encode(env_ids), ..Default::default() };
        let source = pb::enumerate_placements_request::Source::SessionEnvs(envs);
        let message = wanted.encode(source, self.held.server().min_revision)?;
        let answered = self.held.call(Asked::new(&ENUMERATE_PLACEMENTS, &message)).await?;
        PlacementList::decode(answered.decode()?)
    }

    /// Renews the lease. If another caller has changed the session, this one goes on from there.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn renew(&mut self) -> Result<(), ClientError> {
        self.held.renew().await
    }

    /// Ends the session, in one attempt.
    ///
    /// # Errors
    /// If the server refuses or does not answer; a session that has already ended is not an error.
    pub async fn delete(mut self) -> Result<(), ClientError> {
        self.held.delete().await
    }
}

/// A step of these environments; `None` for all.
fn step(actions: &[i32], env_ids: Option<&[u32]>) -> Asked {
    let actions = Some(tensor::encode(vec![actions.len() as u32], actions));
    Asked::new(&STEP, &pb::StepRequest { actions, envs: envs::encode(env_ids), ..Default::default() })
}
