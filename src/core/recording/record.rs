//! A recording: what was played, and what came of it.

use std::sync::Arc;

use crate::engine::{Dealer, EpisodeEnd, Piece, Playfield, Rules, RulesError};
use crate::env::{InvalidActionPolicy, PositionError, StartPosition};

/// A game that was played.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Which game.
    pub setup: Setup,
    /// Who or what played it, for people; may be empty.
    pub player: String,
    /// Where the game comes from, such as the number of a game in an evaluation, for people; may be empty.
    pub origin: String,
    /// What was done, one action a step: a placement, or a key.
    pub actions: Vec<u16>,
    /// The lines of every landing, one number a piece.
    pub landing_lines: Vec<u8>,
    /// What came of it.
    pub outcome: Outcome,
}

/// Everything that decides a game before its first action.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The rules.
    pub rules: Rules,
    /// What becomes of a placement that does not exist.
    pub invalid_actions: InvalidActionPolicy,
    /// Where the pieces come from.
    pub pieces: Pieces,
    /// The position that it began from; an empty playfield if there is none.
    pub start: Option<StartPosition>,
}

/// Where the pieces of a game come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// The seed of the episode.
    Seed(u64),
    /// Explicit pieces, at least one. The game ends behind the last one.
    Sequence(Arc<[Piece]>),
}

/// What came of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Pieces landed.
    pub pieces: u64,
    /// Lines cleared.
    pub lines: u64,
    /// Points.
    pub score: f64,
    /// How it ended; none if it could have gone on, as where a limit cut it.
    pub end: Option<EpisodeEnd>,
    /// The playfield after the last action.
    pub playfield: Playfield,
}

/// Why a recording is not one of a game.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RecordingError {
    /// Rules that cannot be played.
    #[error("rules: {0}")]
    Rules(#[from] RulesError),
    /// Explicit pieces that are none.
    #[error("pieces: the sequence is empty, expected at least one piece")]
    NoPieces,
    /// A position that cannot be played from.
    #[error("start: {0}")]
    Start(#[from] PositionError),
    /// A final playfield of another size than the rules'.
    #[error("outcome.playfield is {got_width} x {got_height}, expected {width} x {height}", got_width = .got.0, got_height = .got.1, width = .expected.0, height = .expected.1)]
    Playfield {
        /// Its width and height.
        got: (u8, u8),
        /// Those of the rules.
        expected: (u8, u8),
    },
}

impl Setup {
    /// A game of these rules and pieces from an empty playfield, in which every action must exist.
    pub fn new(rules: Rules, pieces: Pieces) -> Setup {
        Setup { rules, invalid_actions: InvalidActionPolicy::Reject, pieces, start: None }
    }

    /// Checks that it can be played.
    ///
    /// # Errors
    /// [`RecordingError`] for the first thing that is wrong.
    pub fn check(&self) -> Result<(), RecordingError> {
        self.rules.check()?;
        if matches!(&self.pieces, Pieces::Sequence(pieces) if pieces.is_empty()) {
            return Err(RecordingError::NoPieces);
        }
        if let Some(start) = &self.start {
            start.check(&self.rules)?;
        }
        Ok(())
    }

    /// Its pieces, from the first one.
    pub(super) fn dealer(&self) -> Dealer {
        match &self.pieces {
            Pieces::Seed(seed) => self.rules.dealer(*seed),
            Pieces::Sequence(pieces) => Dealer::sequence(pieces.clone()),
        }
    }
}

impl Recording {
    /// Checks that it can be replayed. Whether the replay comes to the same is another question: see
    /// [`Replay`](super::Replay).
    ///
    /// # Errors
    /// [`RecordingError`] for the first thing that is wrong.
    pub fn check(&self) -> Result<(), RecordingError> {
        self.setup.check()?;
        let (playfield, rules) = (&self.outcome.playfield, &self.setup.rules);
        let (got, expected) = ((playfield.width(), playfield.height()), (rules.width, rules.height));
        if got == expected { Ok(()) } else { Err(RecordingError::Playfield { got, expected }) }
    }
}
