//! `EnvironmentService`: one short method for each call.

use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use tokio_stream::{Stream, StreamExt};
use tonic::codec::CompressionEncoding;
use tonic::{Request, Response, Status, Streaming};
use xxhash_rust::xxh3::xxh3_128;

use tetrion_core::pool::Party;
use tetrion_protocol::footprint::policy_bytes;
use tetrion_protocol::limits::{
    DEFAULT_PAGE_SIZE, DEFAULT_RESPONSE_BYTES, MAX_PAGE_SIZE, MAX_REQUEST_BYTES, check_name,
};
use tetrion_protocol::pb::environment_service_server::{EnvironmentService, EnvironmentServiceServer};
use tetrion_protocol::pb::step_stream_request::Request as Asked;
use tetrion_protocol::pb::step_stream_response::Response as Answered;
use tetrion_protocol::placements::decode_policy;
use tetrion_protocol::session::decode_ttl;
use tetrion_protocol::{DecodeError, InField, envs, pb, positions, rendering, revision, seeding, session};

use super::answers::Answers;
use super::caller::{Caller, CallerLimits, party_of};
use super::calls::{Busy, CallLane, CallPool};
use super::catalog;
use super::costs::{cost_of_new, cost_of_policy, cost_of_sequences};
use super::direct::Direct;
use super::enumerate::Question;
use super::history::History;
use super::info::ServerFacts;
use super::layout::ANSWER_OVERHEAD;
use super::metrics::SessionCounters;
use super::policies;
use super::reading::{Rendering, Saving};
use super::refusal::Refusal;
use super::restarting::{Restart, Restarting};
use super::session_state::SessionState;
use super::sessions::{LeasedSession, NewSession, Prepared, RequestId, SessionStore};
use super::stepping::Stepping;
use super::tables;
use super::tasks;
use super::watching::Frames;

/// The service: handlers around a store of sessions.
#[derive(Clone, Debug)]
pub struct Environments {
    store: Arc<SessionStore>,
    calls: CallPool,
    facts: ServerFacts,
    counters: SessionCounters,
}

/// The service for the caller of one request.
#[derive(Clone, Debug)]
struct Desk {
    service: Environments,
    caller: Caller,
    party: Party,
    limits: CallerLimits,
    lane: CallLane,
    answers: Answers,
}

impl Environments {
    /// A service on a store, with threads for long work, and the facts for `GetServerInfo`.
    pub fn new(store: Arc<SessionStore>, calls: CallPool, facts: ServerFacts) -> Environments {
        Environments { store, calls, facts, counters: SessionCounters::new() }
    }

    /// A session by its name, for calls without messages. Its owner must be the caller without a token.
    ///
    /// # Errors
    /// If no such session exists.
    pub fn direct(&self, session: &str) -> Result<Direct, Status> {
        let session = self.store.find(&Caller::default(), "session", session).map_err(Status::from)?;
        Ok(Direct::new(session, self.store.clone(), self.counters.clone(), self.facts.kernel))
    }

    /// Splits a request into the caller's desk and the message.
    fn desk<T>(&self, request: Request<T>) -> (Desk, T) {
        let extensions = request.extensions();
        let (caller, party) = (Caller::of(extensions), party_of(extensions));
        let lane = self.calls.lane(party.clone());
        let (limits, answers) = (CallerLimits::of(extensions), Answers::of(extensions));
        (Desk { service: self.clone(), caller, party, limits, lane, answers }, request.into_inner())
    }

    /// The tonic service with its bound on requests, compressed for clients that ask for it.
    pub fn into_server(self) -> EnvironmentServiceServer<Environments> {
        EnvironmentServiceServer::new(self)
            .max_decoding_message_size(MAX_REQUEST_BYTES as usize)
            .accept_compressed(CompressionEncoding::Gzip)
            .accept_compressed(CompressionEncoding::Zstd)
            // Never gzip, which Python's gRPC accepts in every call: it takes 1 ms for the 50 KB of 256 playfields,
            // while a gigabit line takes 0.4 ms to send them uncompressed.
            .send_compressed(CompressionEncoding::Zstd)
    }
}

impl Desk {
    fn session(&self, name: &str) -> Result<Arc<LeasedSession>, Refusal> {
        self.service.store.find(&self.caller, "session", name)
    }

