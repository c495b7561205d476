//! Access to a server: its certificate, the clients' certificates, and tokens.
//!
//! A server that other machines can reach has TLS and tokens, or refuses to start.

use std::net::SocketAddr;
use std::path::PathBuf;

use tracing::{info, warn};

use super::options::secret;
use super::tls_files::{FiledTls, TlsPaths};
use super::token_file::{exposure, follow_tokens, read_server_token, read_tokens};
use crate::input::UsageError;
use tetrion_protocol::secret::Secret;
use tetrion_server::{Tls, Tokens};

/// The options of `tetrion serve` that control access.
#[derive(Debug, clap::Args)]
pub struct AccessArgs {
    /// TOML file of access tokens, each with a name and its limits. Callers send `authorization: Bearer TOKEN`. The
    /// server reloads the file when it changes, and on SIGHUP
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,

    /// File with one access token for all callers
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// One access token for all callers. Other users of the machine can see it; prefer --token-file or the environment
    /// variable
    #[arg(long, value_name = "TOKEN", value_parser = secret())]
    pub token: Option<Secret>,

    /// PEM file with the server's certificate chain. The server reloads it, its key and the client authorities when one
    /// of them changes, and on SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// PEM file with the certificate's private key
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// PEM file with the authorities that issue client certificates; clients must then have one
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_client_ca: Option<PathBuf>,

    /// Allow other machines to connect without TLS or tokens, for servers behind a proxy or in a closed network
    #[arg(long)]
    pub insecure: bool,
}

/// Access options, with the contents of their files.
#[derive(Debug)]
pub struct Access {
    /// Certificates, which follow changes of their files; `None` without TLS.
    tls: Option<FiledTls>,
    /// Accepted tokens; empty if callers need none.
    pub tokens: Tokens,
    /// The token file and its last text, for reloading.
    file: Option<(PathBuf, String)>,
}

impl AccessArgs {
    /// Reads the files.
    ///
    /// # Errors
    /// If a file cannot be read or used, if options contradict each other, or if other machines can reach the address
    /// and the options do not protect it.
    pub fn open(&self, listen: SocketAddr) -> anyhow::Result<Access> {
        let access = self.read()?;
        self.check(listen, &access)?;
        Ok(access)
    }

    fn read(&self) -> anyhow::Result<Access> {
        let tls = self.read_tls()?;
        if let Some(exposure) = self.tokens.iter().chain(&self.token_file).find_map(|path| exposure(path)) {
            warn!("{exposure}");
        }
        let single = |tls, secret| Access { tls, tokens: Tokens::single(secret), file: None };
        match (&self.token, &self.token_file, &self.tokens) {
            (None, None, None) => Ok(Access { tls, tokens: Tokens::default(), file: None }),
            (Some(token), None, None) if token.is_sendable() => Ok(single(tls, token.clone())),
            (Some(_), None, None) => {
                let expected = "expected printable ASCII characters, no space at either end";
                Err(UsageError(format!("--token cannot be sent, {expected}")).into())
            }
            (None, Some(path), None) => Ok(single(tls, read_server_token(path)?)),
            (None, None, Some(path)) => {
                let (file, text) = read_tokens(path)?;
                info!(file = %path.display(), tokens = file.num_tokens(), "tokens read");
                Ok(Access { tls, tokens: Tokens::named(file), file: Some((path.clone(), text)) })
            }
            _ => Err(UsageError(
                "--tokens, --token-file and --token exclude each other: --tokens is for tokens with names, the others \
                 are for a single one; each can come from a flag, from the environment and from the file of --config"
                    .to_owned(),
            )
            .into()),
        }
    }

    fn read_tls(&self) -> anyhow::Result<Option<FiledTls>> {
        let (Some(certificates), Some(key)) = (self.tls_cert.clone(), self.tls_key.clone()) else {
            return Ok(None); // clap requires both or none
        };
        TlsPaths { certificates, key, client_authorities: self.tls_client_ca.clone() }.open().map(Some)
    }

    /// Refuses to serve other machines without TLS and tokens, unless an option allows it.
    fn check(&self, listen: SocketAddr, access: &Access) -> Result<(), UsageError> {
        let mut missing = Vec::new();
        if access.tls.is_none() {
            missing.push("no certificate (--tls-cert FILE --tls-key FILE)");
        }
        if !access.tokens.are_needed() {
            missing.push("no tokens (--tokens FILE, or --token-file FILE for a single one)");
        }
        if listen.ip().is_loopback() || missing.is_empty() {
            return Ok(());
        }
        let missing = missing.join(" and ");
        if self.insecure {
            warn!("other machines can reach {listen}, and the server has {missing}");
            return Ok(());
        }
        Err(UsageError(format!(
            "other machines can reach {listen}, and the server would have {missing}; --insecure overrides this"
        )))
    }
}

impl Access {
    /// The certificates; `None` without TLS.
    pub fn tls(&self) -> Option<Tls> {
        self.tls.as_ref().map(|filed| filed.tls.clone())
    }

    /// Starts tasks that follow changes of the token file and the certificates. Returns whether any such file exists.
    ///
    /// # Errors
    /// If the process cannot listen for SIGHUP.
    pub fn follow_files(&mut self) -> std::io::Result<bool> {
        let follows = self.file.is_some() || self.tls.is_some();
        if let Some((path, text)) = self.file.take() {
            follow_tokens(self.tokens.clone(), path, text)?;
        }
        self.tls.take().map_or(Ok(()), FiledTls::follow)?;
        Ok(follows)
    }
}
