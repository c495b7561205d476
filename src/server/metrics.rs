//! The metrics of this process in Prometheus' text format.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use metrics::{counter, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tonic::Code;

use super::codes::CODES;
use super::connection::CLOSED_FOR;
use super::incoming::REFUSED_FOR;
use super::process;
use tetrion_core::engine::RULES_VERSION;
use tetrion_core::pool::PoolActivity;
use tetrion_service::metrics as names;

/// Upper bounds of the buckets for durations of calls, in seconds: from a step of one environment to an evaluation of
/// several minutes.
const BUCKETS: [f64; 10] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 1.0, 10.0, 100.0];

/// Interval at which measurements are folded into their buckets.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Current activity of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    pub sessions: u32,
    pub max_sessions: u32,
    pub environments: u32,
    pub max_environments: u32,
    pub watches: u32,
    pub max_watches: u32,
    pub evaluations: u32,
    pub max_evaluations: u32,
    pub session_bytes: u64,
    pub evaluation_bytes: u64,
    /// Bytes of requests, from arrival to answer.
    pub request_bytes: u64,
    /// Bytes of answers that clients have not read.
    pub answer_bytes: u64,
    /// Expiry time of the server's certificate, in seconds since 1970, if it has one.
    pub certificate_expiry: Option<u64>,
    pub pools: [Threads; 2],
}

/// A thread pool and its activity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threads {
    pub pool: &'static str,
    pub number: usize,
    pub activity: PoolActivity,
}

/// The metrics of the process, installed by its first server. Several servers in one process count together.
fn handle() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS)
            .expect("a list of buckets that is not empty")
            .build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            // A program that embeds the server keeps its recorder, which gets our numbers.
            tracing::warn!("the process has a metrics recorder already; /metrics stays empty");
        }
        names::describe();
        // Events that have not happened yet are zero from the start, so that the first one appears as a change.
        for metric in names::METRICS {
            if metric.kind == names::MetricKind::Counter
                && metric.labels.is_empty()
                && metric.name != names::PROCESS_CPU
            {
                counter!(metric.name).increment(0);
            }
        }
        // Refusals are zero from the start only for bugs: an alert waits for the first one.
        counter!(names::REFUSALS, "reason" => CODES[Code::Internal as usize]).increment(0);
        for reason in REFUSED_FOR {
            counter!(names::CONNECTIONS_REFUSED, "reason" => reason).increment(0);
        }
        for reason in CLOSED_FOR {
            counter!(names::CONNECTIONS_CLOSED, "reason" => reason).increment(0);
        }
        let version = env!("CARGO_PKG_VERSION");
        gauge!(names::BUILD_INFO, "version" => version, "rules_version" => RULES_VERSION).set(1);
        if let Ok(start) = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            gauge!(names::PROCESS_START).set(start.as_secs_f64().round());
        }
        handle
    })
}

/// Installs the recorder, so that it counts every later measurement.
pub(super) fn install() {
    handle();
}

/// The metrics in Prometheus' text format, with current values of gauges.
pub(super) fn render(activity: Activity) -> String {
    let handle = handle();
    gauge!(names::SESSIONS).set(activity.sessions);
    gauge!(names::SESSIONS_LIMIT).set(activity.max_sessions);
    gauge!(names::ENVIRONMENTS).set(activity.environments);
    gauge!(names::ENVIRONMENTS_LIMIT).set(activity.max_environments);
    gauge!(names::WATCHES).set(activity.watches);
    gauge!(names::WATCHES_LIMIT).set(activity.max_watches);
    gauge!(names::EVALUATIONS).set(activity.evaluations);
    gauge!(names::EVALUATIONS_LIMIT).set(activity.max_evaluations);
    gauge!(names::SESSION_BYTES).set(activity.session_bytes as f64);
    gauge!(names::EVALUATION_BYTES).set(activity.evaluation_bytes as f64);
    gauge!(names::REQUEST_BYTES).set(activity.request_bytes as f64);
    gauge!(names::ANSWER_BYTES).set(activity.answer_bytes as f64);
    for Threads { pool, number, activity } in activity.pools {
        gauge!(names::POOL_THREADS, "pool" => pool).set(number as f64);
        gauge!(names::JOBS_WAITING, "pool" => pool).set(activity.waiting as f64);
        gauge!(names::JOBS_RUNNING, "pool" => pool).set(activity.running as f64);
        counter!(names::JOBS, "pool" => pool).absolute(activity.done);
    }
    if let Some(expiry) = activity.certificate_expiry {
        gauge!(names::CERTIFICATE_EXPIRY).set(expiry as f64);
    }
    let process = process::usage();
    for (name, value) in [
        (names::PROCESS_MEMORY, process.memory),
        (names::PROCESS_OPEN_FDS, process.open_fds),
        (names::PROCESS_MAX_FDS, process.max_fds),
    ] {
        if let Some(value) = value {
            gauge!(name).set(value as f64);
        }
    }
    let mut text = handle.render();
    if let Some(seconds) = process.cpu {
        // The recorder's counters are integers.
        let metric = names::METRICS.iter().find(|metric| metric.name == names::PROCESS_CPU).expect("a row");
        let names::Metric { name, kind, help, .. } = metric;
        let kind = kind.name();
        text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {seconds}\n"));
    }
    text
}

/// Periodically folds the single measurements of histograms into their buckets; never returns.
pub(super) async fn keep_small() -> Infallible {
    let mut interval = tokio::time::interval(UPKEEP_INTERVAL);
    loop {
        interval.tick().await;
        handle().run_upkeep();
    }
}
