//! The experiments: rows to play, with their printed figures.
//!
//! `document` is the figure in the document or paper, unchanged; `since` is the figure of a new run of that program, or of
//! another program under the same rules, and is the reference for ours. Each figure has its origin
//! ([`Origin`](super::verdict::Origin)) and its number of games. If the number of games of a re-run is unknown, its neighbours'
//! number in the same table is used. If a document is wrong, the figure says why; lines and pieces that contradict each other
//! are detected by a computation.
//!
//! Sizes are width x height, as everywhere; the names of the rows keep the Leiden report's own notation, height first.

mod documents;
mod literature;
mod players;
mod row;

use self::documents::{
    genetic, lab, leiden_monte_carlo_50, leiden_monte_carlo_1000, leiden_random, leiden_smart,
    leiden_weights, survey,
};
use self::literature::{cem_szita_lorincz, controllers};
use self::players::{expectation, records};
pub use self::row::{
    ComparedFigure, Experiment, ExperimentRow, Linear, Quantity, RowPlayer, SearchMethod, SearchPlan,
};

/// All experiments of the tables.
pub fn experiments() -> Vec<Experiment> {
    vec![
        leiden_random(),
        leiden_monte_carlo_50(),
        leiden_monte_carlo_1000(),
        leiden_smart(),
        leiden_weights(),
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
