//! A feature set as the kernel sees it.

use std::sync::Arc;

use super::aspect::Aspect;
use super::ground::{Basis, Ground, LaneBounds, MeasuredCells, Needs};
use super::lanes::Lanes;
use super::modern::Modern;
use super::surface::{MeasuredSurface, Surface, SweptSurface};
use super::sweep::Sweep;
use crate::engine::{Column, Landing, PlayfieldOf, Shape};

/// The features of a set, and what must be measured for them. Clones share one list.
#[derive(Clone, Debug)]
pub struct Slots {
    pub slots: Arc<[Slot]>,
    /// For the placements that clear nothing.
    pub needs: Needs,
    /// For the others, before clearing and after; `None` if nothing is.
    locked_needs: Option<Needs>,
    after_needs: Option<Needs>,
    /// Whether single columns are among the features.
    uses_columns: bool,
    /// Whether the sweeps know all features; else they are measured [together](super::together).
    pub are_swept: bool,
}

impl Slots {
    /// Prepares the features of a set.
    pub fn new(slots: Vec<Slot>) -> Slots {
        let mut needs = Needs::default();
        let (mut locked, mut after) = (None, None);
        for slot in &slots {
            let measured = if slot.preclear { &mut locked } else { &mut after }.get_or_insert_default();
            slot.kind.add_needs(&mut needs);
            slot.kind.add_needs(measured);
        }
        let are_swept = !slots.iter().any(|slot| matches!(slot.kind, KernelFeature::Modern(_)));
        let uses_columns =
            slots.iter().any(|slot| matches!(slot.kind, KernelFeature::Height(_) | KernelFeature::Step(_)));
        Slots {
            slots: slots.into(),
            needs,
            locked_needs: locked,
            after_needs: after,
            uses_columns,
            are_swept,
        }
    }

    /// Measures what the features need beyond a sweep's own values. It is written in place, because it is large.
    #[inline(always)]
    pub fn measure_beyond<'a, L: Lanes>(
        &self,
        swept: &Sweep<L>,
        ground: &Ground<L>,
        surface: &'a Option<Surface<L>>,
        shape: &Shape,
        beyond: &mut Beyond<'a, L>,
    ) {
        if self.uses_columns {
            let none = L::splat(L::Word::EMPTY);
            swept.column_heights(ground, shape, beyond.heights.insert([none; 32]));
        }
        if let Some(surface) = surface {
            beyond.surface = Some(surface.sweep(shape, swept.rows));
        }
    }

    /// Measures the playfields of one landing, before clearing and after.
    #[inline(always)]
    pub fn measure<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &LaneBounds<L>,
        landing: &Landing<C, N>,
    ) -> Measures<L, 2> {
        let playfields = [landing.locked.words(), landing.afterstate.words()];
        let mut measures = Measures { cells: [MeasuredCells::default(); 2], surfaces: [None; 2] };
        // A loop, so that there is one copy of all that is inlined.
        for (at, (needs, words)) in self.stage_needs().into_iter().zip(playfields).enumerate() {
            if let Some(needs) = needs {
                measures.look(at, size, words, *needs);
            }
        }
        measures
    }

    /// What must be measured of a landing before clearing, and what after; `None` if nothing is. Looked at where it lies: copies
    /// of so many small fields are written one by one and read as words, which waits for all of them.
    #[inline(always)]
    pub(super) fn stage_needs(&self) -> [Option<&Needs>; 2] {
        [self.locked_needs.as_ref(), self.after_needs.as_ref()]
    }

    /// Measures a playfield, given by its columns.
    #[inline(always)]
    pub fn measure_playfield<L: Lanes>(
        size: &LaneBounds<L>,
        words: &[L::Word],
        needs: Needs,
    ) -> Measures<L, 1> {
        let mut measures = Measures { cells: [MeasuredCells::default()], surfaces: [None] };
        measures.look(0, size, words, needs);
        measures
    }
}

