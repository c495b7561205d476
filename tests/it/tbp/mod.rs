//! The Tetris Bot Protocol: places of both kinds against drawings, conversations as text, and games with bots of all manners.

/// What is said and answered, in tests/data/tbp.
mod conversations;
/// Bots that play, and bots that do not.
#[cfg(unix)]
mod hosting;
/// Moves and placements.
mod moves;
/// What stands behind the first move of a suggestion.
mod preferences;
