//! Every metric: name, kind, labels and help text.
//!
//! This is the only table: the server describes these metrics to its recorder, `docs/operating.md` lists them, and
//! tests compare both with it. Services count once per call, never per environment, so counting adds nothing to a step.

use metrics::{Counter, counter};
use tetrion_protocol::pb;

/// The kind of a metric, which decides how Prometheus treats its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A number that only grows while the process runs.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// Counts of measurements up to each of several bounds.
    Histogram,
}

impl MetricKind {
    /// Name of the kind in Prometheus' text format.
    pub fn name(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name of the metric in Prometheus.
    pub name: &'static str,
    pub kind: MetricKind,
    /// Names of its labels; every sample has a value for each.
    pub labels: &'static [&'static str],
    /// Help text: what the metric counts.
    pub help: &'static str,
}

macro_rules! table {
    ($($row:ident: $kind:ident $name:literal [$($label:literal),*] $help:literal;)*) => {
        $(#[doc = $help] pub const $row: &str = $name;)*

        /// All metrics, in the order of the table.
        pub const METRICS: &[Metric] =
            &[$(Metric { name: $name, kind: MetricKind::$kind, labels: &[$($label),*], help: $help }),*];
    };
}

table! {
    CALLS: Counter "tetrion_calls_total" ["method", "code"]
        "Completed calls, by status code.";
    CALL_SECONDS: Histogram "tetrion_call_seconds" ["method"]
        "Duration of a call in seconds, from its headers to the end of its answer. A stream is one call.";
    CALLS_IN_FLIGHT: Gauge "tetrion_calls_in_flight" ["method"]
        "Calls in progress.";
    RECEIVED_BYTES: Counter "tetrion_received_bytes_total" ["method"]
        "Bytes of received requests, without headers.";
    SENT_BYTES: Counter "tetrion_sent_bytes_total" ["method"]
        "Bytes of sent answers, without headers.";
    REFUSALS: Counter "tetrion_refusals_total" ["reason"]
        "Errors sent to callers, including errors within streams, by the reason in ErrorInfo, or by the status code without a reason.";
    PANICS: Counter "tetrion_panics_total" []
        "Panics, which are bugs. A panic fails only its own call.";
    CONNECTIONS: Gauge "tetrion_connections" []
        "Open connections.";
    CONNECTIONS_ACCEPTED: Counter "tetrion_connections_total" []
        "Accepted connections.";
    CONNECTIONS_REFUSED: Counter "tetrion_connections_refused_total" ["reason"]
        "Connections closed at once: beyond the limit on connections, in total or per address, or for lack of a file descriptor.";
    CONNECTIONS_CLOSED: Counter "tetrion_connections_closed_total" ["reason"]
        "Connections closed because the client was silent or did not read for too long.";
    REQUEST_BYTES: Gauge "tetrion_request_bytes" []
        "Bytes of incoming requests, counted against the request memory.";
    ANSWER_BYTES: Gauge "tetrion_answer_bytes" []
        "Bytes of unread answers, including those in progress, counted against the answer memory.";
    SESSION_BYTES: Gauge "tetrion_session_bytes" []
        "Bytes of all sessions, counted against the session memory.";
    EVALUATION_BYTES: Gauge "tetrion_evaluation_bytes" []
        "Bytes that running evaluations may need, counted against the evaluation memory.";
    SESSIONS: Gauge "tetrion_sessions" []
        "Sessions.";
    SESSIONS_LIMIT: Gauge "tetrion_sessions_limit" []
        "Limit on sessions.";
    SESSIONS_CREATED: Counter "tetrion_sessions_created_total" []
        "Created sessions.";
    SESSIONS_ENDED: Counter "tetrion_sessions_ended_total" ["cause"]
        "Ended sessions, deleted by a caller or expired with their lease.";
    ENVIRONMENTS: Gauge "tetrion_environments" []
        "Environments in all sessions.";
    ENVIRONMENTS_LIMIT: Gauge "tetrion_environments_limit" []
        "Limit on environments.";
    STEPS: Counter "tetrion_steps_total" []
        "Steps of single environments.";
    PLACEMENTS: Counter "tetrion_placements_total" []
        "Placements in answers of EnumeratePlacements.";
    WATCHES: Gauge "tetrion_watches" []
        "Calls that watch sessions.";
    WATCHES_LIMIT: Gauge "tetrion_watches_limit" []
        "Limit on calls that watch sessions.";
    FRAMES: Counter "tetrion_frames_total" []
        "Frames sent to calls that watch sessions.";
    EVALUATIONS: Gauge "tetrion_evaluations" []
        "Running evaluations.";
    EVALUATIONS_LIMIT: Gauge "tetrion_evaluations_limit" []
        "Limit on running evaluations.";
    EVALUATION_GAMES: Counter "tetrion_evaluation_games_total" []
        "Games played by evaluations.";
    EVALUATION_PIECES: Counter "tetrion_evaluation_pieces_total" []
        "Pieces placed by evaluations.";
    POOL_THREADS: Gauge "tetrion_pool_threads" ["pool"]
        "Threads for long calls (caller) and for the games of evaluations (player).";
    JOBS: Counter "tetrion_jobs_total" ["pool"]
        "Jobs completed by a pool. A job takes a few milliseconds.";
    JOBS_RUNNING: Gauge "tetrion_jobs_running" ["pool"]
        "Jobs running in a pool.";
    JOBS_WAITING: Gauge "tetrion_jobs_waiting" ["pool"]
        "Jobs waiting for a thread of a pool.";
    LOG_LINES_WITHHELD: Counter "tetrion_log_lines_withheld_total" []
        "Log lines about failures left out because of their rate per second.";
    SPANS: Counter "tetrion_spans_total" ["outcome"]
        "Spans of calls sent to the trace collector, or lost; only with a collector.";
    BUILD_INFO: Gauge "tetrion_build_info" ["version", "rules_version"]
        "Always 1; the labels name the version.";
    CERTIFICATE_EXPIRY: Gauge "tetrion_certificate_expiry_time_seconds" []
        "Expiry time of the server's certificate, in seconds since 1970; absent without TLS.";
    PROCESS_CPU: Counter "process_cpu_seconds_total" []
        "CPU seconds used by the process.";
    PROCESS_MEMORY: Gauge "process_resident_memory_bytes" []
        "Resident memory of the process in bytes.";
    PROCESS_OPEN_FDS: Gauge "process_open_fds" []
        "Open file descriptors.";
    PROCESS_MAX_FDS: Gauge "process_max_fds" []
        "Limit on open file descriptors.";
    PROCESS_START: Gauge "process_start_time_seconds" []
        "Start time of the server, in seconds since 1970.";
}

/// Describes every metric to this process's recorder.
pub fn describe() {
    for Metric { name, kind, help, .. } in METRICS {
        match kind {
            MetricKind::Counter => metrics::describe_counter!(*name, *help),
            MetricKind::Gauge => metrics::describe_gauge!(*name, *help),
            MetricKind::Histogram => metrics::describe_histogram!(*name, *help),
        }
    }
}

/// Counters of sessions, from the recorder that is installed when the service is created.
#[derive(Clone, Debug)]
pub(super) struct SessionCounters {
    pub steps: Counter,
    pub placements: Counter,
    pub frames: Counter,
    pub sessions_created: Counter,
    pub sessions_deleted: Counter,
    pub sessions_expired: Counter,
}

impl SessionCounters {
    /// Looks the counters up in this process' recorder.
    pub fn new() -> SessionCounters {
        SessionCounters {
            steps: counter!(STEPS),
            placements: counter!(PLACEMENTS),
            frames: counter!(FRAMES),
            sessions_created: counter!(SESSIONS_CREATED),
            sessions_deleted: counter!(SESSIONS_ENDED, "cause" => "deleted"),
            sessions_expired: counter!(SESSIONS_ENDED, "cause" => "expired"),
        }
    }

    /// Counts the placements in an answer.
    pub fn count_placements(&self, answer: &pb::EnumeratePlacementsResponse) {
        let rows = answer.actions.as_ref().and_then(|actions| actions.shape.first());
        self.placements.increment(rows.copied().unwrap_or(0).into());
    }
}
