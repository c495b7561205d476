//! The options of games that are shown in a terminal, the same for `play` and `watch`: which game it is, by which rules, in which
//! colours, and where it is written down. And their course: the game is shown, then it is written down, then the report is printed.

use std::path::PathBuf;
use std::process::ExitCode;

use super::options::check_writable;
use super::output::print;
use super::recordings;
use super::rules::RulesArgs;
use super::screen::Palette;
use super::screen::terminal::{self, Program};
use crate::recording::Recording;

/// The options of a game that is shown. What is special about a flag, a subcommand says of it.
#[derive(Debug, clap::Args)]
pub struct ShownArgs {
    /// Seed for the games, as in `evaluate`
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// Number of the first game, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub game: u64,

    /// Record the game in this file on exit, for `replay` and `export`; JSON if the name ends in .json
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Colours of the pieces [default: usual, or ascii if NO_COLOR is set]
    #[arg(long, value_name = "NAME")]
    pub palette: Option<Palette>,

    /// Rules of the games.
    #[command(flatten)]
    pub rules: RulesArgs,
}

impl ShownArgs {
    /// Shows games until the person leaves, then writes the last one to the file of `--record`, then prints the report. The file is
    /// written even if the terminal has gone.
    ///
    /// # Errors
    /// A terminal that is none, or a file that cannot be written.
    pub fn show<P: Program>(
        &self,
        program: &mut P,
        recording: impl FnOnce(&P) -> Recording,
        report: impl FnOnce(&P) -> String,
    ) -> anyhow::Result<ExitCode> {
        if let Some(path) = &self.record {
            check_writable(path)?;
        }
        terminal::check()?;
        let left = terminal::run(program);
        if let Some(path) = &self.record {
            recordings::write(path, &recording(program))?;
        }
        left?.exit_code(print(&report(program)))
    }
}
