//! How a linear controller plays: the value of a game-ending placement, and how far it searches.
//!
//! Requests, flags, files of weights and settings of runs all say it with these types.

use serde::{Deserialize, Serialize};

use super::{Expectation, TerminalValue};

/// How a linear controller uses the pieces after the current one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// Not at all: the placement with the largest score is chosen.
    #[default]
    Greedy,
    /// Adds up scores over shown pieces.
    Lookahead {
        /// Number of shown pieces, at least 1.
        pieces: u32,
    },
    /// The best that the next pieces can reach, the exact mean for a hidden piece.
    Expectation(Expectation),
}

/// How a linear controller plays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Play {
    /// Value of a placement that ends the game.
    pub terminal_value: TerminalValue,
    /// The search.
    pub search: Search,
}

/// The parts of a [`Play`] that a caller chose; the controller decides the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayChoice {
    /// Value of a placement that ends the game.
    pub terminal_value: Option<TerminalValue>,
    /// The search.
    pub search: Option<Search>,
}

impl Search {
    /// Number of next pieces that the rules must show.
    pub fn pieces_shown(&self) -> u32 {
        match self {
            Search::Greedy => 0,
            Search::Lookahead { pieces } => *pieces,
            Search::Expectation(expectation) => expectation.pieces_shown().into(),
        }
    }
}

impl From<Play> for PlayChoice {
    fn from(Play { terminal_value, search }: Play) -> PlayChoice {
        PlayChoice { terminal_value: Some(terminal_value), search: Some(search) }
    }
}

impl PlayChoice {
    /// The choice completed by the controller's own way of playing.
    pub fn or(self, own: Play) -> Play {
        Play {
            terminal_value: self.terminal_value.unwrap_or(own.terminal_value),
            search: self.search.unwrap_or(own.search),
        }
    }
}
