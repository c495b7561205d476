//! Where a piece can come to, all places at once: one bit for the anchor of each, an orientation at a time.
//!
//! A flood spreads sideways and down within an orientation and by turns to the others, until nothing new is found. Of a
//! turn, every kick is applied to all places at once for which the kicks before it failed.
//!
//! A low stack lets every orientation come to every column above it, so the flood begins with whatever can fall from there,
//! and most often that is all. A stack that comes near the row where pieces appear makes it begin there, with one place.
//!
//! This file knows nothing of labels, lists and keys.

use super::super::column::Column;
use super::super::playfield::PlayfieldOf;
use super::super::rotation::{Offset, Turns};
use super::super::tetromino::cells_from_anchor;
use super::plane::Plane;

/// How far below its anchor a piece has cells, at most.
const BELOW: u32 = 2;

/// What limits a flood, apart from the playfield.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// The row just above the highest full cell.
    pub stack: u32,
    /// Column and row of the anchor where the piece appears; `None` when every place above the stack can be reached.
    pub cell: Option<(u32, u32)>,
    /// The highest rows of a column where no anchor can be.
    pub spare: u32,
}

impl Start {
    /// The bits a column must have.
    pub fn stride(&self, turns: &Turns) -> u32 {
        // All kicks from places that touch the stack, or from near where the piece appears, stay in the plane.
        let highest = self.cell.map_or(self.stack, |(_, row)| row.max(self.stack)) + BELOW;
        highest + u32::from(turns.rows) + self.spare
    }
}

/// Places that turn, and where they have come to.
struct Turning<const WORDS: usize, const STRIDE: u32> {
    /// Those for which all kicks so far failed.
    left: Plane<WORDS, STRIDE>,
    found: Plane<WORDS, STRIDE>,
}

impl<const WORDS: usize, const STRIDE: u32> Turning<WORDS, STRIDE> {
    #[inline(always)]
    fn kick(&mut self, kick: Offset, free: &Plane<WORDS, STRIDE>) {
        let turned = self.left.moved(there(kick)).and(free);
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
    /// By orientation, where the anchor may be.
    pub free: [Plane<WORDS, STRIDE>; 4],
    /// By orientation, where the anchor can come to.
    pub reach: [Plane<WORDS, STRIDE>; 4],
    /// The cells that are empty, the spare rows included.
    pub empty: Plane<WORDS, STRIDE>,
    /// The same without the spare rows.
    pub empty_below: Plane<WORDS, STRIDE>,
}

impl<const WORDS: usize, const STRIDE: u32> Flood<WORDS, STRIDE> {
    /// All that a piece can come to.
    #[inline(always)]
    pub fn new<const PIECE: usize, C: Column, const N: usize>(
        playfield: &PlayfieldOf<C, N>,
        turns: &Turns,
        start: Start,
    ) -> Self {
        let empty = Plane::empty_cells(playfield);
        let spare = Plane::top_rows(start.spare);
        let empty_below = empty.without(&spare);
        let mut flood = Flood { free: [Plane::EMPTY; 4], reach: [Plane::EMPTY; 4], empty, empty_below };
        // A turned O is where it was.
        let orientations = if PIECE == 1 { 1 } else { 4 };
        // One by one, so that the compiler knows all shifts.
        flood.free[0] = flood.free_anchors(const { cells_from_anchor(PIECE, 0) });
        if orientations == 4 {
            flood.free[1] = flood.free_anchors(const { cells_from_anchor(PIECE, 1) });
            flood.free[2] = flood.free_anchors(const { cells_from_anchor(PIECE, 2) });
            flood.free[3] = flood.free_anchors(const { cells_from_anchor(PIECE, 3) });
        }
        match start.cell {
            None => {
                let sky = Plane::row(STRIDE - 1 - start.spare);
                let mut rest = Plane::EMPTY;
                for orientation in 0..orientations {
                    let free = &flood.free[orientation];
                    flood.reach[orientation] = sky.and(free).fallen(free);
                    rest = rest.or(&free.without(&flood.reach[orientation]));
                }
                if !rest.is_empty() {
                    flood.spread::<PIECE>(turns, start.stack + BELOW);
                }
            }
            Some((column, row)) => {
                flood.reach[0] = Plane::cell(column, row).and(&flood.free[0]);
                if !flood.reach[0].is_empty() {
                    flood.spread::<PIECE>(turns, STRIDE);
                }
            }
        }
        flood
    }

    #[inline(always)]
    fn free_anchors(&self, cells: [(i8, i8); 4]) -> Plane<WORDS, STRIDE> {
        // Above the rows of the plane all is empty; below them is the floor, and their spare rows are in the way.
        let from = |cell: Offset| if cell.1 > 0 { &self.empty } else { &self.empty_below }.moved(back(cell));
        self.empty_below.and(&from(cells[1])).and(&from(cells[2])).and(&from(cells[3]))
    }

