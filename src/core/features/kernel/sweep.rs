//! All placements of one orientation at once, one per lane.
//!
//! Lane x is the placement whose leftmost column is x. A piece that drops straight down changes only the columns under
//! it, never fills a hole, and rests on the surface. So most features of the afterstate are the playfield's own
//! features plus a small correction that needs no look at the cells:
//!
//! | feature | correction, with landing row r, bottom b and top t of the shape in column j, and column height h |
//! | --- | --- |
//! | holes | + sum of gap, where gap = r + b - h |
//! | column transitions | + 2 for every column with gap > 0 |
//! | hole depth | + the piece's cells in every column that has a hole or a gap |
//! | rows with holes | the rows of the gaps join the rows of the holes |
//! | row transitions | + 2 per row of the piece, - 2 per full cell next to the piece, walls included |
//! | heights | r + t instead of h |
//!
//! Only the cumulative wells are counted again, in the columns under the piece and next to it. All this holds for
//! placements that clear nothing. The few others (about 3 %) are measured on their playfields: one by one, or
//! [together](super::clearing) if there are many.
//!
//! Values are small integers in the lanes, with the landing height in halves, until the final sum in doubles. So
//! nothing is rounded before that.

use super::base::{SweepBase, difference_set, wells};
use super::feature::KernelFeature::*;
use super::feature::{NUM_SWEPT, NeededFeatures};
use crate::engine::lanes::{Apart, Lanes, Words, each_part, lanes_below, small};
use crate::engine::{Column, Shape, TopOut};

/// The numbers of a shape in every lane. Each part of the lanes may hold another shape of the same width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form<L: Words> {
    width: u8,
    height: L,
    /// For each column, the row of its lowest cell, the row above its highest, and its cells as bits.
    bottoms: [L; 4],
    tops: [L; 4],
    cells: [L; 4],
    /// The sum of the steps between the columns, and the [difference bits](difference_set) of these steps.
    steps: L,
    differences: L,
}

impl<L: Words> Form<L> {
    /// Repeats a shape in every lane.
    #[inline(always)]
    pub(super) fn of(shape: &Shape) -> Self {
        match shape.width {
            1 => Form::of_width::<1>(shape),
            2 => Form::of_width::<2>(shape),
            3 => Form::of_width::<3>(shape),
            _ => Form::of_width::<4>(shape),
        }
    }

    #[inline(always)]
    fn of_width<const K: usize>(shape: &Shape) -> Self {
        let zero = small::<L>(0);
        let (mut bottoms, mut tops, mut cells) = ([zero; 4], [zero; 4], [zero; 4]);
        let (mut steps, mut differences) = (0, 0);
        for j in 0..K {
            bottoms[j] = small(shape.bottoms[j].into());
            tops[j] = small(shape.tops[j].into());
            cells[j] = small(shape.column_bits(j));
            if j > 0 {
                let step = i32::from(shape.tops[j]) - i32::from(shape.tops[j - 1]);
                steps += step.unsigned_abs();
                differences |= if step.abs() <= 2 { 1 << (step + 2) } else { 0 };
            }
        }
        Form {
            width: K as u8,
            height: small(shape.height.into()),
            bottoms,
            tops,
            cells,
            steps: small(steps),
            differences: small(differences),
        }
    }
}

impl<L: Lanes> Form<L> {
    /// This shape in the first part of a wider vector, and another one in the second part.
    #[inline(always)]
    pub(super) fn widened(&self, other: &Self) -> Form<L::Wide> {
        let zero = small::<L::Wide>(0);
        let mut wide = Form {
            width: self.width,
            height: self.height.widened(other.height),
            bottoms: [zero; 4],
            tops: [zero; 4],
            cells: [zero; 4],
            steps: self.steps.widened(other.steps),
            differences: self.differences.widened(other.differences),
        };
        for j in 0..4 {
            wide.bottoms[j] = self.bottoms[j].widened(other.bottoms[j]);
            wide.tops[j] = self.tops[j].widened(other.tops[j]);
            wide.cells[j] = self.cells[j].widened(other.cells[j]);
        }
        wide
    }
}

