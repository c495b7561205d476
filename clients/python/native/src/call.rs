//! One call: the request, a refusal, and the wait for the answer.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::server::Inside;
use tokio::runtime::Handle;
use tonic::client::Grpc;
use tonic::metadata::{Ascii, MetadataKey, MetadataValue};
use tonic::{Request, Status};

use super::CallError;

/// Pairs of names and values.
pub(crate) type Metadata = Vec<(String, String)>;

/// Longest wait before the next check for signals.
const SLICE: Duration = Duration::from_millis(100);

/// The client of the services.
pub(crate) fn calls(inside: Inside) -> Grpc<Inside> {
    // The services limit their own answers.
    Grpc::new(inside).max_decoding_message_size(usize::MAX)
}

/// Parses the path of a method.
///
/// # Errors
/// `ValueError` if the text is not a path.
pub(crate) fn path_of(path: &str) -> PyResult<PathAndQuery> {
    PathAndQuery::try_from(path)
        .map_err(|error| PyValueError::new_err(format!("{path:?} is not a path: {error}")))
}

/// A request with metadata and, optionally, a timeout in seconds.
///
/// # Errors
/// `ValueError` if the metadata cannot be sent.
pub(crate) fn request<T>(message: T, metadata: Metadata, timeout: Option<f64>) -> PyResult<Request<T>> {
    let mut request = Request::new(message);
    for (name, value) in metadata {
        let key = MetadataKey::<Ascii>::from_bytes(name.as_bytes()).ok();
        let value = MetadataValue::<Ascii>::try_from(value).ok();
        let (Some(key), Some(value)) = (key, value) else {
            return Err(PyValueError::new_err(format!("the metadata {name:?} cannot be sent")));
        };
        request.metadata_mut().append(key, value);
    }
    // A timeout that does not fit is longer than any call.
    if let Some(timeout) = timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        request.set_timeout(timeout);
    }
    Ok(request)
}

/// The exception for a refused call.
pub(crate) fn refused(py: Python<'_>, status: &Status) -> PyErr {
    let details = PyBytes::new(py, status.details()).unbind();
    CallError::new_err((status.code() as i32, status.message().to_owned(), details))
}

/// Waits for a future without the GIL, and checks for signals from time to time.
///
/// # Errors
/// The exception of a signal handler, such as `KeyboardInterrupt`. The future is then dropped.
pub(crate) fn wait<F: Future + Send>(py: Python<'_>, runtime: &Handle, future: F) -> PyResult<F::Output>
where
    F::Output: Send,
{
    let mut future = pin!(future);
    loop {
        let slice = async { tokio::time::timeout(SLICE, future.as_mut()).await };
        match py.detach(|| runtime.block_on(slice)) {
            Ok(output) => return Ok(output),
            Err(_) => py.check_signals()?,
        }
    }
}

/// Makes a call with one answer.
pub(crate) async fn unary(
    inside: Inside,
    path: PathAndQuery,
    request: Request<Bytes>,
) -> tonic::Result<Bytes> {
    Ok(calls(inside).unary(request, path, super::codec::Raw).await?.into_inner())
}
