//! Traces: a span per call, sent to a collector over OTLP.
//!
//! The server makes spans when calls end, so a call in progress carries only the trace of its caller. Spans wait for
//! their batch in a queue of [`QUEUE`], and a thread of the SDK sends them. While the collector is unreachable, spans
//! are lost: the metrics count them, the log reports the loss at intervals, and calls continue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use axum::http::{HeaderMap, Uri};
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{Span, SpanBuilder, SpanKind, Status, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig, WithTonicConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracer, SdkTracerProvider, SpanData, SpanExporter as Export,
};
use tonic::Code;
use tonic::transport::ClientTlsConfig;
use tracing::warn;

use tetrion_service::CallContext;
use tetrion_service::brake::Brake;
use tetrion_service::metrics::SPANS;

/// Most spans in the queue, each of about a kilobyte.
const QUEUE: usize = 8192;

/// Time that the first span of a batch waits for others.
const BATCH_INTERVAL: Duration = Duration::from_secs(1);

/// Limit on log lines about an unreachable collector.
static LINES: Brake = Brake::every(Duration::from_secs(60));

/// The reason why the server cannot send traces.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CollectorError(#[from] ExporterBuildError);

/// Whether a URL has the scheme of a collector, a host and, if it has a port, a valid one. The URL parser accepts invalid
/// ports, such as part of a password with a slash.
pub fn is_collector(url: &str) -> bool {
    let Ok(url) = url.parse::<Uri>() else { return false };
    let Some(authority) = url.authority() else { return false };
    let (host, address) = (authority.host(), authority.as_str());
    let address = address.rsplit_once('@').map_or(address, |(_, address)| address);
    matches!(url.scheme_str(), Some("http" | "https"))
        && !host.is_empty()
        && (address == host || authority.port_u16().is_some())
}

/// The connection to a collector.
#[derive(Clone, Debug)]
pub(super) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    waiting: Arc<AtomicUsize>,
}

/// The span of a call in progress.
pub(super) struct CallSpan {
    traces: Traces,
    parent: Context,
    start: SystemTime,
}

impl Traces {
    /// Starts sending spans to the collector at this URL.
    pub fn start(endpoint: &str) -> Result<Traces, CollectorError> {
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint);
        let exporter = if endpoint.starts_with("https://") {
            exporter.with_tls_config(ClientTlsConfig::new().with_enabled_roots())
        } else {
            exporter
        };
        for outcome in ["sent", "lost"] {
            metrics::counter!(SPANS, "outcome" => outcome).increment(0);
        }
        let waiting = Arc::<AtomicUsize>::default();
        let exporter = CountingExporter { inner: exporter.build()?, waiting: waiting.clone() };
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_scheduled_delay(BATCH_INTERVAL)
            .build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let provider =
            SdkTracerProvider::builder().with_resource(resource()).with_span_processor(processor).build();
        Ok(Traces { tracer: provider.tracer("tetrion"), provider, waiting })
    }

    /// Starts the span of a call with these headers, under the caller's span if they name one.
    pub fn begin(&self, headers: &HeaderMap) -> CallSpan {
        let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(headers));
        CallSpan { traces: self.clone(), parent, start: SystemTime::now() }
    }

    /// Sends the waiting spans, but takes no longer than this.
    pub async fn finish(self, within: Duration) {
        let finish = move || self.provider.shutdown_with_timeout(within);
        if let Ok(Err(error)) = tokio::task::spawn_blocking(finish).await {
            warn!("the last spans were not sent: {error}");
        }
    }
}

impl CallSpan {
    /// Makes the span of a call that has ended.
    pub fn end(self, method: &Arc<str>, call: &CallContext, code: Code, sent: u64) {
        let CallSpan { traces, parent, start } = self;
        if traces.waiting.fetch_add(1, Ordering::Relaxed) >= QUEUE {
            traces.waiting.fetch_sub(1, Ordering::Relaxed);
            return lost(1, "too many spans wait for the collector");
        }
        let (service, name) = method.split_once('/').unwrap_or(("", method));
        let mut attributes = vec![
            KeyValue::new("rpc.system", "grpc"),
            KeyValue::new("rpc.service", service.to_owned()),
            KeyValue::new("rpc.method", name.to_owned()),
            KeyValue::new("rpc.grpc.status_code", code as i64),
            KeyValue::new("tetrion.request_id", call.request_id().to_owned()),
            KeyValue::new("tetrion.received_bytes", call.received() as i64),
            KeyValue::new("tetrion.sent_bytes", sent as i64),
        ];
        attributes.extend(call.session().map(|session| KeyValue::new("tetrion.session", session)));
        attributes.extend(call.reason().map(|reason| KeyValue::new("error.type", reason)));
        let builder = SpanBuilder::from_name(method.to_string())
            .with_kind(SpanKind::Server)
            .with_start_time(start)
            .with_attributes(attributes);
        let mut span = traces.tracer.build_with_context(builder, &parent);
        if !span.is_recording() {
            // The caller does not want this span, or the sampler that OTEL_TRACES_SAMPLER selects.
            traces.waiting.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        if is_fault(code) {
            span.set_status(Status::error(""));
        }
        span.end();
    }
}

/// Whether a code means a fault of the server, by the conventions for spans of gRPC servers.
fn is_fault(code: Code) -> bool {
    use Code::*;
    matches!(code, Unknown | DeadlineExceeded | Unimplemented | Internal | Unavailable | DataLoss)
}

/// Attributes of all spans: the version, and the name of the service, which the environment may override.
fn resource() -> Resource {
    let named = Resource::builder().build();
    let name = named.get(&"service.name".into()).map(|name| name.to_string());
    let name =
        name.filter(|name| !name.starts_with("unknown_service")).unwrap_or_else(|| "tetrion".to_owned());
    Resource::builder()
        .with_service_name(name)
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build()
}

fn lost(spans: usize, why: &str) {
    metrics::counter!(SPANS, "outcome" => "lost").increment(spans as u64);
    if let Some(withheld) = LINES.pass() {
        warn!(withheld, "traces are lost: {why}");
    }
}

/// Counts the batches that an exporter sends.
#[derive(Debug)]
struct CountingExporter {
    inner: SpanExporter,
    waiting: Arc<AtomicUsize>,
}

impl Export for CountingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        self.waiting.fetch_sub(spans, Ordering::Relaxed);
        let sent = self.inner.export(batch).await;
        match &sent {
            Ok(()) => metrics::counter!(SPANS, "outcome" => "sent").increment(spans as u64),
            Err(error) => lost(spans, &error.to_string()),
        }
        sent
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// Headers from which a propagator reads the caller's trace.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|name| name.as_str()).collect()
    }
}
