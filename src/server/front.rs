//! The way in: steps from native gRPC clients go straight to their service, everything else through the router.
//!
//! Learners call `EnvironmentService` tens of thousands of times a second. Looking up the route by path, checking the
//! origin of pages and translating gRPC-Web take a fifth of the instructions of such a call, with the same outcome every
//! time. What the server does around every call, [`CallLayer`](super::calls::CallLayer), it does on both ways.
//!
//! Before either, a request must name this server as its [host](super::hosts).

use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::http::{HeaderMap, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use tonic::body::Body;
use tower::Service;

use super::calls::Calls;
use super::connection::Peer;
use super::headers::goes_straight;
use super::hosts::Hosts;
use super::panics::caught;
use crate::service::Environments;
use crate::service::status::Refusal;
use crate::wire::pb::environment_service_server::EnvironmentServiceServer;

/// Both ways.
#[derive(Clone, Debug)]
pub(super) struct Front {
    pub environments: Calls<EnvironmentServiceServer<Environments>>,
    pub router: axum::Router,
    pub hosts: Hosts,
}

impl Service<Request<Body>> for Front {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(())) // as both ways always are
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if let Some(host) = self.hosts.refused(&request) {
            return Box::pin(std::future::ready(Ok(wrong_host(host, request.headers()))));
        }
        if goes_straight(request.uri().path(), request.headers()) {
            return self.environments.call(request);
        }
        Peer::of(request.extensions()).touch();
        // Calls behind the router are caught one by one; a panic in a page or a layer costs only its own answer.
        let answer = catch_unwind(AssertUnwindSafe(|| self.router.call(request)));
        Box::pin(async {
            match caught(answer).await {
                Ok(answer) => answer.map(|response| response.map(Body::new)),
                Err(_) => Ok(StatusCode::INTERNAL_SERVER_ERROR.into_response().map(Body::new)),
            }
        })
    }
}

/// The refusal of a request to another host: a status for gRPC, text for everything else.
fn wrong_host(host: String, headers: &HeaderMap) -> Response<Body> {
    let refusal = Refusal::UnknownHost { host };
    let kind = headers.get(header::CONTENT_TYPE).map(|kind| kind.as_bytes());
    if kind.is_some_and(|kind| kind.starts_with(b"application/grpc")) {
        return tonic::Status::from(refusal).into_http();
    }
    let mut response = Response::new(Body::new(format!("{refusal}\n")));
    *response.status_mut() = StatusCode::MISDIRECTED_REQUEST;
    response
}
