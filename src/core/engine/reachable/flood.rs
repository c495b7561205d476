//! All places that a piece can reach, found at once: per orientation, one bit for the anchor of each place.
//!
//! A flood spreads sideways and down within an orientation, and by turns to the others, until nothing new is found.
//! Each kick of a turn is applied at once to all places for which the earlier kicks failed.
//!
//! Above a low stack every orientation can reach every column, so the flood starts with everything that can fall from
//! there. If the stack comes near the row where pieces appear, the flood starts there, with one place.
//!
//! Usually only the places matter where a piece can rest, and usually it falls into all of them. So the flood finds the
//! possible resting places first, and ends as soon as it has reached all of them.
//!
//! This file knows nothing of labels, lists and keys.

use super::super::rotation::{Offset, Turns};
use super::super::tetromino::{ALL_TRUE_POSES, cells_from_anchor};
use super::plane::Plane;

/// How far a piece's cells reach below its anchor, at most.
pub(super) const fn below(piece: usize) -> u32 {
    if piece == 0 { 2 } else { 1 }
}

/// The piece of a flood.
pub(super) trait Which: Copy {
    /// Number of the tetromino, an index into the tables of shapes.
    fn number(self) -> usize;
    /// The cells of an orientation, relative to the anchor.
    fn cells<const ORIENTATION: usize>(self) -> [Offset; 4];
    /// The kicks of a quarter turn under SRS.
    fn srs_kicks<const FROM: usize, const TO: usize>(self) -> [Offset; 5];
}

/// A piece with separate code, in which the compiler knows all shifts by its cells.
#[derive(Clone, Copy)]
pub(super) struct Known<const PIECE: usize>;

/// Any piece, by number. Takes a seventh of the code.
#[derive(Clone, Copy)]
pub(super) struct Any(pub usize);

impl<const PIECE: usize> Which for Known<PIECE> {
    #[inline(always)]
    fn number(self) -> usize {
        PIECE
    }
    #[inline(always)]
    fn cells<const ORIENTATION: usize>(self) -> [Offset; 4] {
        const { cells_from_anchor(PIECE, ORIENTATION) }
    }
    #[inline(always)]
    fn srs_kicks<const FROM: usize, const TO: usize>(self) -> [Offset; 5] {
        const { Turns::srs(PIECE, FROM, TO) }
    }
}

impl Which for Any {
    #[inline]
    fn number(self) -> usize {
        self.0
    }
    #[inline]
    fn cells<const ORIENTATION: usize>(self) -> [Offset; 4] {
        cells_from_anchor(self.0, ORIENTATION)
    }
    #[inline]
    fn srs_kicks<const FROM: usize, const TO: usize>(self) -> [Offset; 5] {
        Turns::srs(self.0, FROM, TO)
    }
}

/// The limits of a flood, apart from the playfield.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloodLimits {
    /// How far the piece's cells reach below its anchor.
    pub below: u32,
    /// The row just above the highest full cell.
    pub stack: u32,
    /// Column and row of the anchor where the piece appears; `None` if the piece can reach every place above the stack.
    pub cell: Option<(u32, u32)>,
    /// Number of highest rows in a column that hold no anchor.
    pub spare: u32,
}

impl FloodLimits {
    /// Number of bits that a column needs.
    #[inline(always)]
    pub(super) fn stride(&self, turns: &Turns) -> u32 {
        if self.is_open(turns) {
            return self.free_row() + 1 + self.spare;
        }
        // All kicks from places that touch the stack, or from near the appearing place, stay in the plane.
        let highest = self.cell.map_or(self.stack, |(_, row)| row.max(self.stack)) + self.below;
        highest + u32::from(turns.rows).max(1) + self.spare
    }

    /// Whether kicks may lead into the spare rows. These are as high as the kicks, and everything above the stack is
    /// free.
    #[inline(always)]
    pub(super) fn is_open(&self, turns: &Turns) -> bool {
        turns.is_srs && self.cell.is_none()
    }