    async fn create(&self, request: pb::CreateSessionRequest) -> Result<Arc<LeasedSession>, Refusal> {
        check_name("request_id", &request.request_id)?;
        let ttl = decode_ttl(request.ttl.as_ref())?;
        let message = request.config.as_ref();
        if let Some(message) = message.filter(|message| tables::shows_values(message)) {
            tables::ready_for_message(&self.lane, message.rules.as_ref()).await?;
        }
        let reading = cost_of_sequences(message.and_then(|message| message.seeding.as_ref()));
        // Until the session has its own.
        let seeding = message.and_then(|message| message.seeding.as_ref());
        let _seeding = self.answers.room(seeding.map_or(0, seeding::decoded_bytes))?;
        let (owner, limits) = (self.caller.clone(), self.limits);
        let decode = move || {
            let defaults = pb::SessionConfig::default();
            let message = request.config.as_ref().unwrap_or(&defaults);
            let (config, seeding) = session::decode(message, random_seed).in_field("config")?;
            let request = (!request.request_id.is_empty()).then(|| RequestId {
                name: request.request_id.clone(),
                digest: xxh3_128(&request.encode_to_vec()),
            });
            let num_envs = config.env.num_envs;
            let resolved = (&config).into();
            let new = NewSession { owner, limits, request, num_envs, ttl, config: resolved };
            Ok((new, config, seeding))
        };
        let (new, config, seeding) = self.lane.run(reading, decode).await?;
        match self.service.store.prepare(&new)? {
            Prepared::Made(session) => Ok(session),
            Prepared::Room(room) => {
                let making = cost_of_new(&config);
                let memory = self.service.store.memory().clone();
                let state =
                    self.lane.run(making, move || SessionState::new(config, seeding, &memory)).await?;
                room.fill(new, state)
            }
        }
    }

    async fn describe(&self, session: &LeasedSession) -> Result<pb::Session, Refusal> {
        let summary = self.service.store.summary(session);
        session.call(|state| Ok(state.describe(summary))).await
    }

    async fn reset(&self, request: pb::ResetRequest) -> Result<pb::ResetResponse, Refusal> {
        let session = self.session(&request.session)?;
        let reading = cost_of_sequences(request.seeding.as_ref());
        self.restart(&session, request, reading).await
    }

