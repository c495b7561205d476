//! `tetrion conformance`: holds a server to the conformance kit, and names every line that differs.

use std::process::ExitCode;

use anyhow::Context;
use serde_json::json;

use super::connection::ConnectionArgs;
use super::interrupt::run_until_stopped;
use super::output::print;
use super::progress::WorkProgress;
use crate::conformance::{self, ConformanceReport, KIT, LineMismatch, Script};
use crate::input::UsageError;
use crate::text::numbers::count;
use tetrion_client::{Link, RawClient};
use tetrion_core::names::unknown;
use tetrion_server::{Inside, ServerConfig};

const EXIT_CODES: &str = "\
Exit codes: 0 nothing differs; 1 something does, and is named, or the server does not answer; 2 a flag is wrong";

/// The options of `tetrion conformance`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXIT_CODES,
    mut_arg("server", |arg| arg.help(
        "Server to check: HOST:PORT, https://HOST:PORT with TLS, or unix:PATH [default: the services in this process]"
    )),
    mut_arg("patience", |arg| arg.help("Seconds to wait for an answer")),
)]
pub struct ConformanceArgs {
    /// File of the kit to run, such as seeds; repeat the flag for several [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Call by gRPC-Web, as browsers do: on HTTP/1.1, with TLS on HTTP/2; leaves out streams of requests
    #[arg(long, requires = "server")]
    pub grpc_web: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Server and the way to it.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Runs the kit and prints the differences. The exit code is 1 if there is one.
///
/// # Errors
/// If the server does not answer, a name is unknown, or stdout cannot be written.
pub fn run(args: ConformanceArgs) -> anyhow::Result<ExitCode> {
    run_until_stopped("stopped", async {
        let (report, num_files) = report(&args).await?;
        print(&if args.json { to_json(&report) } else { to_text(&report, num_files) })?;
        Ok(if report.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}

/// The report on a server, and the number of files that it is about.
async fn report(args: &ConformanceArgs) -> anyhow::Result<(ConformanceReport, usize)> {
    let scripts = scripts(&args.only)?;
    let options = args.connection.options()?;
    let client = match &args.connection.server[..] {
        [] => RawClient::new(Link::new(Inside::start(&ServerConfig::default())?), options.patience),
        [address] => {
            let connected = RawClient::connect(address, &options, args.grpc_web).await;
            match args.connection.files() {
                Some(files) => connected.with_context(|| format!("with {files}"))?,
                None => connected?,
            }
        }
        several => {
            let problem = format!("--server names {} servers, expected one", several.len());
            return Err(UsageError(problem).into());
        }
    };
    let mut progress = WorkProgress::new("conformance");
    let report = conformance::run(&client, &scripts, !args.grpc_web, |script, line, _, _| {
        progress.show(&[format!("{}.txt:{}", script.name, line.number)]);
    });
    Ok((report.await, scripts.len()))
}

/// The files with these names, or all.
fn scripts(only: &[String]) -> anyhow::Result<Vec<Script>> {
    let names = || KIT.iter().map(|(name, _)| *name);
    if let Some(name) = only.iter().find(|name| !names().any(|known| known == *name)) {
        return Err(UsageError(format!("--only: {}", unknown("file of the kit", name, names()))).into());
    }
    let is_chosen = |name: &str| only.is_empty() || only.iter().any(|only| only == name);
    let chosen = KIT.iter().filter(|(name, _)| is_chosen(name));
    Ok(chosen.map(|(name, text)| Script::parse(name, text)).collect::<Result<_, _>>()?)
}

fn to_text(report: &ConformanceReport, num_files: usize) -> String {
    let ConformanceReport { num_calls, num_skipped, differences } = report;
    let mut text: String = differences.iter().map(|difference| format!("{difference}\n")).collect();
    let skipped = match num_skipped {
        0 => String::new(),
        skipped => format!(", {} of streams left out", count(*skipped as u64, "line")),
    };
    let found = match differences.len() {
        0 => "nothing differs".to_owned(),
        differences => format!("{} found", count(differences as u64, "difference")),
    };
    let calls = count(*num_calls as u64, "call");
    text += &format!("{calls} of {}{skipped}: {found}\n", count(num_files as u64, "file"));
    text
}

fn to_json(report: &ConformanceReport) -> String {
    let difference = |LineMismatch { file, line, mismatch }: &LineMismatch| {
        json!({
            "file": format!("conformance/{file}.txt"),
            "line": line,
            "path": mismatch.path,
            "expected": mismatch.expected,
            "found": mismatch.found,
        })
    };
    let object = json!({
        "passes": report.differences.is_empty(),
        "differences": report.differences.iter().map(difference).collect::<Vec<_>>(),
        "num_calls": report.num_calls,
        "num_lines_left_out": report.num_skipped,
    });
    format!("{object}\n")
}
