//! Any placements on one playfield, measured together.
//!
//! The [sweep](super::sweep) measures straight drops that clear nothing. Where pieces turn and slide into their places, several
//! of them rest in one column, under cells that hang over them. So here lane i is one placement, wherever it is, and a
//! vector is a column of the playfield that it leads to: all of them are put down, cleared and measured at once. Nothing
//! is added up across lanes.
//!
//! It is for playfields on which no landing reaches the upper rows, where the rules may end the game or cut cells off:
//! see [`Together::holds`]. Which placements end the game for other reasons is up to the caller.

use std::sync::Arc;

use super::aspect::{Aspect, SurfaceNeeds};
use super::ground::{Basis, LaneBounds, Needs};
use super::lanes::{Apart, Doubles, Lanes, small};
use super::modern::{Chances, Ways};
use super::scorer::{Scorer, Term};
use super::slots::{KernelFeature, Slots};
use super::spots::{FITTING, spots, step};
use super::stage::{Stage, clear, distance};
use super::surface::deep_well;
use super::{Kernel, LaneWork, dispatch, rows_for};
use crate::engine::{Column, Playfield, PlayfieldOf, Rules, Shape, Spin, Tetromino};
use crate::features::sets::FeatureSet;

/// A feature set, prepared for measuring placements together, and maybe weights for it.
#[derive(Clone, Debug)]
pub struct Together {
    slots: Slots,
    /// The sum that a score is; empty where none is wanted.
    terms: Arc<[Term]>,
}

/// A piece that has come to rest.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// Which.
    pub piece: Tetromino,
    /// Its shape.
    pub shape: &'static Shape,
    /// The row of its lowest cells.
    pub row: u8,
    /// The column of its leftmost cells.
    pub column: u8,
    /// What it counts as.
    pub spin: Spin,
}

/// What was measured, an entry a placement.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The scores, if there are weights.
    pub scores: Vec<f64>,
    /// The feature vectors, row-major, if they are wanted.
    pub features: Vec<f32>,
    /// Lines cleared.
    pub lines: Vec<u8>,
    /// Whether nothing is left of the playfield.
    pub is_empty: Vec<bool>,
}

impl Together {
    /// Prepares a set, or nothing but the landings themselves; and a weight for each feature if scores are wanted. `None` if a
    /// feature is not known here, or a weight is one with which a sum could not be exact.
    ///
    /// # Panics
    /// When there is not one weight a feature.
    pub fn new(set: Option<&FeatureSet>, weights: Option<&[f64]>) -> Option<Together> {
        let slots = set.map_or_else(|| Some(Slots::new(Vec::new())), |set| set.slots().cloned())?;
        let terms = weights.map_or(Some(Vec::new()), |weights| Term::all(&slots, weights, 1.0))?;
        Some(Together { slots, terms: terms.into() })
    }

    /// Prepares the same set and the same weights.
    pub fn like(scorer: &Scorer) -> Together {
        Together { slots: scorer.slots.clone(), terms: scorer.terms.clone() }
    }

    /// Whether placements on this playfield can be measured together: no landing comes to the four upper rows.
    #[inline]
    pub fn holds(rules: &Rules, playfield: &Playfield) -> bool {
        rules.pieces.is_tetrominoes() && playfield.occupied_rows().top() + 8 <= u32::from(rules.height)
    }

    /// Measures placements on a playfield; feature vectors only if they are wanted.
    ///
    /// # Panics
    /// When the playfield is not one that this [`holds`](Together::holds) for, or not of the width of the set.
    pub fn measure(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        rests: &[Rest],
        wants_features: bool,
    ) -> Measured {
        assert!(Together::holds(rules, playfield), "a low stack");
        let rows = rows_for(rules.width, rules.height, playfield.occupied_rows().top());
        let mut measured = Measured {
            scores: Vec::with_capacity(rests.len()),
            features: Vec::with_capacity(if wants_features {
                rests.len() * self.slots.slots.len()
            } else {
                0
            }),
            lines: Vec::with_capacity(rests.len()),
            is_empty: Vec::with_capacity(rests.len()),
        };
        let job =
            MeasureAll { together: self, rules, rows, playfield, rests, wants_features, out: &mut measured };
        dispatch(kernel, rules.width, rows, job);
        measured
    }
}

/// All placements, as many at a time as there are lanes.
struct MeasureAll<'a> {
    together: &'a Together,
    rules: &'a Rules,
    rows: u8,
    playfield: &'a Playfield,
    rests: &'a [Rest],
    wants_features: bool,
    out: &'a mut Measured,
}

