//! What an agent sees: numbers with a name, a formula and a source.
//!
//! A feature is a function of a landing or of a playfield. The features of a landing (where the piece came to rest, what
//! it cleared) are taken before clearing by definition. The features of a playfield exist twice: under their plain name
//! they are taken of the afterstate, as the research literature does; with `_preclear` appended, of the playfield with the
//! piece in it and full rows still there, as some teaching material does. Weights are only good under their own rule.
//!
//! [`FEATURES`] is the one table of them all, [`FEATURE_SETS`] the one table of lists with a name. A [`FeatureSet`] is such
//! a list, or a caller's own, spelled out for one width. The functions lie in one file a source.
//!
//! The surprising decision: every feature is a whole number or a half, which its type says for all but a few. So each is
//! exact in an f32, and sums of them come out the same in any order.
//!
//! These functions are the reference: plain, one playfield at a time. Faster ways of finding the same numbers must agree
//! with them bit for bit.

pub mod bertsekas;
pub mod dellacherie;
pub mod lab;
pub mod lee;
pub mod leiden;
pub mod survey;
pub mod thiery;

pub mod kernel;
mod sets;

pub use sets::{FEATURE_SETS, FeatureColumn, FeatureError, FeatureSet, MAX_COLUMNS, NamedSet};

use crate::engine::{Landing, Playfield, Shape};

/// A landing, as the features see it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The shape that came to rest.
    pub shape: &'a Shape,
    /// What its placement did.
    pub landing: &'a Landing<u64, 32>,
}

/// How a feature is measured, and of what.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// Of a landing, once: no `_preclear` form.
    Landing(fn(&Seen<'_>) -> f64),
    /// Of a playfield, once.
    Playfield(fn(&Playfield) -> u32),
    /// Of each column of a playfield: a family of as many features as there are columns.
    Column(fn(&Playfield, usize) -> u32),
    /// Of each column and its right neighbour: a family of one feature less.
    Pair(fn(&Playfield, usize) -> u32),
}

/// One row of the table of features.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Its name; for a family the name of all of them, without `[i]`.
    pub name: &'static str,
    /// What it is, in half a sentence.
    pub formula: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// How it is measured.
    pub measure: Measure,
}

