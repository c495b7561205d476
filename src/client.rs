//! A client: what our own commands and tests ask of servers, in plain types.
//!
//! It knows one server or several that are alike. With several, the games of an evaluation are cut into calls, and a server
//! that is done with one gets the next. A call that breaks costs nothing but time: the games that arrived are kept,
//! the others are asked for again by their indices, from whoever answers. Results depend on the request alone, never on
//! how many servers there were or which of them were lost.
//!
//! Sessions are in [`session`]: each lives on one server, and is stepped, saved and restored there.
//!
//! The surprising decision: tonic could balance over the addresses itself, but it draws them at random and goes on
//! drawing a dead one. Here every server has a connection of its own, two calls at most, and a rest after a failure.

pub mod session;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt;

use crate::wire::limits::MAX_RESPONSE_BYTES;
use crate::wire::pb;
use crate::wire::pb::environment_service_client::EnvironmentServiceClient;
use crate::wire::pb::evaluate_policies_request::Games;
use crate::wire::pb::evaluate_policies_response;
use crate::wire::pb::evaluation_service_client::EvaluationServiceClient;
use crate::wire::tensor::{self, Dim, Element};

/// How long a server may take to answer a call that is no work.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a silent server is asked whether it is there, and how long it may take to say so.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(10));
/// As large as the server's: results travel at full speed on one call and on many.
const STREAM_WINDOW: u32 = 4 << 20;
/// The same for all calls of a connection together.
const CONNECTION_WINDOW: u32 = 16 << 20;
/// How long a server rests after its first failure; twice as long after each further one.
const FIRST_REST: Duration = Duration::from_millis(100);
/// The longest rest.
const LONGEST_REST: Duration = Duration::from_secs(5);
/// Calls that a server has at a time where there are several servers: while one ends with few games left, the other
/// keeps all threads busy.
const CALLS_AT_A_TIME: usize = 2;
/// Calls a server over a whole evaluation: enough for the faster server to take more of them.
const CALLS_A_SERVER: usize = 6;
/// How often the games tell how far they are.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Connections to servers that are alike. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    servers: Vec<Server>,
    patience: Duration,
}

/// How to connect.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// The token that the servers want, if they want one.
    pub token: Option<String>,
    /// Certificates, as the text of a PEM file, of the authorities that may vouch for `https://` servers; without them, those
    /// that this machine trusts.
    pub authorities: Option<String>,
    /// How long to go on trying when no server answers any more.
    pub patience: Duration,
}

impl Default for ConnectOptions {
    fn default() -> ConnectOptions {
        ConnectOptions { token: None, authorities: None, patience: Duration::from_secs(60) }
    }
}

/// Features by the names the server lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Features {
    /// A set by name; with the version that weights were made for, or an empty one for any.
    Set {
        /// The name.
        name: String,
        /// The version.
        version: String,
    },
    /// A list of features.
    List(Vec<String>),
}

impl Features {
    fn encode(&self) -> pb::FeatureSelection {
        match self.clone() {
            Features::Set { name, version } => {
                pb::FeatureSelection { set: name, version, features: Vec::new() }
            }
            Features::List(features) => pb::FeatureSelection { features, ..Default::default() },
        }
    }
}

/// Who plays.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// An agent or a controller by name.
    Named {
        /// The name.
        name: String,
        /// Games played for each placement, by an agent that plays any.
        playouts: Option<u32>,
        /// Next pieces taken into account, by a linear controller.
        lookahead: Option<u32>,
    },
    /// A linear controller.
    Linear {
        /// What the weights belong to.
        features: Features,
        /// One a feature, signed.
        weights: Vec<f64>,
        /// Whether placements that end the game are the last choice, rather than scored like any other.
        avoid_terminal: bool,
        /// Next pieces taken into account.
        lookahead: u32,
    },
}

impl Policy {
    /// An agent or a controller by name, with the parameters that it has by itself.
    pub fn named(name: &str) -> Policy {
        Policy::Named { name: name.to_owned(), playouts: None, lookahead: None }
    }
}

