//! Sweeps of the surface: how the seven tetrominoes fit on it, its steps, wells and parity, and the depth of the holes
//! below it.
//!
//! As in the [sweep](super::sweep), lane x is the placement whose leftmost column is x. A feature is the playfield's
//! own, with a correction for the columns under the piece and next to it. A piece of K columns changes K + 1 steps.
//! They affect the [fit patterns](super::fits) at K + 3 steps, which are counted again.
//!
//! The seven counts of steps are packed into two words with four bits each, so that a few additions update all of them:
//! see [`packed`].
//!
//! The work is in separate functions, so that none of the code is inlined for sets without these features.

use super::feature::KernelFeature::{self, *};
use super::feature::{NeededFeatures, OF_FITS};
use super::fits::{BitCounts, FITTING, FITTING_AT_LEAST, NUM_PATTERNS, patterns, step, step_number};
use crate::engine::lanes::{Apart, Lanes, common_before, common_from, lanes_below, small};
use crate::engine::{Column, Shape};

/// A surface, prepared for the sweeps of all pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface<L: Lanes> {
    needs: NeededFeatures,
    width: u32,
    /// Heights of columns x - 2 to x + 5; outside the playfield, a height that no column reaches.
    heights: [L; 8],
    /// Steps from columns x - 3 to x + 5 to the next column, as bits; no bit outside the playfield.
    steps: [L; 9],
    /// Patterns that end with the step from column x - 1 + i to the next.
    patterns: [L; 7],
    /// The steps that a piece of K columns changes, packed, at index K - 1.
    replaced: [[L; 2]; 4],
    /// Patterns that do not occur up to the pair (x - 2, x - 1), and those that do not occur from (x, x + 1) on.
    left_missing: L,
    right_missing: L,
    /// Holes of column x + i.
    holes: [L; 4],
    /// Rows beyond two by which column x - 1 + i lies below its lower neighbour.
    deep_wells: [L; 6],
    /// Counts of the playfield before a placement.
    pub(super) counts: SurfaceCounts,
}

/// Features of one playfield's surface, as numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SurfaceCounts {
    /// The patterns that occur, as bits.
    patterns: u32,
    steps: [u32; 7],
    fits_of: [u32; 7],
    weighted_holes: u32,
    deep_wells: u32,
    /// The number of odd heights among columns 0, 2, ..., and among columns 1, 3, ...
    odd_heights: [u32; 2],
}

impl SurfaceCounts {
    /// The value of a feature of the surface; 0 for other features.
    pub(super) fn get(&self, feature: KernelFeature, index: u8) -> u32 {
        let index = usize::from(index);
        let fits = |tetromino: usize| tetromino == 0 || self.patterns & FITTING[tetromino] != 0;
        match feature {
            Accommodated => (0..7).map(|tetromino| u32::from(fits(tetromino))).sum(),
            Readiness => fits(index).into(),
            Fits => self.fits(),
            FitsOf => self.fits_of[index],
            Steps => self.steps[index],
            WeightedHoles => self.weighted_holes,
            DeepWells => self.deep_wells,
            SurfaceParity => self.odd_heights[0].abs_diff(self.odd_heights[1]),
            _ => 0,
        }
    }

    /// Number of ways in which all tetrominoes fit. Uses a loop, because a library function could be compiled
    /// separately, without the target features.
    #[inline(always)]
    fn fits(&self) -> u32 {
        let mut sum = 0;
        for fits in self.fits_of {
            sum += fits;
        }
        sum
    }
}

/// Copies of a vector with shifted lanes: lane i of copy j is lane i + j - `at` of the vector.
#[inline(always)]
fn neighbours<L: Lanes, const N: usize>(lanes: L, at: usize, fill: L) -> [L; N] {
    let mut all = [lanes; N];
    for i in (0..at).rev() {
        all[i] = all[i + 1].previous::<1>(fill);
    }
    for i in at + 1..N {
        all[i] = all[i - 1].next::<1>(fill);
    }
    all
}

/// Lane i takes the value of lane i + `distance`. The distance is 3 to 6.
#[inline(always)]
fn ahead<L: Lanes>(lanes: L, distance: usize, fill: L) -> L {
    match distance {
        3 => lanes.next::<3>(fill),
        4 => lanes.next::<4>(fill),
        5 => lanes.next::<4>(fill).next::<1>(fill),
        _ => lanes.next::<4>(fill).next::<2>(fill),
    }
}

