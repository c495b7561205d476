//! Sessions: environments that a server keeps for us and steps together.
//!
//! Every call has a deadline, and one that is lost on the way is made again until [`ConnectOptions::patience`] has run out.
//! That is safe, because calls that move something are numbered: a server that has done one already gives its answer again.
//! A session lives on one server; when that server is gone for good, so is the session, unless its states were saved.
//!
//! [`ConnectOptions::patience`]: super::ConnectOptions::patience

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Response, Status, Streaming};

use super::{
    CALL_TIMEOUT, Client, ClientError, FIRST_REST, Features, LONGEST_REST, RulesChoice, Server, error,
};
use crate::wire::limits::MAX_RESPONSE_BYTES;
use crate::wire::pb;
use crate::wire::pb::environment_service_client::EnvironmentServiceClient;
use crate::wire::pb::step_stream_request::Request as Asked;
use crate::wire::pb::step_stream_response::Response as Answered;
use crate::wire::tensor::{self, Array, Dim, Element};

/// Steps that may be under way on a stream at a time.
const IN_FLIGHT: usize = 64;

/// What a session is to be made of; what is left out is the server's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionRequest {
    /// The rules.
    pub rules: RulesChoice,
    /// Environments; 0 for one.
    pub num_envs: u32,
    /// The session seed; the server draws one where there is none.
    pub seed: Option<u64>,
    /// What happens after the end of an episode.
    pub autoreset: Autoreset,
    /// The observations wanted, by the names the server lists; none for its choice.
    pub observations: Vec<String>,
    /// The columns of the observation `features`, and of placements.
    pub features: Option<Features>,
    /// Whether answers hold masks.
    pub action_mask: bool,
    /// Episodes are cut after so many steps; 0 for no limit.
    pub max_episode_steps: u64,
    /// How long the session stays when nobody calls.
    pub ttl: Option<Duration>,
}

/// What happens to an environment whose episode has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Autoreset {
    /// Its next step begins a new one.
    #[default]
    NextStep,
    /// The same step begins a new one; [`Stepped::finals`] has the end of the old one.
    SameStep,
    /// Nothing: stepping it is refused until it is reset.
    Disabled,
}

/// Which episodes a reset begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// The next ones.
    Next,
    /// Episode 0 of a seed for each environment of the call.
    Seeds(Vec<u64>),
    /// Explicit pieces as letters, one text for each environment of the call or one for all.
    Pieces(Vec<String>),
}

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// `#` and `.`.
    Ascii,
    /// As in the course notebook.
    Lab,
    /// As in the Leiden report.
    Leiden,
    /// In colour, for a terminal.
    Ansi,
}

/// Columns with names: one row for each environment of a call.
#[derive(Clone, Debug)]
pub struct Columns {
    names: Arc<[String]>,
    tensors: Vec<pb::Tensor>,
}

impl Columns {
    /// The names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The numbers of a column.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if there is no such column, or its numbers are of another type.
    pub fn column<T: Element>(&self, name: &str) -> Result<Array<T>, ClientError> {
        let position = self.names.iter().position(|known| known == name);
        let tensor = position.and_then(|position| self.tensors.get(position));
        let tensor = tensor.ok_or_else(|| ClientError::Answer(format!("it has no column {name:?}")))?;
        decode(Some(tensor), name)
    }
}

/// What environments show after a call.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The observations that were asked for.
    pub observations: Columns,
    /// Statistics of the episodes.
    pub infos: Columns,
    /// Which actions exist, row by row; empty unless it was asked for.
    pub action_mask: Vec<bool>,
}

/// What a step brought: one entry for each environment of the call.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// What the environments show now.
    pub seen: Seen,
    /// Points.
    pub rewards: Vec<f32>,
    /// Whether the rules ended the episode.
    pub terminated: Vec<bool>,
    /// Whether a limit cut it.
    pub truncated: Vec<bool>,
    /// The ends of episodes whose rows show the next one already.
    pub finals: Option<Finals>,
}

/// The ends of episodes.
#[derive(Clone, Debug)]
pub struct Finals {
    /// Their rows in the step.
    pub rows: Vec<u32>,
    /// What was to be seen last.
    pub observations: Columns,
    /// What they came to.
    pub infos: Columns,
}

