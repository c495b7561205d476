//! Keys in modern Tetris: a piece that is steered while time passes.
//!
//! A step is one key. It is done, if it can be: a step sideways, a turn with its kicks, a drop. Then time passes by a step. A
//! piece in the air falls by a row when it has been there for as many steps as the rules' [fall delay](Timing::fall_delay) says
//! since it last fell, by whatever. A piece on the ground locks when it has been there for as many as the lock delay
//! says. A hard drop locks at once.
//!
//! A step or a turn of a piece on the ground lets the delay begin anew, but only so many times
//! ([`Timing::lock_resets`]). When a piece comes lower than ever before, all of that starts over. Turns can kick a piece
//! upwards, and some could do so for ever, so [`MAX_LIFTS`] bounds these too, and with them the steps of a piece: no game
//! can be stalled.
//!
//! This file knows one piece and a playfield. Which piece comes next, and which one is held, is up to the code that deals them.
//!
//! The surprising decision: a turned O is where it was, so for an O no turn is done at all, and none begins its delay anew.

use super::column::Column;
use super::hand::Hand;
use super::key::Key;
use super::keypress::FallingPiece;
use super::paths::Paths;
use super::place::{Arrival, Ground, Place, Turned};
use super::placement::{Placement, Spot};
use super::playfield::PlayfieldOf;
use super::reach::is_blocked;
use super::reachable::{Movement, Resting};
use super::rotation::{HalfTurns, Turns};
use super::rules::Rules;
use super::shape::{PieceCells, Shape};
use super::spin::SpinRule;
use super::tetromino::{TRUE_POSES, Tetromino};
use super::timing::Timing;

/// How often kicks may lift a piece before it comes lower than ever before. Then turns try only places that are not higher
/// than their first one.
pub const MAX_LIFTS: u8 = 15;

/// The most rows that an anchor can be above the height. A piece appears at most one above; a kick that lifts it, by two rows
/// at most, needs a full cell in the way of the first place, which is at most two rows below the anchor.
pub const MAX_HEIGHT_ABOVE: u8 = 4;

/// A piece in play, as keys and time have moved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SteeredPiece {
    /// Which.
    pub tetromino: Tetromino,
    /// Quarter turns clockwise from how it appeared, 0..=3; 0 for an O.
    pub turns: u8,
    /// Column of the anchor cell.
    pub column: u8,
    /// Row of the anchor cell.
    pub row: u8,
    /// How it came there.
    pub arrival: Arrival,
    /// Whether it came into play because the one before it was held, so that it cannot be held itself.
    pub is_swapped: bool,
    /// Steps in the air since it last fell.
    pub steps_in_air: u8,
    /// Steps on the ground since it came there, or since its delay began anew.
    pub steps_on_ground: u8,
    /// How often its delay has begun anew.
    pub lock_resets: u8,
    /// How often a kick has lifted it.
    pub lifts: u8,
    /// The lowest row that its lowest cell has been in.
    pub lowest_row: u8,
}

/// Where a step has left a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steered {
    /// The piece.
    pub piece: SteeredPiece,
    /// The placement that it has made, if it has come to rest.
    pub resting: Option<Resting>,
}

impl SteeredPiece {
    /// A piece as it appears; where it is blocked, over the cells that block it.
    pub fn spawn<C: Column, const N: usize>(
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> SteeredPiece {
        let movement = Movement::of(rules);
        let row = movement.spawn(playfield, tetromino).unwrap_or(movement.spawn_row);
        SteeredPiece {
            tetromino,
            turns: 0,
            column: Movement::spawn_column(playfield.width()),
            row,
            arrival: Arrival::Moved,
            is_swapped: false,
            steps_in_air: 0,
            steps_on_ground: 0,
            lock_resets: 0,
            lifts: 0,
            // As created, no piece has cells below its anchor.
            lowest_row: row,
        }
    }

    /// The piece that comes into play if this one is held: the one that is held already, or the next one while none is. None
    /// if the rules have no hold, this piece came into play that way, there is no other piece, or it is blocked.
    ///
    /// An equal one can take its place: that brings the piece back to where it appears.
    pub fn swapped<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        held: Option<Tetromino>,
        next: Option<Tetromino>,
    ) -> Option<SteeredPiece> {
        let can_be_held = rules.hold && !self.is_swapped;
        let other = held.or(next).filter(|other| can_be_held && !is_blocked(rules, playfield, *other))?;
        Some(SteeredPiece { is_swapped: true, ..SteeredPiece::spawn(rules, playfield, other) })
    }

