//! A playfield, prepared for the [sweep](super::sweep) of every orientation: the playfield's features, and the vectors
//! that the sweeps share.
//!
//! Counts are small integers in the lanes, lane x for column x.

use super::bounds::LaneBounds;
use super::feature::KernelFeature::{self, *};
use super::feature::NeededFeatures;
use crate::engine::Column;
use crate::engine::lanes::{Apart, Lanes, Words, common_before, common_from, small};

/// The cumulative wells of some columns: for every well cell, the number of empty cells from it down to the first full
/// one. Overwrites the well cells.
#[inline(always)]
pub(super) fn wells<L: Words>(well_cells: &mut [L], full: &[L]) -> L {
    let mut sum = small::<L>(0);
    loop {
        let mut left = small::<L>(0);
        // Check for more only every two rows, because a mispredicted check is expensive.
        for (cells, full) in well_cells.iter_mut().zip(full) {
            sum = sum.add(cells.count());
            // Empty cells directly below.
            *cells = cells.down::<1>().and_not(*full);
            sum = sum.add(cells.count());
            *cells = cells.down::<1>().and_not(*full);
            left = left.or(*cells);
        }
        if left.nonzero() == 0 {
            return sum;
        }
    }
}

/// The difference between two neighbouring heights as one bit of five, for -2 to 2; no bit for other differences.
///
/// `difference` is the right height minus the left one, plus two.
#[inline(always)]
pub(super) fn difference_set<L: Words>(difference: L) -> L {
    let outside = difference.greater(small(4)) | small::<L>(0).greater(difference);
    L::place(1, difference.select(outside, small(0))).select(outside, small(0))
}

/// A playfield, prepared for the sweeps of all pieces.
#[derive(Clone, Copy)]
pub(crate) struct SweepBase<L: Words> {
    pub(super) size: LaneBounds<L>,
    /// Columns x - 1 to x + 4; walls outside the playfield.
    pub(super) cells: [L; 6],
    /// Height of column x + j, for j in 0..4.
    pub(super) heights: [L; 4],
    /// 1 where column x + j has a hole.
    pub(super) buried: [L; 4],
    /// The full cells common to all columns left of x, and to all columns from x on.
    pub(super) left_full: L,
    pub(super) right_full: L,
    /// Cumulative wells of column x.
    pub(super) wells: L,
    /// |height difference| of the pair (x, x + 1); 0 outside the playfield.
    pub(super) steps: L,
    /// The differences that do not occur up to the pair (x - 2, x - 1), and those that do not occur from (x, x + 1) on.
    pub(super) left_missing: L,
    pub(super) right_missing: L,
    /// Counts of the playfield before a placement.
    pub(super) counts: CellCounts<L::Word>,
}

/// Features of one playfield's cells, as numbers.
#[derive(Clone, Copy)]
pub(super) struct CellCounts<C: Column> {
    pub row_transitions: u32,
    pub column_transitions: u32,
    pub holes: u32,
    pub cumulative_wells: u32,
    pub hole_depth: u32,
    pub hole_rows: C,
    /// The differences between neighbouring heights that occur, as bits.
    pub differences: C,
    pub total_height: u32,
    pub max_height: u32,
    pub bumpiness: u32,
}

impl<C: Column> Default for CellCounts<C> {
    #[inline(always)]
    fn default() -> Self {
        CellCounts {
            row_transitions: 0,
            column_transitions: 0,
            holes: 0,
            cumulative_wells: 0,
            hole_depth: 0,
            hole_rows: C::EMPTY,
            differences: C::EMPTY,
            total_height: 0,
            max_height: 0,
            bumpiness: 0,
        }
    }
}

impl<C: Column> CellCounts<C> {
    /// The value of a feature of the cells; `None` for other features.
    #[inline(always)]
    pub(super) fn get(&self, feature: KernelFeature) -> Option<u32> {
        Some(match feature {
            RowTransitions => self.row_transitions,
            ColumnTransitions => self.column_transitions,
            Holes => self.holes,
            CumulativeWells => self.cumulative_wells,
            HoleDepth => self.hole_depth,
            RowsWithHoles => self.hole_rows.count(),
            PatternDiversity => self.differences.count(),
            TotalHeight => self.total_height,
            MaxHeight => self.max_height,
            Bumpiness => self.bumpiness,
            _ => return None,
        })
    }
}

struct MeasureBase<'a, L: Lanes> {
    size: &'a LaneBounds<L>,
    words: &'a [L::Word],
    needs: NeededFeatures,
}

impl<L: Lanes> Apart for MeasureBase<'_, L> {
    type Output = SweepBase<L>;

    #[inline(always)]
    fn run(self) -> SweepBase<L> {
        SweepBase::measure(self.size, self.words, self.needs)
    }
}

