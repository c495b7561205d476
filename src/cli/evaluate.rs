//! `tetrion evaluate`: how good are these controllers? Many games, means with intervals.
//!
//! Controllers are evaluated one after the other, so that each has a speed of its own, and on the same pieces, so that
//! they can be compared game by game: the difference of two games on the same pieces varies less than the games do.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use serde_json::{Value, json};

use super::connection::{Connection, ConnectionArgs};
use super::interrupt::INTERRUPTED;
use super::numbers::{grouped, short};
use super::options::{UsageError, games_range, read_text};
use super::output::{print, say};
use super::progress::GamesProgress;
use super::rules::{RulesArgs, changes, in_words};
use super::weights::{RulesNote, Weights};
use crate::agents::{AgentRow, CONTROLLER_PARAMETERS, Parameter};
use crate::client::{
    Client, ClientError, Evaluated, EvaluationRequest, Features, Game, NamedPolicy, Policies, RulesChoice,
    Seeds,
};
use crate::summary::Statistics;
use crate::wire::limits::MAX_GAMES;

/// The playfield where neither a flag nor a file of weights names one, under the rules of the literature. On 10 x 20 a good
/// controller plays a single game for minutes or hours.
const DEFAULT_SIZE: (u32, u32) = (10, 10);
/// Games of all controllers together. Each takes 64 bytes until the end: 1 GiB of them.
const MAX_ALL_GAMES: u64 = 16 * MAX_GAMES;
/// Cells of the longest bar.
const BAR: usize = 24;

/// The options of `tetrion evaluate`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("rules", |arg| arg.help("The rules preset [default: the rules of the first weights.json, else simplified]")),
    mut_arg("width", |arg| arg.help("Columns of the playfield [default: 10, or the rules']")),
    mut_arg("height", |arg| arg.help("Rows of the playfield [default: 10, or the rules']")),
    mut_arg("preview", |arg| arg.help("Next pieces that are shown [default: the rules', or as many as --lookahead wants]")),
)]
pub struct EvaluateArgs {
    /// A controller or an agent by name, such as dt-10 or monte_carlo; give several to compare them on the same pieces
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub controller: Vec<String>,

    /// A file of weights: weights.json of a run, or plain numbers, which need --features
    #[arg(long, value_name = "FILE")]
    pub weights: Vec<PathBuf>,

    /// What plain numbers belong to: a feature set, or features of your own with commas between them
    #[arg(long, value_name = "SET", requires = "weights")]
    pub features: Option<String>,

    /// Games that monte_carlo and monte_carlo_coded play at random for each placement [default: 50]
    #[arg(long, value_name = "N")]
    pub playouts: Option<u32>,

    /// Next pieces that linear controllers take into account
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub lookahead: u32,

    /// What a placement that ends the game is worth to linear controllers: `score`, what its features say; `avoid`, less than
    /// any other [default: what a weights.json or a controller says of itself, avoid for plain numbers]
    #[arg(long, value_name = "HOW")]
    pub terminal: Option<Terminal>,

    /// Under which rules.
    #[command(flatten)]
    pub rules: RulesArgs,

    /// Games a controller
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = games_range())]
    pub games: u32,

    /// The seed from which those of the games are drawn
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Cut a game after this many pieces; 0: only the server's limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_pieces: u64,

    /// Cut a game after this many steps, which are keys under rules of key presses; 0: only the server's limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_steps: u64,

    /// Write a line for every game to this file
    #[arg(long, value_name = "FILE.csv")]
    pub per_game: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Which servers play.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// What a placement that ends the game is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Terminal {
    /// What its features say.
    Score,
    /// Less than any other.
    Avoid,
}

/// An agent or a controller whose games are played.
struct Contestant {
    name: String,
    policies: Policies,
}

impl EvaluateArgs {
    fn avoid_terminal(&self) -> Option<bool> {
        self.terminal.map(|terminal| terminal == Terminal::Avoid)
    }
}

