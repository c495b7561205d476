//! The experiments: what was played, and the figures that were printed for it.
//!
//! `document` is what the document or paper says, and nothing else; `since` is what its program, or another one by its rules,
//! gave when it was run again, which is what our figures are held to. Each figure says where it comes from ([`Origin`](super::verdict::Origin)) and
//! how many games are behind it. Where a re-run is kept without the number of its games, that of its neighbours in the same
//! table is taken. Where a document is wrong, the figure says why; that its lines and pieces cannot be true together is not
//! written here but worked out.
//!
//! Sizes are width x height, as everywhere; the Leiden report's own names of them, height first, are in the rows' names.

mod documents;
mod literature;
mod players;
mod row;

use self::documents::{
    genetic, lab, leiden_monte_carlo_50, leiden_monte_carlo_1000, leiden_random, leiden_smart, survey,
};
use self::literature::{cem_szita_lorincz, controllers};
use self::players::{expectation, records};
pub use self::row::{ComparedFigure, Experiment, Linear, Player, Quantity, Row, SearchMethod, SearchPlan};

/// All of them.
pub fn experiments() -> Vec<Experiment> {
    vec![
        leiden_random(),
        leiden_monte_carlo_50(),
        leiden_monte_carlo_1000(),
        leiden_smart(),
        lab(),
        genetic(),
        survey(),
        controllers("controllers-10x10", 10),
        controllers("controllers-10x20", 20),
        cem_szita_lorincz(),
        expectation(),
        records(),
    ]
}
