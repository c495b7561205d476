//! Everything that the server does around every gRPC call.
//!
//! * It counts and times the call, by method and by status code.
//! * It gives the call a place among the calls in progress, and reserves memory for its request and its answers from
//!   the budgets of its connection and of the server (`reception`, [`answers`](tetrion_service::answers)).
//! * It requires the content type of gRPC, because browsers let any page send some other types to any server without
//!   asking first.
//! * It refuses a call without a known token, if the server requires one, and ends a stream whose token is removed.
//!   Health and reflection stay open.
//! * It gives the call an id, the caller's or a new one, which the answer, its errors and its log lines show
//!   (`request_id`).
//! * It turns a panic, before or in the middle of the answer, into INTERNAL with that id. The log has the id and the
//!   panic's message. No text of the panic reaches the caller, and no other call is affected.
//! * It turns bytes that are not a message into INVALID_ARGUMENT; tonic would return INTERNAL, without an id.
//! * It ends a call whose deadline has passed.
//! * While the server drains, it refuses calls and ends streams that have nothing to send. A call in progress gets its
//!   answer.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::http::{HeaderMap, Request, Response};
use bytes::Bytes;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{BoxError, Layer, Service, ServiceExt};

use super::call_body::{CallBody, Ending};
use super::codes::code_of;
use super::connection::{Connections, Peer};
use super::decompress::{Decompressed, Encoding};
use super::headers::{timeout, weight, wrong_type};
use super::held::Held;
use super::panics::caught;
use super::reception::{LIGHT, Reception, no_room};
use super::record::{CallRecord, MethodMetrics, methods};
use super::request_id;
use super::statuses::{complete, deadline_passed, draining, internal, with_id};
use super::token::{Pass, Tokens};
use super::traces::Traces;
use tetrion_core::pool::Pool;
use tetrion_service::budget::Share;
use tetrion_service::status::{Refusal, count};
use tetrion_service::{Busy, CallContext, Pressure, ServerLimits};

/// The layer, which wraps the router of all gRPC services.
#[derive(Clone, Debug)]
pub(super) struct CallLayer {
    around: Arc<Around>,
}

/// A router wrapped in the layer.
#[derive(Clone, Debug)]
pub(super) struct Calls<S> {
    inner: S,
    around: Arc<Around>,
}

/// State shared by all calls.
#[derive(Debug)]
struct Around {
    drain: Arc<CancellationToken>,
    tokens: Tokens,
    /// Threads that decompress large messages.
    pool: Arc<Pool>,
    traces: Option<Traces>,
    /// Methods by path. Unknown methods have no entry, so callers cannot make the table grow.
    methods: HashMap<String, Arc<MethodMetrics>>,
    unknown: Arc<MethodMetrics>,
}

impl CallLayer {
    /// Creates a layer that refuses calls once `drain` is cancelled, and calls without one of the tokens. With `traces`
    /// it sends a span of each call to a collector.
    pub(super) fn new(
        drain: CancellationToken,
        tokens: Tokens,
        pool: Arc<Pool>,
        traces: Option<Traces>,
    ) -> CallLayer {
        let descriptors = [
            tetrion_protocol::FILE_DESCRIPTOR_SET,
            tonic_health::pb::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
        ];
        let methods = descriptors.into_iter().flat_map(methods);
        let methods = methods.map(|method| (format!("/{}", method.name), Arc::new(method))).collect();
        let unknown = Arc::new(MethodMetrics::new("unknown", false, false));
        let around = Around { drain: Arc::new(drain), tokens, pool, traces, methods, unknown };
        CallLayer { around: Arc::new(around) }
    }
}

/// Wraps a service in this layer, as if all its requests came over one connection.
pub fn around_calls<S, R>(
    service: S,
    tokens: Tokens,
    pool: Arc<Pool>,
    drain: CancellationToken,
) -> impl Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone
where
    S: Service<Request<Body>, Response = Response<R>, Error = Infallible> + Clone,
    S::Future: Send + 'static,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let peer = Connections::new(ServerLimits::default(), &Pressure::default()).peer();
    CallLayer::new(drain, tokens, pool, None).layer(service).map_request(move |mut request: Request<Body>| {
        request.extensions_mut().insert(peer.clone());
        request
    })
}

impl<S> Layer<S> for CallLayer {
    type Service = Calls<S>;

    fn layer(&self, inner: S) -> Calls<S> {
        Calls { inner, around: self.around.clone() }
    }
}

