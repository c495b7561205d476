//! The features that agents see: numbers with a name, a formula and a source.
//!
//! A feature is a function of a landing or of a playfield. Features of a landing (where the piece came to rest, what it
//! cleared) are measured before clearing by definition. Features of a playfield exist twice. With their plain name they
//! are measured on the afterstate, as in the research literature. With `_preclear` appended, they are measured on the
//! playfield that contains the piece and its full rows, as in some teaching material. Weights fit only one of the two.
//!
//! [`FEATURES`] is the only table of features, [`FEATURE_SETS`] the only table of named lists. A [`FeatureSet`] is such
//! a list, or a caller's own, resolved for one width. The functions are in one file per source.
//!
//! The surprising decision: every feature is an integer or a half; most have an integer type. So each is exact in an
//! f32, and sums of them are equal in any order.
//!
//! These functions are the reference: simple, for one playfield at a time. Faster implementations must agree with them
//! bit for bit.

mod bertsekas;
mod dellacherie;
mod lab;
mod lee;
mod leiden;
mod low_cells;
mod modern;
mod surface;
mod survey;
mod thiery;

pub mod kernel;
mod named_sets;
mod seen;
mod sets;
mod table;

pub(crate) use low_cells::LowCells;
pub(crate) use modern::spin_slot_rows;
pub use named_sets::{FEATURE_SETS, NamedSet};
pub use seen::Seen;
pub use sets::{FeatureColumn, FeatureError, FeatureSet, MAX_COLUMNS};
pub use table::{FEATURES, Feature, Measure};