/// What pieces can do: rows of all environments of a call, those of the first one first.
#[derive(Clone, Debug, PartialEq)]
pub struct Placements {
    /// The rows of environment i are those from entry i up to entry i + 1.
    pub row_offsets: Vec<u32>,
    /// What to step with.
    pub actions: Vec<i32>,
    /// Points.
    pub rewards: Vec<f32>,
    /// Lines cleared.
    pub lines: Vec<u8>,
    /// Whether the game ends.
    pub terminal: Vec<bool>,
    /// The features, a row for each placement; empty without a selection.
    pub features: Array<f32>,
    /// Their names.
    pub feature_names: Vec<String>,
}

/// A session on a server.
#[derive(Debug)]
pub struct Session {
    server: Server,
    patience: Duration,
    name: String,
    num_envs: u32,
    num_actions: u32,
    observations: Arc<[String]>,
    infos: Arc<[String]>,
    /// Of the last call that moved something.
    sequence: u64,
}

impl Client {
    /// Makes a session on the first server.
    ///
    /// # Errors
    /// What the server refuses, or that it has not answered for as long as the client is patient.
    pub async fn create_session(&self, request: &SessionRequest) -> Result<Session, ClientError> {
        let server = self.servers[0].clone();
        let mut id = [0; 16];
        getrandom::fill(&mut id).expect("the operating system has randomness");
        let ttl = request.ttl.map(prost_types::Duration::try_from).transpose();
        let message = pb::CreateSessionRequest {
            config: Some(encode(request)),
            ttl: ttl.map_err(|_| ClientError::Answer("a lease that cannot be sent".to_owned()))?,
            // So that a call made again finds what the lost one made.
            request_id: format!("{:032x}", u128::from_le_bytes(id)),
        };
        let made = call(&server, self.patience, message, async |mut client, request| {
            client.create_session(request).await
        })
        .await?;
        let session = made.session.ok_or_else(|| missing("session"))?;
        let names = |specs: &[pb::TensorSpec]| specs.iter().map(|spec| spec.name.clone()).collect();
        Ok(Session {
            server,
            patience: self.patience,
            num_envs: session.config.as_ref().map_or(1, pb::SessionConfig::num_envs),
            num_actions: session.action_spec.as_ref().map_or(0, |spec| spec.high() as u32 + 1),
            observations: names(&session.observation_specs),
            infos: names(&session.info_specs),
            sequence: session.sequence,
            name: session.name,
        })
    }
}

impl Session {
    /// `sessions/ID`: whoever knows it may use the session.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Environments.
    pub fn num_envs(&self) -> u32 {
        self.num_envs
    }

    /// Actions are the numbers below this one.
    pub fn num_actions(&self) -> u32 {
        self.num_actions
    }

    /// Begins episodes, in all environments where none are named.
    ///
    /// # Errors
    /// As every call here: what the server refuses, or that it has not answered for as long as the client is patient.
    pub async fn reset(&mut self, env_ids: &[u32], start: Start) -> Result<Seen, ClientError> {
        let (seeds, piece_sequences) = match start {
            Start::Next => (vec![], vec![]),
            Start::Seeds(seeds) => (seeds, vec![]),
            Start::Pieces(pieces) => (vec![], pieces),
        };
        let env_ids = env_ids.to_vec();
        let sequence = self.sequence + 1;
        let request =
            pb::ResetRequest { session: self.name.clone(), env_ids, seeds, piece_sequences, sequence };
        let answer = self.call(request, async |mut client, request| client.reset(request).await).await?;
        self.sequence = answer.sequence;
        self.seen(answer.observations, answer.infos, answer.action_mask.as_ref())
    }

    /// Does an action in each environment, or in those that are named.
    ///
    /// # Errors
    /// As [`Session::reset`].
    pub async fn step(&mut self, actions: &[i32], env_ids: &[u32]) -> Result<Stepped, ClientError> {
        let request = self.step_request(actions, env_ids, self.sequence + 1);
        let answer = self.call(request, async |mut client, request| client.step(request).await).await?;
        self.sequence = answer.sequence;
        self.stepped(answer)
    }

