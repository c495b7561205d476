//! The placements of a flood: the resting places, each set of cells counted once, with their labels.
//!
//! A placement has one label for each kind of last move that leads to it. To find the labels, all last turns are
//! repeated from all reached places, and their ends are sorted by kick.

use super::super::rotation::Turns;
use super::super::spin::{Spin, SpinRule};
use super::super::tetromino::TRUE_POSES;
use super::flood::{Flood, FloodGoal, FloodLimits, Which, distinct, to_same};
use super::plane::Plane;
use super::resting::Resting;

/// Resting places by label, then by orientation. Of several orientations with the same cells, only the first one has
/// places.
#[derive(Debug)]
pub(super) struct Labelled<const WORDS: usize, const STRIDE: u32> {
    pub planes: [[Plane<WORDS, STRIDE>; 4]; 3],
    /// 1 or 3. Planes of unused labels are empty.
    pub num_labels: usize,
}

/// Places at which turns end, by the label that they give.
struct TurnEnds<const WORDS: usize, const STRIDE: u32> {
    /// The ends of kicks that make a T-spin full.
    fully: Plane<WORDS, STRIDE>,
    otherwise: Plane<WORDS, STRIDE>,
}

impl<const WORDS: usize, const STRIDE: u32> Labelled<WORDS, STRIDE> {
    /// A set without placements and with a single label.
    #[inline(always)]
    pub(super) fn none() -> Self {
        Labelled { planes: [[Plane::EMPTY; 4]; 3], num_labels: 1 }
    }

    /// Floods as far as necessary and labels the placements. Writes in place, because the value is large.
    #[inline(always)]
    pub(super) fn find(
        &mut self,
        piece: impl Which,
        flood: &mut Flood<WORDS, STRIDE>,
        turns: &Turns,
        rule: SpinRule,
        start: FloodLimits,
    ) {
        let may_spin = match rule {
            SpinRule::None => false,
            // Without a resting place between three full corners, no T can spin.
            SpinRule::TSpins | SpinRule::TSpinsStrict => piece.number() == 2 && flood.has_slots(),
            SpinRule::AllSpins => piece.number() != 1,
        };
        if may_spin {
            self.num_labels = 3;
            flood.run(piece, turns, start, FloodGoal::All);
            self.label(piece, flood, turns, rule, start);
        } else {
            flood.run(piece, turns, start, FloodGoal::Resting);
            for orientation in 0..distinct(piece.number()) {
                self.planes[0][orientation] = flood.rested(piece, orientation);
            }
        }
    }

    #[inline(never)]
    fn label(
        &mut self,
        piece: impl Which,
        flood: &Flood<WORDS, STRIDE>,
        turns: &Turns,
        rule: SpinRule,
        start: FloodLimits,
    ) {
        for to in 0..4 {
            let reach = &flood.reach[to];
            let resting = reach.without(&flood.free[to].moved((0, 1)));
            let is_spin = if piece.number() == 2 {
                flood.corners(to).0
            } else {
                let free = &flood.free[to];
                free.moved((1, 0)).or(&free.moved((-1, 0))).or(&free.moved((0, -1))).others()
            };
            let slots = resting.and(&is_spin);
            self.planes[0][to] = resting.without(&is_spin);
            if slots.is_empty() {
                continue;
            }
            let mut moved = reach.moved((1, 0)).or(&reach.moved((-1, 0))).or(&reach.moved((0, -1)));
            if let (0, Some((column, row))) = (to, start.cell) {
                moved = moved.or(&Plane::cell(column, row));
            }
            self.planes[0][to] = self.planes[0][to].or(&slots.and(&moved));
            let turned = flood.turned(turns, rule, start, to);
            let spun = slots.and(&turned.fully.or(&turned.otherwise));
            if piece.number() == 2 {
                // A place reached by a full kick may also be reached by another kick, and is then a mini if its corners
                // say so.
                let (_, pointing) = flood.corners(to);
                self.planes[1][to] = spun.and(&turned.otherwise).without(&pointing);
                self.planes[2][to] = spun.and(&pointing.or(&turned.fully));
            } else {
                self.planes[2][to] = spun;
            }
        }
        if distinct(piece.number()) == 2 {
            for planes in &mut self.planes {
                for (orientation, same) in [(2, 0), (3, 1)] {
                    planes[same] =
                        planes[same].or(&planes[orientation].moved(to_same(piece.number(), orientation)));
                    planes[orientation] = Plane::EMPTY;
                }
            }
        }
    }

