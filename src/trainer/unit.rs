//! What the games of a training are scored by.

use serde::{Deserialize, Serialize};

use crate::client::GameResult;

/// What a game is scored by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Lines cleared.
    #[default]
    Lines,
    /// Points under the rules' scoring.
    Points,
}

impl Unit {
    /// Name of the unit, in files and for people.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Lines => "lines",
            Unit::Points => "points",
        }
    }

    /// The score of a game.
    pub fn of(self, game: &GameResult) -> f64 {
        match self {
            Unit::Lines => game.lines as f64,
            Unit::Points => game.score,
        }
    }
}
