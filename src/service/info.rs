//! GetServerInfo: the identity and the limits of this server.

use tetrion_core::engine::{HEIGHTS, MAX_POINTS, MAX_PREVIEW, RULES_VERSION, WIDTHS};
use tetrion_core::features::kernel::Kernel;
use tetrion_protocol::revision::PROTOCOL_REVISION;
use tetrion_protocol::{duration, limits, pb};

use super::caller::CallerLimits;
use super::limits::ServerLimits;

/// Facts about a server that do not change while it runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerFacts {
    pub limits: ServerLimits,
    /// Threads that play games of evaluations.
    pub num_threads: u32,
    pub kernel: Kernel,
}

impl ServerFacts {
    /// The answer of GetServerInfo to this caller.
    pub(super) fn info(&self, caller: CallerLimits) -> pb::GetServerInfoResponse {
        pb::GetServerInfoResponse {
            server_version: env!("CARGO_PKG_VERSION").to_owned(),
            rules_version: RULES_VERSION.to_owned(),
            protocol_revision: PROTOCOL_REVISION,
            limits: Some(pb::Limits {
                sessions: Some(session_limits(&self.limits, caller)),
                rules: Some(rules_limits()),
                evaluations: Some(evaluation_limits(&self.limits, caller)),
                models: Some(model_limits()),
                messages: Some(message_limits(&self.limits)),
                watches: Some(watch_limits(&self.limits, caller)),
                formulas: Some(pb::FormulaLimits {
                    max_formula_bytes: limits::MAX_FORMULA_BYTES,
                    max_formula_depth: limits::MAX_FORMULA_DEPTH,
                    max_formula_cost: limits::MAX_FORMULA_COST,
                }),
            }),
            kernel: self.kernel.name().to_owned(),
            num_threads: self.num_threads,
        }
    }
}

fn session_limits(server: &ServerLimits, caller: CallerLimits) -> pb::SessionLimits {
    let ServerLimits { max_sessions, max_envs, .. } = *server;
    pb::SessionLimits {
        max_sessions,
        max_sessions_per_caller: caller.max_sessions.map_or(max_sessions, |own| own.min(max_sessions)),
        max_envs,
        max_envs_per_caller: caller.max_envs.map_or(max_envs, |own| own.min(max_envs)),
        max_envs_per_session: limits::MAX_ENVS_PER_SESSION,
        default_ttl: duration::encode(limits::DEFAULT_TTL),
        max_ttl: duration::encode(limits::MAX_TTL),
        max_page_size: limits::MAX_PAGE_SIZE,
        max_stream_requests: limits::MAX_STREAM_REQUESTS,
    }
}

fn rules_limits() -> pb::RulesLimits {
    pb::RulesLimits {
        min_width: (*WIDTHS.start()).into(),
        max_width: (*WIDTHS.end()).into(),
        min_height: (*HEIGHTS.start()).into(),
        max_height: (*HEIGHTS.end()).into(),
        max_preview: MAX_PREVIEW.into(),
        max_sequence_pieces: limits::MAX_SEQUENCE_PIECES,
        max_request_sequence_pieces: limits::MAX_REQUEST_SEQUENCE_PIECES,
        max_points: MAX_POINTS,
    }
}

fn evaluation_limits(server: &ServerLimits, caller: CallerLimits) -> pb::EvaluationLimits {
    pb::EvaluationLimits {
        max_evaluations: server.max_evaluations,
        max_evaluations_per_caller: caller.max_evaluations.unwrap_or(server.max_evaluations_per_caller),
        max_policies: limits::MAX_POLICIES,
        max_games: limits::MAX_GAMES,
        max_pieces: limits::MAX_PIECES,
        max_steps: limits::MAX_STEPS,
        max_playouts: limits::MAX_PLAYOUTS,
        max_lookahead: limits::MAX_LOOKAHEAD,
        max_recorded_games: limits::MAX_RECORDED_GAMES,
        max_recorded_steps: limits::MAX_RECORDED_STEPS,
        min_loss_trials: limits::MIN_LOSS_TRIALS,
        max_loss_trials: limits::MAX_LOSS_TRIALS,
        min_progress_interval: duration::encode(limits::MIN_PROGRESS_INTERVAL),
    }
}

fn model_limits() -> pb::ModelLimits {
    pb::ModelLimits {
        max_features: limits::MAX_FEATURES,
        max_weight: tetrion_core::agents::MAX_WEIGHT,
        max_hidden_layers: limits::MAX_HIDDEN_LAYERS,
        max_hidden_units: limits::MAX_HIDDEN_UNITS,
        max_tuples: limits::MAX_TUPLES,
        max_tuple_positions: limits::MAX_TUPLE_POSITIONS,
        max_model_parameters: limits::MAX_MODEL_PARAMETERS,
        max_request_parameters: limits::MAX_REQUEST_PARAMETERS,
        max_model_work: limits::MAX_MODEL_WORK,
    }
}

fn message_limits(server: &ServerLimits) -> pb::MessageLimits {
    pb::MessageLimits {
        max_request_bytes: server.max_request_bytes(),
        max_small_request_bytes: limits::MAX_SMALL_REQUEST_BYTES,
        max_decoded_bytes: limits::MAX_DECODED_BYTES,
        default_response_bytes: limits::DEFAULT_RESPONSE_BYTES,
        max_response_bytes: server.max_response_bytes(),
        max_name_bytes: limits::MAX_NAME_BYTES as u32,
        max_state_bytes: limits::MAX_STATE_BYTES,
        max_positions: limits::MAX_POSITIONS,
        max_keys: limits::MAX_KEYS,
        max_call_work: duration::encode(server.max_call_work),
        max_unread_time: duration::encode(server.max_unread_time),
    }
}

fn watch_limits(server: &ServerLimits, caller: CallerLimits) -> pb::WatchLimits {
    pb::WatchLimits {
        max_watches: server.max_watches,
        max_watches_per_caller: caller.max_watches.unwrap_or(server.max_watches_per_caller),
        max_watches_per_session: limits::MAX_WATCHES_PER_SESSION,
        max_watched_envs: limits::MAX_WATCHED_ENVS,
        max_frames_per_second: limits::MAX_FRAMES_PER_SECOND,
    }
}
