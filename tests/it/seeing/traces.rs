//! Spans of calls reach a collector, and a missing collector does no harm.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use prost::Message;
use tokio::sync::mpsc;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Code, Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::Service;

use super::{NO_SESSION, Process, missing, under};
use tetrion_service_testing::{config, create, reset};

/// `opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest`, as far as the tests look at it.
#[derive(Clone, PartialEq, Message)]
pub struct Export {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(fixed64, tag = "7")]
    start: u64,
    #[prost(fixed64, tag = "8")]
    end: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    status: Option<SpanStatus>,
}

#[derive(Clone, PartialEq, Message)]
struct SpanStatus {
    #[prost(int32, tag = "3")]
    code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    text: String,
    #[prost(int64, tag = "3")]
    number: i64,
}

/// The answer of a collector, which has no fields.
#[derive(Clone, PartialEq, Message)]
struct Exported {}

impl Span {
    fn attribute(&self, key: &str) -> Option<&Value> {
        self.attributes.iter().find(|attribute| attribute.key == key)?.value.as_ref()
    }

    #[track_caller]
    fn text(&self, key: &str) -> &str {
        &self.attribute(key).unwrap_or_else(|| panic!("no {key} in {self:?}")).text
    }

    #[track_caller]
    pub fn number(&self, key: &str) -> i64 {
        self.attribute(key).unwrap_or_else(|| panic!("no {key} in {self:?}")).number
    }

    /// 0 for a span without a status, 2 for a fault.
    pub fn status_code(&self) -> i32 {
        self.status.as_ref().map_or(0, |status| status.code)
    }
}

/// A collector: what it receives comes out at the other end of a channel.
#[derive(Clone)]
struct Collector(mpsc::UnboundedSender<Export>);

impl NamedService for Collector {
    const NAME: &'static str = "opentelemetry.proto.collector.trace.v1.TraceService";
}

impl UnaryService<Export> for Collector {
    type Response = Exported;
    type Future = std::future::Ready<Result<Response<Exported>, Status>>;

    fn call(&mut self, request: Request<Export>) -> Self::Future {
        self.0.send(request.into_inner()).unwrap();
        ready(Ok(Response::new(Exported {})))
    }
}

impl Service<http::Request<Body>> for Collector {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let collector = self.clone();
        Box::pin(async move {
            let codec = ProstCodec::<Exported, Export>::default();
            Ok(Grpc::new(codec).unary(collector, request).await)
        })
    }
}

/// A collector at this address, and what it receives.
pub fn collect() -> (SocketAddr, mpsc::UnboundedReceiver<Export>) {
    let (sender, exports) = mpsc::unbounded_channel();
    let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = incoming.local_addr().unwrap();
    tokio::spawn(Server::builder().add_service(Collector(sender)).serve_with_incoming(incoming));
    (address, exports)
}

