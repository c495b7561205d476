//! Every placement of one orientation at once, one lane a placement.
//!
//! Lane x is the placement whose leftmost column is x. A piece that comes straight down changes only the columns under
//! it, never fills a hole, and rests on the surface; so most features of the afterstate are the playfield's own features
//! plus a small correction that needs no look at the cells:
//!
//! | feature | correction, with r the landing row, b and t the bottom and top of the shape's column j, h the column's height |
//! | --- | --- |
//! | holes | + sum of gap, where gap = r + b - h |
//! | column transitions | + 2 for every column with gap > 0 |
//! | hole depth | + the piece's cells in every column that has a hole or a gap |
//! | rows with holes | the rows of the gaps join the rows of the holes |
//! | row transitions | + 2 a row of the piece, - 2 for every full cell beside the piece, walls included |
//! | heights | r + t in place of h |
//!
//! Only the cumulative wells are counted again, in the columns under and beside the piece. All this holds for placements
//! that clear nothing; [`Measured`] measures the few that do (about 3 %) one by one, as a whole.
//!
//! Counts are kept as small integers in the lanes, landing height in halves, until the final sum in doubles, so nothing is
//! rounded on the way.

use super::lanes::{Lanes, common_before, common_from, lanes_below, small};
use super::surface::{Surface, SurfaceNeeds};
use crate::engine::{Column, Shape, TopOut};

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
}

/// What depends only on the size of the playfield.
#[derive(Clone, Copy, Debug)]
pub struct Size<L: Lanes> {
    width: u32,
    height: u32,
    /// Rows above `height` that the sweep skips: they are empty, with a wall on either side.
    hidden_rows: u32,
    /// The rows of the playfield, all full: a wall.
    wall: L::Word,
    /// A wall in every lane from `width` on, nothing before.
    walls: L,
    /// Every bit in the lanes that have a right neighbour inside the playfield.
    pairs: L,
}

