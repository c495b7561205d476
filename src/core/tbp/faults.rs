//! How a game of a bot ends: by the rules, at its last piece, or by something that a bot must not do.

use std::time::Duration;

use super::moves::IllegalMove;

/// How a hosted game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All pieces that were asked for have been placed.
    Complete,
    /// By the rules.
    ToppedOut,
    /// The bot lost it in another way.
    Lost(Fault),
}

/// What a bot did that lost it the game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It suggested no move.
    #[error("it suggested no move")]
    GaveUp,
    /// None of the moves that it suggested can be made.
    #[error("its move {played} cannot be made: {why}{}", and_others(*.others))]
    IllegalMove {
        /// The first of them.
        played: String,
        /// Why that one cannot be made.
        why: IllegalMove,
        /// How many more there were.
        others: usize,
    },
    /// It said something that is no message.
    #[error("it said {line:?}, which is no message: {why}")]
    NotAMessage {
        /// What it said, or the beginning of it.
        line: String,
        /// Why that is none.
        why: String,
    },
    /// It said something else than what was to come.
    #[error("it said {said}, expected {expected}")]
    OutOfTurn {
        /// The type of the message.
        said: &'static str,
        /// That of the one that was to come.
        expected: &'static str,
    },
    /// It says that it cannot play.
    #[error("it cannot play: {0}")]
    Refused(String),
    /// It said nothing.
    #[error("it said nothing for {} s, expected {expected}", .waited.as_secs_f64())]
    Silent {
        /// What was to come.
        expected: &'static str,
        /// How long it had.
        waited: Duration,
    },
    /// It ended, or closed its output.
    #[error("it ended {how}, expected {expected}{}", in_words(.last_words))]
    Left {
        /// What was to come.
        expected: &'static str,
        /// How it ended.
        how: String,
        /// The end of what it wrote to stderr.
        last_words: String,
    },
    /// It leaves unread what it is told.
    #[error("it leaves unread what it is told")]
    Deaf,
}

fn and_others(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => "; nor can another one".to_owned(),
        others => format!("; nor can {others} others"),
    }
}

fn in_words(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("; its last words: {words}") }
}

impl End {
    /// What it is counted as.
    pub fn name(&self) -> &'static str {
        match self {
            End::Complete => "complete",
            End::ToppedOut => "topped out",
            End::Lost(fault) => fault.name(),
        }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Lost(fault) => fault.fmt(f),
            end => f.write_str(end.name()),
        }
    }
}

impl Fault {
    fn name(&self) -> &'static str {
        match self {
            Fault::GaveUp => "gave up",
            Fault::IllegalMove { .. } => "illegal move",
            Fault::NotAMessage { .. } => "no message",
            Fault::OutOfTurn { .. } => "out of turn",
            Fault::Refused(_) => "cannot play",
            Fault::Silent { .. } => "silent",
            Fault::Left { .. } => "left",
            Fault::Deaf => "deaf",
        }
    }
}
