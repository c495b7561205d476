//! One placement per lane: lands all pieces on one playfield, then clears lines and measures, for all lanes at once.

use super::bounds::LaneBounds;
use super::feature::KernelFeature::*;
use super::modern::ClearLanes;
use super::playfield_lanes::PlayfieldLanes;
use super::scorer::Term;
use super::set::{KernelColumn, KernelSet};
use crate::engine::lanes::{Doubles, Lanes, small};
use crate::engine::{Column, Shape, Spin, Tetromino};

/// Pieces at rest on one playfield, at most one per lane.
#[derive(Debug)]
pub(super) struct PlacementLanes<L: Lanes, const N: usize> {
    pub(super) count: usize,
    /// The cells of the pieces by column, then by lane.
    pieces: [[L::Word; 32]; N],
    /// The landing heights in halves.
    landing_heights: [L::Word; 32],
    spins: [Spin; 32],
    /// The lanes of T pieces.
    ts: u32,
}

impl<L: Lanes, const N: usize> PlacementLanes<L, N> {
    /// An empty set of placements.
    #[inline(always)]
    pub(super) fn none() -> Self {
        PlacementLanes {
            count: 0,
            pieces: [[L::Word::EMPTY; 32]; N],
            landing_heights: [L::Word::EMPTY; 32],
            spins: [Spin::None; 32],
            ts: 0,
        }
    }

    /// Adds a piece whose lowest cells rest in this row, and whose leftmost cells are in this column.
    #[inline(always)]
    pub(super) fn add(&mut self, piece: Tetromino, shape: &Shape, row: u32, column: u8, spin: Spin) {
        let lane = self.count;
        // A shape may have four columns. Columns beyond its width have no cells.
        for j in 0..4 {
            let cells = L::Word::from_u64(shape.column_bits(j).into()) << row;
            self.pieces[(usize::from(column) + j) % N][lane] = cells;
        }
        self.landing_heights[lane] = L::Word::from_u64((2 * row + u32::from(shape.height) - 1).into());
        self.spins[lane] = spin;
        self.ts |= u32::from(piece == Tetromino::T) << lane;
        self.count += 1;
    }

    /// Removes all placements, so that the memory can be used again.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.ts = 0;
        self.pieces = [[L::Word::EMPTY; 32]; N];
    }

    /// Measures the placements on a playfield, given by its columns.
    #[inline(always)]
    pub(super) fn measure(
        &self,
        set: &KernelSet,
        size: &LaneBounds<L>,
        words: &[L::Word; N],
        landings: &mut LandingLanes<L, N>,
    ) {
        let width = size.width as usize;
        let zero = small::<L>(0);
        let mut columns = [zero; N];
        let mut full = L::splat(size.wall);
        for ((column, word), piece) in columns.iter_mut().zip(words).zip(&self.pieces).take(width) {
            *column = L::splat(*word).or(L::load(piece));
            full = full.and(*column);
        }
        let lines = full.count();
        let mut vanished = zero;
        if lines.nonzero() != 0 {
            for piece in self.pieces.iter().take(width) {
                vanished = vanished.add(L::load(piece).and(full).count());
            }
        }
        let mut filled = zero;
        for (at, needs) in set.needs_of_landing.into_iter().enumerate() {
            if at == 1 {
                clear(&mut columns[..width], full);
                for column in &columns[..width] {
                    filled = filled.or(*column);
                }
            }
            if !needs.is_empty() {
                let playfields = landings.playfields[at].get_or_insert_with(PlayfieldLanes::none);
                playfields.measure(size, &columns, needs);
            }
        }
        landings.landing_heights = L::load(&self.landing_heights);
        landings.lines = lines;
        landings.eroded_piece_cells = lines.times(vanished);
        landings.empty = !filled.nonzero();
        if set.needs.any([BaseAttack, IdleT, Clears]) {
            landings.clears.measure(lines, &self.spins[..self.count], self.ts, landings.empty);
        }
    }
}

/// Removes full rows: all rows above each of them move down by one.
#[inline(always)]
fn clear<L: Lanes>(columns: &mut [L], full: L) {
    let mut full = full;
    // From the highest row down, so that the remaining full rows stay where they are.
    while full.nonzero() != 0 {
        // The rows below the highest full one; all rows in lanes without a full one.
        let under = L::place(1, full.top()).down::<1>().sub(small(1));
        for column in &mut *columns {
            *column = column.and(under).or(column.down::<1>().and_not(under));
        }
        full = full.and(under);
    }
}

/// The results of [`PlacementLanes::measure`]. They are large, so the caller provides the memory, and may use it again
/// for the same set.
pub(super) struct LandingLanes<L: Lanes, const N: usize> {
    /// The playfields before and after clearing, if measured.
    playfields: [Option<PlayfieldLanes<L, N>>; 2],
    landing_heights: L,
    pub lines: L,
    eroded_piece_cells: L,
    clears: ClearLanes<L>,
    /// The lanes whose playfield is empty after clearing.
    pub empty: u32,
}

impl<L: Lanes, const N: usize> LandingLanes<L, N> {
    /// An empty value, before anything is measured.
    #[inline(always)]
    pub(super) fn none() -> Self {
        let zero = small::<L>(0);
        LandingLanes {
            playfields: [None, None],
            landing_heights: zero,
            lines: zero,
            eroded_piece_cells: zero,
            clears: ClearLanes::none(),
            empty: 0,
        }
    }

    /// The values of a feature, one per lane.
    #[inline(always)]
    pub(super) fn lanes(&self, column: KernelColumn) -> L {
        match (column.feature, &self.playfields[column.stage()]) {
            (LandingHeight, _) => self.landing_heights,
            (LinesCleared, _) => self.lines,
            (ErodedPieceCells, _) => self.eroded_piece_cells,
            (BaseAttack, _) => self.clears.base_attack,
            (IdleT, _) => self.clears.idle_t,
            (Clears, _) => self.clears.clears(column.index),
            (_, Some(playfields)) => playfields.lanes(column),
            (_, None) => small(0),
        }
    }

    /// The scores of all placements.
    #[inline(always)]
    pub(super) fn scores(&self, terms: &[Term]) -> L::Doubles {
        let mut scores = L::Doubles::splat(0.0);
        for term in terms {
            scores = self.lanes(term.column).accumulate(scores, term.weight);
        }
        scores
    }
}
