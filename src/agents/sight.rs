//! What an agent sees of a game.

use crate::engine::{Odds, Playfield, Rules, Tetromino};

/// What an agent sees of a game.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The cells.
    pub playfield: &'a Playfield,
    /// The piece to be placed; it can come into play.
    pub piece: Tetromino,
    /// The pieces after it, as far as the rules show them.
    pub next: &'a [Tetromino],
    /// How likely each tetromino is to follow those.
    pub odds: Odds,
    /// Lines cleared so far in the game.
    pub lines: u64,
}
