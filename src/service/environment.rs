//! `EnvironmentService`: one short method for each call.

use std::sync::Arc;

use prost::Message;
use tokio_stream::{Stream, StreamExt};
use tonic::codec::CompressionEncoding;
use tonic::{Request, Response, Status, Streaming};
use xxhash_rust::xxh3::xxh3_128;

use crate::wire::limits::{
    DEFAULT_PAGE_SIZE, DEFAULT_RESPONSE_BYTES, MAX_PAGE_SIZE, MAX_REQUEST_BYTES, check_name,
};
use crate::wire::pb::environment_service_server::{EnvironmentService, EnvironmentServiceServer};
use crate::wire::pb::step_stream_request::Request as Asked;
use crate::wire::pb::step_stream_response::Response as Answered;
use crate::wire::session::decode_ttl;
use crate::wire::{DecodeError, InField, pb, session};

use super::caller::Caller;
use super::enumerate::Question;
use super::info::ServerFacts;
use super::layout::ANSWER_OVERHEAD;
use super::session::State;
use super::sessions::{NewSession, RequestId, Session, SessionStore};
use super::status::Refusal;

/// The service: handlers around a store of sessions.
#[derive(Clone, Debug)]
pub struct Environments {
    store: Arc<SessionStore>,
    facts: ServerFacts,
}

impl Environments {
    /// A service on a store, of a server of which it tells the rest.
    pub fn new(store: Arc<SessionStore>, facts: ServerFacts) -> Environments {
        Environments { store, facts }
    }

    /// The service as tonic serves it, with the bound on requests set, compressed for those who ask.
    pub fn into_server(self) -> EnvironmentServiceServer<Environments> {
        EnvironmentServiceServer::new(self)
            .max_decoding_message_size(MAX_REQUEST_BYTES as usize)
            .accept_compressed(CompressionEncoding::Gzip)
            .accept_compressed(CompressionEncoding::Zstd)
            // Never gzip, which Python's gRPC accepts in every call: it takes 1 ms for the 50 KB of 256 playfields, and a
            // gigabit line 0.4 ms for the bytes.
            .send_compressed(CompressionEncoding::Zstd)
    }

    fn session(&self, caller: &Caller, name: &str) -> Result<Arc<Session>, Refusal> {
        self.store.find(caller, "session", name)
    }

    fn create(&self, caller: &Caller, request: &pb::CreateSessionRequest) -> Result<Arc<Session>, Refusal> {
        check_name("request_id", &request.request_id)?;
        let ttl = decode_ttl(request.ttl.as_ref())?;
        let defaults = pb::SessionConfig::default();
        let message = request.config.as_ref().unwrap_or(&defaults);
        let (config, seeding) = session::decode(message, random_seed).in_field("config")?;
        let request = (!request.request_id.is_empty()).then(|| RequestId {
            name: request.request_id.clone(),
            digest: xxh3_128(&request.encode_to_vec()),
        });
        let new = NewSession {
            owner: caller.clone(),
            request,
            num_envs: config.env.num_envs,
            ttl,
            config: (&config).into(),
            door: None,
        };
        self.store.create(new, || State::new(config, &seeding))
    }

    async fn describe(&self, session: &Session) -> Result<pb::Session, Refusal> {
        let summary = self.store.summary(session);
        session.call(|state| Ok(state.describe(summary))).await
    }

    async fn reset(&self, caller: &Caller, request: &pb::ResetRequest) -> Result<pb::ResetResponse, Refusal> {
        self.session(caller, &request.session)?.call(|state| state.reset(request)).await
    }

    async fn step(&self, caller: &Caller, request: &pb::StepRequest) -> Result<pb::StepResponse, Refusal> {
        self.session(caller, &request.session)?.call(|state| state.step(request)).await
    }

    async fn render(
        &self,
        caller: &Caller,
        request: &pb::RenderRequest,
    ) -> Result<pb::RenderResponse, Refusal> {
        self.session(caller, &request.session)?.call(|state| state.render(request)).await
    }

    async fn save_state(
        &self,
        caller: &Caller,
        request: &pb::SaveStateRequest,
    ) -> Result<pb::SaveStateResponse, Refusal> {
        self.session(caller, &request.session)?.call(|state| state.save(request)).await
    }

    async fn restore_state(
        &self,
        caller: &Caller,
        request: &pb::RestoreStateRequest,
    ) -> Result<pb::RestoreStateResponse, Refusal> {
        self.session(caller, &request.session)?.call(|state| state.restore(request)).await
    }

    async fn enumerate_placements(
        &self,
        caller: &Caller,
        request: &pb::EnumeratePlacementsRequest,
    ) -> Result<pb::EnumeratePlacementsResponse, Refusal> {
        use pb::enumerate_placements_request::Source;
        let question = match &request.source {
            Some(Source::SessionEnvs(envs)) => {
                let session =
                    self.session(caller, &envs.session).map_err(|error| error.in_field("session_envs"))?;
                session.call(|state| Question::of_session(state, envs, request)).await?
            }
            Some(Source::Positions(positions)) => Question::of_positions(positions, request)?,
            None => return Err(DecodeError::missing("source").into()),
        };
        // Outside of the session's lock: whoever steps it meanwhile does not wait for this.
        question.answer()
    }

