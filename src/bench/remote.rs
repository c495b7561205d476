//! Workloads of a client of a server in another process: steps, placements and whole evaluations.
//!
//! The requests are built beforehand and the answers are decoded as messages; using the tensors is not part of the work. Under
//! the `guideline` rules the actions depend on the playfield, so each step takes one from the mask of the previous answer.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint};

use super::error::BenchError;
use super::evaluations::{Games, SEED};
use super::process::ServerProcess;
use tetrion_core::engine::rng::{below, mix};
use tetrion_protocol::features::Features;
use tetrion_protocol::limits::{MAX_FRAMES_PER_SECOND, MAX_RESPONSE_BYTES};
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

/// A server in another process, and a connection to it with its runtime.
#[derive(Clone, Debug)]
pub struct Remote {
    pub server: Arc<ServerProcess>,
    pub(super) runtime: Arc<Runtime>,
    channel: Channel,
}

impl Remote {
    /// Starts a server and connects to it.
    ///
    /// The waiting thread drives the calls, which saves a hand-over per call.
    ///
    /// # Errors
    /// If the server does not start.
    pub fn start() -> Result<Remote, BenchError> {
        Remote::on(Builder::new_current_thread())
    }

    /// Like [`Self::start`], with worker threads, so that calls overlap.
    ///
    /// # Errors
    /// The errors of [`Self::start`].
    pub fn start_with_threads() -> Result<Remote, BenchError> {
        Remote::on(Builder::new_multi_thread())
    }

    fn on(threads: Builder) -> Result<Remote, BenchError> {
        let server = ServerProcess::start()?;
        let (runtime, channel) = connect(threads, &server.address)?;
        Ok(Remote { server: Arc::new(server), runtime: Arc::new(runtime), channel })
    }

    pub(super) fn client(&self) -> EnvironmentServiceClient<Channel> {
        EnvironmentServiceClient::new(self.channel.clone())
            .max_decoding_message_size(MAX_RESPONSE_BYTES as usize)
    }

    /// A session after Reset. It observes `board_bits` and `current`; with `everything`, also `board`, the mask and the infos.
    ///
    /// # Errors
    /// If the server refuses the session.
    pub fn session(&self, num_envs: u32, everything: bool) -> Result<RemoteSession, BenchError> {
        let (session, _) =
            self.runtime.block_on(create_session(self.client(), config(num_envs, everything)))?;
        let actions = SessionActions::Cycle { requests: step_requests(&session.name, num_envs), steps: 0 };
        Ok(self.session_of(session.name, num_envs, actions))
    }

    /// A session of the `guideline` rules with four rows above the visible ones, after Reset. It observes `board_bits`,
    /// `current` and the mask, from which it takes its actions.
    ///
    /// # Errors
    /// If the server refuses the session.
    pub fn masked_session(&self, num_envs: u32) -> Result<RemoteSession, BenchError> {
        let rules = pb::Rules { preset: "guideline".to_owned(), height: 24, ..Default::default() };
        let action_mask_format = pb::ActionMaskFormat::Bits.into();
        let config = pb::SessionConfig { rules: Some(rules), action_mask_format, ..config(num_envs, false) };
        let (session, begun) = self.runtime.block_on(create_session(self.client(), config))?;
        let spec = session.action_spec.ok_or(BenchError::Answer("action"))?;
        let mask = begun.action_mask.ok_or(BenchError::Answer("mask"))?;
        let actions = SessionActions::Masked { num_actions: spec.high() as usize + 1, mask, drawn: 0 };
        Ok(self.session_of(session.name, num_envs, actions))
    }

    fn session_of(&self, name: String, num_envs: u32, actions: SessionActions) -> RemoteSession {
        RemoteSession { remote: self.clone(), client: self.client(), name, num_envs, actions }
    }

