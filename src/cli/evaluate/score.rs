//! The result of a controller's games.

use serde_json::{Value, json};

use crate::client::GameResult;
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
    /// Pieces a second, on all threads together.
    pub pieces_per_second: f64,
}

/// A contestant's games minus those of the first one, game by game on the same pieces.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    /// The name of the contestant.
    pub name: String,
    /// Lines.
    pub lines: Statistics,
    /// Points.
    pub points: Statistics,
}

impl Score {
    /// Sums up at least one game.
    pub fn of(name: &str, games: &[GameResult], seconds: f64) -> Score {
        let statistics = |number: fn(&GameResult) -> f64| {
            Statistics::of(games.iter().map(number)).expect("at least one game")
        };
        let per_piece = |number: fn(&GameResult) -> f64| {
            PerPiece::of(games.iter().map(|game| (number(game), game.pieces as f64)))
        };
        let pieces = statistics(|game| game.pieces as f64);
        Score {
            name: name.to_owned(),
            lines: statistics(|game| game.lines as f64),
            pieces,
            points: statistics(|game| game.score),
            lines_per_piece: per_piece(|game| game.lines as f64),
            points_per_piece: per_piece(|game| game.score),
            games: games.len() as u64,
            truncated: games.iter().filter(|game| game.truncated).count() as u64,
            pieces_per_second: pieces.mean * games.len() as f64 / seconds,
        }
    }

    /// An estimate of the lines of whole games, where some were cut.
    pub fn lines_per_loss(&self) -> LinesPerLoss {
        let lines = self.lines.mean * self.games as f64;
        LinesPerLoss::of(lines.round() as u64, self.games - self.truncated)
    }

    /// The object that `--json` prints.
    pub fn to_json(&self) -> Value {
        let per_loss = self.lines_per_loss();
        json!({
            "name": self.name,
            "games": self.games,
            "mean_lines": self.lines.mean,
            "std_lines": self.lines.spread.map(|spread| spread.std),
            "ci95": self.lines.spread.map(|spread| spread.ci95),
            "mean_pieces": self.pieces.mean,
            "mean_score": self.points.mean,
            "std_score": self.points.spread.map(|spread| spread.std),
            "score_ci95": self.points.spread.map(|spread| spread.ci95),
            "lines_per_piece": self.lines_per_piece.map(|lines| lines.mean),
            "lines_per_piece_ci95": self.lines_per_piece.and_then(|lines| lines.ci95),
            "score_per_piece": self.points_per_piece.map(|points| points.mean),
            "score_per_piece_ci95": self.points_per_piece.and_then(|points| points.ci95),
            "truncated_games": self.truncated,
            "lower_bound": self.truncated > 0,
            "lines_per_loss": per_loss.estimate,
            "lines_per_loss_ci95": [Some(per_loss.at_least), per_loss.at_most],
            "pieces_per_second": self.pieces_per_second,
        })
    }
}