/// The rules of the games: a preset, and what is not as in the preset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesChoice {
    /// The preset; empty for the server's default.
    pub preset: String,
    /// Columns.
    pub width: Option<u32>,
    /// Rows.
    pub height: Option<u32>,
    /// Who deals: `uniform`, `bag7` or `balanced`.
    pub randomizer: Option<String>,
    /// Next pieces shown.
    pub preview: Option<u32>,
}

impl RulesChoice {
    fn encode(&self) -> pb::Rules {
        let RulesChoice { preset, width, height, randomizer, preview } = self.clone();
        // A name that nobody knows becomes a number that nobody knows, and the server says so.
        let randomizer = randomizer.map(|name| {
            let name = format!("RANDOMIZER_{}", name.to_uppercase());
            pb::Randomizer::from_str_name(&name).unwrap_or(pb::Randomizer::Unspecified).into()
        });
        pb::Rules { preset, width, height, randomizer, preview, ..Default::default() }
    }
}

/// Games to be played: every policy on the same pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationRequest {
    /// The rules.
    pub rules: RulesChoice,
    /// The rules version that results must belong to; empty for any.
    pub rules_version: String,
    /// Who plays.
    pub policies: Vec<Policy>,
    /// What the seeds of the games are drawn from.
    pub seed: u64,
    /// Games a policy.
    pub num_games: u32,
    /// A game is cut after so many pieces; 0 for the server's limit.
    pub max_pieces: u64,
    /// A game is cut after so many steps, which are keys where the rules have keys; 0 for the server's limit.
    pub max_steps: u64,
}

/// A message of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The first: what is being played.
    Started(Box<Started>),
    /// Finished games.
    Games(Vec<Game>),
    /// How far it is.
    Progress(Progress),
    /// The last: all games have been told.
    Done,
}

/// What is being played, every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Started {
    /// The rules.
    pub rules: Rules,
    /// Their version.
    pub rules_version: String,
    /// A game is cut after so many pieces.
    pub max_pieces: u64,
    /// A game is cut after so many steps.
    pub max_steps: u64,
}

/// Rules as the server plays them, in the words of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The rule set they started from.
    pub preset: String,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Who deals.
    pub randomizer: String,
    /// What a step is.
    pub action_model: String,
    /// What ends a game.
    pub top_out: String,
    /// How orientations are numbered.
    pub orientation_table: String,
    /// Where a piece may come down.
    pub reach: String,
    /// Next pieces shown.
    pub preview: u32,
    /// Points for a piece.
    pub piece_points: f64,
    /// Points for 1, 2, 3 and 4 lines at once.
    pub line_points: [f64; 4],
    /// Points for the end of a game.
    pub game_end_points: f64,
}

/// A finished game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Game {
    /// Who played.
    pub policy: u32,
    /// Which of the evaluation's seeds.
    pub seed_index: u32,
    /// The seed that deals the same pieces again.
    pub seed: u64,
    /// Lines cleared.
    pub lines: u64,
    /// Pieces landed.
    pub pieces: u64,
    /// Steps taken: keys where the rules have keys, else pieces.
    pub steps: u64,
    /// Points under the rules' scoring.
    pub score: f64,
    /// Whether it was cut by a limit.
    pub truncated: bool,
}

/// How far an evaluation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Games finished.
    pub games: u64,
    /// Games in all.
    pub num_games: u64,
    /// Pieces landed, those of unfinished games included.
    pub pieces: u64,
}

/// A complete evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// What was played.
    pub started: Started,
    /// The games of each policy, in the order of their seeds.
    pub games: Vec<Vec<Game>>,
}

/// What a server is and can.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerInfo {
    /// The version of the program.
    pub server_version: String,
    /// Changes whenever equal rules, seeds and actions could give another game.
    pub rules_version: String,
    /// The code path that plays games there.
    pub kernel: String,
    /// Threads that play evaluations.
    pub num_threads: u32,
    /// Every feature set, written out for the width that was asked about.
    pub feature_sets: Vec<FeatureSetInfo>,
    /// The names of the linear controllers.
    pub controllers: Vec<String>,
    /// The rule sets, the default first.
    pub rules_presets: Vec<RulesPresetInfo>,
}