impl LaneWork for MeasureAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) {
        let MeasureAll { together, rules, rows, playfield, rests, wants_features, out } = self;
        let size = LaneBounds::<L>::lowered(rules.width, rules.height, rows);
        let playfield: PlayfieldOf<C, N> = playfield.with_height(rows);
        for rests in rests.chunks(L::LANES) {
            L::apart(MeasureLanes::<L, N> {
                together,
                size: &size,
                words: playfield.words(),
                rests,
                wants_features,
                out,
            });
        }
    }
}

/// A placement a lane.
struct MeasureLanes<'a, L: Lanes, const N: usize> {
    together: &'a Together,
    size: &'a LaneBounds<L>,
    words: &'a [L::Word; N],
    rests: &'a [Rest],
    wants_features: bool,
    out: &'a mut Measured,
}

impl<L: Lanes, const N: usize> Apart for MeasureLanes<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let MeasureLanes { together, size, words, rests, wants_features, out } = self;
        let width = size.width as usize;
        let zero = small::<L>(0);
        let count = rests.len();

        // The cells of the pieces by column, then by lane.
        let mut pieces = [[L::Word::EMPTY; 32]; N];
        let mut landing_heights = [L::Word::EMPTY; 32];
        let mut spins = [Spin::None; 32];
        let mut ts = 0;
        for (lane, rest) in rests.iter().enumerate() {
            let row = u32::from(rest.row);
            // All four columns that a shape may have: those beyond its width have no cells.
            for j in 0..4 {
                let cells = L::Word::from_u64(rest.shape.column_bits(j).into()) << row;
                pieces[(usize::from(rest.column) + j) % N][lane] = cells;
            }
            landing_heights[lane] = L::Word::from_u64((2 * row + u32::from(rest.shape.height) - 1).into());
            spins[lane] = rest.spin;
            ts |= u32::from(rest.piece == Tetromino::T) << lane;
        }

        let mut columns = [zero; N];
        let mut full = L::splat(size.wall);
        for ((column, word), piece) in columns.iter_mut().zip(words).zip(&pieces).take(width) {
            *column = L::splat(*word).or(L::load(piece));
            full = full.and(*column);
        }
        let lines = full.count();
        let mut vanished = zero;
        if lines.nonzero() != 0 {
            for piece in pieces.iter().take(width) {
                vanished = vanished.add(L::load(piece).and(full).count());
            }
        }

        // Before clearing and after.
        let mut stages = [Stage::<L, N>::none(); 2];
        let mut beyond = [Beyond::<L>::none(); 2];
        let mut left = zero;
        for (at, needs) in together.slots.stage_needs().into_iter().enumerate() {
            if at == 1 {
                clear(&mut columns[..width], full);
                for column in &columns[..width] {
                    left = left.or(*column);
                }
            }
            let stage = &mut stages[at];
            if let Some(needs) = needs {
                stage.measure(size, &columns, needs);
                beyond[at].measure(size, &columns, &stage.heights, needs);
            }
            let values = &mut stage.values;
            values[Basis::LandingHeight as usize] = L::load(&landing_heights);
            values[Basis::LinesCleared as usize] = lines;
            values[Basis::ErodedPieceCells as usize] = lines.times(vanished);
        }
        let empty = !left.nonzero();
        let ways = Ways::of(lines, &spins[..count], ts, empty);
        let found = Found { stages: &stages, beyond: &beyond, ways: &ways };

        let mut words = [L::Word::EMPTY; 32];
        lines.store(&mut words);
        out.lines.extend(words[..count].iter().map(|lines| lines.to_u64() as u8));
        out.is_empty.extend((0..count).map(|lane| empty >> lane & 1 == 1));
        if !together.terms.is_empty() {
            let mut scores = L::Doubles::splat(0.0);
            for term in together.terms.iter() {
                scores = found.lanes(term.kind, term.preclear).accumulate(scores, term.weight);
            }
            for lane in 0..count {
                out.scores.push(scores.lane(lane));
            }
        }
        if wants_features {
            let num_features = together.slots.slots.len();
            let from = out.features.len();
            out.features.resize(from + count * num_features, 0.0);
            let rows = &mut out.features[from..];
            for (at, slot) in together.slots.slots.iter().enumerate() {
                found.lanes(slot.kind, slot.preclear).store(&mut words);
                let unit = if slot.kind == KernelFeature::Basis(Basis::LandingHeight) { 0.5 } else { 1.0 };
                let column = rows.iter_mut().skip(at).step_by(num_features);
                for (value, word) in column.zip(&words) {
                    *value = word.to_u64() as u32 as i32 as f32 * unit;
                }
            }
        }
    }
}

/// All that was measured, before clearing and after. It is large, so it stays where it was written.
struct Found<'a, L: Lanes, const N: usize> {
    stages: &'a [Stage<L, N>; 2],
    beyond: &'a [Beyond<L>; 2],
    ways: &'a Ways<L>,
}

