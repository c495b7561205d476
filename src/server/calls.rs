//! What happens around every gRPC call, whatever it does.
//!
//! * It is counted and timed, by method and by the code it ended with.
//! * It has its place among the calls in progress, and its request and its answers their room among those of its connection
//!   and of all ([`reception`](super::reception), [`answers`](crate::service::answers)).
//! * Its content type has to be that of gRPC: browsers let any page send a few others to any server without asking first.
//! * Without a token that the server knows, where it wants one, it is refused, and a stream whose token is removed ends.
//!   Health and reflection stay open.
//! * It has an id, given by its caller or made here, which its answer, its errors and its lines in the log show
//!   ([`request_id`]).
//! * A panic in it, before or in the middle of its answer, becomes INTERNAL with that id, which is in the log beside the
//!   panic's message; no text of the panic reaches the caller, and no other call notices.
//! * Bytes that are no message become INVALID_ARGUMENT: tonic calls them INTERNAL, and gives no id to look for.
//! * A stream whose deadline has passed is ended; tonic itself looks at deadlines until a call begins to answer only.
//! * While the server drains it is refused; if it is a stream that waits with nothing to say, it is ended. A call that is
//!   being worked on gets its answer.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep_until};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};
use tower::{BoxError, Layer, Service};

use super::connection::Peer;
use super::decompress::{Decompressed, Encoding};
use super::held::Held;
use super::panics::{self, Panic, caught, drop_caught};
use super::reception::Reception;
use super::record::{CODES, Method, Record, code_of, methods};
use super::request_id;
use super::token::{Pass, Tokens};
use super::traces::Traces;
use crate::pool::Pool;
use crate::service::status::{Refusal, count};
use crate::service::{Busy, CallContext};
use crate::wire;

/// What a caller is told to wait when the server goes down: another one may be up by then.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The layer: wraps the router of all gRPC services.
#[derive(Clone, Debug)]
pub(super) struct CallLayer {
    around: Arc<Around>,
}

/// A router with the layer around it.
#[derive(Clone, Debug)]
pub(super) struct Calls<S> {
    inner: S,
    around: Arc<Around>,
}

/// What all calls share.
#[derive(Debug)]
struct Around {
    drain: CancellationToken,
    tokens: Tokens,
    /// Where large messages are decompressed.
    pool: Arc<Pool>,
    traces: Option<Traces>,
    /// By path. A method that does not exist has no entry, so that callers cannot make the table grow.
    methods: HashMap<String, Arc<Method>>,
    unknown: Arc<Method>,
}

impl CallLayer {
    /// A layer that refuses calls once `drain` is cancelled, and calls without one of the tokens at all times, and that tells
    /// a collector of traces about all of them, where there is one.
    pub(super) fn new(
        drain: CancellationToken,
        tokens: Tokens,
        pool: Arc<Pool>,
        traces: Option<Traces>,
    ) -> CallLayer {
        let descriptors = [
            wire::FILE_DESCRIPTOR_SET,
            tonic_health::pb::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
        ];
        let methods = descriptors.into_iter().flat_map(methods);
        let methods = methods.map(|method| (format!("/{}", method.name), Arc::new(method))).collect();
        let unknown = Arc::new(Method::new("unknown", false, false));
        let around = Around { drain, tokens, pool, traces, methods, unknown };
        CallLayer { around: Arc::new(around) }
    }
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
        let mut record = Record::of(method, call.clone(), span);
        if let Some(response) = wrong_type(request.headers()) {
            call.scope(|| count("CONTENT_TYPE"));
            record.end(Some(Code::InvalidArgument));
            return Box::pin(ready(Ok(with_id(response, &call))));
        }
        let peer = Peer::of(request.extensions()).clone();
        let (pass, held) = match call.scope(|| around.admit(path, request.headers(), &record.method, &peer)) {
            Ok(admitted) => admitted,
            Err(refusal) => {
                record.end(Some(refusal.code()));
                return Box::pin(ready(Ok(with_id(refusal.into_http(), &call))));
            }
        };
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
            // A call with one answer is over soon, and what it did cannot be undone.
            removed = Some(token_removed).filter(|_| record.method.answers_stream);
        }
        let takes = record.method.takes;
        let body = Body::new(record.received(Body::new(body)));
        let reception = Reception::new(body, takes, &peer);
        let body = match Encoding::take(&mut parts.headers) {
            Some(encoding) => {
                let lane = around.pool.lane(party);
                Body::new(Decompressed::new(reception, encoding, lane, peer.requests(), takes.max_bytes))
            }
            None => Body::new(reception),
        };
        let request = Request::from_parts(parts, body);
        let future = catch_unwind(AssertUnwindSafe(|| call.scope(|| self.inner.call(request))));
        Box::pin(async move {
            let answered = CallContext::follow(Some(call.clone()), caught(future)).await;
            Ok(match answered {
                Ok(Ok(mut response)) => {
                    call.scope(|| complete(response.headers_mut()));
                    // An answer without a body has its code in the headers.
                    record.end(code_of(response.headers()));
                    let busy = response.extensions().get::<Busy>().cloned();
                    let ending = Ending { around, deadline, removed, busy };
                    with_id(response, &call)
                        .map(|body| Body::new(CallBody::new(Body::new(body), record, held, ending)))
                }
                Err(panic) => {
                    let status = call.scope(|| internal(panic));
                    record.end(Some(status.code()));
                    with_id(status.into_http(), &call)
                }
            })
        })
    }
}