/// Measurements of all placements of one orientation.
#[derive(Clone, Copy)]
pub(crate) struct Sweep<L: Words> {
    /// Features of the afterstates. Lanes that clear lines or end the game are undefined.
    pub values: [L; NUM_SWEPT],
    /// The rows of the piece's lowest cells.
    pub rows: L,
    /// The rows above the piece's highest cells.
    tops: L,
    /// The lanes whose placements exist.
    pub exist: u32,
    /// The lanes whose placements clear at least one line.
    pub clearing: u32,
}

impl<L: Words> Sweep<L> {
    /// The lanes that end the game unless they clear lines; under `overflow`, even then. Under `spawn_blocked` no
    /// landing ends the game, and these are the lanes whose piece sticks out: its cells above the playfield vanish.
    #[inline(always)]
    pub(crate) fn ending(&self, base: &SweepBase<L>, top_out: TopOut) -> u32 {
        let height = base.size.height;
        // The highest row that the rule allows a piece, and under some rules the playfield, to reach.
        let limit = match top_out {
            // The kernels do not play the last two: under them, not every placement exists, or the pieces are others.
            TopOut::Overflow | TopOut::SpawnBlocked | TopOut::LockOut | TopOut::Sink => height,
            TopOut::TopRow => height - 1,
            TopOut::AboveField => height - 3,
        };
        if limit < height && base.counts.max_height > limit {
            return self.exist;
        }
        self.tops.greater(small(limit)) & self.exist
    }

    /// Writes the height of every column, one vector per column. Leaves the vectors of other columns unchanged.
    #[inline(always)]
    pub(crate) fn column_heights(&self, base: &SweepBase<L>, shape: &Shape, heights: &mut [L; 32]) {
        let mut lanes = [L::Word::EMPTY; 32];
        base.heights[0].store(&mut lanes);
        for column in 0..base.size.width as usize {
            let mut height = L::splat(lanes[column]);
            for j in 0..usize::from(shape.width).min(column + 1) {
                let over = self.rows.add(small(shape.tops[j].into()));
                height = height.select(1 << (column - j), over);
            }
            heights[column] = height;
        }
    }
}

/// Measures all placements of a shape.
#[inline(always)]
pub(super) fn sweep<L: Lanes>(base: &SweepBase<L>, shape: &Shape, needs: NeededFeatures) -> Sweep<L> {
    L::large(SweepShape { base, shape, needs })
}

struct SweepShape<'a, L: Lanes> {
    base: &'a SweepBase<L>,
    shape: &'a Shape,
    needs: NeededFeatures,
}

impl<L: Lanes> Apart for SweepShape<'_, L> {
    type Output = Sweep<L>;

    #[inline(always)]
    fn run(self) -> Sweep<L> {
        sweep_any_width(self.base, self.shape, self.needs)
    }
}

#[inline(always)]
fn sweep_any_width<L: Words>(base: &SweepBase<L>, shape: &Shape, needs: NeededFeatures) -> Sweep<L> {
    match shape.width {
        1 => sweep_of_width::<L, 1, 3>(base, &Form::of_width::<1>(shape), needs),
        2 => sweep_of_width::<L, 2, 4>(base, &Form::of_width::<2>(shape), needs),
        3 => sweep_of_width::<L, 3, 5>(base, &Form::of_width::<3>(shape), needs),
        _ => sweep_of_width::<L, 4, 6>(base, &Form::of_width::<4>(shape), needs),
    }
}

/// Measures all placements of the shapes of a form.
#[inline(always)]
pub(crate) fn sweep_form<L: Words>(base: &SweepBase<L>, form: &Form<L>, needs: NeededFeatures) -> Sweep<L> {
    match form.width {
        1 => sweep_of_width::<L, 1, 3>(base, form, needs),
        2 => sweep_of_width::<L, 2, 4>(base, form, needs),
        3 => sweep_of_width::<L, 3, 5>(base, form, needs),
        _ => sweep_of_width::<L, 4, 6>(base, form, needs),
    }
}