impl<S, B, R> Service<Request<B>> for Calls<S>
where
    S: Service<Request<Body>, Response = Response<R>, Error = Infallible>,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let around = self.around.clone();
        let path = request.uri().path();
        let method = around.methods.get(path).unwrap_or(&around.unknown).clone();
        let call = Arc::new(CallContext::new(request_id::of(request.headers()), method.name.clone()));
        let span = around.traces.as_ref().map(|traces| traces.begin(request.headers()));
        let mut record = CallRecord::of(method, call.clone(), span);
        if let Some(response) = wrong_type(request.headers()) {
            call.scope(|| count("CONTENT_TYPE"));
            record.end(Some(Code::InvalidArgument));
            return Box::pin(ready(Ok(with_id(response, &call))));
        }
        let peer = Peer::of(request.extensions()).clone();
        let (pass, held, headers_room) =
            match call.scope(|| around.admit(path, request.headers(), &record.method, &peer)) {
                Ok(admitted) => admitted,
                Err(refusal) => {
                    record.end(Some(refusal.code()));
                    return Box::pin(ready(Ok(with_id(refusal.into_http(), &call))));
                }
            };
        call.open_request(headers_room);
        let deadline = timeout(request.headers()).and_then(|timeout| record.start.checked_add(timeout));
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(peer.party());
        parts.extensions.insert(held.answers.clone());
        let mut removed = None;
        let mut party = peer.party();
        if let Some(Pass { caller, limits, removed: token_removed }) = pass {
            party = caller.clone().party(party);
            parts.extensions.insert(caller);
            parts.extensions.insert(limits);
            // A call with one answer ends soon, and its effects cannot be undone.
            removed = Some(token_removed).filter(|_| record.method.answers_stream);
        }
        let takes = record.method.takes.at_most(peer.limits().max_request_bytes());
        let body = Body::new(record.received(Body::new(body)));
        let reception = Reception::new(body, takes, &peer, call.clone());
        let body = match Encoding::take(&mut parts.headers) {
            Some(encoding) => {
                let lane = around.pool.lane(party);
                let (budget, call) = (peer.requests(), call.clone());
                Body::new(Decompressed::new(reception, encoding, lane, budget, takes.max_bytes, call))
            }
            None => Body::new(reception),
        };
        let request = Request::from_parts(parts, body);
        let future = catch_unwind(AssertUnwindSafe(|| call.scope(|| self.inner.call(request))));
        Box::pin(async move {
            let answered = CallContext::follow(Some(call.clone()), in_time(deadline, caught(future))).await;
            if !takes.stream {
                call.close_request();
            }
            Ok(match answered {
                None => {
                    let status = call.scope(deadline_passed);
                    record.end(Some(status.code()));
                    with_id(status.into_http(), &call)
                }
                Some(Ok(Ok(mut response))) => {
                    call.scope(|| complete(response.headers_mut()));
                    // An answer without a body has its status code in the headers.
                    record.end(code_of(response.headers()));
                    let busy = response.extensions().get::<Busy>().cloned();
                    let ending = Ending { drain: around.drain.clone(), deadline, removed, busy };
                    with_id(response, &call)
                        .map(|body| Body::new(CallBody::new(Body::new(body), record, held, ending)))
                }
                Some(Err(panic)) => {
                    let status = call.scope(|| internal(panic));
                    record.end(Some(status.code()));
                    with_id(status.into_http(), &call)
                }
            })
        })
    }
}

/// Waits for a future until the call's deadline, if any.
async fn in_time<F: Future>(deadline: Option<Instant>, work: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline.into(), work).await.ok(),
        None => Some(work.await),
    }
}

impl Around {
    /// Identifies the caller if callers need tokens, and reserves what the call holds until its end. Otherwise refuses
    /// the call.
    fn admit(
        &self,
        path: &str,
        headers: &HeaderMap,
        method: &MethodMetrics,
        peer: &Peer,
    ) -> Result<(Option<Pass>, Held, Share), Status> {
        let pass = self.pass(path, headers)?;
        let held = Held::take(peer, method.bulk)?;
        let bytes = weight(headers);
        let mut room = peer.requests().share();
        if bytes > LIGHT {
            room.grow_to(bytes).map_err(|spent| no_room(bytes, spent))?;
        }
        Ok((pass, held, room))
    }

    /// Identifies the caller if callers need tokens.
    fn pass(&self, path: &str, headers: &HeaderMap) -> Result<Option<Pass>, Refusal> {
        if path.starts_with("/grpc.") {
            return Ok(None); // health and reflection are public, and health shows that the server drains
        }
        let pass = self.tokens.admit(headers)?;
        if self.drain.is_cancelled() {
            return Err(draining());
        }
        Ok(pass)
    }
}
