//! Facts that a server reports about itself.

use tonic::Status;

use super::connection::{CALL_TIMEOUT, LinkedServer};
use tetrion_protocol::pb;

/// A server's answer to `GetServerInfo`: versions, threads and limits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The version of the program.
    pub server_version: String,
    /// The version of the rules; changes whenever equal rules, seeds and actions could give another game.
    pub rules_version: String,
    pub protocol_revision: u32,
    /// The code path that plays games on this server.
    pub kernel: String,
    /// Threads that play the games of evaluations.
    pub num_threads: u32,
    pub limits: EvaluationLimits,
}

/// Names that a server knows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Catalog {
    /// Every feature set, with its columns at the requested width.
    pub feature_sets: Vec<FeatureSetInfo>,
    /// The names of the policies.
    pub policies: Vec<String>,
    /// The rule sets, the default first.
    pub rules_presets: Vec<RulesPresetInfo>,
}

/// Largest numbers that a server accepts in a request for an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EvaluationLimits {
    pub max_policies: u32,
    /// Games of all policies together.
    pub max_games: u64,
    pub max_pieces: u64,
    pub max_steps: u64,
}

/// A rule set by name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RulesPresetInfo {
    pub name: String,
    /// Columns, unless a request changes them.
    pub width: u32,
    /// Rows, unless a request changes them.
    pub height: u32,
}

/// A feature set by name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeatureSetInfo {
    pub name: String,
    /// Version of the set; weights belong to a name and a version.
    pub version: String,
    /// One name per column, in order.
    pub columns: Vec<String>,
}

impl LinkedServer {
    /// Asks the server for its facts. Fails after [`CALL_TIMEOUT`].
    pub(super) async fn info(&self) -> Result<ServerInfo, Status> {
        let mut request = self.request(pb::GetServerInfoRequest {});
        request.set_timeout(CALL_TIMEOUT);
        let info = self.environments().get_server_info(request).await?.into_inner();
        let limits = info.limits.and_then(|limits| limits.evaluations).unwrap_or_default();
        Ok(ServerInfo {
            server_version: info.server_version,
            rules_version: info.rules_version,
            protocol_revision: info.protocol_revision,
            kernel: info.kernel,
            num_threads: info.num_threads,
            limits: EvaluationLimits {
                max_policies: limits.max_policies,
                max_games: limits.max_games,
                max_pieces: limits.max_pieces,
                max_steps: limits.max_steps,
            },
        })
    }

    /// Names that this server knows.
    pub(super) async fn catalog(&self, width: Option<u32>) -> Result<Catalog, Status> {
        let mut request = self.request(pb::GetCatalogRequest { width: width.unwrap_or(0) });
        request.set_timeout(CALL_TIMEOUT);
        let catalog = self.environments().get_catalog(request).await?.into_inner();
        let feature_set = |set: pb::FeatureSet| FeatureSetInfo {
            name: set.name,
            version: set.version,
            columns: set.columns,
        };
        let rules_preset = |preset: pb::RulesPreset| {
            let rules = preset.rules.unwrap_or_default();
            let (width, height) = (rules.width, rules.height);
            RulesPresetInfo { name: preset.name, width, height }
        };
        Ok(Catalog {
            feature_sets: catalog.feature_sets.into_iter().map(feature_set).collect(),
            policies: catalog.policies.into_iter().map(|policy| policy.name).collect(),
            rules_presets: catalog.rules_presets.into_iter().map(rules_preset).collect(),
        })
    }
}
