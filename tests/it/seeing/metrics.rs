//! Every metric is in one table, in the docs and in what Prometheus reads, and counts what callers do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tetrion::protocol::pb;
use tetrion::protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion::service::metrics::{CERTIFICATE_EXPIRY, METRICS, Metric};

use super::{Process, missing};
use tetrion_service_testing::evaluations;
use tetrion_service_testing::{Client, config, create, enumerate, reset, step};

/// A family of samples: its help, its type, its labels.
#[derive(Debug, Default)]
struct Family {
    help: String,
    kind: String,
    labels: BTreeSet<String>,
}

/// The families in what Prometheus reads.
fn families(text: &str) -> BTreeMap<String, Family> {
    let mut families = BTreeMap::<String, Family>::new();
    let mut current = String::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').unwrap();
            families.entry(name.to_owned()).or_default().help = help.to_owned();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            families.entry(name.to_owned()).or_default().kind = kind.to_owned();
            current = name.to_owned();
        } else {
            assert!(line.starts_with(&current), "{line} stands under {current}");
            let labels = line.split_once('{').map_or("", |(_, rest)| rest.split_once('}').unwrap().0);
            let labels = labels.split(',').filter_map(|label| Some(label.split_once('=')?.0.to_owned()));
            families.get_mut(&current).unwrap().labels.extend(labels.filter(|label| label != "le"));
        }
    }
    families
}

/// The sum of the samples whose line begins like this.
#[track_caller]
fn sum(text: &str, start: &str) -> f64 {
    let samples = text.lines().filter(|line| line.starts_with(start));
    samples.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum()
}

async fn play(client: &mut Client) -> (pb::Session, usize) {
    let session = create(
        client,
        pb::SessionConfig { action_mask_format: pb::ActionMaskFormat::Bytes.into(), ..config(3, 1) },
    )
    .await;
    let mask = client.reset(reset(&session.name)).await.unwrap().into_inner().action_mask.unwrap();
    let actions: Vec<i32> = mask
        .data
        .chunks(mask.data.len() / 3)
        .map(|row| row.iter().position(|&possible| possible != 0).unwrap() as i32)
        .collect();
    client.step(step(&session.name, &actions)).await.unwrap();
    let envs = pb::SessionEnvs { session: session.name.clone(), ..Default::default() };
    let placements = client.enumerate_placements(enumerate(envs)).await.unwrap().into_inner();
    (session, placements.actions.unwrap().shape[0] as usize)
}

#[tokio::test]
async fn every_metric_is_in_the_table_with_its_help_its_kind_and_its_labels() {
    // The collector is away, so that spans are lost.
    let process = Process::start(&["--otlp", "http://127.0.0.1:1"]);
    play(&mut process.client().await).await;
    process.client().await.get_session(missing()).await.unwrap_err();
    let families = families(&process.metrics());
    for (name, family) in &families {
        let row = METRICS.iter().find(|metric| metric.name == name);
        let row = row.unwrap_or_else(|| panic!("{name} is not in the table"));
        assert_eq!((family.help.as_str(), family.kind.as_str()), (row.help, row.kind.name()), "{name}");
        let labels: BTreeSet<String> = row.labels.iter().map(|&label| label.to_owned()).collect();
        assert_eq!(family.labels, labels, "{name}");
    }
    // That one needs TLS: `certificates` has it.
    for Metric { name, .. } in METRICS.iter().filter(|metric| metric.name != CERTIFICATE_EXPIRY) {
        assert!(families.contains_key(*name), "{name} is in the table and nowhere else");
    }
}

#[test]
fn the_docs_list_every_metric() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operating.md");
    let docs = fs::read_to_string(path).unwrap();
    let row = |metric: &Metric| {
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        format!("| `{}` | {} | {} | {} |", metric.name, metric.kind.name(), labels.join(", "), metric.help)
    };
    let expected: Vec<String> = METRICS.iter().map(row).collect();
    let got: Vec<&str> = docs
        .lines()
        .filter(|line| line.starts_with("| `tetrion_") || line.starts_with("| `process_"))
        .collect();
    assert_eq!(got, expected, "docs/operating.md should say:\n{}\n", expected.join("\n"));
}

