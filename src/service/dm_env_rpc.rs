//! `dm_env_rpc.v1.Environment`: the second API, for clients that speak DeepMind's protocol.
//!
//! A world is a session of one environment, with the same store, limits and lease as other sessions, and is listed with
//! them. Its name is a session's name, so `Render` and `SaveState` work on it. This protocol adds agents that join. One
//! agent at a time can join a world. A world ends when both its creator's connection and its agent have left, so a
//! client that crashes leaves nothing behind.
//!
//! The whole protocol is one stream: requests and answers in turn. A request that fails gets `error` and changes
//! nothing; the stream continues.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_stream::{Stream, StreamExt};
use tonic::codec::CompressionEncoding;
use tonic::{Request, Response, Status, Streaming};

use tetrion_protocol::DecodeError;
use tetrion_protocol::dm_env_rpc::pb;
use tetrion_protocol::dm_env_rpc::pb::environment_request::Payload as Asked;
use tetrion_protocol::dm_env_rpc::pb::environment_response::Payload as Answered;
use tetrion_protocol::dm_env_rpc::pb::environment_server::{Environment, EnvironmentServer};
use tetrion_protocol::dm_env_rpc::{settings, specs};
use tetrion_protocol::limits::MAX_SMALL_REQUEST_BYTES;

use super::caller::{Caller, CallerLimits};
use super::environment::random_seed;
use super::metrics::Counters;
use super::refusal::Refusal;
use super::session_state::SessionState;
use super::sessions::{NewSession, Prepared, Session, SessionStore};
use super::world::Door;

/// The service: worlds in a store of sessions.
#[derive(Clone, Debug)]
pub struct Worlds {
    store: Arc<SessionStore>,
    counters: Counters,
}

impl Worlds {
    /// A service on a store.
    pub fn new(store: Arc<SessionStore>) -> Worlds {
        Worlds { store, counters: Counters::new() }
    }

    /// The service as tonic serves it, with the bound on requests set.
    pub fn into_server(self) -> EnvironmentServer<Worlds> {
        EnvironmentServer::new(self)
            .max_decoding_message_size(MAX_SMALL_REQUEST_BYTES as usize)
            .accept_compressed(CompressionEncoding::Gzip)
            .accept_compressed(CompressionEncoding::Zstd)
            .send_compressed(CompressionEncoding::Zstd)
    }
}

#[tonic::async_trait]
impl Environment for Worlds {
    type ProcessStream = Pin<Box<dyn Stream<Item = Result<pb::EnvironmentResponse, Status>> + Send>>;

