//! Plain HTTP beside the gRPC services: a page for people, and the metrics.

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;

use super::metrics::{self, Activity};
use super::token::Tokens;
use crate::engine::RULES_VERSION;

/// The routes, and 404 for every other path. Where callers need a token, so do readers of the metrics; the page stays
/// public, and then shows no activity.
pub(super) fn routes(
    tokens: Tokens,
    activity: impl Fn() -> Activity + Clone + Send + Sync + 'static,
) -> Router {
    let now = activity.clone();
    let is_open = !tokens.are_needed();
    let metrics = async move |headers: HeaderMap| match tokens.admit(&headers) {
        Err(_) => (StatusCode::UNAUTHORIZED, "authorization: Bearer TOKEN\n").into_response(),
        Ok(_) => {
            let text = metrics::render(now());
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
        }
    };
    Router::new()
        .route("/", get(async move || Html(page(is_open.then(&activity)))))
        .route("/metrics", get(metrics))
        .fallback(async || (StatusCode::NOT_FOUND, "nothing here; / describes this server\n"))
}

/// The page that the port shows in a browser.
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
<p>A Tetris environment server for reinforcement learning, with a gRPC API.
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