/// A step number, 0 to 6, as packed counts of steps. The first word counts the numbers 0 to 3, the second 4 to 6, each
/// in four bits. Counts up to fifteen do not overflow.
#[inline(always)]
fn packed<L: Lanes>(number: L) -> [L; 2] {
    let one = L::place(1, number.and(small(3)).up::<2>());
    let second = small::<L>(0).sub(number.down::<2>());
    [one.and_not(second), one.and(second)]
}

/// Adds two pairs of packed counts.
#[inline(always)]
fn sum_packed<L: Lanes>(one: [L; 2], other: [L; 2]) -> [L; 2] {
    [one[0].add(other[0]), one[1].add(other[1])]
}

/// Packed counts of [`BORROWED`] each. Added before a subtraction, so that no count borrows from its neighbour.
const NOTHING_OWED: u32 = 0x8888;
const BORROWED: u32 = 8;

/// Rows beyond two by which a column lies below the lower of its neighbours.
#[inline(always)]
pub(super) fn deep_well<L: Lanes>(left: L, height: L, right: L) -> L {
    left.min(right).sub(height.add(small(2))).max(small(0))
}

impl<L: Lanes> Surface<L> {
    /// Measures a playfield from its columns. `pairs` has all ones in the lanes of columns with a right neighbour.
    #[inline(always)]
    pub(crate) fn new(cells: L, pairs: L, width: u32, needs: NeededFeatures) -> Self {
        let zero = small::<L>(0);
        let mut surface = Surface {
            needs,
            width,
            heights: [zero; 8],
            steps: [zero; 9],
            patterns: [zero; 7],
            replaced: [[zero; 2]; 4],
            left_missing: zero,
            right_missing: zero,
            holes: [zero; 4],
            deep_wells: [zero; 6],
            counts: SurfaceCounts::default(),
        };
        L::apart(MeasureSurface { cells, pairs, surface: &mut surface });
        surface
    }

    /// Measures all placements of a shape, which land on these rows.
    #[inline(always)]
    pub(crate) fn sweep(&self, shape: &Shape, rows: L) -> SweptSurface<'_, L> {
        let zero = small::<L>(0);
        let mut swept = SweptSurface {
            counts: &self.counts,
            patterns: zero,
            more: BitCounts::none(),
            less: BitCounts::none(),
            steps: [zero; 2],
            weighted_holes: zero,
            deep_wells: zero,
            parity: zero,
        };
        L::apart(SweepSurface { surface: self, shape, rows, swept: &mut swept });
        swept
    }
}

/// Work that measures a surface in place.
struct MeasureSurface<'a, L: Lanes> {
    cells: L,
    pairs: L,
    surface: &'a mut Surface<L>,
}

impl<L: Lanes> Apart for MeasureSurface<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let MeasureSurface { cells, pairs, surface } = self;
        let heights = cells.top();
        let counts = &mut surface.counts;
        let zero = small::<L>(0);
        let ones = L::splat(!L::Word::EMPTY);
        let needs = surface.needs;
        let endless = small::<L>(L::Word::BITS);
        let walled = heights.select(!lanes_below(surface.width), endless);
        surface.heights = neighbours(walled, 2, endless);

        if needs.any(OF_FITS) {
            let steps = step(walled, walled.next::<1>(endless)).and(pairs);
            let found = patterns([steps.previous::<2>(zero), steps.previous::<1>(zero), steps]);
            let missing = ones.and_not(found);
            surface.steps = neighbours(steps, 3, zero);
            surface.patterns = neighbours(found, 1, zero);
            surface.left_missing = common_before(missing).previous::<1>(ones);
            surface.right_missing = common_from(missing);
            counts.patterns = found.any().to_u64() as u32;
            if needs.any([Fits, FitsOf]) {
                counts.fits_of[0] = surface.width;
                for pattern in 0..NUM_PATTERNS {
                    let count = found.and(small(1 << pattern)).nonzero().count_ones();
                    for (fits, fitting) in counts.fits_of.iter_mut().zip(FITTING) {
                        *fits += (fitting >> pattern & 1) * count;
                    }
                }
            }
        }
        if needs.has(Steps) {
            let number = step_number(walled, walled.next::<1>(endless));
            let [first, second] = packed(number);
            let in_pairs = [first.and(pairs), second.and(pairs)];
            for (step, count) in counts.steps.iter_mut().enumerate() {
                let word = in_pairs[step / 4];
                *count = word.and(small(15 << (4 * (step % 4)))).nonzero().count_ones();
            }
            let [first, second] = in_pairs;
            let mut sum = sum_packed(in_pairs, [first.previous::<1>(zero), second.previous::<1>(zero)]);
            surface.replaced[0] = sum;
            let [mut first, mut second] = in_pairs;
            for replaced in &mut surface.replaced[1..] {
                (first, second) = (first.next::<1>(zero), second.next::<1>(zero));
                sum = sum_packed(sum, [first, second]);
                *replaced = sum;
            }
        }
        if needs.has(WeightedHoles) {
            // A hole at a row counts the height of its column minus this row. The rows are added up bit by bit.
            let holes = L::place(1, heights).sub(small(1)).and_not(cells);
            let mut rows = zero;
            let mut bit = L::Word::BITS / 2;
            while bit > 0 {
                // The rows whose numbers have this bit: 1, 3, 5, ... for the lowest bit.
                let with_bit =
                    L::Word::from_u64(((u64::MAX / ((1 << bit) + 1)) << bit) >> (64 - L::Word::BITS));
                rows = rows.up::<1>().add(holes.and(L::splat(with_bit)).count());
                bit /= 2;
            }
            let num_holes = holes.count();
            surface.holes = neighbours(num_holes, 0, zero);
            counts.weighted_holes = num_holes.times(heights).sub(rows).sum().to_u64() as u32;
        }
        if needs.has(DeepWells) {
            let wells = deep_well(walled.previous::<1>(endless), walled, walled.next::<1>(endless));
            surface.deep_wells = neighbours(wells, 1, zero);
            counts.deep_wells = wells.sum().to_u64() as u32;
        }
        if needs.has(SurfaceParity) {
            let odd = heights.and(small(1)).nonzero();
            counts.odd_heights = [odd & !ODD_LANES, odd & ODD_LANES].map(u32::count_ones);
        }
    }
}

