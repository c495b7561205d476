//! Where `train` and `evaluate` find a server: where they are told, or inside their own process.
//!
//! A server of our own listens on a free port of this machine and is spoken to like any other, so there is one path
//! for evaluations and no second one to keep right.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::args::read_pem;
use super::output::say;
use crate::client::{Client, ConnectOptions};
use crate::server::{Server, ServerConfig};

/// The options that say which servers play.
#[derive(Clone, Debug, clap::Args)]
pub struct ConnectionArgs {
    /// A server to play on, HOST:PORT, or https://HOST:PORT where it has a certificate; give several to share the work among
    /// them. Without one, a server is started inside this process
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    pub server: Vec<String>,

    /// The token that the servers want; better given in the environment, where other users of the machine do not see it
    #[arg(long, value_name = "TOKEN", requires = "server")]
    pub token: Option<String>,

    /// A PEM file with the authorities that may vouch for https servers, in place of those that this machine trusts
    #[arg(long, value_name = "FILE", requires = "server")]
    pub ca_cert: Option<PathBuf>,

    /// Seconds to go on trying when no server answers any more
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

/// A client, and the server of our own that it may need.
#[derive(Debug)]
pub struct Connection {
    /// Speaks to all of the servers.
    pub client: Client,
    /// Stops the server of our own when the connection is dropped.
    _own_server: Option<DropGuard>,
}

impl Connection {
    /// Connects, to a server started for the purpose if none was named.
    ///
    /// # Errors
    /// If a server cannot be started, or one that was named does not answer.
    pub async fn open(args: &ConnectionArgs) -> anyhow::Result<Connection> {
        let options = ConnectOptions {
            token: args.token.clone(),
            authorities: args.ca_cert.as_deref().map(|path| read_pem(path, "CERTIFICATE")).transpose()?,
            patience: Duration::from_secs_f64(args.patience),
            ..ConnectOptions::default()
        };
        if !args.server.is_empty() {
            let connected = Client::connect(&args.server, options).await;
            let client = match &args.ca_cert {
                Some(path) => {
                    connected.with_context(|| format!("with the authorities of {}", path.display()))?
                }
                None => connected?,
            };
            for warning in client.warnings() {
                say(format_args!("warning: {warning}"));
            }
            return Ok(Connection { client, _own_server: None });
        }
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = Server::bind(ServerConfig { listen, ..ServerConfig::default() }).await?;
        let address = server.local_addr().to_string();
        let stop = CancellationToken::new();
        // Its end is the end of this process; an error of its socket shows in the calls.
        tokio::spawn(server.run(stop.clone().cancelled_owned()));
        let client = Client::connect(&[address], options).await?;
        Ok(Connection { client, _own_server: Some(stop.drop_guard()) })
    }
}
