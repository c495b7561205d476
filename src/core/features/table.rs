//! The table of features: name, formula, source and function of each, and its counterpart in the kernels.
//!
//! All differences between features are in this table. Names are for callers only.

use super::kernel::feature::KernelFeature;
use super::seen::Seen;
use super::{bertsekas, dellacherie, lab, lee, leiden, modern, surface, survey, thiery};
use crate::engine::Playfield;

/// Input and form of a feature's function.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// One number for a landing, without a `_preclear` form.
    Landing(fn(&Seen<'_>) -> f64),
    /// Seven numbers for a landing: a family of seven features at any width, without `_preclear` forms.
    LandingSeven(fn(&Seen<'_>, usize) -> f64),
    /// One number for a playfield.
    Playfield(fn(&Playfield) -> u32),
    /// One number for a playfield from a slower search, such as flooding it or trying all tetrominoes.
    Search(fn(&Playfield) -> u32),
    /// One number per column of a playfield: a family with one feature per column.
    Column(fn(&Playfield, usize) -> u32),
    /// One number per column and its right neighbour: a family with one feature fewer than columns.
    Pair(fn(&Playfield, usize) -> u32),
    /// Seven numbers for a playfield: a family of seven features at any width.
    Seven(fn(&Playfield, usize) -> u32),
}

/// One row of the table of features.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Name of the feature; for a family, without `[i]`.
    pub name: &'static str,
    /// Formula, in half a sentence.
    pub formula: &'static str,
    /// Paper or program in which the feature appeared.
    pub source: &'static str,
    /// Function that measures the feature.
    pub measure: Measure,
    /// Whether the feature is about the seven tetrominoes: where they fit, spins of the T, lines sent, or the anchors
    /// around which they turn. Games with other pieces lack it.
    pub tetrominoes_only: bool,
    /// The feature in the kernels; `None` if they do not support it.
    pub(super) kernel: Option<KernelFeature>,
}

impl Feature {
    /// The feature or family with this name, without `[i]` and `_preclear`.
    pub fn named(name: &str) -> Option<&'static Feature> {
        FEATURES.iter().find(|feature| feature.name == name)
    }

    /// The name as in lists of a set's members, with `[i]` appended for a family.
    pub(super) fn pattern(&self) -> String {
        let index = if self.is_family() { "[i]" } else { "" };
        format!("{}{index}", self.name)
    }

    /// Whether the row stands for several features, each with an index.
    pub(super) fn is_family(&self) -> bool {
        matches!(
            self.measure,
            Measure::Column(_) | Measure::Pair(_) | Measure::Seven(_) | Measure::LandingSeven(_)
        )
    }

    /// Number of features in a family at this width; `None` for a single feature.
    pub fn family_size(&self, width: u8) -> Option<u8> {
        match self.measure {
            Measure::Landing(_) | Measure::Playfield(_) | Measure::Search(_) => None,
            Measure::Column(_) => Some(width),
            Measure::Pair(_) => Some(width - 1),
            Measure::Seven(_) | Measure::LandingSeven(_) => Some(7),
        }
    }

    /// Whether the feature belongs to a landing. If so, it has no `_preclear` form and is 0 for a playfield without a
    /// landing.
    pub fn is_of_landing(&self) -> bool {
        matches!(self.measure, Measure::Landing(_) | Measure::LandingSeven(_))
    }

    /// Whether the kernels measure the feature.
    pub fn is_on_kernels(&self) -> bool {
        self.kernel.is_some()
    }

    /// Value of the feature for a playfield; 0 for a feature of a landing. `index` counts a family's members; others
    /// ignore it.
    pub fn of_playfield(&self, playfield: &Playfield, index: u8) -> f64 {
        match self.measure {
            Measure::Landing(_) | Measure::LandingSeven(_) => 0.0,
            Measure::Playfield(measure) | Measure::Search(measure) => measure(playfield).into(),
            Measure::Column(measure) | Measure::Pair(measure) | Measure::Seven(measure) => {
                measure(playfield, index.into()).into()
            }
        }
    }
}

const DELLACHERIE: &str = "Dellacherie 2003; Thiery and Scherrer 2009";
const THIERY: &str = "Thiery and Scherrer 2009";
const GABILLON: &str = "Gabillon, Ghavamzadeh and Scherrer 2013";
const BERTSEKAS: &str = "Bertsekas and Ioffe 1996; Bertsekas and Tsitsiklis 1996";
const LEE: &str = "Lee 2013; course notebook";
const LAB: &str = "course notebook";
const LAB_REPORT: &str = "report on the course notebook";
const LAB_VARIANT: &str = "reading of the course notebook";
const SURVEY: &str = "Tetris AI survey notebook, as coded";
const LEIDEN: &str = "report with Monte-Carlo and heuristic agents, Leiden";
const TETRION: &str = "this project";

/// All features, in the order of the catalog. A family has one row.
pub static FEATURES: &[Feature] = &[
    Feature {
        name: "landing_height",
        formula: "row of the piece's lowest cell + (piece height - 1) / 2, before clearing, floor row 0",
        source: DELLACHERIE,
        measure: Measure::Landing(dellacherie::landing_height),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::LandingHeight),
    },
    Feature {
        name: "eroded_piece_cells",
        formula: "lines cleared x cells of the landed piece that vanished",
        source: DELLACHERIE,
        measure: Measure::Landing(dellacherie::eroded_piece_cells),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::ErodedPieceCells),
    },
    Feature {
        name: "lines_cleared",
        formula: "lines cleared by the landing",
        source: "El-Ashi 2011; Lee 2013; course notebook",
        measure: Measure::Landing(lee::lines_cleared),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::LinesCleared),
    },
    Feature {
        name: "rows_sunk",
        formula: "rows that sank into the ground with the landing, under top-out `sink`; else 0",
        source: "this project, for Melax' reduced Tetris (1998), where they are what a game is about",
        measure: Measure::Landing(lee::rows_sunk),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "row_transitions",
        formula: "changes full/empty along all rows, walls full",
        source: DELLACHERIE,
        measure: Measure::Playfield(dellacherie::row_transitions),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::RowTransitions),
    },
    Feature {
        name: "column_transitions",
        formula: "changes full/empty along all columns, floor full, sky empty",
        source: DELLACHERIE,
        measure: Measure::Playfield(dellacherie::column_transitions),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::ColumnTransitions),
    },
    Feature {
        name: "holes",
        formula: "empty cells with a full cell above them in the column",
        source: DELLACHERIE,
        measure: Measure::Playfield(dellacherie::holes),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::Holes),
    },
    Feature {
        name: "cumulative_wells",
        formula: "for every empty cell between two full ones (walls full; it may be covered), the empty cells from it \
                  down to the first full one",
        source: DELLACHERIE,
        measure: Measure::Playfield(dellacherie::cumulative_wells),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::CumulativeWells),
    },
    Feature {
        name: "hole_depth",
        formula: "full cells with an empty cell below them in the column",
        source: THIERY,
        measure: Measure::Playfield(thiery::hole_depth),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::HoleDepth),
    },
    Feature {
        name: "rows_with_holes",
        formula: "rows with at least one hole",
        source: THIERY,
        measure: Measure::Playfield(thiery::rows_with_holes),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::RowsWithHoles),
    },
    Feature {
        name: "pattern_diversity",
        formula: "how many of -2, -1, 0, 1, 2 occur among the steps from a column's height to the next",
        source: GABILLON,
        measure: Measure::Playfield(thiery::pattern_diversity),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::PatternDiversity),
    },
    Feature {
        name: "total_height",
        formula: "sum of the column heights",
        source: LEE,
        measure: Measure::Playfield(lee::total_height),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::TotalHeight),
    },
    Feature {
        name: "max_height",
        formula: "height of the highest column",
        source: BERTSEKAS,
        measure: Measure::Playfield(bertsekas::max_height),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::MaxHeight),
    },
    Feature {
        name: "bumpiness",
        formula: "sum of the height differences between neighbouring columns, without signs",
        source: LEE,
        measure: Measure::Playfield(lee::bumpiness),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::Bumpiness),
    },
    Feature {
        name: "full_rows",
        formula: "rows with every cell full; after clearing there are none, unless the game ended by overflowing",
        source: LEE,
        measure: Measure::Playfield(lee::full_rows),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "column_height",
        formula: "row just above the highest full cell of column i, 0 if empty",
        source: BERTSEKAS,
        measure: Measure::Column(bertsekas::column_height),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::ColumnHeight),
    },
    Feature {
        name: "height_difference",
        formula: "difference between the heights of columns i and i + 1, without its sign",
        source: BERTSEKAS,
        measure: Measure::Pair(bertsekas::height_difference),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::HeightDifference),
    },
    Feature {
        name: "landing_height_lab",
        formula: "row of the anchor cell the piece is turned around, before clearing, floor row 1",
        source: LAB,
        measure: Measure::Landing(lab::landing_height_lab),
        tetrominoes_only: true,
        kernel: None,
    },
    Feature {
        name: "landing_height_mid",
        formula: "mean of the rows of the piece's lowest and highest cells, before clearing, floor row 1",
        source: LAB_VARIANT,
        measure: Measure::Landing(lab::landing_height_mid),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "landing_height_hint",
        formula: "rows below the piece + piece height / 2, before clearing",
        source: LAB_VARIANT,
        measure: Measure::Landing(lab::landing_height_hint),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "landing_height_survey",
        formula: "row of the piece's lowest cell + piece height + (piece height - 1) / 2, before clearing, floor row 0",
        source: SURVEY,
        measure: Measure::Landing(survey::landing_height_survey),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "landing_top",
        formula: "row of the piece's highest cell, before clearing, floor row 0",
        source: LEIDEN,
        measure: Measure::Landing(leiden::landing_top),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "row_transitions_survey",
        formula: "changes full/empty along all rows, no walls",
        source: SURVEY,
        measure: Measure::Playfield(survey::row_transitions_survey),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "column_transitions_lab",
        formula: "changes full/empty along all columns, floor full, sky full",
        source: LAB,
        measure: Measure::Playfield(lab::column_transitions_lab),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "column_transitions_survey",
        formula: "changes full/empty along all columns, neither floor nor sky",
        source: SURVEY,
        measure: Measure::Playfield(survey::column_transitions_survey),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "hole_depth_lab",
        formula: "for every hole, the full cells above it in the column",
        source: LAB,
        measure: Measure::Playfield(lab::hole_depth_lab),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "hole_runs",
        formula: "vertical runs of holes",
        source: SURVEY,
        measure: Measure::Playfield(survey::hole_runs),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "holes_enclosed",
        formula: "holes that no path of empty cells joins to the sky",
        source: LAB_VARIANT,
        measure: Measure::Search(lab::holes_enclosed),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "wells_lab",
        formula: "1 + 2 + ... + n for the n open well cells of every column (between two full cells, nothing above)",
        source: LAB,
        measure: Measure::Playfield(lab::wells_lab),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "wells_runs",
        formula: "1 + 2 + ... + n for every unbroken run of n open well cells",
        source: LAB_VARIANT,
        measure: Measure::Playfield(lab::wells_runs),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "wells_open",
        formula: "for every open well cell, the empty cells from it down to the first full one",
        source: LAB_VARIANT,
        measure: Measure::Playfield(lab::wells_open),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "wells_survey",
        formula: "1 + 2 + ... + n for the n open well cells directly on the surface of every column",
        source: SURVEY,
        measure: Measure::Playfield(survey::wells_survey),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "wells_heights",
        formula: "1 + 2 + ... + d for every column d rows below the lower of its neighbours, walls infinitely high",
        source: LAB_REPORT,
        measure: Measure::Playfield(lab::wells_heights),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "open_shafts",
        formula: "in every column, rows from the surface up to and including the highest open well cell",
        source: LEIDEN,
        measure: Measure::Playfield(leiden::open_shafts),
        tetrominoes_only: false,
        kernel: None,
    },
    Feature {
        name: "accommodated",
        formula: "how many of the seven tetrominoes fit somewhere: an orientation can rest there so that every column of it \
                  touches the surface, whatever the height of the playfield",
        source: TETRION,
        measure: Measure::Search(surface::accommodated),
        tetrominoes_only: true,
        kernel: Some(KernelFeature::Accommodated),
    },
    Feature {
        name: "readiness",
        formula: "1 if tetromino i of I O T Z S J L fits somewhere as in accommodated, else 0",
        source: TETRION,
        measure: Measure::Seven(surface::readiness),
        tetrominoes_only: true,
        kernel: Some(KernelFeature::Readiness),
    },
    Feature {
        name: "fits",
        formula: "in how many ways the seven tetrominoes fit as in accommodated: pairs of an orientation and a column",
        source: TETRION,
        measure: Measure::Search(surface::fits),
        tetrominoes_only: true,
        kernel: Some(KernelFeature::Fits),
    },
    Feature {
        name: "fits_of",
        formula: "in how many ways tetromino i of I O T Z S J L fits as in accommodated: pairs of an orientation and a \
                  column",
        source: TETRION,
        measure: Measure::Seven(surface::fits_of),
        tetrominoes_only: true,
        kernel: Some(KernelFeature::FitsOf),
    },
    Feature {
        name: "steps",
        formula: "pairs of neighbouring columns whose step from the left height to the right one is i - 3; for i = 0 also \
                  further down, for i = 6 also further up",
        source: TETRION,
        measure: Measure::Seven(surface::steps),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::Steps),
    },
    Feature {
        name: "weighted_holes",
        formula: "for every hole, the rows from it up to the top of its column: column height - row of the hole",
        source: TETRION,
        measure: Measure::Playfield(surface::weighted_holes),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::WeightedHoles),
    },
    Feature {
        name: "deep_wells",
        formula: "for every column, the rows beyond two by which it lies below the lower of its neighbours, walls infinitely \
                  high",
        source: TETRION,
        measure: Measure::Playfield(surface::deep_wells),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::DeepWells),
    },
    Feature {
        name: "surface_parity",
        formula: "size of the sum of (-1)^i x (height of column i modulo 2): how far black and white cells of a chessboard \
                  are out of balance under the surface",
        source: TETRION,
        measure: Measure::Playfield(surface::surface_parity),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::SurfaceParity),
    },
    Feature {
        name: "clears",
        formula: "1 if the landing clears lines in way i, else 0: ways 0 to 3 are one to four lines without a full spin, ways 4 \
                  to 6 one to three lines by a full spin",
        source: TETRION,
        measure: Measure::LandingSeven(modern::clears),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::Clears),
    },
    Feature {
        name: "base_attack",
        formula: "lines that the landing sends by itself: 1, 2, 4 for two, three, four lines, 2, 4, 6 for one, two, three by a \
                  full spin, 0, 1 for one, two by a mini, 10 in place of these if nothing is left; no combo, no back-to-back",
        source: "attack tables of Jstris and Cold Clear",
        measure: Measure::Landing(modern::base_attack),
        tetrominoes_only: true,
        kernel: Some(KernelFeature::BaseAttack),
    },
    Feature {
        name: "idle_t",
        formula: "1 if the landed piece is a T that clears nothing by a full spin, else 0",
        source: "this project, after Cold Clear",
        measure: Measure::Landing(modern::idle_t),
        tetrominoes_only: true,
        kernel: Some(KernelFeature::IdleT),
    },
    Feature {
        name: "ready_rows",
        formula: "rows one above the other, from the surface of a column up, that lack the cell of that column only; the most \
                  of any column: with 4 of them, an I clears four lines",
        source: TETRION,
        measure: Measure::Playfield(modern::ready_rows),
        tetrominoes_only: false,
        kernel: Some(KernelFeature::ReadyRows),
    },
    Feature {
        name: "spin_slots",
        formula: "places where a T that points down would make a full spin: its four cells empty, both cells beside its lower \
                  one full, and of the cells above its other two ends one full, the other one open to the sky, as is its \
                  middle",
        source: "this project, after Cold Clear",
        measure: Measure::Playfield(modern::spin_slots),
        tetrominoes_only: true,
        kernel: Some(KernelFeature::SpinSlots),
    },
    Feature {
        name: "spin_slot_rows",
        formula: "rows, 0 to 2, that a T in one of the spin_slots would fill; the most of any",
        source: "this project, after Cold Clear",
        measure: Measure::Playfield(modern::spin_slot_rows),
        tetrominoes_only: true,
        kernel: Some(KernelFeature::SpinSlotRows),
    },
    Feature {
        name: "perfect_clear_near",
        formula: "columns - the fewest tetrominoes that may fill the lowest n rows, n up to 4: no cell lies above these rows, \
                  and each connected region of empty cells in them has a multiple of four cells; 0 if there is no such n, or \
                  with more than 15 columns",
        source: TETRION,
        measure: Measure::Search(modern::perfect_clear_near),
        tetrominoes_only: true,
        kernel: None,
    },
];
