//! Straight drops that clear lines, measured together.
//!
//! The [sweep](super::sweep) measures placements that clear nothing. A placement that clears lines moves every column
//! down, so its afterstate is a different playfield. Of the 162 placements of all tetrominoes on 10 columns, about four
//! clear lines. Measuring them [one per lane](super::placement_lanes) takes about as long as measuring a single one
//! alone.
//!
//! This file handles placements within the playfield. Those that stick out are measured one by one: see
//! [`Scorer::score`].

use super::bounds::LaneBounds;
use super::placement_lanes::{LandingLanes, PlacementLanes};
use super::scorer::Scorer;
use crate::engine::lanes::{Apart, Doubles, Lanes};
use crate::engine::{Column, Placement, PlayfieldOf, Shape, Spin, Tetromino};

/// Some placements on one playfield, up to one per lane, and their scores.
#[derive(Debug)]
pub(super) struct Clearing<L: Lanes, const N: usize> {
    lanes: PlacementLanes<L, N>,
    /// The placement in each lane.
    placements: [(Tetromino, Placement); 32],
    scores: [f64; 32],
}

impl<L: Lanes, const N: usize> Clearing<L, N> {
    /// An empty set of placements.
    #[inline(always)]
    pub(super) fn none() -> Self {
        Clearing {
            lanes: PlacementLanes::none(),
            placements: [(Tetromino::I, Placement::straight(0, 0)); 32],
            scores: [0.0; 32],
        }
    }

    /// Whether every lane holds a placement.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.lanes.count == L::LANES
    }

    /// Adds a placement that lands on this row.
    #[inline(always)]
    pub(super) fn add(&mut self, piece: Tetromino, placement: Placement, shape: &Shape, row: L::Word) {
        self.placements[self.lanes.count] = (piece, placement);
        self.lanes.add(piece, shape, row.to_u64() as u32, placement.column, Spin::None);
    }

    /// Scores the added placements, and removes them.
    #[inline(always)]
    pub(crate) fn take_scored(
        &mut self,
        scorer: &Scorer,
        size: &LaneBounds<L>,
        playfield: &PlayfieldOf<L::Word, N>,
    ) -> impl Iterator<Item = (Tetromino, Placement, f64)> {
        let count = self.lanes.count;
        if count > 0 {
            L::apart(ScoreClearing { scorer, size, playfield, clearing: self });
            self.lanes.clear();
        }
        let scored = self.placements.iter().zip(&self.scores).take(count);
        scored.map(|(&(piece, placement), &score)| (piece, placement, score))
    }
}

/// Work that scores all added placements.
struct ScoreClearing<'a, L: Lanes, const N: usize> {
    scorer: &'a Scorer,
    size: &'a LaneBounds<L>,
    playfield: &'a PlayfieldOf<L::Word, N>,
    clearing: &'a mut Clearing<L, N>,
}

impl<L: Lanes, const N: usize> Apart for ScoreClearing<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ScoreClearing { scorer, size, playfield, clearing } = self;
        let mut landings = LandingLanes::none();
        clearing.lanes.measure(&scorer.set, size, playfield.words(), &mut landings);
        let scores = landings.scores(scorer.terms());
        for (lane, score) in clearing.scores.iter_mut().enumerate().take(clearing.lanes.count) {
            *score = scores.lane(lane);
        }
    }
}