/// The spans of methods of `tetrion.v1`, until there are this many of them.
pub async fn spans(exports: &mut mpsc::UnboundedReceiver<Export>, number: usize) -> Vec<Span> {
    let mut spans = Vec::new();
    while spans.len() < number {
        let export = tokio::time::timeout(Duration::from_secs(60), exports.recv()).await;
        for ResourceSpans { resource, scope_spans } in export.expect("spans in time").unwrap().resource_spans
        {
            let attributes = resource.unwrap().attributes;
            let name = attributes.iter().find(|attribute| attribute.key == "service.name").unwrap();
            assert_eq!(name.value.as_ref().unwrap().text, "tetrion");
            spans.extend(scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    }
    spans
}

#[tokio::test]
async fn a_call_has_a_span_under_that_of_its_caller() {
    let (collector, mut exports) = collect();
    let process = Process::start(&["--otlp", &format!("http://{collector}")]);
    let mut client = process.client().await;
    let session = create(&mut client, config(2, 1)).await;
    let mut request = under("traced", reset(&session.name));
    let (trace, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    request.metadata_mut().insert("traceparent", format!("00-{trace}-{parent}-01").parse().unwrap());
    client.reset(request).await.unwrap();
    // From a caller that does not want to be traced.
    let mut request = under("untraced", reset(&session.name));
    request.metadata_mut().insert("traceparent", format!("00-{trace}-{parent}-00").parse().unwrap());
    client.reset(request).await.unwrap();
    client.get_session(under("refused", missing())).await.unwrap_err();

    let spans = spans(&mut exports, 3).await;
    let by_id = |id| spans.iter().find(|span| span.text("tetrion.request_id") == id);
    let span = by_id("traced").unwrap();
    assert_eq!(span.name, "tetrion.v1.EnvironmentService/Reset");
    assert_eq!(span.kind, 2, "a server's");
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!((hex(&span.trace_id), hex(&span.parent_span_id)), (trace.to_owned(), parent.to_owned()));
    assert!(span.start <= span.end && span.end - span.start < 60_000_000_000, "{span:?}");
    assert_eq!((span.text("rpc.system"), span.text("rpc.method")), ("grpc", "Reset"));
    assert_eq!(span.number("rpc.grpc.status_code"), 0);
    assert!(span.number("tetrion.received_bytes") > 40, "{span:?}");
    assert!(span.number("tetrion.sent_bytes") > 400, "{span:?}");
    let made = spans.iter().find(|span| span.name.ends_with("/CreateSession")).unwrap();
    assert_eq!(made.text("tetrion.session"), span.text("tetrion.session"), "the same digest in all calls");
    assert!(made.parent_span_id.is_empty());
    let id = session.name.strip_prefix("sessions/").unwrap();
    assert!(!format!("{spans:?}").contains(id), "names of sessions open them");

    let refused = by_id("refused").unwrap();
    assert_eq!(refused.number("rpc.grpc.status_code"), Code::NotFound as i64);
    assert_eq!(refused.text("error.type"), "SESSION_NOT_FOUND");
    assert!(!format!("{refused:?}").contains(NO_SESSION.strip_prefix("sessions/").unwrap()));
    assert!(by_id("untraced").is_none());
}

#[tokio::test]
async fn spans_that_wait_are_sent_before_the_server_ends() {
    let (collector, mut exports) = collect();
    let process = Process::start(&["--otlp", &format!("http://{collector}")]);
    process.client().await.get_session(under("last", missing())).await.unwrap_err();
    let stopped = tokio::task::spawn_blocking(|| process.stop());
    let spans = spans(&mut exports, 1).await;
    assert_eq!(spans[0].text("tetrion.request_id"), "last");
    stopped.await.unwrap();
}

#[tokio::test]
async fn a_collector_that_is_away_costs_a_line_in_the_log() {
    // A port that takes connections and answers nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    for endpoint in ["http://127.0.0.1:1".to_owned(), format!("http://{}", silent.local_addr().unwrap())] {
        let process = Process::start(&["--otlp", &endpoint, "--drain-timeout", "3"]);
        let mut client = process.client().await;
        for _ in 0..50 {
            client.get_server_info(tetrion::protocol::pb::GetServerInfoRequest::default()).await.unwrap();
        }
        let start = Instant::now();
        let log = tokio::task::spawn_blocking(|| process.stop()).await.unwrap();
        assert!(start.elapsed() < Duration::from_secs(10), "the end waited for {:?}", start.elapsed());
        let text = |line: &serde_json::Value| line["fields"]["message"].as_str().unwrap().to_owned();
        let lines: Vec<String> = log
            .iter()
            .map(text)
            .filter(|line| line.contains("traces are lost") || line.contains("spans"))
            .collect();
        assert!((1..=2).contains(&lines.len()), "{log:?}");
    }
}

#[test]
fn a_url_that_cannot_be_one_is_refused_with_its_name() {
    for (flags, variable) in
        [(&["--otlp", "localhost:4317"][..], None), (&[], Some("OTEL_EXPORTER_OTLP_ENDPOINT"))]
    {
        let mut command = crate::evaluate::tetrion(&["serve", "--listen", "127.0.0.1:0"]);
        command.args(flags).envs(variable.map(|name| (name, "localhost:4317")));
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(variable.unwrap_or("--otlp")), "{stderr}");
        assert!(stderr.contains("expected http://HOST:PORT or https://HOST:PORT"), "{stderr}");
    }
}