impl Around {
    /// Whose call it is, if callers need tokens here, and what it holds from here to its end; or why it is not even tried.
    fn admit(
        &self,
        path: &str,
        headers: &HeaderMap,
        method: &Method,
        peer: &Peer,
    ) -> Result<(Option<Pass>, Held), Status> {
        let pass = self.pass(path, headers)?;
        Ok((pass, Held::take(peer, method.bulk)?))
    }

    /// Whose call it is, if callers need tokens here.
    fn pass(&self, path: &str, headers: &HeaderMap) -> Result<Option<Pass>, Refusal> {
        if path.starts_with("/grpc.") {
            return Ok(None); // health and reflection say what anyone may know, and health is how draining shows
        }
        let pass = self.tokens.admit(headers)?;
        if self.drain.is_cancelled() {
            return Err(draining());
        }
        Ok(pass)
    }
}

/// The refusal of a request that does not say that it is gRPC, in the words of HTTP: its client speaks nothing else.
fn wrong_type(headers: &HeaderMap) -> Option<Response<Body>> {
    let kind = headers.get(header::CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
    let rest = kind.strip_prefix(b"application/grpc");
    if rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';'))) {
        return None;
    }
    let kind = String::from_utf8_lossy(kind);
    let text = format!("content-type is {kind:?}, expected application/grpc or application/grpc-web\n");
    let mut response = Response::new(Body::new(text));
    *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    Some(response)
}

