//! The feature vectors of every placement, as rows of a matrix.

use super::base::SweepBase;
use super::bounds::LaneBounds;
use super::set::{KernelSet, PlayfieldCounts, SweepExtras};
use super::sweep::sweep;
use crate::engine::lanes::{Apart, Lanes};
use crate::engine::{Column, PlayfieldOf, Shape, TopOut};
use crate::features::sets::FeatureSet;

/// A feature set, prepared for writing matrices.
#[derive(Clone, Debug)]
pub struct Extractor {
    set: KernelSet,
}

/// One row per placement, in ascending action order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlacementRows {
    /// Feature vectors, one row per placement.
    pub features: Vec<f32>,
    /// The row of the piece's lowest cells.
    pub landing_rows: Vec<u8>,
    pub lines: Vec<u8>,
    /// Whether the placement ends the game.
    pub terminated: Vec<bool>,
    /// The first placement of the orientation that is being written, and the length of a row.
    first: usize,
    num_features: usize,
}

impl PlacementRows {
    /// Removes all rows but keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        self.features.clear();
        self.landing_rows.clear();
        self.lines.clear();
        self.terminated.clear();
    }

    /// An empty matrix with memory for `num_rows`.
    pub(crate) fn with_capacity(num_rows: usize, num_features: usize) -> PlacementRows {
        PlacementRows {
            features: Vec::with_capacity(num_rows * num_features),
            landing_rows: Vec::with_capacity(num_rows),
            lines: Vec::with_capacity(num_rows),
            terminated: Vec::with_capacity(num_rows),
            first: 0,
            num_features,
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
    pub(crate) fn num_features(&self) -> usize {
        self.set.columns.len()
    }

    /// Appends the feature vector of a playfield without a landing. Features of landings are 0.
    #[inline(always)]
    pub(crate) fn append_playfield<C: Column, const N: usize, L: Lanes<Word = C>>(
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

    /// Writes the measurements of every placement of a tetromino, whose shapes the caller passes.
    #[inline(always)]
    pub(crate) fn append<C: Column, const N: usize, L: Lanes<Word = C>, T: PlacementTable>(
        &self,
        size: &LaneBounds<L>,
        playfield: &PlayfieldOf<C, N>,
        shapes: &[Shape],
        top_out: TopOut,
        table: &mut T,
    ) {
        L::apart(Append { set: &self.set, size, playfield, shapes, top_out, table });
    }
}

/// Where the measurements of placements are written. All methods must be `#[inline(always)]`, as for a
/// [`LaneWork`](super::LaneWork).
pub(crate) trait PlacementTable {
    /// Adds placements in ascending action order, all of one orientation.
    fn begin(&mut self, count: usize, num_features: usize);
    /// Writes the rows where the placements of the orientation rest.
    fn set_rows<C: Column>(&mut self, rows: &[C]);
    /// Writes a feature of all placements of the orientation, in its unit.
    fn set_feature<C: Column>(&mut self, column: usize, values: &[C], unit: f32);
    /// Writes a feature of one placement of the orientation.
    fn set_value(&mut self, at: usize, column: usize, value: f32);
    /// Writes the end of one placement of the orientation: lines cleared, and whether the game ends.
    fn set_landing(&mut self, at: usize, lines: u8, terminal: bool);
}

/// Numbers of the features, of one placement after the other.
impl PlacementTable for PlacementRows {
    #[inline(always)]
    fn begin(&mut self, count: usize, num_features: usize) {
        self.first = self.lines.len();
        self.num_features = num_features;
        self.lines.resize(self.first + count, 0);
        self.terminated.resize(self.first + count, false);
        self.features.resize(self.features.len() + count * num_features, 0.0);
    }

    #[inline(always)]
    fn set_rows<C: Column>(&mut self, rows: &[C]) {
        self.landing_rows.extend(rows.iter().map(|row| row.to_u64() as u8));
    }

    #[inline(always)]
    fn set_feature<C: Column>(&mut self, column: usize, values: &[C], unit: f32) {
        let block = &mut self.features[self.first * self.num_features..];
        for (row, value) in block.chunks_exact_mut(self.num_features).zip(values) {
            row[column] = value.to_u64() as u32 as i32 as f32 * unit;
        }
    }

    #[inline(always)]
    fn set_value(&mut self, at: usize, column: usize, value: f32) {
        self.features[(self.first + at) * self.num_features + column] = value;
    }

    #[inline(always)]
    fn set_landing(&mut self, at: usize, lines: u8, terminal: bool) {
        self.lines[self.first + at] = lines;
        self.terminated[self.first + at] = terminal;
    }
}

/// Measurements of placements, one column of doubles per feature.
#[derive(Debug)]
pub(crate) struct PlacementColumns<'a> {
    cells: &'a mut [f64],
    stride: usize,
    /// Whether a placement ends the game, bit n for placement n.
    terminated: u128,
    /// The first placement of the orientation, and the number of all placements so far.
    first: usize,
    end: usize,
}

impl<'a> PlacementColumns<'a> {
    /// Columns of cells with this distance between two of them.
    #[inline(always)]
    pub(crate) fn new(cells: &'a mut [f64], stride: usize) -> PlacementColumns<'a> {
        PlacementColumns { cells, stride, terminated: 0, first: 0, end: 0 }
    }

    /// The placements that end the game, bit n for placement n in ascending action order.
    #[inline(always)]
    pub(crate) fn terminated(&self) -> u128 {
        self.terminated
    }
}

impl PlacementTable for PlacementColumns<'_> {
    #[inline(always)]
    fn begin(&mut self, count: usize, _: usize) {
        self.first = self.end;
        self.end += count;
    }

    #[inline(always)]
    fn set_rows<C: Column>(&mut self, _: &[C]) {}

    #[inline(always)]
    fn set_feature<C: Column>(&mut self, column: usize, values: &[C], unit: f32) {
        let cells = &mut self.cells[column * self.stride + self.first..];
        for (cell, value) in cells.iter_mut().zip(values) {
            *cell = f64::from(value.to_u64() as u32 as i32) * f64::from(unit);
        }
    }

    #[inline(always)]
    fn set_value(&mut self, at: usize, column: usize, value: f32) {
        self.cells[column * self.stride + self.first + at] = value.into();
    }

    #[inline(always)]
    fn set_landing(&mut self, at: usize, _: u8, terminal: bool) {
        self.terminated |= u128::from(terminal) << (self.first + at);
    }
}

/// Work that writes the measurements of all placements on one playfield.
struct Append<'a, L: Lanes, const N: usize, T> {
    set: &'a KernelSet,
    size: &'a LaneBounds<L>,
    playfield: &'a PlayfieldOf<L::Word, N>,
    shapes: &'a [Shape],
    top_out: TopOut,
    table: &'a mut T,
}

