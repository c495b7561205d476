//! Plain HTTP beside the gRPC services: a page for people, and the metrics.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use super::token::Tokens;
use crate::engine::RULES_VERSION;

/// What is going on in a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    pub sessions: u32,
    pub environments: u32,
    pub evaluations: u32,
    /// Bytes of all sessions.
    pub session_bytes: u64,
    pub connections: u64,
    /// Bytes of requests on their way in.
    pub request_bytes: u64,
    /// Bytes of answers on their way out.
    pub answer_bytes: u64,
}

/// The routes, and 404 for every path that is nobody's. Where callers need a token, so do readers of the metrics; the page
/// is for everyone, and says nothing of what callers do.
pub(super) fn routes(
    tokens: Tokens,
    activity: impl Fn() -> Activity + Clone + Send + Sync + 'static,
) -> Router {
    let now = activity.clone();
    let is_open = !tokens.are_needed();
    let metrics = async move |headers: HeaderMap| match tokens.admit(&headers) {
        Err(_) => (StatusCode::UNAUTHORIZED, "authorization: Bearer TOKEN\n").into_response(),
        Ok(_) => {
            let text = render_metrics(now());
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
        }
    };
    Router::new()
        .route("/", get(async move || Html(page(is_open.then(&activity)))))
        .route("/metrics", get(metrics))
        .fallback(async || (StatusCode::NOT_FOUND, "nothing here; / tells what this server is\n"))
}

/// What a person sees who opens the port in a browser.
fn page(activity: Option<Activity>) -> String {
    let activity = activity.map_or(String::new(), |Activity { sessions, environments, evaluations, .. }| {
        format!(
            "<p>At the moment: {sessions} sessions with {environments} environments, {evaluations} evaluations.</p>"
        )
    });
    format!(
        r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Tetrion</title>
<style>
  body {{ font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em }}
  pre {{ background: #eee; padding: 0.7em; overflow-x: auto }}
</style>
<h1>Tetrion</h1>
<p>A Tetris environment server for reinforcement learning, spoken to over gRPC.
Version {version}, rules <code>{RULES_VERSION}</code>.</p>
{activity}
<p>This port speaks gRPC, gRPC-Web and, for this page and <a href="/metrics">the metrics</a>, plain HTTP.
Server reflection is on, so no files are needed to look around:</p>
<pre>buf curl --protocol grpc --http2-prior-knowledge --list-methods http://HOST:PORT
buf curl --protocol grpc --http2-prior-knowledge -d '{{}}' \
    http://HOST:PORT/tetrion.v1.EnvironmentService/GetServerInfo
grpcurl -plaintext HOST:PORT describe tetrion.v1.EnvironmentService</pre>
<p>The comments in those descriptions are the reference of the protocol.</p>
</html>
"#,
        version = env!("CARGO_PKG_VERSION"),
    )
}

/// The upper bounds of the buckets that calls are counted in, in seconds: from a step of one environment to an evaluation
/// that goes on for minutes.
const BUCKETS: [f64; 10] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 1.0, 10.0, 100.0];

/// The process' metrics, installed by the first server in it; several servers in one process count together.
fn metrics() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS)
            .expect("a list of buckets that is not empty")
            .build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            // A program that embeds the server keeps its own recorder, and gets our numbers there.
            tracing::warn!("the process has a metrics recorder already; /metrics stays empty");
        }
        handle
    })
}

/// The metrics as Prometheus reads them. What is the case now is looked up now.
fn render_metrics(activity: Activity) -> String {
    let handle = metrics();
    metrics::gauge!("tetrion_sessions").set(activity.sessions);
    metrics::gauge!("tetrion_environments").set(activity.environments);
    metrics::gauge!("tetrion_evaluations").set(activity.evaluations);
    metrics::gauge!("tetrion_session_bytes").set(activity.session_bytes as f64);
    metrics::gauge!("tetrion_connections").set(activity.connections as f64);
    metrics::gauge!("tetrion_request_bytes").set(activity.request_bytes as f64);
    metrics::gauge!("tetrion_answer_bytes").set(activity.answer_bytes as f64);
    handle.render()
}

/// Makes sure that whatever is counted from here on is counted.
pub(super) fn install_metrics() {
    metrics();
}

/// Folds the single measurements of histograms into their buckets now and then; without it they pile up until somebody
/// reads the metrics.
pub(super) async fn keep_metrics_small() -> Infallible {
    let mut interval = tokio::time::interval(Duration::from_secs(5));
    loop {
        interval.tick().await;
        metrics().run_upkeep();
    }
}