    /// Restarts environments of a session. `reading` is the rough time to read the request.
    async fn restart<Q: Restart + 'static>(
        &self,
        session: &Arc<LeasedSession>,
        request: Q,
        reading: Duration,
    ) -> Result<Q::Answer, Refusal> {
        let costs = session.costs();
        let size = (reading, costs.of_step(request.env_ids()), costs.rows(request.env_ids()));
        let mut restarting = Restarting::new(request, self.answers.clone());
        session.call_by_rows(&self.lane, size, move |state, rows| restarting.advance(state, rows)).await
    }

    async fn step(&self, request: pb::StepRequest) -> Result<pb::StepResponse, Refusal> {
        let session = self.session(&request.session)?;
        let (costs, env_ids) = (session.costs(), envs::decode(request.envs.as_ref()));
        let reading = if request.text_actions.is_empty() { Duration::ZERO } else { costs.of_text(env_ids) };
        let (work, rows) = (costs.of_step(env_ids) + reading, costs.rows(env_ids));
        let size = (Duration::ZERO, work, rows);
        let mut stepping = Stepping::new(request, self.answers.clone());
        let step = move |state: &mut SessionState, rows| stepping.advance(state, rows);
        let answer = session.call_by_rows(&self.lane, size, step).await?;
        self.service.counters.steps.increment(rows);
        Ok(answer)
    }

    async fn render(&self, request: pb::RenderRequest) -> Result<pb::RenderResponse, Refusal> {
        let session = self.session(&request.session)?;
        let drawing = rendering::decode(&request)?;
        let (costs, env_ids) = (session.costs(), envs::decode(request.envs.as_ref()));
        let size = (Duration::ZERO, costs.of_render(&drawing, env_ids), costs.rows(env_ids));
        let mut rendering = Rendering::new(request, drawing, self.answers.clone());
        session.call_by_rows(&self.lane, size, move |state, rows| rendering.advance(state, rows)).await
    }

    async fn save_state(&self, request: pb::SaveStateRequest) -> Result<pb::SaveStateResponse, Refusal> {
        let session = self.session(&request.session)?;
        let (costs, env_ids) = (session.costs(), envs::decode(request.envs.as_ref()));
        let size = (Duration::ZERO, costs.of_save(env_ids), costs.rows(env_ids));
        let mut saving = Saving::new(request, self.answers.clone());
        session.call_by_rows(&self.lane, size, move |state, rows| saving.advance(state, rows)).await
    }

    async fn restore_state(
        &self,
        request: pb::RestoreStateRequest,
    ) -> Result<pb::RestoreStateResponse, Refusal> {
        let session = self.session(&request.session)?;
        let reading = request.positions.as_ref().map_or(0, positions::nanoseconds);
        self.restart(&session, request, Duration::from_nanos(reading)).await
    }

    async fn enumerate_placements(
        &self,
        mut request: pb::EnumeratePlacementsRequest,
    ) -> Result<pb::EnumeratePlacementsResponse, Refusal> {
        use pb::enumerate_placements_request::Source;
        revision::check(request.min_revision)?;
        let has_values =
            request.include_optimal_values || request.policy.as_ref().is_some_and(tables::plays_by_values);
        let reading_policy = cost_of_policy(request.policy.as_ref());
        // Until the answer is made.
        let _policy = self.answers.room(request.policy.as_ref().map_or(0, policy_bytes))?;
        let question = match request.source.take() {
            Some(Source::SessionEnvs(named)) => {
                let session = self.session(&named.session).map_err(|error| error.in_field("session_envs"))?;
                let reading = session.costs().of_positions(envs::decode(named.envs.as_ref()));
                let rules = session.costs().rules;
                if has_values {
                    tables::ready_for(&self.lane, &rules).await?;
                }
                let decode = move || Ok((decode_policy(&request, &rules)?, request));
                let (policy, mut request) = self.lane.run(reading_policy, decode).await?;
                let answers = self.answers.clone();
                let read = move |state: &mut SessionState| {
                    let env_ids = envs::decode(named.envs.as_ref());
                    Question::of_session(state, env_ids, &mut request, policy, &answers)
                };
                session.call_on(&self.lane, reading, read).await?
            }
            Some(Source::Positions(positions)) => {
                let reading = Duration::from_nanos(positions::nanoseconds(&positions)) + reading_policy;
                if has_values && let Some(rules) = positions::rules(&positions) {
                    tables::ready_for(&self.lane, &rules).await?;
                }
                let answers = self.answers.clone();
                let read = move || Question::of_positions(&positions, &mut request, &answers);
                self.lane.run(reading, read).await?
            }
            None => return Err(DecodeError::missing("source").into()),
        };
        // Without the session's lock, so that steps of the session need not wait.
        let answer = question.answer(self.service.facts.kernel, &self.lane, self.answers.clone()).await?;
        self.service.counters.count_placements(&answer);
        Ok(answer)
    }

    async fn watch(&self, request: pb::WatchSessionRequest) -> Result<Frames, Refusal> {
        let Environments { store, counters, .. } = &self.service;
        Frames::begin(
            store.clone(),
            (self.caller.clone(), &self.party, self.limits),
            self.answers.clone(),
            counters.frames.clone(),
            request,
        )
        .await
    }

    /// The response with a complete answer.
    fn respond<T: Message>(&self, answer: T) -> Result<Response<T>, Status> {
        self.answers.room(answer.encoded_len() as u64)?.keep();
        Ok(Response::new(answer))
    }

    async fn answer(&self, request: pb::StepStreamRequest) -> pb::StepStreamResponse {
        let answered = match request.request {
            Some(Asked::Step(step)) => self.step(step).await.map(Answered::Step),
            Some(Asked::Reset(reset)) => self.reset(reset).await.map(Answered::Reset),
            Some(Asked::EnumeratePlacements(enumerate)) => {
                self.enumerate_placements(enumerate).await.map(Answered::EnumeratePlacements)
            }
            Some(Asked::SaveState(save)) => self.save_state(save).await.map(Answered::SaveState),
            Some(Asked::RestoreState(restore)) => {
                self.restore_state(restore).await.map(Answered::RestoreState)
            }
            None => Err(DecodeError::missing("request").into()),
        };
        pb::StepStreamResponse {
            response: Some(answered.unwrap_or_else(|refusal| Answered::Error(refusal.into()))),
        }
    }
}