/// A rule set by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesPresetInfo {
    /// The name.
    pub name: String,
    /// Columns, where nobody asks for others.
    pub width: u32,
    /// Rows, where nobody asks for others.
    pub height: u32,
    /// Whether the server can play it.
    pub supported: bool,
}

/// A feature set by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureSetInfo {
    /// The name.
    pub name: String,
    /// Weights belong to a name and a version.
    pub version: String,
    /// One name a column, in order.
    pub columns: Vec<String>,
}

/// Why a server did not do what it was asked for.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ClientError {
    /// No address at all, or one that cannot be read.
    #[error("{address:?} is no address of a server, expected HOST:PORT such as 127.0.0.1:50451")]
    Address {
        /// What was given.
        address: String,
    },
    /// Nobody listens there.
    #[error("no server answers at {address}: {reason}; start one with `tetrion serve`")]
    Connect {
        /// Where.
        address: String,
        /// What the system says.
        reason: String,
    },
    /// The server was asked for something that it will not do.
    #[error("{message}")]
    Refused {
        /// The reason by name, such as `UNKNOWN_NAME`; empty if it gave none.
        reason: String,
        /// What it says.
        message: String,
    },
    /// A call broke on the way, or found the server busy or going down; another one may do better.
    #[error("lost the server at {address}: {message}")]
    Lost {
        /// Where.
        address: String,
        /// How.
        message: String,
    },
    /// The server said something that this client cannot read.
    #[error("cannot read the server's answer: {0}")]
    Answer(String),
}

/// A policy and a seed, by their indices: a game.
type Pair = (u32, u32);