    /// The lowest row in which every anchor is free. Turns from there lead to nothing new.
    #[inline(always)]
    fn free_row(&self) -> u32 {
        self.stack + self.below
    }
}

/// The places that a flood must find before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloodGoal {
    /// The resting places of the piece. The flood ends when it has found all of them.
    Resting,
    /// All places, including places in the air.
    All,
}

/// Places during a turn, and the places that the turn has reached.
struct Turning<const WORDS: usize, const STRIDE: u32> {
    /// The places for which all kicks so far failed.
    left: Plane<WORDS, STRIDE>,
    found: Plane<WORDS, STRIDE>,
}

impl<const WORDS: usize, const STRIDE: u32> Turning<WORDS, STRIDE> {
    /// Tries one kick. `open` is where upward kicks may lead: the free places, and possibly more above.
    #[inline(always)]
    fn kick(&mut self, kick: Offset, free: &Plane<WORDS, STRIDE>, open: &Plane<WORDS, STRIDE>) {
        let turned = self.left.moved(there(kick)).and(if kick.1 > 0 { open } else { free });
        self.found = self.found.or(&turned);
        self.left = self.left.without(&turned.moved(back(kick)));
    }
}

#[inline(always)]
fn there((column, row): Offset) -> (i32, i32) {
    (column.into(), row.into())
}

#[inline(always)]
fn back((column, row): Offset) -> (i32, i32) {
    (-i32::from(column), -i32::from(row))
}

/// A flood of one piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flood<const WORDS: usize, const STRIDE: u32> {
    /// The free places of the anchor, by orientation.
    pub free: [Plane<WORDS, STRIDE>; 4],
    /// The reached places of the anchor, by orientation.
    pub reach: [Plane<WORDS, STRIDE>; 4],
    /// The possible resting places, reached or not, by orientation. Empty for orientations with the same cells as an
    /// earlier one.
    pub resting: [Plane<WORDS, STRIDE>; 4],
    /// The empty cells, including the spare rows.
    pub empty: Plane<WORDS, STRIDE>,
    /// The empty cells, without the spare rows.
    pub empty_below: Plane<WORDS, STRIDE>,
}

/// The number of orientations with distinct cells: the first 1, 2 or 4.
#[inline(always)]
pub(super) const fn distinct(piece: usize) -> usize {
    match piece {
        1 => 1,
        0 | 3 | 4 => 2,
        _ => 4,
    }
}

/// The anchor's offset from an orientation to the earlier one with the same cells.
#[inline(always)]
pub(super) const fn to_same(piece: usize, orientation: usize) -> (i32, i32) {
    let (this, that) = (&ALL_TRUE_POSES[piece][orientation], &ALL_TRUE_POSES[piece][orientation - 2]);
    (that.anchor_column as i32 - this.anchor_column as i32, that.anchor_row as i32 - this.anchor_row as i32)
}

impl<const WORDS: usize, const STRIDE: u32> Flood<WORDS, STRIDE> {
    /// A flood with the free and the possible resting places of a piece among the empty cells. No place is reached yet.
    #[inline(always)]
    pub(super) fn new(piece: impl Which, empty: Plane<WORDS, STRIDE>, start: FloodLimits) -> Self {
        let empty_below = empty.without(&Plane::top_rows(start.spare));
        let none = [Plane::EMPTY; 4];
        let mut flood = Flood { free: none, reach: none, resting: none, empty, empty_below };
        // One by one, so that the compiler knows all shifts.
        flood.look_at::<0>(piece);
        if distinct(piece.number()) > 1 {
            flood.look_at::<1>(piece);
        }
        if distinct(piece.number()) > 2 {
            flood.look_at::<2>(piece);
            flood.look_at::<3>(piece);
        }
        flood
    }