/// The result of one of them.
#[derive(Clone, Debug)]
pub struct Score {
    /// The name of the contestant.
    pub name: String,
    /// Lines a game.
    pub lines: Statistics,
    /// Pieces a game.
    pub pieces: Statistics,
    /// Points a game, as the rules score them.
    pub points: Statistics,
    /// Games.
    pub games: u64,
    /// Games that a limit cut; the mean is a lower bound if there are any.
    pub truncated: u64,
    /// Pieces a second, on all threads together.
    pub pieces_per_second: f64,
}

impl Score {
    /// Sums up at least one game.
    pub fn of(name: &str, games: &[Game], seconds: f64) -> Score {
        let statistics =
            |number: fn(&Game) -> f64| Statistics::of(games.iter().map(number)).expect("at least one game");
        let pieces = statistics(|game| game.pieces as f64);
        Score {
            name: name.to_owned(),
            lines: statistics(|game| game.lines as f64),
            pieces,
            points: statistics(|game| game.score),
            games: games.len() as u64,
            truncated: games.iter().filter(|game| game.truncated).count() as u64,
            pieces_per_second: pieces.mean * games.len() as f64 / seconds,
        }
    }

    /// The object that `--json` prints.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "games": self.games,
            "mean_lines": self.lines.mean,
            "std_lines": self.lines.spread.map(|spread| spread.std),
            "ci95": self.lines.spread.map(|spread| spread.ci95),
            "mean_pieces": self.pieces.mean,
            "mean_score": self.points.mean,
            "truncated_games": self.truncated,
            "lower_bound": self.truncated > 0,
            "pieces_per_second": self.pieces_per_second,
        })
    }
}

/// Evaluates, and prints a table or an object.
///
/// # Errors
/// What the server refuses, with what to do next; a file that cannot be read or written.
pub fn run(args: EvaluateArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        tokio::select! {
            evaluated = evaluate(&args) => evaluated.map(|()| ExitCode::SUCCESS),
            _ = tokio::signal::ctrl_c() => {
                say("stopped; nothing has been written");
                Ok(ExitCode::from(INTERRUPTED))
            }
        }
    });
    runtime.shutdown_background();
    code
}

