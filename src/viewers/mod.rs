//! What a person sees in a terminal, and what the keys do: a game to play, games to watch, a session of a server.
//!
//! Widgets are functions of a scene and a palette; they know no keys, no clock and no agent. [`Show`] puts them together: every
//! player in a row, as large as the screen allows, and reasons where there is room. A [`Program`] draws a screen and reacts to
//! keys and to time that passes. This room opens no terminal, reads no clock and calls no server: `cli` does.
//!
//! The surprising decision: there is one layout, and it never scrolls. What does not fit is drawn smaller, then left out from
//! the least important on; a screen that is too small for the playfields themselves says so.

mod aim;
mod board;
mod kept;
mod palette;
mod panel;
mod play;
mod program;
mod reasons;
mod session;
mod show;
mod watch;

pub use board::{Board, CellSize};
pub use kept::{Kept, Link};
pub use palette::{Palette, ScreenCell};
pub use panel::Panel;
pub use play::{MAX_FALL_SPEED, Play, PlaySetup};
pub use program::Program;
pub use reasons::Explained;
pub use session::SessionViewer;
pub use show::{Seat, Show};
pub use watch::{Watch, WatchSetup};
