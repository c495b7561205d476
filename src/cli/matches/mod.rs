//! `tetrion match`: who is stronger, with an interval.
//!
//! Players meet in pairs of matches: one seed, sides exchanged. A match is a game of an evaluation with an opponent, so
//! servers share the matches as they share games. Pairs count in the order of their seeds, so neither threads nor servers
//! decide a verdict.

mod hosted;
mod pair;
mod report;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};

use self::hosted::{HostedMatches, HostedPlayer, bot_command};
use self::pair::PlayedPair;
use self::report::{MatchSettings, Meeting, PlayedRules, SprtTest, lines, sprt, to_json, to_text};
use crate::cli::connection::PlayingArgs;
use crate::cli::evaluate::stems;
use crate::cli::interrupt::run_until_stopped;
use crate::cli::options::check_writable;
use crate::cli::output::{print, say};
use crate::cli::progress::GamesProgress;
use crate::cli::recordings;
use crate::cli::rules::{RulesArgs, rules_by_default};
use crate::cli::search::SearchArgs;
use crate::input::UsageError;
use crate::players::Contender;
use crate::text::numbers::count;
use tetrion_client::{
    Client, EvaluationProgress, EvaluationRequest, PlayedGame, Policy, RulesChoice, Seeds, Started,
};
use tetrion_core::engine::RULES_VERSION;
use tetrion_core::engine::rng::{Tag, word};
use tetrion_protocol::limits::MAX_GAMES;
use tetrion_protocol::rules::ResolvedRules;
use tetrion_toolkit::ratings::SprtVerdict;
use tetrion_toolkit::recording::Recording;
use tetrion_toolkit::{files, tbp};

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
    /// Players that meet each other: controllers or agents such as tetrion-guideline, training runs, files such as
    /// weights.json or my.formula, or bots of the Tetris Bot Protocol such as "tbp:./cold-clear-2"
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

    /// Milliseconds that a bot may think before each request for a move
    #[arg(long, value_name = "MS", default_value_t = 50, value_parser = clap::value_parser!(u64).range(..=600_000))]
    pub think: u64,

    /// Pairs with bots to play in parallel; leave enough cores for the threads of each bot
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub jobs: u32,

    /// Write one line per pair to this file: its seed, and how both matches ended
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write recordings of both matches of each pair to this folder, of at most 500 pairs
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Who plays the games.
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// A player with its name in the results.
struct MatchPlayer {
    name: String,
    player: HostedPlayer,
    /// The policy for a server; `None` for a bot.
    policy: Option<Policy>,
}

