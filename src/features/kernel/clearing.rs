//! Placements that clear lines, measured together.
//!
//! The [sweep](super::sweep) measures what clears nothing. A placement that clears lines moves every column down, so it is a
//! playfield of its own; of the 162 placements of all tetrominoes on 10 columns there are about four. Here lane i is one of
//! them and a vector is a column: all of them are put down, cleared and measured at once, and nothing is added up across
//! lanes. That takes about as long as it takes to measure one alone.
//!
//! This is for placements that lie within the playfield, and for features of its cells and counts of its steps. What sticks
//! out, and sets with other features of the surface, are measured one by one: see [`Scorer::score`].

use super::ground::{Basis, LaneBounds, NUM_BASIS, Needs, Values, difference_set, wells};
use super::lanes::{Apart, Doubles, Lanes, small};
use super::scorer::Scorer;
use super::slots::KernelFeature;
use super::spots::step;
use super::surface::Aspect;
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
    #[inline(always)]
    fn run(self) {
        let ScoreTogether { scorer, size, playfield, clearing } = self;
        let width = size.width as usize;
        let zero = small::<L>(0);
        let mut columns = [zero; N];
        let mut full = L::splat(size.wall);
        for ((column, word), piece) in
            columns.iter_mut().zip(playfield.words()).zip(&clearing.pieces).take(width)
        {
            *column = L::splat(*word).or(L::load(piece));
            full = full.and(*column);
        }
        let mut vanished = zero;
        for piece in clearing.pieces.iter().take(width) {
            vanished = vanished.add(L::load(piece).and(full).count());
        }

        // Before clearing and after.
        let mut stages = [Stage { values: [zero; NUM_BASIS], heights: [zero; N], steps: [zero; 7] }; 2];
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
            let lanes = stage.lanes(term.kind);
            scores = match term.factor {
                None => lanes.accumulate(scores, term.weight),
                Some(factor) => lanes.accumulate_product(stage.lanes(factor), scores, term.weight),
            };
        }
        for (lane, score) in clearing.scores.iter_mut().enumerate().take(clearing.count) {
            *score = scores.lane(lane);
        }
    }
}

/// Removes full rows: what lies above each of them moves down by one.
#[inline(always)]
fn clear<L: Lanes>(columns: &mut [L], full: L) {
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
struct Stage<L: Lanes, const N: usize> {
    values: Values<L>,
    heights: [L; N],
    /// How many steps there are of each number.
    steps: [L; 7],
}

impl<L: Lanes, const N: usize> Stage<L, N> {
    /// One feature.
    #[inline(always)]
    fn lanes(&self, kind: KernelFeature) -> L {
        match kind {
            KernelFeature::Basis(basis) => self.values[basis as usize],
            KernelFeature::Height(column) => self.heights[usize::from(column)],
            KernelFeature::Step(column) => {
                let column = usize::from(column);
                distance(self.heights[column], self.heights[column + 1])
            }
            KernelFeature::Aspect(Aspect::Steps(step)) => self.steps[usize::from(step)],
            KernelFeature::Aspect(_) => unreachable!("other features of the surface are measured one by one"),
        }
    }

    /// Measures the cells, given by their columns: the definitions of the features, column by column.
    #[inline(always)]
    fn measure(&mut self, size: &LaneBounds<L>, columns: &[L; N], needs: Needs) {
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
fn distance<L: Lanes>(one: L, other: L) -> L {
    one.max(other).sub(one.min(other))
}
