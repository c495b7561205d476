//! `tetrion health`: reports whether a server serves, as an exit code for container probes and scripts.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;

use super::connection::{read_identity, seconds};
use super::options::read_pem;
use super::output::print;
use tetrion_client::{ConnectOptions, check_health};

/// The options of `tetrion health`.
#[derive(Debug, clap::Args)]
pub struct HealthArgs {
    /// Server to check: HOST:PORT, or https://HOST:PORT with TLS
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50451")]
    pub server: String,

    /// PEM file with the authorities to trust instead of the system's
    #[arg(long, value_name = "FILE")]
    pub ca_cert: Option<PathBuf>,

    /// PEM file with this client's certificate, for servers that require one
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub client_cert: Option<PathBuf>,

    /// PEM file with the key of the client certificate
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub client_key: Option<PathBuf>,

    /// Name in the server's certificate, if it differs from the host, such as for probes of localhost [default: the
    /// host of --server]
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,

    /// Seconds to wait for the connection and the answer together
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
    pub timeout: f64,
}

/// Checks the server once.
///
/// # Errors
/// If the server does not serve, or does not answer in time.
pub fn run(args: &HealthArgs) -> anyhow::Result<ExitCode> {
    let authorities = args.ca_cert.as_deref().map(|path| read_pem(path, "CERTIFICATE")).transpose()?;
    let identity = read_identity(args.client_cert.as_deref(), args.client_key.as_deref())?;
    let options = ConnectOptions {
        authorities,
        identity,
        server_name: args.server_name.clone(),
        ..ConnectOptions::default()
    };
    let timeout = Duration::from_secs_f64(args.timeout);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answered =
        runtime.block_on(async { tokio::time::timeout(timeout, check_health(&args.server, &options)).await });
    match answered {
        Ok(health) => health?,
        Err(_) => bail!("the server at {} has not answered within {timeout:?}", args.server),
    }
    print("serving\n")?;
    Ok(ExitCode::SUCCESS)
}
