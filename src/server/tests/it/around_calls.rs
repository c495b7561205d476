//! What happens around every call, around services that panic, wait, or work.

use std::convert::Infallible;
use std::future::{poll_fn, ready};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderName, Request, Response};
use bytes::Bytes;
use http_body::Frame;
use tetrion_core::pool::Pool;
use tetrion_server::Tokens;
use tetrion_server::calls::around_calls;
use tetrion_server::headers::{goes_straight, timeout};
use tetrion_service::Busy;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use tower::{Service, ServiceExt, service_fn};

/// What the inner service does.
#[derive(Clone, Copy)]
enum Does {
    PanicsAtOnce,
    PanicsInItsFuture,
    PanicsAfterAMessage,
    Waits,
}

/// A body of one message, and then what `does` stands for.
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

/// Calls a service that behaves like this.
async fn call(request: Request<Body>, does: Does, drain: &CancellationToken) -> Response<Body> {
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
    around(inner, drain).oneshot(request).await.unwrap()
}

/// A service with all layers around every call.
fn around<S>(
    service: S,
    drain: &CancellationToken,
) -> impl Service<Request<Body>, Response = Response<Body>, Error = Infallible>
where
    S: Service<Request<Body>, Response = Response<Answer>, Error = Infallible> + Clone,
    S::Future: Send + 'static,
{
    let tokens = Tokens::single("token".to_owned().into());
    around_calls(service, tokens, Pool::new(1).unwrap(), drain.clone())
}

fn request(path: &str, token: &str) -> Request<Body> {
    let request = Request::post(path).header("authorization", format!("Bearer {token}"));
    request.header("content-type", "application/grpc").body(Body::empty()).unwrap()
}

/// The next frame of a body: its data, or the status in its trailers.
async fn frame(body: &mut Body) -> Result<Bytes, Status> {
    let frame = poll_fn(|cx| http_body::Body::poll_frame(Pin::new(&mut *body), cx)).await.unwrap().unwrap();
    frame.into_data().map_err(|frame| Status::from_header_map(frame.trailers_ref().unwrap()).unwrap())
}

const STEP: &str = "/tetrion.v1.EnvironmentService/Step";

#[tokio::test]
async fn a_panic_becomes_internal_wherever_it_happens_and_hides_its_message() {
    #[track_caller]
    fn check(status: &Status) {
        assert_eq!(status.code(), Code::Internal);
        assert!(!status.message().contains("secret"), "{status}");
        let id = status.get_details_request_info().unwrap().request_id;
        assert!(status.message().contains(&id), "{status}");
    }
    let drain = CancellationToken::new();
    for does in [Does::PanicsAtOnce, Does::PanicsInItsFuture] {
        let response = call(request(STEP, "token"), does, &drain).await;
        check(&Status::from_header_map(response.headers()).unwrap());
    }
    let mut body = call(request(STEP, "token"), Does::PanicsAfterAMessage, &drain).await.into_body();
    assert_eq!(frame(&mut body).await.unwrap(), "message");
    check(&frame(&mut body).await.unwrap_err());
}

#[tokio::test]
async fn a_stream_that_waits_is_ended_at_its_deadline() {
    let drain = CancellationToken::new();
    let mut request = request(STEP, "token");
    request.headers_mut().insert("grpc-timeout", "50m".parse().unwrap());
    let start = Instant::now();
    let mut body = call(request, Does::Waits, &drain).await.into_body();
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
    let drain = CancellationToken::new();
    let mut body = call(request(STEP, "token"), Does::Waits, &drain).await.into_body();
    assert_eq!(frame(&mut body).await.unwrap(), "message");
    let (end, ()) = tokio::join!(frame(&mut body), async { drain.cancel() });
    let end = end.unwrap_err();
    assert_eq!(
        (end.code(), end.get_details_error_info().unwrap().reason.as_str()),
        (Code::Unavailable, "DRAINING")
    );

    // A call that works on a request ends when that request has its answer.
    let busy = Busy::default();
    let inner = service_fn(|_: Request<Body>| {
        let mut response = Response::new(Answer { does: Does::Waits, sent: true });
        response.extensions_mut().insert(busy.clone());
        async { Ok::<_, Infallible>(response) }
    });
    let drain = CancellationToken::new();
    let mut body = around(inner, &drain).oneshot(request(STEP, "token")).await.unwrap().into_body();
    let working = busy.begin();
    drain.cancel();
    tokio::select! {
        biased;
        early = frame(&mut body) => panic!("the answer was still to come: {early:?}"),
        () = ready(()) => {}
    }
    drop(working);
    assert_eq!(frame(&mut body).await.unwrap_err().code(), Code::Unavailable);

    let refused = call(request(STEP, "token"), Does::PanicsAtOnce, &drain).await;
    assert_eq!(
        Status::from_header_map(refused.headers()).unwrap().code(),
        Code::Unavailable,
        "and not tried"
    );
    let mut health =
        call(request("/grpc.health.v1.Health/Check", "token"), Does::Waits, &drain).await.into_body();
    assert_eq!(frame(&mut health).await.unwrap(), "message", "health answers to the last");
}

#[tokio::test]
async fn without_the_token_a_call_reaches_no_service() {
    let drain = CancellationToken::new();
    for wrong in ["", "Token", "toke", "tokens", "token "] {
        let response = call(request(STEP, wrong), Does::PanicsAtOnce, &drain).await;
        let status = Status::from_header_map(response.headers()).unwrap();
        assert_eq!(status.code(), Code::Unauthenticated, "{wrong:?}");
        assert_eq!(status.get_details_error_info().unwrap().reason, "INVALID_TOKEN");
    }
    let mut without = request(STEP, "token");
    without.headers_mut().remove("authorization");
    let response = call(without, Does::PanicsAtOnce, &drain).await;
    assert_eq!(Status::from_header_map(response.headers()).unwrap().code(), Code::Unauthenticated);
}

#[test]
fn only_programs_that_step_go_straight() {
    let step = "/tetrion.v1.EnvironmentService/Step";
    let grpc = ("content-type", "application/grpc");
    let cases = [
        (step, vec![grpc], true),
        (step, vec![("content-type", "application/grpc+proto")], true),
        (step, vec![("content-type", "application/grpc-web")], false),
        (step, vec![("content-type", "application/grpc-web-text")], false),
        (step, vec![grpc, ("origin", "http://localhost:8000")], false),
        (step, vec![("content-type", "text/html")], false),
        (step, vec![], false),
        ("/tetrion.v1.EnvironmentServices/Step", vec![grpc], false),
        ("/tetrion.v1.EvaluationService/EvaluatePolicies", vec![grpc], false),
        ("/", vec![grpc], false),
    ];
    for (path, headers, straight) in cases {
        let header = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), value.parse().expect("a value"))
        };
        let map = HeaderMap::from_iter(headers.iter().map(header));
        assert_eq!(goes_straight(path, &map), straight, "{path} {headers:?}");
    }
}
