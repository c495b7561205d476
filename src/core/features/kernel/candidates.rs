//! Sets of placements of one piece, as bits.

use crate::engine::Placement;

/// A set of placements of a piece, in ascending action order: 32 bits per orientation, one per column.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidates(u128);

impl Candidates {
    /// Every possible placement of any piece.
    pub(super) const ALL: Candidates = Candidates(u128::MAX);
    /// Number of possible placements, and length of an array indexed by [`index`].
    pub(super) const ROOM: usize = 128;

    /// Adds the columns of a mask in this orientation.
    #[inline(always)]
    pub(super) fn add(&mut self, orientation: usize, lanes: u32) {
        self.0 |= u128::from(lanes) << (32 * orientation);
    }

    /// Adds a single placement, by its orientation and column.
    #[inline(always)]
    pub(super) fn insert(&mut self, placement: Placement) {
        self.0 |= 1 << index(placement);
    }

    /// The columns of a mask in this orientation.
    #[inline(always)]
    pub(crate) fn of_lanes(orientation: usize, lanes: u32) -> Candidates {
        let mut candidates = Candidates::default();
        candidates.add(orientation, lanes);
        candidates
    }

    /// The columns in this orientation, as a mask.
    #[inline(always)]
    pub(super) fn lanes(self, orientation: usize) -> u32 {
        (self.0 >> (32 * orientation)) as u32
    }

    /// The placement, if the set has only one.
    #[inline(always)]
    pub(super) fn only(mut self) -> Option<Placement> {
        let first = self.next();
        first.filter(|_| self.0 == 0)
    }

    /// Keeps only the placements for which `keep` is true.
    #[inline(always)]
    pub(super) fn retain(&mut self, keep: impl Fn(Placement) -> bool) {
        for placement in *self {
            if !keep(placement) {
                self.0 &= !(1 << index(placement));
            }
        }
    }

    /// Keeps the `count` placements with the largest scores; the first of equals. `count` must be at least 1.
    #[inline(always)]
    pub(crate) fn keep_largest(&mut self, scores: &[f64; Candidates::ROOM], count: u32) {
        if self.0.count_ones() <= count {
            return;
        }
        // The largest scores so far in descending order, equals in ascending action order.
        let (mut largest, mut places, mut len) = ([0.0; Candidates::ROOM], [0; Candidates::ROOM], 0);
        for placement in *self {
            let score = scores[index(placement)];
            if len == count as usize {
                if score <= largest[len - 1] {
                    continue;
                }
            } else {
                len += 1;
            }
            let mut at = len - 1;
            while at > 0 && largest[at - 1] < score {
                (largest[at], places[at]) = (largest[at - 1], places[at - 1]);
                at -= 1;
            }
            (largest[at], places[at]) = (score, index(placement) as u8);
        }
        self.0 = 0;
        for place in &places[..len] {
            self.0 |= 1 << place;
        }
    }
}

impl Iterator for Candidates {
    type Item = Placement;

    #[inline(always)]
    fn next(&mut self) -> Option<Placement> {
        if self.0 == 0 {
            return None;
        }
        let first = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(Placement::straight(first / 32, first % 32))
    }
}

/// The position of a placement in the order of actions: by orientation, then by column.
#[inline(always)]
pub(super) fn index(placement: Placement) -> usize {
    usize::from(placement.orientation) * 32 + usize::from(placement.column)
}
