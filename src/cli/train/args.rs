//! The options of `tetrion train`: a method with its options, or a run to resume.

use std::path::PathBuf;

use clap::Args;

use super::cem::CemArgs;
use super::genetic::GeneticArgs;
use super::run::RunArgs;
use super::td::TdArgs;
use crate::cli::computing::ComputingArgs;
use crate::cli::connection::ConnectionArgs;

/// The options of `tetrion train`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "METHOD",
    subcommand_help_heading = "Methods",
    override_usage = "tetrion train [METHOD] [OPTIONS]\n       tetrion train --resume <RUN> [OPTIONS]",
    mut_arg("resume", |arg| arg.conflicts_with_all(decided_by_a_run()))
)]
pub struct TrainArgs {
    /// Resume the run in this folder with its settings; --generations extends it
    #[arg(long, value_name = "RUN")]
    pub resume: Option<PathBuf>,

    /// Options of the default method.
    #[command(flatten)]
    pub cem: CemArgs,

    #[command(subcommand)]
    pub method: Option<Method>,
}

/// The subcommands of `tetrion train`, one per training method.
#[derive(Debug, clap::Subcommand)]
pub enum Method {
    /// Cross-entropy method, the default
    Cem(Box<CemArgs>),
    /// Genetic algorithm
    Genetic(Box<GeneticArgs>),
    /// Temporal-difference learning of a value function
    Td(Box<TdArgs>),
}

impl Method {
    /// The options that all methods share.
    pub fn run(&self) -> &RunArgs {
        match self {
            Method::Cem(args) => &args.run,
            Method::Genetic(args) => &args.run,
            Method::Td(args) => &args.run,
        }
    }
}

/// Flags that are fixed for a resumed run: all but its length, its output, and the servers and threads that play.
fn decided_by_a_run() -> Vec<clap::Id> {
    let ids =
        |command: clap::Command| command.get_arguments().map(|arg| arg.get_id().clone()).collect::<Vec<_>>();
    let mut free = ids(ComputingArgs::augment_args(ConnectionArgs::augment_args(clap::Command::new("free"))));
    free.extend(["generations".into(), "json".into()]);
    ids(CemArgs::augment_args(clap::Command::new("cem")))
        .into_iter()
        .filter(|id| !free.contains(id))
        .collect()
}