async fn evaluate(args: &EvaluateArgs) -> anyhow::Result<()> {
    let (contestants, rules) = contestants(args)?;
    if let Some(path) = &args.per_game {
        check_writable(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let connection = Connection::open(&args.connection).await?;
    let mut rules_version = String::new();
    let mut evaluations = Vec::new();
    let mut scores = Vec::new();
    for Contestant { name, policies } in contestants {
        let request = EvaluationRequest {
            rules: rules.clone(),
            rules_version,
            policies,
            seeds: Seeds::Common { seed: args.seed, count: args.games },
            max_pieces: args.max_pieces,
            max_steps: args.max_steps,
        };
        let start = Instant::now();
        let evaluated = play(&connection.client, &request, &name).await?;
        scores.push(Score::of(&name, &evaluated.games[0], start.elapsed().as_secs_f64()));
        // The next contestant plays the same game, or not at all.
        rules_version = evaluated.started.rules_version.clone();
        evaluations.push(evaluated);
    }
    let differences = differences(&scores, &evaluations);
    let text = if args.json {
        format!("{}\n", to_json(args, &scores, &differences, &evaluations[0]))
    } else {
        to_text(args, &scores, &differences, &evaluations[0], std::io::stdout().is_terminal())
    };
    // First the output that a full disk cannot stop.
    print(&text)?;
    match &args.per_game {
        Some(path) => write_games(path, &scores, &evaluations)
            .with_context(|| format!("cannot write {}", path.display())),
        None => Ok(()),
    }
}

async fn play(client: &Client, request: &EvaluationRequest, name: &str) -> anyhow::Result<Evaluated> {
    let mut progress = GamesProgress::new(name);
    let evaluated = client.evaluate_all(request, |now| progress.show(now)).await;
    drop(progress);
    evaluated.map_err(|error| advice(error, name))
}

/// Says what to do next, where the server cannot know it.
fn advice(error: ClientError, name: &str) -> anyhow::Error {
    let ClientError::Refused { reason, .. } = &error else { return error.into() };
    let hint = match reason.as_str() {
        "NOT_IMPLEMENTED" => "choose other rules with --rules; this server cannot play these yet",
        "INVALID_TENSOR" => "a weight is expected for each feature, a finite number",
        "FEATURE_SET_MISMATCH" => "the weights were made for another version of these features: train again",
        "RULES_VERSION_MISMATCH" => "the servers are of different versions: use servers of one version",
        _ => return anyhow::Error::new(error).context(format!("cannot evaluate {name}")),
    };
    anyhow::Error::new(error).context(format!("cannot evaluate {name} ({hint})"))
}

/// The contestants, and the rules they play under.
fn contestants(args: &EvaluateArgs) -> anyhow::Result<(Vec<Contestant>, RulesChoice)> {
    let mut contestants: Vec<Contestant> = args.controller.iter().map(|name| named(name, args)).collect();
    check_parameters(args)?;
    let mut noted: Option<RulesNote> = None;
    let mut plain_numbers = false;
    for path in &args.weights {
        let name = path.display().to_string();
        let (policies, rules) = read_weights(path, args).with_context(|| name.clone())?;
        plain_numbers |= rules.is_none();
        noted = noted.or(rules);
        contestants.push(Contestant { name, policies });
    }
    if args.features.is_some() && !plain_numbers {
        let problem = "--features is for plain numbers; a weights.json names its features itself";
        return Err(UsageError(problem.to_owned()).into());
    }
    if contestants.is_empty() {
        let problem = "nothing to evaluate: name a controller, such as --controller dt-10, or --weights FILE";
        return Err(UsageError(problem.to_owned()).into());
    }
    let all_games = contestants.len() as u64 * u64::from(args.games);
    if all_games > MAX_ALL_GAMES {
        let problem = format!("{} controllers make {all_games} games", contestants.len());
        return Err(UsageError(format!("{problem}, expected at most {MAX_ALL_GAMES}: lower --games")).into());
    }
    let preset = args.rules.rules.clone().or_else(|| noted.as_ref().map(|rules| rules.preset.clone()));
    let preset = preset.unwrap_or_default();
    // What a file says is for the rules of that file.
    let mut others = match noted.filter(|rules| rules.preset == preset) {
        Some(rules) => rules.choice()?,
        None if preset.is_empty() || preset == "simplified" => {
            let (width, height) = DEFAULT_SIZE;
            RulesChoice { width: Some(width), height: Some(height), ..Default::default() }
        }
        None => RulesChoice::default(),
    };
    others.preset = preset;
    if args.lookahead > 0 {
        others.preview = Some(args.lookahead);
    }
    Ok((contestants, args.rules.choice(others)))
}

/// The contestant of this name, with those of the flags that apply to it.
fn named(name: &str, args: &EvaluateArgs) -> Contestant {
    let policy = NamedPolicy {
        name: name.to_owned(),
        playouts: args.playouts.filter(|_| takes(name, Parameter::Playouts)),
        lookahead: (args.lookahead > 0 && takes(name, Parameter::Lookahead)).then_some(args.lookahead),
        avoid_terminal: args.avoid_terminal().filter(|_| takes(name, Parameter::Terminal)),
    };
    Contestant { name: name.to_owned(), policies: Policies::Named(vec![policy]) }
}

/// Refuses parameters that none of the contestants takes.
fn check_parameters(args: &EvaluateArgs) -> Result<(), UsageError> {
    let linear = "linear controllers; name one with --controller, or give --weights";
    for (flag, given, parameter, whose) in [
        (
            "--playouts",
            args.playouts.is_some(),
            Parameter::Playouts,
            "the agents monte_carlo and monte_carlo_coded; name one with --controller",
        ),
        ("--lookahead", args.lookahead > 0, Parameter::Lookahead, linear),
        ("--terminal", args.terminal.is_some(), Parameter::Terminal, linear),
    ] {
        let of_weights = !args.weights.is_empty() && parameter != Parameter::Playouts;
        if given && !of_weights && !args.controller.iter().any(|name| takes(name, parameter)) {
            return Err(UsageError(format!("{flag} is for {whose}")));
        }
    }
    Ok(())
}

/// Whether an agent takes a parameter; a name that is not an agent's is a controller's.
fn takes(name: &str, parameter: Parameter) -> bool {
    let row = AgentRow::named(name);
    row.map_or(CONTROLLER_PARAMETERS, |row| row.parameters).contains(&parameter)
}

/// A controller from a file: `weights.json`, or numbers between spaces, commas, lines or brackets.
fn read_weights(path: &Path, args: &EvaluateArgs) -> anyhow::Result<(Policies, Option<RulesNote>)> {
    let text = read_text(path)?;
    let lookahead = args.lookahead;
    if text.trim_start().starts_with('{') {
        let Weights { feature_set, feature_names, weights, terminal, rules, .. } = Weights::from_json(&text)?;
        let features = match feature_set.name {
            name if name.is_empty() => Features::List(feature_names),
            name => Features::Set { name, version: feature_set.version },
        };
        let avoid_terminal = args.avoid_terminal().unwrap_or(terminal != "score");
        let rows = vec![weights];
        return Ok((Policies::Matrix { features, rows, avoid_terminal, lookahead }, Some(rules)));
    }
    let Some(features) = &args.features else {
        let problem =
            "it holds plain numbers: say with --features what they belong to, such as --features bcts8";
        return Err(UsageError(problem.to_owned()).into());
    };
    let numbers =
        text.split(|c: char| c.is_whitespace() || ",;[]".contains(c)).filter(|word| !word.is_empty());
    let parse = |word: &str| word.parse::<f64>().with_context(|| format!("{word:?} is not a number"));
    let rows = vec![numbers.map(parse).collect::<anyhow::Result<_>>()?];
    let avoid_terminal = args.avoid_terminal().unwrap_or(true);
    let policies = Policies::Matrix { features: read_features(features), rows, avoid_terminal, lookahead };
    Ok((policies, None))
}

/// A set by its name; with a comma, a list. So `holes,` is a list of one.
fn read_features(text: &str) -> Features {
    if !text.contains(',') {
        return Features::Set { name: text.to_owned(), version: String::new() };
    }
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    Features::List(names.map(str::to_owned).collect())
}

/// The lines of each but the first minus those of the first, game by game.
fn differences(scores: &[Score], evaluations: &[Evaluated]) -> Vec<(String, Statistics)> {
    let Some((first, others)) = evaluations.split_first() else { return Vec::new() };
    let difference = |(other, score): (&Evaluated, &Score)| {
        let pairs = other.games[0].iter().zip(&first.games[0]);
        let lines = pairs.map(|(other, first)| other.lines as f64 - first.lines as f64);
        (score.name.clone(), Statistics::of(lines).expect("at least one game"))
    };
    others.iter().zip(&scores[1..]).map(difference).collect()
}

/// Checks that the games can be written there, before they are played. It changes nothing; an existing file keeps its
/// content until there is something to put in its place.
fn check_writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => OpenOptions::new().write(true).open(path).map(drop),
        Ok(_) => Ok(()), // a pipe or a device, where opening it is something that its reader sees
        Err(error) if error.kind() == ErrorKind::NotFound => {
            File::create_new(path)?;
            fs::remove_file(path)
        }
        Err(error) => Err(error),
    }
}

