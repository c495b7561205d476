//! The screens of `tetrion play` and `tetrion watch`: what they draw, and the terminal they draw it on.
//!
//! Widgets are functions of a scene and a palette; they know no keys, no clock and no agent. [`Show`] puts them together: every
//! player in a row, as large as the screen allows, the reasons where there is room. [`terminal`] owns the terminal, and
//! is the only file that does.
//!
//! The surprising decision: there is one layout, and it never scrolls. What does not fit is drawn smaller, then left out from
//! the least important on; a screen that is too small for the playfields themselves says so.

pub mod board;
pub mod palette;
pub mod panel;
pub mod reasons;
pub mod show;
pub mod terminal;

pub use board::{Board, CellSize};
pub use palette::{Palette, ScreenCell};
pub use panel::Panel;
pub use reasons::Explained;
pub use show::{Seat, Show};
