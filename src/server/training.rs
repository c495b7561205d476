//! The learning curve of a training run in this process, for the page.
//!
//! `tetrion train` starts its own server, and stores its learning curve here after each generation. The server passes
//! the curve on unchanged, and knows nothing about training.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use bytes::Bytes;

use super::token::Tokens;

/// A curve as JSON, with notifications of changes. Clones share one curve.
#[derive(Clone, Debug, Default)]
pub struct TrainingCurve(Arc<Mutex<Bytes>>);

impl TrainingCurve {
    /// Replaces the curve by another one, as JSON.
    pub fn put(&self, json: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = json.into();
    }

    fn now(&self) -> Bytes {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The route `/training`: JSON, or an empty answer if no training runs. It needs a token if calls do.
pub(super) fn routes(tokens: Tokens, curve: Option<TrainingCurve>) -> Router {
    let handler = async move |headers: HeaderMap| {
        if tokens.admit(&headers).is_err() {
            return (StatusCode::UNAUTHORIZED, "authorization: Bearer TOKEN\n").into_response();
        }
        match curve.as_ref().map(TrainingCurve::now).filter(|json| !json.is_empty()) {
            Some(json) => {
                let headers =
                    [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
                (headers, json).into_response()
            }
            None => StatusCode::NO_CONTENT.into_response(),
        }
    };
    Router::new().route("/training", get(handler))
}
