//! Sessions: environments that a server keeps for the client and steps together.
//!
//! Every call has a deadline. The client repeats a lost call until [`ConnectOptions::patience`] has run out. This is
//! safe, because calls that change something are numbered: a server that has performed one returns its answer again.
//! A session lives on one server; when that server is gone for good, so is the session, unless its states were saved.
//!
//! [`ConnectOptions::patience`]: super::ConnectOptions::patience

mod answer;
mod call;
mod digits;
mod request;
mod stream;

pub use answer::{Columns, Finals, PlacementList, Shown, Stepped};
pub use digits::ActionDigit;
pub use request::{PackedPositions, PieceSource, PlacementsRequest, SessionRequest};
pub use stream::StepStream;
pub use tetrion_protocol::rendering::{ColourScheme, RenderFormat, TextFormat};
pub use tetrion_protocol::session::{AutoresetMode, InvalidActionPolicy};

use std::time::Duration;

use bytes::Bytes;
use tonic::{Response, Status};

use super::Link;
use super::connection::LinkedServer;
use super::{Client, ClientError, RulesChoice};
use answer::{ColumnNames, missing};
use call::call;
use digits::ActionDigits;
use request::encode;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_protocol::{envs, pb, positions, rendering, tensor};

/// A session on a server.
#[derive(Debug)]
pub struct Session {
    server: LinkedServer,
    patience: Duration,
    name: String,
    num_envs: u32,
    num_actions: u32,
    digits: ActionDigits,
    names: ColumnNames,
    /// Number of the last call that changed something.
    sequence_number: u64,
}

impl Client {
    /// Makes a session on the first server.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn create_session(&self, request: &SessionRequest) -> Result<Session, ClientError> {
        let server = self.servers[0].clone();
        let mut id = [0; 16];
        getrandom::fill(&mut id).expect("the operating system has randomness");
        let ttl = request.ttl.map(prost_types::Duration::try_from).transpose();
        let message = pb::CreateSessionRequest {
            config: Some(pb::SessionConfig { min_revision: server.min_revision, ..encode(request) }),
            ttl: ttl.map_err(|_| ClientError::Answer("a lease that cannot be sent".to_owned()))?,
            // So that a repeated call finds what the lost one made.
            request_id: format!("{:032x}", u128::from_le_bytes(id)),
        };
        let made = call(&server, self.patience, message, async |mut client, request| {
            client.create_session(request).await
        })
        .await?;
        let session = made.session.ok_or_else(|| missing("session"))?;
        let num_actions = session.action_spec.as_ref().map_or(0, |spec| spec.high() as u32 + 1);
        let names = |specs: &[pb::TensorSpec]| specs.iter().map(|spec| spec.name.clone()).collect();
        Ok(Session {
            server,
            patience: self.patience,
            num_envs: session.config.as_ref().map_or(1, |config| config.num_envs),
            num_actions,
            digits: ActionDigits::decode(session.action_digits, num_actions)?,
            names: ColumnNames {
                num_actions,
                observations: names(&session.observation_specs),
                infos: names(&session.info_specs),
            },
            sequence_number: session.sequence_number,
            name: session.name,
        })
    }
}

impl Client {
    /// Lists every placement of positions outside of sessions, on the first server.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn enumerate_placements(
        &self,
        rules: &RulesChoice,
        positions: &PackedPositions,
        request: &PlacementsRequest,
    ) -> Result<PlacementList, ClientError> {
        let server = &self.servers[0];
        let source = pb::enumerate_placements_request::Source::Positions(positions.encode(rules));
        let message = request.encode(source, server.min_revision)?;
        let answer = call(server, self.patience, message, async |mut client, message| {
            client.enumerate_placements(message).await
        })
        .await?;
        PlacementList::decode(answer)
    }
}

impl Session {
    /// Name of the session, `sessions/ID`, which gives access to it.
    pub fn name(&self) -> &str {
        &self.name
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
        let (session, envs) = (self.name.clone(), envs::encode(env_ids));
        let seeding = seeding.map(PieceSource::encode);
        let sequence_number = self.sequence_number + 1;
        let request = pb::ResetRequest { session, envs, seeding, sequence_number };
        let answer = self.call(request, async |mut client, request| client.reset(request).await).await?;
        self.sequence_number = answer.sequence_number;
        self.names.seen(answer.observations, answer.infos, answer.action_mask.as_ref())
    }

