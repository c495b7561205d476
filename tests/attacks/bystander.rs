//! A caller that does nothing wrong, and measures how long the server lets it wait.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tetrion::protocol::limits::MAX_RESPONSE_BYTES;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::protocol::tensor;
use tetrion::protocol::{pb, seeding};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tonic::Status;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};

/// Environments of its session: as many as a small learner has.
const ENVS: u32 = 16;
/// Where a new caller is: at none of the addresses that attackers have.
const NEWCOMER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));
/// How often it makes a step. Open loop: calls begin at fixed times and are timed from there, answered or not.
const EVERY: Duration = Duration::from_millis(20);
/// How long it waits for an answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// How long an attacker waits for one to what it prepares, of tens of thousands of environments maybe.
const PREPARATION: Duration = Duration::from_secs(60);

/// A caller that steps a small session at fixed times until it is stopped.
#[derive(Debug)]
pub struct Bystander {
    seen: Arc<Mutex<Seen>>,
    stepping: JoinHandle<()>,
}

/// Waiting times of the bystander, and its first error.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub times: Vec<Duration>,
    /// The first error, if there was one.
    pub error: Option<String>,
}

impl Seen {
    /// The time within which this part of the calls was answered.
    pub fn quantile(&self, part: f64) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        let at = (times.len() as f64 * part) as usize;
        times.get(at.min(times.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// A connection of a caller with patience, to a server without a certificate.
pub async fn connect(address: SocketAddr) -> Result<Channel> {
    connect_for(address, None, false, PREPARATION).await
}

/// A connection from an address of this machine, encrypted or not, whose calls wait this long for an answer.
async fn connect_for(
    address: SocketAddr,
    from: Option<IpAddr>,
    encrypted: bool,
    patience: Duration,
) -> Result<Channel> {
    let scheme = if encrypted { "https" } else { "http" };
    let mut endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))?;
    if encrypted {
        let authority = Certificate::from_pem(include_str!("../data/tls/ca.pem"));
        let tls = ClientTlsConfig::new().ca_certificate(authority).domain_name("localhost");
        endpoint = endpoint.tls_config(tls)?;
    }
    let endpoint = endpoint.local_address(from).tcp_nodelay(true).connect_timeout(patience).timeout(patience);
    endpoint.connect().await.with_context(|| format!("no connection to {address}"))
}

/// Checks that the server serves a new caller, who has another address than the attackers: theirs may have all the
/// connections that an address gets.
pub async fn serves_newcomers(address: SocketAddr, encrypted: bool) -> Result<()> {
    let channel = connect_for(address, Some(NEWCOMER), encrypted, PREPARATION).await?;
    let mut client = EnvironmentServiceClient::new(channel);
    let answer = client.get_server_info(pb::GetServerInfoRequest::default()).await;
    answer.map(|_| ()).context("a caller that comes new is not served")
}

/// The value of a metric without labels.
pub async fn metric(address: SocketAddr, name: &str) -> Result<u64> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    Ok(line.with_context(|| format!("no metric {name}"))?.parse::<f64>()? as u64)
}

/// Makes a session and starts its episodes.
pub async fn session(channel: &Channel, config: pb::SessionConfig) -> Result<String, Status> {
    let client = EnvironmentServiceClient::new(channel.clone());
    let mut client = client.max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
    let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
    let session = client.create_session(request).await?.into_inner().session;
    let session = session.ok_or_else(|| Status::unknown("an answer without a session"))?.name;
    client.reset(pb::ResetRequest { session: session.clone(), ..Default::default() }).await?;
    Ok(session)
}

/// A step of all environments of a session.
pub fn step(session: &str, num_envs: u32) -> pb::StepRequest {
    let actions = tensor::encode(vec![num_envs], &vec![3_i32; num_envs as usize]);
    pb::StepRequest { session: session.to_owned(), actions: Some(actions), ..Default::default() }
}

impl Bystander {
    /// Connects, and begins to step.
    pub async fn start(address: SocketAddr, encrypted: bool) -> Result<Bystander> {
        let channel = connect_for(address, None, encrypted, DEADLINE).await?;
        let config =
            pb::SessionConfig { num_envs: ENVS, seeding: Some(seeding::from_seed(1)), ..Default::default() };
        let session = session(&channel, config).await?;
        let seen = Arc::new(Mutex::new(Seen::default()));
        let stepping = tokio::spawn(keep_stepping(channel, session, seen.clone()));
        Ok(Bystander { seen, stepping })
    }

    /// Waits for the calls under way, and returns what it saw.
    pub async fn finish(self) -> Seen {
        tokio::time::sleep(EVERY).await;
        self.stepping.abort();
        let begun = Instant::now();
        while Arc::strong_count(&self.seen) > 1 && begun.elapsed() < DEADLINE {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.seen.lock().expect("a lock that is not poisoned").clone()
    }
}

async fn keep_stepping(channel: Channel, session: String, seen: Arc<Mutex<Seen>>) {
    let request = step(&session, ENVS);
    let mut due = Instant::now();
    loop {
        let (mut client, request) = (EnvironmentServiceClient::new(channel.clone()), request.clone());
        let seen = seen.clone();
        tokio::spawn(async move {
            let answer = client.step(request).await;
            let mut seen = seen.lock().expect("a lock that is not poisoned");
            seen.times.push(due.elapsed());
            if let Err(status) = answer {
                seen.error.get_or_insert(format!("{:?}: {}", status.code(), status.message()));
            }
        });
        due += EVERY;
        tokio::time::sleep_until(due.into()).await;
    }
}
