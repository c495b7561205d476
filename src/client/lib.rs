//! A client for servers, in plain types, used by our commands and tests. A [`Link`] leads it to the services of a server
//! or of this process.
//!
//! A [`Client`] connects to one server or to several equal ones. With several, it splits the games of an evaluation
//! into calls, and each server gets another call when it has finished one. If a call breaks, the client keeps the games
//! that have arrived and requests the others, by their indices, from any server that answers. Results depend only on
//! the request, not on the number of servers or on lost connections.
//!
//! Sessions are in [`session`]: each lives on one server, which steps, saves and restores it.
//! [`Client::watch_session`] shows a session of another caller.
//!
//! The surprising decision: tonic could balance over the addresses itself, but it picks them at random, dead ones
//! included. Here every server has its own connection, at most two calls at a time, and a pause after a failure.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see cli::output of `tetrion`

pub mod session;

mod choice;
mod connection;
mod error;
mod evaluation;
mod health;
mod info;
mod link;
mod pages;
mod patience;
mod raw;
mod raw_bytes;
mod spread;
mod version;
mod watching;

pub use choice::{
    Activation, Beam, Expectation, Features, Mlp, ModelShape, MonteCarlo, NTuple, Play, PlayChoice, Policy,
    PolicyKind, Search, TerminalValue, Terms, TupleKind, TuplePattern, WeightRows,
};
pub use connection::{ClientIdentity, ConnectOptions, MAX_MESSAGE, endpoint};
pub use error::{ClientError, innermost, retry_delay};
pub use evaluation::{Evaluated, EvaluationRequest, RunningEvaluation, Seeds, Started};
pub use health::check_health;
pub use info::{Catalog, EvaluationLimits, FeatureSetInfo, RulesPresetInfo, ServerInfo};
pub use link::Link;
pub use patience::{CallSettings, OnLoss};
pub use raw::{RawCall, RawClient, RawFailure, code_name};
pub use raw_bytes::RawBytes;
pub use spread::{EvaluationCall, EvaluationNews, EvaluationProgress, Outcomes, SpreadEvaluation};
pub use tetrion_core::rollout::{Estimate, EstimatedGame, PlayedGame};
pub use tetrion_protocol::rules::RulesChoice;
pub use watching::{
    EpisodePhase, ListedSession, WatchedEnv, WatchedEpisode, WatchedFrame, WatchedSession, Watching,
};

use std::time::Duration;

use tonic::metadata::MetadataMap;

use connection::{LinkedServer, open};
use error::first;

use tetrion_protocol::revision::PROTOCOL_REVISION;

/// Equal servers, or the services in this process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    servers: Vec<LinkedServer>,
    settings: CallSettings,
    warnings: Vec<String>,
}

impl Client {
    /// Connects to every one of these servers: `HOST:PORT`, or a URL.
    ///
    /// # Errors
    /// No address, an invalid one, or one where no server answers within five seconds; a server of an older
    /// revision or another kind.
    pub async fn connect(addresses: &[String], options: ConnectOptions) -> Result<Client, ClientError> {
        if addresses.is_empty() {
            return Err(ClientError::Address { address: String::new() });
        }
        let mut metadata = MetadataMap::new();
        if let Some(authorization) = options.authorization()? {
            metadata.insert("authorization", authorization);
        }
        let min_revision = if options.any_version { 0 } else { PROTOCOL_REVISION };
        let (mut servers, mut warnings) = (Vec::new(), Vec::new());
        for address in addresses {
            let link = open(address, &options).await?;
            let server =
                LinkedServer { address: address.clone(), link, metadata: metadata.clone(), min_revision };
            let info = server.info().await.map_err(|status| first(address, &status))?;
            warnings.extend(version::check(address, &info, min_revision)?);
            servers.push(server);
        }
        Ok(Client { servers, settings: CallSettings::new(options.patience), warnings })
    }

    /// A client of the services in this process: calls as to a server, without a connection that could break. While they
    /// are busy, it tries again until `patience` has run out.
    pub fn inside(services: Link, patience: Duration) -> Client {
        let (name, settings) = ("this process".to_owned(), CallSettings::new(patience));
        Client::over([(name, services)], &MetadataMap::new(), PROTOCOL_REVISION, settings)
    }

    /// A client over ways to servers that another one has made and checked, each with a name. Every call sends the
    /// metadata, and asks for this revision of the protocol or a higher one; 0 for any.
    pub fn over(
        links: impl IntoIterator<Item = (String, Link)>,
        metadata: &MetadataMap,
        min_revision: u32,
        settings: CallSettings,
    ) -> Client {
        let server =
            |(address, link)| LinkedServer { address, link, metadata: metadata.clone(), min_revision };
        Client { servers: links.into_iter().map(server).collect(), settings, warnings: Vec::new() }
    }

    /// Warnings for the caller about servers whose rules version differs from this client's.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Facts about the first server.
    ///
    /// # Errors
    /// [`ClientError::Lost`] if the server does not answer within half a minute.
    pub async fn server_info(&self) -> Result<ServerInfo, ClientError> {
        let server = &self.servers[0];
        server.info().await.map_err(|status| server.error(&status))
    }

    /// Names that the first server knows. Feature sets have their columns for playfields of this width; `None` means the
    /// width of the default preset.
    ///
    /// # Errors
    /// [`ClientError::Lost`] if the server does not answer within half a minute.
    pub async fn catalog(&self, width: Option<u32>) -> Result<Catalog, ClientError> {
        let server = &self.servers[0];
        server.catalog(width).await.map_err(|status| server.error(&status))
    }
}