    /// Takes the next request from the connection only after answering the previous one, as in StepStream.
    async fn process(
        &self,
        request: Request<Streaming<pb::EnvironmentRequest>>,
    ) -> Result<Response<Self::ProcessStream>, Status> {
        let connection = Arc::new(WorldStream {
            store: self.store.clone(),
            counters: self.counters.clone(),
            caller: Caller::of(request.extensions()),
            limits: CallerLimits::of(request.extensions()),
            presence: Mutex::default(),
        });
        let answers = request.into_inner().then(move |request| {
            let connection = connection.clone();
            async move {
                let answer = connection.answer(request?).await;
                let payload = answer.unwrap_or_else(|refusal| Answered::Error(refusal.into()));
                Ok(pb::EnvironmentResponse { payload: Some(payload) })
            }
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

/// One stream, and the state to clean up when it ends.
#[derive(Debug)]
struct WorldStream {
    store: Arc<SessionStore>,
    counters: Counters,
    caller: Caller,
    limits: CallerLimits,
    presence: Mutex<OwnWorlds>,
}

/// The store of worlds by name. Every request looks up its world, so no connection keeps a world alive past its lease.
#[derive(Debug, Default)]
struct OwnWorlds {
    joined: Option<String>,
    made: Vec<String>,
}

impl WorldStream {
    async fn answer(&self, request: pb::EnvironmentRequest) -> Result<Answered, Refusal> {
        match request.payload {
            Some(Asked::CreateWorld(create)) => self.create(&create).map(Answered::CreateWorld),
            Some(Asked::JoinWorld(join)) => self.join(&join).await.map(Answered::JoinWorld),
            Some(Asked::Step(step)) => self.step(&step).await.map(Answered::Step),
            Some(Asked::Reset(reset)) => self.reset(&reset).await.map(Answered::Reset),
            Some(Asked::ResetWorld(reset)) => self.reset_world(&reset).await.map(Answered::ResetWorld),
            Some(Asked::LeaveWorld(_)) => {
                self.leave();
                Ok(Answered::LeaveWorld(pb::LeaveWorldResponse {}))
            }
            Some(Asked::DestroyWorld(destroy)) => self.destroy(&destroy).map(Answered::DestroyWorld),
            Some(Asked::Extension(_)) => {
                Err(DecodeError::field("payload", "is an extension, which this server does not support")
                    .into())
            }
            None => Err(DecodeError::missing("payload").into()),
        }
    }

    fn create(&self, request: &pb::CreateWorldRequest) -> Result<pb::CreateWorldResponse, Refusal> {
        let settings::WorldConfig { session: config, seeding, ttl } =
            settings::decode(&request.settings, random_seed)?;
        let new = NewSession {
            owner: self.caller.clone(),
            limits: self.limits,
            request: None,
            num_envs: config.env.num_envs,
            ttl,
            config: (&config).into(),
            door: Some(Door::new()),
        };
        let world = match self.store.prepare(&new)? {
            Prepared::Made(world) => world,
            Prepared::Room(room) => {
                room.fill(new, SessionState::new(config, seeding, self.store.memory())?)?
            }
        };
        let world_name = world.name();
        let mut presence = self.presence();
        // Some worlds may have ended already, by a client or with their lease.
        presence.made.retain(|name| self.store.exists(name));
        presence.made.push(world_name.clone());
        Ok(pb::CreateWorldResponse { world_name })
    }

    async fn join(&self, request: &pb::JoinWorldRequest) -> Result<pb::JoinWorldResponse, Refusal> {
        settings::decode_join(&request.settings)?;
        if let Some(joined) = &self.presence().joined
            && self.store.exists(joined)
        {
            return Err(Refusal::AlreadyJoined(joined.clone()));
        }
        let (world, door) = self.world(&request.world_name)?;
        if !door.enter() {
            return Err(Refusal::WorldInUse(request.world_name.clone()));
        }
        // From now on, the agent leaves when the connection ends.
        self.presence().joined = Some(request.world_name.clone());
        let specs = world.call(|state| Ok(specs::encode(state.batch()))).await?;
        // The previous agent may have left in the middle of an episode.
        world.call(|state| state.reset_world(None)).await?;
        Ok(pb::JoinWorldResponse { specs: Some(specs) })
    }

    async fn step(&self, request: &pb::StepRequest) -> Result<pb::StepResponse, Refusal> {
        let answer = self.joined()?.call(|state| state.step_world(request)).await?;
        self.counters.steps.increment(1);
        Ok(answer)
    }

    async fn reset(&self, request: &pb::ResetRequest) -> Result<pb::ResetResponse, Refusal> {
        let world = self.joined()?;
        let pieces = world.call(|state: &mut SessionState| Ok(state.batch().config().rules.pieces)).await?;
        let seeding = settings::decode_reset(&request.settings, &pieces)?;
        let reset =
            |state: &mut SessionState| state.reset_world(seeding).map(|()| specs::encode(state.batch()));
        let specs = world.call(reset).await?;
        Ok(pb::ResetResponse { specs: Some(specs) })
    }

    async fn reset_world(&self, request: &pb::ResetWorldRequest) -> Result<pb::ResetWorldResponse, Refusal> {
        let (world, _) = self.world(&request.world_name)?;
        let pieces = world.call(|state| Ok(state.batch().config().rules.pieces)).await?;
        let seeding = settings::decode_reset(&request.settings, &pieces)?;
        world.call(|state| state.cut_world(seeding)).await?;
        Ok(pb::ResetWorldResponse {})
    }

    fn destroy(&self, request: &pb::DestroyWorldRequest) -> Result<pb::DestroyWorldResponse, Refusal> {
        let (_, door) = self.world(&request.world_name)?;
        if !door.close() {
            return Err(Refusal::WorldInUse(request.world_name.clone()));
        }
        self.store.remove(&self.caller, "world_name", &request.world_name)?;
        self.presence().made.retain(|name| *name != request.world_name);
        Ok(pb::DestroyWorldResponse {})
    }

    fn leave(&self) {
        let Some(name) = self.presence().joined.take() else { return };
        if let Ok((_, door)) = self.world(&name)
            && door.leave()
        {
            let _ = self.store.remove(&self.caller, "world_name", &name);
        }
    }

    /// The world that the connection has joined.
    fn joined(&self) -> Result<Arc<Session>, Refusal> {
        let name = self.presence().joined.clone().ok_or(Refusal::NotJoined)?;
        Ok(self.world(&name)?.0)
    }

    /// The world with this name. Renews its lease.
    fn world(&self, name: &str) -> Result<(Arc<Session>, Arc<Door>), Refusal> {
        let session = self.store.find(&self.caller, "world_name", name)?;
        match session.door() {
            Some(door) => Ok((session, door)),
            None => Err(Refusal::field("world_name", "names a session, not a world")),
        }
    }

    fn presence(&self) -> MutexGuard<'_, OwnWorlds> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WorldStream {
    fn drop(&mut self) {
        self.leave();
        let made = std::mem::take(&mut self.presence().made);
        for name in made {
            if let Ok((_, door)) = self.world(&name)
                && door.abandon()
            {
                let _ = self.store.remove(&self.caller, "world_name", &name);
            }
        }
    }
}