    /// Requests an evaluation and reads the results; returns the number of pieces.
    ///
    /// # Errors
    /// If the server refuses, or the connection breaks.
    pub fn evaluate(&self, games: &Games) -> Result<u64, BenchError> {
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
        let mut messages = self.start_evaluation(request)?;
        self.runtime.block_on(async {
            let mut pieces = 0;
            while let Some(message) = messages.message().await? {
                if let Some(Event::Results(results)) = message.event {
                    let column =
                        tensor::decode_field::<i64>(results.pieces.as_ref(), "pieces", &[DimSize::Any]);
                    let column = column.map_err(|_| BenchError::Answer("pieces"))?;
                    pieces += column.elements.iter().sum::<i64>() as u64;
                }
            }
            Ok(pieces)
        })
    }

    pub(super) fn start_evaluation(
        &self,
        request: pb::EvaluatePoliciesRequest,
    ) -> Result<Streaming<pb::EvaluatePoliciesResponse>, BenchError> {
        let mut client = EvaluationServiceClient::new(self.channel.clone());
        Ok(self.runtime.block_on(client.evaluate_policies(request))?.into_inner())
    }
}

fn connect(mut threads: Builder, address: &str) -> Result<(Runtime, Channel), BenchError> {
    let runtime = threads.enable_all().build().map_err(BenchError::system("start a runtime"))?;
    let endpoint = Endpoint::new(format!("http://{address}"))?
        .tcp_nodelay(true)
        .initial_stream_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1);
    let channel = runtime.block_on(endpoint.connect())?;
    Ok((runtime, channel))
}