impl Client {
    /// Connects to every one of these servers: `HOST:PORT`, or a URL.
    ///
    /// # Errors
    /// No address, one that cannot be read, or one where nobody answers within five seconds.
    pub async fn connect(addresses: &[String], options: ConnectOptions) -> Result<Client, ClientError> {
        let unreadable = |address: &str| ClientError::Address { address: address.to_owned() };
        if addresses.is_empty() {
            return Err(unreadable(""));
        }
        let authorization = match &options.token {
            Some(token) => {
                let value = format!("Bearer {token}").parse::<MetadataValue<Ascii>>();
                Some(value.map_err(|_| unreadable("a token that cannot be sent"))?)
            }
            None => None,
        };
        let mut servers = Vec::new();
        for address in addresses {
            let url = if address.contains("://") { address.clone() } else { format!("http://{address}") };
            let unreachable = |error: tonic::transport::Error| ClientError::Connect {
                address: address.clone(),
                reason: innermost(&error),
            };
            let mut endpoint = Endpoint::from_shared(url)
                .map_err(|_| unreadable(address))?
                .connect_timeout(CONNECT_TIMEOUT)
                .tcp_nodelay(true)
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .http2_keep_alive_interval(KEEPALIVE.0)
                .keep_alive_timeout(KEEPALIVE.1);
            if endpoint.uri().scheme_str() == Some("https") {
                let tls = match &options.authorities {
                    Some(authorities) => {
                        ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authorities))
                    }
                    None => ClientTlsConfig::new().with_native_roots(),
                };
                endpoint = endpoint.tls_config(tls).map_err(unreachable)?;
            }
            let channel = endpoint.connect().await.map_err(unreachable)?;
            servers.push(Server { address: address.clone(), channel, authorization: authorization.clone() });
        }
        Ok(Client { servers, patience: options.patience })
    }

    /// What the first server is and can; feature sets are written out for this width, 0 for 10.
    ///
    /// # Errors
    /// [`ClientError::Lost`] if it does not answer, or takes longer than half a minute for it.
    pub async fn server_info(&self, width: u32) -> Result<ServerInfo, ClientError> {
        let server = &self.servers[0];
        let mut client = EnvironmentServiceClient::new(server.channel.clone())
            .max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
        let mut request = server.request(pb::GetServerInfoRequest { width });
        request.set_timeout(CALL_TIMEOUT);
        let info = client.get_server_info(request).await.map_err(|status| server.error(&status))?;
        let info = info.into_inner();
        let feature_set = |set: pb::FeatureSet| FeatureSetInfo {
            name: set.name,
            version: set.version,
            columns: set.columns,
        };
        let rules_preset = |preset: pb::RulesPreset| {
            let rules = preset.rules.unwrap_or_default();
            let (width, height) = (rules.width(), rules.height());
            RulesPresetInfo { name: preset.name, width, height, supported: preset.supported }
        };
        Ok(ServerInfo {
            server_version: info.server_version,
            rules_version: info.rules_version,
            kernel: info.kernel,
            num_threads: info.num_threads,
            feature_sets: info.feature_sets.into_iter().map(feature_set).collect(),
            controllers: info.controllers.into_iter().map(|controller| controller.name).collect(),
            rules_presets: info.rules_presets.into_iter().map(rules_preset).collect(),
        })
    }

    /// Has all games played by the first server, and tells of them as they come.
    ///
    /// # Errors
    /// What the server refuses, or a server that does not answer.
    pub async fn evaluate(&self, request: &EvaluationRequest) -> Result<Events, ClientError> {
        self.servers[0].evaluate(request, None).await
    }

    /// Has all games played, whatever happens to single calls, and collects them.
    ///
    /// # Errors
    /// What a server refuses, or that no server has answered for as long as [`ConnectOptions::patience`].
    pub async fn evaluate_all(
        &self,
        request: &EvaluationRequest,
        mut progress: impl FnMut(Progress),
    ) -> Result<Evaluated, ClientError> {
        let num_policies = request.policies.len() as u32;
        let pairs: Vec<Pair> = (0..num_policies)
            .flat_map(|policy| (0..request.num_games).map(move |seed| (policy, seed)))
            .collect();
        let mut run = Run::new(self, request, pairs);
        let mut collected = Collected {
            started: None,
            games: vec![vec![None; request.num_games as usize]; request.policies.len()],
            done: Progress { num_games: run.num_games, ..Progress::default() },
            pieces_by_call: Vec::new(),
        };
        loop {
            run.hand_out();
            if run.calls.is_empty() && run.queue.is_empty() {
                break;
            }
            let next_attempt = run.next_attempt();
            tokio::select! {
                biased; // what has arrived is collected before its call is found to be over
                Some((call, event)) = run.events.recv() => {
                    if collected.take(call, event)? {
                        run.failing_since = None;
                    }
                    progress(collected.progress());
                }
                Some(ended) = run.calls.join_next() => {
                    run.end_call(ended.map_err(|error| ClientError::Answer(error.to_string()))?)?;
                }
                () = tokio::time::sleep_until(next_attempt) => {}
            }
        }
        while let Ok((call, event)) = run.events.try_recv() {
            collected.take(call, event)?;
        }
        progress(collected.progress());
        collected.finish()
    }
}

/// An evaluation under way.
#[derive(Debug)]
pub struct Events {
    address: String,
    stream: Streaming<pb::EvaluatePoliciesResponse>,
    done: bool,
}

impl Events {
    /// The next message; `None` after [`Event::Done`].
    ///
    /// # Errors
    /// [`ClientError::Lost`] if the connection broke or the answer ended too early.
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        use evaluate_policies_response::Event as Message;
        if self.done {
            return Ok(None);
        }
        let message = self.stream.message().await.map_err(|status| error(&self.address, &status))?;
        let Some(message) = message else {
            let message = "the answer ended before all games did".to_owned();
            return Err(ClientError::Lost { address: self.address.clone(), message });
        };
        Ok(Some(match message.event {
            Some(Message::Started(started)) => Event::Started(Box::new(decode_started(started)?)),
            Some(Message::Results(results)) => Event::Games(decode_games(&results)?),
            Some(Message::Progress(progress)) => Event::Progress(Progress {
                games: progress.games_done,
                num_games: progress.num_games,
                pieces: progress.pieces_done,
            }),
            Some(Message::Summary(_)) => {
                self.done = true;
                Event::Done
            }
            None => return Err(ClientError::Answer("an event of an unknown kind".to_owned())),
        }))
    }
}

/// A server and the connection to it, which is made anew by itself when it has broken.
#[derive(Clone, Debug)]
struct Server {
    address: String,
    channel: Channel,
    authorization: Option<MetadataValue<Ascii>>,
}