impl<L: Lanes> SweepBase<L> {
    /// Measures a playfield. `words` are its columns, empty beyond the width.
    #[inline(always)]
    pub(crate) fn new(size: &LaneBounds<L>, words: &[L::Word], needs: NeededFeatures) -> Self {
        L::large(MeasureBase { size, words, needs })
    }

    #[inline(always)]
    fn measure(size: &LaneBounds<L>, words: &[L::Word], needs: NeededFeatures) -> Self {
        let zero = small::<L>(0);
        let ones = L::splat(!L::Word::EMPTY);
        let wall = L::splat(size.wall);

        let real = L::load(words);
        let here = real.or(size.walls);
        let cells = [
            here.previous::<1>(wall),
            here,
            here.next::<1>(wall),
            here.next::<2>(wall),
            here.next::<3>(wall),
            here.next::<4>(wall),
        ];
        let height = real.top();
        let heights = [height, height.next::<1>(zero), height.next::<2>(zero), height.next::<3>(zero)];

        let left_full = common_before(here);
        let right_full = common_from(here);

        let hole_cells = height.sub(real.count());
        let buried = if needs.any([ColumnTransitions, HoleDepth]) { hole_cells.min(small(1)) } else { zero };
        let buried = [buried, buried.next::<1>(zero), buried.next::<2>(zero), buried.next::<3>(zero)];

        let row_changes = if needs.has(RowTransitions) { here.xor(cells[2]).count() } else { zero };
        let well_sums = if needs.has(CumulativeWells) {
            wells(&mut [cells[0].and(cells[2]).and_not(here)], &[here])
        } else {
            zero
        };
        let steps = height.max(heights[1]).sub(height.min(heights[1])).and(size.pairs);
        let (mut left_missing, mut right_missing, mut differences) = (ones, ones, L::Word::EMPTY);
        if needs.has(PatternDiversity) {
            let sets = difference_set(heights[1].add(small(2)).sub(height)).and(size.pairs);
            let missing = ones.and_not(sets);
            left_missing = common_before(missing).previous::<1>(ones);
            right_missing = common_from(missing);
            differences = sets.any();
        }

        let (column_changes, depth) = if needs.any([ColumnTransitions, HoleDepth]) {
            let changes = real.xor(real.up::<1>().or(small(1))).count();
            (changes, real.and(real.add(small(1))).count())
        } else {
            (zero, zero)
        };
        let [column_transitions, holes, hole_depth] = L::sums(column_changes, hole_cells, depth);
        let [row_transitions, bumpiness, total_height] = L::sums(row_changes, steps, height);
        let hole_rows = if needs.has(RowsWithHoles) {
            L::place(1, height).sub(small(1)).and_not(real).any()
        } else {
            L::Word::EMPTY
        };
        let left_changes = (words[0] ^ size.wall).count();
        let counts = CellCounts {
            row_transitions: row_transitions + left_changes + 2 * size.hidden_rows,
            // Each lane beyond the width counts one change, from the floor.
            column_transitions: column_transitions.wrapping_sub(L::LANES as u32 - size.width),
            holes,
            cumulative_wells: if needs.has(CumulativeWells) { well_sums.sum().to_u64() as u32 } else { 0 },
            hole_depth,
            hole_rows,
            differences,
            total_height,
            max_height: height.largest().to_u64() as u32,
            bumpiness,
        };
        SweepBase {
            size: *size,
            cells,
            heights,
            buried,
            left_full,
            right_full,
            wells: well_sums,
            steps,
            left_missing,
            right_missing,
            counts,
        }
    }

    /// The vectors of this playfield, repeated in every part of a wider vector.
    #[inline(always)]
    pub(crate) fn widened(&self) -> SweepBase<L::Wide> {
        let SweepBase { size, cells, heights, buried, wells, steps, counts, .. } = self;
        let mut wide = SweepBase {
            size: LaneBounds {
                width: size.width,
                height: size.height,
                hidden_rows: size.hidden_rows,
                wall: size.wall,
                walls: size.walls.widened(size.walls),
                pairs: size.pairs.widened(size.pairs),
            },
            cells: [cells[0].widened(cells[0]); 6],
            heights: [heights[0].widened(heights[0]); 4],
            buried: [buried[0].widened(buried[0]); 4],
            left_full: self.left_full.widened(self.left_full),
            right_full: self.right_full.widened(self.right_full),
            wells: wells.widened(*wells),
            steps: steps.widened(*steps),
            left_missing: self.left_missing.widened(self.left_missing),
            right_missing: self.right_missing.widened(self.right_missing),
            counts: *counts,
        };
        for (wide, cells) in wide.cells.iter_mut().zip(cells) {
            *wide = cells.widened(*cells);
        }
        for j in 0..4 {
            wide.heights[j] = heights[j].widened(heights[j]);
            wide.buried[j] = buried[j].widened(buried[j]);
        }
        wide
    }
}
