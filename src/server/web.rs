//! Plain HTTP next to the gRPC services: the page, the learning curve for it, and the metrics.

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;

use super::metrics::{self, Activity};
use super::page;
use super::token::Tokens;
use super::training::{self, TrainingCurve};

/// The routes, with 404 for every other path. If callers need a token, the metrics need one too. The files of the page
/// are public; its calls are not.
pub(super) fn routes(
    tokens: Tokens,
    has_page: bool,
    curve: Option<TrainingCurve>,
    activity: impl Fn() -> Activity + Clone + Send + Sync + 'static,
) -> Router {
    let page =
        if has_page { page::routes().merge(training::routes(tokens.clone(), curve)) } else { Router::new() };
    let metrics = async move |headers: HeaderMap| match tokens.admit(&headers) {
        Err(_) => (StatusCode::UNAUTHORIZED, "authorization: Bearer TOKEN\n").into_response(),
        Ok(_) => {
            let text = metrics::render(activity());
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
        }
    };
    page.route("/metrics", get(metrics)).fallback(async || (StatusCode::NOT_FOUND, "nothing here\n"))
}