/// Lanes 1, 3, 5 and so on, one bit each.
const ODD_LANES: u32 = 0xaaaa_aaaa;

/// The surface after every placement of one orientation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweptSurface<'a, L: Lanes> {
    counts: &'a SurfaceCounts,
    /// Patterns that occur after the placement.
    patterns: L,
    /// How often a placement adds, and how often it removes, each pattern.
    more: BitCounts<L>,
    less: BitCounts<L>,
    /// The steps that a placement adds, packed, plus [`BORROWED`].
    steps: [L; 2],
    /// Differences to the playfield before the placement.
    weighted_holes: L,
    deep_wells: L,
    parity: L,
}

impl<L: Lanes> SweptSurface<'_, L> {
    /// The value of a feature for each afterstate; 0 for other features than the surface's. Lanes that clear lines or
    /// end the game are undefined.
    #[inline(always)]
    pub(crate) fn get(&self, feature: KernelFeature, index: u8) -> L {
        let counts = self.counts;
        let index = usize::from(index);
        let (before, changed) = match feature {
            Accommodated => return self.fitting(0, 7),
            Readiness => return self.fitting(index, index + 1),
            Fits => (counts.fits(), FITTING_AT_LEAST),
            FitsOf => (counts.fits_of[index], [FITTING[index], 0, 0]),
            Steps => {
                let word = self.steps[index / 4];
                let moved = match index % 4 {
                    0 => word,
                    1 => word.down::<4>(),
                    2 => word.down::<8>(),
                    _ => word.down::<12>(),
                };
                return moved.and(small(15)).add(small(counts.steps[index])).sub(small(BORROWED));
            }
            WeightedHoles => return small::<L>(counts.weighted_holes).add(self.weighted_holes),
            DeepWells => return small::<L>(counts.deep_wells).add(self.deep_wells),
            SurfaceParity => {
                let [even, odd] = counts.odd_heights;
                let balance = small::<L>(even).sub(small(odd)).add(self.parity);
                return balance.max(small::<L>(0).sub(balance));
            }
            _ => return small(0),
        };
        let mut count = small::<L>(before);
        for patterns in changed {
            if patterns == 0 {
                break;
            }
            count = count.add(self.more.of(small(patterns))).sub(self.less.of(small(patterns)));
        }
        count
    }

    /// The number of tetrominoes in a range that fit. An I always does.
    #[inline(always)]
    fn fitting(&self, first: usize, past: usize) -> L {
        let mut fitting = small::<L>(u32::from(first == 0));
        for patterns in &FITTING[first.max(1)..past] {
            fitting = fitting.add(self.patterns.and(small(*patterns)).min(small(1)));
        }
        fitting
    }
}

/// Work that sweeps a surface in place.
struct SweepSurface<'a, 'b, L: Lanes> {
    surface: &'a Surface<L>,
    shape: &'a Shape,
    rows: L,
    swept: &'a mut SweptSurface<'b, L>,
}

