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
//! exact in an f32, and sums of them come out the same in any order. Products of two features are whole numbers too, and exact
//! in an f64.
//!
//! These functions are the reference: plain, one playfield at a time. Faster ways of finding the same numbers must agree
//! with them bit for bit.

pub mod bertsekas;
pub mod dellacherie;
pub mod lab;
pub mod lee;
pub mod leiden;
pub mod modern;
pub mod surface;
pub mod survey;
pub mod thiery;

pub mod kernel;
mod named_sets;
mod seen;
mod sets;
mod table;

pub use named_sets::{FEATURE_SETS, NamedSet};
pub use seen::Seen;
pub use sets::{FeatureColumn, FeatureError, FeatureSet, MAX_COLUMNS};
pub use table::{FEATURES, Feature, Measure};
