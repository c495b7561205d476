//! Workloads of a client in another process: steps, placements and whole evaluations.
//!
//! The requests are built beforehand and the answers are decoded as messages; using the tensors is not part of the work.

use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Status, Streaming};

use super::evaluations::{Games, SEED};
use tetrion_protocol::features::Features;
use tetrion_protocol::limits::MAX_RESPONSE_BYTES;
use tetrion_protocol::pb::enumerate_placements_request::Source;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_protocol::pb::evaluate_policies_response::Event;
use tetrion_protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion_protocol::pb::step_stream_request::Request as Asked;
use tetrion_protocol::policies::{PlayChoice, Policy, PolicyKind, WeightRows};
use tetrion_protocol::tensor::{self, DimSize};
use tetrion_protocol::{pb, seeding};

/// Windows as large as the server's.
const WINDOWS: (u32, u32) = (4 << 20, 16 << 20);
/// Columns of the default playfield that accept every piece in its first orientation.
const COLUMNS: i32 = 7;

/// Reason why a call did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The runtime cannot be started.
    #[error("cannot start a runtime")]
    Runtime(#[from] std::io::Error),
    /// The server cannot be reached.
    #[error("cannot connect to the server")]
    Connect(#[from] tonic::transport::Error),
    /// The server refused the call.
    #[error("a call failed")]
    Call(#[from] Status),
    /// The answer lacks this field.
    #[error("an answer has no {0}")]
    Answer(&'static str),
}

/// A connection to a server, with its runtime.
#[derive(Clone, Debug)]
pub struct Remote {
    pub(super) runtime: Arc<Runtime>,
    pub(super) channel: Channel,
}

impl Remote {
    /// Connects to `HOST:PORT`.
    ///
    /// The waiting thread drives the calls, which saves a hand-over per call.
    ///
    /// # Errors
    /// [`RemoteError::Connect`] if no server listens there.
    pub fn connect(address: &str) -> Result<Remote, RemoteError> {
        Remote::on(tokio::runtime::Builder::new_current_thread().enable_all().build()?, address)
    }

    /// Connects with worker threads, so that calls overlap.
    ///
    /// # Errors
    /// The errors of [`Remote::connect`].
    pub fn connect_with_threads(address: &str) -> Result<Remote, RemoteError> {
        Remote::on(tokio::runtime::Builder::new_multi_thread().enable_all().build()?, address)
    }

    fn on(runtime: Runtime, address: &str) -> Result<Remote, RemoteError> {
        let endpoint = Channel::from_shared(format!("http://{address}"))
            .map_err(|_| RemoteError::Answer("address"))?
            .tcp_nodelay(true)
            .initial_stream_window_size(WINDOWS.0)
            .initial_connection_window_size(WINDOWS.1);
        let channel = runtime.block_on(endpoint.connect())?;
        Ok(Remote { runtime: Arc::new(runtime), channel })
    }

    pub(super) fn client(&self) -> EnvironmentServiceClient<Channel> {
        EnvironmentServiceClient::new(self.channel.clone())
            .max_decoding_message_size(MAX_RESPONSE_BYTES as usize)
    }

    /// A session after Reset. It observes `board_bits` and `current`; with `everything`, also `board`, the mask and the infos.
    ///
    /// # Errors
    /// If the server refuses the session.
    pub fn session(&self, num_envs: u32, everything: bool) -> Result<RemoteSession, RemoteError> {
        let name = self.runtime.block_on(create_session(self.client(), config(num_envs, everything)))?;
        let requests = step_requests(&name, num_envs);
        Ok(RemoteSession { remote: self.clone(), client: self.client(), name, num_envs, requests, steps: 0 })
    }

    /// Requests an evaluation and reads the results; returns the number of pieces.
    ///
    /// # Errors
    /// If the server refuses, or the connection breaks.
    pub fn evaluate(&self, games: &Games) -> Result<u64, RemoteError> {
        let (features, rows) = (Features::parse(games.set), vec![games.weights.to_vec()]);
        let policy = Policy {
            kind: PolicyKind::Weights(WeightRows { features, rows, model: None }),
            play: PlayChoice::default(),
        };
        let request = pb::EvaluatePoliciesRequest {
            policies: vec![policy.encode()],
            seeding: Some(seeding::from_drawn(SEED, games.num_games)),
            max_pieces: games.max_pieces,
            include_results: true,
            ..Default::default()
        };
        self.runtime.block_on(async {
            let answer = EvaluationServiceClient::new(self.channel.clone()).evaluate_policies(request).await;
            let mut messages = answer?.into_inner();
            let mut pieces = 0;
            while let Some(message) = messages.message().await? {
                if let Some(Event::Results(results)) = message.event {
                    let column =
                        tensor::decode_field::<i64>(results.pieces.as_ref(), "pieces", &[DimSize::Any]);
                    let column = column.map_err(|_| RemoteError::Answer("pieces"))?;
                    pieces += column.elements.iter().sum::<i64>() as u64;
                }
            }
            Ok(pieces)
        })
    }
}

/// Configuration of a session of the default rules.
pub fn config(num_envs: u32, everything: bool) -> pb::SessionConfig {
    let mut fields = vec!["board_bits".to_owned(), "current".to_owned()];
    if everything {
        fields.push("board".to_owned());
    }
    let mask_format = if everything { pb::ActionMaskFormat::Bytes } else { pb::ActionMaskFormat::None };
    pb::SessionConfig {
        num_envs,
        seeding: Some(seeding::from_seed(1)),
        autoreset_mode: pb::AutoresetMode::SameStep.into(),
        observation_fields: Some(pb::FieldNames { names: fields }),
        action_mask_format: mask_format.into(),
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    }
}

/// Steps that are legal in every episode, in order: each piece in its first orientation, spread over the columns.
pub fn step_requests(session: &str, num_envs: u32) -> Vec<pb::StepRequest> {
    let request = |step: i32| {
        let actions: Vec<i32> = (0..num_envs as i32).map(|env| (env + 3 * step) % COLUMNS).collect();
        let actions = Some(tensor::encode(vec![num_envs], &actions));
        pb::StepRequest { session: session.to_owned(), actions, ..Default::default() }
    };
    (0..COLUMNS).map(request).collect()
}

pub(super) async fn create_session(
    mut client: EnvironmentServiceClient<Channel>,
    config: pb::SessionConfig,
) -> Result<String, RemoteError> {
    let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
    let created = client.create_session(request).await?.into_inner();
    let name = created.session.ok_or(RemoteError::Answer("session"))?.name;
    client.reset(pb::ResetRequest { session: name.clone(), ..Default::default() }).await?;
    Ok(name)
}

/// Lists every placement of every environment of a session with the features of a set; returns the number of placements.
pub(super) async fn enumerate_placements(
    client: &mut EnvironmentServiceClient<Channel>,
    session: &str,
    set: &str,
) -> Result<u64, RemoteError> {
    let envs = pb::SessionEnvs { session: session.to_owned(), ..Default::default() };
    let request = pb::EnumeratePlacementsRequest {
        source: Some(Source::SessionEnvs(envs)),
        features: Some(Features::parse(set).encode()),
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    };
    let answer = client.enumerate_placements(request).await?.into_inner();
    let actions = answer.actions.ok_or(RemoteError::Answer("actions"))?;
    Ok(actions.shape.first().copied().unwrap_or(0).into())
}

/// A session on a server.
#[derive(Debug)]
pub struct RemoteSession {
    remote: Remote,
    client: EnvironmentServiceClient<Channel>,
    name: String,
    num_envs: u32,
    requests: Vec<pb::StepRequest>,
    steps: usize,
}

impl RemoteSession {
    /// Name of the session on the server, for other calls.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn next_request(&mut self) -> pb::StepRequest {
        self.steps += 1;
        self.requests[self.steps % self.requests.len()].clone()
    }

    /// Takes one step with a unary call; returns the number of environments.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn step(&mut self) -> Result<u64, RemoteError> {
        let request = self.next_request();
        self.remote.runtime.block_on(self.client.step(request))?;
        Ok(self.num_envs.into())
    }

    /// Lists every placement of every environment with the 8 features of `bcts8`; returns the number of placements.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn enumerate_placements(&mut self) -> Result<u64, RemoteError> {
        self.remote.runtime.block_on(enumerate_placements(&mut self.client, &self.name, "bcts8"))
    }

    /// Deletes the session.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn delete(mut self) -> Result<(), RemoteError> {
        let request = pb::DeleteSessionRequest { name: self.name, ..Default::default() };
        self.remote.runtime.block_on(self.client.delete_session(request))?;
        Ok(())
    }

    /// Continues as a stream with `ahead` requests in flight.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn stream(mut self, ahead: usize) -> Result<StreamedSession, RemoteError> {
        let (sender, receiver) = mpsc::channel(64);
        let remote = self.remote.clone();
        let answers = remote.runtime.block_on(async {
            for _ in 0..ahead {
                send(&sender, self.next_request()).await?;
            }
            Ok::<_, RemoteError>(self.client.step_stream(ReceiverStream::new(receiver)).await?.into_inner())
        })?;
        Ok(StreamedSession { session: self, sender, answers })
    }
}

/// A session that is stepped over a stream.
#[derive(Debug)]
pub struct StreamedSession {
    session: RemoteSession,
    sender: mpsc::Sender<pb::StepStreamRequest>,
    answers: Streaming<pb::StepStreamResponse>,
}

impl StreamedSession {
    /// Receives the answer to the oldest request and sends another request; returns the number of environments.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn step(&mut self) -> Result<u64, RemoteError> {
        let StreamedSession { session, sender, answers } = self;
        let request = session.next_request();
        session.remote.runtime.block_on(async {
            answers.message().await?.ok_or(RemoteError::Answer("message"))?;
            send(sender, request).await
        })?;
        Ok(session.num_envs.into())
    }
}

async fn send(
    sender: &mpsc::Sender<pb::StepStreamRequest>,
    step: pb::StepRequest,
) -> Result<(), RemoteError> {
    let request = pb::StepStreamRequest { request: Some(Asked::Step(step)) };
    sender.send(request).await.map_err(|_| RemoteError::Answer("stream"))
}
