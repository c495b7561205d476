//! The services in this process, without a port.
//!
//! A program that plays and learns in one process needs neither sockets nor HTTP/2. Its calls are the same messages,
//! and pass the same layer and services as calls over a connection. So a caller can move to a server and back, and only
//! the speed changes.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::http::{Request, Response};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use super::calls::{CallLayer, Calls};
use super::connection::{Connections, Peer};
use super::headers::is_of;
use super::{ServerConfig, ServerError, ServiceSet, metrics, prepare_codec};
use tetrion_protocol::pb::environment_service_server::EnvironmentServiceServer;
use tetrion_protocol::pb::evaluation_service_server::{self, EvaluationServiceServer};
use tetrion_service::{Direct, Environments, Evaluations, Pressure, reap_forever};

/// The services in this process, as a service for HTTP requests with gRPC bodies. Clones share their sessions.
#[derive(Clone, Debug)]
pub struct Inside {
    sessions: Environments,
    environments: Calls<EnvironmentServiceServer<Environments>>,
    evaluations: Calls<EvaluationServiceServer<Evaluations>>,
    /// The connection whose budgets all calls share.
    peer: Peer,
    _upkeep: Arc<AbortOnDropHandle<()>>,
}

impl Inside {
    /// Starts the services. Settings about the port have no effect: address, TLS, tokens, hosts, origins, the page, and
    /// the folder for sessions.
    ///
    /// # Errors
    /// If the threads cannot be started, or the system has no random numbers.
    ///
    /// # Panics
    /// Outside a tokio runtime, which the leases of sessions need.
    pub fn start(config: &ServerConfig) -> Result<Inside, ServerError> {
        getrandom::u64().map_err(ServerError::Randomness)?;
        let services = ServiceSet::new(config, &Pressure::default())?;
        prepare_codec();
        let network = Connections::new(config.limits, &Pressure::default());
        let reaper = reap_forever(services.store);
        let upkeep = tokio::spawn(async {
            tokio::select! {
                () = reaper => {}
                never = metrics::keep_small() => match never {},
            }
        });
        let layer = CallLayer::new(CancellationToken::new(), config.tokens.clone(), services.callers, None);
        Ok(Inside {
            sessions: services.environments.clone(),
            environments: layer.layer(services.environments.into_server()),
            evaluations: layer.layer(services.evaluations.into_server()),
            peer: network.peer(),
            _upkeep: Arc::new(AbortOnDropHandle::new(upkeep)),
        })
    }

    /// A session by its name, for steps without messages.
    ///
    /// # Errors
    /// If no such session exists.
    pub fn session(&self, name: &str) -> Result<Direct, Status> {
        self.sessions.direct(name)
    }
}

impl Service<Request<Body>> for Inside {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(())) // both services are always ready
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        request.extensions_mut().insert(self.peer.clone());
        if is_of(evaluation_service_server::SERVICE_NAME, request.uri().path()) {
            self.evaluations.call(request)
        } else {
            self.environments.call(request)
        }
    }
}
