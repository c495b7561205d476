//! The options of `tetrion-lab reproduce`, and the rows that they choose.

use std::path::PathBuf;

use tetrion::cli::connection::PlayingArgs;
use tetrion::cli::options::games_range;
use tetrion::input::UsageError;
use tetrion::names::did_you_mean;

/// The options of `tetrion-lab reproduce`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Experiments")]
pub struct ReproduceArgs {
    /// Experiments to repeat; --list shows them
    #[arg(value_name = "NAME", required_unless_present = "list")]
    pub name: Vec<String>,

    /// List the experiments
    #[arg(long)]
    pub list: bool,

    /// Quick look: fewer and shorter games, shorter searches, small playfields only
    #[arg(long)]
    pub quick: bool,

    /// Only rows whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub row: Option<String>,

    /// Games per row, instead of the experiment's numbers
    #[arg(long, value_name = "N", value_parser = games_range())]
    pub games: Option<u32>,

    /// Seed for the games and searches
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Print one JSON object per experiment
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,

    /// Print Markdown tables
    #[arg(long)]
    pub markdown: bool,

    /// Write NAME.json and NAME.md for each experiment into this folder, after each row
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,

    /// Who plays the games.
    #[command(flatten)]
    pub playing: PlayingArgs,
}

impl ReproduceArgs {
    /// The rows that the options choose.
    ///
    /// # Errors
    /// If no row has a matching name.
    pub fn chosen<'a, R>(
        &self,
        experiment: &str,
        rows: &'a [R],
        label: impl Fn(&R) -> String,
    ) -> Result<Vec<&'a R>, UsageError> {
        let Some(name) = &self.row else { return Ok(rows.iter().collect()) };
        let labels: Vec<String> = rows.iter().map(label).collect();
        let chosen = rows.iter().zip(&labels).filter(|(_, label)| label.contains(name.as_str()));
        let chosen: Vec<&R> = chosen.map(|(row, _)| row).collect();
        if chosen.is_empty() {
            return Err(UsageError(format!(
                "no row of {experiment} has {name:?} in its name{} expected a part of: {}",
                did_you_mean(name, labels.iter().map(String::as_str)),
                labels.join("; ")
            )));
        }
        Ok(chosen)
    }
}
