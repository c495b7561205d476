//! The command line: subcommands, their output, and their files.
//!
//! Each subcommand has a file or folder here; code that several subcommands share has separate files. No layer below
//! this one reads flags, prints, or names a file.

pub mod args;

pub mod catalog;
pub mod completions;
pub mod conformance;
pub mod evaluate;
pub mod export;
pub mod health;
pub mod man;
pub mod matches;
pub mod optimum;
pub mod perft;
pub mod play;
pub mod replay;
pub mod serve;
pub mod tbp;
pub mod train;
pub mod verify;
pub mod watch;

pub mod access;
pub mod computing;
pub mod connection;
mod failure;
mod follow;
pub mod help;
pub mod interrupt;
pub mod limits;
mod notify;
pub mod numbers;
pub mod options;
pub mod output;
pub mod progress;
pub mod recordings;
pub mod rules;
pub mod search;
pub mod shown;
pub mod terminal;
pub mod tls_files;
pub mod token_file;

pub use failure::fail;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::ValueEnum;

use self::interrupt::{INTERRUPTED, Interrupt};
use self::output::{print, say, stdout_columns};
use crate::bench;
use crate::bench::FigureGroup;
use crate::bench::measure::RoundPlan;

/// The whole program. The first argument is its name.
pub fn main(args: Vec<OsString>) -> ExitCode {
    args::parse(args).and_then(run).unwrap_or_else(|error| fail(&error))
}

/// Runs a subcommand. Returns the exit code.
///
/// # Errors
/// The error of the subcommand, with its causes.
pub fn run(command: args::Command) -> anyhow::Result<ExitCode> {
    match command {
        args::Command::Serve(args) => serve::run(args),
        args::Command::Train(args) => train::run(*args),
        args::Command::Evaluate(args) => evaluate::run(args),
        args::Command::Match(args) => matches::run(args),
        args::Command::Play(args) => play::run(args),
        args::Command::Watch(args) => watch::run(args),
        args::Command::Tbp(args) => tbp::run(args),
        args::Command::Replay(args) => replay::run(&args),
        args::Command::Verify(args) => verify::run(args),
        args::Command::Export(args) => export::run(&args),
        args::Command::Perft(args) => perft::run(args),
        args::Command::Optimum(args) => optimum::run(&args),
        args::Command::Bench(args) => run_bench(args),
        args::Command::Health(args) => health::run(&args),
        args::Command::Conformance(args) => conformance::run(args),
        args::Command::Catalog(args) => catalog::run(&args),
        args::Command::Completions(args) => completions::run(&args, args::command()),
        args::Command::Man(args) => man::run(&args, args::command()),
    }
}

/// Measures and prints the table of `tetrion bench`; after Ctrl-C, only the finished groups.
fn run_bench(args: args::BenchArgs) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let mut groups = FigureGroup::value_variants().to_vec();
    groups.retain(|group| args.only.is_empty() || args.only.contains(group));
    let plan = if args.quick { RoundPlan::QUICK } else { RoundPlan::FULL };
    let report = bench::measure(&groups, plan, say, &|| interrupt.is_pressed())?;
    let text = match (args.json, args.markdown) {
        (true, _) => format!("{}\n", report.to_json()),
        (_, true) => report.to_markdown(),
        _ => report.to_text(stdout_columns()),
    };
    print(&text)?;
    let Some(interruption) = report.interruption else { return Ok(ExitCode::SUCCESS) };
    say(interruption);
    Ok(ExitCode::from(INTERRUPTED))
}