    async fn answer(&self, caller: &Caller, request: pb::StepStreamRequest) -> pb::StepStreamResponse {
        let answered = match &request.request {
            Some(Asked::Step(step)) => self.step(caller, step).await.map(Answered::Step),
            Some(Asked::Reset(reset)) => self.reset(caller, reset).await.map(Answered::Reset),
            Some(Asked::EnumeratePlacements(enumerate)) => {
                self.enumerate_placements(caller, enumerate).await.map(Answered::EnumeratePlacements)
            }
            Some(Asked::SaveState(save)) => self.save_state(caller, save).await.map(Answered::SaveState),
            Some(Asked::RestoreState(restore)) => {
                self.restore_state(caller, restore).await.map(Answered::RestoreState)
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

    async fn get_server_info(
        &self,
        request: Request<pb::GetServerInfoRequest>,
    ) -> Result<Response<pb::GetServerInfoResponse>, Status> {
        Ok(Response::new(self.facts.tell(self.store.limits(), request.get_ref())?))
    }

    async fn create_session(
        &self,
        request: Request<pb::CreateSessionRequest>,
    ) -> Result<Response<pb::CreateSessionResponse>, Status> {
        let session = self.create(&caller(&request), request.get_ref())?;
        let session = self.describe(&session).await?;
        Ok(Response::new(pb::CreateSessionResponse { session: Some(session) }))
    }

    async fn get_session(
        &self,
        request: Request<pb::GetSessionRequest>,
    ) -> Result<Response<pb::GetSessionResponse>, Status> {
        let session = self.store.find(&caller(&request), "name", &request.get_ref().name)?;
        let session = self.describe(&session).await?;
        Ok(Response::new(pb::GetSessionResponse { session: Some(session) }))
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
        let (listed, mut more) = self.store.page(&caller(&request), after, size as usize);
        let mut answer = pb::ListSessionsResponse::default();
        let mut num_bytes = ANSWER_OVERHEAD;
        let mut last = None;
        for session in &listed {
            let summary = self.store.summary(session);
            // A tag and a length.
            num_bytes += summary.encoded_len() as u64 + 5;
            // The first one always fits.
            if num_bytes > DEFAULT_RESPONSE_BYTES.into() {
                more = true;
                break;
            }
            answer.sessions.push(summary);
            last = Some(session.serial());
        }
        if let (true, Some(last)) = (more, last) {
            answer.next_page_token = last.to_string();
        }
        Ok(Response::new(answer))
    }

    async fn delete_session(
        &self,
        request: Request<pb::DeleteSessionRequest>,
    ) -> Result<Response<pb::DeleteSessionResponse>, Status> {
        let pb::DeleteSessionRequest { name, allow_missing } = request.get_ref();
        match self.store.remove(&caller(&request), "name", name) {
            Err(Refusal::SessionNotFound(_) | Refusal::SessionExpired(_)) if *allow_missing => {}
            removed => removed?,
        }
        Ok(Response::new(pb::DeleteSessionResponse {}))
    }

    async fn reset(&self, request: Request<pb::ResetRequest>) -> Result<Response<pb::ResetResponse>, Status> {
        Ok(Response::new(self.reset(&caller(&request), request.get_ref()).await?))
    }

    async fn step(&self, request: Request<pb::StepRequest>) -> Result<Response<pb::StepResponse>, Status> {
        Ok(Response::new(self.step(&caller(&request), request.get_ref()).await?))
    }

    /// One request after the other is taken from the connection, done and answered: whoever sends ahead waits in the
    /// connection's flow control, and whoever does not read the answers is not worked for.
    async fn step_stream(
        &self,
        request: Request<Streaming<pb::StepStreamRequest>>,
    ) -> Result<Response<Self::StepStreamStream>, Status> {
        let (service, caller) = (self.clone(), caller(&request));
        let answers = request.into_inner().then(move |request| {
            let (service, caller) = (service.clone(), caller.clone());
            async move { Ok(service.answer(&caller, request?).await) }
        });
        Ok(Response::new(Box::pin(answers)))
    }

    async fn render(
        &self,
        request: Request<pb::RenderRequest>,
    ) -> Result<Response<pb::RenderResponse>, Status> {
        Ok(Response::new(self.render(&caller(&request), request.get_ref()).await?))
    }

    async fn save_state(
        &self,
        request: Request<pb::SaveStateRequest>,
    ) -> Result<Response<pb::SaveStateResponse>, Status> {
        Ok(Response::new(self.save_state(&caller(&request), request.get_ref()).await?))
    }

    async fn restore_state(
        &self,
        request: Request<pb::RestoreStateRequest>,
    ) -> Result<Response<pb::RestoreStateResponse>, Status> {
        Ok(Response::new(self.restore_state(&caller(&request), request.get_ref()).await?))
    }

    async fn enumerate_placements(
        &self,
        request: Request<pb::EnumeratePlacementsRequest>,
    ) -> Result<Response<pb::EnumeratePlacementsResponse>, Status> {
        Ok(Response::new(self.enumerate_placements(&caller(&request), request.get_ref()).await?))
    }
}

fn caller<T>(request: &Request<T>) -> Caller {
    Caller::of(request.extensions())
}

/// Reads where a list goes on: behind the session with this serial number.
fn decode_page_token(token: &str) -> Result<Option<u64>, Refusal> {
    check_name("page_token", token)?;
    if token.is_empty() {
        return Ok(None);
    }
    let serial =
        token.parse().map_err(|_| Refusal::field("page_token", format!("{token:?} is no page token")))?;
    Ok(Some(serial))
}

/// A seed for those who give none, from the operating system.
pub(super) fn random_seed() -> u64 {
    getrandom::u64().expect("the operating system has randomness")
}
