//! Keys in modern Tetris: a piece that is steered while time passes.
//!
//! One step is one key. First the key takes effect, if possible: a move sideways, a turn with its kicks, or a drop.
//! Then one step of time passes. A piece in the air falls by a row once it has spent the rules'
//! [fall delay](Timing::fall_delay) there since it last fell, for any reason. A piece on the ground locks once it has
//! spent the lock delay there. A hard drop locks at once.
//!
//! A move or a turn on the ground restarts the lock delay, but only a limited number of times
//! ([`Timing::lock_resets`]). When a piece is lower than ever before, all of these counters restart. Turns can kick a
//! piece upwards, and some could do so for ever, so [`MAX_LIFTS`] bounds these kicks, and with them the steps of a
//! piece: no player can stall a game.
//!
//! This file knows one piece and a playfield. The code that deals pieces decides which piece comes next and which one
//! is held.
//!
//! The surprising decision: a turned O does not move, so an O ignores turns, and no turn restarts its lock delay.

use super::column::Column;
use super::key::Key;
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

/// Number of times that kicks may lift a piece before it is lower than ever before. After that, turns try only places
/// that are not higher than their first place.
pub(crate) const MAX_LIFTS: u8 = 15;

/// The largest number of rows by which an anchor can be above the height. A piece appears at most one row above. A kick
/// that lifts the piece, by two rows at most, needs a full cell in the way of the turn's first place, which is at most
/// two rows below the anchor.
pub(crate) const MAX_HEIGHT_ABOVE: u8 = 4;

/// A piece in play, as keys and time have moved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SteeredPiece {
    pub tetromino: Tetromino,
    /// Quarter turns clockwise from the appearing orientation, 0..=3; 0 for an O.
    pub turns: u8,
    /// Column of the anchor cell.
    pub column: u8,
    /// Row of the anchor cell.
    pub row: u8,
    /// The piece's arrival at its place.
    pub(crate) arrival: Arrival,
    /// Whether the piece came into play because the previous one was held. It cannot be held itself.
    pub is_swapped: bool,
    /// Steps in the air since the piece last fell.
    pub steps_in_air: u8,
    /// Steps on the ground since the piece got there, or since the last restart of its lock delay.
    pub steps_on_ground: u8,
    /// Number of restarts of the lock delay.
    pub lock_resets: u8,
    /// Number of kicks that lifted the piece.
    pub lifts: u8,
    /// The lowest row that the piece's lowest cell has been in.
    pub lowest_row: u8,
}

/// The state of a piece after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steered {
    pub piece: SteeredPiece,
    /// The placement, if the piece has come to rest.
    pub resting: Option<Resting>,
}

