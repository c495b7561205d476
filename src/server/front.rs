//! The entrance: steps from native gRPC clients go straight to their service, everything else through the router.
//!
//! Learners call `EnvironmentService` tens of thousands of times per second. Looking up the route by path, checking the
//! origin of pages and translating gRPC-Web would take a fifth of the instructions of such a call, always with the same
//! outcome. Both paths pass [`CallLayer`](super::calls::CallLayer), which does the work around every call.
//!
//! On both paths, a request must name this server as its [host](super::hosts), and must not come from a page of a
//! foreign [origin](super::origins).

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
use super::headers::{goes_straight, is_call};
use super::held::PlainAnswer;
use super::hosts::Hosts;
use super::origins::Origins;
use super::panics::caught;
use tetrion_protocol::pb::environment_service_server::EnvironmentServiceServer;
use tetrion_service::Environments;
use tetrion_service::status::{Refusal, count};

/// The entrance with its two paths: straight and through the router.
#[derive(Clone, Debug)]
pub(super) struct Front {
    pub environments: Calls<EnvironmentServiceServer<Environments>>,
    pub router: axum::Router,
    pub hosts: Hosts,
    pub origins: Origins,
}

impl Service<Request<Body>> for Front {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(())) // both paths are always ready
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if let Some(host) = self.hosts.refused(&request) {
            return Box::pin(std::future::ready(Ok(wrong_host(host, request.headers()))));
        }
        if let Some(origin) = self.origins.refused(&request) {
            return Box::pin(std::future::ready(Ok(wrong_origin(&origin))));
        }
        if goes_straight(request.uri().path(), request.headers()) {
            return self.environments.call(request);
        }
        let peer = Peer::of(request.extensions()).clone();
        peer.touch();
        // A gRPC call takes its place and its memory itself.
        let place = if is_call(request.headers()) { None } else { Some(peer.calls().take(1)) };
        let Ok(place) = place.transpose() else { return Box::pin(std::future::ready(Ok(full()))) };
        // The layer catches panics of calls one by one; this catches a panic in a page or a layer, which fails only its
        // own answer.
        let answer = catch_unwind(AssertUnwindSafe(|| self.router.call(request)));
        Box::pin(async move {
            let Ok(Ok(response)) = caught(answer).await else {
                return Ok(StatusCode::INTERNAL_SERVER_ERROR.into_response().map(Body::new));
            };
            let (parts, body) = response.into_parts();
            let body = Body::new(body);
            let Some(place) = place else { return Ok(Response::from_parts(parts, body)) };
            let answer = PlainAnswer::new(body, &peer, place);
            Ok(answer.map_or_else(|_| full(), |answer| Response::from_parts(parts, Body::new(answer))))
        })
    }
}

/// The answer to a page request when no place or no memory is left.
fn full() -> Response<Body> {
    let text = "the server has no room for this answer; try again shortly\n";
    (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "1")], text).into_response().map(Body::new)
}

/// The refusal of a request to another host: a status for gRPC, text for other requests.
fn wrong_host(host: String, headers: &HeaderMap) -> Response<Body> {
    let refusal = Refusal::UnknownHost { host };
    if is_call(headers) {
        return tonic::Status::from(refusal).into_http();
    }
    let mut response = Response::new(Body::new(format!("{refusal}\n")));
    *response.status_mut() = StatusCode::MISDIRECTED_REQUEST;
    response
}

/// The refusal of a request from a foreign page. Browsers show its status, and hide the rest from the page.
fn wrong_origin(origin: &str) -> Response<Body> {
    count("UNKNOWN_ORIGIN");
    let text = format!("pages of {origin:?} may not call this server; --allow-origin names those that may\n");
    let mut response = Response::new(Body::new(text));
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}