/// Writes a line for every game.
fn write_games(path: &Path, scores: &[Score], evaluations: &[Evaluated]) -> io::Result<()> {
    let mut csv = BufWriter::new(File::create(path)?);
    writeln!(csv, "name,game,seed,lines,pieces,steps,score,truncated")?;
    for (score, evaluated) in scores.iter().zip(evaluations) {
        let name = match score.name.as_str() {
            name if name.contains(['"', ',', '\n']) => format!("\"{}\"", name.replace('"', "\"\"")),
            name => name.to_owned(),
        };
        for Game { seed_index, seed, lines, pieces, steps, score, truncated, .. } in &evaluated.games[0] {
            writeln!(csv, "{name},{seed_index},{seed},{lines},{pieces},{steps},{score},{truncated}")?;
        }
    }
    csv.flush()
}

fn to_json(
    args: &EvaluateArgs,
    scores: &[Score],
    differences: &[(String, Statistics)],
    first: &Evaluated,
) -> Value {
    let difference = |(name, lines): &(String, Statistics)| {
        json!({
            "name": name,
            "baseline": scores[0].name,
            "games": args.games,
            "mean_lines": lines.mean,
            "std_lines": lines.spread.map(|spread| spread.std),
            "ci95": lines.spread.map(|spread| spread.ci95),
        })
    };
    let started = &first.started;
    json!({
        "rules": started.preset,
        "rules_changes": changes(&started.preset, &started.rules),
        "rules_version": started.rules_version,
        "width": started.rules.width,
        "height": started.rules.height,
        "seed": args.seed,
        "max_pieces": started.max_pieces,
        "max_steps": started.max_steps,
        "results": scores.iter().map(Score::to_json).collect::<Vec<_>>(),
        "paired_differences": differences.iter().map(difference).collect::<Vec<_>>(),
    })
}

