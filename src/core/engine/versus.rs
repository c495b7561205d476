//! A match: two games that send each other garbage.
//!
//! Both players place a piece; that is a turn. Then the lines that left each side arrive at the other, where they wait.
//! So nothing rises in the turn in which it was sent. The match ends when a side is topped out, and in a draw when both
//! are in one turn.
//!
//! ```
//! use tetrion_core::engine::{Match, Rules};
//!
//! let rules = Rules { players: 2, ..Rules::preset("tetrio").unwrap() };
//! let mut versus = Match::new(&rules, 7)?;
//! while versus.result().is_none() {
//!     let first = |side: usize| versus.sides()[side].placements()[0].1;
//!     versus.place([first(0), first(1)])?;
//! }
//! assert!(versus.turns() > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `exchange.rs` moves lines from one side to the other.

use super::clears::Attack;
use super::episode_end::EpisodeEnd;
use super::live::{ActionRefused, Happened, Live};
use super::placement::Placement;
use super::rules::{Rules, RulesError};

/// Two games that send each other garbage, played a turn at a time.
#[derive(Clone, Debug)]
pub struct Match {
    sides: [Live; 2],
    turns: u64,
}

/// What a turn did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatchTurn {
    /// What each side's placement did; `None` for a side that did not move.
    pub happened: [Option<Happened>; 2],
    /// The lines that arrived at each side.
    pub arrived: [Attack; 2],
}

/// Who has won a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchResult {
    /// This side, 0 or 1, has won.
    Won(usize),
    Draw,
}

/// The reason why a turn was refused. A refused turn changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnRefused {
    #[error("the match is over")]
    Over,
    /// A side cannot do that.
    #[error("side {side}: {refused}")]
    Side {
        /// 0 or 1.
        side: usize,
        refused: ActionRefused,
    },
}

impl Match {
    /// The match with this seed. Both sides get the same pieces; the holes in their garbage differ.
    ///
    /// # Errors
    /// [`RulesError`] for rules that cannot be played, and for rules of one player.
    pub fn new(rules: &Rules, seed: u64) -> Result<Match, RulesError> {
        rules.check()?;
        if !rules.is_match() {
            return Err(RulesError::Contradiction("a match needs players 2"));
        }
        let side = |side| Live::starting(rules, rules.dealer(seed)).on_side(side);
        Ok(Match { sides: [side(0), side(1)], turns: 0 })
    }

    /// A match between two games that have begun.
    pub fn between(sides: [Live; 2]) -> Match {
        Match { sides, turns: 0 }
    }

    /// Both games.
    pub fn sides(&self) -> &[Live; 2] {
        &self.sides
    }

    /// Number of turns so far.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// The result, once the match is over. A side that has run out of pieces has not lost.
    pub fn result(&self) -> Option<MatchResult> {
        let [end, _] = self.sides.each_ref().map(Live::end);
        end?;
        Some(match EpisodeEnd::won(end) {
            1 => MatchResult::Won(0),
            -1 => MatchResult::Won(1),
            _ => MatchResult::Draw,
        })
    }

    /// Plays a turn: a placement of each side, then the exchange of lines.
    ///
    /// # Errors
    /// [`TurnRefused`] if the match is over, or for a placement that does not exist.
    pub fn place(&mut self, placements: [Placement; 2]) -> Result<MatchTurn, TurnRefused> {
        if self.result().is_some() {
            return Err(TurnRefused::Over);
        }
        let check = |side: usize| {
            self.sides[side].check(placements[side]).map_err(|refused| TurnRefused::Side { side, refused })
        };
        let pieces = [check(0)?, check(1)?];
        let [first, second] = &mut self.sides;
        let happened =
            [Some(first.put(pieces[0], placements[0])), Some(second.put(pieces[1], placements[1]))];
        self.turns += 1;
        Ok(MatchTurn { happened, arrived: self.exchange() })
    }

    /// Plays half a turn, where players take turns: a placement of one side, whose lines arrive at once.
    ///
    /// # Errors
    /// [`TurnRefused`] if the match is over, or for a placement that does not exist.
    ///
    /// # Panics
    /// When there is no such side.
    pub fn place_one(&mut self, side: usize, placement: Placement) -> Result<MatchTurn, TurnRefused> {
        if self.result().is_some() {
            return Err(TurnRefused::Over);
        }
        let player = &mut self.sides[side];
        let piece = player.check(placement).map_err(|refused| TurnRefused::Side { side, refused })?;
        let mut happened = [None; 2];
        happened[side] = Some(player.put(piece, placement));
        self.turns += side as u64;
        Ok(MatchTurn { happened, arrived: self.exchange() })
    }

    fn exchange(&mut self) -> [Attack; 2] {
        let [first, second] = &mut self.sides;
        first.exchange(second)
    }
}
