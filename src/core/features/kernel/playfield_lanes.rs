//! One playfield per lane, with a vector per column: the definitions of all features, column by column.
//!
//! Nothing is added up across lanes, and playfields need not result from straight drops. Sweeps can only measure
//! straight drops that clear nothing; every other landing can be [measured like this](super::placement_lanes).

use super::base::{difference_set, wells};
use super::bounds::LaneBounds;
use super::feature::KernelFeature::*;
use super::feature::{NUM_SINGLE, NeededFeatures, OF_FITS};
use super::fits::{FITTING, patterns, step};
use super::set::KernelColumn;
use super::surface::deep_well;
use crate::engine::Column;
use crate::engine::lanes::{Lanes, distance, small};

/// The features of one playfield per lane. Features that were not measured are 0.
#[derive(Clone, Copy)]
pub(super) struct PlayfieldLanes<L: Lanes, const N: usize> {
    pub(super) values: [L; NUM_SINGLE],
    pub(super) heights: [L; N],
    /// The number of steps of each kind.
    steps: [L; 7],
    /// The fit patterns that occur.
    patterns: L,
    fits_of: [L; 7],
}

impl<L: Lanes, const N: usize> PlayfieldLanes<L, N> {
    /// An empty value, before anything is measured.
    #[inline(always)]
    pub(super) fn none() -> Self {
        let zero = small::<L>(0);
        PlayfieldLanes {
            values: [zero; NUM_SINGLE],
            heights: [zero; N],
            steps: [zero; 7],
            patterns: zero,
            fits_of: [zero; 7],
        }
    }

    /// The values of a feature, one per lane; 0 for a feature of a landing.
    #[inline(always)]
    pub(super) fn lanes(&self, column: KernelColumn) -> L {
        let index = usize::from(column.index);
        match column.feature {
            ColumnHeight => self.heights[index],
            HeightDifference => distance(self.heights[index], self.heights[index + 1]),
            Readiness => self.fits(index),
            FitsOf => self.fits_of[index],
            Steps => self.steps[index],
            feature => match self.values.get(feature as usize) {
                Some(value) => *value,
                None => small(0),
            },
        }
    }

    /// Measures the playfields with these columns.
    #[inline(always)]
    pub(super) fn measure(&mut self, size: &LaneBounds<L>, columns: &[L; N], needs: NeededFeatures) {
        let columns = &columns[..size.width as usize];
        let mut holes = small::<L>(0);
        for (height, column) in self.heights.iter_mut().zip(columns) {
            *height = column.top();
            holes = holes.add(height.sub(column.count()));
        }
        self.values[Holes as usize] = holes;
        self.measure_cells(size, columns, needs);
        if needs.surface() {
            self.measure_surface(columns, needs);
        }
        if needs.any([ReadyRows, SpinSlots, SpinSlotRows]) {
            self.measure_modern(size.wall, columns, needs);
        }
    }

    #[inline(always)]
    fn measure_cells(&mut self, size: &LaneBounds<L>, columns: &[L], needs: NeededFeatures) {
        let (zero, one, two) = (small::<L>(0), small::<L>(1), small::<L>(2));
        let wall = L::splat(size.wall);
        let PlayfieldLanes { values, heights, .. } = self;
        let heights = &heights[..columns.len()];

        if needs.any([ColumnTransitions, HoleDepth]) {
            let (mut changes, mut depth) = (zero, zero);
            for column in columns {
                changes = changes.add(column.xor(column.up::<1>().or(one)).count());
                depth = depth.add(column.and(column.add(one)).count());
            }
            values[ColumnTransitions as usize] = changes;
            values[HoleDepth as usize] = depth;
        }
        if needs.has(RowTransitions) {
            let mut changes = small::<L>(2 * size.hidden_rows);
            let mut left = wall;
            for &column in columns.iter().chain([&wall]) {
                changes = changes.add(left.xor(column).count());
                left = column;
            }
            values[RowTransitions as usize] = changes;
        }
        if needs.has(RowsWithHoles) {
            let mut rows = zero;
            for (height, &column) in heights.iter().zip(columns) {
                rows = rows.or(L::place(1, *height).sub(one).and_not(column));
            }
            values[RowsWithHoles as usize] = rows.count();
        }
        if needs.has(CumulativeWells) {
            let mut well_cells = [zero; N];
            let mut left = wall;
            for (x, &column) in columns.iter().enumerate() {
                let right = columns.get(x + 1).copied().unwrap_or(wall);
                well_cells[x] = left.and(right).and_not(column);
                left = column;
            }
            values[CumulativeWells as usize] = wells(&mut well_cells[..columns.len()], columns);
        }
        if needs.any([TotalHeight, MaxHeight]) {
            let (mut total, mut max) = (zero, zero);
            for &height in heights {
                total = total.add(height);
                max = max.max(height);
            }
            values[TotalHeight as usize] = total;
            values[MaxHeight as usize] = max;
        }
        if needs.has(Bumpiness) {
            let mut sum = zero;
            for pair in heights.windows(2) {
                sum = sum.add(distance(pair[0], pair[1]));
            }
            values[Bumpiness as usize] = sum;
        }
        if needs.has(PatternDiversity) {
            let mut set = zero;
            for pair in heights.windows(2) {
                set = set.or(difference_set(pair[1].add(two).sub(pair[0])));
            }
            values[PatternDiversity as usize] = set.count();
        }
    }