impl<L: Lanes> Apart for SweepSurface<'_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let width = usize::from(self.shape.width);
        // A constant width saves time; one function for all widths saves code, which is long for large lanes.
        match width {
            _ if L::LANES > 16 => self.of_width(width),
            1 => self.of_width(1),
            2 => self.of_width(2),
            3 => self.of_width(3),
            _ => self.of_width(4),
        }
    }
}

impl<L: Lanes> SweepSurface<'_, '_, L> {
    /// Sweeps a piece of `width` columns.
    #[inline(always)]
    fn of_width(self, width: usize) {
        let SweepSurface { surface, shape, rows, swept } = self;
        let needs = surface.needs;
        let zero = small::<L>(0);
        let one = small::<L>(1);
        let ones = L::splat(!L::Word::EMPTY);

        // A left pair exists from lane 1 on, and a right pair up to lane `surface.width - width - 1`.
        let no_left = 1;
        let no_right = !lanes_below(surface.width - width as u32);

        // Columns x - 2 to x + width + 1, including the piece.
        let mut heights = surface.heights;
        for j in 0..width {
            heights[j + 2] = rows.add(small(shape.tops[j].into()));
        }

        if needs.any(OF_FITS) {
            // The steps from the pair (x - 3, x - 2) to the pair (x + width + 1, x + width + 2), and the patterns from
            // (x - 1, x) on.
            let mut steps = surface.steps;
            steps[2] = step(heights[1], heights[2]).select(no_left, zero);
            for j in 1..width {
                let up = i32::from(shape.tops[j]) - i32::from(shape.tops[j - 1]);
                steps[j + 2] = small(1 << (up + 3));
            }
            steps[width + 2] = step(heights[width + 1], heights[width + 2]).select(no_right, zero);

            let untouched = surface.left_missing.and(ahead(surface.right_missing, width + 2, ones));
            let (mut occurring, mut more, mut less) =
                (ones.and_not(untouched), BitCounts::none(), BitCounts::none());
            for i in 0..width + 3 {
                let found = patterns([steps[i], steps[i + 1], steps[i + 2]]);
                occurring = occurring.or(found);
                if needs.any([Fits, FitsOf]) {
                    more.add(found);
                    less.add(surface.patterns[i]);
                }
            }
            (swept.patterns, swept.more, swept.less) = (occurring, more, less);
        }
        if needs.has(Steps) {
            // Steps within the shape are equal in all lanes.
            let mut within = [NOTHING_OWED; 2];
            for j in 1..width {
                let up = i32::from(shape.tops[j]) - i32::from(shape.tops[j - 1]);
                let number = up.clamp(-3, 3) + 3;
                within[number as usize / 4] += 1 << (4 * (number % 4));
            }
            let within = [small(within[0]), small(within[1])];
            let left = packed(step_number(heights[1], heights[2]));
            let left = [left[0].select(no_left, zero), left[1].select(no_left, zero)];
            let right = packed(step_number(heights[width + 1], heights[width + 2]));
            let right = [right[0].select(no_right, zero), right[1].select(no_right, zero)];
            let again = sum_packed(within, sum_packed(left, right));
            let replaced = surface.replaced[width - 1];
            swept.steps = [again[0].sub(replaced[0]), again[1].sub(replaced[1])];
        }
        if needs.has(WeightedHoles) {
            let mut added = zero;
            for j in 0..width {
                // Old holes lie deeper by the gap and the piece's cells. New ones lie 1, 2, ... rows below these cells.
                let (bottom, cells) = (shape.bottoms[j], shape.tops[j] - shape.bottoms[j]);
                let gap = rows.add(small(bottom.into())).sub(surface.heights[j + 2]);
                let deeper = gap.add(small(cells.into()));
                let old = surface.holes[j].times(deeper);
                let twice_new = gap.times(gap.add(small(2 * u32::from(cells) + 1)));
                added = added.add(old).add(twice_new.down::<1>());
            }
            swept.weighted_holes = added;
        }
        if needs.has(DeepWells) {
            // Columns x - 1 to x + width.
            let mut added = zero;
            for i in 0..width + 2 {
                let again = deep_well(heights[i], heights[i + 1], heights[i + 2]);
                added = added.add(again).sub(surface.deep_wells[i]);
            }
            swept.deep_wells = added;
        }
        if needs.has(SurfaceParity) {
            // Counted from column x, black and white are swapped in every other lane.
            let mut change = zero;
            for j in 0..width {
                let before = surface.heights[j + 2].and(one);
                let after = heights[j + 2].and(one);
                change =
                    if j % 2 == 0 { change.add(after).sub(before) } else { change.add(before).sub(after) };
            }
            swept.parity = change.select(ODD_LANES, zero.sub(change));
        }
    }
}