    /// Whether a key can be pressed: one to hold the piece needs another one that can come into play, half a turn rules that
    /// have it. All others can be pressed at any time, whatever they do.
    pub fn has_key<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        key: Key,
        held: Option<Tetromino>,
        next: Option<Tetromino>,
    ) -> bool {
        match key {
            Key::TurnHalf => rules.half_turns != HalfTurns::None,
            Key::Hold => self.swapped(rules, playfield, held, next).is_some(),
            _ => true,
        }
    }

    /// Its shape in its current orientation.
    #[inline]
    pub fn shape(&self) -> &'static Shape {
        &TRUE_POSES[self.tetromino.index()][usize::from(self.turns)]
    }

    /// The row and the column of its four cells, by row, then by column. Rows may be above the playfield.
    ///
    /// # Panics
    /// When it sticks out on the left or below, which no [free](SteeredPiece::is_free) piece does.
    pub fn cells(&self) -> PieceCells {
        let shape = self.shape();
        shape.cells_at(self.row - shape.anchor_row, self.column - shape.anchor_column)
    }

    /// Whether it is between the walls, above the floor, and overlaps nothing.
    pub fn is_free<C: Column, const N: usize>(&self, rules: &Rules, playfield: &PlayfieldOf<C, N>) -> bool {
        let Place { orientation, column, row, .. } = self.place(rules.spin_rule);
        Around::new(rules, playfield, self.tetromino).is_free(orientation, column, row)
    }

    /// One step: the key, unless it cannot be done, then a step of time. [`Key::Hold`] does nothing here:
    /// [`swapped`](SteeredPiece::swapped) has the piece that takes its place, and no time passes then.
    ///
    /// # Panics
    /// When the piece is not [free](SteeredPiece::is_free) to begin with, or no [time](Rules::timing) passes by the rules.
    pub fn step<C: Column, const N: usize>(
        mut self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        key: Key,
    ) -> Steered {
        let Timing { fall_delay, lock_delay, lock_resets } =
            rules.timing.expect("time passes by these rules");
        let around = Around::new(rules, playfield, self.tetromino);
        let mut place = self.place(rules.spin_rule);
        let turned = |quarters| around.turned(place, quarters, self.lifts < MAX_LIFTS);
        let unturned = |moved: Option<Place>| (moved, Arrival::Moved, false);
        let (moved, arrival, is_lifted) = match key {
            Key::Idle | Key::Hold => unturned(None),
            Key::Left | Key::FarLeft => unturned(around.moved(place, -1, 0)),
            Key::Right | Key::FarRight => unturned(around.moved(place, 1, 0)),
            Key::SoftDrop => unturned(around.moved(place, 0, -1)),
            Key::SonicDrop | Key::HardDrop => unturned(around.fallen(place)),
            Key::TurnRight | Key::TurnHalf | Key::TurnLeft => match turned(key.quarter_turns()) {
                Some(Turned { place, arrival, is_lifted }) => (Some(place), arrival, is_lifted),
                None => unturned(None),
            },
        };
        if let Some(moved) = moved {
            if matches!(key, Key::SoftDrop | Key::SonicDrop | Key::HardDrop) {
                self.steps_in_air = 0;
            } else if self.lock_resets < lock_resets && around.moved(place, 0, -1).is_none() {
                self.lock_resets += 1;
                self.steps_on_ground = 0;
            }
            self.lifts += u8::from(is_lifted);
            self.arrival = arrival;
            place = moved;
        }
        if key != Key::HardDrop
            && let Some(fallen) = around.moved(place, 0, -1)
        {
            self.steps_in_air += 1;
            if self.steps_in_air >= fall_delay {
                self.steps_in_air = 0;
                self.arrival = Arrival::Moved;
                place = fallen;
            }
        }
        self = self.at(place);
        let lowest_row = self.row - self.shape().anchor_row;
        if lowest_row < self.lowest_row {
            self = SteeredPiece { lowest_row, steps_on_ground: 0, lock_resets: 0, lifts: 0, ..self };
        }
        let mut rests = key == Key::HardDrop;
        if !rests && around.moved(place, 0, -1).is_none() {
            self.steps_on_ground += 1;
            rests = self.steps_on_ground >= lock_delay;
        }
        Steered { piece: self, resting: rests.then(|| around.resting(place)) }
    }

    /// The cells in which it comes to rest if it is dropped now.
    ///
    /// # Panics
    /// As [`SteeredPiece::step`].
    pub fn dropped<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
    ) -> PieceCells {
        self.step(rules, playfield, Key::HardDrop).piece.cells()
    }

    /// The key to press on the way to a placement: the first one of the fewest that lead there from where the piece is, if no
    /// time passed. A key that is held down there, to go as far as it can, is pressed once.
    ///
    /// A placement of the other piece begins with the key that holds this one. Where there is no way any more, because time
    /// has passed, the piece is dropped: it lands where it ends.
    ///
    /// # Panics
    /// If the placement [does not name the spot](Rules::names_spots) where it comes to rest.
    pub fn key_towards<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        target: Placement,
    ) -> Key {
        self.keys_towards(rules, playfield, &[target])[0]
    }

    /// The same for many placements, in ascending action order, at the cost of about one of them.
    ///
    /// # Panics
    /// As [`SteeredPiece::key_towards`].
    pub fn keys_towards<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        targets: &[Placement],
    ) -> Vec<Key> {
        let must_be_held = |target: &&Placement| target.hold && !self.is_swapped;
        let resting = |target: &Placement| {
            let Spot { row, spin } = target.spot.expect("it names the spot where it comes to rest");
            Resting { orientation: target.orientation, column: target.column, row, spin }
        };
        let wanted: Vec<Resting> =
            targets.iter().filter(|target| !must_be_held(target)).map(resting).collect();
        let movement = Movement::of(rules);
        let paths = Paths::from(&movement, playfield, self.tetromino, self.place(rules.spin_rule), &wanted);
        let key = |target: &Placement| {
            if must_be_held(&target) {
                return Key::Hold;
            }
            paths.first_to(resting(target)).unwrap_or(Key::HardDrop).action()
        };
        targets.iter().map(key).collect()
    }

    #[inline]
    fn place(&self, spin_rule: SpinRule) -> Place {
        let SteeredPiece { tetromino, turns, column, row, arrival, .. } = *self;
        let arrival = arrival.counted(spin_rule, tetromino);
        Place { orientation: turns.into(), column: column.into(), row: row.into(), arrival }
    }

    #[inline]
    fn at(self, place: Place) -> SteeredPiece {
        let Place { orientation, column, row, arrival: _ } = place;
        SteeredPiece { turns: orientation as u8, column: column as u8, row: row as u8, ..self }
    }
}