    /// Opens a stream for steps, several of which may be under way at a time.
    ///
    /// # Errors
    /// As [`Session::reset`].
    pub async fn stream(&mut self) -> Result<StepStream<'_>, ClientError> {
        let (requests, receiver) = mpsc::channel(IN_FLIGHT);
        let request = self.server.request(ReceiverStream::new(receiver));
        let answers = client(&self.server).step_stream(request).await;
        let answers = answers.map_err(|status| self.server.error(&status))?.into_inner();
        Ok(StepStream {
            next: self.sequence + 1,
            session: self,
            requests,
            answers,
            under_way: VecDeque::new(),
        })
    }

    /// Draws environments.
    ///
    /// # Errors
    /// As [`Session::reset`].
    pub async fn render(&self, picture: Picture, env_ids: &[u32]) -> Result<Vec<String>, ClientError> {
        let format = match picture {
            Picture::Ascii => pb::RenderFormat::Ascii,
            Picture::Lab => pb::RenderFormat::Lab,
            Picture::Leiden => pb::RenderFormat::Leiden,
            Picture::Ansi => pb::RenderFormat::Ansi,
        };
        let env_ids = env_ids.to_vec();
        let request = pb::RenderRequest { session: self.name.clone(), env_ids, format: format.into() };
        let answer = self.call(request, async |mut client, request| client.render(request).await).await?;
        Ok(answer.frames)
    }

    /// Takes snapshots.
    ///
    /// # Errors
    /// As [`Session::reset`].
    pub async fn save(&self, env_ids: &[u32]) -> Result<Vec<Bytes>, ClientError> {
        let request = pb::SaveStateRequest { session: self.name.clone(), env_ids: env_ids.to_vec() };
        let answer = self.call(request, async |mut client, request| client.save_state(request).await).await?;
        Ok(answer.states)
    }

    /// Puts environments back to snapshots: one for each, or one for all; with `reseed`, under another future.
    ///
    /// # Errors
    /// As [`Session::reset`].
    pub async fn restore(
        &mut self,
        env_ids: &[u32],
        states: &[Bytes],
        reseed: Option<u64>,
    ) -> Result<Seen, ClientError> {
        let request = pb::RestoreStateRequest {
            session: self.name.clone(),
            env_ids: env_ids.to_vec(),
            positions: Some(pb::Positions { states: states.to_vec(), ..Default::default() }),
            reseed,
            sequence: self.sequence + 1,
        };
        let answer =
            self.call(request, async |mut client, request| client.restore_state(request).await).await?;
        self.sequence = answer.sequence;
        self.seen(answer.observations, answer.infos, answer.action_mask.as_ref())
    }

    /// Lists every placement of the current pieces, with features of the session's selection or of this one.
    ///
    /// # Errors
    /// As [`Session::reset`].
    pub async fn enumerate(
        &self,
        env_ids: &[u32],
        features: Option<&Features>,
    ) -> Result<Placements, ClientError> {
        let envs = pb::SessionEnvs { session: self.name.clone(), env_ids: env_ids.to_vec() };
        let request = pb::EnumeratePlacementsRequest {
            source: Some(pb::enumerate_placements_request::Source::SessionEnvs(envs)),
            features: features.map(Features::encode),
            max_response_bytes: MAX_RESPONSE_BYTES,
            ..Default::default()
        };
        let answer = self
            .call(request, async |mut client, request| client.enumerate_placements(request).await)
            .await?;
        Ok(Placements {
            row_offsets: decode(answer.row_offsets.as_ref(), "row_offsets")?.elements,
            actions: decode(answer.actions.as_ref(), "actions")?.elements,
            rewards: decode(answer.rewards.as_ref(), "rewards")?.elements,
            lines: decode(answer.lines.as_ref(), "lines")?.elements,
            terminal: flags(answer.terminal.as_ref()),
            features: match &answer.features {
                Some(features) => decode(Some(features), "features")?,
                None => Array { shape: vec![0, 0], elements: vec![] },
            },
            feature_names: answer.feature_columns.map(|columns| columns.names).unwrap_or_default(),
        })
    }

    /// Tells the server that the session is still wanted.
    ///
    /// # Errors
    /// As [`Session::reset`].
    pub async fn renew(&self) -> Result<(), ClientError> {
        let request = pb::GetSessionRequest { name: self.name.clone() };
        self.call(request, async |mut client, request| client.get_session(request).await).await.map(drop)
    }

    /// Ends the session.
    ///
    /// # Errors
    /// As [`Session::reset`]; one that has ended already is fine.
    pub async fn delete(self) -> Result<(), ClientError> {
        let request = pb::DeleteSessionRequest { name: self.name.clone(), allow_missing: true };
        self.call(request, async |mut client, request| client.delete_session(request).await).await.map(drop)
    }

    async fn call<Q: Clone, A>(
        &self,
        message: Q,
        send: impl AsyncFn(EnvironmentServiceClient<Channel>, tonic::Request<Q>) -> Result<Response<A>, Status>,
    ) -> Result<A, ClientError> {
        call(&self.server, self.patience, message, send).await
    }

    fn step_request(&self, actions: &[i32], env_ids: &[u32], sequence: u64) -> pb::StepRequest {
        let actions = Some(tensor::encode(vec![actions.len() as u32], actions));
        pb::StepRequest { session: self.name.clone(), actions, env_ids: env_ids.to_vec(), sequence }
    }

    fn columns(&self, names: &Arc<[String]>, tensors: Vec<pb::Tensor>) -> Result<Columns, ClientError> {
        if tensors.len() != names.len() {
            let problem = format!("it has {} columns, expected {}", tensors.len(), names.len());
            return Err(ClientError::Answer(problem));
        }
        Ok(Columns { names: names.clone(), tensors })
    }

    fn seen(
        &self,
        observations: Vec<pb::Tensor>,
        infos: Vec<pb::Tensor>,
        mask: Option<&pb::Tensor>,
    ) -> Result<Seen, ClientError> {
        Ok(Seen {
            observations: self.columns(&self.observations, observations)?,
            infos: self.columns(&self.infos, infos)?,
            action_mask: flags(mask),
        })
    }

    fn stepped(&self, answer: pb::StepResponse) -> Result<Stepped, ClientError> {
        let finals = match answer.final_batch {
            Some(finals) => Some(Finals {
                rows: finals.rows,
                observations: self.columns(&self.observations, finals.observations)?,
                infos: self.columns(&self.infos, finals.infos)?,
            }),
            None => None,
        };
        Ok(Stepped {
            seen: self.seen(answer.observations, answer.infos, answer.action_mask.as_ref())?,
            rewards: decode(answer.rewards.as_ref(), "rewards")?.elements,
            terminated: flags(answer.terminated.as_ref()),
            truncated: flags(answer.truncated.as_ref()),
            finals,
        })
    }
}

