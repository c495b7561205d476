//! The fewest keys that take a piece to a placement, for one placement or for all reachable ones.
//!
//! Every press costs 1: a move, a slide to the wall by a held key, a turn, one row of soft drop, a sonic drop, and the
//! hard drop that ends every list. Among lists of the same length, the first one in the order of `MOVES` wins, so equal
//! playfields give equal keys on every machine.
//!
//! The search goes through single places, breadth first. It shares only the tables of kicks with
//! [`reachable`](super::reachable), and both find the same placements. The search takes many times as long, so only
//! callers that ask for keys pay for it. It ignores time: keys are assumed to be faster than gravity.
//!
//! A place counts for its placement when it is found, not when its turn comes: the order is the same, and the places
//! found last, which are the most, are never left again.

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
    /// The place to drop from, by placement; sorted.
    ends: Vec<(Resting, u32)>,
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
        let Some(place) = start else { return Paths { steps: Vec::new(), ends: Vec::new() } };
        let room = FreePlaces::new(movement, playfield, tetromino);
        let mut search = PathSearch {
            room: &room,
            wanted,
            missing: wanted.len(),
            seen: PlaceSet::default(),
            found: PlaceSet::default(),
            steps: Vec::with_capacity(256),
            ends: Vec::with_capacity(64),
        };
        search.add(PathStep { place, before: 0, key: Key::HardDrop });
        let mut next = 0;
        while let Some(&PathStep { place, .. }) = search.steps.get(next).filter(|_| search.missing > 0) {
            for key in MOVES {
                if let Some(place) = room.pressed(place, key) {
                    search.add(PathStep { place, before: next as u32, key });
                }
            }
            next += 1;
        }
        let PathSearch { steps, mut ends, .. } = search;
        ends.sort_unstable();
        Paths { steps, ends }
    }

    /// The place to drop from for a placement; `None` if the placement cannot be reached.
    fn end(&self, placement: Resting) -> Option<u32> {
        let at = self.ends.binary_search_by_key(&placement, |(end, _)| *end).ok()?;
        Some(self.ends[at].1)
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
        let mut at = self.end(placement)?;
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
        let (mut at, mut first) = (self.end(placement)?, Key::HardDrop);
        while at != 0 {
            let PathStep { before, key, .. } = self.steps[at as usize];
            (at, first) = (before, key);
        }
        Some(first)
    }
}

/// A search for placements, breadth first.
struct PathSearch<'a> {
    room: &'a FreePlaces<'a>,
    /// The placements to find, sorted.
    wanted: &'a [Resting],
    /// Number of those not yet found.
    missing: usize,
    /// The places found, by arrival.
    seen: PlaceSet,
    /// The placements found, by spin.
    found: PlaceSet,
    steps: Vec<PathStep>,
    ends: Vec<(Resting, u32)>,
}

impl PathSearch<'_> {
    /// Adds a place if it is new, and the placement of a piece that is dropped there.
    #[inline(always)]
    fn add(&mut self, step: PathStep) {
        let Place { orientation, column, row, arrival } = step.place;
        if !self.seen.add(arrival as usize, orientation, column as usize, row as u32) {
            return;
        }
        let placement = self.room.resting(self.room.fallen(step.place).unwrap_or(step.place));
        let Resting { orientation, column, row, spin } = placement;
        if self.found.add(spin as usize, orientation.into(), column.into(), row.into()) {
            self.ends.push((placement, self.steps.len() as u32));
            self.missing -= usize::from(self.wanted.binary_search(&placement).is_ok());
        }
        self.steps.push(step);
    }
}

/// A set of places: rows as bits, by kind, orientation and column.
#[derive(Default)]
pub(super) struct PlaceSet([[[u64; 32]; 4]; 3]);

impl PlaceSet {
    /// Adds a place. Returns whether it is new.
    #[inline]
    pub(super) fn add(&mut self, kind: usize, orientation: usize, column: usize, row: u32) -> bool {
        let rows = &mut self.0[kind][orientation][column];
        let is_new = *rows >> row & 1 == 0;
        *rows |= 1 << row;
        is_new
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
    /// The columns that are free for the anchor, by orientation and row, in the rows that differ from those above.
    free_in_row: [[u32; 64]; 4],
    /// The lowest row in which the same columns are free as in all higher ones.
    open_row: usize,
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
        // A piece reaches down by two rows at most.
        let open_row = playfield.occupied_rows().top() as usize + 2;
        let mut room = FreePlaces {
            tetromino,
            turns,
            spin_rule: movement.spin_rule,
            width,
            full,
            free: [[0; 32]; 4],
            free_in_row: [[0; 64]; 4],
            open_row,
        };
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
                for (row, free) in room.free_in_row[orientation][..=open_row].iter_mut().enumerate() {
                    *free |= ((!taken >> row & 1) as u32) << column;
                }
            }
        }
        room
    }

    /// The columns that are free for the anchor in a row.
    #[inline]
    fn free_columns(&self, orientation: usize, row: i32) -> u32 {
        self.free_in_row[orientation][(row as usize).min(self.open_row)]
    }

    fn full_in(&self, column: i32) -> u64 {
        if (0..self.width).contains(&column) { self.full[column as usize] } else { u64::MAX }
    }

    /// The place after moves to the left until the piece is blocked; `None` if it already is.
    fn far_left(&self, place: Place) -> Option<Place> {
        let taken = !self.free_columns(place.orientation, place.row) & ((1 << place.column) - 1);
        let column = (u32::BITS - taken.leading_zeros()) as i32;
        (column != place.column).then_some(Place { column, arrival: Arrival::Moved, ..place })
    }

    /// The place after moves to the right until the piece is blocked; `None` if it already is.
    fn far_right(&self, place: Place) -> Option<Place> {
        let taken = !self.free_columns(place.orientation, place.row) & (u32::MAX << place.column);
        let column = taken.trailing_zeros() as i32 - 1;
        (column != place.column).then_some(Place { column, arrival: Arrival::Moved, ..place })
    }

    /// The place after a fall to the ground; `None` if the piece already rests.
    fn fallen(&self, place: Place) -> Option<Place> {
        let taken = !self.free[place.orientation][place.column as usize] & ((1 << place.row) - 1);
        let row = (u64::BITS - taken.leading_zeros()) as i32;
        (row != place.row).then_some(Place { row, arrival: Arrival::Moved, ..place })
    }

    #[inline(always)]
    fn pressed(&self, place: Place, key: Key) -> Option<Place> {
        match key {
            Key::Left => self.moved(place, -1, 0),
            Key::Right => self.moved(place, 1, 0),
            Key::FarLeft => self.far_left(place),
            Key::FarRight => self.far_right(place),
            Key::SoftDrop => self.moved(place, 0, -1),
            Key::SonicDrop | Key::HardDrop => self.fallen(place),
            Key::TurnRight | Key::TurnLeft | Key::TurnHalf => {
                self.turned(place, key.quarter_turns(), true).map(|turned| turned.place)
            }
            Key::Idle | Key::Hold => None,
        }
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
