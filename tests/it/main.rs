//! One test binary, one module a theme.

/// Perft tables and drawings: the engine against counts made by others.
mod rules;

/// The cross-entropy search finds its maximum, and takes the same path every time.
mod cem;

/// So does the genetic algorithm.
mod genetic;
