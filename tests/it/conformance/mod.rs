//! The conformance kit: complete, passed by our server over every transport, and failed by any other.

mod coverage;
mod record;
mod text;
mod transports;
mod wrong;

use std::fs;

use tetrion::client::{ConnectOptions, Link, RawClient};
use tetrion::conformance::{ConformanceReport, KIT, Names, Script, ScriptLine, ServerEvent, run};
use tetrion::server::{Inside, ServerConfig};

/// The services in this process, as the kit calls them.
fn inside() -> RawClient {
    let inside = Inside::start(&ServerConfig::default()).unwrap();
    RawClient::new(Link::new(inside), ConnectOptions::default().patience)
}

/// Plays these files without looking on.
async fn play(client: &RawClient, scripts: &[Script]) -> ConformanceReport {
    run(client, scripts, true, |_: &Script, _: &ScriptLine, _: &ServerEvent, _: &Names| {}).await
}

/// The files of the kit, which are what the server answers, and the encoded answers, which are what the files say.
#[tokio::test]
async fn the_kit_is_what_the_server_answers() {
    let path = record::folder().join("answers.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        record::record(&inside()).await;
        fs::write(&path, record::answers()).unwrap();
    }
    let report = play(&inside(), &record::scripts()).await;
    let differences: Vec<String> = report.differences.iter().map(ToString::to_string).collect();
    assert!(differences.is_empty(), "UPDATE_GOLDEN=1 records the answers:\n{}", differences.join("\n"));
    assert!(report.num_calls > 800, "{} calls", report.num_calls);
    let kept = fs::read_to_string(&path).unwrap();
    assert!(
        kept == record::answers(),
        "conformance/answers.txt is not what the files say; UPDATE_GOLDEN=1 writes it"
    );
}

/// So that nothing is called without being checked.
#[test]
fn the_files_are_in_the_program_and_every_call_has_its_answer() {
    let mut files: Vec<String> = fs::read_dir(record::folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(name.strip_suffix(".txt")?.to_owned()).filter(|name| name != "answers"))
        .collect();
    files.sort();
    let mut known: Vec<&str> = KIT.iter().map(|(name, _)| *name).collect();
    known.sort();
    assert_eq!(known, files);
    for script in record::scripts() {
        for case in &script.cases {
            record::check_case(&script.name, case);
        }
    }
}

#[test]
fn the_kit_is_complete() {
    let missing = coverage::missing();
    assert!(missing.is_empty(), "the kit lacks, or has without need for an excuse:\n{}", missing.join("\n"));
}
