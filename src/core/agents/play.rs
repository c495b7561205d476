//! The way a controller or a formula plays: the value of a game-ending placement, and the depth of its search.
//!
//! Requests, flags, weight files and run settings all use these types.

use super::{Search, TerminalValue};

/// The way a linear controller plays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Play {
    /// Value of a game-ending placement.
    pub terminal_value: TerminalValue,
    pub search: Search,
}

/// A caller's choice of a [`Play`]. For parts that are `None`, the controller decides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayChoice {
    /// Value of a game-ending placement.
    pub terminal_value: Option<TerminalValue>,
    pub search: Option<Search>,
}

impl From<Play> for PlayChoice {
    fn from(Play { terminal_value, search }: Play) -> PlayChoice {
        PlayChoice { terminal_value: Some(terminal_value), search: Some(search) }
    }
}

impl PlayChoice {
    /// This choice, completed by the controller's own way of playing.
    pub fn or(self, own: Play) -> Play {
        Play {
            terminal_value: self.terminal_value.unwrap_or(own.terminal_value),
            search: self.search.unwrap_or(own.search),
        }
    }
}
