//! `tetrion reproduce`: the tables of the documents and papers that this project grew from, played again.
//!
//! An experiment is data ([`mod@experiments`]): rows, each with its rules, its player and the figures that are printed of it. A
//! row is played through a server like every other evaluation, and each figure gets a verdict ([`verdict`]) beside what the
//! document says, what other programs measured since, and what came out here, with its interval. Where a document is
//! wrong and that can be shown, the verdict says so.

pub mod experiments;
mod report;
mod search;
pub mod verdict;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;

use self::experiments::{Experiment, Player, Row, experiments};
use self::report::{Outcome, Report, RowReport};
use self::search::search;
use super::connection::{Connection, ConnectionArgs};
use super::interrupt::INTERRUPTED;
use super::numbers::time;
use super::options::{UsageError, games_range};
use super::output::{print, say};
use super::progress::GamesProgress;
use crate::client::{Client, EvaluationRequest, NamedPolicy, Policies, Seeds};
use crate::names::{did_you_mean, unknown};

/// The options of `tetrion reproduce`.
#[derive(Debug, clap::Args)]
pub struct ReproduceArgs {
    /// Which experiments; `--list` names them all
    #[arg(value_name = "NAME", required_unless_present = "list")]
    pub name: Vec<String>,

    /// List the experiments
    #[arg(long)]
    pub list: bool,

    /// Fewer games, long ones cut, and shorter searches
    #[arg(long)]
    pub quick: bool,

    /// Only the rows whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub row: Option<String>,

    /// Games a row, in place of the experiment's own numbers
    #[arg(long, value_name = "N", value_parser = games_range())]
    pub games: Option<u32>,

    /// The seed from which those of the games and of the searches are drawn
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Print one JSON object an experiment
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,

    /// Print tables in Markdown
    #[arg(long)]
    pub markdown: bool,

    /// Write NAME.json and NAME.md for each experiment into this folder, row by row
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,

    /// Which servers play.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Plays the experiments that were named, one after the other.
///
/// # Errors
/// An unknown name, what the server refuses, or a file that cannot be written.
pub fn run(args: ReproduceArgs) -> anyhow::Result<ExitCode> {
    let known = experiments();
    if args.list {
        let line =
            |Experiment { name, title, source, .. }: &Experiment| format!("{name:18} {title} ({source})\n");
        print(&known.iter().map(line).collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let find = |name: &String| match known.iter().find(|experiment| experiment.name == name.as_str()) {
        Some(experiment) => Ok(experiment),
        None => Err(UsageError(unknown("experiment", name, known.iter().map(|experiment| experiment.name)))),
    };
    let wanted = args.name.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        tokio::select! {
            done = reproduce(&args, &wanted) => done.map(|()| ExitCode::SUCCESS),
            _ = tokio::signal::ctrl_c() => {
                say("stopped; the rows that were finished stand above");
                Ok(ExitCode::from(INTERRUPTED))
            }
        }
    });
    runtime.shutdown_background();
    code
}

async fn reproduce(args: &ReproduceArgs, wanted: &[&Experiment]) -> anyhow::Result<()> {
    let connection = Connection::open(&args.connection).await?;
    if let Some(folder) = &args.write {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    for experiment in wanted {
        let report = play(args, &connection.client, experiment).await?;
        let text = if args.json {
            format!("{}\n", report.to_json())
        } else if args.markdown {
            report.to_markdown()
        } else {
            report.to_text()
        };
        print(&text)?;
    }
    Ok(())
}

/// Plays all rows of an experiment.
async fn play(args: &ReproduceArgs, client: &Client, experiment: &Experiment) -> anyhow::Result<Report> {
    let chosen =
        |row: &&Row| args.row.as_ref().is_none_or(|text| row.label(args.quick).contains(text.as_str()));
    let rows: Vec<&Row> = experiment.rows.iter().filter(chosen).collect();
    if rows.is_empty() {
        let labels: Vec<String> = experiment.rows.iter().map(|row| row.label(args.quick)).collect();
        let name = args.row.as_deref().unwrap_or_default();
        let problem = format!(
            "no row of {} has {name:?} in its name{} expected part of one of: {}",
            experiment.name,
            did_you_mean(name, labels.iter().map(String::as_str)),
            labels.join("; ")
        );
        return Err(UsageError(problem).into());
    }
    let start = Instant::now();
    let mut report =
        Report { experiment: experiment.clone(), rows: Vec::new(), quick: args.quick, seed: args.seed };
    for (number, row) in rows.iter().enumerate() {
        let left = time_left(start.elapsed(), number, rows.len());
        let label =
            format!("{} {} ({} of {}{left})", experiment.name, row.label(args.quick), number + 1, rows.len());
        let outcome = play_row(args, client, row, &label).await;
        let outcome = outcome.with_context(|| format!("cannot play {label}"))?;
        let played = RowReport::of(row, &outcome, args.quick);
        // A row may take an hour: an interrupt loses that row only.
        if number + 1 < rows.len() {
            say(format_args!("{} {}", experiment.name, played.to_line()));
        }
        report.rows.push(played);
        if let Some(folder) = &args.write {
            keep(&report, folder)?;
        }
    }
    Ok(report)
}

/// Writes the report so far.
fn keep(report: &Report, folder: &Path) -> anyhow::Result<()> {
    for (ending, text) in [("json", report.to_json().to_string() + "\n"), ("md", report.to_markdown())] {
        let path = folder.join(format!("{}.{ending}", report.experiment.name));
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// A guess for the whole experiment; the games of a row show their own time.
fn time_left(elapsed: Duration, rows_done: usize, num_rows: usize) -> String {
    if rows_done == 0 {
        return String::new();
    }
    let a_row = elapsed / rows_done as u32;
    format!(", rows like those before would take {}", time(a_row * (num_rows - rows_done) as u32))
}

async fn play_row(args: &ReproduceArgs, client: &Client, row: &Row, label: &str) -> anyhow::Result<Outcome> {
    let (policies, steps) = match &row.player {
        Player::Named(name) => (Policies::named(name), Vec::new()),
        Player::MonteCarlo { name, playouts } => {
            let name = (*name).to_owned();
            let playouts = Some(*playouts);
            (Policies::Named(vec![NamedPolicy { name, playouts, ..NamedPolicy::default() }]), Vec::new())
        }
        Player::Linear(linear) => (linear.policies(), Vec::new()),
        Player::Search(plan) => search(client, row, plan, args.quick, args.seed, label).await?,
    };
    let num_games = args.games.unwrap_or(if args.quick { row.quick_games } else { row.games });
    let request = EvaluationRequest {
        rules: row.rules.clone(),
        rules_version: String::new(),
        policies,
        seeds: Seeds::Common { seed: args.seed, count: num_games },
        max_pieces: row.max_pieces(args.quick),
        max_steps: row.max_steps,
    };
    let mut progress = GamesProgress::new(label);
    let evaluated = client.evaluate_all(&request, |now| progress.show(now)).await?;
    Ok(Outcome { games: evaluated.games.into_iter().next().unwrap_or_default(), steps })
}
