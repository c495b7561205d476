//! `tetrion evaluate`: measures controllers over many games, with confidence intervals.
//!
//! Controllers are evaluated one after another, so that each speed is measured separately. They play the same pieces,
//! so that they can be compared game by game: the difference between two games on equal pieces varies less than the
//! games.

mod args;
mod contestants;
mod names;
mod record;
mod report;
mod sweep;

pub use args::EvaluateArgs;
pub use report::{interval, number};

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;

use self::contestants::{Contestant, contestants};
use self::record::record;
pub use self::record::stems;
use self::report::{ContestantDifference, bar_chart, to_json, to_text};
use super::interrupt::run_until_stopped;
use super::options::check_writable;
use super::output::{print, print_drawing, say, stdout_columns};
use super::progress::GamesProgress;
use crate::input::UsageError;
use crate::text::numbers::count;
use crate::trainer::score::Score;
use tetrion_client::{
    Client, ClientError, Estimate, EstimatedGame, Evaluated, EvaluationRequest, Outcomes, PlayedGame, Seeds,
};
use tetrion_core::engine::EpisodeEnd;
use tetrion_core::summary::Statistics;
use tetrion_toolkit::files;

/// First line of the `--games-csv` file.
const GAME_COLUMNS: &str = "name,game,seed,lines,pieces,steps,score,end";
/// Most columns of the bars on a terminal.
const CHART_COLUMNS: usize = 100;
/// Columns of `--games-csv` with `--loss-trials`.
const ESTIMATE_COLUMNS: &str =
    "name,estimate,seed,loss_rate,lines_per_piece,steps_per_piece,score_per_piece,lasts_longer";

/// Runs an evaluation, and prints a table or a JSON object.
///
/// # Errors
/// The server's refusal with a hint, or a file that cannot be read or written.
pub fn run(args: EvaluateArgs) -> anyhow::Result<ExitCode> {
    run_until_stopped("stopped; nothing has been written", async {
        evaluate(&args).await?;
        Ok(ExitCode::SUCCESS)
    })
}

