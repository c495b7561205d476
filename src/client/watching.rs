//! Watching a session that another caller steps. It renews no lease, and ends with the session.

use tokio::time::timeout;
use tonic::Streaming;

use super::connection::{CALL_TIMEOUT, LinkedServer};
use super::error::{error, lost};
use super::{Client, ClientError};
use tetrion_core::engine::Rules;
use tetrion_protocol::pb::watch_session_response::Event;
use tetrion_protocol::rules::ResolvedRules;
use tetrion_protocol::watching::decode_env;
pub use tetrion_protocol::watching::{EpisodePhase, WatchedEnv, WatchedEpisode};
use tetrion_protocol::{InField, envs, pb};

/// Description of a watched session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WatchedSession {
    /// Name of the session, `sessions/ID`.
    pub name: String,
    /// The session's name for people; empty for none.
    pub label: String,
    pub rules: Rules,
    /// Number of environments of the session.
    pub num_envs: u32,
    /// The watched environments, in the order of the frames.
    pub env_ids: Vec<u32>,
}

/// A listed session: what a person needs to recognize it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListedSession {
    /// Name of the session, `sessions/ID`.
    pub name: String,
    /// The session's name for people; empty for none.
    pub label: String,
    /// Whether a person looks at the session where it was created.
    pub interactive: bool,
    /// Number of environments of the session.
    pub num_envs: u32,
    /// The preset that the rules are based on.
    pub preset: String,
    pub width: u32,
    pub height: u32,
    /// Number of calls that have changed the session so far.
    pub sequence_number: u64,
}

/// State of a session at one moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WatchedFrame {
    /// Number of calls that have changed the session so far.
    pub sequence_number: u64,
    /// The watched environments, in the order of [`WatchedSession::env_ids`].
    pub envs: Vec<WatchedEnv>,
}

/// A session in the process of being watched.
#[derive(Debug)]
pub struct Watching {
    server: LinkedServer,
    session: WatchedSession,
    stream: Streaming<pb::WatchSessionResponse>,
}

impl Client {
    /// The caller's sessions on the first server, oldest first. Renews no lease.
    ///
    /// # Errors
    /// If the server refuses, or does not answer within half a minute.
    pub async fn sessions(&self) -> Result<Vec<ListedSession>, ClientError> {
        let server = &self.servers[0];
        let mut client = server.environments();
        let (mut sessions, mut page_token) = (Vec::new(), String::new());
        loop {
            let mut request = server.request(pb::ListSessionsRequest { page_size: 0, page_token });
            request.set_timeout(CALL_TIMEOUT);
            let answer = client.list_sessions(request).await.map_err(|status| server.error(&status))?;
            let answer = answer.into_inner();
            sessions.extend(answer.sessions.into_iter().map(decode_listed));
            page_token = answer.next_page_token;
            if page_token.is_empty() {
                return Ok(sessions);
            }
        }
    }

    /// Watches environments of a session on the first server; `None` means all, up to the server's limit.
    ///
    /// # Errors
    /// If the server refuses, or does not answer within half a minute.
    pub async fn watch_session(&self, name: &str, env_ids: Option<&[u32]>) -> Result<Watching, ClientError> {
        let server = self.servers[0].clone();
        let request = pb::WatchSessionRequest {
            session: name.to_owned(),
            envs: envs::encode(env_ids),
            max_frames_per_second: 0,
        };
        let mut client = server.environments();
        let answer = timeout(CALL_TIMEOUT, client.watch_session(server.request(request))).await;
        let answer = answer.map_err(|_| silent(&server))?.map_err(|status| server.error(&status))?;
        let mut stream = answer.into_inner();
        let Event::Started(started) = event(&server, &mut stream).await? else {
            return Err(ClientError::Answer("it has a frame before the first message".to_owned()));
        };
        Ok(Watching { server, session: decode_started(started)?, stream })
    }
}

fn decode_listed(pb::Session { name, config, sequence_number, .. }: pb::Session) -> ListedSession {
    let config = config.unwrap_or_default();
    let rules = config.rules.unwrap_or_default();
    ListedSession {
        name,
        label: config.label,
        interactive: config.interactive,
        num_envs: config.num_envs,
        preset: rules.preset,
        width: rules.width,
        height: rules.height,
        sequence_number,
    }
}

impl Watching {
    /// Description of the watched session.
    pub fn session(&self) -> &WatchedSession {
        &self.session
    }

    /// The next frame: the newest state of the session. A frame equal to the previous one shows that the session is
    /// still there.
    ///
    /// # Errors
    /// [`ClientError::Refused`] when the session has ended, [`ClientError::Lost`] if the server stops, the connection
    /// broke or nothing came for half a minute.
    pub async fn next(&mut self) -> Result<WatchedFrame, ClientError> {
        let Event::Frame(frame) = event(&self.server, &mut self.stream).await? else {
            return Err(ClientError::Answer("it begins twice".to_owned()));
        };
        let ids = frame.envs.iter().map(|env| env.env_id);
        if !ids.eq(self.session.env_ids.iter().copied()) {
            return Err(ClientError::Answer("it shows other environments than it said".to_owned()));
        }
        let decode = |(n, env)| decode_env(env, &self.session.rules).in_field(&format!("envs[{n}]"));
        let envs: Result<Vec<WatchedEnv>, _> = frame.envs.iter().enumerate().map(decode).collect();
        let envs = envs.map_err(|error| ClientError::Answer(error.to_string()))?;
        Ok(WatchedFrame { sequence_number: frame.sequence_number, envs })
    }
}

/// The next message. The server sends one at least every ten seconds.
async fn event(
    server: &LinkedServer,
    stream: &mut Streaming<pb::WatchSessionResponse>,
) -> Result<Event, ClientError> {
    let message = timeout(CALL_TIMEOUT, stream.message()).await.map_err(|_| silent(server))?;
    let message = message.map_err(|status| error(&server.address, &status))?;
    let message = message.ok_or_else(|| lost(&server.address, "the answer ended before the session did"))?;
    message.event.ok_or_else(|| ClientError::Answer("an event of an unknown kind".to_owned()))
}

fn silent(server: &LinkedServer) -> ClientError {
    lost(&server.address, "nothing came for half a minute")
}

fn decode_started(started: pb::WatchStarted) -> Result<WatchedSession, ClientError> {
    let missing = || ClientError::Answer("it has no session".to_owned());
    let session = started.session.ok_or_else(missing)?;
    let config = session.config.ok_or_else(missing)?;
    let num_envs = config.num_envs;
    let mut rules = config.rules.ok_or_else(missing)?;
    // Every field is filled in, so any preset will do.
    rules.preset.clear();
    let resolved = ResolvedRules::try_from(&rules).in_field("rules");
    let ResolvedRules { rules, .. } = resolved.map_err(|error| ClientError::Answer(error.to_string()))?;
    let (name, label) = (session.name, config.label);
    Ok(WatchedSession { name, label, rules, num_envs, env_ids: started.env_ids })
}