#[tonic::async_trait]
impl EnvironmentService for Environments {
    type StepStreamStream =
        std::pin::Pin<Box<dyn Stream<Item = Result<pb::StepStreamResponse, Status>> + Send>>;

    type WatchSessionStream = Frames;

    async fn get_server_info(
        &self,
        request: Request<pb::GetServerInfoRequest>,
    ) -> Result<Response<pb::GetServerInfoResponse>, Status> {
        let (desk, _) = self.desk(request);
        desk.respond(self.facts.info(desk.limits))
    }

    async fn get_catalog(
        &self,
        request: Request<pb::GetCatalogRequest>,
    ) -> Result<Response<pb::GetCatalogResponse>, Status> {
        let (desk, request) = self.desk(request);
        desk.respond(catalog::catalog(&request)?)
    }

    async fn get_policy(
        &self,
        request: Request<pb::GetPolicyRequest>,
    ) -> Result<Response<pb::GetPolicyResponse>, Status> {
        let (desk, request) = self.desk(request);
        desk.respond(policies::get(&request.name)?)
    }

    async fn get_task(
        &self,
        request: Request<pb::GetTaskRequest>,
    ) -> Result<Response<pb::GetTaskResponse>, Status> {
        let (desk, request) = self.desk(request);
        desk.respond(tasks::get(request, &desk.lane).await?)
    }

    async fn score_task(
        &self,
        request: Request<pb::ScoreTaskRequest>,
    ) -> Result<Response<pb::ScoreTaskResponse>, Status> {
        let (desk, request) = self.desk(request);
        desk.respond(tasks::score(request, &desk.lane).await?)
    }

    async fn create_session(
        &self,
        request: Request<pb::CreateSessionRequest>,
    ) -> Result<Response<pb::CreateSessionResponse>, Status> {
        let (desk, request) = self.desk(request);
        let session = desk.create(request).await?;
        let session = desk.describe(&session).await?;
        desk.respond(pb::CreateSessionResponse { session: Some(session) })
    }

    async fn get_session(
        &self,
        request: Request<pb::GetSessionRequest>,
    ) -> Result<Response<pb::GetSessionResponse>, Status> {
        let (desk, request) = self.desk(request);
        let session = self.store.find(&desk.caller, "name", &request.name)?;
        let session = desk.describe(&session).await?;
        desk.respond(pb::GetSessionResponse { session: Some(session) })
    }

    async fn list_sessions(
        &self,
        request: Request<pb::ListSessionsRequest>,
    ) -> Result<Response<pb::ListSessionsResponse>, Status> {
        let pb::ListSessionsRequest { page_size, page_token } = request.get_ref();
        let size = match u32::try_from(*page_size) {
            Ok(0) => DEFAULT_PAGE_SIZE,
            Ok(size) => size.min(MAX_PAGE_SIZE),
            Err(_) => {
                return Err(Refusal::field("page_size", format!("is {page_size}, expected 0 or more")).into());
            }
        };
        let after = decode_page_token(page_token)?;
        // The list visits every session, and a summary on its page may contain hundreds of feature names.
        let num_sessions = self.store.num_sessions();
        let work = 100 * u64::from(num_sessions) + 20_000 * u64::from(num_sessions.min(size));
        let (desk, _) = self.desk(request);
        let (caller, store, answers) = (desk.caller.clone(), self.store.clone(), desk.answers.clone());
        let list = move || {
            let (listed, mut more) = store.page(&caller, after, size as usize);
            let mut room = answers.room(0)?;
            let mut answer = pb::ListSessionsResponse::default();
            let mut num_bytes = ANSWER_OVERHEAD;
            let mut last = None;
            for session in &listed {
                let summary = store.summary(session);
                // Plus a tag and a length.
                num_bytes += summary.encoded_len() as u64 + 5;
                // The first one always fits.
                if num_bytes > DEFAULT_RESPONSE_BYTES.into() {
                    more = true;
                    break;
                }
                room.grow_to(num_bytes)?;
                answer.sessions.push(summary);
                last = Some(session.serial());
            }
            if let (true, Some(last)) = (more, last) {
                answer.next_page_token = last.to_string();
            }
            room.keep();
            Ok(answer)
        };
        Ok(Response::new(desk.lane.run(Duration::from_nanos(work), list).await?))
    }

