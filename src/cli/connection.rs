//! Connecting to servers, at given addresses or inside this process.
//!
//! A server inside this process listens on a free port of this machine and is called like any other, so evaluations
//! take only one path.

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
use tetrion_client::{Client, ClientIdentity, ConnectOptions};
use tetrion_protocol::secret::Secret;
use tetrion_server::{Server, ServerConfig, TrainingCurve};

/// Ids of the options that all clients share. They have common variables, such as `TETRION_SERVER`, and the table
/// `[client]`.
pub const CLIENT_FLAGS: [&str; 7] =
    ["server", "token_file", "token", "ca_cert", "client_cert", "client_key", "patience"];

/// The options that choose the servers.
#[derive(Clone, Debug, clap::Args)]
pub struct ConnectionArgs {
    /// Server that plays the games: HOST:PORT, or https://HOST:PORT with TLS; repeat the flag to share the work among
    /// several [default: a server inside this process]
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

/// A client and, if needed, the server inside this process.
#[derive(Debug)]
pub struct Connection {
    /// The client of all servers.
    pub client: Client,
    /// Server inside this process, if any. It plays the games unless other servers are named.
    pub own: Option<OwnServer>,
}

/// A server inside this process.
#[derive(Debug)]
pub struct OwnServer {
    /// Address on which the server listens.
    address: String,
    /// Learning curve on the server's page.
    pub training: TrainingCurve,
    /// Stops the server when the connection is dropped.
    _stop: DropGuard,
}

impl Connection {
    /// Connects to the named servers, or starts a server inside this process if none was named.
    ///
    /// # Errors
    /// If a server cannot be started, or a named server does not answer.
    pub async fn open(args: &ConnectionArgs, computing: &ComputingArgs) -> anyhow::Result<Connection> {
        let options = args.options()?;
        if !args.server.is_empty() {
            computing.check_unused()?;
            let connected = Client::connect(&args.server, options).await;
            let client = match args.files() {
                Some(files) => connected.with_context(|| format!("with {files}"))?,
                None => connected?,
            };
            for warning in client.warnings() {
                say(format_args!("warning: {warning}"));
            }
            return Ok(Connection { client, own: None });
        }
        let own = OwnServer::start(computing).await?;
        let client = Client::connect(std::slice::from_ref(&own.address), options).await?;
        Ok(Connection { client, own: Some(own) })
    }

    /// Adds a server inside this process, unless the connection has one. Its page shows the learning curve while other
    /// servers play the games.
    ///
    /// # Errors
    /// If the server cannot be started.
    pub async fn with_page(mut self) -> anyhow::Result<Connection> {
        if self.own.is_none() {
            self.own = Some(OwnServer::start(&ComputingArgs::default()).await?);
        }
        Ok(self)
    }
}

impl OwnServer {
    /// Starts a server on a free port of this machine.
    async fn start(computing: &ComputingArgs) -> anyhow::Result<OwnServer> {
        computing.load_values()?;
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let training = TrainingCurve::default();
        let config = ServerConfig {
            listen,
            num_threads: computing.threads as usize,
            kernel: computing.kernel()?,
            training: Some(training.clone()),
            ..ServerConfig::default()
        };
        let server = Server::bind(config).await?;
        let address = server.local_addr().to_string();
        let stop = CancellationToken::new();
        // The server ends with this process. An error of its socket appears in the calls.
        tokio::spawn(server.run(stop.clone().cancelled_owned()));
        Ok(OwnServer { address, training, _stop: stop.drop_guard() })
    }

    /// The address of the server's page.
    pub fn page(&self) -> String {
        format!("http://{}/", self.address)
    }
}
