//! Playfields measured together: lane i is one of them, and a vector is a column.
//!
//! Nothing is added up across lanes, and what led to a playfield does not matter. So this is for whatever is no straight drop
//! onto the surface: for [placements that clear](super::clearing), and for [any placements](super::together).

use super::aspect::Aspect;
use super::ground::{Basis, LaneBounds, NUM_BASIS, Needs, Values, difference_set, wells};
use super::lanes::{Lanes, small};
use super::slots::KernelFeature;
use super::spots::step;

/// Removes full rows: what lies above each of them moves down by one.
#[inline(always)]
pub fn clear<L: Lanes>(columns: &mut [L], full: L) {
    let mut full = full;
    // From the highest down, so that the rows still to go stay where they are.
    while full.nonzero() != 0 {
        // The rows under the highest full one; all of them where none is full.
        let under = L::place(1, full.top()).down::<1>().sub(small(1));
        for column in &mut *columns {
            *column = column.and(under).or(column.down::<1>().and_not(under));
        }
        full = full.and(under);
    }
}

/// The playfields of all lanes, before clearing or after.
#[derive(Clone, Copy)]
pub struct Stage<L: Lanes, const N: usize> {
    pub values: Values<L>,
    pub heights: [L; N],
    /// How many steps there are of each number.
    pub steps: [L; 7],
}

impl<L: Lanes, const N: usize> Stage<L, N> {
    /// Nothing measured yet.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = small::<L>(0);
        Stage { values: [zero; NUM_BASIS], heights: [zero; N], steps: [zero; 7] }
    }

    /// One feature.
    #[inline(always)]
    pub fn lanes(&self, kind: KernelFeature) -> L {
        match kind {
            KernelFeature::Basis(basis) => self.values[basis as usize],
            KernelFeature::Height(column) => self.heights[usize::from(column)],
            KernelFeature::Step(column) => {
                let column = usize::from(column);
                distance(self.heights[column], self.heights[column + 1])
            }
            KernelFeature::Aspect(Aspect::Steps(step)) => self.steps[usize::from(step)],
            KernelFeature::Aspect(_) | KernelFeature::Modern(_) => {
                unreachable!("other features are measured one by one")
            }
        }
    }

    /// Measures the cells, given by their columns: the definitions of the features, column by column.
    #[inline(always)]
    pub fn measure(&mut self, size: &LaneBounds<L>, columns: &[L; N], needs: &Needs) {
        let (zero, one, two) = (small::<L>(0), small::<L>(1), small::<L>(2));
        let width = size.width as usize;
        let wall = L::splat(size.wall);
        let Stage { values, heights, steps } = self;
        let columns = &columns[..width];
        let heights = &mut heights[..width];

        let mut holes = zero;
        for (height, column) in heights.iter_mut().zip(columns) {
            *height = column.top();
            holes = holes.add(height.sub(column.count()));
        }
        values[Basis::Holes as usize] = holes;

        if needs.columns {
            let (mut changes, mut depth) = (zero, zero);
            for column in columns {
                changes = changes.add(column.xor(column.up::<1>().or(one)).count());
                depth = depth.add(column.and(column.add(one)).count());
            }
            values[Basis::ColumnTransitions as usize] = changes;
            values[Basis::HoleDepth as usize] = depth;
        }
        if needs.row_transitions {
            let mut changes = small::<L>(2 * size.hidden_rows);
            let mut left = wall;
            for &column in columns.iter().chain([&wall]) {
                changes = changes.add(left.xor(column).count());
                left = column;
            }
            values[Basis::RowTransitions as usize] = changes;
        }
        if needs.rows_with_holes {
            let mut rows = zero;
            for (height, &column) in heights.iter().zip(columns) {
                rows = rows.or(L::place(1, *height).sub(one).and_not(column));
            }
            values[Basis::RowsWithHoles as usize] = rows.count();
        }
        if needs.wells {
            let mut well_cells = [zero; N];
            let mut left = wall;
            for (x, &column) in columns.iter().enumerate() {
                let right = columns.get(x + 1).copied().unwrap_or(wall);
                well_cells[x] = left.and(right).and_not(column);
                left = column;
            }
            values[Basis::CumulativeWells as usize] = wells(&mut well_cells[..width], columns);
        }
        if needs.heights {
            let (mut total, mut max) = (zero, zero);
            for &height in heights.iter() {
                total = total.add(height);
                max = max.max(height);
            }
            values[Basis::TotalHeight as usize] = total;
            values[Basis::MaxHeight as usize] = max;
        }
        if needs.bumpiness {
            let mut sum = zero;
            for pair in heights.windows(2) {
                sum = sum.add(distance(pair[0], pair[1]));
            }
            values[Basis::Bumpiness as usize] = sum;
        }
        if needs.surface.is_some() {
            for pair in heights.windows(2) {
                let found = step(pair[0], pair[1]);
                for (number, count) in steps.iter_mut().enumerate() {
                    *count = count.add(found.and(small(1 << number)).min(one));
                }
            }
        }
        if needs.diversity {
            let mut set = zero;
            for pair in heights.windows(2) {
                set = set.or(difference_set(pair[1].add(two).sub(pair[0])));
            }
            values[Basis::PatternDiversity as usize] = set.count();
        }
    }
}

/// How far two heights lie apart.
#[inline(always)]
pub fn distance<L: Lanes>(one: L, other: L) -> L {
    one.max(other).sub(one.min(other))
}
