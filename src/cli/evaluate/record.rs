//! `tetrion evaluate --record`: the games that are worth a look, as recordings. `tetrion train` keeps its best one.
//!
//! A game is known by its seed, so the server plays the chosen ones again and says what was done. Here they are replayed, and
//! must come to the same.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, bail};

use crate::cli::recordings;
use crate::client::{Client, Evaluated, EvaluationRequest, GameResult};
use crate::engine::Rules;
use crate::input::UsageError;
use crate::recording::{Outcome, Pieces, Recorder, Recording, Setup};
use crate::wire::limits::MAX_RECORDED_STEPS;

/// The most games that one command records.
const MAX_RECORDINGS: u32 = 1_000;

/// Which games of each controller are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one with the most lines; of equals the first.
    Best,
    /// The one with the fewest lines; of equals the first.
    Worst,
    /// The one in the middle: as many others have more lines as have fewer.
    Median,
    /// The first ones.
    First(u32),
}

impl FromStr for Which {
    type Err = String;

    fn from_str(word: &str) -> Result<Which, String> {
        let first = |count: &str| count.parse().ok().filter(|count| (1..=MAX_RECORDINGS).contains(count));
        match word {
            "best" => Ok(Which::Best),
            "worst" => Ok(Which::Worst),
            "median" => Ok(Which::Median),
            word => word.strip_prefix("all=").and_then(first).map(Which::First).ok_or_else(|| {
                format!(
                    "{word:?} is none of best, worst, median and all=N, with N from 1 to {MAX_RECORDINGS}"
                )
            }),
        }
    }
}

impl Which {
    /// Reads a list with commas between its words.
    ///
    /// # Errors
    /// [`UsageError`] for a word that is none.
    pub fn parse_list(words: &str) -> Result<Vec<Which>, UsageError> {
        let parse = |word: &str| word.parse().map_err(|error| UsageError(format!("--record: {error}")));
        words.split(',').map(parse).collect()
    }

    /// The indices of the games it means, and the word for them in the names of files.
    fn of(&self, games: &[GameResult]) -> Vec<(u32, String)> {
        let mut by_lines: Vec<&GameResult> = games.iter().collect();
        by_lines.sort_by_key(|game| (game.lines, game.pieces));
        let most = by_lines.last().map_or(0, |game| game.lines);
        let one = |game: Option<&&GameResult>, word: &str| {
            game.map(|game| (game.seed_index, word.to_owned())).into_iter().collect()
        };
        match self {
            Which::Best => one(by_lines.iter().find(|game| game.lines == most), "best"),
            Which::Worst => one(by_lines.first(), "worst"),
            Which::Median => one(by_lines.get((by_lines.len().max(1) - 1) / 2), "median"),
            Which::First(count) => {
                let digits = games.len().to_string().len();
                let named =
                    |game: &GameResult| (game.seed_index, format!("game-{:0digits$}", game.seed_index));
                games.iter().take(*count as usize).map(named).collect()
            }
        }
    }
}

/// Records games of one controller into a folder; returns how many files there are.
///
/// # Errors
/// If the server does not play them again as it did, or a file cannot be written.
pub async fn record(
    client: &Client,
    request: &EvaluationRequest,
    evaluated: &Evaluated,
    name: &str,
    (which, folder): (&[Which], &Path),
) -> anyhow::Result<usize> {
    let games = &evaluated.games[0];
    let chosen: Vec<(u32, String)> = which.iter().flat_map(|which| which.of(games)).collect();
    let indices: Vec<u32> = chosen.iter().map(|(index, _)| *index).collect();
    let recorded = recorded(client, request, evaluated, name, &indices).await?;
    for ((_, word), recording) in chosen.iter().zip(&recorded) {
        recordings::write(&folder.join(format!("{}-{word}.json", slug(name))), recording)?;
    }
    Ok(chosen.len())
}

/// The game with the most lines of one controller, of equals the first.
///
/// # Errors
/// If the server does not play it again as it did, or it is too long for a recording.
pub async fn best_game(
    client: &Client,
    request: &EvaluationRequest,
    evaluated: &Evaluated,
    name: &str,
) -> anyhow::Result<Recording> {
    let best: Vec<u32> = Which::Best.of(&evaluated.games[0]).into_iter().map(|(index, _)| index).collect();
    let recorded = recorded(client, request, evaluated, name, &best).await?;
    recorded.into_iter().next().with_context(|| format!("cannot record {name}: it has played no game"))
}

/// The recordings of these games of one controller.
async fn recorded(
    client: &Client,
    request: &EvaluationRequest,
    evaluated: &Evaluated,
    name: &str,
    indices: &[u32],
) -> anyhow::Result<Vec<Recording>> {
    let games = &evaluated.games[0];
    let too_long = |index: &&u32| games[**index as usize].steps > MAX_RECORDED_STEPS;
    if let Some(index) = indices.iter().find(too_long) {
        let steps = games[*index as usize].steps;
        let problem = format!("game {index} has {steps} steps, a recording at most {MAX_RECORDED_STEPS}");
        bail!("cannot record {name}: {problem}; --max-pieces makes games shorter");
    }
    let pairs: BTreeSet<(u32, u32)> = indices.iter().map(|index| (0, *index)).collect();
    let pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
    let played = client.record(request, &pairs).await.with_context(|| format!("cannot record {name}"))?;
    let recording = |index: &u32| {
        let at = pairs.binary_search(&(0, *index)).expect("it was asked for");
        let (_, actions) = &played[at];
        let game = &games[*index as usize];
        let origin = format!("game {index} of {} with seed {}", games.len(), game.seed);
        replayed(&evaluated.started.rules, game, actions, (name, &origin))
    };
    indices.iter().map(recording).collect()
}

/// Plays a game as the server says that it went.
fn replayed(
    rules: &Rules,
    game: &GameResult,
    actions: &[u16],
    (player, origin): (&str, &str),
) -> anyhow::Result<Recording> {
    let mut recorder = Recorder::new(Setup::new(*rules, Pieces::Seed(game.seed)))?;
    for &action in actions {
        recorder.play(action).with_context(|| format!("{origin} is not the game that the server played"))?;
    }
    let recording = recorder.recording(player, origin);
    let Outcome { pieces, lines, .. } = recording.outcome;
    if (lines, pieces, actions.len() as u64) != (game.lines, game.pieces, game.steps) {
        let GameResult { lines: expected_lines, pieces: expected_pieces, .. } = game;
        bail!(
            "{origin} has {lines} lines and {pieces} pieces when it is played again, expected {expected_lines} and {expected_pieces}"
        );
    }
    Ok(recording)
}

/// A name as part of the name of a file.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let slug: String = name.chars().map(plain).collect();
    slug.trim_matches(['-', '.']).to_owned()
}
