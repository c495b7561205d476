//! A recording: the setup of a game, its actions, and their outcome.

use std::sync::Arc;

use tetrion_core::engine::{Dealer, EpisodeEnd, Piece, PieceSequence, Playfield, Rules, RulesError};
use tetrion_core::env::{InvalidActionPolicy, PositionError, StartPosition};

/// A game as a file holds it: enough to play it again, and to check that it comes out the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub setup: Setup,
    /// The player, for people; may be empty.
    pub player: String,
    /// The origin of the game for people, such as its number in an evaluation; may be empty.
    pub origin: String,
    /// The actions, one per step: placements or keys.
    pub actions: Vec<u16>,
    /// The lines of every landing, one number per piece.
    pub landing_lines: Vec<u8>,
    pub outcome: Outcome,
    /// Side 1 of a match, of which the other fields record side 0; `None` in games of one player.
    pub opponent: Option<RecordedOpponent>,
}

/// The other side of a recorded match. It has the rules and the pieces of side 0.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedOpponent {
    /// The player, for people; may be empty.
    pub player: String,
    /// Actions of side 1, one per turn.
    pub actions: Vec<u16>,
    /// The lines of every landing.
    pub landing_lines: Vec<u8>,
    pub outcome: Outcome,
}

/// Everything that decides a game before its first action.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    pub rules: Rules,
    /// The effect of an action that does not exist.
    pub invalid_actions: InvalidActionPolicy,
    /// The source of the pieces.
    pub pieces: Pieces,
    /// With explicit pieces and garbage, the columns of the first holes of each side; of one side in a game of one player.
    pub hole_columns: [Vec<u8>; 2],
    /// The start position; `None` for an empty playfield, as in every match.
    pub start: Option<StartPosition>,
}

/// The source of a game's pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// The seed of the episode.
    Seed(u64),
    /// Explicit pieces, at least one. The game ends after the last one.
    Sequence(Arc<[Piece]>),
}

/// The outcome of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub pieces: u64,
    pub lines: u64,
    pub score: f64,
    /// The way the game ended; `None` if it could have continued, for example if a limit cut it.
    pub end: Option<EpisodeEnd>,
    /// The playfield after the last action.
    pub playfield: Playfield,
}

/// The reason why a recording cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RecordingError {
    /// Rules that cannot be played.
    #[error("rules: {0}")]
    Rules(#[from] RulesError),
    /// An empty sequence of pieces.
    #[error("pieces: the sequence is empty, expected at least one piece")]
    NoPieces,
    /// Columns of holes that the game would not use.
    #[error("hole_columns: is set, expected none: {0}")]
    UnusedHoles(&'static str),
    /// A hole outside of the playfield.
    #[error("hole_columns: has {column}, expected 0 to {}", width - 1)]
    HoleColumn { column: u8, width: u8 },
    #[error("start: {0}")]
    Start(#[from] PositionError),
    /// A match that starts from a position.
    #[error("start: is set, expected none: a recorded match begins with empty playfields")]
    StartOfMatch,
    /// A match without its other side, or another game with one.
    #[error("opponent: is {}", if *players == 2 { "missing, and rules with players 2 have two sides" } else { "set, and the rules have players 1" })]
    Opponent { players: u8 },
    /// Sides of a match with different numbers of turns.
    #[error("opponent.actions: has {got}, expected {expected}, one per turn")]
    Turns { got: usize, expected: usize },
    /// A final playfield whose size is not the rules' size.
    #[error("outcome.playfield is {got_width} x {got_height}, expected {width} x {height}", got_width = .got.0, got_height = .got.1, width = .expected.0, height = .expected.1)]
    Playfield {
        /// Width and height of the final playfield.
        got: (u8, u8),
        /// Width and height under the rules.
        expected: (u8, u8),
    },
}

impl Setup {
    /// A game with these rules and pieces from an empty playfield, in which every action must exist.
    pub fn new(rules: Rules, pieces: Pieces) -> Setup {
        let invalid_actions = InvalidActionPolicy::Reject;
        Setup { rules, invalid_actions, pieces, hole_columns: Default::default(), start: None }
    }

    /// Checks that the game can be played.
    ///
    /// # Errors
    /// [`RecordingError`] for the first problem.
    pub fn check(&self) -> Result<(), RecordingError> {
        self.rules.check()?;
        if matches!(&self.pieces, Pieces::Sequence(pieces) if pieces.is_empty()) {
            return Err(RecordingError::NoPieces);
        }
        self.check_holes()?;
        if let Some(start) = &self.start {
            if self.rules.is_match() {
                return Err(RecordingError::StartOfMatch);
            }
            start.check(&self.rules)?;
        }
        Ok(())
    }

    fn check_holes(&self) -> Result<(), RecordingError> {
        let Setup { rules, pieces, hole_columns, .. } = self;
        let Some(&most) = hole_columns.iter().flatten().max() else { return Ok(()) };
        let unused = [
            (matches!(pieces, Pieces::Seed(_)), "a seed decides the holes"),
            (rules.garbage.is_none(), "the rules have no garbage"),
            (!rules.is_match() && !hole_columns[1].is_empty(), "a game of one player has no side 1"),
        ];
        if let Some((_, why)) = unused.into_iter().find(|(is_unused, _)| *is_unused) {
            return Err(RecordingError::UnusedHoles(why));
        }
        let width = rules.width;
        if most < width { Ok(()) } else { Err(RecordingError::HoleColumn { column: most, width }) }
    }

    /// A dealer of a side's pieces, from the first one.
    pub(super) fn dealer(&self, side: usize) -> Dealer {
        match &self.pieces {
            Pieces::Seed(seed) => self.rules.dealer(*seed),
            Pieces::Sequence(pieces) => {
                let holes = self.hole_columns[side].clone();
                Dealer::sequence_with_holes(Arc::new(PieceSequence { pieces: pieces.clone(), holes }))
            }
        }
    }
}

impl Recording {
    /// Checks that the recording can be replayed. A [`Replay`](super::Replay) also checks that the outcome is equal.
    ///
    /// # Errors
    /// [`RecordingError`] for the first problem.
    pub fn check(&self) -> Result<(), RecordingError> {
        self.setup.check()?;
        let rules = &self.setup.rules;
        if rules.is_match() != self.opponent.is_some() {
            return Err(RecordingError::Opponent { players: rules.players });
        }
        if let Some(RecordedOpponent { actions, .. }) = &self.opponent
            && actions.len() != self.actions.len()
        {
            return Err(RecordingError::Turns { got: actions.len(), expected: self.actions.len() });
        }
        for outcome in [&self.outcome].into_iter().chain(self.opponent.iter().map(|side| &side.outcome)) {
            let playfield = &outcome.playfield;
            let (got, expected) = ((playfield.width(), playfield.height()), (rules.width, rules.height));
            if got != expected {
                return Err(RecordingError::Playfield { got, expected });
            }
        }
        Ok(())
    }

    /// Whether a picture of it has words: a player's name, or how it ended.
    pub fn has_words(&self) -> bool {
        let players = [Some(&self.player), self.opponent.as_ref().map(|side| &side.player)];
        players.into_iter().flatten().any(|name| !name.is_empty()) || self.outcome.end.is_some()
    }

    /// The actions of a step: of a turn of both sides in a match, else of one player and 0.
    pub(super) fn turn(&self, step: usize) -> [u16; 2] {
        [self.actions[step], self.opponent.as_ref().map_or(0, |side| side.actions[step])]
    }
}