async fn evaluate(args: &EvaluateArgs) -> anyhow::Result<()> {
    let (contestants, rules) = contestants(args)?;
    args.games_csv.iter().chain(&args.chart).try_for_each(|path| check_writable(path))?;
    let wanted = match (&args.record, args.record_dir.as_deref()) {
        (Some(selection), Some(folder)) => Some((selection, folder)),
        (None, None) => None,
        _ => return Err(UsageError("--record and --record-dir go together".to_owned()).into()),
    };
    if let Some((_, folder)) = wanted {
        let problem = || format!("cannot make the folder {}", folder.display());
        fs::create_dir_all(folder).with_context(problem)?;
    }
    let client = args.playing.connect().await?;
    let mut rules_version = String::new();
    let (mut requests, mut evaluations) = (Vec::new(), Vec::new());
    let mut scores = Vec::new();
    for Contestant { name, policy } in contestants {
        let request = EvaluationRequest {
            rules: rules.clone(),
            rules_version,
            max_pieces: args.max_pieces,
            max_steps: args.max_steps,
            loss_trials: args.loss_trials.unwrap_or(0),
            ..EvaluationRequest::new(vec![policy], Seeds::Common { seed: args.seed, count: args.games })
        };
        let start = Instant::now();
        let evaluated = play(&client, &request, &name).await?;
        scores.push(Score::of(&name, &evaluated, start.elapsed().as_secs_f64()));
        // The next contestant must play under the same version of the rules.
        rules_version = evaluated.started.rules_version.clone();
        requests.push(request);
        evaluations.push(evaluated);
    }
    let differences = differences(&scores, &evaluations);
    let text = if args.json {
        format!("{}\n", to_json(args, &scores, &differences, &evaluations[0]))
    } else {
        to_text(args, &scores, &differences, &evaluations[0], stdout_columns())
    };
    // Print before writing the file, so that a full disk cannot prevent it.
    print(&text)?;
    let chart = bar_chart(args, &scores, &evaluations[0]);
    if let Some(columns) = stdout_columns().filter(|_| scores.len() > 1 && !args.json) {
        print_drawing(&format!("\n{}", chart.to_text(columns.min(CHART_COLUMNS) - 1)))?;
    }
    if let Some(path) = &args.games_csv {
        files::write_with(path, |file| write_games(file, &scores, &evaluations))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(path) = &args.chart {
        files::write(path, chart.to_svg().as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some((selection, folder)) = wanted {
        let stems = stems(scores.iter().map(|score| score.name.as_str()));
        let played = requests.iter().zip(&evaluations).zip(&scores).zip(&stems);
        for (((request, evaluated), Score { name, .. }), stem) in played {
            let wanted = (selection.0.as_slice(), folder);
            let files = record(&client, request, evaluated, name, stem, wanted).await?;
            let recordings = count(files as u64, "recording");
            say(format_args!("{name}: {recordings} in {}", folder.display()));
        }
    }
    Ok(())
}

async fn play(client: &Client, request: &EvaluationRequest, name: &str) -> anyhow::Result<Evaluated> {
    let mut progress = GamesProgress::new(name);
    let evaluated = client.evaluate_all(request, |now| progress.show(now)).await;
    drop(progress);
    evaluated.map_err(|error| advice(error, name))
}

/// Adds a hint about the next step to a server's refusal.
fn advice(error: ClientError, name: &str) -> anyhow::Error {
    let ClientError::Refused { reason, .. } = &error else { return error.into() };
    let hint = match reason.as_str() {
        "INVALID_TENSOR" => "expected one finite weight per feature",
        "FEATURE_SET_MISMATCH" => "the weights were made for another version of these features: train again",
        "RULES_VERSION_MISMATCH" => "the servers have different versions; use one version",
        _ => return anyhow::Error::new(error).context(format!("cannot evaluate {name}")),
    };
    anyhow::Error::new(error).context(format!("cannot evaluate {name} ({hint})"))
}

/// Differences between the games of each contestant and the first contestant's, game by game. Estimates have no pieces
/// in common, so they have no differences.
fn differences(scores: &[Score], evaluations: &[Evaluated]) -> Vec<ContestantDifference> {
    let Some((first, others)) = evaluations.split_first() else { return Vec::new() };
    if first.started.loss_trials > 0 {
        return Vec::new();
    }
    let difference = |(other, score): (&Evaluated, &Score)| {
        let of = |number: fn(&PlayedGame) -> f64| {
            let pairs = other.games(0).iter().zip(first.games(0));
            let differences = pairs.map(|(other, first)| number(other) - number(first));
            Statistics::of(differences).expect("at least one game")
        };
        let (lines, points) = (of(|game| game.lines as f64), of(|game| game.score));
        ContestantDifference { name: score.name.clone(), lines, points }
    };
    others.iter().zip(&scores[1..]).map(difference).collect()
}

/// Writes one CSV line per game, or per estimate.
fn write_games(file: &mut File, scores: &[Score], evaluations: &[Evaluated]) -> io::Result<()> {
    let mut csv = BufWriter::new(file);
    let is_estimate = scores.first().is_some_and(|score| score.is_estimate);
    writeln!(csv, "{}", if is_estimate { ESTIMATE_COLUMNS } else { GAME_COLUMNS })?;
    for (score, evaluated) in scores.iter().zip(evaluations) {
        let name = match score.name.as_str() {
            name if name.contains(['"', ',', '\n', '\r']) => format!("\"{}\"", name.replace('"', "\"\"")),
            name => name.to_owned(),
        };
        match &evaluated.outcomes {
            Outcomes::Games(games) => {
                for PlayedGame { seed_index, seed, lines, pieces, steps, score, end, .. } in &games[0] {
                    let end = EpisodeEnd::name(*end);
                    writeln!(csv, "{name},{seed_index},{seed},{lines},{pieces},{steps},{score},{end}")?;
                }
            }
            Outcomes::Estimates(estimates) => {
                for EstimatedGame { seed_index, seed, estimate, .. } in &estimates[0] {
                    let Estimate {
                        loss_rate,
                        lines_per_piece,
                        steps_per_piece,
                        score_per_piece,
                        lasts_longer,
                    } = estimate;
                    writeln!(
                        csv,
                        "{name},{seed_index},{seed},{loss_rate},{lines_per_piece},{steps_per_piece},{score_per_piece},\
                         {lasts_longer}"
                    )?;
                }
            }
        }
    }
    csv.flush()
}
