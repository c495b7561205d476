//! Calls with messages as bytes, for programs that decode answers themselves, to services of any kind: a server over
//! gRPC or gRPC-Web, or the services in this process.
//!
//! Every call may have many requests and many answers here, because HTTP makes no difference: the one request of an
//! ordinary call is the only message of its stream.

use std::time::Duration;

use bytes::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codec::Streaming;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::http::{Request, Response, Uri};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::{Code, Status};
use tonic_web::{GrpcWebCall, GrpcWebClientLayer};
use tower::{BoxError, Service, ServiceBuilder};

use super::connection::{endpoint, open};
use super::error::first;
use super::link::Link;
use super::raw_bytes::RawBytes;
use super::{ClientError, ConnectOptions};

/// Most bytes of an answer. A reader without the type of an answer needs many times its size.
const MAX_MESSAGE: usize = 1 << 20;
/// Metadata with the id of a call, in requests and in answers.
const REQUEST_ID: &str = "x-request-id";

/// A client whose messages are bytes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RawClient {
    target: Link,
    /// Scheme and host of the server, if the target needs them.
    origin: Option<Uri>,
    authorization: Option<MetadataValue<Ascii>>,
    /// How long an answer may take.
    patience: Duration,
}

/// The answers of a call, and the way to send further requests.
#[derive(Debug)]
pub struct RawCall {
    /// Metadata of the answer: the id of the call.
    pub request_id: Option<String>,
    answers: Streaming<Bytes>,
    requests: Option<mpsc::UnboundedSender<Bytes>>,
    patience: Duration,
}

/// The status of a failed call, and whether its connection is lost.
#[derive(Clone, Debug)]
pub struct RawFailure {
    status: Status,
    /// Whether the connection failed, so that other calls may fail too.
    pub is_lost: bool,
}

impl RawClient {
    /// A client of services, which waits this long for an answer.
    pub fn new(target: Link, patience: Duration) -> RawClient {
        RawClient { target, origin: None, authorization: None, patience }
    }

    /// Connects to a server: `HOST:PORT`, a URL, or `unix:PATH`. With `is_web` the calls are gRPC-Web: on HTTP/1.1
    /// without TLS, as browsers make them, else on HTTP/2.
    ///
    /// # Errors
    /// An invalid address or token, an address where no server answers within five seconds, or a server that does not
    /// let this caller in.
    pub async fn connect(
        address: &str,
        options: &ConnectOptions,
        is_web: bool,
    ) -> Result<RawClient, ClientError> {
        let authorization = options.authorization()?;
        let endpoint = endpoint(address, options)?;
        let link = open(address, options).await?;
        let client = match (is_web, endpoint.uri().scheme_str()) {
            (false, _) => RawClient::new(link, options.patience),
            (true, Some("http")) => {
                let http = Client::builder(TokioExecutor::new()).build_http();
                RawClient { origin: Some(endpoint.uri().clone()), ..RawClient::web(http, options.patience) }
            }
            (true, _) => RawClient::web(link, options.patience),
        };
        let client = RawClient { authorization, ..client };
        // The program at the address may be another one, or refuse every call of this caller.
        let path = "/tetrion.v1.EnvironmentService/GetServerInfo";
        match client.call(path, "", Bytes::new(), false).await {
            Err(RawFailure { status, .. })
                if status.details().is_empty()
                    || matches!(status.code(), Code::Unauthenticated | Code::PermissionDenied) =>
            {
                Err(first(address, &status))
            }
            _ => Ok(client),
        }
    }

    /// A client that calls a service by gRPC-Web.
    fn web<S, B>(service: S, patience: Duration) -> RawClient
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let service = ServiceBuilder::new()
            .map_response(|answer: Response<GrpcWebCall<B>>| answer.map(Body::new))
            .layer(GrpcWebClientLayer::new())
            .map_request(|request: Request<GrpcWebCall<Body>>| request.map(Body::new))
            .service(service);
        RawClient::new(Link::new(service), patience)
    }

    /// Starts a call with this id and its first request. A stream takes further requests.
    ///
    /// # Errors
    /// The failure of the call, if it comes before an answer.
    pub async fn call(
        &self,
        path: &str,
        id: &str,
        request: Bytes,
        is_stream: bool,
    ) -> Result<RawCall, RawFailure> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let _ = sender.send(request); // the receiver is here
        let requests = is_stream.then_some(sender);
        let mut message = tonic::Request::new(UnboundedReceiverStream::new(receiver));
        if let Some(authorization) = &self.authorization {
            message.metadata_mut().insert("authorization", authorization.clone());
        }
        if let Ok(id) = id.parse() {
            message.metadata_mut().insert(REQUEST_ID, id);
        }
        let path = PathAndQuery::try_from(path).expect("names of services and methods");
        let origin = self.origin.clone().unwrap_or_default();
        let mut calls = Grpc::with_origin(self.target.clone(), origin).max_decoding_message_size(MAX_MESSAGE);
        let call = async {
            calls.ready().await.map_err(Status::from_error)?;
            calls.streaming(message, path, RawBytes).await
        };
        let late = |_| RawFailure::late(self.patience);
        let answer = timeout(self.patience, call).await.map_err(late)?.map_err(RawFailure::from)?;
        let request_id = answer.metadata().get(REQUEST_ID).and_then(|id| id.to_str().ok());
        let request_id = request_id.map(str::to_owned);
        Ok(RawCall { request_id, answers: answer.into_inner(), requests, patience: self.patience })
    }
}

impl RawCall {
    /// Sends a further request; does nothing after the stream has ended.
    pub fn send(&mut self, request: Bytes) {
        if let Some(requests) = &self.requests {
            let _ = requests.send(request); // the next answer says why the stream has ended
        }
    }

    /// Tells the server that no more requests come. Answers still arrive.
    pub fn finish(&mut self) {
        self.requests = None;
    }

    /// The next answer, or `None` at the end of a complete stream.
    ///
    /// # Errors
    /// The failure of the call, or a lost connection if the answer takes too long.
    pub async fn next(&mut self) -> Result<Option<Bytes>, RawFailure> {
        let late = |_| RawFailure::late(self.patience);
        timeout(self.patience, self.answers.message()).await.map_err(late)?.map_err(RawFailure::from)
    }
}

impl RawFailure {
    fn late(patience: Duration) -> RawFailure {
        let status = Status::deadline_exceeded(format!("no answer within {patience:?}"));
        RawFailure { status, is_lost: true }
    }

    /// Number of the canonical code.
    pub fn code(&self) -> i32 {
        self.status.code() as i32
    }

    /// The status' message, written for people; may be empty.
    pub fn message(&self) -> &str {
        self.status.message()
    }

    /// The details, an encoded `google.rpc.Status`; empty if the server gave none.
    pub fn details(&self) -> &[u8] {
        self.status.details()
    }
}

impl From<Status> for RawFailure {
    fn from(status: Status) -> RawFailure {
        let is_lost = std::error::Error::source(&status).is_some();
        RawFailure { status, is_lost }
    }
}

/// Name of a canonical code, such as `NOT_FOUND`.
pub fn code_name(code: i32) -> &'static str {
    match Code::from_i32(code) {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
