//! GetServerInfo: what this server is, supports and allows, read from the tables that the rest of the program uses.

use std::time::Duration;

use crate::agents::controllers::{CONTROLLERS, Controller, Figure};
use crate::agents::{AGENTS, AgentRow, Parameter};
use crate::engine::rules::{HEIGHTS, MAX_PREVIEW, WIDTHS};
use crate::engine::{NamedPieceSet, PIECE_SETS, PRESETS, PieceSet, RULES_VERSION};
use crate::env::Role;
use crate::features::kernel::Kernel;
use crate::features::{FEATURE_SETS, FEATURES, Feature, FeatureSet, Measure, NamedSet};
use crate::wire::policies::encode_terminal_value;
use crate::wire::rules::ResolvedRules;
use crate::wire::search::encode_search;
use crate::wire::{duration, fields, limits, pb};

use super::allotment::Allotment;
use super::caller::CallerLimits;
use super::calls::CallPool;
use super::evaluation::EvaluationCapacity;
use super::sessions::StoreLimits;
use super::status::Refusal;

/// Facts about a server that do not change while it runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerFacts {
    /// The limits on evaluations.
    pub evaluations: EvaluationCapacity,
    /// Threads that play evaluations.
    pub num_threads: u32,
    /// Kernel that measures placements.
    pub kernel: Kernel,
    /// Connections, calls, and what they hold.
    pub network: NetworkLimits,
}

/// Limits on what clients can make a server hold by connecting, calling and not reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkLimits {
    /// Connections at one time.
    pub max_connections: u32,
    /// Connections from one address at one time.
    pub max_connections_per_address: u32,
    /// Calls in progress on all connections.
    pub max_calls: u32,
    /// Calls in progress on one connection.
    pub max_calls_per_connection: u32,
    /// Bytes of requests, from arrival to answer.
    pub request_memory: u64,
    /// Bytes of answers that clients have not read.
    pub answer_memory: u64,
    /// How long the server waits for its clients.
    pub deadlines: Deadlines,
}

/// How long a server waits for its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Time for the first request on a connection, including the TLS handshake.
    pub first_request: Duration,
    /// Time for the next part of a request that has begun.
    pub request: Duration,
    /// Time for a client to read an answer.
    pub answer: Duration,
    /// Time until the next call on a connection.
    pub idle: Duration,
}

impl Default for NetworkLimits {
    fn default() -> NetworkLimits {
        let Allotment { requests, answers, max_connections, max_calls, .. } = Allotment::DEFAULT;
        NetworkLimits {
            max_connections,
            max_connections_per_address: limits::default_connections_per_address(max_connections),
            max_calls,
            max_calls_per_connection: limits::DEFAULT_MAX_CALLS_PER_CONNECTION,
            request_memory: requests,
            answer_memory: answers,
            deadlines: Deadlines::default(),
        }
    }
}

impl Default for Deadlines {
    fn default() -> Deadlines {
        Deadlines {
            first_request: limits::DEFAULT_FIRST_REQUEST_TIMEOUT,
            request: limits::DEFAULT_REQUEST_TIMEOUT,
            answer: limits::DEFAULT_ANSWER_TIMEOUT,
            idle: limits::DEFAULT_IDLE_TIMEOUT,
        }
    }
}

impl ServerFacts {
    /// The answer of GetServerInfo.
    pub(super) fn tell(
        &self,
        store: StoreLimits,
        calls: &CallPool,
        caller: CallerLimits,
        request: &pb::GetServerInfoRequest,
    ) -> Result<pb::GetServerInfoResponse, Refusal> {
        let width = match u8::try_from(request.width) {
            Ok(0) => PRESETS[0].rules.width,
            Ok(width) if WIDTHS.contains(&width) => width,
            _ => {
                let (min, max) = (WIDTHS.start(), WIDTHS.end());
                return Err(Refusal::field(
                    "width",
                    format!("is {}, expected {min}..={max}, or 0", request.width),
                ));
            }
        };
        Ok(pb::GetServerInfoResponse {
            server_version: env!("CARGO_PKG_VERSION").to_owned(),
            rules_version: RULES_VERSION.to_owned(),
            rules_presets: PRESETS.iter().map(rules_preset).collect(),
            features: FEATURES.iter().flat_map(forms).collect(),
            feature_sets: FEATURE_SETS.iter().map(|set| feature_set(set, width)).collect(),
            controllers: CONTROLLERS.iter().map(controller).collect(),
            agents: AGENTS.iter().map(agent).collect(),
            observation_fields: fields::infos(Role::Observation),
            info_fields: fields::infos(Role::Info),
            limits: Some(self.limits(store, calls, caller)),
            kernel: self.kernel.name().to_owned(),
            num_threads: self.num_threads,
            piece_sets: PIECE_SETS.iter().map(piece_set).collect(),
        })
    }