impl<L: Lanes> Size<L> {
    /// The size of a playfield that fits into the lanes.
    #[inline(always)]
    pub fn new(width: u8, height: u8) -> Self {
        Size::lowered(width, height, height)
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
        Size {
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
#[inline(always)]
fn wells<L: Lanes, const K: usize>(well_cells: [L; K], full: [L; K]) -> L {
    let mut cells = well_cells;
    let mut sum = small::<L>(0);
    loop {
        let mut left = small::<L>(0);
        // Two rows at a time: a check for more costs most when its result is a surprise.
        for j in 0..K {
            sum = sum.add(cells[j].count());
            // The cells straight under them, as far as they are empty.
            cells[j] = cells[j].down::<1>().and_not(full[j]);
            sum = sum.add(cells[j].count());
            cells[j] = cells[j].down::<1>().and_not(full[j]);
            left = left.or(cells[j]);
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
fn difference_set<L: Lanes>(difference: L) -> L {
    let outside = difference.greater(small(4)) | small::<L>(0).greater(difference);
    L::place(1, difference.select(outside, small(0))).select(outside, small(0))
}

/// The sum over the pairs that a piece of K columns touches: (x - 1, x) to (x + K - 1, x + K).
#[inline(always)]
fn pair_sum<L: Lanes, const K: usize>(pairs: L) -> L {
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

/// What all placements on one playfield share.
#[derive(Clone, Copy)]
pub struct Ground<L: Lanes> {
    size: Size<L>,
    /// Column x - 1 + i, for i in 0..6; walls where there is no column.
    cells: [L; 6],
    /// Height of column x + j, for j in 0..4.
    heights: [L; 4],
    /// 1 where column x + j has a hole.
    buried: [L; 4],
    /// The full cells common to all columns left of x, and to all columns from x on.
    left_full: L,
    right_full: L,
    /// Cumulative wells of column x.
    wells: L,
    /// |height difference| of the pair (x, x + 1); 0 where there is no such pair.
    steps: L,
    /// What is in no difference set of the pairs up to (x - 2, x - 1), and of those from (x, x + 1) on.
    left_missing: L,
    right_missing: L,
    /// The features of the playfield itself.
    whole: Measured<L>,
}

/// The features of one playfield, as numbers.
#[derive(Clone, Copy)]
pub struct Measured<L: Lanes> {
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

impl<L: Lanes> Default for Measured<L> {
    #[inline(always)]
    fn default() -> Self {
        Measured {
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

impl<L: Lanes> Ground<L> {
    /// Measures a playfield: `words` are its columns, empty beyond its width.
    #[inline(always)]
    pub fn new(size: &Size<L>, words: &[L::Word], needs: Needs) -> Self {
        if L::SHARED { Ground::look_shared(size, words, needs) } else { Ground::look(size, words, needs) }
    }

    #[inline(never)]
    fn look_shared(size: &Size<L>, words: &[L::Word], needs: Needs) -> Self {
        Ground::look(size, words, needs)
    }

    #[inline(always)]
    fn look(size: &Size<L>, words: &[L::Word], needs: Needs) -> Self {
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
            if needs.wells { wells([cells[0].and(cells[2]).and_not(here)], [here]) } else { zero };
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
        let whole = Measured {
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

    /// The features of the playfield itself.
    #[inline(always)]
    pub fn whole(&self) -> &Measured<L> {
        &self.whole
    }
}

/// Every placement of one orientation.
#[derive(Clone, Copy)]
pub struct Sweep<L: Lanes> {
    /// The features of the afterstates of the lanes that neither clear nor end; the rest is noise.
    pub values: Values<L>,
    /// The row of the piece's lowest cells.
    pub rows: L,
    /// The lanes that are placements.
    pub exist: u32,
    /// The lanes that clear at least one line.
    pub clearing: u32,
}

impl<L: Lanes> Sweep<L> {
    /// The lanes that end the game if they clear nothing; under `overflow`, whatever they clear. Under `spawn_blocked` no
    /// landing does: there they are those that stick out, of which only what lies below is left.
    #[inline(always)]
    pub fn ending(&self, ground: &Ground<L>, shape: &Shape, top_out: TopOut) -> u32 {
        let height = ground.size.height;
        // The highest top that the rule allows to a piece, and under some rules to the playfield.
        let limit = match top_out {
            TopOut::Overflow | TopOut::SpawnBlocked => height,
            TopOut::TopRow => height - 1,
            TopOut::AboveField => height - 3,
        };
        if limit < height && ground.whole.max_height > limit {
            return self.exist;
        }
        let top = self.rows.add(small(shape.height.into()));
        top.greater(small(limit)) & self.exist
    }

    /// The height of every column, one vector a column; the rest is zero.
    #[inline(always)]
    pub fn column_heights(&self, ground: &Ground<L>, shape: &Shape) -> [L; 32] {
        let mut heights = [small::<L>(0); 32];
        let mut lanes = [L::Word::EMPTY; 32];
        ground.heights[0].store(&mut lanes);
        for column in 0..ground.size.width as usize {
            let mut height = L::splat(lanes[column]);
            for j in 0..usize::from(shape.width).min(column + 1) {
                let over = self.rows.add(small(shape.tops[j].into()));
                height = height.select(1 << (column - j), over);
            }
            heights[column] = height;
        }
        heights
    }
}

/// Measures all placements of a shape.
#[inline(always)]
pub fn sweep<L: Lanes>(ground: &Ground<L>, shape: &Shape, needs: Needs) -> Sweep<L> {
    if L::SHARED { sweep_shared(ground, shape, needs) } else { sweep_any_width(ground, shape, needs) }
}

#[inline(never)]
fn sweep_shared<L: Lanes>(ground: &Ground<L>, shape: &Shape, needs: Needs) -> Sweep<L> {
    sweep_any_width(ground, shape, needs)
}

#[inline(always)]
fn sweep_any_width<L: Lanes>(ground: &Ground<L>, shape: &Shape, needs: Needs) -> Sweep<L> {
    match shape.width {
        1 => sweep_of_width::<L, 1, 3>(ground, shape, needs),
        2 => sweep_of_width::<L, 2, 4>(ground, shape, needs),
        3 => sweep_of_width::<L, 3, 5>(ground, shape, needs),
        _ => sweep_of_width::<L, 4, 6>(ground, shape, needs),
    }
}

/// `K` columns under the piece, `K2 = K + 2` with those beside it.
#[inline(always)]
fn sweep_of_width<L: Lanes, const K: usize, const K2: usize>(
    ground: &Ground<L>,
    shape: &Shape,
    needs: Needs,
) -> Sweep<L> {
    let zero = small::<L>(0);
    let one = small::<L>(1);
    let ones = L::splat(!L::Word::EMPTY);
    let size = &ground.size;
    let whole = &ground.whole;

    // The landing row: the highest of the columns' tops, each lowered by the shape's bottom there. Three is added on the
    // way so that no number is negative.
    let mut lowered = [zero; K];
    let mut highest = zero;
    for (j, lowered) in lowered.iter_mut().enumerate() {
        *lowered = ground.heights[j].add(small(3 - u32::from(shape.bottoms[j])));
        highest = highest.max(*lowered);
    }
    let rows = highest.sub(small(3));

    // The cells of columns x - 1 .. x + K with the piece in them.
    let mut cells = [zero; K2];
    cells[0] = ground.cells[0];
    cells[K + 1] = ground.cells[K + 1];
    let mut full = ground.left_full;
    for j in 0..K {
        cells[j + 1] = ground.cells[j + 1].or(L::place(shape.column_bits(j), rows));
        full = full.and(cells[j + 1]);
    }
    full = full.and(match K {
        1 => ground.right_full.next::<1>(ones),
        2 => ground.right_full.next::<2>(ones),
        3 => ground.right_full.next::<3>(ones),
        _ => ground.right_full.next::<4>(ones),
    });

    let mut values = [zero; NUM_BASIS];
    values[Basis::LandingHeight as usize] = rows.up::<1>().add(small(u32::from(shape.height) - 1));

    let mut under = ground.heights[0];
    for j in 1..K {
        under = under.add(ground.heights[j]);
    }
    let rows_times_width = match K {
        1 => rows,
        2 => rows.up::<1>(),
        3 => rows.up::<1>().add(rows),
        _ => rows.up::<2>(),
    };
    let raise = rows_times_width.sub(under);
    let sum = |of: &[u8; 4]| -> u32 { of[..K].iter().map(|&n| u32::from(n)).sum() };
    values[Basis::Holes as usize] = small::<L>(whole.holes + sum(&shape.bottoms)).add(raise);
    if needs.heights {
        values[Basis::TotalHeight as usize] = small::<L>(whole.total_height + sum(&shape.tops)).add(raise);
        values[Basis::MaxHeight as usize] = rows.add(small(shape.height.into())).max(small(whole.max_height));
    }

    if needs.columns {
        let mut with_gap = zero;
        let mut depth = small::<L>(whole.hole_depth);
        for (j, lowered) in lowered.iter().enumerate() {
            let has_gap = highest.sub(*lowered).min(one);
            with_gap = with_gap.add(has_gap);
            // All ones where the piece's cells come to lie over an empty one.
            let over_hole = zero.sub(has_gap.or(ground.buried[j]));
            let num_cells = u32::from(shape.tops[j] - shape.bottoms[j]);
            depth = depth.add(over_hole.and(small(num_cells)));
        }
        values[Basis::ColumnTransitions as usize] =
            small::<L>(whole.column_transitions).add(with_gap.up::<1>());
        values[Basis::HoleDepth as usize] = depth;
    }

    if needs.row_transitions {
        // Every row of a piece is one run of cells: two borders, and a border against a full cell is no transition.
        let mut left_touching = zero;
        let mut right_touching = zero;
        for j in 0..K {
            let bits = shape.column_bits(j);
            let left_border = if j == 0 { bits } else { bits & !shape.column_bits(j - 1) };
            let right_border = if j == K - 1 { bits } else { bits & !shape.column_bits(j + 1) };
            left_touching = left_touching.or(L::place(left_border, rows).and(ground.cells[j]));
            right_touching = right_touching.or(L::place(right_border, rows).and(ground.cells[j + 2]));
        }
        let touching = left_touching.count().add(right_touching.count());
        let most = whole.row_transitions + 2 * u32::from(shape.height);
        values[Basis::RowTransitions as usize] = small::<L>(most).sub(touching.up::<1>());
    }

    if needs.rows_with_holes {
        let mut hole_rows = L::splat(whole.hole_rows);
        for j in 0..K {
            // The empty cells of the column below the piece: its gap, and holes that count already.
            let below = L::place(1 << shape.bottoms[j], rows).sub(one);
            hole_rows = hole_rows.or(below.and_not(ground.cells[j + 1]));
        }
        values[Basis::RowsWithHoles as usize] = hole_rows.count();
    }

    if needs.wells {
        // The columns x - 1 .. x + K are counted again; outside x - 2 and x + K + 1 nothing has changed.
        let wall = L::splat(size.wall);
        let before_left = ground.cells[0].previous::<1>(wall);
        let after_right = if K < 4 { ground.cells[K + 2] } else { ground.cells[5].next::<1>(wall) };
        let mut well_cells = [zero; K2];
        for j in 0..K2 {
            let left = if j == 0 { before_left } else { cells[j - 1] };
            let right = if j == K2 - 1 { after_right } else { cells[j + 1] };
            well_cells[j] = left.and(right).and_not(cells[j]);
        }
        let mut replaced =
            ground.wells.previous::<1>(zero).add(ground.wells).add(ground.wells.next::<1>(zero));
        if K >= 2 {
            replaced = replaced.add(ground.wells.next::<2>(zero));
        }
        if K >= 3 {
            replaced = replaced.add(ground.wells.next::<3>(zero));
        }
        if K >= 4 {
            replaced = replaced.add(ground.wells.next::<4>(zero));
        }
        let again = wells(well_cells, cells);
        values[Basis::CumulativeWells as usize] = small::<L>(whole.cumulative_wells).sub(replaced).add(again);
    }

    if needs.bumpiness || needs.diversity {
        let first = rows.add(small(shape.tops[0].into()));
        let last = rows.add(small(shape.tops[K - 1].into()));
        let left = ground.heights[0].previous::<1>(zero);
        let right = match K {
            1 => ground.heights[1],
            2 => ground.heights[2],
            3 => ground.heights[3],
            _ => ground.heights[3].next::<1>(zero),
        };
        // There is a left pair from lane 1 on, and a right pair up to lane width - K - 1.
        let no_left = 1;
        let no_right = !lanes_below(size.width - K as u32);
        let inner = || (1..K).map(|j| i32::from(shape.tops[j]) - i32::from(shape.tops[j - 1]));
        if needs.bumpiness {
            let left_step = left.max(first).sub(left.min(first)).select(no_left, zero);
            let right_step = right.max(last).sub(right.min(last)).select(no_right, zero);
            let inside: u32 = inner().map(i32::unsigned_abs).sum();
            let bumpiness = small::<L>(whole.bumpiness + inside)
                .add(left_step)
                .add(right_step)
                .sub(pair_sum::<L, K>(ground.steps));
            values[Basis::Bumpiness as usize] = bumpiness;
        }
        if needs.diversity {
            let two = small::<L>(2);
            let left_set = difference_set(first.add(two).sub(left)).select(no_left, zero);
            let right_set = difference_set(right.add(two).sub(last)).select(no_right, zero);
            let inside = inner().filter(|d| d.abs() <= 2).fold(0, |set, d| set | 1 << (d + 2));
            let right_missing = match K {
                1 => ground.right_missing.next::<1>(ones),
                2 => ground.right_missing.next::<2>(ones),
                3 => ground.right_missing.next::<3>(ones),
                _ => ground.right_missing.next::<4>(ones),
            };
            let untouched = ones.and_not(ground.left_missing.and(right_missing));
            let set = untouched.or(left_set).or(right_set).or(small(inside));
            values[Basis::PatternDiversity as usize] = set.count();
        }
    }

    let exist = lanes_below(size.width - K as u32 + 1);
    Sweep { values, rows, exist, clearing: full.nonzero() & exist }
}
