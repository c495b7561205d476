//! One test binary, one module a theme.

/// Perft tables and drawings: the engine against counts made by others.
mod rules;
