//! What the targets share: the services of a server without its sockets, called with bytes.
//!
//! The bytes take the way of a request: the frames of gRPC, tonic, our codec, the checks of `protocol`, the call itself. Only
//! the connection is missing. Each input has a store of its own with one session in it, so an input does the same
//! whatever came before it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Display;
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use bytes::{BufMut, Bytes, BytesMut};
use http_body::{Body as _, Frame};
use tetrion::pool::Pool;
use tetrion::protocol::pb::environment_service_server::EnvironmentService;
use tetrion::protocol::{pb, seeding};
use tetrion::server::Tokens;
use tetrion::server::calls::around_calls;
use tetrion::service::{
    CallPool, Clock, Environments, Evaluations, Kernel, Pressure, ServerFacts, ServerLimits, SessionStore,
};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use tonic::Request;
use tonic::body::Body;
use tonic::codegen::http;
use tower::util::UnsyncBoxService;
use tower::{Service, ServiceExt, service_fn};

#[path = "../../tests/attacks/methods.rs"]
pub mod methods;

/// The placeholder for the session's name in an input: as long as one.
pub const PLACEHOLDER: &[u8] = b"sessions/################################";

/// Answers of a stream that are read; games may go on for ever.
const MAX_FRAMES: usize = 8;
/// Work of a call: enough to do something, too little to be slow.
const MAX_WORK: Duration = Duration::from_millis(5);

/// On Linux, libFuzzer reads this section after every input, beside the counters of an instrumented program.
#[cfg_attr(target_os = "linux", unsafe(link_section = "__libfuzzer_extra_counters"))]
static OUTCOMES: [AtomicU8; 4096] = [const { AtomicU8::new(0) }; 4096];

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime"));
static POOL: LazyLock<Arc<Pool>> = LazyLock::new(|| Pool::new(1).expect("a thread"));

/// Tells libFuzzer what came of an input, which is all that leads it where the program is not instrumented. Of an error the
/// first letters count, which do not say what the input was.
pub fn outcome<T, E: Display>(result: &Result<T, E>) {
    let said = result.as_ref().err().map(E::to_string).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    said.bytes().filter(u8::is_ascii_alphabetic).take(24).for_each(|letter| letter.hash(&mut hasher));
    OUTCOMES[hasher.finish() as usize % OUTCOMES.len()].store(1, Ordering::Relaxed);
}

/// The services around a store with one session.
pub struct Services {
    store: Arc<SessionStore>,
    calls: CallPool,
    session: String,
}

impl Services {
    /// A store, and in it a session of three environments whose episodes have begun.
    pub fn new() -> Services {
        let clock = Clock::new(SystemTime::UNIX_EPOCH, || Duration::ZERO);
        let limits = ServerLimits { max_envs: 300, ..ServerLimits::default() };
        let store = Arc::new(SessionStore::new(limits, clock, &Pressure::default()));
        let calls = CallPool::new(POOL.clone(), MAX_WORK, Pressure::default());
        let mut services = Services { store, calls, session: String::new() };
        services.session = RUNTIME.block_on(async {
            let seeding = Some(seeding::from_seed(1));
            let config = pb::SessionConfig { num_envs: 3, seeding, ..Default::default() };
            let create = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
            let environments = services.environments();
            let created =
                environments.create_session(Request::new(create)).await.expect("room for a session");
            let session = created.into_inner().session.expect("a session").name;
            let reset = pb::ResetRequest { session: session.clone(), ..Default::default() };
            environments.reset(Request::new(reset)).await.expect("a session that can be reset");
            session
        });
        services
    }

    fn environments(&self) -> Environments {
        Environments::new(self.store.clone(), self.calls.clone(), ServerFacts::default())
    }

    /// Calls a method of `EnvironmentService` with one message.
    pub fn call(&self, method: &str, message: &[u8]) {
        let path = format!("/tetrion.v1.EnvironmentService/{method}");
        self.send(self.environments().into_server(), &path, &[message]);
    }

