//! `tetrion replay`: replays a recording, checks it, and draws it; on a terminal, forward and back.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use super::output::{ReaderLeft, is_without_colours, print, print_drawing};
use super::recordings::{self, PaletteArg};
use super::terminal::{self, Exit};
use crate::input::UsageError;
use crate::viewers::{Palette, ReplayViewer};
use tetrion_core::engine::EpisodeEnd;
use tetrion_toolkit::picture::{ColourScheme, moment, text};
use tetrion_toolkit::recording::{Outcome, Replay};

const EXIT_CODES: &str = "\
Exit codes: 0 the replay matches the recording; 1 it differs; 2 trouble, such as a file that is not a recording";

/// The options of `tetrion replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct ReplayArgs {
    /// Recording, in JSON or binary form
    pub file: PathBuf,

    /// Print the playfield at this step; 0 is the start of the game
    #[arg(long, value_name = "STEP", conflicts_with = "step")]
    pub at: Option<usize>,

    /// Print the playfield at every step
    #[arg(long)]
    pub step: bool,

    #[command(flatten)]
    pub palette: PaletteArg,

    /// Print one JSON object, without playfields
    #[arg(long, conflicts_with_all = ["at", "step"])]
    pub json: bool,
}

/// Replays the recording: on a terminal as a screen, unless a flag asks for text. The exit code is 1 if the recording
/// differs from its replay. As with `diff`, trouble has another exit code: every error is a [`UsageError`].
///
/// # Errors
/// If the file cannot be read, contains no recording or no such step, or if stdout cannot be written.
pub fn run(args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    show(args).map_err(|error| match error.is::<ReaderLeft>() {
        true => error,
        false => UsageError(format!("{error:#}")).into(),
    })
}

/// Replays and prints the recording.
fn show(args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let mut replay = recordings::replay(&args.file)?;
    let steps = replay.num_steps();
    if let Some(step) = args.at.filter(|step| *step > steps) {
        return Err(UsageError(format!("--at is {step}, expected a step from 0 to {steps}")).into());
    }
    if args.json {
        print(&format!("{}\n", to_json(&replay)))?;
    } else if args.at.is_none() && !args.step && terminal::check().is_ok() {
        let palette = match palette(args) {
            Some(ColourScheme::Usual) => Palette::Usual,
            Some(ColourScheme::ColourBlind) => Palette::ColourBlind,
            None => Palette::Ascii,
        };
        let left = terminal::run(&mut ReplayViewer::new(&mut replay, palette))?;
        let printed = print(&verdict(&replay));
        if left != Exit::Quit {
            return left.exit_code(printed);
        }
        printed?;
    } else {
        let palette = palette(args);
        let rules = replay.recording().setup.rules;
        let shown = match (args.at, args.step) {
            (Some(step), _) => step..=step,
            (None, true) => 0..=steps,
            (None, false) => steps..=steps,
        };
        for step in shown {
            let drawing = text::text(&moment(&mut replay, step), &rules, palette);
            print_drawing(&if args.step { format!("step {step}\n{drawing}\n") } else { drawing })?;
        }
        print(&verdict(&replay))?;
    }
    Ok(if replay.difference().is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The palette, if stdout is a terminal and colours are on.
fn palette(args: &ReplayArgs) -> Option<ColourScheme> {
    (std::io::stdout().is_terminal() && !is_without_colours()).then(|| args.palette.palette.into())
}

fn verdict(replay: &Replay) -> String {
    let recording = replay.recording();
    let mut text = String::new();
    let opponent = recording.opponent.as_ref().map(|side| ("opponent", &side.player));
    let player = [("player", &recording.player)].into_iter().chain(opponent);
    for (name, words) in player.chain([("origin", &recording.origin)]) {
        if !words.is_empty() {
            text.push_str(&format!("{name}: {words}\n"));
        }
    }
    match replay.difference() {
        None => text.push_str("the replay is as recorded\n"),
        Some(difference) => text.push_str(&format!("the replay differs from the recording: {difference}\n")),
    }
    text
}

fn to_json(replay: &Replay) -> serde_json::Value {
    let recording = replay.recording();
    let side = |player: &str, Outcome { pieces, lines, score, end, .. }: &Outcome| json!({"player": player, "pieces": pieces, "lines": lines, "score": score, "end": EpisodeEnd::name(*end)});
    let mut summary = side(&recording.player, &recording.outcome);
    summary["same"] = replay.difference().is_none().into();
    summary["difference"] = replay.difference().map(ToString::to_string).into();
    summary["origin"] = recording.origin.as_str().into();
    summary["steps"] = recording.actions.len().into();
    let opponent = recording.opponent.as_ref();
    summary["opponent"] = opponent.map_or_else(Default::default, |other| side(&other.player, &other.outcome));
    summary
}
