//! Which keys take a piece to a placement: the fewest, for one placement or for all that can be reached.
//!
//! Every press costs 1: a step, the way to the wall that a held key goes, a turn, one row of soft drop, the fall to the floor
//! that does not lock, and the hard drop that ends every list. Of lists of the same length, the first one in the order of
//! `MOVES` is given, so equal playfields give equal keys on every machine.
//!
//! The search goes through single places, breadth first, and shares nothing with [`reachable`](super::reachable) but the
//! tables of kicks: both find the same placements. It takes many times as long, so only callers that ask for keys pay for
//! it. There is no time in it: gravity is weaker than any caller's fingers.

use std::collections::btree_map::{BTreeMap, Entry};

use super::column::Column;
use super::key::Key;
use super::place::{Arrival, Ground, Place};
use super::playfield::PlayfieldOf;
use super::reachable::{Movement, Resting};
use super::rotation::Turns;
use super::spin::SpinRule;
use super::tetromino::{Tetromino, cells_from_anchor};

/// The keys that move a piece without locking it, in the order in which lists are compared.
const MOVES: [Key; 9] = [
    Key::Left,
    Key::Right,
    Key::FarLeft,
    Key::FarRight,
    Key::TurnRight,
    Key::TurnLeft,
    Key::TurnHalf,
    Key::SoftDrop,
    Key::SonicDrop,
];

/// The keys to every placement of a piece.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The places in the order in which they were found, the first being where the piece appears.
    steps: Vec<Step>,
    /// By placement, the place to drop from.
    ends: BTreeMap<Resting, u32>,
}

/// A place, and the way to it.
#[derive(Clone, Copy, Debug)]
struct Step {
    place: Place,
    before: u32,
    key: Key,
}

impl Paths {
    /// Searches from where the piece appears; finds nothing if it is blocked.
    pub fn search<C: Column, const N: usize>(
        movement: &Movement,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> Paths {
        Paths::find(movement, playfield, tetromino, Paths::start(movement, playfield, tetromino), None)
    }

    /// Searches until there are keys to all of these placements, which are in order; finds others on the way.
    ///
    /// Near placements, which most are, take a fraction of the time of all.
    pub fn towards<C: Column, const N: usize>(
        movement: &Movement,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        wanted: &[Resting],
    ) -> Paths {
        let start = Paths::start(movement, playfield, tetromino);
        Paths::find(movement, playfield, tetromino, start, Some(wanted))
    }

    /// The same for a piece that has been moved already, to a place where it can be.
    pub(super) fn from<C: Column, const N: usize>(
        movement: &Movement,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        place: Place,
        wanted: &[Resting],
    ) -> Paths {
        Paths::find(movement, playfield, tetromino, Some(place), Some(wanted))
    }

    /// Where the piece appears, unless it is blocked.
    fn start<C: Column, const N: usize>(
        movement: &Movement,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> Option<Place> {
        let row = movement.spawn(playfield, tetromino)?;
        Some(Place {
            orientation: 0,
            column: Movement::spawn_column(playfield.width()).into(),
            row: row.into(),
            arrival: Arrival::Moved,
        })
    }

    fn find<C: Column, const N: usize>(
        movement: &Movement,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        start: Option<Place>,
        wanted: Option<&[Resting]>,
    ) -> Paths {
        let mut missing = wanted.map_or(usize::MAX, <[Resting]>::len);
        let mut paths = Paths { steps: Vec::new(), ends: BTreeMap::new() };
        let Some(place) = start else { return paths };
        let room = Room::new(movement, playfield, tetromino);
        let mut seen = [[[0u64; 32]; 4]; 3];
        let mut see = |place: &Place| {
            let rows = &mut seen[place.arrival as usize][place.orientation][place.column as usize];
            let is_new = *rows >> place.row & 1 == 0;
            *rows |= 1 << place.row;
            is_new
        };
        see(&place);
        paths.steps.push(Step { place, before: 0, key: Key::HardDrop });
        let mut next = 0;
        while let Some(&Step { place, .. }) = paths.steps.get(next) {
            if let Entry::Vacant(end) = paths.ends.entry(room.dropped(place)) {
                missing -= usize::from(wanted.is_some_and(|all| all.binary_search(end.key()).is_ok()));
                end.insert(next as u32);
            }
            if missing == 0 {
                break;
            }
            for key in MOVES {
                let pressed = room.pressed(place, key);
                if pressed.is_some_and(|place| see(&place)) {
                    let place = pressed.expect("it has been seen");
                    paths.steps.push(Step { place, before: next as u32, key });
                }
            }
            next += 1;
        }
        paths
    }

    /// The placements that can be reached, in order.
    pub fn placements(&self) -> impl Iterator<Item = Resting> + '_ {
        self.ends.keys().copied()
    }

    /// The keys to a placement, a hard drop the last; `None` if it cannot be reached.
    ///
    /// ```
    /// use tetrion_core::engine::{Key, Movement, Paths, Playfield, Resting, Spin, Tetromino};
    /// let paths = Paths::search(&Movement::default(), &Playfield::empty(10, 20), Tetromino::L);
    /// let upright = Resting { orientation: 1, column: 8, row: 0, spin: Spin::None };
    /// assert_eq!(paths.to(upright).unwrap(), [Key::FarRight, Key::TurnRight, Key::HardDrop]);
    /// ```
    pub fn to(&self, placement: Resting) -> Option<Vec<Key>> {
        let mut at = *self.ends.get(&placement)?;
        let mut keys = vec![Key::HardDrop];
        while at != 0 {
            let Step { before, key, .. } = self.steps[at as usize];
            keys.push(key);
            at = before;
        }
        keys.reverse();
        Some(keys)
    }

    /// The first of them.
    pub(super) fn first_to(&self, placement: Resting) -> Option<Key> {
        let (mut at, mut first) = (*self.ends.get(&placement)?, Key::HardDrop);
        while at != 0 {
            let Step { before, key, .. } = self.steps[at as usize];
            (at, first) = (before, key);
        }
        Some(first)
    }
}

/// A piece on a playfield: where its anchor may be.
struct Room<'a> {
    tetromino: Tetromino,
    turns: &'a Turns,
    spin_rule: SpinRule,
    width: i32,
    /// By column, its full cells, and all of those beside the playfield.
    full: [u64; 32],
    /// By orientation and column, the rows that are free for the anchor.
    free: [[u64; 32]; 4],
}

