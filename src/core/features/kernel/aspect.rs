//! The features of a surface by name, and which parts of the work each needs. [`surface`](super::surface) and
//! [`together`](super::together) compute them.

/// A feature of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // they are named as in the table of features
pub enum Aspect {
    Accommodated,
    Readiness(u8),
    Fits,
    FitsOf(u8),
    Steps(u8),
    WeightedHoles,
    DeepWells,
    SurfaceParity,
}

impl Aspect {
    /// No value on a playfield of this size is larger.
    pub fn largest(self, width: u32, height: u32) -> u32 {
        match self {
            Aspect::Accommodated => 7,
            Aspect::Readiness(_) => 1,
            // A column bears an upright I, a step and those before it at most seven more.
            Aspect::Fits | Aspect::FitsOf(_) => 8 * width,
            Aspect::Steps(_) | Aspect::SurfaceParity => width,
            Aspect::WeightedHoles => width * height * (height + 1) / 2,
            Aspect::DeepWells => width * height,
        }
    }
}

/// Which parts of the work the caller needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurfaceNeeds {
    pub(super) spots: bool,
    /// How many there are of each spot, too.
    pub(super) counts: bool,
    pub(super) steps: bool,
    pub(super) weighted_holes: bool,
    pub(super) deep_wells: bool,
    pub(super) parity: bool,
}

impl SurfaceNeeds {
    /// Adds what a feature needs.
    pub fn add(&mut self, aspect: Aspect) {
        match aspect {
            Aspect::Accommodated | Aspect::Readiness(_) => self.spots = true,
            Aspect::Fits | Aspect::FitsOf(_) => (self.spots, self.counts) = (true, true),
            Aspect::Steps(_) => self.steps = true,
            Aspect::WeightedHoles => self.weighted_holes = true,
            Aspect::DeepWells => self.deep_wells = true,
            Aspect::SurfaceParity => self.parity = true,
        }
    }

    /// Whether the counts of steps are all that is needed.
    pub fn are_steps(self) -> bool {
        self == SurfaceNeeds { steps: true, ..SurfaceNeeds::default() }
    }
}