    /// Number of placements; a place counts once per label.
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        let mut count = Plane::count(&self.planes[0]);
        for planes in &self.planes[1..self.num_labels] {
            count += Plane::count(planes);
        }
        count
    }

    /// Whether the placements include this one, which must lie between the walls.
    #[inline(always)]
    pub(super) fn has(&self, piece: impl Which, resting: Resting) -> bool {
        let Resting { orientation, column, row, spin } = resting;
        let shape = &TRUE_POSES[piece.number()][usize::from(orientation)];
        let row = u32::from(row) + u32::from(shape.anchor_row);
        let rows = self.planes[spin as usize][usize::from(orientation)]
            .column(u32::from(column + shape.anchor_column));
        // The highest bit is the lowest row.
        row < STRIDE && rows >> (STRIDE - 1 - row) & 1 == 1
    }

    /// Appends the placements in order.
    pub(super) fn append(&self, piece: impl Which, width: u8, list: &mut Vec<Resting>) {
        for orientation in 0..4u8 {
            let shape = &TRUE_POSES[piece.number()][usize::from(orientation)];
            let planes = [0, 1, 2].map(|label: usize| &self.planes[label][usize::from(orientation)]);
            if planes.iter().all(|plane| plane.is_empty()) {
                continue;
            }
            for column in 0..width {
                // The highest bit is the lowest row.
                let labels = planes.map(|plane| plane.column(column.into()));
                let mut rows = labels[0] | labels[1] | labels[2];
                while rows != 0 {
                    let bit = rows.ilog2();
                    rows ^= 1 << bit;
                    let row = (STRIDE - 1 - bit) as u8 - shape.anchor_row;
                    let at =
                        Resting { orientation, column: column - shape.anchor_column, row, spin: Spin::None };
                    if self.num_labels == 1 {
                        list.push(at);
                        continue;
                    }
                    for (spin, label) in Spin::ALL.into_iter().zip(labels) {
                        if label >> bit & 1 == 1 {
                            list.push(Resting { spin, ..at });
                        }
                    }
                }
            }
        }
    }
}

impl<const WORDS: usize, const STRIDE: u32> Flood<WORDS, STRIDE> {
    /// Whether a T could rest between three full corners.
    #[inline(always)]
    fn has_slots(&self) -> bool {
        let resting = self.resting[0].or(&self.resting[1]).or(&self.resting[2]).or(&self.resting[3]);
        !resting.and(&self.corners(0).0).is_empty()
    }

    /// The ends of turns into an orientation.
    #[inline(always)]
    fn turned(
        &self,
        turns: &Turns,
        rule: SpinRule,
        start: FloodLimits,
        to: usize,
    ) -> TurnEnds<WORDS, STRIDE> {
        let mut turned = TurnEnds { fully: Plane::EMPTY, otherwise: Plane::EMPTY };
        let free = &self.free[to];
        let open = self.open_for(to, &self.open_rows(turns, start));
        for from in 0..4 {
            let mut left = self.reach[from];
            if start.is_open(turns) {
                // No turn from above the stack ends in a place where the piece cannot move.
                left = left.and(&Self::below_sky(start));
            }
            for (n, &(column, row)) in turns.kicks(from, to).iter().enumerate() {
                if left.is_empty() {
                    break;
                }
                let (column, row) = (i32::from(column), i32::from(row));
                let ends = left.moved((column, row)).and(if row > 0 { &open } else { free });
                left = left.without(&ends.moved((-column, -row)));
                let kind =
                    if rule.is_full_by_kick(n, from, to) { &mut turned.fully } else { &mut turned.otherwise };
                *kind = kind.or(&ends);
            }
        }
        turned
    }

    /// The anchors with three full corners around them, and the anchors with both corners full on the side that a T
    /// points to.
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
