//! The options of `tetrion-lab benchmark`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tetrion::benchmark::{CLASSES, Class};
use tetrion::cli::connection::PlayingArgs;
use tetrion::cli::output::{shell_path, shell_word};
use tetrion::cli::search::SearchArgs;
use tetrion::engine::NamedChoice;

/// The options of `tetrion-lab benchmark`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Benchmark")]
pub struct BenchmarkArgs {
    /// Player: a controller or an agent such as dt-10, a training run, or a file such as weights.json or my.formula
    #[arg(value_name = "PLAYER", required_unless_present = "recordings", conflicts_with = "recordings")]
    pub player: Option<String>,

    /// Class of the player, which fixes rules, seeds, number of games and cut
    #[arg(long, value_name = "NAME", value_parser = class())]
    pub class: &'static Class,

    /// New folder for the result
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Folder with a recording of each game, of a player outside this program
    #[arg(long, value_name = "DIR", requires = "name")]
    pub recordings: Option<PathBuf>,

    /// Name of the player in the result [default: the name of the controller, the run or the file]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub search: SearchArgs,

    /// Who plays the games.
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// The parser of a class. `--help` shows a line per class.
fn class() -> impl TypedValueParser<Value = &'static Class> {
    let names = CLASSES.iter().map(|class| PossibleValue::new(class.name).help(class.about));
    PossibleValuesParser::new(names).map(|name: String| Class::named(&name).expect("one of the names"))
}

impl BenchmarkArgs {
    /// The command with all options that decide the result; the name of the new folder does not.
    pub fn command(&self) -> String {
        let SearchArgs { search, terminal_value } = &self.search;
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        let flags = [
            ("--class", Some(self.class.name.to_owned())),
            ("--recordings", self.recordings.as_ref().map(path)),
            ("--name", self.name.clone()),
            ("--search", search.map(|search| search.to_string())),
            ("--terminal-value", terminal_value.map(|value| value.name().to_owned())),
        ];
        let mut words = vec!["tetrion-lab benchmark".to_owned()];
        words.extend(self.player.as_ref().map(shell_path));
        for (flag, value) in flags {
            let Some(value) = value else { continue };
            match value.as_str() {
                // Two words would be two options.
                value if value.starts_with('-') => words.push(format!("{flag}={}", shell_word(value))),
                value => words.extend([flag.to_owned(), shell_word(value)]),
            }
        }
        words.push("--out FOLDER".to_owned());
        words.join(" ")
    }
}
