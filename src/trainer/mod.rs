//! The reference agent: it trains controllers as a client of a server, and keeps what it finds in folders.
//!
//! It knows nothing of terminals and flags.

pub mod expectation;
pub mod found;
pub mod games;
pub mod large_u64;
pub mod model;
pub mod rules;
pub mod run_folder;
pub mod score;
pub mod weights;