impl<'a> Room<'a> {
    fn new<C: Column, const N: usize>(
        movement: &Movement,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> Room<'a> {
        let mut full = [u64::MAX; 32];
        for (full, cells) in full.iter_mut().zip(playfield.columns()) {
            *full = cells.to_u64();
        }
        let turns = Turns::of(movement.rotation_system, movement.half_turns, tetromino);
        let width = playfield.width().into();
        let mut room =
            Room { tetromino, turns, spin_rule: movement.spin_rule, width, full, free: [[0; 32]; 4] };
        for orientation in 0..4 {
            let cells = cells_from_anchor(tetromino.index(), orientation);
            for column in 0..width {
                let taken = cells.iter().fold(0, |taken, &(columns, rows)| {
                    let full = room.full_in(column + i32::from(columns));
                    taken
                        | match rows {
                            0.. => full >> rows,
                            // Below the floor, all is full.
                            _ => full << -rows | ((1 << -rows) - 1),
                        }
                });
                room.free[orientation][column as usize] = !taken;
            }
        }
        room
    }

    fn full_in(&self, column: i32) -> u64 {
        if (0..self.width).contains(&column) { self.full[column as usize] } else { u64::MAX }
    }

    /// Moved as far as it goes in a direction, but not at all if it cannot go.
    fn slid(&self, place: Place, columns: i32, rows: i32, most: u32) -> Option<Place> {
        let mut moved = Place { arrival: Arrival::Moved, ..place };
        for _ in 0..most {
            if !self.is_free(place.orientation, moved.column + columns, moved.row + rows) {
                break;
            }
            moved.column += columns;
            moved.row += rows;
        }
        ((moved.column, moved.row) != (place.column, place.row)).then_some(moved)
    }

    /// Moved down as far as it goes, but not at all if it rests.
    fn fallen(&self, place: Place) -> Option<Place> {
        let taken = !self.free[place.orientation][place.column as usize] & ((1 << place.row) - 1);
        let row = (u64::BITS - taken.leading_zeros()) as i32;
        (row != place.row).then_some(Place { row, arrival: Arrival::Moved, ..place })
    }

    fn pressed(&self, place: Place, key: Key) -> Option<Place> {
        match key {
            Key::Left => self.slid(place, -1, 0, 1),
            Key::Right => self.slid(place, 1, 0, 1),
            Key::FarLeft => self.slid(place, -1, 0, u32::MAX),
            Key::FarRight => self.slid(place, 1, 0, u32::MAX),
            Key::SoftDrop => self.slid(place, 0, -1, 1),
            Key::SonicDrop | Key::HardDrop => self.fallen(place),
            Key::TurnRight | Key::TurnLeft | Key::TurnHalf => {
                self.turned(place, key.quarter_turns(), true).map(|turned| turned.place)
            }
            Key::Idle | Key::Hold => None,
        }
    }

    /// The placement that a hard drop makes.
    fn dropped(&self, place: Place) -> Resting {
        self.resting(self.pressed(place, Key::HardDrop).unwrap_or(place))
    }
}

impl Ground for Room<'_> {
    fn tetromino(&self) -> Tetromino {
        self.tetromino
    }

    fn turns(&self) -> &Turns {
        self.turns
    }

    fn spin_rule(&self) -> SpinRule {
        self.spin_rule
    }

    fn is_free(&self, orientation: usize, column: i32, row: i32) -> bool {
        (0..self.width).contains(&column)
            && (0..64).contains(&row)
            && self.free[orientation][column as usize] >> row & 1 == 1
    }

    fn is_full(&self, column: i32, row: i32) -> bool {
        row < 0 || self.full_in(column) >> row & 1 == 1
    }
}