/// Plays the matches, and prints a table or a JSON object.
///
/// # Errors
/// The server's refusal, or a file that cannot be read or written.
pub fn run(args: MatchArgs) -> anyhow::Result<ExitCode> {
    run_until_stopped("stopped; nothing has been written", async {
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
    if let Some(folder) = &args.record_dir {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    if let Some(path) = &args.out {
        check_writable(path)?;
    }
    let client = args.playing.connect().await?;
    let (mut meetings, mut played) = (Vec::new(), None);
    for second in 1..players.len() {
        for first in 0..second {
            let (meeting, now) = play(&client, args, &rules, &players, [first, second]).await?;
            meetings.push(meeting);
            played = Some(now);
        }
    }
    let played = played.expect("there are two players or more");
    let names: Vec<&str> = players.iter().map(|player| player.name.as_str()).collect();
    let settings = MatchSettings { seed: args.seed, max_pieces: args.max_pieces, test: args.sprt };
    let text = if args.json {
        format!("{}\n", to_json(&settings, &names, &played, &meetings))
    } else {
        to_text(&settings, &names, &played, &meetings)
    };
    print(&text)?;
    if let Some(path) = &args.out {
        let lines: String = meetings.iter().flat_map(|meeting| lines(&names, meeting)).collect();
        files::write(path, lines.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(folder) = &args.record_dir {
        let stems = stems(names.into_iter());
        for Meeting { players: both, pairs, .. } in &meetings {
            let path = |name: &str| folder.join(name);
            let stem = both.map(|player| stems[player].as_str()).join("-vs-");
            let both = both.map(|player| &players[player]);
            record(&client, args, &rules, both, pairs, &stem, path).await?;
        }
        let files = meetings.iter().map(|meeting| 2 * meeting.pairs.len() as u64).sum();
        say(format_args!("{} in {}", count(files, "recording"), folder.display()));
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
        if let Some(program) = bot_command(player) {
            let file = Path::new(&program.path).file_name().unwrap_or(&program.path);
            let words = [file].into_iter().chain(program.args.iter().map(AsRef::as_ref));
            let name = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
            players.push(MatchPlayer { name, player: HostedPlayer::Bot(program), policy: None });
            continue;
        }
        let contender = Contender::new(player)?;
        let name = contender.name(player, choice);
        shown = shown.max(choice.or(contender.play()).search.pieces_shown());
        let policy = Some(contender.policy(choice));
        players.push(MatchPlayer { name, player: HostedPlayer::Contender(contender), policy });
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
) -> anyhow::Result<(Meeting, PlayedRules)> {
    let both = meeting.map(|player| &players[player]);
    let label = format!("{} against {}", both[0].name, both[1].name);
    let seeds: Vec<u64> = (0..args.pairs).map(|pair| word(args.seed, Tag::Game, pair.into())).collect();
    let at_once = if args.sprt.is_some() { PAIRS_AT_ONCE } else { seeds.len() };
    let (mut meeting, mut played) = (Meeting { players: meeting, pairs: Vec::new(), verdict: None }, None);
    for seeds in seeds.chunks(at_once) {
        let is_served = both.iter().all(|player| player.policy.is_some());
        let (pairs, now) = if is_served {
            let played = served(client, &request(args, rules, both, seeds), &label, seeds).await;
            played.with_context(|| format!("cannot play {label}"))?
        } else {
            host(args, rules, both, seeds, &label).await?
        };
        meeting.pairs.extend(pairs);
        played = Some(now);
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
    Ok((meeting, played.expect("there is a pair to play")))
}

/// Lets servers play pairs of matches.
async fn served(
    client: &Client,
    request: &EvaluationRequest,
    label: &str,
    seeds: &[u64],
) -> anyhow::Result<(Vec<PlayedPair>, PlayedRules)> {
    let mut progress = GamesProgress::new(label);
    let evaluated = client.evaluate_all(request, |now| progress.show(now)).await;
    drop(progress);
    let evaluated = evaluated?;
    let pair = |(&seed, games): (&u64, &[PlayedGame])| PlayedPair {
        seed,
        games: [games[0], games[1]],
        recordings: Vec::new(),
    };
    let pairs = seeds.iter().zip(evaluated.games(0).chunks_exact(2)).map(pair).collect();
    let Started { preset, rules, rules_version, .. } = evaluated.started;
    Ok((pairs, PlayedRules { preset, rules, rules_version }))
}

/// Plays pairs of matches with a bot here.
async fn host(
    args: &MatchArgs,
    rules: &RulesChoice,
    both: [&MatchPlayer; 2],
    seeds: &[u64],
    label: &str,
) -> anyhow::Result<(Vec<PlayedPair>, PlayedRules)> {
    let wrong = |error: String| UsageError(format!("rules: {error}"));
    let resolved = ResolvedRules::try_from(rules).map_err(|error| wrong(error.to_string()))?;
    tbp::check_match_rules(&resolved.rules).map_err(|error| wrong(error.to_string()))?;
    let matches = HostedMatches {
        players: both.map(|player| player.player.clone()),
        names: both.map(|player| player.name.clone()),
        choice: args.search.choice(),
        rules: resolved.rules,
        max_pieces: args.max_pieces,
        jobs: args.jobs,
        think: Duration::from_millis(args.think),
    };
    let (mut progress, num_games) = (GamesProgress::new(label), 2 * seeds.len() as u64);
    let pairs = matches.play(seeds, move |pairs| {
        let now = EvaluationProgress { games: 2 * pairs as u64, num_games, ..EvaluationProgress::default() };
        progress.show(now);
    });
    let pairs = pairs.await?;
    let (preset, rules_version) = (resolved.preset.to_owned(), RULES_VERSION.to_owned());
    Ok((pairs, PlayedRules { preset, rules: resolved.rules, rules_version }))
}

/// Both matches of each seed.
fn request(
    args: &MatchArgs,
    rules: &RulesChoice,
    [first, second]: [&MatchPlayer; 2],
    seeds: &[u64],
) -> EvaluationRequest {
    let policies = first.policy.clone().into_iter().collect();
    EvaluationRequest {
        rules: rules.clone(),
        max_pieces: args.max_pieces,
        opponent: second.policy.clone(),
        ..EvaluationRequest::new(policies, Seeds::PerPolicy(vec![seeds.to_vec()]))
    }
}

/// Writes recordings of the matches of two players, which servers play again: one file per match.
async fn record(
    client: &Client,
    args: &MatchArgs,
    rules: &RulesChoice,
    both: [&MatchPlayer; 2],
    pairs: &[PlayedPair],
    stem: &str,
    path: impl Fn(&str) -> PathBuf,
) -> anyhow::Result<()> {
    let seeds: Vec<u64> = pairs.iter().map(|pair| pair.seed).collect();
    let recordings = if both.iter().all(|player| player.policy.is_some()) {
        let indices: Vec<(u32, u32)> = (0..seeds.len() as u32).map(|index| (0, index)).collect();
        client.record(&request(args, rules, both, &seeds), &indices).await?
    } else {
        pairs.iter().flat_map(|pair| pair.recordings.clone()).collect()
    };
    let digits = pairs.len().to_string().len();
    for (number, recording) in recordings.into_iter().enumerate() {
        let (pair, side) = (number / 2, number % 2);
        let origin = match recording.origin.as_str() {
            "" => format!("match {} of pair {pair} with seed {}", side + 1, seeds[pair]),
            fault => format!("match {} of pair {pair} with seed {}: {fault}", side + 1, seeds[pair]),
        };
        let mut theirs = recording.opponent.context("a server recorded a match without its other side")?;
        let ours = [&recording.outcome, &theirs.outcome][side];
        let game = &pairs[pair].games[side];
        if (ours.pieces, ours.lines) != (game.pieces, game.lines) {
            bail!(
                "{origin} has {} pieces and {} lines when it is played again, expected {} and {}; --max-pieces makes matches shorter",
                ours.pieces,
                ours.lines,
                game.pieces,
                game.lines
            );
        }
        let mut names = both.map(|player| player.name.clone());
        names.rotate_right(side);
        let [player, opponent] = names;
        theirs.player = opponent;
        let recording = Recording { player, origin, opponent: Some(theirs), ..recording };
        recordings::write(&path(&format!("{stem}-{pair:0digits$}-{}.json", side + 1)), &recording)?;
    }
    Ok(())
}
