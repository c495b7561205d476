//! The server: one port, from the socket to the services, and its shutdown.
//!
//! One port serves three kinds of clients: gRPC over HTTP/2; gRPC-Web over HTTP/1.1 or HTTP/2, for pages in browsers;
//! plain HTTP for `/`, a web page, and `/metrics`, for Prometheus. Health and reflection are ordinary services.
//!
//! Shutdown belongs here, because it concerns the process and not a call. [`Server::run`] returns within a bounded time
//! after its shutdown future, however many streams are open. Health becomes NOT_SERVING, and the server refuses new
//! calls. It ends streams between two messages, answers calls in progress, and drops the rest after
//! [`ServerConfig::drain_timeout`].
//!
//! The surprising decision: no service knows about any of this. Everything around a call (counting, the token, panics,
//! shutdown) is in one layer, `calls`, so that a service cannot forget it.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see cli::output of `tetrion`

mod addresses;
mod call_body;
pub mod calls;
mod codes;
mod connection;
mod decompress;
mod front;
pub mod headers;
mod held;
mod hosts;
mod incoming;
mod inside;
mod metrics;
mod origins;
mod page;
mod panics;
mod process;
mod reception;
mod record;
mod request_id;
mod serving;
mod state_dir;
mod statuses;
mod tls;
mod token;
mod traces;
mod training;
mod web;

use std::future::{Future, pending};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{HeaderName, Method};
use tokio::net::TcpListener;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tonic_web::GrpcWebLayer;
use tower::Layer;
use tower_http::cors::{AllowHeaders, AllowOrigin, Any, CorsLayer};
use tracing::{info, warn};

use self::metrics::{Activity, Threads};
use connection::Connections;
use front::Front;
pub use hosts::Hosts;
use incoming::IncomingConnections;
pub use inside::Inside;
pub use origins::Origins;
pub use panics::log_panics;
use state_dir::StateDir;
use tetrion_core::pool::{Pool, PoolError};
use tetrion_protocol::codec::{Gate, set_aside, set_gate};
use tetrion_protocol::pb::{environment_service_server, evaluation_service_server};
use tetrion_service::status::Refusal;
use tetrion_service::{
    CallContext, CallPool, Clock, Environments, Evaluations, Kernel, Pressure, ServerFacts, ServerLimits,
    SessionStore, reap_forever,
};
pub use tls::{Tls, TlsError, TlsFiles, Validity, date};
pub use token::{Replaced, TokenFile, TokenFileError, Tokens};
use traces::Traces;
pub use traces::{CollectorError, is_collector};
pub use training::TrainingCurve;

/// The services whose health is reported, besides "" for the whole server.
const SERVICES: [&str; 2] =
    [environment_service_server::SERVICE_NAME, evaluation_service_server::SERVICE_NAME];

/// Niceness of the threads for long calls, and of those that play games. The I/O threads have 0, so short calls come
/// first, then long ones, then games.
const NICENESS: (i32, i32) = (5, 10);

/// Settings of a server. [`ServerConfig::default`] is `tetrion serve` without flags.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Address to listen on. Port 0 selects a free port; [`Server::local_addr`] returns it.
    pub listen: SocketAddr,
    /// Threads that play whole games; 0 for one per core.
    pub num_threads: usize,
    /// Kernel that measures placements. All kernels give equal results.
    pub kernel: Kernel,
    /// Limits on what clients can make the server hold.
    pub limits: ServerLimits,
    /// Time after the start of the shutdown in which open calls may end.
    pub drain_timeout: Duration,
    /// Accepted tokens. Each call must carry one as `authorization: Bearer TOKEN`; health and reflection stay open.
    pub tokens: Tokens,
    /// Certificate for encryption, which can be replaced; `None` for unencrypted connections.
    pub tls: Option<Tls>,
    /// Origins whose pages may call from a browser.
    pub origins: Origins,
    /// Folder for sessions that outlive the server; with `None` they end with it.
    pub state: Option<PathBuf>,
    /// Hosts that requests may name.
    pub hosts: Hosts,
    /// Whether `/` shows the page.
    pub page: bool,
    /// Learning curve of a training run in this process, for the page.
    pub training: Option<TrainingCurve>,
    /// URL of a collector that receives traces over OTLP; with `None` tracing is off.
    pub otlp: Option<String>,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 50451)),
            num_threads: 0,
            kernel: Kernel::default(),
            limits: ServerLimits::default(),
            drain_timeout: Duration::from_secs(10),
            tokens: Tokens::default(),
            tls: None,
            origins: Origins::Loopback,
            state: None,
            hosts: Hosts::Local(Vec::new()),
            page: true,
            training: None,
            otlp: None,
        }
    }
}

impl ServerConfig {
    fn state_error(&self, source: std::io::Error) -> ServerError {
        ServerError::State { path: self.state.clone().unwrap_or_default(), source }
    }
}