/// Whether a placement can have been made here: its cells are free, it cannot fall, and its turn can count as that.
pub fn can_rest<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    tetromino: Tetromino,
    resting: Resting,
) -> bool {
    let Resting { orientation, column, row, spin: _ } = resting;
    let Some(shape) = TRUE_POSES[tetromino.index()].get(usize::from(orientation)) else { return false };
    let around = Around::new(rules, playfield, tetromino);
    let place = Place {
        orientation: orientation.into(),
        column: i32::from(column) + i32::from(shape.anchor_column),
        row: i32::from(row) + i32::from(shape.anchor_row),
        arrival: Arrival::Moved,
    };
    let counts = |arrival: &Arrival| {
        let arrival = arrival.counted(rules.spin_rule, tetromino);
        around.resting(Place { arrival, ..place }) == resting
    };
    around.is_free(place.orientation, place.column, place.row)
        && around.moved(place, 0, -1).is_none()
        && Arrival::ALL.iter().any(counts)
}

/// A piece and the playfield around it.
struct Around<'a, C: Column, const N: usize> {
    tetromino: Tetromino,
    turns: &'a Turns,
    spin_rule: SpinRule,
    playfield: &'a PlayfieldOf<C, N>,
}

impl<'a, C: Column, const N: usize> Around<'a, C, N> {
    #[inline]
    fn new(rules: &Rules, playfield: &'a PlayfieldOf<C, N>, tetromino: Tetromino) -> Around<'a, C, N> {
        let turns = Turns::of(rules.rotation_system, rules.half_turns, tetromino);
        Around { tetromino, turns, spin_rule: rules.spin_rule, playfield }
    }

    /// Moved down as far as it goes, but not at all if it rests.
    fn fallen(&self, place: Place) -> Option<Place> {
        let shape = &TRUE_POSES[self.tetromino.index()][place.orientation];
        let (row, column) = (place.row as u8 - shape.anchor_row, place.column as u8 - shape.anchor_column);
        // Above the height all cells are empty.
        let lands = self.playfield.resting_row(shape, row.min(self.playfield.height()), column);
        let row = i32::from(lands + shape.anchor_row);
        (row != place.row).then_some(Place { row, arrival: Arrival::Moved, ..place })
    }
}

impl<C: Column, const N: usize> Ground for Around<'_, C, N> {
    #[inline]
    fn tetromino(&self) -> Tetromino {
        self.tetromino
    }