impl Server {
    fn request<T>(&self, message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        if let Some(authorization) = &self.authorization {
            request.metadata_mut().insert("authorization", authorization.clone());
        }
        request
    }

    fn error(&self, status: &Status) -> ClientError {
        error(&self.address, status)
    }

    async fn evaluate(
        &self,
        request: &EvaluationRequest,
        pairs: Option<&[Pair]>,
    ) -> Result<Events, ClientError> {
        let mut client = EvaluationServiceClient::new(self.channel.clone())
            .max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
        let answer = client.evaluate_policies(self.request(encode(request, pairs))).await;
        let stream = answer.map_err(|status| self.error(&status))?.into_inner();
        Ok(Events { address: self.address.clone(), stream, done: false })
    }

    /// One call to its end, however it ends: takes the games that came out of `missing`.
    async fn call(
        &self,
        request: &EvaluationRequest,
        missing: &mut BTreeSet<Pair>,
        number: usize,
        events: &mpsc::Sender<(usize, Event)>,
    ) -> Result<(), ClientError> {
        let all = missing.len() as u64 == request.policies.len() as u64 * u64::from(request.num_games);
        let pairs: Vec<Pair> = missing.iter().copied().collect();
        let mut answer = self.evaluate(request, (!all).then_some(&pairs)).await?;
        while let Some(event) = answer.next().await? {
            if let Event::Games(games) = &event
                && let Some(game) = games.iter().find(|game| !missing.remove(&(game.policy, game.seed_index)))
            {
                let message = format!("it holds a game that was not asked for: {game:?}");
                return Err(ClientError::Answer(message));
            }
            if events.send((number, event)).await.is_err() {
                break; // nobody waits for it any more
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(ClientError::Answer(format!("{} games are missing in it", missing.len())))
    }
}

/// The calls of one evaluation, handed out to the servers.
struct Run<'a> {
    client: &'a Client,
    request: Arc<EvaluationRequest>,
    num_games: u64,
    queue: VecDeque<BTreeSet<Pair>>,
    places: Vec<Place>,
    calls: JoinSet<EndedCall>,
    num_calls: usize,
    sender: mpsc::Sender<(usize, Event)>,
    events: mpsc::Receiver<(usize, Event)>,
    /// Since when calls have failed and no game has come.
    failing_since: Option<Instant>,
}

/// What is going on at a server.
#[derive(Clone, Default)]
struct Place {
    calls: usize,
    failures: u32,
    resting_until: Option<Instant>,
}

struct EndedCall {
    server: usize,
    missing: BTreeSet<Pair>,
    result: Result<(), ClientError>,
}

impl<'a> Run<'a> {
    fn new(client: &'a Client, request: &EvaluationRequest, pairs: Vec<Pair>) -> Run<'a> {
        let num_servers = client.servers.len();
        let num_calls = if num_servers == 1 { 1 } else { num_servers * CALLS_A_SERVER };
        let size = pairs.len().div_ceil(num_calls).max(1);
        let (sender, events) = mpsc::channel(64);
        Run {
            client,
            request: Arc::new(request.clone()),
            num_games: pairs.len() as u64,
            queue: pairs.chunks(size).map(|pairs| pairs.iter().copied().collect()).collect(),
            places: vec![Place::default(); num_servers],
            calls: JoinSet::new(),
            num_calls: 0,
            sender,
            events,
            failing_since: None,
        }
    }

    /// Gives every server that has room a call, as long as there are any.
    fn hand_out(&mut self) {
        let now = Instant::now();
        for room in 1..=CALLS_AT_A_TIME {
            for (server, place) in self.places.iter_mut().enumerate() {
                if place.calls >= room || place.resting_until.is_some_and(|until| until > now) {
                    continue;
                }
                let Some(mut missing) = self.queue.pop_front() else { return };
                place.calls += 1;
                let number = self.num_calls;
                self.num_calls += 1;
                let (client, request, sender) =
                    (self.client.servers[server].clone(), self.request.clone(), self.sender.clone());
                self.calls.spawn(async move {
                    let result = client.call(&request, &mut missing, number, &sender).await;
                    EndedCall { server, missing, result }
                });
            }
        }
    }

    /// When a server that rests is tried again.
    fn next_attempt(&self) -> Instant {
        let now = Instant::now();
        let waking = self.places.iter().filter_map(|place| place.resting_until).filter(|until| *until > now);
        waking.min().unwrap_or(now + LONGEST_REST)
    }

    fn end_call(&mut self, ended: EndedCall) -> Result<(), ClientError> {
        let place = &mut self.places[ended.server];
        place.calls -= 1;
        match ended.result {
            Ok(()) => *place = Place { calls: place.calls, ..Place::default() },
            Err(error @ ClientError::Lost { .. }) => {
                let now = Instant::now();
                let rest = FIRST_REST * 2u32.pow(place.failures.min(6));
                place.failures += 1;
                place.resting_until = Some(now + rest.min(LONGEST_REST));
                if now - *self.failing_since.get_or_insert(now) >= self.client.patience {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
        if !ended.missing.is_empty() {
            self.queue.push_back(ended.missing);
        }
        Ok(())
    }
}

/// The games of an evaluation, as they come in.
struct Collected {
    started: Option<Started>,
    games: Vec<Vec<Option<Game>>>,
    done: Progress,
    /// Pieces that each call has told of.
    pieces_by_call: Vec<u64>,
}

impl Collected {
    /// Takes an event in; true if it brought games.
    fn take(&mut self, call: usize, event: Event) -> Result<bool, ClientError> {
        match event {
            Event::Started(started) => match &self.started {
                Some(first) if *first != *started => {
                    let message = "the servers do not play the same game; are they of one version?";
                    return Err(ClientError::Answer(message.to_owned()));
                }
                _ => self.started = Some(*started),
            },
            Event::Games(games) => {
                for game in games {
                    self.games[game.policy as usize][game.seed_index as usize] = Some(game);
                    self.done.games += 1;
                }
                return Ok(true);
            }
            Event::Progress(progress) => {
                if self.pieces_by_call.len() <= call {
                    self.pieces_by_call.resize(call + 1, 0);
                }
                self.pieces_by_call[call] = progress.pieces;
            }
            Event::Done => {}
        }
        Ok(false)
    }

    fn progress(&self) -> Progress {
        Progress { pieces: self.pieces_by_call.iter().sum(), ..self.done }
    }

    fn finish(self) -> Result<Evaluated, ClientError> {
        let missing = || ClientError::Answer("games are missing".to_owned());
        let games = self.games.into_iter().map(|games| games.into_iter().collect::<Option<Vec<Game>>>());
        Ok(Evaluated {
            started: self.started.ok_or_else(missing)?,
            games: games.collect::<Option<_>>().ok_or_else(missing)?,
        })
    }
}

/// What a server refuses on purpose carries an `ErrorInfo`; what carries none happened on the way.
fn error(address: &str, status: &Status) -> ClientError {
    let info = status.get_details_error_info();
    let lost = match (&info, status.code()) {
        (Some(info), _) => ["DRAINING", "EVALUATION_LIMIT"].contains(&info.reason.as_str()),
        (None, Code::Unimplemented | Code::OutOfRange | Code::InvalidArgument) => false,
        (None, _) => true,
    };
    let message = match status.message() {
        "" => status.code().to_string(),
        message => message.to_owned(),
    };
    if lost {
        return ClientError::Lost { address: address.to_owned(), message };
    }
    ClientError::Refused { reason: info.map(|info| info.reason).unwrap_or_default(), message }
}

/// What lies under an error that says no more than that there was one.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

fn encode(request: &EvaluationRequest, pairs: Option<&[Pair]>) -> pb::EvaluatePoliciesRequest {
    let pairs = pairs.map(|pairs| {
        let numbers: Vec<u32> = pairs.iter().flat_map(|&(policy, seed)| [policy, seed]).collect();
        tensor::encode(vec![pairs.len() as u32, 2], &numbers)
    });
    pb::EvaluatePoliciesRequest {
        rules: Some(request.rules.encode()),
        rules_version: request.rules_version.clone(),
        agents: request.policies.iter().map(encode_policy).collect(),
        games: Some(Games::SeedRange(pb::SeedRange { seed: request.seed, count: request.num_games })),
        pairs,
        max_pieces: request.max_pieces,
        max_steps: request.max_steps,
        progress_interval: prost_types::Duration::try_from(PROGRESS_INTERVAL).ok(),
        ..Default::default()
    }
}

fn encode_policy(policy: &Policy) -> pb::Agent {
    match policy {
        Policy::Named { name, playouts, lookahead } => {
            pb::Agent { name: name.clone(), playouts: *playouts, lookahead: *lookahead, ..Default::default() }
        }
        Policy::Linear { features, weights, avoid_terminal, lookahead } => {
            let terminal = if *avoid_terminal { pb::TerminalScore::Avoid } else { pb::TerminalScore::Score };
            pb::Agent {
                name: "linear".to_owned(),
                features: Some(features.encode()),
                weights: weights.clone(),
                terminal: terminal.into(),
                lookahead: Some(*lookahead),
                ..Default::default()
            }
        }
    }
}

fn decode_started(started: pb::EvaluationStarted) -> Result<Started, ClientError> {
    let rules = started.rules.ok_or_else(|| ClientError::Answer("it has no rules".to_owned()))?;
    let scoring = rules.scoring.clone().unwrap_or_default();
    let line_points = scoring.lines.as_slice().try_into();
    Ok(Started {
        rules: Rules {
            width: rules.width(),
            height: rules.height(),
            randomizer: word(rules.randomizer().as_str_name(), "RANDOMIZER_"),
            action_model: word(rules.action_model().as_str_name(), "ACTION_MODEL_"),
            top_out: word(rules.top_out().as_str_name(), "TOP_OUT_"),
            orientation_table: word(rules.orientation_table().as_str_name(), "ORIENTATION_TABLE_"),
            reach: word(rules.reach().as_str_name(), "REACH_"),
            preview: rules.preview(),
            piece_points: scoring.piece(),
            line_points: line_points
                .map_err(|_| ClientError::Answer("it has not four points for lines".to_owned()))?,
            game_end_points: scoring.game_end(),
            preset: rules.preset,
        },
        rules_version: started.rules_version,
        max_pieces: started.max_pieces,
        max_steps: started.max_steps,
    })
}

/// `TOP_OUT_SPAWN_BLOCKED` without its prefix: `spawn_blocked`.
fn word(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_lowercase()
}

fn decode_games(results: &pb::EvaluationResults) -> Result<Vec<Game>, ClientError> {
    fn column<T: Element>(tensor: &Option<pb::Tensor>, name: &str) -> Result<Vec<T>, ClientError> {
        let array = tensor::decode_field::<T>(tensor.as_ref(), name, &[Dim::Any]);
        array.map(|array| array.elements).map_err(|error| ClientError::Answer(error.to_string()))
    }
    let policies = column::<u32>(&results.policy_indices, "policy_indices")?;
    let seed_indices = column::<u32>(&results.seed_indices, "seed_indices")?;
    let seeds = column::<u64>(&results.seeds, "seeds")?;
    let lines = column::<u64>(&results.lines, "lines")?;
    let pieces = column::<u64>(&results.pieces, "pieces")?;
    let steps = column::<u64>(&results.steps, "steps")?;
    let scores = column::<f64>(&results.scores, "scores")?;
    let truncated = results.truncated.as_ref().map(|tensor| tensor.data.as_ref()).unwrap_or_default();
    let length = policies.len();
    let lengths = [seed_indices.len(), seeds.len(), lines.len(), pieces.len(), steps.len(), scores.len()];
    if lengths.iter().any(|other| *other != length) || truncated.len() != length {
        return Err(ClientError::Answer("its columns are of different lengths".to_owned()));
    }
    let game = |i: usize| Game {
        policy: policies[i],
        seed_index: seed_indices[i],
        seed: seeds[i],
        lines: lines[i],
        pieces: pieces[i],
        steps: steps[i],
        score: scores[i],
        truncated: truncated[i] != 0,
    };
    Ok((0..length).map(game).collect())
}