impl SteeredPiece {
    /// A piece as it appears. A blocked piece overlaps the cells that block it.
    pub(crate) fn spawn<C: Column, const N: usize>(
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
            // No piece appears with cells below its anchor.
            lowest_row: row,
        }
    }

    /// The piece that comes into play if this one is held: the held piece, or the next one if no piece is held. `None`
    /// if the rules have no hold, this piece came into play by hold, no other piece exists, or the other piece is
    /// blocked.
    ///
    /// The other piece may be an equal one: hold then moves the piece back to where it appears.
    pub(crate) fn swapped<C: Column, const N: usize>(
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

    /// Whether a key can be pressed. Hold needs another piece that can come into play; half turns need rules that have
    /// them. All other keys can be pressed at any time, even without effect.
    pub(crate) fn has_key<C: Column, const N: usize>(
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

    /// The shape of the piece in its current orientation.
    #[inline]
    pub(crate) fn shape(&self) -> &'static Shape {
        &TRUE_POSES[self.tetromino.index()][usize::from(self.turns)]
    }

    /// The row and column of each of the four cells, sorted by row, then by column. Rows may be above the playfield.
    ///
    /// # Panics
    /// When the piece sticks out on the left or below, which no [free](SteeredPiece::is_free) piece does.
    pub(crate) fn cells(&self) -> PieceCells {
        let shape = self.shape();
        shape.cells_at(self.row - shape.anchor_row, self.column - shape.anchor_column)
    }

    /// Whether the piece is between the walls and above the floor, and overlaps no full cell.
    pub(crate) fn is_free<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
    ) -> bool {
        let Place { orientation, column, row, .. } = self.place(rules.spin_rule);
        Surroundings::new(rules, playfield, self.tetromino).is_free(orientation, column, row)
    }

    /// Plays one step: first the key, if possible, then a step of time. [`Key::Hold`] has no effect here:
    /// [`swapped`](SteeredPiece::swapped) returns the piece that comes into play, and no time passes then.
    ///
    /// # Panics
    /// When the piece is not [free](SteeredPiece::is_free), or the rules have no [timing](Rules::timing).
    pub(crate) fn step<C: Column, const N: usize>(
        mut self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        key: Key,
    ) -> Steered {
        let Timing { fall_delay, lock_delay, lock_resets } =
            rules.timing.expect("time passes by these rules");
        let around = Surroundings::new(rules, playfield, self.tetromino);
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

    /// The resting cells of the piece if it were dropped now.
    ///
    /// # Panics
    /// When the piece is not [free](SteeredPiece::is_free), or the rules have no [timing](Rules::timing).
    pub(crate) fn dropped<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
    ) -> PieceCells {
        self.step(rules, playfield, Key::HardDrop).piece.cells()
    }

    /// The next key on the way to a placement: the first of the fewest keys that lead there from the current place,
    /// ignoring time. If that key would be held down to go as far as possible, it is pressed once.
    ///
    /// A placement of the other piece starts with the hold key. If time has closed the way to the placement, the piece
    /// is dropped where it is.
    ///
    /// # Panics
    /// If the placement [does not name the spot](Rules::names_spots) where it comes to rest.
    pub(super) fn key_towards<C: Column, const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        target: Placement,
    ) -> Key {
        self.keys_towards(rules, playfield, &[target])[0]
    }

    /// The next keys on the ways to many placements, in ascending order of actions. Like [`SteeredPiece::key_towards`]
    /// for each of them, at about the cost of one.
    ///
    /// # Panics
    /// If a placement [does not name the spot](Rules::names_spots) where it comes to rest.
    pub(crate) fn keys_towards<C: Column, const N: usize>(
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

/// Whether a piece can have come to rest here: its cells are free, it cannot fall, and some arrival has this spin
/// label.
pub(crate) fn can_rest<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    tetromino: Tetromino,
    resting: Resting,
) -> bool {
    let Resting { orientation, column, row, spin: _ } = resting;
    let Some(shape) = TRUE_POSES[tetromino.index()].get(usize::from(orientation)) else { return false };
    let around = Surroundings::new(rules, playfield, tetromino);
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
struct Surroundings<'a, C: Column, const N: usize> {
    tetromino: Tetromino,
    turns: &'a Turns,
    spin_rule: SpinRule,
    playfield: &'a PlayfieldOf<C, N>,
}

impl<'a, C: Column, const N: usize> Surroundings<'a, C, N> {
    #[inline]
    fn new(rules: &Rules, playfield: &'a PlayfieldOf<C, N>, tetromino: Tetromino) -> Surroundings<'a, C, N> {
        let turns = Turns::of(rules.rotation_system, rules.half_turns, tetromino);
        Surroundings { tetromino, turns, spin_rule: rules.spin_rule, playfield }
    }

    /// The place after a fall to the ground; `None` if the piece already rests.
    fn fallen(&self, place: Place) -> Option<Place> {
        let shape = &TRUE_POSES[self.tetromino.index()][place.orientation];
        let (row, column) = (place.row as u8 - shape.anchor_row, place.column as u8 - shape.anchor_column);
        // All cells above the height are empty.
        let lands = self.playfield.resting_row(shape, row.min(self.playfield.height()), column);
        let row = i32::from(lands + shape.anchor_row);
        (row != place.row).then_some(Place { row, arrival: Arrival::Moved, ..place })
    }
}

impl<C: Column, const N: usize> Ground for Surroundings<'_, C, N> {
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