    fn limits(&self, store: StoreLimits, calls: &CallPool, caller: CallerLimits) -> pb::Limits {
        let EvaluationCapacity { max_evaluations, max_per_caller, memory, max_unread } = self.evaluations;
        let Deadlines { first_request, request, answer, idle } = self.network.deadlines;
        pb::Limits {
            max_sessions: store.max_sessions,
            max_envs_per_session: limits::MAX_ENVS_PER_SESSION,
            max_envs: store.max_envs,
            max_request_bytes: limits::MAX_REQUEST_BYTES,
            default_response_bytes: limits::DEFAULT_RESPONSE_BYTES,
            max_response_bytes: limits::MAX_RESPONSE_BYTES,
            default_ttl: duration::encode(limits::DEFAULT_TTL),
            max_ttl: duration::encode(limits::MAX_TTL),
            stream_queue: limits::STREAM_QUEUE,
            min_width: (*WIDTHS.start()).into(),
            max_width: (*WIDTHS.end()).into(),
            min_height: (*HEIGHTS.start()).into(),
            max_height: (*HEIGHTS.end()).into(),
            max_preview: MAX_PREVIEW.into(),
            max_sequence_pieces: limits::MAX_SEQUENCE_PIECES,
            max_request_sequence_pieces: limits::MAX_REQUEST_SEQUENCE_PIECES,
            max_features: limits::MAX_FEATURES,
            max_positions: limits::MAX_POSITIONS,
            max_state_bytes: limits::MAX_STATE_BYTES,
            max_page_size: limits::MAX_PAGE_SIZE,
            max_points: 1e15,
            max_weight: crate::agents::MAX_WEIGHT,
            max_policies: limits::MAX_POLICIES,
            max_games: limits::MAX_GAMES,
            max_pieces: limits::MAX_PIECES,
            max_steps: limits::MAX_STEPS,
            max_playouts: limits::MAX_PLAYOUTS,
            max_lookahead: limits::MAX_LOOKAHEAD,
            max_hidden_layers: limits::MAX_HIDDEN_LAYERS,
            max_hidden_units: limits::MAX_HIDDEN_UNITS,
            max_tuples: limits::MAX_TUPLES,
            max_tuple_positions: limits::MAX_TUPLE_POSITIONS,
            max_model_parameters: limits::MAX_MODEL_PARAMETERS,
            max_request_parameters: limits::MAX_REQUEST_PARAMETERS,
            max_model_work: limits::MAX_MODEL_WORK,
            max_recorded_games: limits::MAX_RECORDED_GAMES,
            max_recorded_steps: limits::MAX_RECORDED_STEPS,
            min_loss_trials: limits::MIN_LOSS_TRIALS,
            max_loss_trials: limits::MAX_LOSS_TRIALS,
            max_watches: store.max_watches,
            max_watches_per_session: limits::MAX_WATCHES_PER_SESSION,
            max_watched_envs: limits::MAX_WATCHED_ENVS,
            max_frames_per_second: limits::MAX_FRAMES_PER_SECOND,
            max_keys: limits::MAX_KEYS,
            max_evaluations,
            max_evaluations_per_caller: caller.max_evaluations.unwrap_or(max_per_caller),
            max_sessions_per_caller: caller
                .max_sessions
                .map_or(store.max_sessions, |own| own.min(store.max_sessions)),
            max_envs_per_caller: caller.max_envs.map_or(store.max_envs, |own| own.min(store.max_envs)),
            max_unread_time: duration::encode(max_unread),
            max_call_work: duration::encode(calls.max_work()),
            min_progress_interval: duration::encode(limits::MIN_PROGRESS_INTERVAL),
            max_small_request_bytes: limits::MAX_SMALL_REQUEST_BYTES,
            max_name_bytes: limits::MAX_NAME_BYTES as u32,
            session_memory: store.memory,
            evaluation_memory: memory,
            max_watches_per_caller: caller.max_watches.unwrap_or(store.max_watches_per_caller),
            max_connections: self.network.max_connections,
            max_connections_per_address: self.network.max_connections_per_address,
            max_calls: self.network.max_calls,
            max_calls_per_connection: self.network.max_calls_per_connection,
            request_memory: self.network.request_memory,
            request_memory_per_connection: limits::CONNECTION_MEMORY.min(self.network.request_memory),
            answer_memory: self.network.answer_memory,
            answer_memory_per_connection: limits::CONNECTION_MEMORY.min(self.network.answer_memory),
            first_request_timeout: duration::encode(first_request),
            request_timeout: duration::encode(request),
            answer_timeout: duration::encode(answer),
            idle_timeout: duration::encode(idle),
        }
    }
}