/// Steps over one long call. When it breaks, the session goes on where the last answer came from: what was sent behind that
/// may have been done or not, and [`Session::restore`] is the way back.
#[derive(Debug)]
pub struct StepStream<'a> {
    session: &'a mut Session,
    next: u64,
    requests: mpsc::Sender<pb::StepStreamRequest>,
    answers: Streaming<pb::StepStreamResponse>,
    /// The numbers of the steps that have no answer yet.
    under_way: VecDeque<u64>,
}

impl StepStream<'_> {
    /// Sends a step on its way; waits while there are 64 before it.
    ///
    /// # Errors
    /// [`ClientError::Lost`] if the stream has ended.
    pub async fn send(&mut self, actions: &[i32], env_ids: &[u32]) -> Result<(), ClientError> {
        let step = self.session.step_request(actions, env_ids, self.next);
        let sent = self.requests.send(pb::StepStreamRequest { request: Some(Asked::Step(step)) }).await;
        sent.map_err(|_| self.lost("the stream has ended"))?;
        self.under_way.push_back(self.next);
        self.next += 1;
        Ok(())
    }

    /// The answer of the step that was sent first of those that have none; nothing if all have.
    ///
    /// # Errors
    /// What the server refuses, after which the steps behind it are refused as well, for their numbers; or
    /// [`ClientError::Lost`] if the stream broke, or no answer came in half a minute.
    pub async fn next(&mut self) -> Result<Option<Stepped>, ClientError> {
        if self.under_way.pop_front().is_none() {
            return Ok(None);
        }
        let Ok(answer) = tokio::time::timeout(CALL_TIMEOUT, self.answers.message()).await else {
            return Err(self.lost("no answer came in time"));
        };
        let answer = answer.map_err(|status| self.session.server.error(&status))?;
        match answer.and_then(|answer| answer.response) {
            Some(Answered::Step(step)) => {
                self.session.sequence = step.sequence;
                self.session.stepped(step).map(Some)
            }
            Some(Answered::Error(refused)) => {
                if self.under_way.is_empty() {
                    self.next = self.session.sequence + 1;
                }
                let details = prost::Message::encode_to_vec(&refused).into();
                let status = Status::with_details(refused.code.into(), refused.message, details);
                Err(error(&self.session.server.address, &status))
            }
            Some(_) => Err(ClientError::Answer("the answer of another call".to_owned())),
            None => Err(self.lost("the stream has ended")),
        }
    }

    fn lost(&self, message: &str) -> ClientError {
        ClientError::Lost { address: self.session.server.address.clone(), message: message.to_owned() }
    }
}

