//! `tetrion-lab reproduce`: replays the tables of the documents and papers that this project started from.
//!
//! An experiment is data ([`mod@experiments`]): rows, each with rules, a player and printed figures. A row is played through a
//! server like every other evaluation, and each figure gets a verdict ([`verdict`]), next to the document's figure, later
//! measurements by other programs, and our result with its interval. If a document is provably wrong, the verdict says so.
//!
//! The experiment [`optimum`](mod@optimum) is computed instead of played, and has no document.

mod args;
pub mod experiments;
mod forms;
pub mod optimum;
mod report;
mod search;
pub mod verdict;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;

pub use self::args::ReproduceArgs;
use self::experiments::{Experiment, ExperimentRow, RowPlayer, experiments};
use self::report::{ExperimentReport, PlayedRow, RowReport};
use self::search::search;
use tetrion::cli::interrupt::INTERRUPTED;
use tetrion::cli::output::{print, say};
use tetrion::cli::progress::{GamesProgress, rows_left};
use tetrion::client::{
    Client, EvaluationRequest, Expectation, Outcomes, PlayChoice, Policy, PolicyKind, Search, Seeds,
};
use tetrion::input::UsageError;
use tetrion::names::unknown;

/// An experiment that has a name.
enum Named {
    /// An experiment of the tables.
    Played(Experiment),
    /// The experiment whose figures are computed, not played.
    Optimum,
}

impl Named {
    fn name(&self) -> &'static str {
        match self {
            Named::Played(experiment) => experiment.name,
            Named::Optimum => optimum::NAME,
        }
    }

    fn to_line(&self) -> String {
        let (title, source) = match self {
            Named::Played(experiment) => (experiment.title, experiment.source),
            Named::Optimum => (optimum::TITLE, optimum::SOURCE),
        };
        format!("{:18} {title} ({source})\n", self.name())
    }
}

/// Runs the named experiments, one after the other.
///
/// # Errors
/// For an unknown name, a refusal of the server, or a file that cannot be written.
pub fn run(args: ReproduceArgs) -> anyhow::Result<ExitCode> {
    let known: Vec<Named> = experiments().into_iter().map(Named::Played).chain([Named::Optimum]).collect();
    if args.list {
        print(&known.iter().map(Named::to_line).collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let find = |name: &String| match known.iter().find(|experiment| experiment.name() == name.as_str()) {
        Some(experiment) => Ok(experiment),
        None => Err(UsageError(unknown("experiment", name, known.iter().map(Named::name)))),
    };
    let wanted = args.name.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        tokio::select! {
            done = reproduce(&args, &wanted) => done.map(|()| ExitCode::SUCCESS),
            _ = tokio::signal::ctrl_c() => {
                say("stopped; the finished rows are above");
                Ok(ExitCode::from(INTERRUPTED))
            }
        }
    });
    runtime.shutdown_background();
    code
}

async fn reproduce(args: &ReproduceArgs, wanted: &[&Named]) -> anyhow::Result<()> {
    let client = args.playing.connect().await?;
    if let Some(folder) = &args.write {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    for experiment in wanted {
        let forms = match experiment {
            Named::Played(experiment) => play(args, &client, experiment).await?.forms(),
            Named::Optimum => optimum::solve(args, &client).await?.forms(),
        };
        let text = if args.json {
            format!("{}\n", forms.json)
        } else if args.markdown {
            forms.markdown
        } else {
            forms.text
        };
        print(&text)?;
    }
    Ok(())
}

/// Plays all chosen rows of an experiment.
async fn play(
    args: &ReproduceArgs,
    client: &Client,
    experiment: &Experiment,
) -> anyhow::Result<ExperimentReport> {
    let rows = args.chosen(experiment.name, &experiment.rows, |row| row.label(args.quick))?;
    let start = Instant::now();
    let mut report = ExperimentReport {
        experiment: experiment.clone(),
        rows: Vec::new(),
        quick: args.quick,
        seed: args.seed,
    };
    for (number, row) in rows.iter().enumerate() {
        let left = rows_left(start.elapsed(), number, rows.len());
        let label =
            format!("{} {} ({} of {}{left})", experiment.name, row.label(args.quick), number + 1, rows.len());
        let played = play_row(args, client, row, &label).await;
        let played = played.with_context(|| format!("cannot play {label}"))?;
        let row_report = RowReport::of(row, &played, args.quick);
        // A row may take an hour; Ctrl-C loses only that row.
        if number + 1 < rows.len() {
            say(format_args!("{} {}", experiment.name, row_report.to_line()));
        }
        report.rows.push(row_report);
        if let Some(folder) = &args.write {
            report.forms().keep(folder, experiment.name)?;
        }
    }
    Ok(report)
}

async fn play_row(
    args: &ReproduceArgs,
    client: &Client,
    row: &ExperimentRow,
    label: &str,
) -> anyhow::Result<PlayedRow> {
    let (policy, steps) = match &row.player {
        RowPlayer::Named(name) => (Policy::named(name), Vec::new()),
        RowPlayer::MonteCarlo(agent) => {
            let kind = PolicyKind::MonteCarlo(*agent);
            (Policy { kind, play: PlayChoice::default() }, Vec::new())
        }
        RowPlayer::Expectation { name, pieces, placements } => {
            let expectation =
                Expectation { pieces: *pieces, placements: *placements, ..Expectation::default() };
            let search = Some(Search::Expectation(expectation));
            let play = PlayChoice { search, ..PlayChoice::default() };
            (Policy { play, ..Policy::named(name) }, Vec::new())
        }
        RowPlayer::Linear(linear) => (linear.policy(), Vec::new()),
        RowPlayer::Search(plan) => search(client, row, plan, args.quick, args.seed, label).await?,
    };
    let num_games = args.games.unwrap_or(if args.quick { row.quick_games } else { row.games });
    let seeds = Seeds::Common { seed: args.seed, count: num_games };
    let mut request = EvaluationRequest::new(vec![policy], seeds);
    request.rules = row.rules.clone();
    request.max_pieces = row.max_pieces(args.quick);
    request.max_steps = row.max_steps;
    request.loss_trials = row.loss_trials;
    let mut progress = GamesProgress::new(label);
    let evaluated = client.evaluate_all(&request, |now| progress.show(now)).await?;
    let (games, estimates) = match evaluated.outcomes {
        Outcomes::Games(mut games) => (games.swap_remove(0), Vec::new()),
        Outcomes::Estimates(mut estimates) => (Vec::new(), estimates.swap_remove(0)),
    };
    Ok(PlayedRow { games, estimates, steps })
}
