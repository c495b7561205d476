//! Code shared by `play` and `watch`: the options for the game, its rules, its palette and its recording. It also runs
//! the game: shows it, writes the recording, and prints the report.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::TypedValueParser;

use super::options::{check_writable, one_of};
use super::output::{is_without_colours, print};
use super::recordings;
use super::rules::RulesArgs;
use super::terminal;
use crate::input::UsageError;
use crate::players::{Contender, GameSeries};
use crate::viewers::{Palette, TerminalProgram};
use tetrion_client::RulesChoice;
use tetrion_core::agents::PlayChoice;
use tetrion_toolkit::recording::Recording;

/// The options of a game on the screen. Subcommands override the help of a flag that differs.
#[derive(Debug, clap::Args)]
pub struct ShownArgs {
    /// Seed for the games, as in `evaluate`
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// Number of the first game, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub first_game: u64,

    /// Record the game in this file on exit, for `replay` and `export`; JSON if the name ends in .json
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Colours of the pieces [default: usual, or ascii if NO_COLOR is set]
    #[arg(long, value_name = "NAME", value_parser = palette())]
    pub palette: Option<Palette>,

    #[command(flatten)]
    pub rules: RulesArgs,
}

impl ShownArgs {
    /// The games of these players under the rules of the flags. Fields without a flag come from the first training run
    /// among the players, unless the flags name another preset. The rules show as many next pieces as the players need,
    /// unless a flag sets the number.
    ///
    /// # Errors
    /// [`UsageError`] for rules that cannot be played, or a run's rules that this program does not know.
    pub fn series(
        &self,
        contenders: &[Contender],
        choice: PlayChoice,
        seed: u64,
    ) -> Result<GameSeries, UsageError> {
        let rules = match contenders.iter().find_map(Contender::rules) {
            None => self.rules.choice(RulesChoice::default()),
            Some(noted) => self.rules.completed_by(noted),
        };
        let shown = contenders.iter().map(|contender| choice.or(contender.play()).search.pieces_shown());
        GameSeries::new(&self.rules.choice_that_shows(shown.max().unwrap_or(0), rules), seed)
    }

    /// The palette of the screen.
    pub fn palette(&self) -> Palette {
        Palette::wanted(self.palette, is_without_colours())
    }

    /// Shows games until the user leaves, then writes the recording and prints the report. Writes the recording even if
    /// the terminal has closed.
    ///
    /// # Errors
    /// If there is no terminal, or a file cannot be written.
    pub fn show<P: TerminalProgram>(
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

/// The parser of a palette.
fn palette() -> impl TypedValueParser<Value = Palette> {
    one_of(&[
        (
            "usual",
            "Standard colours since 2001: cyan, yellow, purple, red, green, blue, orange",
            Palette::Usual,
        ),
        (
            "color-blind",
            "Seven colours that are safe for colour-blind people (Okabe and Ito 2008)",
            Palette::ColourBlind,
        ),
        ("ascii", "No colours, and no characters beyond ASCII", Palette::Ascii),
    ])
}