/// How long the caller waits at most, from its headers: up to eight digits and a unit.
fn timeout(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let amount = u64::from(digits.parse::<u32>().ok()?);
    match unit {
        "H" => Some(Duration::from_secs(amount * 3600)),
        "M" => Some(Duration::from_secs(amount * 60)),
        "S" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_millis(amount)),
        "u" => Some(Duration::from_micros(amount)),
        "n" => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

/// The body of an answer, message by message.
struct CallBody {
    inner: Body,
    record: Record,
    held: Held,
    ending: Ending,
    /// Made when the body has nothing to say for the first time; calls with one answer never get there.
    ends: Option<Ends>,
    ended: bool,
}

/// What ends an answer from outside.
struct Ending {
    around: Arc<Around>,
    deadline: Option<Instant>,
    /// Of the token of a stream.
    removed: Option<CancellationToken>,
    /// Of a stream that answers request by request.
    busy: Option<Busy>,
}

/// The same as futures, for an answer that has nothing to say.
struct Ends {
    drained: Pin<Box<WaitForCancellationFutureOwned>>,
    removed: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Ending {
    /// Whether a request is being worked on, which gets its answer.
    fn is_busy(&self) -> bool {
        self.busy.as_ref().is_some_and(Busy::is_busy)
    }

    /// Whether the token of the stream is gone and nothing is being worked on.
    fn is_removed(&self) -> bool {
        self.removed.as_ref().is_some_and(CancellationToken::is_cancelled) && !self.is_busy()
    }

    fn futures(&self) -> Ends {
        Ends {
            drained: Box::pin(self.around.drain.clone().cancelled_owned()),
            removed: self.removed.clone().map(|removed| Box::pin(removed.cancelled_owned())),
            deadline: self.deadline.map(|deadline| Box::pin(sleep_until(deadline.into()))),
        }
    }
}

impl CallBody {
    fn new(inner: Body, record: Record, mut held: Held, ending: Ending) -> CallBody {
        held.waits_for_reader();
        CallBody { inner, record, held, ending, ends: None, ended: false }
    }

    /// Waits for what ends the answer whether or not it has more to say.
    fn poll_ends(&mut self, cx: &mut Context<'_>) -> Poll<Status> {
        let ends = self.ends.get_or_insert_with(|| self.ending.futures());
        // What is being worked on gets its answer, whose end wakes this again.
        let is_busy = self.ending.is_busy();
        if ends.drained.as_mut().poll(cx).is_ready() && !is_busy {
            return Poll::Ready(draining().into());
        }
        let removed = ends.removed.as_mut().map(|removed| removed.as_mut().poll(cx));
        if removed.is_some_and(|removed| removed.is_ready()) && !is_busy {
            return Poll::Ready(token_removed().into());
        }
        match ends.deadline.as_mut().map(|deadline| deadline.as_mut().poll(cx)) {
            Some(Poll::Ready(())) => {
                Poll::Ready(Status::deadline_exceeded("the deadline of the call has passed"))
            }
            _ => Poll::Pending,
        }
    }

    /// Ends the answer here with this status.
    fn end(&mut self, status: Status) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.record.end(Some(status.code()));
        self.let_go();
        let mut trailers = HeaderMap::new();
        match status.add_header(&mut trailers) {
            Ok(()) => {
                complete(&mut trailers);
                Poll::Ready(Some(Ok(Frame::trailers(trailers))))
            }
            Err(status) => Poll::Ready(Some(Err(status))),
        }
    }

    /// Lets go of what the body holds now, and not when the connection gets to it.
    fn let_go(&mut self) {
        self.ended = true;
        drop_caught(std::mem::replace(&mut self.inner, Body::empty()));
    }

    /// The next frame of the answer, or its end.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.held.is_read();
        if self.ending.is_removed() {
            return self.end(token_removed().into());
        }
        match catch_unwind(AssertUnwindSafe(|| http_body::Body::poll_frame(Pin::new(&mut self.inner), cx))) {
            Ok(Poll::Ready(mut frame)) => {
                if let Some(Ok(frame)) = &mut frame {
                    if let Some(trailers) = frame.trailers_mut() {
                        complete(trailers);
                        self.record.end(code_of(trailers));
                    } else if let Some(data) = frame.data_ref() {
                        self.record.sent(data.len());
                    }
                }
                self.held.waits_for_reader();
                Poll::Ready(frame.map(|frame| frame.map(|frame| self.held.leave(frame))))
            }
            Ok(Poll::Pending) => match self.poll_ends(cx) {
                Poll::Ready(status) => self.end(status),
                Poll::Pending => Poll::Pending,
            },
            Err(panic) => self.end(internal(panic)),
        }
    }
}

impl http_body::Body for CallBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let call = self.record.call.clone();
        call.scope(|| self.poll_answer(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.ended { SizeHint::with_exact(0) } else { self.inner.size_hint() }
    }
}

impl Drop for CallBody {
    fn drop(&mut self) {
        let call = self.record.call.clone();
        call.scope(|| self.let_go());
    }
}

/// An answer with the id of its request.
fn with_id<B>(mut response: Response<B>, call: &CallContext) -> Response<B> {
    let id = HeaderValue::from_str(call.request_id()).expect("an id of visible ASCII");
    response.headers_mut().insert(request_id::HEADER, id);
    response
}

/// An error that no service has made, with the id of its request.
fn with_request(code: Code, message: &str) -> Status {
    count(CODES[code as usize]);
    let mut details = ErrorDetails::new();
    if let Some(call) = CallContext::current() {
        details.set_request_info(call.request_id(), "");
    }
    Status::with_error_details(code, message, details)
}