fn to_text(
    args: &EvaluateArgs,
    scores: &[Score],
    differences: &[(String, Statistics)],
    first: &Evaluated,
    bars: bool,
) -> String {
    let rules = &first.started.rules;
    let longest = |names: &mut dyn Iterator<Item = &String>| names.map(|name| name.chars().count()).max();
    let column = longest(&mut scores.iter().map(|score| &score.name)).unwrap_or(0).max(10);
    let mut text = format!(
        "{} games each on {} x {}, rules {}, seed {}\n\n{:column$} {:>11} {:>21} {:>11} {:>12} {:>9}\n",
        grouped(args.games.into()),
        rules.width,
        rules.height,
        in_words(&first.started.preset, rules),
        args.seed,
        "controller",
        "mean lines",
        "95 % interval",
        "std",
        "mean pieces",
        "pieces/s"
    );
    let best = scores.iter().map(|score| score.lines.mean).fold(0.0, f64::max);
    for score in scores {
        let std = score.lines.spread.map_or("-".to_owned(), |spread| grouped(spread.std));
        let _ = write!(
            text,
            "{:column$} {:>11} {:>21} {std:>11} {:>12} {:>9}",
            score.name,
            number(score.lines.mean),
            interval(&score.lines),
            number(score.pieces.mean),
            short(score.pieces_per_second)
        );
        if bars && best > 0.0 {
            let _ = write!(text, "  {}", bar(score.lines.mean / best));
        }
        if score.truncated > 0 {
            let _ = write!(text, "  a lower bound: {} games were cut", grouped(score.truncated as f64));
        }
        text.push('\n');
    }
    if !differences.is_empty() {
        let _ = writeln!(text, "\nlines more than {} on the same pieces, game by game", scores[0].name);
        for (name, lines) in differences {
            let _ = writeln!(text, "{name:column$} {:>11} {:>21}", number(lines.mean), interval(lines));
        }
    }
    text
}

/// Whole numbers, with decimals where whole numbers would say little.
pub fn number(number: f64) -> String {
    if number.abs() >= 100.0 {
        grouped(number)
    } else if number.abs() < 0.005 {
        "0.00".to_owned() // and never -0.00
    } else {
        format!("{number:.2}")
    }
}

/// A 95 % interval, as text.
pub fn interval(statistics: &Statistics) -> String {
    match statistics.spread {
        Some(spread) => format!("{} to {}", number(spread.ci95.0), number(spread.ci95.1)),
        None => "one game".to_owned(),
    }
}

/// A bar as long as a share of the longest, to an eighth of a cell.
fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (8 * BAR) as f64).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}