/// What was measured of some playfields. Surfaces are kept apart, so that sets without them copy nothing of theirs.
pub struct Measures<L: Lanes, const P: usize> {
    cells: [MeasuredCells<L>; P],
    surfaces: [Option<MeasuredSurface>; P],
}

impl<L: Lanes, const P: usize> Measures<L, P> {
    #[inline(always)]
    fn look(&mut self, at: usize, size: &LaneBounds<L>, words: &[L::Word], needs: Needs) {
        self.cells[at] = *Ground::<L>::new(size, words, needs).whole();
        if let Some(surface) = size.surface(words, needs.surface) {
            self.surfaces[at] = Some(*surface.whole());
        }
    }
}

/// What a sweep finds beyond its own values, as far as it was needed.
pub struct Beyond<'a, L: Lanes> {
    /// The height of every column.
    heights: Option<[L; 32]>,
    surface: Option<SweptSurface<'a, L>>,
}

impl<L: Lanes> Beyond<'_, L> {
    /// Nothing so far.
    #[inline(always)]
    pub fn none() -> Self {
        Beyond { heights: None, surface: None }
    }

    #[inline(always)]
    fn height(&self, column: u8) -> L {
        match &self.heights {
            Some(heights) => heights[usize::from(column)],
            None => unreachable!("a feature of a column in a set that uses none"),
        }
    }

    #[inline(always)]
    fn aspect(&self, aspect: Aspect) -> L {
        match &self.surface {
            Some(surface) => surface.get(aspect),
            None => unreachable!("a feature of the surface in a set that has none"),
        }
    }
}

impl KernelFeature {
    /// No value on a playfield of this size is larger; landing height in halves.
    fn largest<L: Lanes>(self, size: &LaneBounds<L>) -> u32 {
        let (width, height) = size.shown();
        match self {
            KernelFeature::Basis(basis) => size.largest(basis),
            KernelFeature::Height(_) | KernelFeature::Step(_) => size.largest(Basis::MaxHeight),
            KernelFeature::Aspect(aspect) => aspect.largest(width, height),
            KernelFeature::Modern(_) => unreachable!("no sweep knows it"),
        }
    }

    /// The feature of a playfield that was measured; 0 if it belongs to a landing.
    #[inline(always)]
    fn of_playfield<C: Column, const N: usize, L: Lanes<Word = C>, const P: usize>(
        self,
        playfield: &PlayfieldOf<C, N>,
        measures: &Measures<L, P>,
        at: usize,
    ) -> u32 {
        let words = playfield.words();
        match self {
            KernelFeature::Basis(basis) => measures.cells[at].get(basis),
            KernelFeature::Height(column) => words[usize::from(column)].top(),
            KernelFeature::Step(column) => {
                words[usize::from(column)].top().abs_diff(words[usize::from(column) + 1].top())
            }
            KernelFeature::Aspect(aspect) => {
                measures.surfaces[at].as_ref().map_or(0, |surface| surface.get(aspect))
            }
            KernelFeature::Modern(_) => unreachable!("no sweep knows it"),
        }
    }

    /// The lanes of this feature in a sweep; landing height in halves.
    #[inline(always)]
    pub(super) fn lanes<L: Lanes>(self, swept: &Sweep<L>, beyond: &Beyond<'_, L>) -> L {
        match self {
            KernelFeature::Basis(basis) => swept.values[basis as usize],
            KernelFeature::Height(column) => beyond.height(column),
            KernelFeature::Step(column) => {
                let (left, right) = (beyond.height(column), beyond.height(column + 1));
                left.max(right).sub(left.min(right))
            }
            KernelFeature::Aspect(aspect) => beyond.aspect(aspect),
            KernelFeature::Modern(_) => unreachable!("no sweep knows it"),
        }
    }
}

