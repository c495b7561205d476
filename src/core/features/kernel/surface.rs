//! What placements make of the surface: how the seven tetrominoes fit on it, its steps, wells and parity, and its weight on
//! the holes.
//!
//! As in the [sweep](super::sweep), lane x is the placement whose leftmost column is x, and a feature is that of the playfield
//! with a correction for what changes under and beside the piece. A piece of K columns changes K + 1 steps, and with them the
//! [spots](super::spots) at K + 3; those are counted again.
//!
//! The seven counts of steps lie four bits wide in two words, so that a few additions move all of them: see [`packed`].
//!
//! Sets without these features do none of this work, and have none of its code in their way: what does it are functions of
//! their own.

use super::aspect::{Aspect, SurfaceNeeds};
use super::lanes::{Apart, Lanes, common_before, common_from, lanes_below, small};
use super::spots::{FITTING, FITTING_AT_LEAST, NUM_SPOTS, Tally, spots, step, step_number};
use crate::engine::{Column, Shape};

/// What all placements on one playfield share.
#[derive(Clone, Copy, Debug)]
pub struct Surface<L: Lanes> {
    needs: SurfaceNeeds,
    width: u32,
    /// Height of column x - 2 + i; where there is no column, one that no column reaches.
    heights: [L; 8],
    /// The step from column x - 3 + i to the next as a bit, none where there is no such pair of columns.
    steps: [L; 9],
    /// The spots that end with the step from column x - 1 + i to the next.
    spots: [L; 7],
    /// The steps that a piece of K columns changes, packed, at K - 1.
    replaced: [[L; 2]; 4],
    /// What is not among the spots up to (x - 2, x - 1), and not among those from (x, x + 1) on.
    left_missing: L,
    right_missing: L,
    /// Holes of column x + i.
    holes: [L; 4],
    /// Rows beyond two by which column x - 1 + i lies under its lower neighbour.
    deep_wells: [L; 6],
    /// The features of the playfield itself.
    whole: MeasuredSurface,
}

/// The features of one playfield, as numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeasuredSurface {
    /// The spots that occur.
    spots: u32,
    steps: [u32; 7],
    fits_of: [u32; 7],
    weighted_holes: u32,
    deep_wells: u32,
    /// The columns of odd height among those with an even number, and among the others.
    odd_heights: [u32; 2],
}

impl MeasuredSurface {
    /// One of them.
    pub fn get(&self, aspect: Aspect) -> u32 {
        let fits = |tetromino: usize| tetromino == 0 || self.spots & FITTING[tetromino] != 0;
        match aspect {
            Aspect::Accommodated => (0..7).map(|tetromino| u32::from(fits(tetromino))).sum(),
            Aspect::Readiness(tetromino) => fits(tetromino.into()).into(),
            Aspect::Fits => self.fits(),
            Aspect::FitsOf(tetromino) => self.fits_of[usize::from(tetromino)],
            Aspect::Steps(step) => self.steps[usize::from(step)],
            Aspect::WeightedHoles => self.weighted_holes,
            Aspect::DeepWells => self.deep_wells,
            Aspect::SurfaceParity => self.odd_heights[0].abs_diff(self.odd_heights[1]),
        }
    }

    /// A loop, because a library function could be compiled apart, for any processor.
    #[inline(always)]
    fn fits(&self) -> u32 {
        let mut sum = 0;
        for fits in self.fits_of {
            sum += fits;
        }
        sum
    }
}

/// Vectors one of which is the given one, the others the same with the lanes moved: lane i of the vector at j takes lane
/// i + j - `at`.
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

/// Lane i takes lane i + `distance`, from 3 to 6.
#[inline(always)]
fn ahead<L: Lanes>(lanes: L, distance: usize, fill: L) -> L {
    match distance {
        3 => lanes.next::<3>(fill),
        4 => lanes.next::<4>(fill),
        5 => lanes.next::<4>(fill).next::<1>(fill),
        _ => lanes.next::<4>(fill).next::<2>(fill),
    }
}

/// Steps by their numbers, 0 to 6, packed into two words: the first counts those with the numbers 0 to 3, the second the
/// others, each in four bits. Sums of up to fifteen do not run over.
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

/// What is added to packed counts, so that what is subtracted borrows nothing: [`BORROWED`] each.
const NOTHING_OWED: u32 = 0x8888;
const BORROWED: u32 = 8;

/// The rows beyond two by which a column lies under the lower of its neighbours.
#[inline(always)]
pub(super) fn deep_well<L: Lanes>(left: L, height: L, right: L) -> L {
    left.min(right).sub(height.add(small(2))).max(small(0))
}

impl<L: Lanes> Surface<L> {
    /// Measures a playfield, given by its columns; `pairs` has every bit in the lanes of columns that have a right neighbour.
    #[inline(always)]
    pub fn new(cells: L, pairs: L, width: u32, needs: SurfaceNeeds) -> Self {
        let zero = small::<L>(0);
        let mut surface = Surface {
            needs,
            width,
            heights: [zero; 8],
            steps: [zero; 9],
            spots: [zero; 7],
            replaced: [[zero; 2]; 4],
            left_missing: zero,
            right_missing: zero,
            holes: [zero; 4],
            deep_wells: [zero; 6],
            whole: MeasuredSurface::default(),
        };
        L::apart(LookAtSurface { cells, pairs, surface: &mut surface });
        surface
    }

