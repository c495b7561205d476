//! Plays games with a bot, with progress, recordings and a report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use super::args::HostArgs;
use super::report::HostingReport;
use super::rules::rules;
use crate::cli::interrupt::Interrupt;
use crate::cli::options::check_writable;
use crate::cli::output::{print, say};
use crate::cli::progress::GamesProgress;
use crate::cli::recordings;
use crate::text::numbers::count;
use tetrion_client::EvaluationProgress;
use tetrion_toolkit::tbp::{BotCommand, End, HostedGame, Hosting, HostingProgress, play};

/// Plays the games, and prints the results.
///
/// # Errors
/// If the rules cannot be played, the program cannot be started, or a file cannot be written.
pub fn run(args: &HostArgs) -> anyhow::Result<ExitCode> {
    let rules = rules(&args.rules, None)?;
    let (path, words) = args.program.split_first().expect("it is required");
    let hosting = Hosting {
        program: BotCommand { path: path.clone(), args: words.to_vec() },
        rules: rules.rules,
        games: args.games,
        seed: args.seed,
        max_pieces: args.pieces,
        jobs: args.jobs,
        think: Duration::from_millis(args.think),
        patience: Duration::from_secs_f64(args.timeout),
    };
    let files = args.record.as_deref().map(|path| Files::new(path, args.games)).transpose()?;
    let interrupt = Interrupt::watch_every_end()?;
    let mut progress = GamesProgress::new(&Path::new(path).file_name().unwrap_or(path).to_string_lossy());
    let games = play(&hosting, |HostingProgress { games, pieces }| {
        let (games, num_games) = (games.into(), hosting.games.into());
        progress.show(EvaluationProgress { games, num_games, pieces, ..EvaluationProgress::default() });
        !interrupt.is_pressed()
    });
    drop(progress);
    let games = games?;
    let report = HostingReport::new(&hosting, rules.preset, &games);
    print(&if args.json { report.to_json() } else { report.to_text() })?;
    if let Some(files) = files {
        let written = games.iter().try_for_each(|game| recordings::write(&files.of(game), &game.recording));
        written?;
        say(format_args!("recorded in {}", files.path.display()));
    }
    if let Some(code) = interrupt.exit_code() {
        say(format_args!("stopped; {} of {} had ended", games.len(), count(hosting.games.into(), "game")));
        return Ok(ExitCode::from(code));
    }
    let has_lost = games.iter().any(|game| matches!(game.end, End::Lost(_)));
    Ok(ExitCode::from(u8::from(has_lost)))
}

/// Where recordings go: to one file, or to a folder with a file per game.
struct Files {
    path: PathBuf,
    /// Number of digits of the game numbers in file names; `None` for a single file.
    digits: Option<usize>,
}

impl Files {
    fn new(path: &Path, games: u32) -> anyhow::Result<Files> {
        let is_file = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let digits = (games > 1 || !is_file).then(|| (games - 1).to_string().len());
        if digits.is_some() {
            fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        } else {
            check_writable(path)?;
        }
        Ok(Files { path: path.to_path_buf(), digits })
    }

    fn of(&self, game: &HostedGame) -> PathBuf {
        let number = game.game;
        self.digits.map_or(self.path.clone(), |digits| self.path.join(format!("game-{number:0digits$}.json")))
    }
}
