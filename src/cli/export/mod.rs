//! `tetrion export`: renders a recording as pictures.
//!
//! The ending of the output's name selects the format: an animated GIF or SVG, a film, a still, text, or a folder of
//! stills.

mod film;

use std::fs;
use std::io::BufWriter;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use self::film::Film;
use super::interrupt::Interrupt;
use super::output::say;
use super::recordings::{self, PaletteArg};
use crate::input::UsageError;
use tetrion_toolkit::files;
use tetrion_toolkit::picture::{
    CELL_SIZES, Canvas, ColourScheme, GifWriter, Layout, draw, moment, svg, text, write_png,
};
use tetrion_toolkit::recording::Replay;

/// Most pictures per export. At one piece per second this is an hour, and viewers can still open the file.
const MAX_PICTURES: usize = 4_000;
/// Duration of the last picture, in hundredths of a second.
const LAST_PICTURE: u32 = 250;

/// The options of `tetrion export`.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Recording, in JSON or binary form
    pub file: PathBuf,

    /// Output: NAME.gif, NAME.svg, NAME.mp4 (needs ffmpeg), NAME.png (one step), NAME.txt, or a folder NAME/ with one
    /// PNG per step
    #[arg(long, short, value_name = "OUT")]
    pub out: PathBuf,

    /// Size of a cell in pixels
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(i64::from(*CELL_SIZES.start())..=i64::from(*CELL_SIZES.end())))]
    pub cell: u32,

    /// Pieces per second, 0.1 to 50
    #[arg(long, value_name = "N", default_value_t = 4.0)]
    pub pieces_per_second: f64,

    /// First step; 0 is the start of the game
    #[arg(long, value_name = "STEP", conflicts_with_all = ["last", "at"])]
    pub from: Option<usize>,

    /// Last step [default: the end of the game]
    #[arg(long, value_name = "STEP", conflicts_with_all = ["last", "at"])]
    pub to: Option<usize>,

    /// Export only the last N steps
    #[arg(long, value_name = "N", conflicts_with = "at")]
    pub last: Option<usize>,

    /// Export only this step, as a still
    #[arg(long, value_name = "STEP")]
    pub at: Option<usize>,

    #[command(flatten)]
    pub palette: PaletteArg,
}

/// Output format, selected by the ending of the output's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputFormat {
    Gif,
    Svg,
    Film,
    Still,
    Stills,
    Text,
}

