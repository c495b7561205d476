//! Connections: how the client makes, keeps and watches them, one per server.

use std::time::Duration;

use tonic::Status;
use tonic::codegen::http::Uri;
use tonic::metadata::{Ascii, MetadataMap, MetadataValue};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use super::error::{ClientError, error, innermost};
use super::link::Link;
use tetrion_protocol::limits::MAX_RESPONSE_BYTES;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_protocol::secret::Secret;

/// How long a server may take to answer a short call.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Size of the largest message: the largest answer, with some bytes for the message that streams wrap around it.
pub const MAX_MESSAGE: usize = MAX_RESPONSE_BYTES as usize + 1024;
/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often the client pings a silent server, and how long the answer may take.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(10));
/// Window of one call, as large as the server's: results travel at full speed on one call and on many.
const STREAM_WINDOW: u32 = 4 << 20;
/// Window of all calls of a connection together.
const CONNECTION_WINDOW: u32 = 16 << 20;
/// How long a server rests after its first failure; the time doubles with each further failure.
pub(super) const FIRST_REST: Duration = Duration::from_millis(100);
/// The longest rest of a server after failures.
pub(super) const LONGEST_REST: Duration = Duration::from_secs(5);

/// How to connect to servers: credentials, certificates and patience.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// The token, if the servers require one.
    pub token: Option<Secret>,
    /// Certificates, as the text of a PEM file, of the authorities that may have signed the certificates of
    /// `https://` servers; without them, the authorities that this machine trusts.
    pub authorities: Option<String>,
    /// Name that the certificates of `https://` servers must have; without one, the host of the address.
    pub server_name: Option<String>,
    /// The certificate that `https://` servers may require of their clients.
    pub identity: Option<ClientIdentity>,
    /// How long to keep trying while no server answers.
    pub patience: Duration,
    /// Whether to accept servers of any revision of the protocol; otherwise only those that know every field that this
    /// client knows.
    pub any_version: bool,
}

/// A client's certificate and its private key, both as the text of PEM files.
#[derive(Clone)]
pub struct ClientIdentity {
    /// The client's certificate first, then those that vouch for it.
    pub certificates: String,
    /// The key of the first certificate.
    pub key: String,
}

impl std::fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClientIdentity(..)") // a key must not reach a log
    }
}

impl Default for ConnectOptions {
    fn default() -> ConnectOptions {
        ConnectOptions {
            token: None,
            authorities: None,
            server_name: None,
            identity: None,
            patience: Duration::from_secs(60),
            any_version: false,
        }
    }
}

impl ConnectOptions {
    /// The authorization header of every call.
    pub(super) fn authorization(&self) -> Result<Option<MetadataValue<Ascii>>, ClientError> {
        let Some(token) = &self.token else { return Ok(None) };
        let value = format!("Bearer {}", token.expose()).parse::<MetadataValue<Ascii>>();
        let mut value = value.ok().filter(|_| token.is_sendable()).ok_or(ClientError::UnsendableToken)?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

/// Settings for connections to a server: `HOST:PORT`, a URL, or `unix:PATH`. Makes no connection.
///
/// # Errors
/// [`ClientError::Address`] if the address is invalid, [`ClientError::Connect`] if the certificates are.
pub fn endpoint(address: &str, options: &ConnectOptions) -> Result<Endpoint, ClientError> {
    let is_url = address.contains("://") || address.starts_with("unix:");
    let url = if is_url { address.to_owned() } else { format!("http://{address}") };
    let mut endpoint = Endpoint::from_shared(url)
        .map_err(|_| unreadable(address))?
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(KEEPALIVE.0)
        .keep_alive_timeout(KEEPALIVE.1);
    if endpoint.uri().authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(unreadable(address)); // the name of a user would be dropped
    }
    if address.starts_with("unix:") {
        // A socket has no name that a server could know as its host.
        endpoint = endpoint.origin(Uri::from_static("http://localhost"));
    }
    if endpoint.uri().scheme_str() == Some("https") {
        let mut tls = match &options.authorities {
            Some(authorities) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authorities)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        if let Some(name) = &options.server_name {
            tls = tls.domain_name(name);
        }
        if let Some(ClientIdentity { certificates, key }) = &options.identity {
            tls = tls.identity(Identity::from_pem(certificates, key));
        }
        endpoint = endpoint.tls_config(tls).map_err(|error| unreachable(address, &error))?;
    }
    Ok(endpoint)
}

/// Connects to one server without a call.
pub(super) async fn open(address: &str, options: &ConnectOptions) -> Result<Link, ClientError> {
    let endpoint = endpoint(address, options)?;
    endpoint.connect().await.map(Link::new).map_err(|error| unreachable(address, &error))
}

fn unreachable(address: &str, error: &tonic::transport::Error) -> ClientError {
    ClientError::Connect { address: address.to_owned(), reason: innermost(error) }
}

fn unreadable(address: &str) -> ClientError {
    ClientError::Address { address: address.to_owned() }
}

/// A server and the way to it. A connection reconnects by itself.
#[derive(Clone, Debug)]
pub(super) struct LinkedServer {
    /// The address as the caller gave it, for messages.
    pub(super) address: String,
    pub(super) link: Link,
    /// What every call sends besides its message.
    pub(super) metadata: MetadataMap,
    /// The revision that requests ask for; 0 if any will do.
    pub(super) min_revision: u32,
}

impl LinkedServer {
    /// The generated client of the calls on environments, which accepts the largest answer.
    pub(super) fn environments(&self) -> EnvironmentServiceClient<Link> {
        EnvironmentServiceClient::new(self.link.clone()).max_decoding_message_size(MAX_MESSAGE)
    }

    pub(super) fn request<T>(&self, message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        request.metadata_mut().clone_from(&self.metadata);
        request
    }

    pub(super) fn error(&self, status: &Status) -> ClientError {
        error(&self.address, status)
    }
}