    #[inline(always)]
    fn look_at<const ORIENTATION: usize>(&mut self, piece: impl Which) {
        let free = self.free_anchors(piece.cells::<ORIENTATION>());
        self.free[ORIENTATION] = free;
        self.resting[ORIENTATION] = free.without(&free.moved((0, 1)));
    }

    #[inline(always)]
    fn free_anchors(&self, cells: [(i8, i8); 4]) -> Plane<WORDS, STRIDE> {
        // Everything above the rows of the plane is empty. Below them is the floor, where the next column's spare rows
        // are in the way.
        let from = |cell: Offset| if cell.1 > 0 { &self.empty } else { &self.empty_below }.moved(back(cell));
        self.empty_below.and(&from(cells[1])).and(&from(cells[2])).and(&from(cells[3]))
    }

    /// Spreads from the start until the goal is reached.
    #[inline(always)]
    pub(super) fn run(&mut self, piece: impl Which, turns: &Turns, start: FloodLimits, goal: FloodGoal) {
        match start.cell {
            None => {
                let sky = Plane::row(STRIDE - 1 - start.spare);
                for orientation in 0..distinct(piece.number()) {
                    let free = &self.free[orientation];
                    self.reach[orientation] = sky.and(free).fallen(free);
                }
                let is_done = match goal {
                    FloodGoal::Resting => !self.misses_some(piece),
                    // Labels also need the orientations with the same cells as others.
                    FloodGoal::All if distinct(piece.number()) == 2 => false,
                    FloodGoal::All => {
                        (0..distinct(piece.number())).all(|orientation| !self.has_more(orientation))
                    }
                };
                if !is_done {
                    self.spread_from_sky(piece, turns, start, goal);
                }
            }
            Some((column, row)) => {
                self.reach[0] = Plane::cell(column, row).and(&self.free[0]);
                if !self.reach[0].is_empty() {
                    self.see_the_others(piece);
                    self.slide(0);
                    self.spread(piece, turns, start, goal, 0b0001);
                }
            }
        }
    }

    /// Whether a possible resting place has not been reached. Looks only at orientations with distinct cells, so
    /// another orientation may have reached the place anyway.
    #[inline(always)]
    fn misses_some(&self, piece: impl Which) -> bool {
        let mut missed = Plane::EMPTY;
        for orientation in 0..distinct(piece.number()) {
            missed = missed.or(&self.resting[orientation].without(&self.reach[orientation]));
        }
        !missed.is_empty()
    }

    /// The reached resting places, by the first orientation with the same cells.
    #[inline(always)]
    pub(super) fn rested(&self, piece: impl Which, orientation: usize) -> Plane<WORDS, STRIDE> {
        self.resting[orientation].and(&self.reached_as(piece, orientation))
    }

    #[inline(always)]
    fn reached_as(&self, piece: impl Which, orientation: usize) -> Plane<WORDS, STRIDE> {
        let reach = self.reach[orientation];
        match distinct(piece.number()) {
            2 => reach.or(&self.reach[orientation + 2].moved(to_same(piece.number(), orientation + 2))),
            _ => reach,
        }
    }

    /// Finds the free places of the orientations with the same cells as others, if turns need them.
    #[inline(always)]
    fn see_the_others(&mut self, piece: impl Which) {
        if distinct(piece.number()) == 2 {
            self.free[2] = self.free_anchors(piece.cells::<2>());
            self.free[3] = self.free_anchors(piece.cells::<3>());
        }
    }