/// Configuration of a session of the default rules.
pub(super) fn config(num_envs: u32, everything: bool) -> pb::SessionConfig {
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
pub(super) fn step_requests(session: &str, num_envs: u32) -> Vec<pb::StepRequest> {
    let request = |step: i32| {
        let actions: Vec<i32> = (0..num_envs as i32).map(|env| (env + 3 * step) % COLUMNS).collect();
        step_request(session, &actions)
    };
    (0..COLUMNS).map(request).collect()
}

fn step_request(session: &str, actions: &[i32]) -> pb::StepRequest {
    let actions = Some(tensor::encode(vec![actions.len() as u32], actions));
    pb::StepRequest { session: session.to_owned(), actions, ..Default::default() }
}

/// Creates a session and resets it.
pub(super) async fn create_session(
    mut client: EnvironmentServiceClient<Channel>,
    config: pb::SessionConfig,
) -> Result<(pb::Session, pb::ResetResponse), BenchError> {
    let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
    let created = client.create_session(request).await?.into_inner();
    let session = created.session.ok_or(BenchError::Answer("session"))?;
    let request = pb::ResetRequest { session: session.name.clone(), ..Default::default() };
    let begun = client.reset(request).await?.into_inner();
    Ok((session, begun))
}

/// A session on a server.
#[derive(Debug)]
pub struct RemoteSession {
    remote: Remote,
    client: EnvironmentServiceClient<Channel>,
    name: String,
    num_envs: u32,
    actions: SessionActions,
}

#[derive(Debug)]
enum SessionActions {
    /// [`step_requests`], over and over.
    Cycle { requests: Vec<pb::StepRequest>, steps: usize },
    /// In each environment the first existing action after a random one.
    Masked { num_actions: usize, mask: pb::Tensor, drawn: u64 },
}

impl RemoteSession {
    fn next_request(&mut self) -> Result<pb::StepRequest, BenchError> {
        match &mut self.actions {
            SessionActions::Cycle { requests, steps } => {
                *steps += 1;
                Ok(requests[*steps % requests.len()].clone())
            }
            SessionActions::Masked { num_actions, mask, drawn } => {
                let num_actions = *num_actions;
                let action = |mask: &[u8]| {
                    *drawn += 1;
                    let from = below(mix(*drawn), num_actions as u64) as usize;
                    let exists = |action: &usize| mask[action / 8] >> (action % 8) & 1 == 1;
                    let action = (from..num_actions).chain(0..from).find(exists);
                    action.map(|action| action as i32).ok_or(BenchError::Answer("action"))
                };
                let actions = mask.data.chunks_exact(num_actions.div_ceil(8)).map(action);
                Ok(step_request(&self.name, &actions.collect::<Result<Vec<i32>, _>>()?))
            }
        }
    }

    /// Takes one step with a unary call; returns the number of environments.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn step(&mut self) -> Result<u64, BenchError> {
        let request = self.next_request()?;
        let answer = self.remote.runtime.block_on(self.client.step(request))?.into_inner();
        if let SessionActions::Masked { mask, .. } = &mut self.actions {
            *mask = answer.action_mask.ok_or(BenchError::Answer("mask"))?;
        }
        Ok(self.num_envs.into())
    }

    /// Lists every placement of every environment with the features of a set; returns the number of placements.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn enumerate_placements(&mut self, set: &str) -> Result<u64, BenchError> {
        let envs = pb::SessionEnvs { session: self.name.clone(), ..Default::default() };
        let request = pb::EnumeratePlacementsRequest {
            source: Some(Source::SessionEnvs(envs)),
            features: Some(Features::parse(set).encode()),
            max_response_bytes: MAX_RESPONSE_BYTES,
            ..Default::default()
        };
        let answer = self.remote.runtime.block_on(self.client.enumerate_placements(request))?.into_inner();
        let actions = answer.actions.ok_or(BenchError::Answer("actions"))?;
        Ok(actions.shape.first().copied().unwrap_or(0).into())
    }

    /// Watches the first `num_envs` environments at the highest frame rate, on a separate connection, as fast as the server
    /// sends. Dropping the runtime ends the watch.
    ///
    /// # Errors
    /// If the server does not answer, or refuses.
    pub fn watch(&self, num_envs: u32) -> Result<Runtime, BenchError> {
        let mut threads = Builder::new_multi_thread();
        threads.worker_threads(1);
        let (runtime, channel) = connect(threads, &self.remote.server.address)?;
        let request = pb::WatchSessionRequest {
            session: self.name.clone(),
            envs: Some(pb::EnvIds { ids: (0..num_envs).collect() }),
            max_frames_per_second: MAX_FRAMES_PER_SECOND,
        };
        let mut client = EnvironmentServiceClient::new(channel);
        let mut frames = runtime.block_on(client.watch_session(request))?.into_inner();
        runtime.spawn(async move { while matches!(frames.message().await, Ok(Some(_))) {} });
        Ok(runtime)
    }

    /// Deletes the session.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn delete(mut self) -> Result<(), BenchError> {
        let request = pb::DeleteSessionRequest { name: self.name, ..Default::default() };
        self.remote.runtime.block_on(self.client.delete_session(request))?;
        Ok(())
    }

    /// Continues as a stream with `ahead` requests in flight.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn stream(mut self, ahead: usize) -> Result<StreamedSession, BenchError> {
        let (sender, receiver) = mpsc::channel(64);
        let remote = self.remote.clone();
        let answers = remote.runtime.block_on(async {
            for _ in 0..ahead {
                send(&sender, self.next_request()?).await?;
            }
            Ok::<_, BenchError>(self.client.step_stream(ReceiverStream::new(receiver)).await?.into_inner())
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
    pub fn step(&mut self) -> Result<u64, BenchError> {
        let StreamedSession { session, sender, answers } = self;
        let request = session.next_request()?;
        session.remote.runtime.block_on(async {
            answers.message().await?.ok_or(BenchError::Answer("message"))?;
            send(sender, request).await
        })?;
        Ok(session.num_envs.into())
    }
}

async fn send(sender: &mpsc::Sender<pb::StepStreamRequest>, step: pb::StepRequest) -> Result<(), BenchError> {
    let request = pb::StepStreamRequest { request: Some(Asked::Step(step)) };
    sender.send(request).await.map_err(|_| BenchError::Answer("stream"))
}