    /// Performs an action in each of these environments; `None` means all.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn step(&mut self, actions: &[i32], env_ids: Option<&[u32]>) -> Result<Stepped, ClientError> {
        let request = self.step_request(actions, env_ids, self.sequence_number + 1);
        let answer = self.call(request, async |mut client, request| client.step(request).await).await?;
        self.sequence_number = answer.sequence_number;
        self.names.stepped(answer)
    }

    /// Draws environments as text; `None` means all.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn render(
        &self,
        format: impl Into<TextFormat>,
        env_ids: Option<&[u32]>,
    ) -> Result<Vec<String>, ClientError> {
        let (session, envs) = (self.name.clone(), envs::encode(env_ids));
        let request = rendering::text_request(session, envs, format.into());
        let answer = self.call(request, async |mut client, request| client.render(request).await).await?;
        Ok(answer.frames)
    }

    /// Takes snapshots of environments; `None` means all.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn save_state(&self, env_ids: Option<&[u32]>) -> Result<Vec<Bytes>, ClientError> {
        let request = pb::SaveStateRequest { session: self.name.clone(), envs: envs::encode(env_ids) };
        let answer = self.call(request, async |mut client, request| client.save_state(request).await).await?;
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
        let request = pb::RestoreStateRequest {
            session: self.name.clone(),
            envs: envs::encode(env_ids),
            positions: Some(positions::from_snapshots(states.to_vec())),
            reseed,
            sequence_number: self.sequence_number + 1,
        };
        let answer =
            self.call(request, async |mut client, request| client.restore_state(request).await).await?;
        self.sequence_number = answer.sequence_number;
        self.names.seen(answer.observations, answer.infos, answer.action_mask.as_ref())
    }

    /// Lists every placement of the current pieces of environments; `None` means all.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn enumerate_placements(
        &self,
        env_ids: Option<&[u32]>,
        request: &PlacementsRequest,
    ) -> Result<PlacementList, ClientError> {
        let envs = pb::SessionEnvs { session: self.name.clone(), envs: envs::encode(env_ids) };
        let source = pb::enumerate_placements_request::Source::SessionEnvs(envs);
        let message = request.encode(source, self.server.min_revision)?;
        let answer = self
            .call(message, async |mut client, message| client.enumerate_placements(message).await)
            .await?;
        PlacementList::decode(answer)
    }

    /// Renews the lease, and gets the number of the last call that changed something. Without this, the server
    /// refuses the next call after a [`StepStream`] broke with steps in progress.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn renew(&mut self) -> Result<(), ClientError> {
        let request = pb::GetSessionRequest { name: self.name.clone() };
        let answer =
            self.call(request, async |mut client, request| client.get_session(request).await).await?;
        self.sequence_number = answer.session.ok_or_else(|| missing("session"))?.sequence_number;
        Ok(())
    }

    /// Ends the session.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient; a session that has already
    /// ended is not an error.
    pub async fn delete(self) -> Result<(), ClientError> {
        let request = pb::DeleteSessionRequest { name: self.name.clone(), allow_missing: true };
        self.call(request, async |mut client, request| client.delete_session(request).await).await.map(drop)
    }

    async fn call<Q: Clone, A>(
        &self,
        message: Q,
        send: impl AsyncFn(EnvironmentServiceClient<Link>, tonic::Request<Q>) -> Result<Response<A>, Status>,
    ) -> Result<A, ClientError> {
        call(&self.server, self.patience, message, send).await
    }

    fn step_request(
        &self,
        actions: &[i32],
        env_ids: Option<&[u32]>,
        sequence_number: u64,
    ) -> pb::StepRequest {
        let actions = Some(tensor::encode(vec![actions.len() as u32], actions));
        let (session, envs) = (self.name.clone(), envs::encode(env_ids));
        pb::StepRequest { session, actions, envs, sequence_number, text_actions: Vec::new() }
    }
}
