//! A playfield measured for all placements that are to come: its features, and what the [sweep](super::sweep) of each
//! orientation needs of it.
//!
//! Counts are small integers in the lanes, lane x for column x.

use super::aspect::SurfaceNeeds;
use super::lanes::{Apart, Lanes, Words, common_before, common_from, lanes_below, small};
use super::modern::ModernNeeds;
use super::surface::Surface;
use crate::engine::Column;

/// The features the sweep knows, in the order of [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // they are named as in the table of features
pub enum Basis {
    /// In halves.
    LandingHeight,
    ErodedPieceCells,
    LinesCleared,
    RowTransitions,
    ColumnTransitions,
    Holes,
    CumulativeWells,
    HoleDepth,
    RowsWithHoles,
    PatternDiversity,
    TotalHeight,
    MaxHeight,
    Bumpiness,
}

/// How many there are.
pub const NUM_BASIS: usize = 13;

/// One vector a [`Basis`] feature.
pub type Values<L> = [L; NUM_BASIS];

/// Which parts of the work the caller needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub row_transitions: bool,
    pub columns: bool,
    pub heights: bool,
    pub wells: bool,
    pub rows_with_holes: bool,
    pub diversity: bool,
    pub bumpiness: bool,
    pub surface: Option<SurfaceNeeds>,
    pub modern: ModernNeeds,
}

/// What depends only on the size of the playfield.
#[derive(Clone, Copy, Debug)]
pub struct LaneBounds<L: Words> {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Rows above `height` that the sweep skips: they are empty, with a wall on either side.
    pub(super) hidden_rows: u32,
    /// The rows of the playfield, all full: a wall.
    pub(super) wall: L::Word,
    /// A wall in every lane from `width` on, nothing before.
    walls: L,
    /// Every bit in the lanes that have a right neighbour inside the playfield.
    pairs: L,
}

impl<L: Lanes> LaneBounds<L> {
    /// The size of a playfield that fits into the lanes.
    #[inline(always)]
    pub fn new(width: u8, height: u8) -> Self {
        LaneBounds::lowered(width, height, height)
    }