    /// The features of the playfield itself.
    #[inline(always)]
    pub fn whole(&self) -> &MeasuredSurface {
        &self.whole
    }

    /// Measures all placements of a shape that land on these rows.
    #[inline(always)]
    pub fn sweep(&self, shape: &Shape, rows: L) -> SweptSurface<'_, L> {
        let zero = small::<L>(0);
        let mut swept = SweptSurface {
            whole: &self.whole,
            spots: zero,
            more: Tally::none(),
            less: Tally::none(),
            steps: [zero; 2],
            weighted_holes: zero,
            deep_wells: zero,
            parity: zero,
        };
        L::apart(SweepSurface { surface: self, shape, rows, swept: &mut swept });
        swept
    }
}

/// A look at a playfield; what it finds is written where it belongs.
struct LookAtSurface<'a, L: Lanes> {
    cells: L,
    pairs: L,
    surface: &'a mut Surface<L>,
}

impl<L: Lanes> Apart for LookAtSurface<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let LookAtSurface { cells, pairs, surface } = self;
        let heights = cells.top();
        let whole = &mut surface.whole;
        let zero = small::<L>(0);
        let ones = L::splat(!L::Word::EMPTY);
        let needs = surface.needs;
        let endless = small::<L>(L::Word::BITS);
        let walled = heights.select(!lanes_below(surface.width), endless);
        surface.heights = neighbours(walled, 2, endless);

        if needs.spots {
            let steps = step(walled, walled.next::<1>(endless)).and(pairs);
            let found = spots([steps.previous::<2>(zero), steps.previous::<1>(zero), steps]);
            let missing = ones.and_not(found);
            surface.steps = neighbours(steps, 3, zero);
            surface.spots = neighbours(found, 1, zero);
            surface.left_missing = common_before(missing).previous::<1>(ones);
            surface.right_missing = common_from(missing);
            whole.spots = found.any().to_u64() as u32;
            if needs.counts {
                whole.fits_of[0] = surface.width;
                for spot in 0..NUM_SPOTS {
                    let count = found.and(small(1 << spot)).nonzero().count_ones();
                    for (fits, fitting) in whole.fits_of.iter_mut().zip(FITTING) {
                        *fits += (fitting >> spot & 1) * count;
                    }
                }
            }
        }
        if needs.steps {
            let number = step_number(walled, walled.next::<1>(endless));
            let [first, second] = packed(number);
            let in_pairs = [first.and(pairs), second.and(pairs)];
            for (step, count) in whole.steps.iter_mut().enumerate() {
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
        if needs.weighted_holes {
            // A hole counts the height of its column less its row. The rows are added up bit by bit of their numbers.
            let holes = L::place(1, heights).sub(small(1)).and_not(cells);
            let mut rows = zero;
            let mut bit = L::Word::BITS / 2;
            while bit > 0 {
                // The rows whose number has the bit: 1, 3, 5, ... for the last one.
                let with_bit =
                    L::Word::from_u64(((u64::MAX / ((1 << bit) + 1)) << bit) >> (64 - L::Word::BITS));
                rows = rows.up::<1>().add(holes.and(L::splat(with_bit)).count());
                bit /= 2;
            }
            let num_holes = holes.count();
            surface.holes = neighbours(num_holes, 0, zero);
            whole.weighted_holes = num_holes.times(heights).sub(rows).sum().to_u64() as u32;
        }
        if needs.deep_wells {
            let wells = deep_well(walled.previous::<1>(endless), walled, walled.next::<1>(endless));
            surface.deep_wells = neighbours(wells, 1, zero);
            whole.deep_wells = wells.sum().to_u64() as u32;
        }
        if needs.parity {
            let odd = heights.and(small(1)).nonzero();
            whole.odd_heights = [odd & !ODD_LANES, odd & ODD_LANES].map(u32::count_ones);
        }
    }
}

/// The lanes with an odd number.
const ODD_LANES: u32 = 0xaaaa_aaaa;

/// Every placement of one orientation.
#[derive(Clone, Copy, Debug)]
pub struct SweptSurface<'a, L: Lanes> {
    whole: &'a MeasuredSurface,
    /// The spots that occur.
    spots: L,
    /// How many of each there are more than on the playfield itself, and how many less.
    more: Tally<L>,
    less: Tally<L>,
    /// How many steps there are more, packed, and [`BORROWED`] on top.
    steps: [L; 2],
    /// What is added to those of the playfield itself.
    weighted_holes: L,
    deep_wells: L,
    parity: L,
}

