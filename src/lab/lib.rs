//! Experiments with Tetrion: replays the tables of documents and papers and compares the results with the printed figures,
//! and measures players by the protocol of the benchmark.
//!
//! This package is a client of the `tetrion` package: it uses the client, the optimizers, and the options, output and progress
//! of the command line. Nothing depends on this package.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see tetrion::cli::output

pub mod benchmark;
pub mod reproduce;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tetrion::cli::args::{arranged, parse_as};

/// Repeat published Tetris experiments, and measure players for publication.
#[derive(Debug, Parser)]
#[command(name = "tetrion-lab", version, max_term_width = 100)]
struct LabArgs {
    #[command(subcommand)]
    command: LabCommand,
}

/// The subcommands of `tetrion-lab`, each with its options.
#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Repeat published experiments and compare the results
    Reproduce(reproduce::ReproduceArgs),
    /// Measure a player by the protocol of the benchmark
    Benchmark(benchmark::BenchmarkArgs),
}

/// The definition of the command line.
pub fn command() -> clap::Command {
    arranged(LabArgs::command())
}

/// Runs the program with the options of this process.
///
/// # Errors
/// For options that cannot be parsed, or the error of the subcommand.
pub fn run() -> anyhow::Result<ExitCode> {
    let LabArgs { command } = parse_as(self::command(), std::env::args_os().collect())?;
    match command {
        LabCommand::Reproduce(args) => reproduce::run(args),
        LabCommand::Benchmark(args) => benchmark::run(args),
    }
}
