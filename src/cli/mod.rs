//! The command line: what a person starts, sees, and finds on disk afterwards.
//!
//! One file a subcommand; what several of them share lies beside them. Nothing below this layer
//! reads flags, prints, or names a file.

pub mod large_u64;
pub mod run_folder;
pub mod weights;
