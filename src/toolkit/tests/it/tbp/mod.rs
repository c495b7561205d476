//! The Tetris Bot Protocol: conversations with a bot, and how both sides write moves.

mod conversations;
mod moves;
mod preferences;
