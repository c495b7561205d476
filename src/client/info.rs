//! Facts that a server reports about itself.

use tonic::Status;

use super::connection::{CALL_TIMEOUT, ServerChannel};
use crate::wire::limits::MAX_RESPONSE_BYTES;
use crate::wire::pb;
use crate::wire::pb::environment_service_client::EnvironmentServiceClient;

/// Facts about a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerInfo {
    /// The version of the program.
    pub server_version: String,
    /// The version of the rules; changes whenever equal rules, seeds and actions could give another game.
    pub rules_version: String,
    /// The code path that plays games on this server.
    pub kernel: String,
    /// Threads that play evaluations.
    pub num_threads: u32,
    /// Every feature set, with its columns for the width in the request.
    pub feature_sets: Vec<FeatureSetInfo>,
    /// The names of the linear controllers.
    pub controllers: Vec<String>,
    /// The rule sets, the default first.
    pub rules_presets: Vec<RulesPresetInfo>,
    /// The limits on an evaluation.
    pub limits: EvaluationLimits,
}

/// Largest numbers that a server accepts in a request for an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationLimits {
    /// Policies.
    pub max_policies: u32,
    /// Games of all policies together.
    pub max_games: u64,
    /// Pieces of a game.
    pub max_pieces: u64,
    /// Steps of a game.
    pub max_steps: u64,
}

/// A rule set by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesPresetInfo {
    /// The name.
    pub name: String,
    /// Columns, unless a request changes them.
    pub width: u32,
    /// Rows, unless a request changes them.
    pub height: u32,
}

/// A feature set by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureSetInfo {
    /// The name.
    pub name: String,
    /// Version of the set; weights belong to a name and a version.
    pub version: String,
    /// One name per column, in order.
    pub columns: Vec<String>,
}

impl ServerChannel {
    /// Facts about this server.
    pub(super) async fn info(&self, width: u32) -> Result<ServerInfo, Status> {
        let mut client = EnvironmentServiceClient::new(self.channel.clone())
            .max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
        let mut request = self.request(pb::GetServerInfoRequest { width });
        request.set_timeout(CALL_TIMEOUT);
        let info = client.get_server_info(request).await?.into_inner();
        let limits = info.limits.unwrap_or_default();
        let feature_set = |set: pb::FeatureSet| FeatureSetInfo {
            name: set.name,
            version: set.version,
            columns: set.columns,
        };
        let rules_preset = |preset: pb::RulesPreset| {
            let rules = preset.rules.unwrap_or_default();
            let (width, height) = (rules.width(), rules.height());
            RulesPresetInfo { name: preset.name, width, height }
        };
        Ok(ServerInfo {
            server_version: info.server_version,
            rules_version: info.rules_version,
            kernel: info.kernel,
            num_threads: info.num_threads,
            feature_sets: info.feature_sets.into_iter().map(feature_set).collect(),
            controllers: info.controllers.into_iter().map(|controller| controller.name).collect(),
            rules_presets: info.rules_presets.into_iter().map(rules_preset).collect(),
            limits: EvaluationLimits {
                max_policies: limits.max_policies,
                max_games: limits.max_games,
                max_pieces: limits.max_pieces,
                max_steps: limits.max_steps,
            },
        })
    }
}
