//! The result of a controller's games.

use serde_json::{Value, json};

use crate::client::{Evaluated, GameResult};
use crate::summary::{LinesPerLoss, PerPiece, Statistics};

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
    /// Lines a piece; none without a piece.
    pub lines_per_piece: Option<PerPiece>,
    /// Points a piece.
    pub points_per_piece: Option<PerPiece>,
    /// Games.
    pub games: u64,
    /// Games that a limit cut; the mean is a lower bound if there are any.
    pub truncated: u64,
    /// Whether the games were not played, but the numbers of each estimated.
    pub is_estimate: bool,
    /// Pieces that landed in the games, or in the trials of the estimates.
    pub pieces_played: u64,
    /// Pieces a second, on all threads together.
    pub pieces_per_second: f64,
}

/// The statistics of a number over the games of a policy, or over the estimates of how long they last.
///
/// # Panics
/// If there is no such policy.
pub fn statistics(
    evaluated: &Evaluated,
    policy: usize,
    number: impl Fn(&GameResult) -> f64 + Copy,
) -> Statistics {
    let games = evaluated.games[policy].iter();
    let statistics = match evaluated.started.loss_trials {
        0 => Statistics::of(games.map(number)),
        _ => Statistics::of_estimates(games.map(|game| (number(game), game.pieces as f64))),
    };
    statistics.expect("at least one game")
}

impl Score {
    /// Sums up the games of the first policy.
    pub fn of(name: &str, evaluated: &Evaluated, seconds: f64) -> Score {
        let games = &evaluated.games[0];
        let of_games = |number: fn(&GameResult) -> f64| statistics(evaluated, 0, number);
        let is_estimate = evaluated.started.loss_trials > 0;
        let per_piece = |number: fn(&GameResult) -> f64| {
            PerPiece::of(games.iter().map(|game| match is_estimate {
                // Estimates are of about as many pieces each, however long their games last.
                true => (number(game) / game.pieces.max(1) as f64, 1.0),
                false => (number(game), game.pieces as f64),
            }))
        };
        Score {
            name: name.to_owned(),
            lines: of_games(|game| game.lines as f64),
            pieces: of_games(|game| game.pieces as f64),
            points: of_games(|game| game.score),
            lines_per_piece: per_piece(|game| game.lines as f64),
            points_per_piece: per_piece(|game| game.score),
            games: games.len() as u64,
            truncated: games.iter().filter(|game| game.truncated).count() as u64,
            is_estimate,
            pieces_played: evaluated.pieces,
            pieces_per_second: evaluated.pieces as f64 / seconds,
        }
    }

    /// An estimate of the lines of whole games, where some were cut; `None` where all numbers are estimates.
    pub fn lines_per_loss(&self) -> Option<LinesPerLoss> {
        if self.is_estimate {
            return None;
        }
        let lines = self.lines.mean * self.games as f64;
        Some(LinesPerLoss::of(lines.round() as u64, self.games - self.truncated))
    }

    /// The object that `--json` prints, with the protocol's names.
    pub fn to_json(&self) -> Value {
        let rate = |mean: Option<f64>, ci95: Option<(Option<f64>, Option<f64>)>| {
            let (low, high) = ci95.unwrap_or_default();
            json!({"mean": mean, "ci95_low": low, "ci95_high": high})
        };
        let ends = |(low, high)| (Some(low), Some(high));
        let per_piece =
            |number: Option<PerPiece>| number.map(|PerPiece { mean, ci95 }| rate(Some(mean), ci95.map(ends)));
        let per_loss = match self.lines_per_loss() {
            Some(LinesPerLoss { estimate, at_least, at_most }) => {
                rate(estimate, Some((Some(at_least), at_most)))
            }
            None => rate(Some(self.lines.mean), self.lines.spread.map(|spread| ends(spread.ci95))),
        };
        json!({
            "name": self.name,
            "num_games": self.games,
            "num_truncated": self.truncated,
            "estimated": self.is_estimate,
            "lines": statistics_to_json(&self.lines),
            "pieces": statistics_to_json(&self.pieces),
            "score": statistics_to_json(&self.points),
            "lines_per_piece": per_piece(self.lines_per_piece),
            "score_per_piece": per_piece(self.points_per_piece),
            "lines_per_loss": per_loss,
            "pieces_per_second": self.pieces_per_second,
        })
    }
}

/// Statistics as an object, with the names of the protocol's `Statistics`.
pub fn statistics_to_json(Statistics { mean, spread, min, max }: &Statistics) -> Value {
    json!({
        "mean": mean,
        "std": spread.map(|spread| spread.std),
        "ci95_low": spread.map(|spread| spread.ci95.0),
        "ci95_high": spread.map(|spread| spread.ci95.1),
        "min": min,
        "max": max,
    })
}
