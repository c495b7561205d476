//! The features that the kernels support, and sets of them.
//!
//! A [`KernelFeature`] with an index (0 outside families) is one number. The files that measure it define how: for a
//! [whole playfield](super::base), for all [straight drops](super::sweep) of one orientation, and for [playfields side
//! by side](super::playfield_lanes).
//!
//! [`NeededFeatures`] is the set of features to measure. Every part of the work checks whether one of the features that
//! it computes is in the set.

/// A feature or a family of features, with the name in the table of features.
///
/// Arrays of values have this order: first the features that every sweep measures, then the other single numbers of a
/// playfield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum KernelFeature {
    /// The unit is one half.
    LandingHeight,
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

    WeightedHoles,
    DeepWells,
    SurfaceParity,
    Accommodated,
    Fits,
    ReadyRows,
    SpinSlots,
    SpinSlotRows,

    ColumnHeight,
    HeightDifference,
    Readiness,
    FitsOf,
    Steps,

    ErodedPieceCells,
    LinesCleared,
    BaseAttack,
    IdleT,
    Clears,
}

use KernelFeature::*;

/// Number of features that every sweep measures; they come first.
pub(crate) const NUM_SWEPT: usize = Bumpiness as usize + 1;

/// Number of features that are a single number of a playfield; they come first.
pub(crate) const NUM_SINGLE: usize = SpinSlotRows as usize + 1;

/// The features for which a sweep needs a [surface](super::surface).
const OF_SURFACE: [KernelFeature; 8] =
    [WeightedHoles, DeepWells, SurfaceParity, Accommodated, Fits, Readiness, FitsOf, Steps];

/// The features about where tetrominoes fit.
pub(crate) const OF_FITS: [KernelFeature; 4] = [Accommodated, Fits, Readiness, FitsOf];

/// The features that no sweep measures, because no straight drop needs them.
const UNSWEPT: [KernelFeature; 6] = [ReadyRows, SpinSlots, SpinSlotRows, BaseAttack, IdleT, Clears];

impl KernelFeature {
    /// Whether the feature belongs to a landing.
    pub(crate) fn is_of_landing(self) -> bool {
        matches!(self, LandingHeight | ErodedPieceCells | LinesCleared | BaseAttack | IdleT | Clears)
    }

    /// Unit in which the kernels count the feature.
    pub(crate) fn unit(self) -> f32 {
        if self == LandingHeight { 0.5 } else { 1.0 }
    }

    /// Upper bound on the values in a sweep of a playfield of this size, in units. `rows` includes hidden rows.
    pub(crate) fn largest(self, width: u32, height: u32, rows: u32) -> u32 {
        match self {
            LandingHeight | MaxHeight | RowsWithHoles | ColumnHeight | HeightDifference => 2 * rows + 8,
            CumulativeWells | WeightedHoles => width * height * (height + 1) / 2,
            DeepWells => width * height,
            Steps | SurfaceParity => width,
            Accommodated => 7,
            Readiness => 1,
            // A column supports an upright I. A step, with the steps before it, supports at most seven more placements.
            Fits | FitsOf => 8 * width,
            _ => (width + 1) * (rows + 1),
        }
    }
}

/// A set of features to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NeededFeatures(u32);

impl NeededFeatures {
    /// Adds a feature, or a whole family.
    pub(crate) fn add(&mut self, feature: KernelFeature) {
        self.0 |= 1 << feature as u32;
    }

    /// Whether a feature is in the set.
    #[inline(always)]
    pub(crate) fn has(self, feature: KernelFeature) -> bool {
        self.0 >> feature as u32 & 1 == 1
    }

    /// Whether the set contains at least one of the features.
    #[inline(always)]
    pub(crate) fn any<const K: usize>(self, features: [KernelFeature; K]) -> bool {
        let mut mask = 0;
        for feature in features {
            mask |= 1 << feature as u32;
        }
        self.0 & mask != 0
    }

    /// Whether the set is empty.
    #[inline(always)]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set needs the heights of single columns.
    #[inline(always)]
    pub(crate) fn columns(self) -> bool {
        self.any([ColumnHeight, HeightDifference])
    }

    /// Whether sweeps need a surface for this set.
    #[inline(always)]
    pub(crate) fn surface(self) -> bool {
        self.any(OF_SURFACE)
    }

    /// Whether sweeps measure all features in the set.
    pub(crate) fn are_swept(self) -> bool {
        !self.any(UNSWEPT)
    }
}
