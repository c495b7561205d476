//! The fewest keys that take a piece to a placement, for one placement or for all reachable ones.
//!
//! Every press costs 1: a move, a slide to the wall by a held key, a turn, one row of soft drop, a sonic drop, and the
//! hard drop that ends every list. Among lists of the same length, the first one in the order of `MOVES` wins, so equal
//! playfields give equal keys on every machine.
//!
//! The search goes through single places, breadth first. It shares only the tables of kicks with
//! [`reachable`](super::reachable), and both find the same placements. The search takes many times as long, so only
//! callers that ask for keys pay for it. It ignores time: keys are assumed to be faster than gravity.

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

/// The keys for every placement of a piece.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The places in order of discovery. The first one is where the piece appears.
    steps: Vec<PathStep>,
    /// The place to drop from, by placement.
    ends: BTreeMap<Resting, u32>,
}

/// A place and the last step of the way to it.
#[derive(Clone, Copy, Debug)]
struct PathStep {
    place: Place,
    before: u32,
    key: Key,
}

impl Paths {
    /// Searches from the place where the piece appears, until there are keys for all of these placements, which must be
    /// sorted. Also finds others on the way. Finds nothing if the piece is blocked.
    ///
    /// Most placements are near, and take a fraction of the time of a full search.
    pub fn towards<C: Column, const N: usize>(
        movement: &Movement,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        wanted: &[Resting],
    ) -> Paths {
        let start = Paths::start(movement, playfield, tetromino);
        Paths::find(movement, playfield, tetromino, start, wanted)
    }

    /// Like [`Paths::towards`], for a piece that has already been moved to a free place.
    pub(super) fn from<C: Column, const N: usize>(
        movement: &Movement,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        place: Place,
        wanted: &[Resting],
    ) -> Paths {
        Paths::find(movement, playfield, tetromino, Some(place), wanted)
    }

    /// The place where the piece appears; `None` if it is blocked.
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
        wanted: &[Resting],
    ) -> Paths {
        let mut missing = wanted.len();
        let mut paths = Paths { steps: Vec::new(), ends: BTreeMap::new() };
        let Some(place) = start else { return paths };
        let room = FreePlaces::new(movement, playfield, tetromino);
        let mut seen = [[[0u64; 32]; 4]; 3];
        let mut see = |place: &Place| {
            let rows = &mut seen[place.arrival as usize][place.orientation][place.column as usize];
            let is_new = *rows >> place.row & 1 == 0;
            *rows |= 1 << place.row;
            is_new
        };
        see(&place);
        paths.steps.push(PathStep { place, before: 0, key: Key::HardDrop });
        let mut next = 0;
        while let Some(&PathStep { place, .. }) = paths.steps.get(next) {
            if let Entry::Vacant(end) = paths.ends.entry(room.dropped(place)) {
                missing -= usize::from(wanted.binary_search(end.key()).is_ok());
                end.insert(next as u32);
            }
            if missing == 0 {
                break;
            }
            for key in MOVES {
                let pressed = room.pressed(place, key);
                if pressed.is_some_and(|place| see(&place)) {
                    let place = pressed.expect("it has been seen");
                    paths.steps.push(PathStep { place, before: next as u32, key });
                }
            }
            next += 1;
        }
        paths
    }

    /// The keys for a placement, ending with a hard drop; `None` if the placement cannot be reached.
    ///
    /// ```
    /// use tetrion_core::engine::{Key, Movement, Paths, Playfield, Resting, Spin, Tetromino};
    /// let upright = Resting { orientation: 1, column: 8, row: 0, spin: Spin::None };
    /// let (movement, empty) = (Movement::default(), Playfield::empty(10, 20));
    /// let paths = Paths::towards(&movement, &empty, Tetromino::L, &[upright]);
    /// assert_eq!(paths.to(upright).unwrap(), [Key::FarRight, Key::TurnRight, Key::HardDrop]);
    /// ```
    pub fn to(&self, placement: Resting) -> Option<Vec<Key>> {
        let mut at = *self.ends.get(&placement)?;
        let mut keys = vec![Key::HardDrop];
        while at != 0 {
            let PathStep { before, key, .. } = self.steps[at as usize];
            keys.push(key);
            at = before;
        }
        keys.reverse();
        Some(keys)
    }

    /// The first key for a placement; `None` if the placement cannot be reached.
    pub(super) fn first_to(&self, placement: Resting) -> Option<Key> {
        let (mut at, mut first) = (*self.ends.get(&placement)?, Key::HardDrop);
        while at != 0 {
            let PathStep { before, key, .. } = self.steps[at as usize];
            (at, first) = (before, key);
        }
        Some(first)
    }
}

/// A piece on a playfield, and the free places of its anchor.
struct FreePlaces<'a> {
    tetromino: Tetromino,
    turns: &'a Turns,
    spin_rule: SpinRule,
    width: i32,
    /// The full cells of each column. Columns outside the playfield are full.
    full: [u64; 32],
    /// The rows that are free for the anchor, by orientation and column.
    free: [[u64; 32]; 4],
}

impl<'a> FreePlaces<'a> {
    fn new<C: Column, const N: usize>(
        movement: &Movement,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> FreePlaces<'a> {
        let mut full = [u64::MAX; 32];
        for (full, cells) in full.iter_mut().zip(playfield.columns()) {
            *full = cells.to_u64();
        }
        let turns = Turns::of(movement.rotation_system, movement.half_turns, tetromino);
        let width = playfield.width().into();
        let mut room =
            FreePlaces { tetromino, turns, spin_rule: movement.spin_rule, width, full, free: [[0; 32]; 4] };
        for orientation in 0..4 {
            let cells = cells_from_anchor(tetromino.index(), orientation);
            for column in 0..width {
                let taken = cells.iter().fold(0, |taken, &(columns, rows)| {
                    let full = room.full_in(column + i32::from(columns));
                    taken
                        | match rows {
                            0.. => full >> rows,
                            // All cells below the floor are full.
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

    /// The place after up to `most` moves in one direction; `None` if the first move is blocked.
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

    /// The place after a fall to the ground; `None` if the piece already rests.
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

impl Ground for FreePlaces<'_> {
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