/// Exports a recording. A recording that differs from its replay is exported up to the difference, with a warning.
///
/// # Errors
/// [`UsageError`] if the options contradict each other or the recording; or if a file cannot be read or written.
pub fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let kind = kind(&args.out)?;
    if !(0.1..=50.0).contains(&args.pieces_per_second) {
        let problem = format!("--pieces-per-second is {}, expected 0.1 to 50", args.pieces_per_second);
        return Err(UsageError(problem).into());
    }
    let mut replay = recordings::replay(&args.file)?;
    if let Some(difference) = replay.difference() {
        say(format_args!("warning: the replay differs from the recording: {difference}"));
    }
    let steps = chosen(args, kind, replay.num_steps())?;
    let pictures = Pictures::new(args, &replay, &steps);
    let out = &args.out;
    let written = match kind {
        OutputFormat::Gif => pictures.write_gif(&mut replay, steps, out),
        OutputFormat::Svg => pictures.write_svg(&mut replay, steps, out),
        OutputFormat::Film => {
            let interrupt = Interrupt::watch_every_end()?;
            let written = pictures.write_film(&mut replay, steps, out, &interrupt);
            if let Some(code) = interrupt.exit_code() {
                return Ok(ExitCode::from(code));
            }
            written
        }
        OutputFormat::Still => pictures.write_still(&mut replay, *steps.end(), out),
        OutputFormat::Stills => pictures.write_stills(&mut replay, steps, out),
        OutputFormat::Text => write_text(&mut replay, steps, out),
    };
    written.with_context(|| format!("cannot write {}", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn kind(out: &Path) -> Result<OutputFormat, UsageError> {
    let is_folder = out.is_dir() || out.as_os_str().to_string_lossy().ends_with(std::path::MAIN_SEPARATOR);
    if is_folder {
        return Ok(OutputFormat::Stills);
    }
    let ending = out.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    Ok(match ending.as_str() {
        "gif" => OutputFormat::Gif,
        "svg" => OutputFormat::Svg,
        "mp4" => OutputFormat::Film,
        "png" => OutputFormat::Still,
        "txt" => OutputFormat::Text,
        _ => {
            let problem = format!("--out is {}", out.display());
            let expected =
                "expected a name that ends in .gif, .svg, .mp4, .png or .txt, or a folder that ends in /";
            return Err(UsageError(format!("{problem}, {expected}")));
        }
    })
}

/// The steps that the options select in a game with this many steps.
fn chosen(
    args: &ExportArgs,
    kind: OutputFormat,
    num_steps: usize,
) -> Result<RangeInclusive<usize>, UsageError> {
    let check = |flag, step: Option<usize>| match step {
        Some(step) if step > num_steps => {
            Err(UsageError(format!("{flag} is {step}, expected a step from 0 to {num_steps}")))
        }
        step => Ok(step),
    };
    let to = check("--to", args.to)?.unwrap_or(num_steps);
    let from = check("--from", args.from)?.unwrap_or(0);
    if from > to {
        return Err(UsageError(format!("--from is {from}, expected at most {to}, where it ends")));
    }
    let from = args.last.map_or(from, |last| num_steps.saturating_sub(last));
    let steps = check("--at", args.at)?.map_or(from..=to, |at| at..=at);
    let pictures = steps.end() - steps.start() + 1;
    if pictures > MAX_PICTURES && kind != OutputFormat::Still {
        let problem = format!("{pictures} steps give one picture each, expected at most {MAX_PICTURES}");
        return Err(UsageError(format!("{problem}: choose with --from and --to, or with --last")));
    }
    Ok(steps)
}

/// The conversion of steps to pictures.
struct Pictures {
    layout: Layout,
    palette: ColourScheme,
    /// Duration of each picture but the last, in hundredths of a second.
    hundredths: f64,
}

impl Pictures {
    fn new(args: &ExportArgs, replay: &Replay, steps: &RangeInclusive<usize>) -> Pictures {
        let recording = replay.recording();
        let rules = &recording.setup.rules;
        let has_caption = recording.has_words() || replay.course().end().is_some();
        // With keys, a piece takes several steps.
        let steps_per_piece = match recording.outcome.pieces {
            0 => 1.0,
            pieces => (recording.actions.len() as f64 / pieces as f64).max(1.0),
        };
        let is_moving = steps.start() < steps.end();
        let hundredths = if is_moving { 100.0 / args.pieces_per_second / steps_per_piece } else { 100.0 };
        let layout = Layout::new(rules, args.cell, has_caption);
        Pictures { layout, palette: args.palette.palette.into(), hundredths }
    }

    fn marks(&self, replay: &mut Replay, step: usize) -> Vec<tetrion_toolkit::picture::Mark> {
        draw(&self.layout, &moment(replay, step))
    }

    fn canvas(&self, replay: &mut Replay, step: usize) -> Canvas {
        Canvas::painted(&self.layout, &self.marks(replay, step))
    }

    /// Duration of each picture in hundredths of a second, at least `least`. Rounding errors do not add up.
    fn times(&self, steps: &RangeInclusive<usize>, least: u32) -> impl Iterator<Item = u32> + use<> {
        let each = self.hundredths.max(least.into());
        let pictures = steps.end() - steps.start();
        let end = move |n: usize| (n as f64 * each).round() as u32;
        (0..pictures).map(move |n| end(n + 1) - end(n)).chain([LAST_PICTURE])
    }

    fn write_gif(&self, replay: &mut Replay, steps: RangeInclusive<usize>, out: &Path) -> anyhow::Result<()> {
        files::write_with(out, |file| {
            let mut gif = GifWriter::new(BufWriter::new(file), &self.layout, self.palette)?;
            // Browsers slow down pictures that are shorter than two hundredths of a second.
            let times = self.times(&steps, 2);
            for (step, hundredths) in steps.zip(times) {
                gif.add(self.canvas(replay, step), hundredths.min(u16::MAX.into()) as u16)?;
            }
            Ok(gif.finish()?)
        })
    }

    fn write_svg(&self, replay: &mut Replay, steps: RangeInclusive<usize>, out: &Path) -> anyhow::Result<()> {
        let times = self.times(&steps, 1);
        let pictures: Vec<_> =
            steps.zip(times).map(|(step, time)| (self.marks(replay, step), time)).collect();
        Ok(files::write(out, svg::svg(&self.layout, self.palette, &pictures).as_bytes())?)
    }

    fn write_film(
        &self,
        replay: &mut Replay,
        steps: RangeInclusive<usize>,
        out: &Path,
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        files::write_by_name(out, |name| {
            let mut film = Film::begin(name, &self.layout, self.palette, 100.0 / self.hundredths)?;
            let last = *steps.end();
            for step in steps {
                interrupt.check()?;
                film.add(&self.canvas(replay, step))?;
            }
            let still = self.canvas(replay, last);
            for _ in 0..(f64::from(LAST_PICTURE) / self.hundredths) as usize {
                film.add(&still)?;
            }
            film.finish()
        })
    }

    fn write_still(&self, replay: &mut Replay, step: usize, out: &Path) -> anyhow::Result<()> {
        let mut png = Vec::new();
        write_png(&mut png, &self.canvas(replay, step), self.palette)?;
        Ok(files::write(out, &png)?)
    }

    fn write_stills(
        &self,
        replay: &mut Replay,
        steps: RangeInclusive<usize>,
        out: &Path,
    ) -> anyhow::Result<()> {
        fs::create_dir_all(out)?;
        let digits = steps.end().to_string().len();
        for step in steps {
            self.write_still(replay, step, &out.join(format!("step-{step:0digits$}.png")))?;
        }
        Ok(())
    }
}

fn write_text(replay: &mut Replay, steps: RangeInclusive<usize>, out: &Path) -> anyhow::Result<()> {
    let rules = &replay.recording().setup.rules.clone();
    let drawing = |step| format!("step {step}\n{}\n", text::text(&moment(replay, step), rules, None));
    Ok(files::write(out, steps.map(drawing).collect::<String>().as_bytes())?)
}