    /// Begins an evaluation and leaves it.
    pub fn evaluate(&self, message: &[u8]) {
        let evaluations =
            Evaluations::new(POOL.clone(), self.calls.clone(), Kernel::best(), ServerLimits::default());
        self.send(evaluations.into_server(), "/tetrion.v1.EvaluationService/EvaluatePolicies", &[message]);
    }

    fn send<S>(&self, service: S, path: &str, messages: &[&[u8]])
    where
        S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    {
        let mut bytes = BytesMut::new();
        for message in messages {
            let message = self.with_name(message);
            bytes.put_u8(0);
            bytes.put_u32(message.len() as u32);
            bytes.put_slice(&message);
        }
        let request = http::Request::post(path)
            .header("content-type", "application/grpc")
            .body(Body::new(Pieces([bytes.freeze()].into())))
            .expect("a request");
        RUNTIME.block_on(async {
            let Ok(answer) = service.oneshot(request).await;
            outcome(&refusal(answer.headers()));
            let mut body = answer.into_body();
            for _ in 0..MAX_FRAMES {
                let Some(Ok(answer)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await else { break };
                outcome(&answer.trailers_ref().map_or(Ok(()), refusal));
            }
        });
    }

    /// The message with the session's name in place of the placeholder.
    fn with_name(&self, message: &[u8]) -> Bytes {
        assert_eq!(self.session.len(), PLACEHOLDER.len(), "a name as long as {}", self.session);
        let mut message = message.to_vec();
        let mut at = 0;
        while let Some(found) = message[at..].windows(PLACEHOLDER.len()).position(|part| part == PLACEHOLDER)
        {
            at += found;
            message[at..at + PLACEHOLDER.len()].copy_from_slice(self.session.as_bytes());
        }
        message.into()
    }
}

thread_local! {
    /// What a server does around every call, here around a service that only reads. It takes longer to build than most inputs
    /// take.
    static READER: RefCell<UnsyncBoxService<http::Request<Body>, http::Response<Body>, Infallible>> = {
        let reader = service_fn(|request: http::Request<Body>| async {
            let mut body = request.into_body();
            while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
                outcome(&frame);
                if frame.is_err() {
                    break;
                }
            }
            Ok::<_, Infallible>(http::Response::new(Body::empty()))
        });
        let around = around_calls(reader, Tokens::default(), POOL.clone(), CancellationToken::new());
        RefCell::new(UnsyncBoxService::new(around))
    };
}

/// Sends a body in pieces to a service that only reads, through what a server does around every call.
pub fn receive(encoding: &str, timeout: &[u8], pieces: &[&[u8]]) {
    let mut request = http::Request::post("/tetrion.v1.EnvironmentService/StepStream")
        .header("content-type", "application/grpc")
        .header("grpc-encoding", encoding);
    if let Ok(timeout) = http::HeaderValue::from_bytes(timeout) {
        request = request.header("grpc-timeout", timeout);
    }
    let pieces = pieces.iter().map(|piece| Bytes::copy_from_slice(piece)).collect();
    let request = request.body(Body::new(Pieces(pieces))).expect("a request");
    READER.with_borrow_mut(|reader| {
        RUNTIME.block_on(async {
            let Ok(reader) = reader.ready().await;
            let Ok(answer) = reader.call(request).await;
            outcome(&refusal(answer.headers()));
            let mut body = answer.into_body();
            while poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await.is_some() {}
        });
    });
}

/// What the headers or trailers of an answer refuse.
fn refusal(headers: &http::HeaderMap) -> Result<(), String> {
    match headers.get("grpc-message") {
        Some(message) => Err(String::from_utf8_lossy(message.as_bytes()).into_owned()),
        None => Ok(()),
    }
}

/// A body that is there, piece by piece.
struct Pieces(VecDeque<Bytes>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl Default for Services {
    fn default() -> Services {
        Services::new()
    }
}

/// The parts of an input: each with its length before it, as two bytes; the last may be shorter.
pub fn parts(mut input: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while let Some((length, rest)) = input.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (part, rest) = rest.split_at(length);
        parts.push(part);
        input = rest;
    }
    parts
}