/// Makes a call, again and again while it is lost on the way.
async fn call<Q: Clone, A>(
    server: &Server,
    patience: Duration,
    message: Q,
    send: impl AsyncFn(EnvironmentServiceClient<Channel>, tonic::Request<Q>) -> Result<Response<A>, Status>,
) -> Result<A, ClientError> {
    let start = Instant::now();
    let mut rest = FIRST_REST;
    loop {
        let mut request = server.request(message.clone());
        request.set_timeout(CALL_TIMEOUT);
        let answer = deadline(send(client(server), request)).await;
        match answer.map_err(|status| server.error(&status)) {
            Ok(answer) => return Ok(answer.into_inner()),
            Err(error @ ClientError::Lost { .. }) if start.elapsed() + rest >= patience => return Err(error),
            Err(ClientError::Lost { .. }) => {
                tokio::time::sleep(rest).await;
                rest = (rest * 2).min(LONGEST_REST);
            }
            Err(error) => return Err(error),
        }
    }
}

/// The server is told the deadline; this is for the one that does not answer at all.
async fn deadline<A>(call: impl Future<Output = Result<A, Status>>) -> Result<A, Status> {
    let answered = tokio::time::timeout(CALL_TIMEOUT, call).await;
    answered.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer came in time")))
}

fn client(server: &Server) -> EnvironmentServiceClient<Channel> {
    EnvironmentServiceClient::new(server.channel.clone())
        .max_decoding_message_size(MAX_RESPONSE_BYTES as usize)
}

fn encode(request: &SessionRequest) -> pb::SessionConfig {
    let autoreset = match request.autoreset {
        Autoreset::NextStep => pb::AutoresetMode::NextStep,
        Autoreset::SameStep => pb::AutoresetMode::SameStep,
        Autoreset::Disabled => pb::AutoresetMode::Disabled,
    };
    pb::SessionConfig {
        num_envs: (request.num_envs > 0).then_some(request.num_envs),
        rules: Some(request.rules.encode()),
        observation_fields: request.observations.clone(),
        features: request.features.as_ref().map(Features::encode),
        autoreset_mode: autoreset.into(),
        seed: request.seed,
        max_episode_steps: request.max_episode_steps,
        action_mask: request.action_mask,
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    }
}

/// A tensor of any shape.
fn decode<T: Element>(tensor: Option<&pb::Tensor>, name: &str) -> Result<Array<T>, ClientError> {
    let dims = vec![Dim::Any; tensor.map_or(0, |tensor| tensor.shape.len())];
    let array = tensor::decode_field(tensor, name, &dims);
    array.map_err(|error| ClientError::Answer(error.to_string()))
}

fn flags(tensor: Option<&pb::Tensor>) -> Vec<bool> {
    tensor.map(|tensor| tensor.data.iter().map(|byte| *byte != 0).collect()).unwrap_or_default()
}

fn missing(field: &str) -> ClientError {
    ClientError::Answer(format!("it has no {field}"))
}