impl<L: Lanes, const N: usize, T: PlacementTable> Apart for Append<'_, L, N, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Append { set, size, playfield, shapes, top_out, table } = self;
        let base = SweepBase::<L>::new(size, playfield.words(), set.needs);
        let surface = size.surface(playfield.words(), set.needs);
        let mut lanes = [L::Word::EMPTY; N];
        for shape in shapes {
            let swept = sweep(&base, shape, set.needs);
            let count = swept.exist.count_ones() as usize;
            table.begin(count, set.columns.len());
            swept.rows.store(&mut lanes);
            table.set_rows(&lanes[..count]);
            let mut extras = SweepExtras::none();
            extras.measure(&swept, &base, &surface, shape, set.needs);
            for (at, column) in set.columns.iter().enumerate() {
                extras.lanes(&swept, *column).store(&mut lanes);
                table.set_feature(at, &lanes[..count], column.feature.unit());
            }

            let mut apart = swept.clearing | swept.ending(&base, top_out);
            while apart != 0 {
                let lane = apart.trailing_zeros() as usize;
                apart &= apart - 1;
                let landing = playfield.land(shape, lane as u8, top_out);
                let counts = set.measure(size, &landing);
                for (at, column) in set.columns.iter().enumerate() {
                    let value = column.value(shape, &landing, &counts) as f32 * column.feature.unit();
                    table.set_value(lane, at, value);
                }
                table.set_landing(lane, landing.lines, landing.terminal);
            }
        }
    }
}
