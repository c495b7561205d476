//! How a bot's game ends: by the rules, at its last piece, or by a fault of the bot.

use std::time::Duration;

use super::moves::IllegalMove;

/// How a hosted game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All requested pieces have been placed.
    Complete,
    ToppedOut,
    /// The bot lost by a fault.
    Lost(BotFault),
}

/// A fault that lost a bot the game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BotFault {
    /// The bot suggested no move.
    #[error("it suggested no move")]
    GaveUp,
    /// None of the suggested moves is legal.
    #[error("its move {played} cannot be made: {why}{}", and_others(*.others))]
    IllegalMove {
        played: String,
        /// Why the first move is illegal.
        why: IllegalMove,
        /// Number of suggested moves after the first, none of them legal.
        others: usize,
    },
    /// The bot sent something that is not a message.
    #[error("it said {line:?}, which is no message: {why}")]
    NotAMessage {
        /// The line, or its beginning.
        line: String,
        /// Why it is not a message.
        why: String,
    },
    /// The bot sent another message than expected.
    #[error("it said {said}, expected {expected}")]
    OutOfTurn {
        /// Type of the message that the bot sent.
        said: &'static str,
        /// Type of the expected message.
        expected: &'static str,
    },
    /// The bot reported that it cannot play.
    #[error("it cannot play: {0}")]
    Refused(String),
    /// The bot was silent for too long.
    #[error("it said nothing for {} s, expected {expected}", .waited.as_secs_f64())]
    Silent {
        /// Type of the expected message.
        expected: &'static str,
        /// How long the host waited.
        waited: Duration,
    },
    /// The bot exited, or closed its output.
    #[error("it ended {how}, expected {expected}{}", in_words(.last_words))]
    Left {
        /// Type of the expected message.
        expected: &'static str,
        /// The bot's exit, in words.
        how: String,
        /// The end of the bot's stderr.
        last_words: String,
    },
    /// The bot stopped reading its input.
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
    /// Name of the fault in reports.
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

impl BotFault {
    /// Whether the bot listens and could go on.
    pub fn could_go_on(&self) -> bool {
        matches!(self, BotFault::GaveUp | BotFault::IllegalMove { .. })
    }

    fn name(&self) -> &'static str {
        match self {
            BotFault::GaveUp => "gave up",
            BotFault::IllegalMove { .. } => "illegal move",
            BotFault::NotAMessage { .. } => "no message",
            BotFault::OutOfTurn { .. } => "out of turn",
            BotFault::Refused(_) => "cannot play",
            BotFault::Silent { .. } => "silent",
            BotFault::Left { .. } => "left",
            BotFault::Deaf => "deaf",
        }
    }
}