#[test]
fn the_dashboard_and_the_alerts_name_only_metrics_that_there_are() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operating");
    for file in ["dashboard.json", "alerts.yaml"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let names = words.filter(|word| word.starts_with("tetrion_") || word.starts_with("process_"));
        let mut found = 0;
        for name in names {
            found += 1;
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let known = |name: &str| METRICS.iter().any(|metric| metric.name == name);
            assert!(known(name) || base.is_some_and(known), "{file}: {name}");
        }
        assert!(found > 5, "{file} names {found} metrics");
    }
}

/// Rates and increases see a change only between two values: a counter that appears with its first event hides it.
#[tokio::test]
async fn what_alerts_wait_for_is_zero_from_the_start() {
    let process = Process::start(&[]);
    let metrics = process.metrics();
    for line in [
        "tetrion_panics_total 0",
        "tetrion_refusals_total{reason=\"INTERNAL\"} 0",
        "tetrion_calls_total{method=\"tetrion.v1.EnvironmentService/Step\",code=\"OK\"} 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} in\n{metrics}");
    }
    let families = families(&metrics);
    let absent = METRICS.iter().filter(|metric| !families.contains_key(metric.name));
    let absent: Vec<&str> = absent.map(|metric| metric.name).collect();
    let expected = ["tetrion_spans_total", "tetrion_certificate_expiry_time_seconds"];
    assert_eq!(absent, expected, "they say that they are there with a collector or with TLS only");
}

#[tokio::test]
async fn what_callers_do_is_counted() {
    let process = Process::start(&[]);
    let mut client = process.client().await;
    let (session, placements) = play(&mut client).await;
    client.get_session(missing()).await.unwrap_err();
    let mut evaluations = EvaluationServiceClient::new(process.channel().await);
    let games = evaluations::ask(&mut evaluations, evaluations::request()).await.unwrap().results;
    let pieces: u64 = games.iter().map(|game| game.pieces).sum();
    let metrics = process.metrics();
    let environment = r#"method="tetrion.v1.EnvironmentService"#;
    for (start, expected) in [
        ("tetrion_steps_total ", 3.0),
        ("tetrion_placements_total ", placements as f64),
        ("tetrion_sessions ", 1.0),
        ("tetrion_sessions_limit ", 1024.0),
        ("tetrion_environments ", 3.0),
        ("tetrion_sessions_created_total ", 1.0),
        (r#"tetrion_sessions_ended_total{cause="deleted"} "#, 0.0),
        (r#"tetrion_refusals_total{reason="SESSION_NOT_FOUND"} "#, 1.0),
        ("tetrion_evaluations ", 0.0),
        ("tetrion_evaluation_games_total ", games.len() as f64),
        ("tetrion_evaluation_pieces_total ", pieces as f64),
        ("tetrion_panics_total ", 0.0),
        (&format!("tetrion_calls_total{{{environment}/Step\",code=\"OK\"}} "), 1.0),
        (&format!("tetrion_call_seconds_count{{{environment}/Step\"}} "), 1.0),
    ] {
        assert_eq!(sum(&metrics, start), expected, "{start} in\n{metrics}");
    }
    // The client's two connections and the one that fetches the metrics.
    assert_eq!(sum(&metrics, "tetrion_connections_total "), 3.0, "{metrics}");
    assert!(sum(&metrics, "tetrion_connections ") >= 2.0, "{metrics}");
    // A prefix of 5 bytes and the name at least; and 3 playfields of 200 cells.
    assert!(sum(&metrics, &format!("tetrion_received_bytes_total{{{environment}/Step\"}} ")) > 46.0);
    assert!(sum(&metrics, &format!("tetrion_sent_bytes_total{{{environment}/Step\"}} ")) > 600.0);
    assert!(sum(&metrics, r#"tetrion_jobs_total{pool="player"} "#) >= 1.0, "{metrics}");
    if cfg!(target_os = "linux") {
        let memory = sum(&metrics, "process_resident_memory_bytes ");
        assert!((1e6..1e9).contains(&memory), "{memory}");
        assert!(sum(&metrics, "process_open_fds ") < sum(&metrics, "process_max_fds "), "{metrics}");
        assert!(sum(&metrics, "process_cpu_seconds_total ") < 60.0, "{metrics}");
    }

    client
        .delete_session(pb::DeleteSessionRequest { name: session.name, ..Default::default() })
        .await
        .unwrap();
    let metrics = process.metrics();
    assert_eq!(sum(&metrics, r#"tetrion_sessions_ended_total{cause="deleted"} "#), 1.0);
    assert_eq!(sum(&metrics, "tetrion_sessions "), 0.0);
}