    #[inline(never)]
    fn spread_from_sky(&mut self, piece: impl Which, turns: &Turns, start: FloodLimits, goal: FloodGoal) {
        // One step sideways and down is usually enough.
        for orientation in 0..distinct(piece.number()) {
            self.reach[orientation] = self.wider(orientation);
        }
        if goal == FloodGoal::Resting && !self.misses_some(piece) {
            return;
        }
        if distinct(piece.number()) == 4 {
            // The first kick of these pieces does not move their anchor.
            let [a, b, c, d] = self.reach;
            for (orientation, beside) in [b.or(&d), a.or(&c), b.or(&d), a.or(&c)].iter().enumerate() {
                let free = &self.free[orientation];
                self.reach[orientation] = self.reach[orientation].or(&beside.and(free)).fallen(free);
            }
            if goal == FloodGoal::Resting && !self.misses_some(piece) {
                return;
            }
        }
        for orientation in 0..distinct(piece.number()) {
            self.slide(orientation);
        }
        if piece.number() == 1 || goal == FloodGoal::Resting && !self.misses_some(piece) {
            return;
        }
        self.see_the_others(piece);
        if distinct(piece.number()) == 2 {
            let sky = Plane::row(STRIDE - 1 - start.spare);
            for orientation in [2, 3] {
                let (columns, rows) = to_same(piece.number(), orientation);
                let same = self.reach[orientation - 2].moved((-columns, -rows));
                self.reach[orientation] = same.or(&sky).and(&self.free[orientation]);
            }
        }
        self.spread(piece, turns, start, goal, 0b1111);
    }

    /// Turns from these orientations, given as bits, and continues until the goal is reached or nothing new is found.
    #[inline(always)]
    fn spread(
        &mut self,
        piece: impl Which,
        turns: &Turns,
        start: FloodLimits,
        goal: FloodGoal,
        waiting: u32,
    ) {
        if piece.number() == 1 {
            return;
        }
        let turning = match start.cell {
            None => Self::below_sky(start),
            Some(_) => Plane::EMPTY.others(),
        };
        let open = self.open_rows(turns, start);
        let mut waiting = waiting;
        while waiting != 0 {
            let from = waiting & waiting.wrapping_neg();
            waiting &= !from;
            let added = match from {
                1 => self.leave::<0, 1, 2, 3>(piece, turns, &turning, &open),
                2 => self.leave::<1, 2, 3, 0>(piece, turns, &turning, &open),
                4 => self.leave::<2, 3, 0, 1>(piece, turns, &turning, &open),
                _ => self.leave::<3, 0, 1, 2>(piece, turns, &turning, &open),
            };
            if added != 0 && goal == FloodGoal::Resting && !self.still_misses_some(piece) {
                return;
            }
            waiting |= added;
        }
    }

    /// Like [`Flood::misses_some`], for all orientations.
    #[inline(always)]
    fn still_misses_some(&self, piece: impl Which) -> bool {
        let mut missed = Plane::EMPTY;
        for orientation in 0..distinct(piece.number()) {
            missed = missed.or(&self.resting[orientation].without(&self.reached_as(piece, orientation)));
        }
        !missed.is_empty()
    }

    /// Turns from one orientation to the others: to the right, by half, to the left; then slides there. Returns the
    /// orientations that gained places, as bits.
    #[inline(never)]
    fn leave<const FROM: usize, const RIGHT: usize, const HALF: usize, const LEFT: usize>(
        &mut self,
        piece: impl Which,
        turns: &Turns,
        turning: &Plane<WORDS, STRIDE>,
        open: &Plane<WORDS, STRIDE>,
    ) -> u32 {
        let mut added = 0u32;
        // Shifts by numbers that the compiler knows take half the time. Larger planes are rare.
        if turns.is_srs && WORDS <= 5 {
            added |= self.turn(FROM, RIGHT, piece.srs_kicks::<FROM, RIGHT>(), turning, open);
            added |= self.turn(FROM, LEFT, piece.srs_kicks::<FROM, LEFT>(), turning, open);
        } else {
            for to in [RIGHT, HALF, LEFT] {
                added |= self.turn_by_table(FROM, to, turns.kicks(FROM, to), turning, open);
            }
        }
        added
    }

    /// Whether an orientation has free places that have not been reached.
    #[inline(always)]
    fn has_more(&self, orientation: usize) -> bool {
        !self.free[orientation].without(&self.reach[orientation]).is_empty()
    }