    #[inline(always)]
    fn measure_surface(&mut self, columns: &[L], needs: NeededFeatures) {
        let (zero, one) = (small::<L>(0), small::<L>(1));
        let heights = &self.heights[..columns.len()];
        if needs.has(Steps) {
            self.steps = [zero; 7];
            for pair in heights.windows(2) {
                let found = step(pair[0], pair[1]);
                for (number, count) in self.steps.iter_mut().enumerate() {
                    *count = count.add(found.and(small(1 << number)).min(one));
                }
            }
        }
        if needs.any(OF_FITS) {
            (self.patterns, self.fits_of) = (zero, [zero; 7]);
            // An upright I fits on every column.
            self.fits_of[0] = small(columns.len() as u32);
            let counts = needs.any([Fits, FitsOf]);
            let mut steps = [zero; 3];
            for pair in heights.windows(2) {
                steps = [steps[1], steps[2], step(pair[0], pair[1])];
                let found = patterns(steps);
                self.patterns = self.patterns.or(found);
                if counts {
                    for (fits, fitting) in self.fits_of.iter_mut().zip(FITTING) {
                        *fits = fits.add(found.and(small(fitting)).count());
                    }
                }
            }
            let (mut accommodated, mut fits) = (zero, zero);
            for tetromino in 0..7 {
                accommodated = accommodated.add(self.fits(tetromino));
                fits = fits.add(self.fits_of[tetromino]);
            }
            self.values[Accommodated as usize] = accommodated;
            self.values[Fits as usize] = fits;
        }
        if needs.has(WeightedHoles) {
            let mut sum = zero;
            for (&column, &height) in columns.iter().zip(heights) {
                let under = L::place(1, height).sub(one);
                // A hole counts once in its own row and in every higher row, up to the top of its column.
                let mut holes = under.and_not(column);
                while holes.nonzero() != 0 {
                    sum = sum.add(holes.count());
                    holes = holes.up::<1>().and(under);
                }
            }
            self.values[WeightedHoles as usize] = sum;
        }
        if needs.has(DeepWells) {
            let endless = small::<L>(L::Word::BITS);
            let mut sum = zero;
            for (x, &height) in heights.iter().enumerate() {
                let left = if x == 0 { endless } else { heights[x - 1] };
                let right = heights.get(x + 1).copied().unwrap_or(endless);
                sum = sum.add(deep_well(left, height, right));
            }
            self.values[DeepWells as usize] = sum;
        }
        if needs.has(SurfaceParity) {
            let mut odd = [zero; 2];
            for (x, height) in heights.iter().enumerate() {
                odd[x % 2] = odd[x % 2].add(height.and(one));
            }
            self.values[SurfaceParity as usize] = distance(odd[0], odd[1]);
        }
    }

    /// 1 in the lanes where a tetromino fits. An I fits everywhere.
    #[inline(always)]
    fn fits(&self, tetromino: usize) -> L {
        let one = small::<L>(1);
        if tetromino == 0 { one } else { self.patterns.and(small(FITTING[tetromino])).min(one) }
    }
}
