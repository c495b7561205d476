//! The record of every call: its metrics, its log line if it failed, and its span if traces are on.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use prost::Message;
use tonic::Code;
use tracing::{Level, debug, error, info, warn};

use super::codes::CODES;
use super::metrics::install;
use super::reception::Takes;
use super::traces::CallSpan;
use tetrion_protocol::limits::max_request_bytes;
use tetrion_service::CallContext;
use tetrion_service::brake::Brake;
use tetrion_service::metrics as names;

/// Additional bytes reserved for a reflection call or an evaluation, whose answers reserve nothing by size: file
/// descriptions or results of games, two messages at a time.
const BULKY_ANSWER_BYTES: u64 = 512 << 10;

/// Limit on log lines about failed calls.
static LINES: Brake = Brake::new(20);

/// The metrics and limits of one method, shared by all of its calls.
#[derive(Debug)]
pub(super) struct MethodMetrics {
    pub name: Arc<str>,
    pub takes: Takes,
    /// Whether the answer is a stream of messages.
    pub answers_stream: bool,
    /// Additional bytes for answers; see [`BULKY_ANSWER_BYTES`].
    pub bulk: u64,
    in_flight: Gauge,
    seconds: Histogram,
    received: Counter,
    sent: Counter,
    /// Counters by code. Each is created on first use, because a page of zeros does not help.
    ended_with: [OnceLock<Counter>; CODES.len()],
}

impl MethodMetrics {
    /// Registers the metrics of a method. Requests may have several messages if `stream`.
    pub fn new(name: &str, stream: bool, answers_stream: bool) -> MethodMetrics {
        install();
        let is_bulky = name.starts_with("grpc.reflection.") || name.ends_with("/EvaluatePolicies");
        let name = Arc::<str>::from(name);
        let method = MethodMetrics {
            answers_stream,
            bulk: if is_bulky { BULKY_ANSWER_BYTES } else { 0 },
            takes: Takes { stream, max_bytes: max_request_bytes(&name) },
            in_flight: gauge!(names::CALLS_IN_FLIGHT, "method" => name.clone()),
            seconds: histogram!(names::CALL_SECONDS, "method" => name.clone()),
            received: counter!(names::RECEIVED_BYTES, "method" => name.clone()),
            sent: counter!(names::SENT_BYTES, "method" => name.clone()),
            ended_with: Default::default(),
            name,
        };
        // Created at the start, so that the first call appears as a change.
        method.ended(Code::Ok);
        method
    }

    /// The counter of calls that ended with this code.
    fn ended(&self, code: Code) -> &Counter {
        let counter =
            || counter!(names::CALLS, "method" => self.name.clone(), "code" => CODES[code as usize]);
        self.ended_with[code as usize].get_or_init(counter)
    }
}

/// The methods in an encoded descriptor set, as `package.Service/Method`.
pub(super) fn methods(encoded: &[u8]) -> Vec<MethodMetrics> {
    let set = prost_types::FileDescriptorSet::decode(encoded).expect("descriptors written by a build script");
    let mut methods = Vec::new();
    for file in &set.file {
        for service in &file.service {
            let method = |m: &prost_types::MethodDescriptorProto| {
                let name = format!("{}.{}/{}", file.package(), service.name(), m.name());
                MethodMetrics::new(&name, m.client_streaming(), m.server_streaming())
            };
            methods.extend(service.method.iter().map(method));
        }
    }
    methods
}

/// The record of one call, written when the call ends.
pub(super) struct CallRecord {
    pub method: Arc<MethodMetrics>,
    pub call: Arc<CallContext>,
    pub start: Instant,
    /// Status code of the call; `None` if the caller left before the end.
    code: Option<Code>,
    /// Bytes of the answer sent so far.
    sent: u64,
    span: Option<CallSpan>,
}

impl CallRecord {
    /// Starts the record of a call, which is in flight until the record is dropped.
    pub fn of(method: Arc<MethodMetrics>, call: Arc<CallContext>, span: Option<CallSpan>) -> CallRecord {
        method.in_flight.increment(1);
        CallRecord { method, call, start: Instant::now(), code: None, sent: 0, span }
    }

    /// Notes the status code of the call.
    pub fn end(&mut self, code: Option<Code>) {
        self.code = code;
    }

    /// Adds bytes of the answer.
    pub fn sent(&mut self, bytes: usize) {
        self.sent += bytes as u64;
        self.method.sent.increment(bytes as u64);
    }

    /// Wraps the body of the call's request to count its bytes.
    pub fn received<B>(&self, inner: B) -> Received<B> {
        Received { inner, method: self.method.clone(), call: self.call.clone() }
    }

    /// Logs a failed call: callers' mistakes as information or warnings, the server's as errors.
    fn log(&self, code: Code) {
        // Cancelled calls are logged at debug level only.
        if code == Code::Ok || code == Code::Cancelled && !tracing::enabled!(Level::DEBUG) {
            return;
        }
        let Some(withheld) = LINES.pass() else { return };
        let reason = self.call.reason().unwrap_or_default();
        let (code, seconds) = (CODES[code as usize], self.start.elapsed().as_secs_f64());
        macro_rules! line {
            ($level:ident) => {
                $level!(code, reason, seconds, withheld, "a call failed")
            };
        }
        self.call.scope(|| {
            CallContext::log(|| match code {
                "CANCELLED" => line!(debug),
                "INTERNAL" | "UNKNOWN" | "DATA_LOSS" => line!(error),
                "UNAUTHENTICATED" | "PERMISSION_DENIED" | "RESOURCE_EXHAUSTED" => line!(warn),
                _ => line!(info),
            });
        });
    }
}

impl Drop for CallRecord {
    fn drop(&mut self) {
        let code = self.code.unwrap_or(Code::Cancelled);
        self.method.ended(code).increment(1);
        self.method.seconds.record(self.start.elapsed());
        self.method.in_flight.decrement(1);
        self.log(code);
        if let Some(span) = self.span.take() {
            span.end(&self.method.name, &self.call, code, self.sent);
        }
    }
}

/// The body of a request, with a count of its bytes.
pub(super) struct Received<B> {
    inner: B,
    method: Arc<MethodMetrics>,
    call: Arc<CallContext>,
}

impl<B: http_body::Body<Data = Bytes> + Unpin> http_body::Body for Received<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.method.received.increment(data.len() as u64);
            self.call.note_received(data.len());
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
