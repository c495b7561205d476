//! Placements that clear lines, measured together.
//!
//! The [sweep](super::sweep) measures what clears nothing. A placement that clears lines moves every column down, so it is a
//! playfield of its own; of the 162 placements of all tetrominoes on 10 columns there are about four. Here lane i is one of
//! them and a vector is a column: all of them are put down, cleared and measured at once, and nothing is added up across
//! lanes. That takes about as long as it takes to measure one alone.
//!
//! This is for placements that lie within the playfield, and for features of its cells and counts of its steps. What sticks
//! out, and sets with other features of the surface, are measured one by one: see [`Scorer::score`].

use super::ground::{Basis, LaneBounds};
use super::lanes::{Apart, Doubles, Lanes, small};
use super::scorer::Scorer;
use super::stage::{Stage, clear};
use crate::engine::{Column, Placement, PlayfieldOf, Shape, Tetromino};

/// Some placements on one playfield, up to one a lane.
#[derive(Debug)]
pub struct Clearing<L: Lanes, const N: usize> {
    count: usize,
    /// Which placement a lane is.
    placements: [(Tetromino, Placement); 32],
    /// The cells of the pieces where they come to rest, by column, then by lane.
    pieces: [[L::Word; 32]; N],
    /// The landing heights in halves.
    landing_heights: [L::Word; 32],
    scores: [f64; 32],
}

impl<L: Lanes, const N: usize> Clearing<L, N> {
    /// No placements yet.
    #[inline(always)]
    pub fn none() -> Self {
        Clearing {
            count: 0,
            placements: [(Tetromino::I, Placement::straight(0, 0)); 32],
            pieces: [[L::Word::EMPTY; 32]; N],
            landing_heights: [L::Word::EMPTY; 32],
            scores: [0.0; 32],
        }
    }

    /// Whether there is no lane for another one.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.count == L::LANES
    }

    /// Adds a placement, which lands on this row.
    #[inline(always)]
    pub fn add(&mut self, piece: Tetromino, placement: Placement, shape: &Shape, row: L::Word) {
        let lane = self.count;
        let row = row.to_u64() as u32;
        // All four columns that a shape may have: those beyond its width have no cells.
        for j in 0..4 {
            let cells = L::Word::from_u64(shape.column_bits(j).into()) << row;
            self.pieces[(usize::from(placement.column) + j) % N][lane] = cells;
        }
        self.landing_heights[lane] = L::Word::from_u64((2 * row + u32::from(shape.height) - 1).into());
        self.placements[lane] = (piece, placement);
        self.count += 1;
    }

    /// Scores the placements that were added, and begins anew.
    #[inline(always)]
    pub fn take_scored(
        &mut self,
        scorer: &Scorer,
        size: &LaneBounds<L>,
        playfield: &PlayfieldOf<L::Word, N>,
    ) -> impl Iterator<Item = (Tetromino, Placement, f64)> {
        let count = self.count;
        if count > 0 {
            L::apart(ScoreTogether { scorer, size, playfield, clearing: self });
            self.count = 0;
            self.pieces = [[L::Word::EMPTY; 32]; N];
        }
        let scored = self.placements.iter().zip(&self.scores).take(count);
        scored.map(|(&(piece, placement), &score)| (piece, placement, score))
    }
}

/// The scores of all placements that were added.
struct ScoreTogether<'a, L: Lanes, const N: usize> {
    scorer: &'a Scorer,
    size: &'a LaneBounds<L>,
    playfield: &'a PlayfieldOf<L::Word, N>,
    clearing: &'a mut Clearing<L, N>,
}

impl<L: Lanes, const N: usize> Apart for ScoreTogether<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ScoreTogether { scorer, size, playfield, clearing } = self;
        let width = size.width as usize;
        let zero = small::<L>(0);
        let mut columns = [zero; N];
        let mut full = L::splat(size.wall);
        let words = playfield.words();
        for (x, column) in columns[..width].iter_mut().enumerate() {
            *column = L::splat(words[x]).or(L::load(&clearing.pieces[x]));
            full = full.and(*column);
        }
        let mut vanished = zero;
        for piece in &clearing.pieces[..width] {
            vanished = vanished.add(L::load(piece).and(full).count());
        }

        // Before clearing and after.
        let mut stages = [Stage::<L, N>::none(); 2];
        for (at, needs) in scorer.slots.stage_needs().into_iter().enumerate() {
            let stage = &mut stages[at];
            if let Some(needs) = needs {
                stage.measure(size, &columns, needs);
            }
            let values = &mut stage.values;
            values[Basis::LandingHeight as usize] = L::load(&clearing.landing_heights);
            values[Basis::LinesCleared as usize] = full.count();
            values[Basis::ErodedPieceCells as usize] = full.count().times(vanished);
            if at == 0 {
                clear(&mut columns[..width], full);
            }
        }

        let mut scores = L::Doubles::splat(0.0);
        for term in scorer.terms() {
            let stage = &stages[usize::from(!term.preclear)];
            scores = stage.lanes(term.kind).accumulate(scores, term.weight);
        }
        for (lane, score) in clearing.scores.iter_mut().enumerate().take(clearing.count) {
            *score = scores.lane(lane);
        }
    }
}