impl<L: Lanes> SweptSurface<'_, L> {
    /// One feature of the afterstates of the lanes that neither clear nor end; the rest is noise.
    #[inline(always)]
    pub fn get(&self, aspect: Aspect) -> L {
        let whole = self.whole;
        let (before, changed) = match aspect {
            Aspect::Accommodated => return self.fitting(0, 7),
            Aspect::Readiness(tetromino) => {
                return self.fitting(tetromino.into(), usize::from(tetromino) + 1);
            }
            Aspect::Fits => (whole.fits(), FITTING_AT_LEAST),
            Aspect::FitsOf(tetromino) => {
                let tetromino = usize::from(tetromino);
                (whole.fits_of[tetromino], [FITTING[tetromino], 0, 0])
            }
            Aspect::Steps(step) => {
                let word = self.steps[usize::from(step / 4)];
                let moved = match step % 4 {
                    0 => word,
                    1 => word.down::<4>(),
                    2 => word.down::<8>(),
                    _ => word.down::<12>(),
                };
                return moved.and(small(15)).add(small(whole.steps[usize::from(step)])).sub(small(BORROWED));
            }
            Aspect::WeightedHoles => return small::<L>(whole.weighted_holes).add(self.weighted_holes),
            Aspect::DeepWells => return small::<L>(whole.deep_wells).add(self.deep_wells),
            Aspect::SurfaceParity => {
                let [even, odd] = whole.odd_heights;
                let balance = small::<L>(even).sub(small(odd)).add(self.parity);
                return balance.max(small::<L>(0).sub(balance));
            }
        };
        let mut count = small::<L>(before);
        for spots in changed {
            if spots == 0 {
                break;
            }
            count = count.add(self.more.of(small(spots))).sub(self.less.of(small(spots)));
        }
        count
    }

    /// How many tetrominoes fit, of some: an I always does.
    #[inline(always)]
    fn fitting(&self, first: usize, past: usize) -> L {
        let mut fitting = small::<L>(u32::from(first == 0));
        for spots in &FITTING[first.max(1)..past] {
            fitting = fitting.add(self.spots.and(small(*spots)).min(small(1)));
        }
        fitting
    }
}

/// A sweep; what it finds is written where it belongs.
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
        // The width as a constant saves time; code for all widths saves code, of which large lanes make much.
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
    /// `width` columns under the piece.
    #[inline(always)]
    fn of_width(self, width: usize) {
        let SweepSurface { surface, shape, rows, swept } = self;
        let needs = surface.needs;
        let zero = small::<L>(0);
        let one = small::<L>(1);
        let ones = L::splat(!L::Word::EMPTY);

        // There is a left pair from lane 1 on, and a right pair up to lane `surface.width - width - 1`.
        let no_left = 1;
        let no_right = !lanes_below(surface.width - width as u32);

        // Columns x - 2 to x + width + 1, with the piece in them.
        let mut heights = surface.heights;
        for j in 0..width {
            heights[j + 2] = rows.add(small(shape.tops[j].into()));
        }

        if needs.spots {
            // The steps from that of the pair (x - 3, x - 2) to that of (x + width + 1, x + width + 2), and the spots from that of
            // (x - 1, x) on.
            let mut steps = surface.steps;
            steps[2] = step(heights[1], heights[2]).select(no_left, zero);
            for j in 1..width {
                let up = i32::from(shape.tops[j]) - i32::from(shape.tops[j - 1]);
                steps[j + 2] = small(1 << (up + 3));
            }
            steps[width + 2] = step(heights[width + 1], heights[width + 2]).select(no_right, zero);

            let untouched = surface.left_missing.and(ahead(surface.right_missing, width + 2, ones));
            let (mut occurring, mut more, mut less) = (ones.and_not(untouched), Tally::none(), Tally::none());
            for i in 0..width + 3 {
                let found = spots([steps[i], steps[i + 1], steps[i + 2]]);
                occurring = occurring.or(found);
                if needs.counts {
                    more.add(found);
                    less.add(surface.spots[i]);
                }
            }
            (swept.spots, swept.more, swept.less) = (occurring, more, less);
        }
        if needs.steps {
            // Those within the shape are the same in all lanes.
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
        if needs.weighted_holes {
            let mut added = zero;
            for j in 0..width {
                // The old holes lie deeper by the gap and by the piece's cells; the new ones, from the top down, one and more
                // rows under these.
                let (bottom, cells) = (shape.bottoms[j], shape.tops[j] - shape.bottoms[j]);
                let gap = rows.add(small(bottom.into())).sub(surface.heights[j + 2]);
                let deeper = gap.add(small(cells.into()));
                let old = surface.holes[j].times(deeper);
                let twice_new = gap.times(gap.add(small(2 * u32::from(cells) + 1)));
                added = added.add(old).add(twice_new.down::<1>());
            }
            swept.weighted_holes = added;
        }
        if needs.deep_wells {
            // The columns from x - 1 to x + width.
            let mut added = zero;
            for i in 0..width + 2 {
                let again = deep_well(heights[i], heights[i + 1], heights[i + 2]);
                added = added.add(again).sub(surface.deep_wells[i]);
            }
            swept.deep_wells = added;
        }
        if needs.parity {
            // Counted from column x, black and white change places in every other lane.
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
