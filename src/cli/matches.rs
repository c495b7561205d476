//! `tetrion match`: who is stronger, with an interval.
//!
//! Players meet in pairs of matches: one seed, sides exchanged. A match is a game of an evaluation with an opponent, so
//! servers share the matches as they share games. Pairs count in the order of their seeds, so neither threads nor servers
//! decide a verdict.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use serde_json::{Value, json};

use super::computing::ComputingArgs;
use super::connection::{ConnectionArgs, connect};
use super::evaluate::stems;
use super::interrupt::run_until_ctrl_c;
use super::options::check_writable;
use super::output::{print, say};
use super::progress::GamesProgress;
use super::recordings;
use super::rules::{RulesArgs, rules_by_default};
use super::search::SearchArgs;
use crate::input::UsageError;
use crate::players::{Contender, title, title_of_weights};
use crate::text::numbers::count;
use crate::trainer::rules::{changes, in_words};
use tetrion_client::{Client, EvaluationRequest, PlayedGame, Policy, RulesChoice, Seeds, Started};
use tetrion_core::engine::EpisodeEnd;
use tetrion_core::engine::rng::{Tag, word};
use tetrion_protocol::limits::MAX_GAMES;
use tetrion_toolkit::files;
use tetrion_toolkit::ratings::{CrossTable, EloEstimate, MatchOutcome, Pentanomial, Sprt, SprtVerdict};
use tetrion_toolkit::recording::{RecordedOpponent, Recording};

/// Pairs that are played between two looks at a test.
const PAIRS_AT_ONCE: usize = 64;
/// Most pairs of two players that are recorded.
const MAX_RECORDED_PAIRS: u32 = 500;
/// Most players of a round robin.
const MAX_PLAYERS: usize = 64;

/// The options of `tetrion match`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rules", |arg| rules_by_default(arg, "tetrio")))]
pub struct MatchArgs {
    /// Players that meet each other: controllers or agents such as tetrion-guideline, training runs, or files such as
    /// weights.json or my.formula
    #[arg(value_name = "NAME", required = true, num_args = 2..)]
    pub players: Vec<String>,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub rules: RulesArgs,

    /// Pairs of matches between two players: one seed, sides exchanged
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=(MAX_GAMES / 2) as i64))]
    pub pairs: u32,

    /// Seed for the matches; equal seeds give equal matches
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Stop as soon as a test decides between these two differences in normalized Elo, such as 0,20; --pairs is the most
    #[arg(long, value_name = "LOWER,HIGHER", allow_hyphen_values = true, value_parser = sprt)]
    pub sprt: Option<SprtTest>,

    /// Pieces of each player after which a match is a draw
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_pieces: u64,

    /// Write one line per pair to this file: its seed, and how both matches ended
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write recordings of both matches of each pair to this folder, of at most 500 pairs
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Servers that play the matches.
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Threads and kernel of matches in this process.
    #[command(flatten)]
    pub computing: ComputingArgs,
}

/// The test of `--sprt`, with error rates of 5 % each.
#[derive(Clone, Copy, Debug)]
pub struct SprtTest {
    lower: f64,
    higher: f64,
    sprt: Sprt,
}

fn sprt(text: &str) -> Result<SprtTest, String> {
    let numbers = text
        .split_once(',')
        .and_then(|(lower, higher)| Some((lower.trim().parse().ok()?, higher.trim().parse().ok()?)));
    let (lower, higher) = numbers.ok_or("expected two numbers such as 0,20")?;
    let sprt = Sprt::new(lower, higher, 0.05, 0.05).map_err(|error| error.to_string())?;
    Ok(SprtTest { lower, higher, sprt })
}

/// A player with its name in the results.
struct MatchPlayer {
    name: String,
    policy: Policy,
}

/// A pair of matches.
struct PlayedPair {
    seed: u64,
    /// The match on the first and that on the second side, as the first player saw them.
    games: [PlayedGame; 2],
}

/// All matches of two players.
struct Meeting {
    /// Numbers of the players.
    players: [usize; 2],
    pairs: Vec<PlayedPair>,
    verdict: Option<SprtVerdict>,
}

/// Plays the matches, and prints a table or a JSON object.
///
/// # Errors
/// The server's refusal, or a file that cannot be read or written.
pub fn run(args: MatchArgs) -> anyhow::Result<ExitCode> {
    run_until_ctrl_c("stopped; nothing has been written", async {
        meet(&args).await?;
        Ok(ExitCode::SUCCESS)
    })
}

