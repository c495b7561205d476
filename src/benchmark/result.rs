//! A result of the benchmark, with everything that determines it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::class::{Class, NAME};
use super::entrant::{BenchmarkPlayer, Source};
use super::recorded::GameNumbers;
use crate::input::{UsageError, parse_json, read_open, utf8};
use crate::text::escapes::without_middle;
use crate::trainer::score::statistics_to_json;
use tetrion_core::summary::{LinesPerLoss, Statistics};
use tetrion_toolkit::files;

/// Most bytes of a result: ten times the size of a result of the largest class.
const MAX_RESULT_BYTES: u64 = 8 << 20;
/// Most characters of a wrong value in a message.
const MAX_SHOWN: usize = 100;

/// The content of `result.json`: a player's games in one class, and what they sum up to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkResult {
    pub benchmark: String,
    pub class: String,
    /// Rules, seed, number of games and cut of the class.
    pub protocol: Value,
    /// Name and version of the program.
    pub program: String,
    /// The command that wrote the result.
    pub command: String,
    pub player: BenchmarkPlayer,
    /// Means and intervals, as [`Summary::to_json`] writes them.
    pub summary: Value,
    /// The games, in the order of their seeds.
    pub games: Vec<GameNumbers>,
}

/// Means and intervals of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub lines: Statistics,
    pub pieces: Statistics,
    pub num_games: u64,
    /// Number of games that were cut.
    pub num_cut: u64,
    pub lines_per_loss: LinesPerLoss,
}

impl Summary {
    /// Computes the summary of at least one game.
    ///
    /// # Panics
    /// Without a game.
    pub fn of(class: &Class, games: &[GameNumbers]) -> Summary {
        let of = |number: fn(&GameNumbers) -> u64| {
            Statistics::of(games.iter().map(|game| number(game) as f64)).expect("at least one game")
        };
        let (lines, pieces) = (of(|game| game.lines), of(|game| game.pieces));
        let num_games = games.len() as u64;
        let num_cut = games.iter().filter(|game| game.pieces >= class.max_pieces).count() as u64;
        let all = (lines.mean * num_games as f64).round() as u64;
        Summary {
            lines,
            pieces,
            num_games,
            num_cut,
            lines_per_loss: LinesPerLoss::of(all, num_games - num_cut),
        }
    }

    /// The summary as a JSON object.
    pub fn to_json(&self) -> Value {
        let LinesPerLoss { estimate, at_least, at_most } = self.lines_per_loss;
        json!({
            "num_games": self.num_games,
            "num_cut": self.num_cut,
            "lines": statistics_to_json(&self.lines),
            "pieces": statistics_to_json(&self.pieces),
            "lines_per_loss": {"mean": estimate, "ci95_low": at_least, "ci95_high": at_most},
        })
    }
}

impl BenchmarkResult {
    /// The result of these games.
    pub fn new(
        class: &Class,
        player: BenchmarkPlayer,
        command: String,
        games: Vec<GameNumbers>,
    ) -> BenchmarkResult {
        BenchmarkResult {
            benchmark: NAME.to_owned(),
            class: class.name.to_owned(),
            protocol: class.protocol(),
            program: format!("tetrion {}", env!("CARGO_PKG_VERSION")),
            command,
            player,
            summary: Summary::of(class, &games).to_json(),
            games,
        }
    }

    /// Reads the file of a result.
    ///
    /// # Errors
    /// [`UsageError`] for a file that cannot be read, or holds no result of this benchmark.
    pub fn read(path: &Path) -> Result<(BenchmarkResult, &'static Class), UsageError> {
        #[derive(Deserialize)]
        struct ResultName {
            benchmark: String,
        }
        let wrong = |problem: String| UsageError(format!("{}: {problem}", path.display()));
        let text = files::open(path).and_then(|file| utf8(read_open(file, MAX_RESULT_BYTES)?));
        let text = text.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let no_result = |error| wrong(format!("is no result of {NAME}: {error}"));
        // Check the name first: a result of another benchmark need not have our fields.
        let ResultName { benchmark } = serde_json::from_str(&text).map_err(no_result)?;
        if benchmark != NAME {
            let other = "use the version of the program that wrote it, or play the games again";
            return Err(wrong(format!("benchmark is {benchmark:?}, expected {NAME:?}: {other}")));
        }
        let result: BenchmarkResult = parse_json(&text).map_err(no_result)?;
        let class = Class::named(&result.class).map_err(|error| wrong(error.0))?;
        Ok((result, class))
    }

    /// The result as a line of JSON.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string(self).expect("texts and finite numbers");
        json.push('\n');
        json
    }

    /// Number of games, from the first, with recordings.
    pub fn num_recordings(&self, class: &Class) -> u32 {
        if self.player.source == Source::Recordings { class.games } else { class.recordings }
    }

    /// The first field that does not follow from the class or the games; `None` if all do.
    pub fn problem(&self, class: &Class) -> Option<String> {
        if let Some(problem) = difference("protocol", &self.protocol, &class.protocol()) {
            return Some(problem);
        }
        if self.games.len() != class.games as usize {
            return Some(format!("games has {} entries, expected {}", self.games.len(), class.games));
        }
        let most = |game: &GameNumbers| game.pieces.saturating_mul(4) / u64::from(class.rules().width);
        for (number, game @ GameNumbers { lines, pieces }) in self.games.iter().enumerate() {
            if *pieces > class.max_pieces {
                let most = class.max_pieces;
                return Some(format!("games[{number}].pieces is {pieces}, expected at most {most}"));
            }
            if *lines > most(game) {
                let most = most(game);
                return Some(format!(
                    "games[{number}].lines is {lines}, expected at most {most} with {pieces} pieces"
                ));
            }
        }
        difference("summary", &self.summary, &Summary::of(class, &self.games).to_json())
    }
}

/// The first difference between two JSON values, with its path.
fn difference(path: &str, found: &Value, expected: &Value) -> Option<String> {
    let (Value::Object(fields), Value::Object(others)) = (found, expected) else {
        let shown = || without_middle(&found.to_string(), MAX_SHOWN).into_owned();
        return (found != expected).then(|| format!("{path} is {}, expected {expected}", shown()));
    };
    for (name, expected) in others {
        let problem = match fields.get(name) {
            Some(found) => difference(&format!("{path}.{name}"), found, expected),
            None => Some(format!("{path}.{name} is absent, expected {expected}")),
        };
        if problem.is_some() {
            return problem;
        }
    }
    let unknown = fields.iter().find(|(name, _)| !others.contains_key(*name));
    unknown
        .map(|(name, _)| format!("{path} has {:?}, expected no such field", without_middle(name, MAX_SHOWN)))
}
