//! `tetrion-lab benchmark`: measures one player by the protocol of its class, and writes a result that others can check.
//!
//! The games are played through a server, like every other evaluation. A player outside this program brings recordings of
//! all its games instead, which are replayed. No flag changes the protocol.

mod args;
mod report;

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::Context;
use prost_types::Timestamp;
use serde_json::Value;

pub use self::args::BenchmarkArgs;
use tetrion::benchmark::{
    BenchmarkPlayer, BenchmarkResult, Entrant, Folder, GameNumbers, NAME, OutsideGames, RESULT,
};
use tetrion::cli::interrupt::INTERRUPTED;
use tetrion::cli::output::{print, say};
use tetrion::cli::progress::{GamesProgress, WorkProgress};
use tetrion::cli::search::SearchArgs;
use tetrion::input::UsageError;
use tetrion::pool::Pool;
use tetrion::text::numbers::grouped;
use tetrion::trainer::games::recorded;

/// Measures the player.
///
/// # Errors
/// For a player or recordings that do not belong to the class, a refusal of the server, or files that cannot be written.
pub fn run(args: BenchmarkArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        tokio::select! {
            done = benchmark(&args) => done.map(|()| ExitCode::SUCCESS),
            _ = tokio::signal::ctrl_c() => {
                say("stopped; there is no result");
                Ok(ExitCode::from(INTERRUPTED))
            }
        }
    });
    runtime.shutdown_background();
    code
}

async fn benchmark(args: &BenchmarkArgs) -> anyhow::Result<()> {
    let class = args.class;
    let folder = Folder::new(&args.out);
    let cannot_write = || format!("cannot write {}", args.out.display());
    let (player, games) = match (&args.recordings, &args.player) {
        (Some(recordings), _) => read(args, recordings, &folder).await?,
        (None, Some(player)) => play(args, player, &folder).await?,
        (None, None) => unreachable!("clap requires one of them"),
    };
    let result = BenchmarkResult::new(class, player, args.command(), games);
    let table = report::table(&result, class);
    folder.write("table.md", &table).with_context(cannot_write)?;
    folder.write("CITATION.md", &report::citation(&result, class, &year())).with_context(cannot_write)?;
    // A folder without this file is no result.
    folder.write(RESULT, &result.to_json()).with_context(cannot_write)?;
    say(format_args!("the result is in {}; tetrion verify checks it", args.out.display()));
    print(&if args.json { to_json(&result) } else { table })
}

/// Plays the games of the class, and records the first ones.
async fn play(
    args: &BenchmarkArgs,
    player: &str,
    folder: &Folder,
) -> anyhow::Result<(BenchmarkPlayer, Vec<GameNumbers>)> {
    let class = args.class;
    let mut entrant = Entrant::new(class, player, args.search.choice())?;
    if let Some(name) = &args.name {
        entrant.player.name.clone_from(name);
        entrant.player.check_name().map_err(|problem| UsageError(format!("--{problem}")))?;
    }
    let client = args.playing.connect().await?;
    folder.create()?;
    let name = &entrant.player.name;
    let request = entrant.request(class);
    let mut progress = GamesProgress::new(&format!("{name} in {NAME}, class {}", class.name));
    let evaluated = client.evaluate_all(&request, |now| progress.show(now)).await?;
    drop(progress);
    let first: Vec<u32> = (0..class.recordings).collect();
    let recordings = recorded(&client, &request, &evaluated, name, &first).await?;
    for (&game, recording) in first.iter().zip(&recordings) {
        folder.write_recording(game, recording).context("cannot write a recording")?;
    }
    if let Some((file, text)) = &entrant.file {
        folder.write(file, text).with_context(|| format!("cannot write {file}"))?;
    }
    Ok((entrant.player, evaluated.games(0).iter().map(GameNumbers::from).collect()))
}

/// Checks the recordings of a player outside this program, and copies them.
async fn read(
    args: &BenchmarkArgs,
    recordings: &Path,
    folder: &Folder,
) -> anyhow::Result<(BenchmarkPlayer, Vec<GameNumbers>)> {
    if args.search != SearchArgs::default() {
        let problem = "--recordings are of a player outside this program: remove the flags of the search";
        return Err(UsageError(problem.to_owned()).into());
    }
    let class = args.class;
    let name = args.name.clone().unwrap_or_default();
    let player = BenchmarkPlayer::recorded(&name).map_err(|problem| UsageError(format!("--{problem}")))?;
    let pool = Pool::new(args.playing.computing.threads as usize)?;
    let source = recordings.to_owned();
    let check = move || {
        let mut progress = WorkProgress::new("recordings");
        OutsideGames::read(class, &source, &pool, |done| {
            progress.show(&[format!("{} of {}", grouped(done as f64), grouped(class.games.into()))]);
        })
    };
    // On a thread that may block, so that Ctrl-C ends the command.
    let outside = tokio::task::spawn_blocking(check).await??;
    folder.create()?;
    for game in 0..class.games {
        let mut recording = outside.recording(game)?;
        recording.player.clone_from(&name);
        recording.origin = format!("game {game} of {NAME}, class {}", class.name);
        folder.write_recording(game, &recording).context("cannot write a recording")?;
    }
    Ok((player, outside.games))
}

/// The year in UTC, for citations.
fn year() -> String {
    let now = Timestamp::from(SystemTime::now()).to_string();
    now.split('-').next().unwrap_or_default().to_owned()
}

/// The result as a JSON object, without its games.
fn to_json(result: &BenchmarkResult) -> String {
    let mut value: Value = serde_json::from_str(&result.to_json()).expect("it was just written");
    if let Some(object) = value.as_object_mut() {
        object.remove("games");
    }
    format!("{value}\n")
}
