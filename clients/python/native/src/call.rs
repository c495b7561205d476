//! Calls: requests from Python's arguments, answers or exceptions from their results.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use prost::Message;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::client::{MAX_MESSAGE, RawBytes};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::client::{Grpc, GrpcService};
use tonic::metadata::{Ascii, MetadataKey, MetadataMap, MetadataValue};
use tonic::{Request, Status, Streaming};

use super::executor::Executor;
use super::failure::{AnswerError, Failed};
use super::streams::Stream;

/// Pairs of names and values.
pub(crate) type Metadata = Vec<(String, String)>;

/// Destination of calls: the services in this process, or a connection to a server.
pub(crate) trait CallTarget:
    GrpcService<Body, ResponseBody = Body, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<T> CallTarget for T where
    T: GrpcService<Body, ResponseBody = Body, Future: Send> + Clone + Send + Sync + 'static
{
}

/// Calls of one target, for Python.
#[derive(Clone)]
pub(crate) struct Stub<T> {
    pub(crate) target: T,
    pub(crate) executor: Executor,
    /// Cancelled when Python closes the connection; ends every call.
    pub(crate) closed: CancellationToken,
}

impl<T: CallTarget> Stub<T> {
    /// Makes a call with one answer. Returns the answer.
    pub(crate) fn call<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        message: &[u8],
        metadata: Metadata,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (path, timeout) = (path_of(path)?, timeout_of(timeout));
        let request = request(Bytes::copy_from_slice(message), metadata, timeout).map_err(refused)?;
        let call = async {
            let mut calls = calls(self.target.clone()).await?;
            only(calls.server_streaming(request, path, RawBytes).await?.into_inner()).await
        };
        let answer = self.executor.wait(py, until(&self.closed, timeout, call))?;
        Ok(PyBytes::new(py, &answer.map_err(refused)?))
    }

    /// Starts a call with one request and many answers.
    pub(crate) fn stream(
        &self,
        py: Python<'_>,
        path: &str,
        message: &[u8],
        metadata: Metadata,
        timeout: Option<f64>,
    ) -> PyResult<Stream> {
        let (path, timeout) = (path_of(path)?, timeout_of(timeout));
        let request = request(Bytes::copy_from_slice(message), metadata, timeout);
        let request = request.map_err(refused)?;
        let target = self.target.clone();
        let opening = async { calls(target).await?.server_streaming(request, path, RawBytes).await };
        Ok(Stream::new(py, &self.executor, self.closed.clone(), opening, timeout))
    }
}

/// The client of a target, as soon as the target accepts a call.
async fn calls<T: CallTarget>(target: T) -> tonic::Result<Grpc<T>> {
    let mut calls = Grpc::new(target).max_decoding_message_size(MAX_MESSAGE);
    match calls.ready().await {
        Ok(()) => Ok(calls),
        Err(error) => Err(Status::from_error(error.into())),
    }
}

/// The answer of a call that has exactly one. tonic's own `unary` ignores further ones.
async fn only(mut answers: Streaming<Bytes>) -> tonic::Result<Bytes> {
    let missing = || Status::internal("Missing response message");
    let answer = answers.message().await?.ok_or_else(missing)?;
    match answers.message().await? {
        None => Ok(answer),
        Some(_) => Err(Status::internal("Several response messages")),
    }
}

/// The result of a call, or an error if the timeout or the end of the connection comes first.
pub(crate) async fn until<T>(
    connection: &CancellationToken,
    timeout: Option<Duration>,
    call: impl Future<Output = tonic::Result<T>>,
) -> tonic::Result<T> {
    let late = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = connection.cancelled() => Err(closed()),
        output = call => output,
        () = late => Err(Status::deadline_exceeded("Deadline Exceeded")),
    }
}

/// The error of a call on a closed connection.
pub(crate) fn closed() -> Status {
    Status::cancelled("the connection was closed")
}

/// Parses the path of a method.
fn path_of(path: &str) -> PyResult<PathAndQuery> {
    PathAndQuery::try_from(path)
        .map_err(|error| PyValueError::new_err(format!("{path:?} is not a path: {error}")))
}

/// A timeout from seconds. One of decades is longer than any call, and fits into no header.
fn timeout_of(seconds: Option<f64>) -> Option<Duration> {
    seconds.filter(|seconds| *seconds < 1e9).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

/// A request with metadata and, optionally, a timeout.
///
/// # Errors
/// `INVALID_ARGUMENT` if the metadata cannot be sent.
fn request<T>(message: T, metadata: Metadata, timeout: Option<Duration>) -> tonic::Result<Request<T>> {
    let mut request = Request::new(message);
    *request.metadata_mut() = metadata_of(metadata)?;
    if let Some(timeout) = timeout {
        request.set_timeout(timeout);
    }
    Ok(request)
}

/// Metadata from pairs of names and values.
///
/// # Errors
/// `INVALID_ARGUMENT` if one cannot be sent.
pub(crate) fn metadata_of(pairs: Metadata) -> tonic::Result<MetadataMap> {
    let mut metadata = MetadataMap::with_capacity(pairs.len());
    for (name, value) in pairs {
        let key = MetadataKey::<Ascii>::from_bytes(name.as_bytes()).ok();
        let value = MetadataValue::<Ascii>::try_from(value).ok();
        let (Some(key), Some(value)) = (key, value) else {
            return Err(Status::invalid_argument(format!("the metadata {name:?} cannot be sent")));
        };
        metadata.append(key, value);
    }
    Ok(metadata)
}

/// The exception for a failed call.
pub(crate) fn refused(status: Status) -> PyErr {
    Failed::Call(Box::new(status)).raised()
}

/// An encoded message for Python.
pub(crate) fn message<'py>(py: Python<'py>, message: &impl Message) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &message.encode_to_vec())
}

/// A message that Python has encoded.
pub(crate) fn decoded<M: Message + Default>(bytes: &[u8]) -> PyResult<M> {
    M::decode(bytes).map_err(|error| AnswerError::new_err(error.to_string()))
}

/// A time in seconds; decades stand for ever.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, 1e9))
}
