//! The way of a call to the services: a connection to a server, or the services in this process.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt};

/// A service for HTTP requests with gRPC bodies. Clones share its connection.
#[derive(Clone, Debug)]
pub struct Link(BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>);

impl Link {
    /// The way to a service, wherever it is.
    pub fn new<S>(service: S) -> Link
    where
        S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        Link(BoxCloneSyncService::new(service.map_err(Into::into)))
    }

    /// The way to nowhere: every call fails.
    pub(super) fn closed() -> Link {
        Link::new(tower::service_fn(async |_: Request<Body>| {
            Err::<Response<Body>, _>("the connection was closed")
        }))
    }
}

impl Service<Request<Body>> for Link {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.0.call(request)
    }
}
