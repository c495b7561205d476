//! TLS: the certificates in use, and the connections encrypted with them.
//!
//! The operator can replace the certificates while the server runs. Later handshakes use the new ones; open connections
//! continue.
//!
//! The surprising decision: the handshake happens in the first read or write of a connection, not before the connection
//! exists. So it runs in the connection's own task, and the connection's deadlines and a drain can end it.
//!
//! An expired certificate is refused, because every client would refuse it.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::rustls::client::verify_server_cert_signed_by_trust_anchor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use tokio_rustls::rustls::{self, CertificateError, RootCertStore};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};
use tonic::transport::server::Connected;

use super::connection::{Peer, TcpConnection};

/// The protocol that clients may ask for in the handshake: HTTP/2.
const H2: &[u8] = b"h2";

/// The server's certificates and the client CAs. Clones share them.
#[derive(Clone)]
pub struct Tls(Arc<RwLock<CheckedCertificates>>);

/// Checked certificates, ready for use.
#[derive(Clone)]
struct CheckedCertificates {
    config: Arc<rustls::ServerConfig>,
    validity: Validity,
}

/// Validity period of the server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Start of the validity in seconds since 1970, if that is in the future.
    pub begins: Option<u64>,
    /// Expiry time in seconds since 1970.
    pub ends: u64,
}

/// A certificate chain, its private key and the client CAs, each as the text of a PEM file.
#[derive(Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate, followed by the certificates that vouch for it.
    pub certificates: String,
    /// The key of the first certificate.
    pub key: String,
    /// CAs, one of which must have signed a client's certificate; with `None`, clients need no certificate.
    pub client_authorities: Option<String>,
}

/// The reason why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The text of the certificates is invalid.
    #[error("the certificate cannot be used: {0}")]
    Certificates(String),
    /// The text of the key is invalid.
    #[error("the key cannot be used: {0}")]
    Key(String),
    /// The certificate has expired, at this time in seconds since 1970.
    #[error("the certificate expired at {}", date(*.0))]
    Expired(u64),
    /// Certificate and key are valid, but do not belong together.
    #[error("the key does not belong to the certificate")]
    Pair,
    /// The text of the client CAs is invalid.
    #[error("the client CAs cannot be used: {0}")]
    ClientAuthorities(String),
}

impl Tls {
    /// Reads and checks certificates.
    ///
    /// # Errors
    /// If one of them cannot be used.
    pub fn new(files: &TlsFiles) -> Result<Tls, TlsError> {
        Ok(Tls(Arc::new(RwLock::new(files.read()?))))
    }

    /// Replaces the certificates for later handshakes. Also ends TLS sessions that clients might resume, so that each
    /// client is checked against the new CAs.
    ///
    /// # Errors
    /// If one of the new certificates cannot be used. Then nothing changes.
    pub fn replace(&self, files: &TlsFiles) -> Result<(), TlsError> {
        let settings = files.read()?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = settings;
        Ok(())
    }

    /// Validity period of the certificate in use.
    pub fn validity(&self) -> Validity {
        self.settings().validity
    }

    fn accept(&self, connection: TcpConnection) -> Accept<TcpConnection> {
        TlsAcceptor::from(self.settings().config).accept(connection)
    }

    fn settings(&self) -> CheckedCertificates {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(..)") // a key must not reach a log
    }
}

impl std::fmt::Debug for TlsFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TlsFiles(..)") // nor here
    }
}

impl TlsFiles {
    fn read(&self) -> Result<CheckedCertificates, TlsError> {
        let chain = certificates(&self.certificates).map_err(TlsError::Certificates)?;
        let validity = chain.first().map(Validity::of).transpose();
        let validity = validity.map_err(|error| TlsError::Certificates(error.to_string()))?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes());
        let key = key.map_err(|error| TlsError::Key(error.to_string()))?;
        let settings = rustls::ServerConfig::builder();
        let settings = match &self.client_authorities {
            None => settings.with_no_client_auth(),
            Some(authorities) => {
                let mut roots = RootCertStore::empty();
                let authorities = certificates(authorities).map_err(TlsError::ClientAuthorities)?;
                roots.add_parsable_certificates(authorities);
                let verifier = WebPkiClientVerifier::builder(roots.into()).build();
                let verifier = verifier.map_err(|error| TlsError::ClientAuthorities(error.to_string()))?;
                settings.with_client_cert_verifier(verifier)
            }
        };
        let mut settings = settings.with_single_cert(chain, key).map_err(|error| match error {
            rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => {
                TlsError::Certificates(error.to_string())
            }
            rustls::Error::InconsistentKeys(_) => TlsError::Pair,
            _ => TlsError::Key(error.to_string()),
        })?;
        settings.alpn_protocols.push(H2.to_owned());
        // An empty chain has failed above, so the default is never used.
        let validity = validity.unwrap_or(Validity { begins: None, ends: 0 });
        if validity.ends < UnixTime::now().as_secs() {
            return Err(TlsError::Expired(validity.ends));
        }
        Ok(CheckedCertificates { config: Arc::new(settings), validity })
    }
}

