//! What a training in this process says of itself, for the page.
//!
//! `tetrion train` plays on a server of its own, and puts its learning curve here after each generation. The server hands it
//! out as it is, and knows nothing of trainings.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use bytes::Bytes;

use super::token::Tokens;

/// A curve as JSON, and whatever comes after it. All copies are one.
#[derive(Clone, Debug, Default)]
pub struct TrainingCurve(Arc<Mutex<Bytes>>);

impl TrainingCurve {
    /// Puts this JSON in place of what was there.
    pub fn put(&self, json: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = json.into();
    }

    fn now(&self) -> Bytes {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The route `/training`: JSON, or nothing where no training runs. Who needs a token for calls needs it here too.
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
