//! `tetrion evaluate --record`: records chosen games.

use std::path::Path;
use std::str::FromStr;

use anyhow::Context;

use super::names::unique;
use crate::cli::recordings;
use crate::trainer::games::{RecordError, recorded};
use tetrion_client::{Client, Evaluated, EvaluationRequest, PlayedGame};

/// Most games that one command records.
const MAX_RECORDINGS: u32 = 1_000;
/// Most letters of a player's name in a file name; systems allow 255 in all.
const MAX_STEM: usize = 100;

/// The games of each controller to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedGames {
    /// The game with the most lines; of equals the first.
    Best,
    /// The game with the fewest lines; of equals the first.
    Worst,
    /// The game with the median number of lines.
    Median,
    /// This many games, from the first.
    First(u32),
}

impl FromStr for RecordedGames {
    type Err = String;

    fn from_str(word: &str) -> Result<RecordedGames, String> {
        let first = |count: &str| count.parse().ok().filter(|count| (1..=MAX_RECORDINGS).contains(count));
        match word {
            "best" => Ok(RecordedGames::Best),
            "worst" => Ok(RecordedGames::Worst),
            "median" => Ok(RecordedGames::Median),
            word => word.strip_prefix("all=").and_then(first).map(RecordedGames::First).ok_or_else(|| {
                format!("{word:?}, expected best, worst, median or all=N, with N from 1 to {MAX_RECORDINGS}")
            }),
        }
    }
}

/// A comma-separated list of choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection(pub Vec<RecordedGames>);

impl FromStr for Selection {
    type Err = String;

    fn from_str(words: &str) -> Result<Selection, String> {
        words.split(',').map(str::parse).collect::<Result<_, _>>().map(Selection)
    }
}

impl RecordedGames {
    /// Indices of the chosen games, with the words for their file names.
    fn of(&self, games: &[PlayedGame]) -> Vec<(u32, String)> {
        let mut by_lines: Vec<&PlayedGame> = games.iter().collect();
        by_lines.sort_by_key(|game| (game.lines, game.pieces));
        let most = by_lines.last().map_or(0, |game| game.lines);
        let one = |game: Option<&&PlayedGame>, word: &str| {
            game.map(|game| (game.seed_index, word.to_owned())).into_iter().collect()
        };
        match self {
            RecordedGames::Best => one(by_lines.iter().find(|game| game.lines == most), "best"),
            RecordedGames::Worst => one(by_lines.first(), "worst"),
            RecordedGames::Median => one(by_lines.get((by_lines.len().max(1) - 1) / 2), "median"),
            RecordedGames::First(count) => {
                let digits = games.len().to_string().len();
                let named =
                    |game: &PlayedGame| (game.seed_index, format!("game-{:0digits$}", game.seed_index));
                games.iter().take(*count as usize).map(named).collect()
            }
        }
    }
}

/// File names, without an ending, for the games of players with these names. Names that differ only by case get
/// different ones: on some systems they name one file.
pub fn stems<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    unique(names.map(slug), |slug, number| format!("{slug}-{number}"), str::to_lowercase)
}

/// Records games of one controller in files of a folder that begin with `stem`. Returns the number of files.
///
/// # Errors
/// If the server cannot reproduce a game, or a file cannot be written.
pub async fn record(
    client: &Client,
    request: &EvaluationRequest,
    evaluated: &Evaluated,
    name: &str,
    stem: &str,
    (which, folder): (&[RecordedGames], &Path),
) -> anyhow::Result<usize> {
    let games = evaluated.games(0);
    let mut chosen: Vec<(u32, String)> = Vec::new();
    for game in which.iter().flat_map(|which| which.of(games)) {
        // Two choices may name one file, as in `best,best`.
        if !chosen.contains(&game) {
            chosen.push(game);
        }
    }
    let indices: Vec<u32> = chosen.iter().map(|(index, _)| *index).collect();
    let recorded = recorded(client, request, evaluated, name, &indices).await.map_err(|error| match error {
        RecordError::Client(error) => anyhow::Error::new(error),
        error => anyhow::Error::new(error),
    });
    let recorded = recorded.with_context(|| format!("cannot record {name}"))?;
    for ((_, word), recording) in chosen.iter().zip(&recorded) {
        recordings::write(&folder.join(format!("{stem}-{word}.json")), recording)?;
    }
    Ok(chosen.len())
}

/// Turns a name into a file name.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let mut slug: String = name.chars().map(plain).collect();
    slug = slug.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    let slug = slug.trim_matches(['-', '.']);
    // The end of a path says more than its beginning. Every letter is one byte.
    let slug = slug[slug.len().saturating_sub(MAX_STEM)..].trim_matches(['-', '.']);
    if slug.is_empty() { "player".to_owned() } else { slug.to_owned() }
}
