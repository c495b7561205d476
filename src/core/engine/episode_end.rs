//! The reasons for the end of an episode: the rules, the player, or a limit.
//!
//! The engine itself ends games for two of these reasons. The others belong to environments and evaluations. They are
//! here so that all code that plays uses the same names.

use std::fmt;

/// The reason for the end of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EpisodeEnd {
    /// The rules ended the game.
    ToppedOut = 2,
    /// An action that did not exist ended the episode.
    InvalidAction = 3,
    /// The limit of steps was reached.
    StepLimit = 4,
    /// The limit of pieces was reached.
    PieceLimit = 5,
    /// The explicit pieces were used up.
    OutOfPieces = 6,
    /// The opponent in a match has lost.
    Won = 7,
    /// Both sides of a match lost in the same turn.
    Drawn = 8,
}

impl EpisodeEnd {
    /// All reasons, in ascending order of their numbers.
    const ALL: [EpisodeEnd; 7] = [
        EpisodeEnd::ToppedOut,
        EpisodeEnd::InvalidAction,
        EpisodeEnd::StepLimit,
        EpisodeEnd::PieceLimit,
        EpisodeEnd::OutOfPieces,
        EpisodeEnd::Won,
        EpisodeEnd::Drawn,
    ];

    /// The number of an episode that has not ended.
    const NOT_ENDED: u8 = 1;

    /// The number of an end in messages and tensors; 1 for `None`.
    #[inline]
    pub const fn number(end: Option<EpisodeEnd>) -> u8 {
        match end {
            Some(end) => end as u8,
            None => EpisodeEnd::NOT_ENDED,
        }
    }

    /// The end with a number: `Some(None)` for 1, and `None` if no end has the number.
    pub fn with_number(number: u8) -> Option<Option<EpisodeEnd>> {
        if number == EpisodeEnd::NOT_ENDED {
            return Some(None);
        }
        EpisodeEnd::ALL.into_iter().find(|end| *end as u8 == number).map(Some)
    }

    /// The name of an end in files and `--json`: the protocol's name in lower case, or `not_ended`.
    pub const fn name(end: Option<EpisodeEnd>) -> &'static str {
        match end {
            None => "not_ended",
            Some(EpisodeEnd::ToppedOut) => "topped_out",
            Some(EpisodeEnd::InvalidAction) => "invalid_action",
            Some(EpisodeEnd::StepLimit) => "step_limit",
            Some(EpisodeEnd::PieceLimit) => "piece_limit",
            Some(EpisodeEnd::OutOfPieces) => "out_of_pieces",
            Some(EpisodeEnd::Won) => "won",
            Some(EpisodeEnd::Drawn) => "drawn",
        }
    }

    /// Whether the rules or the player terminated the episode. If not, a limit truncated it.
    #[inline]
    pub const fn is_terminated(self) -> bool {
        self.is_lost() || matches!(self, EpisodeEnd::Won | EpisodeEnd::Drawn)
    }

    /// Whether the player has lost.
    #[inline]
    pub const fn is_lost(self) -> bool {
        matches!(self, EpisodeEnd::ToppedOut | EpisodeEnd::InvalidAction)
    }

    /// The ends of both sides of a match after a turn that ended one or both of them by itself: they end together.
    pub fn of_match(ends: [Option<EpisodeEnd>; 2]) -> [Option<EpisodeEnd>; 2] {
        let lost = ends.map(|end| end.is_some_and(EpisodeEnd::is_lost));
        match lost {
            [true, true] => [Some(EpisodeEnd::Drawn); 2],
            [true, false] => [ends[0], Some(EpisodeEnd::Won)],
            [false, true] => [Some(EpisodeEnd::Won), ends[1]],
            [false, false] => [ends[0].or(ends[1]), ends[1].or(ends[0])],
        }
    }

    /// The result of a match for the side with this end: 1 if it has won, -1 if it has lost, else 0.
    pub const fn won(end: Option<EpisodeEnd>) -> i8 {
        match end {
            Some(EpisodeEnd::Won) => 1,
            Some(EpisodeEnd::ToppedOut | EpisodeEnd::InvalidAction) => -1,
            _ => 0,
        }
    }
}

impl fmt::Display for EpisodeEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EpisodeEnd::ToppedOut => "topped out",
            EpisodeEnd::InvalidAction => "ended by an action that does not exist",
            EpisodeEnd::StepLimit => "cut by the limit of steps",
            EpisodeEnd::PieceLimit => "cut by the limit of pieces",
            EpisodeEnd::OutOfPieces => "out of pieces",
            EpisodeEnd::Won => "won against the other side",
            EpisodeEnd::Drawn => "drawn: both sides lost in one turn",
        })
    }
}