impl Feature {
    /// The feature or the family of this name, without `[i]` and `_preclear`.
    pub fn named(name: &str) -> Option<&'static Feature> {
        FEATURES.iter().find(|feature| feature.name == name)
    }

    /// Its name, with `[i]` behind that of a family: how a set's members are listed.
    fn pattern(&self) -> String {
        let index = if matches!(self.measure, Measure::Column(_) | Measure::Pair(_)) { "[i]" } else { "" };
        format!("{}{index}", self.name)
    }

    /// How many features of a playfield of this width the row stands for; `None` for a single one without an index.
    pub fn family_size(&self, width: u8) -> Option<u8> {
        match self.measure {
            Measure::Landing(_) | Measure::Playfield(_) => None,
            Measure::Column(_) => Some(width),
            Measure::Pair(_) => Some(width - 1),
        }
    }

    /// Whether it belongs to a landing, so that it has no `_preclear` form and is 0 for a playfield nothing landed on.
    pub fn is_of_landing(&self) -> bool {
        matches!(self.measure, Measure::Landing(_))
    }

    /// Its value for a playfield; 0 if it belongs to a landing.
    fn of_playfield(&self, playfield: &Playfield, index: u8) -> f64 {
        match self.measure {
            Measure::Landing(_) => 0.0,
            Measure::Playfield(measure) => measure(playfield).into(),
            Measure::Column(measure) | Measure::Pair(measure) => measure(playfield, index.into()).into(),
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

/// Every feature there is.
pub static FEATURES: &[Feature] = &[
    Feature {
        name: "landing_height",
        formula: "row of the piece's lowest cell + (piece height - 1) / 2, before clearing, floor row 0",
        source: DELLACHERIE,
        measure: Measure::Landing(dellacherie::landing_height),
    },
    Feature {
        name: "eroded_piece_cells",
        formula: "lines cleared x cells of the landed piece that vanished",
        source: DELLACHERIE,
        measure: Measure::Landing(dellacherie::eroded_piece_cells),
    },
    Feature {
        name: "lines_cleared",
        formula: "lines cleared by the landing",
        source: "El-Ashi 2011; Lee 2013; course notebook",
        measure: Measure::Landing(lee::lines_cleared),
    },
    Feature {
        name: "row_transitions",
        formula: "changes full/empty along all rows, walls full",
        source: DELLACHERIE,
        measure: Measure::Playfield(dellacherie::row_transitions),
    },
    Feature {
        name: "column_transitions",
        formula: "changes full/empty along all columns, floor full, sky empty",
        source: DELLACHERIE,
        measure: Measure::Playfield(dellacherie::column_transitions),
    },
    Feature {
        name: "holes",
        formula: "empty cells with a full cell above them in the column",
        source: DELLACHERIE,
        measure: Measure::Playfield(dellacherie::holes),
    },
    Feature {
        name: "cumulative_wells",
        formula: "for every empty cell between two full ones (walls full; it may be covered), the empty cells from it \
                  down to the first full one",
        source: DELLACHERIE,
        measure: Measure::Playfield(dellacherie::cumulative_wells),
    },
    Feature {
        name: "hole_depth",
        formula: "full cells with an empty cell below them in the column",
        source: THIERY,
        measure: Measure::Playfield(thiery::hole_depth),
    },
    Feature {
        name: "rows_with_holes",
        formula: "rows with at least one hole",
        source: THIERY,
        measure: Measure::Playfield(thiery::rows_with_holes),
    },
    Feature {
        name: "pattern_diversity",
        formula: "how many of -2, -1, 0, 1, 2 occur among the steps from a column's height to the next",
        source: GABILLON,
        measure: Measure::Playfield(thiery::pattern_diversity),
    },
    Feature {
        name: "total_height",
        formula: "sum of the column heights",
        source: LEE,
        measure: Measure::Playfield(lee::total_height),
    },
    Feature {
        name: "max_height",
        formula: "height of the highest column",
        source: BERTSEKAS,
        measure: Measure::Playfield(bertsekas::max_height),
    },
    Feature {
        name: "bumpiness",
        formula: "sum of the height differences between neighbouring columns, without signs",
        source: LEE,
        measure: Measure::Playfield(lee::bumpiness),
    },
    Feature {
        name: "full_rows",
        formula: "rows with every cell full; after clearing there are none, unless the game ended by overflowing",
        source: LEE,
        measure: Measure::Playfield(lee::full_rows),
    },
    Feature {
        name: "column_height",
        formula: "row just above the highest full cell of column i, 0 if empty",
        source: BERTSEKAS,
        measure: Measure::Column(bertsekas::column_height),
    },
    Feature {
        name: "height_difference",
        formula: "difference between the heights of columns i and i + 1, without its sign",
        source: BERTSEKAS,
        measure: Measure::Pair(bertsekas::height_difference),
    },
    Feature {
        name: "landing_height_lab",
        formula: "row of the anchor cell the piece is turned around, before clearing, floor row 1",
        source: LAB,
        measure: Measure::Landing(lab::landing_height_lab),
    },
    Feature {
        name: "landing_height_mid",
        formula: "mean of the rows of the piece's lowest and highest cells, before clearing, floor row 1",
        source: LAB_VARIANT,
        measure: Measure::Landing(lab::landing_height_mid),
    },
    Feature {
        name: "landing_height_hint",
        formula: "rows below the piece + piece height / 2, before clearing",
        source: LAB_VARIANT,
        measure: Measure::Landing(lab::landing_height_hint),
    },
    Feature {
        name: "landing_height_survey",
        formula: "row of the piece's lowest cell + piece height + (piece height - 1) / 2, before clearing, floor row 0",
        source: SURVEY,
        measure: Measure::Landing(survey::landing_height_survey),
    },
    Feature {
        name: "landing_top",
        formula: "row of the piece's highest cell, before clearing, floor row 0",
        source: LEIDEN,
        measure: Measure::Landing(leiden::landing_top),
    },
    Feature {
        name: "row_transitions_survey",
        formula: "changes full/empty along all rows, no walls",
        source: SURVEY,
        measure: Measure::Playfield(survey::row_transitions_survey),
    },
    Feature {
        name: "column_transitions_lab",
        formula: "changes full/empty along all columns, floor full, sky full",
        source: LAB,
        measure: Measure::Playfield(lab::column_transitions_lab),
    },
    Feature {
        name: "column_transitions_survey",
        formula: "changes full/empty along all columns, neither floor nor sky",
        source: SURVEY,
        measure: Measure::Playfield(survey::column_transitions_survey),
    },
    Feature {
        name: "hole_depth_lab",
        formula: "for every hole, the full cells above it in the column",
        source: LAB,
        measure: Measure::Playfield(lab::hole_depth_lab),
    },
    Feature {
        name: "hole_runs",
        formula: "vertical runs of holes",
        source: SURVEY,
        measure: Measure::Playfield(survey::hole_runs),
    },
    Feature {
        name: "holes_enclosed",
        formula: "holes that no path of empty cells joins to the sky",
        source: LAB_VARIANT,
        measure: Measure::Playfield(lab::holes_enclosed),
    },
    Feature {
        name: "wells_lab",
        formula: "1 + 2 + ... + n for the n open well cells of every column (between two full cells, nothing above)",
        source: LAB,
        measure: Measure::Playfield(lab::wells_lab),
    },
    Feature {
        name: "wells_runs",
        formula: "1 + 2 + ... + n for every unbroken run of n open well cells",
        source: LAB_VARIANT,
        measure: Measure::Playfield(lab::wells_runs),
    },
    Feature {
        name: "wells_open",
        formula: "for every open well cell, the empty cells from it down to the first full one",
        source: LAB_VARIANT,
        measure: Measure::Playfield(lab::wells_open),
    },
    Feature {
        name: "wells_survey",
        formula: "1 + 2 + ... + n for the n open well cells directly on the surface of every column",
        source: SURVEY,
        measure: Measure::Playfield(survey::wells_survey),
    },
    Feature {
        name: "wells_heights",
        formula: "1 + 2 + ... + d for every column d rows below the lower of its neighbours, walls infinitely high",
        source: LAB_REPORT,
        measure: Measure::Playfield(lab::wells_heights),
    },
    Feature {
        name: "open_shafts",
        formula: "in every column, rows from the surface up to and including the highest open well cell",
        source: LEIDEN,
        measure: Measure::Playfield(leiden::open_shafts),
    },
];