    async fn delete_session(
        &self,
        request: Request<pb::DeleteSessionRequest>,
    ) -> Result<Response<pb::DeleteSessionResponse>, Status> {
        let pb::DeleteSessionRequest { name, allow_missing } = request.get_ref();
        match self.store.remove(&Caller::of(request.extensions()), name) {
            Err(Refusal::SessionNotFound(_) | Refusal::SessionExpired(_)) if *allow_missing => {}
            removed => removed?,
        }
        Ok(Response::new(pb::DeleteSessionResponse {}))
    }

    async fn reset(&self, request: Request<pb::ResetRequest>) -> Result<Response<pb::ResetResponse>, Status> {
        let (desk, request) = self.desk(request);
        Ok(Response::new(desk.reset(request).await?))
    }

    async fn step(&self, request: Request<pb::StepRequest>) -> Result<Response<pb::StepResponse>, Status> {
        let (desk, request) = self.desk(request);
        Ok(Response::new(desk.step(request).await?))
    }

    /// Takes one request at a time from the connection, performs it and answers it. Flow control of the connection
    /// makes a client that sends ahead wait, and the server does no work for a client that does not read its answers.
    async fn step_stream(
        &self,
        request: Request<Streaming<pb::StepStreamRequest>>,
    ) -> Result<Response<Self::StepStreamStream>, Status> {
        let (desk, requests) = self.desk(request);
        let busy = Busy::default();
        let seen = busy.clone();
        let answers = requests.then(move |request| {
            let (desk, busy) = (desk.clone(), busy.clone());
            async move {
                let request = request?;
                let _busy = busy.begin();
                Ok(desk.answer(request).await)
            }
        });
        let mut response = Response::new(Box::pin(answers) as Self::StepStreamStream);
        response.extensions_mut().insert(seen);
        Ok(response)
    }

    async fn render(
        &self,
        request: Request<pb::RenderRequest>,
    ) -> Result<Response<pb::RenderResponse>, Status> {
        let (desk, request) = self.desk(request);
        Ok(Response::new(desk.render(request).await?))
    }

    async fn save_state(
        &self,
        request: Request<pb::SaveStateRequest>,
    ) -> Result<Response<pb::SaveStateResponse>, Status> {
        let (desk, request) = self.desk(request);
        Ok(Response::new(desk.save_state(request).await?))
    }

    async fn restore_state(
        &self,
        request: Request<pb::RestoreStateRequest>,
    ) -> Result<Response<pb::RestoreStateResponse>, Status> {
        let (desk, request) = self.desk(request);
        Ok(Response::new(desk.restore_state(request).await?))
    }

    async fn enumerate_placements(
        &self,
        request: Request<pb::EnumeratePlacementsRequest>,
    ) -> Result<Response<pb::EnumeratePlacementsResponse>, Status> {
        let (desk, request) = self.desk(request);
        Ok(Response::new(desk.enumerate_placements(request).await?))
    }

    async fn watch_session(
        &self,
        request: Request<pb::WatchSessionRequest>,
    ) -> Result<Response<Frames>, Status> {
        let (desk, request) = self.desk(request);
        Ok(Response::new(desk.watch(request).await?))
    }

    async fn get_history(
        &self,
        request: Request<pb::GetHistoryRequest>,
    ) -> Result<Response<pb::GetHistoryResponse>, Status> {
        let (desk, request) = self.desk(request);
        let session = self.store.look(&desk.caller, "session", &request.session)?;
        let room = desk.answers.room(History::MAX_ANSWER_BYTES)?;
        let history = session.call(|state| Ok(state.history().encode(state.sequence_number()))).await?;
        room.keep();
        Ok(Response::new(history))
    }
}

/// Decodes where a list continues: after the session with the returned serial number.
fn decode_page_token(token: &str) -> Result<Option<u64>, Refusal> {
    check_name("page_token", token)?;
    if token.is_empty() {
        return Ok(None);
    }
    let serial =
        token.parse().map_err(|_| Refusal::field("page_token", format!("{token:?} is not a page token")))?;
    Ok(Some(serial))
}

/// A seed from the operating system, for requests without a seed.
pub(super) fn random_seed() -> u64 {
    getrandom::u64().expect("the operating system has randomness")
}