impl<L: Lanes, const N: usize> Found<'_, L, N> {
    /// One feature.
    #[inline(always)]
    fn lanes(&self, kind: KernelFeature, preclear: bool) -> L {
        let at = usize::from(!preclear);
        match kind {
            KernelFeature::Modern(modern) => match self.ways.lanes(modern) {
                Some(lanes) => lanes,
                None => self.beyond[at].chances.lanes(modern),
            },
            KernelFeature::Aspect(aspect) => self.beyond[at].aspect(aspect, &self.stages[at].steps),
            _ => self.stages[at].lanes(kind),
        }
    }
}

/// What a [`Stage`] does not measure.
#[derive(Clone, Copy)]
struct Beyond<L: Lanes> {
    chances: Chances<L>,
    /// The spots that occur.
    spots: L,
    fits_of: [L; 7],
    weighted_holes: L,
    deep_wells: L,
    parity: L,
}

impl<L: Lanes> Beyond<L> {
    /// Nothing measured yet.
    #[inline(always)]
    fn none() -> Self {
        let zero = small::<L>(0);
        let chances = Chances::none();
        Beyond {
            chances,
            spots: zero,
            fits_of: [zero; 7],
            weighted_holes: zero,
            deep_wells: zero,
            parity: zero,
        }
    }

    #[inline(always)]
    fn measure<const N: usize>(
        &mut self,
        size: &LaneBounds<L>,
        columns: &[L; N],
        heights: &[L; N],
        needs: &Needs,
    ) {
        let width = size.width as usize;
        self.chances.measure(size.wall, &columns[..width], heights, needs.modern);
        if let Some(needs) = needs.surface {
            self.measure_surface(&columns[..width], &heights[..width], needs);
        }
    }

    #[inline(always)]
    fn measure_surface(&mut self, columns: &[L], heights: &[L], needs: SurfaceNeeds) {
        let (zero, one) = (small::<L>(0), small::<L>(1));
        if needs.spots {
            if needs.counts {
                // Beside its spots, an upright I fits on every column.
                self.fits_of[0] = small(columns.len() as u32);
            }
            let mut steps = [zero; 3];
            for pair in heights.windows(2) {
                steps = [steps[1], steps[2], step(pair[0], pair[1])];
                let found = spots(steps);
                self.spots = self.spots.or(found);
                if needs.counts {
                    for (fits, fitting) in self.fits_of.iter_mut().zip(FITTING) {
                        *fits = fits.add(found.and(small(fitting)).count());
                    }
                }
            }
        }
        if needs.weighted_holes {
            for (&column, &height) in columns.iter().zip(heights) {
                let under = L::place(1, height).sub(one);
                // A hole counts once in its own row and in every row above it, up to the top of its column.
                let mut holes = under.and_not(column);
                while holes.nonzero() != 0 {
                    self.weighted_holes = self.weighted_holes.add(holes.count());
                    holes = holes.up::<1>().and(under);
                }
            }
        }
        if needs.deep_wells {
            let endless = small::<L>(L::Word::BITS);
            for (x, &height) in heights.iter().enumerate() {
                let left = if x == 0 { endless } else { heights[x - 1] };
                let right = heights.get(x + 1).copied().unwrap_or(endless);
                self.deep_wells = self.deep_wells.add(deep_well(left, height, right));
            }
        }
        if needs.parity {
            let mut odd = [zero; 2];
            for (x, height) in heights.iter().enumerate() {
                odd[x % 2] = odd[x % 2].add(height.and(one));
            }
            self.parity = distance(odd[0], odd[1]);
        }
    }

    /// 1 where a tetromino fits; an I fits everywhere.
    #[inline(always)]
    fn fits(&self, tetromino: usize) -> L {
        let one = small::<L>(1);
        if tetromino == 0 { one } else { self.spots.and(small(FITTING[tetromino])).min(one) }
    }

    /// One feature of the surface; the steps have been counted.
    #[inline(always)]
    fn aspect(&self, aspect: Aspect, steps: &[L; 7]) -> L {
        let zero = small::<L>(0);
        match aspect {
            Aspect::Accommodated => {
                let mut sum = zero;
                for tetromino in 0..7 {
                    sum = sum.add(self.fits(tetromino));
                }
                sum
            }
            Aspect::Readiness(tetromino) => self.fits(tetromino.into()),
            Aspect::Fits => {
                let mut sum = zero;
                for fits in self.fits_of {
                    sum = sum.add(fits);
                }
                sum
            }
            Aspect::FitsOf(tetromino) => self.fits_of[usize::from(tetromino)],
            Aspect::Steps(step) => steps[usize::from(step)],
            Aspect::WeightedHoles => self.weighted_holes,
            Aspect::DeepWells => self.deep_wells,
            Aspect::SurfaceParity => self.parity,
        }
    }
}