    /// Goes on until nothing new is found. Turns at or above a row lead to nothing new.
    #[inline(always)]
    fn spread<const PIECE: usize>(&mut self, turns: &Turns, turning_rows: u32) {
        let below = if turning_rows < STRIDE {
            Plane::top_rows(STRIDE - turning_rows).others()
        } else {
            Plane::EMPTY.others()
        };
        if PIECE == 1 {
            return self.slide(0);
        }
        let mut waiting = 0b1111u32;
        while waiting != 0 {
            let from = waiting & waiting.wrapping_neg();
            waiting &= !from;
            waiting |= match from {
                1 => self.leave::<PIECE, 0, 1, 2, 3>(turns, &below),
                2 => self.leave::<PIECE, 1, 2, 3, 0>(turns, &below),
                4 => self.leave::<PIECE, 2, 3, 0, 1>(turns, &below),
                _ => self.leave::<PIECE, 3, 0, 1, 2>(turns, &below),
            };
        }
    }

    /// Slides in an orientation and turns to the others: to the right, by half, to the left. Returns those that were added
    /// to, as bits.
    fn leave<
        const PIECE: usize,
        const FROM: usize,
        const RIGHT: usize,
        const HALF: usize,
        const LEFT: usize,
    >(
        &mut self,
        turns: &Turns,
        below: &Plane<WORDS, STRIDE>,
    ) -> u32 {
        if self.has_more(FROM) {
            self.slide(FROM);
        }
        let mut added = 0u32;
        // Shifts by numbers that the compiler knows take half the time.
        if turns.is_srs && STRIDE <= 16 {
            added |= self.turn(FROM, RIGHT, const { Turns::srs(PIECE, FROM, RIGHT) }, below);
            added |= self.turn(FROM, LEFT, const { Turns::srs(PIECE, FROM, LEFT) }, below);
        } else {
            for to in [RIGHT, HALF, LEFT] {
                added |= self.turn_by_table(FROM, to, turns.kicks(FROM, to), below);
            }
        }
        added
    }

    /// Whether there are places in an orientation that were not found yet.
    #[inline(always)]
    fn has_more(&self, orientation: usize) -> bool {
        !self.free[orientation].without(&self.reach[orientation]).is_empty()
    }

    #[inline(always)]
    fn turn(&mut self, from: usize, to: usize, kicks: [Offset; 5], below: &Plane<WORDS, STRIDE>) -> u32 {
        let free = &self.free[to];
        let wanted = free.without(&self.reach[to]);
        if wanted.is_empty() {
            return 0;
        }
        // Most often, no kick leads from anywhere to a place that is still wanted.
        let mut near = Plane::EMPTY;
        for kick in kicks {
            near = near.or(&wanted.moved(back(kick)));
        }
        let mut turning = Turning { left: near.and(&self.reach[from]).and(below), found: Plane::EMPTY };
        // One by one, so that the compiler knows all shifts.
        let [first, second, third, fourth, fifth] = kicks;
        if turning.left.is_empty() {
            return 0;
        }
        turning.kick(first, free);
        turning.kick(second, free);
        if !turning.left.is_empty() {
            turning.kick(third, free);
            turning.kick(fourth, free);
            turning.kick(fifth, free);
        }
        self.add(to, &turning.found)
    }

    fn turn_by_table(
        &mut self,
        from: usize,
        to: usize,
        kicks: &[Offset],
        below: &Plane<WORDS, STRIDE>,
    ) -> u32 {
        if kicks.is_empty() || !self.has_more(to) {
            return 0;
        }
        let mut turning = Turning { left: self.reach[from].and(below), found: Plane::EMPTY };
        for kick in kicks {
            if turning.left.is_empty() {
                break;
            }
            turning.kick(*kick, &self.free[to]);
        }
        self.add(to, &turning.found)
    }

    #[inline(always)]
    fn add(&mut self, to: usize, found: &Plane<WORDS, STRIDE>) -> u32 {
        let is_new = !found.without(&self.reach[to]).is_empty();
        self.reach[to] = self.reach[to].or(found);
        u32::from(is_new) << to
    }

    /// Sideways and down within an orientation.
    #[inline(always)]
    fn slide(&mut self, orientation: usize) {
        let free = &self.free[orientation];
        let mut reach = self.reach[orientation].fallen(free);
        loop {
            let wider = reach.or(&reach.moved((1, 0)).or(&reach.moved((-1, 0))).and(free)).fallen(free);
            if wider == reach {
                break;
            }
            reach = wider;
        }
        self.reach[orientation] = reach;
    }

    /// Where a piece in this orientation comes to rest.
    #[inline(always)]
    pub fn resting(&self, orientation: usize) -> Plane<WORDS, STRIDE> {
        self.reach[orientation].without(&self.free[orientation].moved((0, 1)))
    }
}