/// Adds to an error that no service has made what all errors have, and says in our own words what tonic calls INTERNAL: what
/// cannot be read is the caller's mistake, an answer that cannot be written a bug.
fn complete(headers: &mut HeaderMap) {
    let Some(code) = code_of(headers).filter(|code| *code != Code::Ok) else { return };
    // Errors of ours have details.
    let Some(status) = Status::from_header_map(headers).filter(|status| status.details().is_empty()) else {
        return;
    };
    let is_answer =
        ["Error encoding", "Error compressing"].iter().any(|what| status.message().starts_with(what));
    let status = match code {
        Code::Internal if is_answer => Refusal::internal(status.message()).into(),
        Code::Internal => Refusal::Unreadable(status.message().to_owned()).into(),
        code => with_request(code, status.message()),
    };
    let mut completed = HeaderMap::new();
    if status.add_header(&mut completed).is_ok() {
        for (name, value) in &completed {
            headers.insert(name, value.clone());
        }
    }
}

/// Logs a panic and makes the status that tells of it.
fn internal(panic: Panic) -> Status {
    Refusal::internal(&format!("a panic: {}", panics::text(&*panic))).into()
}

fn draining() -> Refusal {
    Refusal::Draining { retry_after: RETRY_AFTER }
}

fn token_removed() -> Refusal {
    Refusal::InvalidToken("the token of this stream has been removed")
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;
    use crate::server::connection::Network;
    use crate::service::NetworkLimits;
    use axum::http::HeaderName;
    use tower::{ServiceExt, service_fn};

    /// What the inner service does.
    #[derive(Clone, Copy)]
    enum Does {
        PanicsAtOnce,
        PanicsInItsFuture,
        PanicsAfterAMessage,
        Waits,
    }

    /// A body of one message, and then what `does` says.
    struct Answer {
        does: Does,
        sent: bool,
    }

    impl http_body::Body for Answer {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            if !std::mem::replace(&mut self.sent, true) {
                return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"message")))));
            }
            match self.does {
                Does::Waits => Poll::Pending,
                _ => panic!("a secret"),
            }
        }
    }

    fn layer() -> (CallLayer, CancellationToken) {
        let drain = CancellationToken::new();
        let tokens = Tokens::single("token".to_owned().into());
        (CallLayer::new(drain.clone(), tokens, Pool::new(1).unwrap(), None), drain)
    }

    fn request(path: &str, token: &str) -> Request<Body> {
        let request = Request::post(path).header("authorization", format!("Bearer {token}"));
        let request = request.header("content-type", "application/grpc");
        let peer = Network::new(NetworkLimits::default(), Duration::MAX).peer();
        request.extension(peer).body(Body::empty()).unwrap()
    }

    async fn call(layer: &CallLayer, request: Request<Body>, does: Does) -> Response<Body> {
        let inner = service_fn(move |_: Request<Body>| {
            if matches!(does, Does::PanicsAtOnce) {
                panic!("a secret");
            }
            async move {
                if matches!(does, Does::PanicsInItsFuture) {
                    panic!("a secret");
                }
                Ok::<_, Infallible>(Response::new(Answer { does, sent: false }))
            }
        });
        layer.layer(inner).oneshot(request).await.unwrap()
    }

    /// The next frame of a body: its data, or the status in its trailers.
    async fn frame(body: &mut Body) -> Result<Bytes, Status> {
        let frame =
            poll_fn(|cx| http_body::Body::poll_frame(Pin::new(&mut *body), cx)).await.unwrap().unwrap();
        frame.into_data().map_err(|frame| Status::from_header_map(frame.trailers_ref().unwrap()).unwrap())
    }

    const STEP: &str = "/tetrion.v1.EnvironmentService/Step";

    #[tokio::test]
    async fn a_panic_becomes_internal_wherever_it_happens_and_says_nothing_of_itself() {
        #[track_caller]
        fn check(status: &Status) {
            assert_eq!(status.code(), Code::Internal);
            assert!(!status.message().contains("secret"), "{status}");
            let id = status.get_details_request_info().unwrap().request_id;
            assert!(status.message().contains(&id), "{status}");
        }
        let (layer, _) = layer();
        for does in [Does::PanicsAtOnce, Does::PanicsInItsFuture] {
            let response = call(&layer, request(STEP, "token"), does).await;
            check(&Status::from_header_map(response.headers()).unwrap());
        }
        let mut body = call(&layer, request(STEP, "token"), Does::PanicsAfterAMessage).await.into_body();
        assert_eq!(frame(&mut body).await.unwrap(), "message");
        check(&frame(&mut body).await.unwrap_err());
    }

    #[tokio::test]
    async fn a_stream_that_waits_is_ended_at_its_deadline() {
        let (layer, _) = layer();
        let mut request = request(STEP, "token");
        request.headers_mut().insert("grpc-timeout", "50m".parse().unwrap());
        let start = Instant::now();
        let mut body = call(&layer, request, Does::Waits).await.into_body();
        assert_eq!(frame(&mut body).await.unwrap(), "message");
        assert_eq!(frame(&mut body).await.unwrap_err().code(), Code::DeadlineExceeded);
        assert!(start.elapsed() >= Duration::from_millis(50), "{:?}", start.elapsed());
    }

    #[test]
    fn timeouts_are_digits_and_a_unit() {
        let of = |text: &'static str| {
            let headers = [(HeaderName::from_static("grpc-timeout"), text.parse().unwrap())];
            timeout(&HeaderMap::from_iter(headers))
        };
        assert_eq!(of("2H"), Some(Duration::from_secs(7200)));
        assert_eq!(of("3M"), Some(Duration::from_secs(180)));
        assert_eq!(of("4S"), Some(Duration::from_secs(4)));
        assert_eq!(of("5m"), Some(Duration::from_millis(5)));
        assert_eq!(of("6u"), Some(Duration::from_micros(6)));
        assert_eq!(of("99999999n"), Some(Duration::from_nanos(99_999_999)));
        for wrong in ["", "S", "5", "5x", "-5S", "99999999999S"] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
    }

    #[tokio::test]
    async fn a_stream_that_waits_is_ended_when_the_server_drains() {
        let (layer, drain) = layer();
        let mut body = call(&layer, request(STEP, "token"), Does::Waits).await.into_body();
        assert_eq!(frame(&mut body).await.unwrap(), "message");
        let (end, ()) = tokio::join!(frame(&mut body), async { drain.cancel() });
        let end = end.unwrap_err();
        assert_eq!(
            (end.code(), end.get_details_error_info().unwrap().reason.as_str()),
            (Code::Unavailable, "DRAINING")
        );

        // One that works on a request ends when that has its answer.
        let busy = Busy::default();
        let inner = service_fn(|_: Request<Body>| {
            let mut response = Response::new(Answer { does: Does::Waits, sent: true });
            response.extensions_mut().insert(busy.clone());
            async { Ok::<_, Infallible>(response) }
        });
        let (layer, drain) = self::layer();
        let mut body = layer.layer(inner).oneshot(request(STEP, "token")).await.unwrap().into_body();
        let working = busy.begin();
        drain.cancel();
        tokio::select! {
            biased;
            early = frame(&mut body) => panic!("the answer was still to come: {early:?}"),
            () = ready(()) => {}
        }
        drop(working);
        assert_eq!(frame(&mut body).await.unwrap_err().code(), Code::Unavailable);

        let refused = call(&layer, request(STEP, "token"), Does::PanicsAtOnce).await;
        assert_eq!(
            Status::from_header_map(refused.headers()).unwrap().code(),
            Code::Unavailable,
            "and not tried"
        );
        let mut health =
            call(&layer, request("/grpc.health.v1.Health/Check", "token"), Does::Waits).await.into_body();
        assert_eq!(frame(&mut health).await.unwrap(), "message", "health answers to the last");
    }

    #[tokio::test]
    async fn without_the_token_a_call_is_not_tried() {
        let (layer, _) = layer();
        for wrong in ["", "Token", "toke", "tokens", "token "] {
            let response = call(&layer, request(STEP, wrong), Does::PanicsAtOnce).await;
            let status = Status::from_header_map(response.headers()).unwrap();
            assert_eq!(status.code(), Code::Unauthenticated, "{wrong:?}");
            assert_eq!(status.get_details_error_info().unwrap().reason, "INVALID_TOKEN");
        }
        let mut without = request(STEP, "token");
        without.headers_mut().remove("authorization");
        let response = call(&layer, without, Does::PanicsAtOnce).await;
        assert_eq!(Status::from_header_map(response.headers()).unwrap().code(), Code::Unauthenticated);
    }
}