/// Sweeps `K` columns under the piece; `K2 = K + 2` includes its two neighbours.
#[inline(always)]
fn sweep_of_width<L: Words, const K: usize, const K2: usize>(
    base: &SweepBase<L>,
    form: &Form<L>,
    needs: NeededFeatures,
) -> Sweep<L> {
    let zero = small::<L>(0);
    let one = small::<L>(1);
    let ones = L::splat(!L::Word::EMPTY);
    let size = &base.size;
    let counts = &base.counts;

    // The landing row is the largest difference between a column's height and the shape's bottom there; one of the
    // bottoms is 0. The gaps under the piece follow from the differences.
    let mut lowered = [zero; K];
    let mut rows = zero;
    let mut sum_lowered = zero;
    for (j, lowered) in lowered.iter_mut().enumerate() {
        *lowered = base.heights[j].sub(form.bottoms[j]);
        rows = rows.max(*lowered);
        sum_lowered = sum_lowered.add(*lowered);
    }
    let rows_times_width = match K {
        1 => rows,
        2 => rows.up::<1>(),
        3 => rows.up::<1>().add(rows),
        _ => rows.up::<2>(),
    };
    let gaps = rows_times_width.sub(sum_lowered);
    let tops = rows.add(form.height);

    // The piece, and columns x - 1 to x + K including the piece.
    let mut piece = [zero; K];
    let mut cells = [zero; K2];
    cells[0] = base.cells[0];
    cells[K + 1] = base.cells[K + 1];
    let mut full = base.left_full;
    for j in 0..K {
        piece[j] = form.cells[j].up_by(rows);
        cells[j + 1] = base.cells[j + 1].or(piece[j]);
        full = full.and(cells[j + 1]);
    }
    full = full.and(match K {
        1 => base.right_full.next::<1>(ones),
        2 => base.right_full.next::<2>(ones),
        3 => base.right_full.next::<3>(ones),
        _ => base.right_full.next::<4>(ones),
    });

    let mut values = [zero; NUM_SWEPT];
    values[LandingHeight as usize] = rows.add(tops).sub(one);
    values[Holes as usize] = small::<L>(counts.holes).add(gaps);
    if needs.any([TotalHeight, MaxHeight]) {
        // The gaps, and the piece's four cells.
        values[TotalHeight as usize] = small::<L>(counts.total_height + 4).add(gaps);
        values[MaxHeight as usize] = tops.max(small(counts.max_height));
    }

    if needs.any([ColumnTransitions, HoleDepth]) {
        let mut with_gap = zero;
        let mut depth = small::<L>(counts.hole_depth);
        for (j, lowered) in lowered.iter().enumerate() {
            let has_gap = rows.sub(*lowered).min(one);
            with_gap = with_gap.add(has_gap);
            // All ones where the piece's cells lie above an empty cell.
            let over_hole = zero.sub(has_gap.or(base.buried[j]));
            depth = depth.add(over_hole.and(form.tops[j].sub(form.bottoms[j])));
        }
        values[ColumnTransitions as usize] = small::<L>(counts.column_transitions).add(with_gap.up::<1>());
        values[HoleDepth as usize] = depth;
    }

    if needs.has(RowTransitions) {
        // Every row of a piece is one run of cells with two borders. A border next to a full cell is no transition.
        let mut left_touching = zero;
        let mut right_touching = zero;
        for j in 0..K {
            let left_border = if j == 0 { piece[j] } else { piece[j].and_not(piece[j - 1]) };
            let right_border = if j == K - 1 { piece[j] } else { piece[j].and_not(piece[j + 1]) };
            left_touching = left_touching.or(left_border.and(base.cells[j]));
            right_touching = right_touching.or(right_border.and(base.cells[j + 2]));
        }
        let touching = left_touching.count().add(right_touching.count());
        values[RowTransitions as usize] =
            small::<L>(counts.row_transitions).add(form.height.sub(touching).up::<1>());
    }

    if needs.has(RowsWithHoles) {
        let mut hole_rows = L::splat(counts.hole_rows);
        for j in 0..K {
            // The empty cells of the column below the piece: its gap, and holes that are counted already.
            hole_rows = hole_rows.or(piece[j].sub(one).and_not(cells[j + 1]));
        }
        values[RowsWithHoles as usize] = hole_rows.count();
    }

    if needs.has(CumulativeWells) {
        // Columns x - 1 to x + K are counted again; the others have not changed.
        let wall = L::splat(size.wall);
        let before_left = base.cells[0].previous::<1>(wall);
        let after_right = if K < 4 { base.cells[K + 2] } else { base.cells[5].next::<1>(wall) };
        let mut well_cells = [zero; K2];
        for j in 0..K2 {
            let left = if j == 0 { before_left } else { cells[j - 1] };
            let right = if j == K2 - 1 { after_right } else { cells[j + 1] };
            well_cells[j] = left.and(right).and_not(cells[j]);
        }
        let mut replaced = base.wells.previous::<1>(zero).add(base.wells).add(base.wells.next::<1>(zero));
        if K >= 2 {
            replaced = replaced.add(base.wells.next::<2>(zero));
        }
        if K >= 3 {
            replaced = replaced.add(base.wells.next::<3>(zero));
        }
        if K >= 4 {
            replaced = replaced.add(base.wells.next::<4>(zero));
        }
        let again = wells(&mut well_cells, &cells);
        values[CumulativeWells as usize] = small::<L>(counts.cumulative_wells).sub(replaced).add(again);
    }

    if needs.any([Bumpiness, PatternDiversity]) {
        let first = rows.add(form.tops[0]);
        let last = rows.add(form.tops[K - 1]);
        let left = base.heights[0].previous::<1>(zero);
        let right = match K {
            1 => base.heights[1],
            2 => base.heights[2],
            3 => base.heights[3],
            _ => base.heights[3].next::<1>(zero),
        };
        // A left pair exists from lane 1 on, and a right pair up to lane width - K - 1.
        let no_left = each_part::<L>(1);
        let no_right = each_part::<L>(!lanes_below(size.width - K as u32));
        if needs.has(Bumpiness) {
            let left_step = left.max(first).sub(left.min(first)).select(no_left, zero);
            let right_step = right.max(last).sub(right.min(last)).select(no_right, zero);
            let bumpiness = small::<L>(counts.bumpiness)
                .add(form.steps)
                .add(left_step)
                .add(right_step)
                .sub(pair_sum::<L, K>(base.steps));
            values[Bumpiness as usize] = bumpiness;
        }
        if needs.has(PatternDiversity) {
            let two = small::<L>(2);
            let left_set = difference_set(first.add(two).sub(left)).select(no_left, zero);
            let right_set = difference_set(right.add(two).sub(last)).select(no_right, zero);
            let right_missing = match K {
                1 => base.right_missing.next::<1>(ones),
                2 => base.right_missing.next::<2>(ones),
                3 => base.right_missing.next::<3>(ones),
                _ => base.right_missing.next::<4>(ones),
            };
            let untouched = ones.and_not(base.left_missing.and(right_missing));
            let set = untouched.or(left_set).or(right_set).or(form.differences);
            values[PatternDiversity as usize] = set.count();
        }
    }

    let exist = each_part::<L>(lanes_below(size.width - K as u32 + 1));
    Sweep { values, rows, tops, exist, clearing: full.nonzero() & exist }
}

/// The sum over the pairs that a piece of K columns touches, (x - 1, x) to (x + K - 1, x + K).
#[inline(always)]
fn pair_sum<L: Words, const K: usize>(pairs: L) -> L {
    let zero = small::<L>(0);
    let mut sum = pairs.previous::<1>(zero).add(pairs);
    if K >= 2 {
        sum = sum.add(pairs.next::<1>(zero));
    }
    if K >= 3 {
        sum = sum.add(pairs.next::<2>(zero));
    }
    if K >= 4 {
        sum = sum.add(pairs.next::<3>(zero));
    }
    sum
}