/// A feature the kernel can compute, as a column of a feature set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub kind: KernelFeature,
    pub preclear: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelFeature {
    Basis(Basis),
    Height(u8),
    Step(u8),
    Aspect(Aspect),
    Modern(Modern),
}

impl KernelFeature {
    fn add_needs(self, needs: &mut Needs) {
        match self {
            KernelFeature::Basis(Basis::RowTransitions) => needs.row_transitions = true,
            KernelFeature::Basis(Basis::ColumnTransitions | Basis::HoleDepth) => needs.columns = true,
            KernelFeature::Basis(Basis::TotalHeight | Basis::MaxHeight) => needs.heights = true,
            KernelFeature::Basis(Basis::CumulativeWells) => needs.wells = true,
            KernelFeature::Basis(Basis::RowsWithHoles) => needs.rows_with_holes = true,
            KernelFeature::Basis(Basis::PatternDiversity) => needs.diversity = true,
            KernelFeature::Basis(Basis::Bumpiness) => needs.bumpiness = true,
            KernelFeature::Aspect(aspect) => needs.surface.get_or_insert_default().add(aspect),
            KernelFeature::Modern(modern) => needs.modern.add(modern),
            _ => {}
        }
    }
}

impl Slot {
    /// No value on a playfield of this size is larger; landing height in halves.
    pub(super) fn largest<L: Lanes>(&self, size: &LaneBounds<L>) -> f64 {
        self.kind.largest(size).into()
    }

    /// The feature of the playfield that was measured as number `at`; 0 if it belongs to a landing.
    #[inline(always)]
    pub fn of_playfield<C: Column, const N: usize, L: Lanes<Word = C>, const P: usize>(
        self,
        playfield: &PlayfieldOf<C, N>,
        measures: &Measures<L, P>,
        at: usize,
    ) -> f64 {
        self.kind.of_playfield(playfield, measures, at).into()
    }

    /// The feature of one landing, from what [`Slots::measure`] found.
    #[inline(always)]
    pub fn value<C: Column, const N: usize, L: Lanes<Word = C>>(
        self,
        shape: &Shape,
        landing: &Landing<C, N>,
        measures: &Measures<L, 2>,
    ) -> f64 {
        if let Some(value) = self.of_landing(shape, landing) {
            return value;
        }
        let (at, playfield) = if self.preclear { (0, &landing.locked) } else { (1, &landing.afterstate) };
        self.of_playfield(playfield, measures, at)
    }

    /// The feature, if it is one of landings.
    #[inline(always)]
    pub fn of_landing<C: Column, const N: usize>(
        self,
        shape: &Shape,
        landing: &Landing<C, N>,
    ) -> Option<f64> {
        match self.kind {
            KernelFeature::Basis(Basis::LandingHeight) => {
                Some(f64::from(landing.row) + (f64::from(shape.height) - 1.0) / 2.0)
            }
            KernelFeature::Basis(Basis::ErodedPieceCells) => {
                Some(f64::from(landing.lines) * f64::from(landing.vanished_cells))
            }
            KernelFeature::Basis(Basis::LinesCleared) => Some(landing.lines.into()),
            _ => None,
        }
    }
}

impl<L: Lanes> MeasuredCells<L> {
    #[inline(always)]
    fn get(&self, basis: Basis) -> u32 {
        match basis {
            Basis::LandingHeight | Basis::ErodedPieceCells | Basis::LinesCleared => 0,
            Basis::RowTransitions => self.row_transitions,
            Basis::ColumnTransitions => self.column_transitions,
            Basis::Holes => self.holes,
            Basis::CumulativeWells => self.cumulative_wells,
            Basis::HoleDepth => self.hole_depth,
            Basis::RowsWithHoles => self.hole_rows.count(),
            Basis::PatternDiversity => self.differences.count(),
            Basis::TotalHeight => self.total_height,
            Basis::MaxHeight => self.max_height,
            Basis::Bumpiness => self.bumpiness,
        }
    }
}