    /// Columns and rows, without the hidden rows.
    pub fn shown(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// Looks at the surface of a playfield, if there is a need: `words` are its columns, empty beyond its width.
    #[inline(always)]
    pub fn surface(&self, words: &[L::Word], needs: Option<SurfaceNeeds>) -> Option<Surface<L>> {
        match needs {
            None => None,
            Some(needs) => Some(Surface::new(L::load(words), self.pairs, self.width, needs)),
        }
    }

    /// No value of a feature on a playfield of this size is larger; landing height in halves.
    pub fn largest(&self, basis: Basis) -> u32 {
        let (width, height) = (self.width, self.height + self.hidden_rows);
        match basis {
            Basis::CumulativeWells => width * self.height * (self.height + 1) / 2,
            Basis::MaxHeight | Basis::RowsWithHoles | Basis::LandingHeight => 2 * height + 8,
            _ => (width + 1) * (height + 1),
        }
    }

    /// The size of a playfield of which only the lowest `rows` matter, because the others are and stay empty. They count in
    /// the features all the same: each has two row transitions, at the walls.
    #[inline(always)]
    pub fn lowered(width: u8, height: u8, rows: u8) -> Self {
        let hidden_rows = u32::from(height - rows);
        let height = rows;
        let (width, height) = (u32::from(width), u32::from(height));
        let wall = L::Word::below(height);
        let inside = lanes_below(width);
        LaneBounds {
            width,
            height,
            hidden_rows,
            wall,
            walls: L::splat(wall).select(inside, L::splat(L::Word::EMPTY)),
            pairs: L::splat(L::Word::EMPTY).select(lanes_below(width - 1), L::splat(!L::Word::EMPTY)),
        }
    }
}

/// The cumulative wells of some columns: for every well cell, the empty cells from it straight down to the first full one.
/// The well cells are used up.
#[inline(always)]
pub(super) fn wells<L: Words>(well_cells: &mut [L], full: &[L]) -> L {
    let mut sum = small::<L>(0);
    loop {
        let mut left = small::<L>(0);
        // Two rows at a time: a check for more costs most when its result is a surprise.
        for (cells, full) in well_cells.iter_mut().zip(full) {
            sum = sum.add(cells.count());
            // The cells straight under them, as far as they are empty.
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

/// The set that holds the difference between two neighbouring heights, if it is one of -2..=2: a bit each.
///
/// `difference` is the right height minus the left one, plus two.
#[inline(always)]
pub(super) fn difference_set<L: Words>(difference: L) -> L {
    let outside = difference.greater(small(4)) | small::<L>(0).greater(difference);
    L::place(1, difference.select(outside, small(0))).select(outside, small(0))
}

/// What all placements on one playfield share.
#[derive(Clone, Copy)]
pub struct Ground<L: Words> {
    pub(super) size: LaneBounds<L>,
    /// Column x - 1 + i, for i in 0..6; walls where there is no column.
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
    /// |height difference| of the pair (x, x + 1); 0 where there is no such pair.
    pub(super) steps: L,
    /// What is in no difference set of the pairs up to (x - 2, x - 1), and of those from (x, x + 1) on.
    pub(super) left_missing: L,
    pub(super) right_missing: L,
    /// The features of the playfield itself.
    pub(super) whole: MeasuredCells<L>,
}

/// The features of one playfield, as numbers.
#[derive(Clone, Copy)]
pub struct MeasuredCells<L: Words> {
    pub row_transitions: u32,
    pub column_transitions: u32,
    pub holes: u32,
    pub cumulative_wells: u32,
    pub hole_depth: u32,
    pub hole_rows: L::Word,
    pub differences: L::Word,
    pub total_height: u32,
    pub max_height: u32,
    pub bumpiness: u32,
}

impl<L: Words> Default for MeasuredCells<L> {
    #[inline(always)]
    fn default() -> Self {
        MeasuredCells {
            row_transitions: 0,
            column_transitions: 0,
            holes: 0,
            cumulative_wells: 0,
            hole_depth: 0,
            hole_rows: L::Word::EMPTY,
            differences: L::Word::EMPTY,
            total_height: 0,
            max_height: 0,
            bumpiness: 0,
        }
    }
}

struct LookAtGround<'a, L: Lanes> {
    size: &'a LaneBounds<L>,
    words: &'a [L::Word],
    needs: Needs,
}

impl<L: Lanes> Apart for LookAtGround<'_, L> {
    type Output = Ground<L>;

    #[inline(always)]
    fn run(self) -> Ground<L> {
        Ground::look(self.size, self.words, self.needs)
    }
}

impl<L: Lanes> Ground<L> {
    /// Measures a playfield: `words` are its columns, empty beyond its width.
    #[inline(always)]
    pub fn new(size: &LaneBounds<L>, words: &[L::Word], needs: Needs) -> Self {
        if L::SHARED {
            Ground::look_shared(size, words, needs)
        } else if L::IS_LARGE {
            L::apart(LookAtGround { size, words, needs })
        } else {
            Ground::look(size, words, needs)
        }
    }

    #[inline(never)]
    fn look_shared(size: &LaneBounds<L>, words: &[L::Word], needs: Needs) -> Self {
        Ground::look(size, words, needs)
    }

    #[inline(always)]
    fn look(size: &LaneBounds<L>, words: &[L::Word], needs: Needs) -> Self {
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
        let buried = if needs.columns { hole_cells.min(small(1)) } else { zero };
        let buried = [buried, buried.next::<1>(zero), buried.next::<2>(zero), buried.next::<3>(zero)];

        let row_changes = if needs.row_transitions { here.xor(cells[2]).count() } else { zero };
        let well_sums =
            if needs.wells { wells(&mut [cells[0].and(cells[2]).and_not(here)], &[here]) } else { zero };
        let steps = height.max(heights[1]).sub(height.min(heights[1])).and(size.pairs);
        let (mut left_missing, mut right_missing, mut differences) = (ones, ones, L::Word::EMPTY);
        if needs.diversity {
            let sets = difference_set(heights[1].add(small(2)).sub(height)).and(size.pairs);
            let missing = ones.and_not(sets);
            left_missing = common_before(missing).previous::<1>(ones);
            right_missing = common_from(missing);
            differences = sets.any();
        }

        let (column_changes, depth) = if needs.columns {
            let changes = real.xor(real.up::<1>().or(small(1))).count();
            (changes, real.and(real.add(small(1))).count())
        } else {
            (zero, zero)
        };
        let [column_transitions, holes, hole_depth] = L::sums(column_changes, hole_cells, depth);
        let [row_transitions, bumpiness, total_height] = L::sums(row_changes, steps, height);
        let hole_rows = if needs.rows_with_holes {
            L::place(1, height).sub(small(1)).and_not(real).any()
        } else {
            L::Word::EMPTY
        };
        let left_changes = (words[0] ^ size.wall).count();
        let whole = MeasuredCells {
            row_transitions: row_transitions + left_changes + 2 * size.hidden_rows,
            // The lanes beyond the width count one change each, from the floor.
            column_transitions: column_transitions.wrapping_sub(L::LANES as u32 - size.width),
            holes,
            cumulative_wells: if needs.wells { well_sums.sum().to_u64() as u32 } else { 0 },
            hole_depth,
            hole_rows,
            differences,
            total_height,
            max_height: height.largest().to_u64() as u32,
            bumpiness,
        };
        Ground {
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
            whole,
        }
    }

    /// The same in every part of a wider vector.
    #[inline(always)]
    pub fn widened(&self) -> Ground<L::Wide> {
        let Ground { size, cells, heights, buried, wells, steps, whole, .. } = self;
        let mut wide = Ground {
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
            whole: MeasuredCells {
                row_transitions: whole.row_transitions,
                column_transitions: whole.column_transitions,
                holes: whole.holes,
                cumulative_wells: whole.cumulative_wells,
                hole_depth: whole.hole_depth,
                hole_rows: whole.hole_rows,
                differences: whole.differences,
                total_height: whole.total_height,
                max_height: whole.max_height,
                bumpiness: whole.bumpiness,
            },
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

    /// The features of the playfield itself.
    #[inline(always)]
    pub fn whole(&self) -> &MeasuredCells<L> {
        &self.whole
    }
}
