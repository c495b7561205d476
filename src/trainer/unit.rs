//! The unit in which training scores games.

use serde::{Deserialize, Serialize};

use tetrion_client::{Estimate, PlayedGame};

/// The unit of a game's score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
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

    /// Smallest possible score of a game.
    pub fn least(self) -> f64 {
        match self {
            Unit::Lines => 0.0,
            Unit::Points => f64::NEG_INFINITY,
        }
    }

    /// The score of a game in this unit.
    pub fn of(self, game: &PlayedGame) -> f64 {
        match self {
            Unit::Lines => game.lines as f64,
            Unit::Points => game.score,
        }
    }

    /// The score per piece of an estimate, in this unit.
    pub fn per_piece(self, estimate: &Estimate) -> f64 {
        match self {
            Unit::Lines => estimate.lines_per_piece,
            Unit::Points => estimate.score_per_piece,
        }
    }
}
