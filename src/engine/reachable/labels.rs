//! The placements of a flood: where pieces rest, those with the same cells counted once, and the label of each.
//!
//! A placement has a label for each kind of last move that leads to it. All last turns are made once more, from all places
//! that can be reached, and their ends are sorted by kick.

use super::super::rotation::Turns;
use super::super::spin::{Spin, SpinRule};
use super::super::tetromino::TRUE_POSES;
use super::flood::{Flood, Start};
use super::plane::Plane;
use super::resting::Resting;

/// Resting places by label, then by orientation; of the orientations with the same cells, only the first has any.
#[derive(Debug)]
pub(super) struct Labelled<const WORDS: usize, const STRIDE: u32> {
    pub planes: [[Plane<WORDS, STRIDE>; 4]; 3],
    /// 1 or 3: the others are empty.
    pub num_labels: usize,
}

/// What a turn ends in.
struct Turned<const WORDS: usize, const STRIDE: u32> {
    /// By a kick that makes a T-spin full.
    fully: Plane<WORDS, STRIDE>,
    otherwise: Plane<WORDS, STRIDE>,
}

impl<const WORDS: usize, const STRIDE: u32> Labelled<WORDS, STRIDE> {
    #[inline(always)]
    pub fn new<const PIECE: usize>(
        flood: &Flood<WORDS, STRIDE>,
        turns: &Turns,
        rule: SpinRule,
        start: Start,
    ) -> Self {
        let is_labelled = match rule {
            SpinRule::Off => false,
            SpinRule::TSpins | SpinRule::TSpinsStrict => PIECE == 2,
            SpinRule::AllSpins => PIECE != 1,
        };
        let mut labelled = Labelled { planes: [[Plane::EMPTY; 4]; 3], num_labels: 1 };
        let orientations = if PIECE == 1 { 1 } else { 4 };
        if is_labelled {
            labelled.num_labels = 3;
            labelled.label::<PIECE>(flood, turns, rule, start);
        } else {
            for orientation in 0..orientations {
                labelled.planes[0][orientation] = flood.resting(orientation);
            }
        }
        if matches!(PIECE, 0 | 3 | 4) {
            for planes in &mut labelled.planes[..labelled.num_labels] {
                for (orientation, same) in [(2, 0), (3, 1)] {
                    let (this, that) = (&TRUE_POSES[PIECE][orientation], &TRUE_POSES[PIECE][same]);
                    let columns = that.anchor_column as i32 - this.anchor_column as i32;
                    let rows = that.anchor_row as i32 - this.anchor_row as i32;
                    planes[same] = planes[same].or(&planes[orientation].moved((columns, rows)));
                    planes[orientation] = Plane::EMPTY;
                }
            }
        }
        labelled
    }

    fn label<const PIECE: usize>(
        &mut self,
        flood: &Flood<WORDS, STRIDE>,
        turns: &Turns,
        rule: SpinRule,
        start: Start,
    ) {
        for to in 0..4 {
            let resting = flood.resting(to);
            if resting.is_empty() {
                continue;
            }
            let reach = &flood.reach[to];
            let mut moved = reach.moved((1, 0)).or(&reach.moved((-1, 0))).or(&reach.moved((0, -1)));
            if let (0, Some((column, row))) = (to, start.cell) {
                moved = moved.or(&Plane::cell(column, row));
            }
            let turned = flood.turned(turns, rule, to);
            let all_turned = turned.fully.or(&turned.otherwise);
            let (is_spin, is_full) = if PIECE == 2 {
                let (three, pointing) = flood.corners(to);
                (three, pointing.or(&turned.fully))
            } else {
                let free = &flood.free[to];
                let mobile = free.moved((1, 0)).or(&free.moved((-1, 0))).or(&free.moved((0, -1)));
                (mobile.others(), Plane::EMPTY.others())
            };
            let spun = resting.and(&all_turned).and(&is_spin);
            self.planes[0][to] = resting.and(&moved.or(&all_turned.without(&is_spin)));
            // One that a full kick leads to may be led to by another kick as well, and is a mini then if its corners say so.
            self.planes[1][to] = if PIECE == 2 {
                let (_, pointing) = flood.corners(to);
                spun.and(&turned.otherwise).without(&pointing)
            } else {
                Plane::EMPTY
            };
            self.planes[2][to] = spun.and(&is_full);
        }
    }

    /// How many placements there are.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        let mut count = 0;
        for planes in &self.planes[..self.num_labels] {
            for plane in planes {
                count += plane.count();
            }
        }
        count
    }

    /// Writes the placements in order.
    pub fn append<const PIECE: usize>(&self, width: u8, list: &mut Vec<Resting>) {
        for orientation in 0..4u8 {
            let shape = &TRUE_POSES[PIECE][usize::from(orientation)];
            let planes = [0, 1, 2].map(|label: usize| &self.planes[label][usize::from(orientation)]);
            if planes.iter().all(|plane| plane.is_empty()) {
                continue;
            }
            for column in 0..width {
                let labels = planes.map(|plane| plane.column(column.into()));
                let mut rows = labels[0] | labels[1] | labels[2];
                while rows != 0 {
                    let row = rows.trailing_zeros() as u8;
                    rows &= rows - 1;
                    for (spin, label) in Spin::ALL.into_iter().zip(labels) {
                        if label >> row & 1 == 1 {
                            let (column, row) = (column - shape.anchor_column, row - shape.anchor_row);
                            list.push(Resting { orientation, column, row, spin });
                        }
                    }
                }
            }
        }
    }
}

impl<const WORDS: usize, const STRIDE: u32> Flood<WORDS, STRIDE> {
    /// Where turns into an orientation end.
    #[inline(always)]
    fn turned(&self, turns: &Turns, rule: SpinRule, to: usize) -> Turned<WORDS, STRIDE> {
        let mut turned = Turned { fully: Plane::EMPTY, otherwise: Plane::EMPTY };
        for from in 0..4 {
            let mut left = self.reach[from];
            for (n, &(column, row)) in turns.kicks(from, to).iter().enumerate() {
                if left.is_empty() {
                    break;
                }
                let (column, row) = (i32::from(column), i32::from(row));
                let ends = left.moved((column, row)).and(&self.free[to]);
                left = left.without(&ends.moved((-column, -row)));
                let kind =
                    if rule.is_full_by_kick(n, from, to) { &mut turned.fully } else { &mut turned.otherwise };
                *kind = kind.or(&ends);
            }
        }
        turned
    }

    /// The anchors with three full corners around them, and those with both on the side that a T points to.
    #[inline(always)]
    fn corners(&self, orientation: usize) -> (Plane<WORDS, STRIDE>, Plane<WORDS, STRIDE>) {
        let above = [(-1, 1), (1, 1)].map(|(column, row)| self.empty.moved((-column, -row)).others());
        let below = [(1, -1), (-1, -1)].map(|(column, row)| self.empty_below.moved((-column, -row)).others());
        // Clockwise from the upper left.
        let [a, b] = above;
        let [c, d] = below;
        let (ab, cd) = (a.and(&b), c.and(&d));
        let three = ab.and(&c.or(&d)).or(&cd.and(&a.or(&b)));
        let pointing = [ab, b.and(&c), cd, d.and(&a)][orientation];
        (three, pointing)
    }
}
