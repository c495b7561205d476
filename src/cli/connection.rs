//! Connecting to servers at given addresses, or to the services in this process.
//!
//! Both are called in the same way, so evaluations take only one path.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::computing::ComputingArgs;
use super::options::{read_pem, secret};
use super::output::say;
use super::token_file;
use crate::input::UsageError;
use tetrion_client::{Client, ClientIdentity, ConnectOptions, Link};
use tetrion_protocol::secret::Secret;
use tetrion_server::{Inside, Server, ServerConfig, TrainingCurve};

/// Ids of the options that all clients share. They have common variables, such as `TETRION_SERVER`, and the table
/// `[client]`.
pub const CLIENT_FLAGS: [&str; 7] =
    ["server", "token_file", "token", "ca_cert", "client_cert", "client_key", "patience"];

/// The options that choose the servers.
#[derive(Clone, Debug, clap::Args)]
pub struct ConnectionArgs {
    /// Server that plays the games: HOST:PORT, or https://HOST:PORT with TLS; repeat the flag to share the work among
    /// several [default: the services in this process]
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    pub server: Vec<String>,

    /// File with the access token for the servers
    #[arg(long, value_name = "FILE", requires = "server")]
    pub token_file: Option<PathBuf>,

    /// Access token for the servers. Other users of the machine can see it; prefer --token-file or the environment
    /// variable
    #[arg(long, value_name = "TOKEN", requires = "server", value_parser = secret())]
    pub token: Option<Secret>,

    /// PEM file with the authorities to trust instead of the system's
    #[arg(long, value_name = "FILE", requires = "server")]
    pub ca_cert: Option<PathBuf>,

    /// PEM file with this client's certificate, for servers that require one
    #[arg(long, value_name = "FILE", requires_all = ["server", "client_key"])]
    pub client_cert: Option<PathBuf>,

    /// PEM file with the key of the client certificate
    #[arg(long, value_name = "FILE", requires_all = ["server", "client_cert"])]
    pub client_key: Option<PathBuf>,

    /// Seconds to retry when no server answers
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    pub patience: f64,
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if (0.0..=1e6).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("expected 0 to a million seconds".to_owned())
    }
}

/// Reads a client's certificate and its key. clap requires both or none.
pub(super) fn read_identity(
    cert: Option<&Path>,
    key: Option<&Path>,
) -> anyhow::Result<Option<ClientIdentity>> {
    let (Some(cert), Some(key)) = (cert, key) else { return Ok(None) };
    let certificates = read_pem(cert, "CERTIFICATE")?;
    Ok(Some(ClientIdentity { certificates, key: read_pem(key, "PRIVATE KEY")? }))
}

impl ConnectionArgs {
    fn read_token(&self) -> anyhow::Result<Option<Secret>> {
        match (&self.token, &self.token_file) {
            (Some(_), Some(_)) => {
                let problem = "--token and --token-file exclude each other; they can come from flags, the environment \
                               and the file of --config";
                Err(UsageError(problem.to_owned()).into())
            }
            (None, Some(path)) => token_file::read_token(path).map(Some),
            (token, None) => Ok(token.clone()),
        }
    }

    /// The settings of connections.
    ///
    /// # Errors
    /// If a file cannot be read, or two flags exclude each other.
    pub(super) fn options(&self) -> anyhow::Result<ConnectOptions> {
        Ok(ConnectOptions {
            token: self.read_token()?,
            authorities: self.ca_cert.as_deref().map(|path| read_pem(path, "CERTIFICATE")).transpose()?,
            identity: read_identity(self.client_cert.as_deref(), self.client_key.as_deref())?,
            patience: Duration::from_secs_f64(self.patience),
            ..ConnectOptions::default()
        })
    }

    /// The files that the connection uses, for error messages.
    pub(super) fn files(&self) -> Option<String> {
        let authorities = self.ca_cert.as_ref().map(|path| format!("the authorities of {}", path.display()));
        let certificate =
            self.client_cert.as_ref().map(|path| format!("the certificate of {}", path.display()));
        let files: Vec<String> = authorities.into_iter().chain(certificate).collect();
        (!files.is_empty()).then(|| files.join(" and "))
    }
}

/// Who plays the games of a command: servers, or the services in this process.
#[derive(Clone, Debug, clap::Args)]
pub struct PlayingArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Threads and kernel of games in this process.
    #[command(flatten)]
    pub computing: ComputingArgs,
}

impl PlayingArgs {
    /// Connects to them.
    ///
    /// # Errors
    /// The errors of [`connect`].
    pub async fn connect(&self) -> anyhow::Result<Client> {
        connect(&self.connection, &self.computing).await
    }
}

/// Connects to the named servers, or to services in this process if none was named.
///
/// # Errors
/// If the services cannot be started, or a named server does not answer.
pub async fn connect(args: &ConnectionArgs, computing: &ComputingArgs) -> anyhow::Result<Client> {
    let options = args.options()?;
    if args.server.is_empty() {
        computing.load_values()?;
        let (num_threads, kernel) = (computing.threads as usize, computing.kernel()?);
        let inside = Inside::start(&ServerConfig { num_threads, kernel, ..ServerConfig::default() })?;
        return Ok(Client::inside(Link::new(inside), options.patience));
    }
    computing.check_unused()?;
    let connected = Client::connect(&args.server, options).await;
    let client = match args.files() {
        Some(files) => connected.with_context(|| format!("with {files}"))?,
        None => connected?,
    };
    for warning in client.warnings() {
        say(format_args!("warning: {warning}"));
    }
    Ok(client)
}

/// A page with the learning curve of a training run in this process.
#[derive(Debug)]
pub struct TrainingPage {
    /// The address for a browser.
    pub url: String,
    /// What the page shows.
    pub curve: TrainingCurve,
    /// Stops the page's server when the page is dropped.
    _stop: DropGuard,
}

impl TrainingPage {
    /// Shows the page on a free port of this machine.
    ///
    /// # Errors
    /// If its server cannot be started.
    pub async fn open() -> anyhow::Result<TrainingPage> {
        let curve = TrainingCurve::default();
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let config = ServerConfig { listen, training: Some(curve.clone()), ..ServerConfig::default() };
        let server = Server::bind(config).await?;
        let url = format!("http://{}/#training", server.local_addr());
        let stop = CancellationToken::new();
        // The server ends with this process. Nothing is lost without a page.
        tokio::spawn(server.run(stop.clone().cancelled_owned()));
        Ok(TrainingPage { url, curve, _stop: stop.drop_guard() })
    }
}
