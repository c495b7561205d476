//! `tetrion verify`: checks a result of the benchmark.
//!
//! Numbers must follow from the games, and games from their recordings. If the result contains its player, the player
//! plays the recorded games again, or all games, and must make the same choices.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use super::connection::PlayingArgs;
use super::evaluate::{interval, number};
use super::interrupt::run_until_stopped;
use super::output::{ReaderLeft, print};
use super::progress::{GamesProgress, WorkProgress};
use crate::benchmark::{BenchmarkResult, Class, Entrant, Folder, NAME, Problem, Summary, compare_games};
use crate::input::UsageError;
use crate::text::numbers::{count, grouped};
use tetrion_core::pool::Pool;

const EXIT_CODES: &str = "\
Exit codes: 0 nothing is wrong; 1 something is, and is named; 2 trouble, such as a folder without a result";

/// The options of `tetrion verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct VerifyArgs {
    /// Folder that `tetrion-lab benchmark` wrote
    pub folder: PathBuf,

    /// Let the player play all games again, not only the recorded ones
    #[arg(long)]
    pub all: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Who plays the games.
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// The outcome of checking a result.
#[derive(Debug)]
pub struct Verification {
    pub result: BenchmarkResult,
    /// The class of the result.
    pub class: &'static Class,
    /// Number of games that the player has played again.
    pub num_played: u32,
    /// Everything that is wrong; empty for a correct result.
    pub problems: Vec<Problem>,
}

/// Checks a folder and prints the verdict. The exit code is 1 if something is wrong. As with `replay`, trouble has
/// another exit code.
///
/// # Errors
/// If the folder holds no result, a server refuses a game, or stdout cannot be written.
pub fn run(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    let code = run_until_stopped("stopped", async {
        let verdict = verify(&args).await?;
        print(&if args.json { format!("{}\n", verdict.to_json()) } else { verdict.to_text() })?;
        Ok(if verdict.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    });
    code.map_err(|error: anyhow::Error| match error.is::<ReaderLeft>() {
        true => error,
        false => UsageError(format!("{error:#}")).into(),
    })
}

/// Checks a folder.
///
/// # Errors
/// If the folder holds no result, or a server refuses a game.
pub async fn verify(args: &VerifyArgs) -> anyhow::Result<Verification> {
    let folder = Folder::new(&args.folder);
    let (result, class) = folder.result()?;
    let num_recordings = result.num_recordings(class);
    let pool = Pool::new(args.playing.computing.threads as usize)?;
    let (of_task, result_of_task) = (folder.clone(), result.clone());
    let replay = move || {
        let mut progress = WorkProgress::new("recordings");
        let show = |done: usize| progress.show(&[format!("{} of {num_recordings}", grouped(done as f64))]);
        of_task.check(&result_of_task, class, &pool, show)
    };
    // On a thread that may block, so that Ctrl-C ends the command.
    let mut problems = tokio::task::spawn_blocking(replay).await?;
    let num_played = match folder.entrant(&result, class) {
        Ok(Some(entrant)) => {
            problems.extend(play(args, &folder, &result, class, &entrant).await?);
            if args.all { class.games } else { num_recordings }
        }
        Ok(None) => 0,
        Err(problem) => {
            problems.push(problem);
            0
        }
    };
    Ok(Verification { result, class, num_played, problems })
}

/// Lets the player play its games again.
async fn play(
    args: &VerifyArgs,
    folder: &Folder,
    result: &BenchmarkResult,
    class: &Class,
    entrant: &Entrant,
) -> anyhow::Result<Vec<Problem>> {
    let client = args.playing.connect().await?;
    let (name, request) = (&entrant.player.name, entrant.request(class));
    let pairs: Vec<(u32, u32)> = (0..result.num_recordings(class)).map(|game| (0, game)).collect();
    let mut problems = folder.compare_choices(name, &client.record(&request, &pairs).await?);
    if args.all {
        let mut progress = GamesProgress::new(name);
        let evaluated = client.evaluate_all(&request, |now| progress.show(now)).await?;
        problems.extend(compare_games(result, &evaluated));
    }
    Ok(problems)
}

impl Verification {
    fn to_text(&self) -> String {
        let Verification { result, class, num_played, problems } = self;
        let mut text: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
        let name = &result.player.name;
        if problems.is_empty() {
            let Summary { lines, num_games, num_cut, .. } = Summary::of(class, &result.games);
            text += &format!(
                "{NAME}, class {}, {}: {name} clears {} lines per game (95 % {}) in {}, {} cut\n",
                class.name,
                class.size(),
                number(lines.mean),
                interval(&lines),
                count(num_games, "game"),
                grouped(num_cut as f64),
            );
        }
        let recordings = count(result.num_recordings(class).into(), "recording");
        let played = match num_played {
            0 => String::new(),
            played => format!(", {} played again by {name}", count((*played).into(), "game")),
        };
        let found = match problems.len() {
            0 => "nothing is wrong".to_owned(),
            problems => format!("{} found", count(problems as u64, "problem")),
        };
        text + &format!("{recordings} replayed{played}: {found}\n")
    }

    fn to_json(&self) -> serde_json::Value {
        let Verification { result, class, num_played, problems } = self;
        let problem = |Problem { file, what }: &Problem| json!({"file": file, "problem": what});
        json!({
            "valid": problems.is_empty(),
            "problems": problems.iter().map(problem).collect::<Vec<_>>(),
            "benchmark": result.benchmark,
            "class": class.name,
            "player": result.player.name,
            "summary": problems.is_empty().then_some(&result.summary),
            "num_recordings": result.num_recordings(class),
            "num_played_again": num_played,
        })
    }
}