impl Validity {
    /// The validity period of a certificate. A verifier that trusts no CA checks the dates first.
    fn of(certificate: &CertificateDer<'_>) -> Result<Validity, rustls::Error> {
        let parsed = ParsedCertificate::try_from(certificate)?;
        let refused_at = |time| {
            let refused =
                verify_server_cert_signed_by_trust_anchor(&parsed, &RootCertStore::empty(), &[], time, &[]);
            refused.expect_err("no authority is trusted")
        };
        let ends = match refused_at(UnixTime::since_unix_epoch(Duration::from_secs(1 << 50))) {
            rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. }) => {
                not_after.as_secs()
            }
            error => return Err(error),
        };
        let begins = match refused_at(UnixTime::now()) {
            rustls::Error::InvalidCertificate(CertificateError::NotValidYetContext {
                not_before, ..
            }) => Some(not_before.as_secs()),
            _ => None,
        };
        Ok(Validity { begins, ends })
    }
}

/// A time as text, such as `2026-11-25T00:00:00Z`.
pub fn date(seconds: u64) -> String {
    prost_types::Timestamp { seconds: i64::try_from(seconds).unwrap_or(i64::MAX), nanos: 0 }.to_string()
}

/// The certificates in the text of a PEM file.
fn certificates(text: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    CertificateDer::pem_slice_iter(text.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}

/// A connection of the server, encrypted if the server has a certificate.
pub(super) struct PeerConnection {
    peer: Peer,
    stream: Transport,
}

enum Transport {
    Plain(TcpConnection),
    Handshake(Box<Accept<TcpConnection>>),
    Encrypted(Box<TlsStream<TcpConnection>>),
    Failed,
}

/// A byte stream in both directions.
trait Duplex: AsyncRead + AsyncWrite + Unpin {}

impl Duplex for TcpConnection {}
impl Duplex for TlsStream<TcpConnection> {}

impl PeerConnection {
    pub(super) fn new(connection: TcpConnection, tls: Option<&Tls>) -> PeerConnection {
        let peer = connection.connect_info();
        let stream = match tls {
            None => Transport::Plain(connection),
            Some(tls) => Transport::Handshake(Box::new(tls.accept(connection))),
        };
        PeerConnection { peer, stream }
    }

    /// The stream after the handshake.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Pin<&mut dyn Duplex>>> {
        if let Transport::Handshake(accept) = &mut self.stream {
            let accepted = ready!(Pin::new(&mut **accept).poll(cx));
            self.stream = Transport::Failed;
            self.stream = Transport::Encrypted(Box::new(accepted?));
        }
        Poll::Ready(match &mut self.stream {
            Transport::Plain(stream) => Ok(Pin::new(stream)),
            Transport::Encrypted(stream) => Ok(Pin::new(&mut **stream)),
            Transport::Handshake(_) | Transport::Failed => Err(io::ErrorKind::NotConnected.into()),
        })
    }
}

impl Connected for PeerConnection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for PeerConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_open(cx))?.poll_read(cx, buf)
    }
}

impl AsyncWrite for PeerConnection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Transport::Plain(stream) => stream.is_write_vectored(),
            _ => true, // encrypted streams support it
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_open(cx))?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            // Closes the connection in the middle of the handshake, without finishing the handshake first.
            Transport::Handshake(accept) => match accept.get_mut() {
                Some(stream) => Pin::new(stream).poll_shutdown(cx),
                None => Poll::Ready(Ok(())),
            },
            Transport::Failed => Poll::Ready(Ok(())),
            _ => ready!(self.poll_open(cx))?.poll_shutdown(cx),
        }
    }
}
