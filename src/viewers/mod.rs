//! Terminal screens and their keys: a game to play, games to watch, a recorded game, and a session of a server.
//!
//! Widgets are functions of a scene and a palette; they know no keys, clock or agent. [`Show`] combines them: all
//! players in a row, as large as the screen allows, and reasons if there is room. A [`TerminalProgram`] draws a screen
//! and reacts to keys and time. This module opens no terminal, reads no clock and calls no server: `cli` does.
//!
//! The surprising decision: there is one layout, and it never scrolls. Parts that do not fit are drawn smaller, then
//! omitted, the least important first. A screen that is too small for the playfields shows an error.

mod aim;
mod board;
mod history;
mod pace;
mod palette;
mod panel;
mod play;
mod program;
mod reasons;
mod replay;
mod session;
mod show;
mod watch;

pub use board::{Board, CellSize};
pub use history::{FrameHistory, LinkState};
pub use palette::{Palette, ScreenCell};
pub use panel::Panel;
pub use play::{MAX_FALL_SPEED, PlayScreen, PlaySetup};
pub use program::TerminalProgram;
pub use reasons::Explained;
pub use replay::ReplayViewer;
pub use session::SessionViewer;
pub use show::{ScreenPlayer, Show};
pub use watch::{WatchScreen, WatchSetup};
