//! Formulas: a score for a placement, written as text.
//!
//! A formula names features of the placement and a few facts about the game, and computes one number from them:
//! `-4.5 * holes - max(0, max_height - 12)^2`. [`compile`] reads the text under the rules of a game. A weighted sum of
//! features becomes [weights](Formula::Weights), which the kernels know; any other formula becomes a [`Program`], which
//! scores many placements at once. `docs/formulas.md` is the language on one page.
//!
//! This module knows names and numbers of features and the rules of the game, and no agents, games or requests.
//! Everything is bounded before it runs: the length of the text, its nesting, and the cost of a placement.
//!
//! The surprising decision: the text is checked while it is read, and never becomes a tree. Each part becomes a node of
//! a graph at once, so equal parts are computed once, and no later pass can run out of stack. The parser is our own:
//! parser libraries recurse for every operator without a bound, and their errors name neither the kind of a part nor
//! the name that was meant.

mod batch;
mod bounds;
mod error;
mod graph;
mod lexer;
mod op;
mod parser;
mod program;
mod state;
mod words;

pub(crate) use batch::Batch;
pub use bounds::{MAX_BYTES, MAX_COST, MAX_DEPTH};
pub use error::FormulaError;
pub use program::{Formula, Program};
pub(crate) use state::State;

use crate::engine::Rules;

/// Reads a formula for games under these rules.
///
/// # Errors
/// The first mistake in the text, with its position.
pub fn compile(text: &str, rules: &Rules) -> Result<Formula, FormulaError> {
    parser::parse(text, rules)
}