/// The reason why a server cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is in use, or does not belong to this machine.
    #[error("cannot listen on {listen}")]
    Listen { listen: SocketAddr, source: std::io::Error },
    /// The threads that play games cannot be started.
    #[error("cannot start the threads that play games")]
    Threads(#[from] PoolError),
    /// The folder for sessions cannot be used, or the sessions cannot be written to it.
    #[error("cannot keep sessions in {}", path.display())]
    State { path: PathBuf, source: std::io::Error },
    /// The collector's URL cannot be used.
    #[error("cannot send traces")]
    Traces(#[from] CollectorError),
    /// The system has no random numbers, which names of sessions and ids of requests need.
    #[error("cannot get random numbers from the system")]
    Randomness(#[source] getrandom::Error),
}

/// A server that listens but does not serve yet. Connections wait for [`Server::run`].
#[derive(Debug)]
pub struct Server {
    local_addr: SocketAddr,
    listener: TcpListener,
    network: Arc<Connections>,
    services: ServiceSet,
    state: Option<StateDir>,
    traces: Option<Traces>,
    config: ServerConfig,
}

/// Sets how the codec reserves memory for requests, refuses them, and does long work.
fn prepare_codec() {
    set_aside(in_place);
    set_gate(Gate { refuse: |error| Refusal::from(error).into(), charge: reception::charge });
}

/// The services that the port serves.
#[derive(Clone, Debug)]
struct ServiceSet {
    store: Arc<SessionStore>,
    environments: Environments,
    evaluations: Evaluations,
    players: Arc<Pool>,
    callers: Arc<Pool>,
    limits: ServerLimits,
}

impl ServiceSet {
    fn new(config: &ServerConfig, pressure: &Pressure) -> Result<ServiceSet, ServerError> {
        metrics::install();
        let players = Pool::with_niceness(config.num_threads, "player", NICENESS.1)?;
        let callers = Pool::with_niceness(0, "caller", NICENESS.0)?;
        let calls = CallPool::new(callers.clone(), config.limits.max_call_work, pressure.clone());
        let facts = ServerFacts {
            limits: config.limits,
            num_threads: players.num_threads() as u32,
            kernel: config.kernel,
        };
        let store = Arc::new(SessionStore::new(config.limits, Clock::system(), pressure));
        Ok(ServiceSet {
            environments: Environments::new(store.clone(), calls.clone(), facts),
            evaluations: Evaluations::new(players.clone(), calls, config.kernel, config.limits),
            players,
            callers,
            limits: config.limits,
            store,
        })
    }

    fn activity(&self, network: &Connections, tls: Option<&Tls>) -> Activity {
        let (request_bytes, answer_bytes) = network.memory();
        let threads =
            |name, pool: &Pool| Threads { pool: name, number: pool.num_threads(), activity: pool.activity() };
        Activity {
            session_bytes: self.store.memory().taken(),
            evaluation_bytes: self.evaluations.memory().taken(),
            request_bytes,
            answer_bytes,
            sessions: self.store.num_sessions(),
            max_sessions: self.limits.max_sessions,
            environments: self.store.num_envs(),
            max_environments: self.limits.max_envs,
            watches: self.store.num_watches(),
            max_watches: self.limits.max_watches,
            evaluations: self.evaluations.num_running(),
            max_evaluations: self.limits.max_evaluations,
            certificate_expiry: tls.map(|tls| tls.validity().ends),
            pools: [threads("player", &self.players), threads("caller", &self.callers)],
        }
    }
}

impl Server {
    /// Binds the port, starts the threads, and restores the sessions that the previous server left.
    ///
    /// # Errors
    /// If the address cannot be bound, the threads cannot be started, or the collector's URL or the folder for sessions
    /// cannot be used.
    pub async fn bind(config: ServerConfig) -> Result<Server, ServerError> {
        // On systems without a call for random numbers, they come from a file that the first use opens. This use finds
        // out early if the file is missing, or if all file descriptors are in use.
        getrandom::u64().map_err(ServerError::Randomness)?;
        let listen = config.listen;
        let unbound = |source| ServerError::Listen { listen, source };
        let listener = TcpListener::bind(listen).await.map_err(unbound)?;
        let local_addr = listener.local_addr().map_err(unbound)?;
        let pressure = Pressure::new(config.limits.memory, process::memory);
        let services = ServiceSet::new(&config, &pressure)?;
        let open =
            |path: &PathBuf| StateDir::open(path, &services.store).map_err(|error| config.state_error(error));
        let state = config.state.as_ref().map(open).transpose()?;
        let network = Connections::new(config.limits, &pressure);
        let traces = config.otlp.as_deref().map(Traces::start).transpose()?;
        Ok(Server { local_addr, listener, network, services, state, traces, config })
    }

    /// The address on which the server listens, with its actual port.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Serves until `shutdown` completes and open calls have ended, at most [`ServerConfig::drain_timeout`] later. Then
    /// it writes the sessions to their folder, if any.
    ///
    /// # Errors
    /// If the sessions cannot be written.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), ServerError> {
        self.run_until(shutdown, pending()).await
    }

    /// Serves like [`Server::run`], but drops the calls that are still open when `hurry` completes. It still writes the
    /// sessions.
    ///
    /// # Errors
    /// If the sessions cannot be written.
    pub async fn run_until(
        self,
        shutdown: impl Future<Output = ()>,
        hurry: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        let drain = CancellationToken::new();
        prepare_codec();
        let health = HealthReporter::new();
        set_health(&health, ServingStatus::Serving).await;
        let store = self.services.store.clone();
        if let Some(state) = &self.state {
            state.begin(&store).map_err(|error| self.config.state_error(error))?;
        }
        let reaper = reap_forever(store.clone());
        let keep_room = async {
            match &self.state {
                Some(state) => state.keep_room(&store).await,
                None => pending().await,
            }
        };
        let app =
            app(self.services, &self.config, &self.network, self.traces.clone(), &health, drain.clone());
        let mut drain_ends = None;
        let begin_drain = async {
            shutdown.await;
            drain_ends = Some(Instant::now() + self.config.drain_timeout);
            info!("draining: no new calls, open streams end");
            set_health(&health, ServingStatus::NotServing).await;
            drain.cancel();
        };
        let incoming = IncomingConnections::new(self.listener, self.network, self.config.tls.clone());
        let max_calls = self.config.limits.max_calls_per_connection;
        let serving = serving::serve(app, incoming, max_calls, begin_drain);
        let out_of_time = async {
            drain.cancelled().await;
            tokio::time::sleep(self.config.drain_timeout).await;
        };
        tokio::select! {
            () = serving => {}
            () = out_of_time => warn!("calls still open after {:?} are dropped", self.config.drain_timeout),
            () = hurry => drain_ends = Some(Instant::now()),
            never = metrics::keep_small() => match never {},
            never = keep_room => match never {},
            () = reaper => {}
        }
        let kept = match &self.state {
            Some(state) => state.put_away(&store).await,
            None => Ok(()),
        };
        if let Some(traces) = self.traces {
            let left = drain_ends
                .map_or(self.config.drain_timeout, |end| end.saturating_duration_since(Instant::now()));
            traces.finish(left).await;
        }
        kept.map_err(|error| self.config.state_error(error))?;
        info!("stopped");
        Ok(())
    }
}

/// The routes and layers that serve the port.
fn app(
    services: ServiceSet,
    config: &ServerConfig,
    network: &Arc<Connections>,
    traces: Option<Traces>,
    health: &HealthReporter,
    drain: CancellationToken,
) -> Front {
    let (watched, watched_network) = (services.clone(), network.clone());
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(tetrion_protocol::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let broken = "build.rs wrote a descriptor set that cannot be read";
    let health = tonic_health::pb::health_server::HealthServer::new(
        tonic_health::server::HealthService::from_health_reporter(health.clone()),
    );
    let calls = calls::CallLayer::new(drain, config.tokens.clone(), services.callers, traces);
    let environments = services.environments.into_server();
    let routes = Routes::new(environments.clone())
        .add_service(services.evaluations.into_server())
        .add_service(health)
        .add_service(reflection().build_v1().expect(broken))
        .add_service(reflection().build_v1alpha().expect(broken))
        .prepare()
        .into_axum_router()
        .reset_fallback();
    // From the outside in: CORS preflights, translation of gRPC-Web, the layer around every call.
    let around = tower::ServiceBuilder::new()
        .layer(cors(&config.origins))
        .layer(GrpcWebLayer::new())
        .layer(calls.clone());
    let tls = config.tls.clone();
    let activity = move || watched.activity(&watched_network, tls.as_ref());
    let plain = web::routes(config.tokens.clone(), config.page, config.training.clone(), activity);
    let router = routes.layer(around).merge(plain);
    let environments = calls.layer(environments);
    Front { environments, router, hosts: config.hosts.clone(), origins: config.origins.clone() }
}

/// CORS rules for browsers: which pages may call, and which headers of the answer they may read.
fn cors(origins: &Origins) -> CorsLayer {
    let answered = ["grpc-status", "grpc-message", "grpc-status-details-bin", "x-request-id"];
    let origins = match origins.clone() {
        Origins::Any => Any.into(),
        origins => AllowOrigin::predicate(move |origin, _| origins.have(origin)),
    };
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::POST])
        // `*` would not cover `authorization`.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(answered.map(HeaderName::from_static))
        .max_age(Duration::from_secs(24 * 60 * 60))
}

async fn set_health(health: &HealthReporter, status: ServingStatus) {
    health.set_service_status("", status).await;
    for service in SERVICES {
        health.set_service_status(service, status).await;
    }
}

/// Runs long work of a call while another thread takes over this thread's other tasks.
fn in_place(work: &mut dyn FnMut()) {
    let has_others = Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
    if has_others && CallContext::current().is_some() { tokio::task::block_in_place(work) } else { work() }
}