async fn meet(args: &MatchArgs) -> anyhow::Result<()> {
    let (players, rules) = match_players(args)?;
    if args.record_dir.is_some() && args.pairs > MAX_RECORDED_PAIRS {
        let problem =
            format!("--pairs is {}, expected at most {MAX_RECORDED_PAIRS} with --record-dir", args.pairs);
        return Err(UsageError(problem).into());
    }
    if let Some(path) = &args.out {
        check_writable(path)?;
    }
    let client = connect(&args.connection, &args.computing).await?;
    let (mut meetings, mut started) = (Vec::new(), None);
    for second in 1..players.len() {
        for first in 0..second {
            let (meeting, now) = play(&client, args, &rules, &players, [first, second]).await?;
            meetings.push(meeting);
            started = Some(now);
        }
    }
    let started = started.expect("there are two players or more");
    if let Some(folder) = &args.record_dir {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        for Meeting { players: both, pairs, .. } in &meetings {
            let both = both.map(|player| &players[player]);
            record(&client, args, &rules, both, pairs, folder).await?;
        }
        let files = meetings.iter().map(|meeting| 2 * meeting.pairs.len() as u64).sum();
        say(format_args!("{} in {}", count(files, "recording"), folder.display()));
    }
    let names: Vec<&str> = players.iter().map(|player| player.name.as_str()).collect();
    let text = if args.json {
        format!("{}\n", to_json(args, &names, &started, &meetings))
    } else {
        to_text(args, &names, &started, &meetings)
    };
    print(&text)?;
    if let Some(path) = &args.out {
        let lines: String = meetings.iter().flat_map(|meeting| lines(&names, meeting)).collect();
        files::write(path, lines.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The players and the rules of their matches.
fn match_players(args: &MatchArgs) -> anyhow::Result<(Vec<MatchPlayer>, RulesChoice)> {
    if args.players.len() > MAX_PLAYERS {
        let problem = format!("{} players, expected at most {MAX_PLAYERS}", args.players.len());
        return Err(UsageError(problem).into());
    }
    let choice = args.search.choice();
    let (mut players, mut shown) = (Vec::new(), 0);
    for player in &args.players {
        let contender = Contender::new(player)?;
        let name = match &contender {
            Contender::Named(_) => title(player, choice),
            Contender::Run(_) => title_of_weights(player, choice, contender.play()),
            Contender::Formula { name, .. } => title_of_weights(name, choice, contender.play()),
        };
        shown = shown.max(choice.or(contender.play()).search.pieces_shown());
        players.push(MatchPlayer { name, policy: contender.policy(choice) });
    }
    let preset = args.rules.rules.clone().unwrap_or_else(|| "tetrio".to_owned());
    let rules = args.rules.choice_that_shows(shown, RulesChoice::preset(&preset));
    Ok((players, rules.with("players", 2)?))
}

/// Lets two players meet until all pairs are played or the test has decided.
async fn play(
    client: &Client,
    args: &MatchArgs,
    rules: &RulesChoice,
    players: &[MatchPlayer],
    meeting: [usize; 2],
) -> anyhow::Result<(Meeting, Started)> {
    let [first, second] = meeting.map(|player| &players[player]);
    let label = format!("{} against {}", first.name, second.name);
    let seeds: Vec<u64> = (0..args.pairs).map(|pair| word(args.seed, Tag::Game, pair.into())).collect();
    let at_once = if args.sprt.is_some() { PAIRS_AT_ONCE } else { seeds.len() };
    let (mut meeting, mut started) = (Meeting { players: meeting, pairs: Vec::new(), verdict: None }, None);
    for seeds in seeds.chunks(at_once) {
        let request = request(args, rules, [first, second], seeds);
        let mut progress = GamesProgress::new(&label);
        let evaluated = client.evaluate_all(&request, |now| progress.show(now)).await;
        drop(progress);
        let evaluated = evaluated.with_context(|| format!("cannot play {label}"))?;
        let games = evaluated.games(0).chunks_exact(2);
        meeting.pairs.extend(
            seeds.iter().zip(games).map(|(&seed, games)| PlayedPair { seed, games: [games[0], games[1]] }),
        );
        started = Some(evaluated.started);
        if let Some(SprtTest { sprt, .. }) = args.sprt {
            let (taken, verdict) = sprt.decide(meeting.pairs.iter().map(PlayedPair::outcomes));
            meeting.verdict = Some(verdict);
            if verdict != SprtVerdict::GoesOn {
                // The pairs after the one that decided are as if they had not been played.
                meeting.pairs.truncate(taken.num_pairs() as usize);
                break;
            }
        }
    }
    Ok((meeting, started.expect("there is a pair to play")))
}

/// Both matches of each seed.
fn request(
    args: &MatchArgs,
    rules: &RulesChoice,
    [first, second]: [&MatchPlayer; 2],
    seeds: &[u64],
) -> EvaluationRequest {
    EvaluationRequest {
        rules: rules.clone(),
        max_pieces: args.max_pieces,
        opponent: Some(second.policy.clone()),
        ..EvaluationRequest::new(vec![first.policy.clone()], Seeds::PerPolicy(vec![seeds.to_vec()]))
    }
}

/// Plays the matches of two players again and records them: one file per match, in a folder.
async fn record(
    client: &Client,
    args: &MatchArgs,
    rules: &RulesChoice,
    [first, second]: [&MatchPlayer; 2],
    pairs: &[PlayedPair],
    folder: &Path,
) -> anyhow::Result<()> {
    let seeds: Vec<u64> = pairs.iter().map(|pair| pair.seed).collect();
    let indices: Vec<(u32, u32)> = (0..seeds.len() as u32).map(|index| (0, index)).collect();
    let recordings = client.record(&request(args, rules, [first, second], &seeds), &indices).await?;
    let digits = pairs.len().to_string().len();
    let stem = stems([first, second].map(|player| player.name.as_str()).into_iter()).join("-vs-");
    for (number, recording) in recordings.into_iter().enumerate() {
        let (pair, side) = (number / 2, number % 2);
        let mut names = [&first.name, &second.name].map(String::clone);
        names.rotate_right(side);
        let [player, opponent] = names;
        let theirs = recording.opponent.map(|other| RecordedOpponent { player: opponent, ..other });
        let origin = format!("match {} of pair {pair} with seed {}", side + 1, seeds[pair]);
        let recording = Recording { player, origin, opponent: theirs, ..recording };
        recordings::write(&folder.join(format!("{stem}-{pair:0digits$}-{}.json", side + 1)), &recording)?;
    }
    Ok(())
}

impl PlayedPair {
    /// How both matches ended for the first player. One that a limit cut is a draw.
    fn outcomes(&self) -> [MatchOutcome; 2] {
        self.games.each_ref().map(|game| match EpisodeEnd::won(game.end) {
            1 => MatchOutcome::Win,
            -1 => MatchOutcome::Loss,
            _ => MatchOutcome::Draw,
        })
    }
}

impl Meeting {
    fn pentanomial(&self) -> Pentanomial {
        let mut counts = Pentanomial::default();
        self.pairs.iter().for_each(|pair| counts.add(pair.outcomes()));
        counts
    }

    /// Matches that the first player has won, drawn and lost.
    fn results(&self) -> [usize; 3] {
        let all = || self.pairs.iter().flat_map(PlayedPair::outcomes);
        [MatchOutcome::Win, MatchOutcome::Draw, MatchOutcome::Loss]
            .map(|kind| all().filter(|outcome| *outcome == kind).count())
    }
}

/// A line of the file for each pair.
fn lines(names: &[&str], meeting: &Meeting) -> Vec<String> {
    let [first, second] = meeting.players.map(|player| names[player]);
    let line = |PlayedPair { seed, games }: &PlayedPair| {
        let games = games.iter().enumerate().map(|(side, game)| {
            let PlayedGame { lines, pieces, score, end, .. } = game;
            json!({"side": side, "end": EpisodeEnd::name(*end), "pieces": pieces, "lines": lines, "score": score})
        });
        let matches: Vec<Value> = games.collect();
        format!(
            "{}\n",
            json!({"first": first, "second": second, "seed": seed.to_string(), "matches": matches})
        )
    };
    meeting.pairs.iter().map(line).collect()
}

fn estimate(estimate: Option<EloEstimate>) -> Value {
    estimate.map_or(Value::Null, |EloEstimate { elo, ci95 }| json!({"elo": elo, "ci95": [ci95.0, ci95.1]}))
}

fn to_json(args: &MatchArgs, names: &[&str], started: &Started, meetings: &[Meeting]) -> Value {
    let test = |meeting: &Meeting, pairs: &Pentanomial| {
        let Some(SprtTest { lower, higher, sprt }) = args.sprt else { return Value::Null };
        let verdict = match meeting.verdict {
            Some(SprtVerdict::AcceptsHigher) => "accepts_higher",
            Some(SprtVerdict::AcceptsLower) => "accepts_lower",
            _ => "goes_on",
        };
        let ratio = sprt.log_likelihood_ratio(pairs);
        let (low, high) = sprt.bounds();
        json!({"lower": lower, "higher": higher, "log_likelihood_ratio": ratio, "bounds": [low, high], "verdict": verdict})
    };
    let of_meeting = |meeting: &Meeting| {
        let pairs = meeting.pentanomial();
        let [won, drawn, lost] = meeting.results();
        json!({
            "first": names[meeting.players[0]],
            "second": names[meeting.players[1]],
            "pairs": pairs.num_pairs(),
            "pentanomial": pairs.counts,
            "won": won,
            "drawn": drawn,
            "lost": lost,
            "score": pairs.score(),
            "elo": estimate(pairs.elo()),
            "normalized_elo": estimate(pairs.normalized_elo()),
            "sprt": test(meeting, &pairs),
        })
    };
    let ratings = match ratings(names, meetings) {
        Ok(ratings) => ratings
            .iter()
            .map(|(name, elo, error)| json!({"name": name, "elo": elo, "standard_error": error}))
            .collect(),
        Err(problem) => json!(problem),
    };
    json!({
        "rules": started.preset,
        "rules_changes": changes(&started.preset, &started.rules),
        "rules_version": started.rules_version,
        "seed": args.seed.to_string(),
        "max_pieces": started.max_pieces,
        "meetings": meetings.iter().map(of_meeting).collect::<Vec<_>>(),
        "ratings": ratings,
    })
}

/// Players from the strongest on: name, Elo relative to the first player, and its standard error.
fn ratings<'a>(names: &[&'a str], meetings: &[Meeting]) -> Result<Vec<(&'a str, f64, f64)>, String> {
    let mut table = CrossTable::new(names.len() as u32);
    for meeting in meetings {
        let [first, second] = meeting.players.map(|player| player as u32);
        table.add(first, second, &meeting.pentanomial());
    }
    let ratings = table.ratings(0).map_err(|error| error.to_string())?;
    let mut rated: Vec<_> =
        names.iter().zip(ratings).map(|(name, rating)| (*name, rating.elo, rating.standard_error)).collect();
    rated.sort_by(|(_, one, _), (_, other, _)| other.total_cmp(one));
    Ok(rated)
}

fn to_text(args: &MatchArgs, names: &[&str], started: &Started, meetings: &[Meeting]) -> String {
    let mut text = format!("{}, seed {}\n", in_words(&started.preset, &started.rules), args.seed);
    let elo = |estimate: Option<EloEstimate>| {
        estimate.map_or_else(String::new, |EloEstimate { elo, ci95 }| {
            format!("{elo:+.1}  [{:+.1}, {:+.1}]", ci95.0, ci95.1)
        })
    };
    for meeting in meetings {
        let [first, second] = meeting.players.map(|player| names[player]);
        let pairs = meeting.pentanomial();
        let [won, drawn, lost] = meeting.results();
        let score = 100.0 * pairs.score().unwrap_or(0.5);
        let _ = write!(
            text,
            "\n{first} against {second}: {}\n  won {won}, drawn {drawn}, lost {lost}; score {score:.1} %\n  pairs with 0, 1/2, 1, 3/2, 2 points: {}\n  Elo {}\n  normalized Elo {}\n",
            count(pairs.num_pairs(), "pair"),
            pairs.counts.map(|count| count.to_string()).join(" "),
            elo(pairs.elo()),
            elo(pairs.normalized_elo()),
        );
        if let (Some(SprtTest { lower, higher, sprt }), Some(verdict)) = (args.sprt, meeting.verdict) {
            let said = match verdict {
                SprtVerdict::AcceptsHigher => {
                    format!("{first} is stronger by {higher} normalized Elo or more")
                }
                SprtVerdict::AcceptsLower => {
                    format!("{first} is stronger by no more than {lower} normalized Elo")
                }
                SprtVerdict::GoesOn => "undecided: more --pairs are needed".to_owned(),
            };
            let ((low, high), ratio) = (sprt.bounds(), sprt.log_likelihood_ratio(&pairs));
            let _ = writeln!(
                text,
                "  test of {lower} against {higher}: {said} ({ratio:.2} of {low:.2} to {high:.2})"
            );
        }
    }
    if names.len() > 2 {
        let _ = match ratings(names, meetings) {
            Ok(rated) => {
                let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
                let rows = rated.iter().map(|(name, elo, error)| {
                    format!("  {name:width$}  {elo:+8.1} +- {:.1}\n", 1.96 * error)
                });
                writeln!(text, "\nRatings in Elo, with {} at 0:\n{}", names[0], rows.collect::<String>())
            }
            Err(problem) => writeln!(text, "\nNo ratings: {problem}"),
        };
    }
    text
}
