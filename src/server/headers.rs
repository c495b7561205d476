//! Request headers that are read before the caller is known.

use std::time::Duration;

use axum::http::{HeaderMap, Response, StatusCode, header};
use tonic::body::Body;

use tetrion_protocol::pb::environment_service_server::SERVICE_NAME;

/// Refuses a request that does not declare gRPC with an HTTP status, because its client may not understand gRPC.
pub(super) fn wrong_type(headers: &HeaderMap) -> Option<Response<Body>> {
    let kind = headers.get(header::CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
    let rest = kind.strip_prefix(b"application/grpc");
    if rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';'))) {
        return None;
    }
    let kind = String::from_utf8_lossy(kind);
    let text = format!("content-type is {kind:?}, expected application/grpc or application/grpc-web\n");
    let mut response = Response::new(Body::new(text));
    *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    Some(response)
}

/// Bytes of a header in addition to its name and its value: its entry in the map.
const HEADER_BYTES: usize = 160;

/// Memory of headers, including the frames that carried them.
pub(super) fn weight(headers: &HeaderMap) -> u64 {
    headers.iter().map(|(name, value)| (HEADER_BYTES + 2 * (name.as_str().len() + value.len())) as u64).sum()
}

/// The caller's timeout in the headers: up to eight digits and a unit.
pub fn timeout(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let amount = u64::from(digits.parse::<u32>().ok()?);
    match unit {
        "H" => Some(Duration::from_secs(amount * 3600)),
        "M" => Some(Duration::from_secs(amount * 60)),
        "S" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_millis(amount)),
        "u" => Some(Duration::from_micros(amount)),
        "n" => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

/// Whether a request declares gRPC.
pub(super) fn is_call(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// Whether a request goes straight to `EnvironmentService`: a native gRPC client calls one of its methods.
pub fn goes_straight(path: &str, headers: &HeaderMap) -> bool {
    is_of(SERVICE_NAME, path) && is_grpc(headers)
}

/// Whether a path names a method of this service.
pub(super) fn is_of(service: &str, path: &str) -> bool {
    path.strip_prefix('/')
        .and_then(|path| path.strip_prefix(service))
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Whether the client is a native gRPC program. A page in a browser sends an origin, and cannot use native gRPC.
fn is_grpc(headers: &HeaderMap) -> bool {
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|kind| kind.as_bytes().strip_prefix(b"application/grpc"));
    kind.is_some_and(|kind| !kind.starts_with(b"-")) && !headers.contains_key(header::ORIGIN)
}
