//! The feature vectors of every placement, as rows of a matrix.

use super::base::SweepBase;
use super::bounds::LaneBounds;
use super::lanes::{Apart, Lanes};
use super::set::{KernelSet, PlayfieldCounts, SweepExtras};
use super::sweep::sweep;
use crate::engine::{Column, PlayfieldOf, Shape, TopOut};
use crate::features::sets::FeatureSet;

/// A feature set, prepared for writing matrices.
#[derive(Clone, Debug)]
pub struct Extractor {
    set: KernelSet,
}

/// One row per placement, in ascending action order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacementRows {
    /// Feature vectors, row-major.
    pub features: Vec<f32>,
    /// The row of the piece's lowest cells.
    pub landing_rows: Vec<u8>,
    /// Lines cleared.
    pub lines: Vec<u8>,
    /// Whether the placement ends the game.
    pub terminated: Vec<bool>,
}

impl PlacementRows {
    /// Removes all rows but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.features.clear();
        self.landing_rows.clear();
        self.lines.clear();
        self.terminated.clear();
    }

    /// An empty matrix with memory for `num_rows`.
    pub fn with_capacity(num_rows: usize, num_features: usize) -> PlacementRows {
        PlacementRows {
            features: Vec::with_capacity(num_rows * num_features),
            landing_rows: Vec::with_capacity(num_rows),
            lines: Vec::with_capacity(num_rows),
            terminated: Vec::with_capacity(num_rows),
        }
    }
}

impl Extractor {
    /// Prepares a feature set; without a set, only landings. `None` if a sweep does not measure one of the features.
    pub fn new(set: Option<&FeatureSet>) -> Option<Extractor> {
        let set = set.map_or_else(|| Some(KernelSet::new(Vec::new())), |set| set.on_kernels().cloned());
        Some(Extractor { set: set.filter(|set| set.needs.are_swept())? })
    }

    /// Length of a feature vector.
    pub fn num_features(&self) -> usize {
        self.set.columns.len()
    }

    /// Appends the feature vector of a playfield without a landing. Features of landings are 0.
    #[inline(always)]
    pub fn append_playfield<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &LaneBounds<L>,
        playfield: &PlayfieldOf<C, N>,
        out: &mut Vec<f32>,
    ) {
        let mut counts = PlayfieldCounts::none();
        counts.measure(size, playfield.words(), self.set.needs);
        for column in self.set.columns.iter() {
            out.push(counts.get(playfield, *column) as f32);
        }
    }

    /// Appends a row for every placement of a tetromino, whose shapes the caller passes.
    #[inline(always)]
    pub fn append<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &LaneBounds<L>,
        playfield: &PlayfieldOf<C, N>,
        shapes: &[Shape],
        top_out: TopOut,
        rows: &mut PlacementRows,
    ) {
        L::apart(Append { set: &self.set, size, playfield, shapes, top_out, rows });
    }
}

/// Work that appends the rows of all placements on one playfield.
struct Append<'a, L: Lanes, const N: usize> {
    set: &'a KernelSet,
    size: &'a LaneBounds<L>,
    playfield: &'a PlayfieldOf<L::Word, N>,
    shapes: &'a [Shape],
    top_out: TopOut,
    rows: &'a mut PlacementRows,
}

impl<L: Lanes, const N: usize> Apart for Append<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Append { set, size, playfield, shapes, top_out, rows } = self;
        let num_features = set.columns.len();
        let base = SweepBase::<L>::new(size, playfield.words(), set.needs);
        let surface = size.surface(playfield.words(), set.needs);
        let mut lanes = [L::Word::EMPTY; N];
        for shape in shapes {
            let swept = sweep(&base, shape, set.needs);
            let count = swept.exist.count_ones() as usize;
            let first = rows.lines.len();
            rows.lines.resize(first + count, 0);
            rows.terminated.resize(first + count, false);
            swept.rows.store(&mut lanes);
            rows.landing_rows.extend(lanes[..count].iter().map(|row| row.to_u64() as u8));

            let from = rows.features.len();
            // Chunks must not be empty.
            let row_len = num_features.max(1);
            rows.features.resize(from + count * num_features, 0.0);
            let block = &mut rows.features[from..];
            let mut extras = SweepExtras::none();
            extras.measure(&swept, &base, &surface, shape, set.needs);
            for (column, at) in set.columns.iter().zip(0..) {
                extras.lanes(&swept, *column).store(&mut lanes);
                for (row, value) in block.chunks_exact_mut(row_len).zip(&lanes) {
                    row[at] = value.to_u64() as u32 as i32 as f32 * column.feature.unit();
                }
            }

            let mut apart = swept.clearing | swept.ending(&base, top_out);
            while apart != 0 {
                let column = apart.trailing_zeros();
                apart &= apart - 1;
                let landing = playfield.land(shape, column as u8, top_out);
                let counts = set.measure(size, &landing);
                let at = column as usize;
                let row = &mut block[at * num_features..][..num_features];
                for (value, column) in row.iter_mut().zip(set.columns.iter()) {
                    *value = column.value(shape, &landing, &counts) as f32 * column.feature.unit();
                }
                rows.lines[first + at] = landing.lines;
                rows.terminated[first + at] = landing.terminal;
            }
        }
    }
}
