//! A feature set in the kernels' form, and how to read its features from measurements.

use std::sync::Arc;

use super::base::{CellCounts, SweepBase};
use super::bounds::LaneBounds;
use super::feature::{KernelFeature, NeededFeatures};
use super::surface::{Surface, SurfaceCounts, SweptSurface};
use super::sweep::Sweep;
use crate::engine::lanes::{Lanes, distance, small};
use crate::engine::{Column, Landing, PlayfieldOf, Shape};

/// A column of a feature set whose feature the kernels support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelColumn {
    pub feature: KernelFeature,
    /// Index in a family, 0 for a single feature.
    pub index: u8,
    /// Whether the feature is measured before clearing.
    pub preclear: bool,
}

/// A feature set, and what to measure for it. Clones share one list.
#[derive(Clone, Debug)]
pub(crate) struct KernelSet {
    pub columns: Arc<[KernelColumn]>,
    /// All features, for placements that clear nothing.
    pub needs: NeededFeatures,
    /// Features of the playfield before and after clearing, for placements that clear lines.
    pub needs_of_landing: [NeededFeatures; 2],
}

impl KernelSet {
    /// Prepares the columns of a set.
    pub(crate) fn new(columns: Vec<KernelColumn>) -> KernelSet {
        let (mut needs, mut needs_of_landing) = (NeededFeatures::default(), [NeededFeatures::default(); 2]);
        for column in &columns {
            needs.add(column.feature);
            if !column.feature.is_of_landing() {
                needs_of_landing[column.stage()].add(column.feature);
            }
        }
        KernelSet { columns: columns.into(), needs, needs_of_landing }
    }

    /// Measures the playfields of a landing, before and after clearing.
    #[inline(always)]
    pub(crate) fn measure<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &LaneBounds<L>,
        landing: &Landing<C, N>,
    ) -> [PlayfieldCounts<L>; 2] {
        let playfields = [landing.locked.words(), landing.afterstate.words()];
        let mut counts = [PlayfieldCounts::none(), PlayfieldCounts::none()];
        // A loop, so that all inlined code exists once.
        for ((counts, words), needs) in counts.iter_mut().zip(playfields).zip(self.needs_of_landing) {
            if !needs.is_empty() {
                counts.measure(size, words, needs);
            }
        }
        counts
    }
}

impl KernelColumn {
    /// Index of the playfield on which the feature is measured: 0 before clearing, 1 after.
    #[inline(always)]
    pub(crate) fn stage(self) -> usize {
        usize::from(!self.preclear)
    }

    /// The value of the feature for a landing, in the kernels' units, given the results of [`KernelSet::measure`].
    #[inline(always)]
    pub(crate) fn value<C: Column, const N: usize, L: Lanes<Word = C>>(
        self,
        shape: &Shape,
        landing: &Landing<C, N>,
        counts: &[PlayfieldCounts<L>; 2],
    ) -> u32 {
        if let Some(value) = self.of_landing(shape, landing) {
            return value;
        }
        let playfield = if self.preclear { &landing.locked } else { &landing.afterstate };
        counts[self.stage()].get(playfield, self)
    }

    /// The value of the feature for the landing of a straight drop, in the kernels' units, if it is one of a landing.
    #[inline(always)]
    pub(crate) fn of_landing<C: Column, const N: usize>(
        self,
        shape: &Shape,
        landing: &Landing<C, N>,
    ) -> Option<u32> {
        let lines = u32::from(landing.lines);
        match self.feature {
            KernelFeature::LandingHeight => Some(2 * u32::from(landing.row) + u32::from(shape.height) - 1),
            KernelFeature::ErodedPieceCells => Some(lines * u32::from(landing.vanished_cells)),
            KernelFeature::LinesCleared => Some(lines),
            _ => None,
        }
    }
}

/// The features of one playfield, as numbers. Features that were not measured are 0.
pub(crate) struct PlayfieldCounts<L: Lanes> {
    cells: CellCounts<L::Word>,
    surface: Option<SurfaceCounts>,
}

impl<L: Lanes> PlayfieldCounts<L> {
    /// An empty value, before anything is measured.
    #[inline(always)]
    pub(crate) fn none() -> Self {
        PlayfieldCounts { cells: CellCounts::default(), surface: None }
    }

    /// Measures a playfield from its columns.
    #[inline(always)]
    pub(crate) fn measure(&mut self, size: &LaneBounds<L>, words: &[L::Word], needs: NeededFeatures) {
        self.cells = SweepBase::<L>::new(size, words, needs).counts;
        if let Some(surface) = size.surface(words, needs) {
            self.surface = Some(surface.counts);
        }
    }

    /// The value of a column of the set; 0 for a feature of a landing.
    #[inline(always)]
    pub(crate) fn get<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        column: KernelColumn,
    ) -> u32 {
        let height = |x: usize| playfield.words()[x].top();
        let x = usize::from(column.index);
        match column.feature {
            KernelFeature::ColumnHeight => height(x),
            KernelFeature::HeightDifference => height(x).abs_diff(height(x + 1)),
            feature => match (self.cells.get(feature), &self.surface) {
                (Some(count), _) => count,
                (None, Some(surface)) => surface.get(feature, column.index),
                (None, None) => 0,
            },
        }
    }
}

/// The features in a sweep that not every sweep measures.
pub(crate) struct SweepExtras<'a, L: Lanes> {
    /// The height of every column.
    heights: Option<[L; 32]>,
    surface: Option<SweptSurface<'a, L>>,
}

impl<'a, L: Lanes> SweepExtras<'a, L> {
    /// An empty value, before anything is measured.
    #[inline(always)]
    pub(crate) fn none() -> Self {
        SweepExtras { heights: None, surface: None }
    }

    /// Measures the needed features in place, because the result is large.
    #[inline(always)]
    pub(crate) fn measure(
        &mut self,
        swept: &Sweep<L>,
        base: &SweepBase<L>,
        surface: &'a Option<Surface<L>>,
        shape: &Shape,
        needs: NeededFeatures,
    ) {
        if needs.columns() {
            let none = L::splat(L::Word::EMPTY);
            swept.column_heights(base, shape, self.heights.insert([none; 32]));
        }
        if let Some(surface) = surface {
            self.surface = Some(surface.sweep(shape, swept.rows));
        }
    }

    /// The values of a feature, one per lane. Features that were not measured are 0.
    #[inline(always)]
    pub(crate) fn lanes(&self, swept: &Sweep<L>, column: KernelColumn) -> L {
        let x = usize::from(column.index);
        match (column.feature, &self.heights, &self.surface) {
            (KernelFeature::ColumnHeight, Some(heights), _) => heights[x],
            (KernelFeature::HeightDifference, Some(heights), _) => distance(heights[x], heights[x + 1]),
            (feature, _, surface) => match (swept.values.get(feature as usize), surface) {
                (Some(value), _) => *value,
                (None, Some(surface)) => surface.get(feature, column.index),
                (None, None) => small(0),
            },
        }
    }
}