    /// The rows from which a turn may lead to new places.
    #[inline(always)]
    pub(crate) fn below_sky(start: FloodLimits) -> Plane<WORDS, STRIDE> {
        Plane::top_rows(STRIDE - start.free_row()).others()
    }

    /// The spare rows that kicks may lead into.
    #[inline(always)]
    pub(crate) fn open_rows(&self, turns: &Turns, start: FloodLimits) -> Plane<WORDS, STRIDE> {
        if start.is_open(turns) { Plane::top_rows(start.spare) } else { Plane::EMPTY }
    }

    /// The places that upward kicks may lead to.
    #[inline(always)]
    pub(crate) fn open_for(&self, to: usize, open: &Plane<WORDS, STRIDE>) -> Plane<WORDS, STRIDE> {
        // An orientation fits into a column of the spare rows if it fits just below them.
        let free = &self.free[to];
        free.or(&free.moved((0, 1)).or(&free.moved((0, 2))).and(open))
    }

    #[inline(always)]
    fn turn(
        &mut self,
        from: usize,
        to: usize,
        kicks: [Offset; 5],
        turning: &Plane<WORDS, STRIDE>,
        open: &Plane<WORDS, STRIDE>,
    ) -> u32 {
        let free = &self.free[to];
        let wanted = free.without(&self.reach[to]);
        if wanted.is_empty() {
            return 0;
        }
        // Usually no kick leads to a place that is still wanted.
        let mut near = Plane::EMPTY;
        for kick in kicks {
            near = near.or(&wanted.moved(back(kick)));
        }
        let mut turning = Turning { left: near.and(&self.reach[from]).and(turning), found: Plane::EMPTY };
        // One by one, so that the compiler knows all shifts.
        let [first, second, third, fourth, fifth] = kicks;
        if turning.left.is_empty() {
            return 0;
        }
        let open = self.open_for(to, open);
        turning.kick(first, free, &open);
        turning.kick(second, free, &open);
        if !turning.left.is_empty() {
            turning.kick(third, free, &open);
            turning.kick(fourth, free, &open);
            turning.kick(fifth, free, &open);
        }
        self.add(to, &turning.found)
    }

    fn turn_by_table(
        &mut self,
        from: usize,
        to: usize,
        kicks: &[Offset],
        turning: &Plane<WORDS, STRIDE>,
        open: &Plane<WORDS, STRIDE>,
    ) -> u32 {
        if kicks.is_empty() || !self.has_more(to) {
            return 0;
        }
        let mut turning = Turning { left: self.reach[from].and(turning), found: Plane::EMPTY };
        let open = self.open_for(to, open);
        for kick in kicks {
            if turning.left.is_empty() {
                break;
            }
            turning.kick(*kick, &self.free[to], &open);
        }
        self.add(to, &turning.found)
    }

    #[inline(always)]
    fn add(&mut self, to: usize, found: &Plane<WORDS, STRIDE>) -> u32 {
        let found = found.and(&self.free[to]);
        if found.without(&self.reach[to]).is_empty() {
            return 0;
        }
        self.reach[to] = self.reach[to].or(&found);
        self.slide(to);
        1 << to
    }

    /// Spreads sideways and down within an orientation. The reached places must already extend down as far as possible.
    #[inline(always)]
    fn slide(&mut self, orientation: usize) {
        loop {
            let wider = self.wider(orientation);
            if !wider.differs(&self.reach[orientation]) {
                break;
            }
            self.reach[orientation] = wider;
        }
    }

    /// The reached places after one step sideways and then down.
    #[inline(always)]
    fn wider(&self, orientation: usize) -> Plane<WORDS, STRIDE> {
        let (reach, free) = (&self.reach[orientation], &self.free[orientation]);
        reach.or(&reach.moved((1, 0)).or(&reach.moved((-1, 0))).and(free)).fallen(free)
    }
}
