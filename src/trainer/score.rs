//! The score of a controller: statistics of its games.

use serde_json::{Value, json};

use super::unit::Unit;
use tetrion_client::{Estimate, EstimatedGame, Evaluated, Outcomes, PlayedGame};
use tetrion_core::summary::{LinesPerLoss, PerPiece, Statistics};

/// The score of one controller.
#[derive(Clone, Debug)]
pub struct Score {
    pub name: String,
    pub lines: Statistics,
    pub pieces: Statistics,
    pub steps: Statistics,
    /// Points per game, under the rules' scoring.
    pub points: Statistics,
    /// Lines per piece; `None` if no piece landed.
    pub lines_per_piece: Option<PerPiece>,
    /// Points per piece; `None` if no piece landed.
    pub points_per_piece: Option<PerPiece>,
    /// Number of games or estimates.
    pub games: u64,
    /// Number of games that a limit cut, or of estimates that exceed it; unless it is 0, the mean is a lower bound.
    pub truncated: u64,
    /// Whether the numbers are estimates instead of played games.
    pub is_estimate: bool,
    /// Pieces landed in the games, or in the trials of the estimates.
    pub pieces_played: u64,
    /// Pieces per second, all threads together.
    pub pieces_per_second: f64,
}

/// Statistics of each policy's score in the given unit, over games or estimates.
///
/// # Panics
/// If a policy has no games and no estimates.
pub fn statistics(evaluated: &Evaluated, unit: Unit) -> Vec<Statistics> {
    match &evaluated.outcomes {
        Outcomes::Games(games) => games.iter().map(|games| of_games(games, |game| unit.of(game))).collect(),
        Outcomes::Estimates(estimates) => {
            estimates.iter().map(|some| of_estimates(some, |estimate| unit.per_piece(estimate))).collect()
        }
    }
}

fn of_games(games: &[PlayedGame], number: impl Fn(&PlayedGame) -> f64) -> Statistics {
    Statistics::of(games.iter().map(&number)).expect("at least one game")
}

/// Statistics per game, computed from a number per piece.
fn of_estimates(estimates: &[EstimatedGame], number: impl Fn(&Estimate) -> f64) -> Statistics {
    let numbers =
        estimates.iter().map(|EstimatedGame { estimate, .. }| (number(estimate), estimate.loss_rate));
    Statistics::per_loss(numbers).expect("at least one estimate")
}

impl Score {
    /// The score of the first policy, from its games or estimates.
    pub fn of(name: &str, evaluated: &Evaluated, seconds: f64) -> Score {
        let score = match &evaluated.outcomes {
            Outcomes::Games(games) => Score::of_games(name, &games[0]),
            Outcomes::Estimates(estimates) => Score::of_estimates(name, &estimates[0]),
        };
        let pieces_per_second = evaluated.pieces as f64 / seconds;
        Score { pieces_played: evaluated.pieces, pieces_per_second, ..score }
    }

    fn of_games(name: &str, games: &[PlayedGame]) -> Score {
        let per_piece = |number: fn(&PlayedGame) -> f64| {
            PerPiece::of(games.iter().map(|game| (number(game), game.pieces as f64)))
        };
        Score {
            name: name.to_owned(),
            lines: of_games(games, |game| game.lines as f64),
            pieces: of_games(games, |game| game.pieces as f64),
            steps: of_games(games, |game| game.steps as f64),
            points: of_games(games, |game| game.score),
            lines_per_piece: per_piece(|game| game.lines as f64),
            points_per_piece: per_piece(|game| game.score),
            games: games.len() as u64,
            truncated: games.iter().filter(|game| game.is_truncated()).count() as u64,
            is_estimate: false,
            pieces_played: 0,
            pieces_per_second: 0.0,
        }
    }

    fn of_estimates(name: &str, estimates: &[EstimatedGame]) -> Score {
        // Every estimate takes about the same number of pieces, however long its game lasts.
        let per_piece = |number: fn(&Estimate) -> f64| {
            PerPiece::of(estimates.iter().map(|one| (number(&one.estimate), 1.0)))
        };
        Score {
            name: name.to_owned(),
            lines: of_estimates(estimates, |estimate| estimate.lines_per_piece),
            pieces: of_estimates(estimates, |_| 1.0),
            steps: of_estimates(estimates, |estimate| estimate.steps_per_piece),
            points: of_estimates(estimates, |estimate| estimate.score_per_piece),
            lines_per_piece: per_piece(|estimate| estimate.lines_per_piece),
            points_per_piece: per_piece(|estimate| estimate.score_per_piece),
            games: estimates.len() as u64,
            truncated: estimates.iter().filter(|one| one.estimate.lasts_longer).count() as u64,
            is_estimate: true,
            pieces_played: 0,
            pieces_per_second: 0.0,
        }
    }

    /// An estimate of the lines of whole games when some were cut; `None` if the numbers are estimates already.
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
        let (games, cut) = match self.is_estimate {
            true => ("num_estimates", "num_lasting_longer"),
            false => ("num_games", "num_truncated"),
        };
        json!({
            "name": self.name,
            games: self.games,
            cut: self.truncated,
            "lines": statistics_to_json(&self.lines),
            "pieces": statistics_to_json(&self.pieces),
            "steps": statistics_to_json(&self.steps),
            "score": statistics_to_json(&self.points),
            "lines_per_piece": per_piece(self.lines_per_piece),
            "score_per_piece": per_piece(self.points_per_piece),
            "lines_per_loss": per_loss,
            "pieces_per_second": self.pieces_per_second,
        })
    }
}

/// Statistics as a JSON object, with the names of the protocol's `Statistics`.
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