fn rules_preset(preset: &crate::engine::rules::Preset) -> pb::RulesPreset {
    let resolved = ResolvedRules { preset: preset.name, rules: preset.rules };
    pb::RulesPreset {
        name: preset.name.to_owned(),
        source: preset.source.to_owned(),
        rules: Some(pb::Rules::from(&resolved)),
    }
}

fn piece_set(row: &NamedPieceSet) -> pb::PieceSet {
    let set = PieceSet::named(row.name).expect("a row of the table");
    pb::PieceSet { name: row.name.to_owned(), source: row.source.to_owned(), pieces: set.drawings() }
}

/// A feature in each named form: features of playfields are measured after clearing, and with `_preclear` before.
fn forms(feature: &Feature) -> Vec<pb::Feature> {
    let (family, size) = match feature.measure {
        Measure::Landing(_) | Measure::Playfield(_) | Measure::Search(_) => (pb::FeatureFamily::Single, 0),
        Measure::Column(_) => (pb::FeatureFamily::Columns, 0),
        Measure::Pair(_) => (pb::FeatureFamily::ColumnPairs, 0),
        Measure::Seven(_) | Measure::LandingSeven(_) => (pb::FeatureFamily::Fixed, 7),
    };
    let form = |name: String, stage: pb::FeatureStage| pb::Feature {
        name,
        formula: feature.formula.to_owned(),
        source: feature.source.to_owned(),
        stage: stage.into(),
        family: family.into(),
        size,
    };
    let plain = feature.name.to_owned();
    if feature.is_of_landing() {
        return vec![form(plain, pb::FeatureStage::Landing)];
    }
    let preclear = format!("{plain}_preclear");
    vec![form(plain, pb::FeatureStage::AfterClearing), form(preclear, pb::FeatureStage::BeforeClearing)]
}

fn feature_set(set: &NamedSet, width: u8) -> pb::FeatureSet {
    pb::FeatureSet {
        name: set.name.to_owned(),
        version: set.version.to_string(),
        source: set.source.to_owned(),
        features: set.members.iter().map(|member| member.replace("[i]", "")).collect(),
        columns: features_at(set.name, width).names(),
    }
}

fn features_at(set: &str, width: u8) -> FeatureSet {
    FeatureSet::named(set, width).expect("a set of the table at a width in range")
}

fn controller(controller: &Controller) -> pb::Controller {
    let set = controller.feature_set;
    let columns_change = features_at(set, *WIDTHS.start()).len() != features_at(set, *WIDTHS.end()).len();
    pb::Controller {
        name: controller.name.to_owned(),
        feature_set: set.to_owned(),
        feature_set_version: features_at(set, controller.width).version().to_string(),
        weights: controller.weights.to_vec(),
        width: if columns_change { controller.width.into() } else { 0 },
        terminal_value: encode_terminal_value(controller.play.terminal_value).into(),
        rules_preset: controller.preset.to_owned(),
        source: controller.source.to_owned(),
        results: controller.figures.iter().flat_map(results).collect(),
        expectation: encode_search(controller.play.search).1,
    }
}

/// A controller's published results, and results measured since.
fn results(figure: &Figure) -> Vec<pb::ReportedResult> {
    let cut = match figure.max_steps {
        0 => String::new(),
        steps => format!(", games cut after {steps} key presses"),
    };
    let result =
        |mean_lines: f64, half_width: Option<f64>, num_games: u64, source: &str| pb::ReportedResult {
            rules_preset: figure.preset.to_owned(),
            width: figure.width.into(),
            height: figure.height.into(),
            mean_lines,
            half_width,
            num_games,
            source: format!("{source}{cut}"),
        };
    let published = figure.published.map(|mean| result(mean, None, 0, "published with the weights"));
    let measured = figure.measured.map(|measured| {
        let half_width = measured.interval.map(|(low, high)| (high - low) / 2.0);
        result(
            measured.mean,
            half_width,
            measured.games.into(),
            "measured by other programs of the research line",
        )
    });
    published.into_iter().chain(measured).collect()
}

fn agent(row: &AgentRow) -> pb::AgentInfo {
    let parameter = |parameter: &Parameter| pb::AgentParameter {
        name: parameter.name().to_owned(),
        description: parameter.description().to_owned(),
        default_value: parameter.default_value(),
    };
    pb::AgentInfo {
        name: row.name.to_owned(),
        description: row.description.to_owned(),
        source: row.source.to_owned(),
        parameters: row.parameters.iter().map(parameter).collect(),
    }
}