    #[inline]
    fn turns(&self) -> &Turns {
        self.turns
    }

    #[inline]
    fn spin_rule(&self) -> SpinRule {
        self.spin_rule
    }

    #[inline]
    fn is_free(&self, orientation: usize, column: i32, row: i32) -> bool {
        let shape = &TRUE_POSES[self.tetromino.index()][orientation];
        let (row, column) = (row - i32::from(shape.anchor_row), column - i32::from(shape.anchor_column));
        let playfield = self.playfield;
        row >= 0
            && column >= 0
            && column + i32::from(shape.width) <= i32::from(playfield.width())
            && (row >= i32::from(playfield.height()) || playfield.is_free(shape, row as u8, column as u8))
    }

    fn is_full(&self, column: i32, row: i32) -> bool {
        let is_beside = row < 0 || column < 0 || column >= i32::from(self.playfield.width());
        is_beside || self.playfield.is_full(row as u8, column as u8)
    }
}

/// A piece on its way down, by either game of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovingPiece {
    /// It falls with every key.
    Falling(FallingPiece),
    /// It is steered.
    Steered(SteeredPiece),
}

impl MovingPiece {
    /// Which.
    pub fn tetromino(&self) -> Tetromino {
        match self {
            MovingPiece::Falling(piece) => piece.tetromino,
            MovingPiece::Steered(piece) => piece.tetromino,
        }
    }

    /// The row and the column of its four cells, by row, then by column. Rows may be above the playfield.
    pub fn cells(&self) -> PieceCells {
        match self {
            MovingPiece::Falling(piece) => piece.cells(),
            MovingPiece::Steered(piece) => piece.cells(),
        }
    }

    /// The cells in which it comes to rest if it is dropped now.
    ///
    /// # Panics
    /// When it overlaps the playfield.
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

    /// Whether it came into play because the piece before it was held, so that no piece can be held now.
    pub fn is_swapped(&self) -> bool {
        matches!(self, MovingPiece::Steered(SteeredPiece { is_swapped: true, .. }))
    }
}

impl Hand {
    /// The same while a piece is moving: one for which another piece was held cannot be held itself.
    #[must_use]
    pub fn with(self, moving: Option<MovingPiece>) -> Hand {
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
