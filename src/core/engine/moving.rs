//! A piece on its way down, in either kind of game with keys: it appears, a key moves it, and it comes to rest.
//!
//! [`FallingPiece`] and [`SteeredPiece`] know how their kind moves. This file joins them for code that plays games of
//! either kind. It knows neither what is dealt nor what follows a landing; where a key holds the piece, it says which piece
//! comes into play, and the code that deals performs the exchange.

use super::column::Column;
use super::hand::Hand;
use super::key::Key;
use super::keypress::FallingPiece;
use super::piece::Piece;
use super::placement::Placement;
use super::playfield::PlayfieldOf;
use super::rules::Rules;
use super::shape::{PieceCells, Shape};
use super::spin::Spin;
use super::steered::SteeredPiece;
use super::tetromino::Tetromino;

/// A piece on its way down, in either kind of game with keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovingPiece {
    /// The piece falls by a row with every key.
    Falling(FallingPiece),
    Steered(SteeredPiece),
}

/// A piece at rest, before rows clear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RestedPiece {
    pub shape: &'static Shape,
    /// Row of the lowest cells.
    pub row: u8,
    /// Column of the leftmost cells.
    pub column: u8,
    pub spin: Spin,
}

/// What a key did to a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KeyEffect {
    /// The piece is still in play, here.
    Moves(MovingPiece),
    /// The piece is held, and this one comes into play: the one that was held, or the next one.
    Holds(MovingPiece),
    Rests(RestedPiece),
}

impl MovingPiece {
    /// A piece as it appears under rules with keys. A blocked piece overlaps the cells that block it.
    pub(crate) fn spawn<C: Column, const N: usize>(
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        piece: Piece,
    ) -> MovingPiece {
        if rules.steers() {
            SteeredPiece::spawn(rules, playfield, piece).into()
        } else {
            FallingPiece::spawn(piece, rules.width, rules.height).into()
        }
    }

    /// Whether a key can be pressed now. `next` is the next piece, if it can come into play by hold.
    pub fn has_key<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        key: Key,
        held: Option<Piece>,
        next: Option<Piece>,
    ) -> bool {
        rules.keys().contains(&key)
            && match self {
                MovingPiece::Falling(_) => true,
                MovingPiece::Steered(piece) => piece.has_key(rules, playfield, key, held, next),
            }
    }

    /// The key to press next towards each placement.
    pub(crate) fn keys_towards<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        targets: &[Placement],
    ) -> Vec<Key> {
        match self {
            MovingPiece::Falling(piece) => {
                targets.iter().map(|&target| piece.key_towards(target, rules.width)).collect()
            }
            MovingPiece::Steered(piece) => piece.keys_towards(rules, playfield, targets),
        }
    }

    /// The key to press next towards a placement.
    pub fn key_towards<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        target: Placement,
    ) -> Key {
        match self {
            MovingPiece::Falling(piece) => piece.key_towards(target, rules.width),
            MovingPiece::Steered(piece) => piece.key_towards(rules, playfield, target),
        }
    }

    /// Presses a key.
    ///
    /// # Panics
    /// When the key cannot be pressed.
    pub(crate) fn press<C: Column, const N: usize>(
        self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        key: Key,
        held: Option<Piece>,
        next: Option<Piece>,
    ) -> KeyEffect {
        match self {
            MovingPiece::Falling(piece) => {
                let fall = piece.step(key, playfield);
                if !fall.rests {
                    return KeyEffect::Moves(fall.piece.into());
                }
                let (row, column) = fall.piece.corner();
                KeyEffect::Rests(RestedPiece { shape: fall.piece.shape(), row, column, spin: Spin::None })
            }
            MovingPiece::Steered(piece) if key == Key::Hold => {
                let swapped = piece.swapped(rules, playfield, held, next);
                KeyEffect::Holds(swapped.expect("a key that can be pressed").into())
            }
            MovingPiece::Steered(piece) => {
                let steered = piece.step(rules, playfield, key);
                let Some(resting) = steered.resting else { return KeyEffect::Moves(steered.piece.into()) };
                let (shape, spin) = (resting.shape(piece.tetromino), resting.spin);
                KeyEffect::Rests(RestedPiece { shape, row: resting.row, column: resting.column, spin })
            }
        }
    }

    /// The tetromino of either kind of piece.
    pub(crate) fn tetromino(&self) -> Tetromino {
        match self {
            MovingPiece::Falling(piece) => piece.tetromino,
            MovingPiece::Steered(piece) => piece.tetromino,
        }
    }

    /// The row and column of each of the four cells, sorted by row, then by column. Rows may be above the playfield.
    pub fn cells(&self) -> PieceCells {
        match self {
            MovingPiece::Falling(piece) => piece.cells(),
            MovingPiece::Steered(piece) => piece.cells(),
        }
    }

    /// The resting cells of the piece if it were dropped now.
    ///
    /// # Panics
    /// When the piece overlaps full cells.
    pub fn dropped<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
    ) -> PieceCells {
        match self {
            MovingPiece::Falling(piece) => piece.step(Key::HardDrop, playfield).piece.cells(),
            MovingPiece::Steered(piece) => piece.dropped(rules, playfield),
        }
    }

    /// Whether the piece came into play because the previous one was held. No piece can be held then.
    pub fn is_swapped(&self) -> bool {
        matches!(self, MovingPiece::Steered(SteeredPiece { is_swapped: true, .. }))
    }
}

impl Rules {
    /// The rules for the choice of a placement while a piece is moving. They do not allow hold if the piece came into
    /// play by hold.
    #[must_use]
    pub fn while_moving(self, piece: Option<MovingPiece>) -> Rules {
        Rules { hold: self.hold && !piece.is_some_and(|piece| piece.is_swapped()), ..self }
    }
}

impl Hand {
    /// The hand while a piece is moving. A piece that came into play by hold cannot be held itself.
    #[must_use]
    pub(crate) fn with(self, moving: Option<MovingPiece>) -> Hand {
        if moving.is_some_and(|piece| piece.is_swapped()) { Hand::only(self.current) } else { self }
    }
}

impl From<FallingPiece> for MovingPiece {
    fn from(piece: FallingPiece) -> MovingPiece {
        MovingPiece::Falling(piece)
    }
}

impl From<SteeredPiece> for MovingPiece {
    fn from(piece: SteeredPiece) -> MovingPiece {
        MovingPiece::Steered(piece)
    }
}
