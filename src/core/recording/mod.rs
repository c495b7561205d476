//! Games that were played: written down, played again, looked at.
//!
//! A [`Recording`] is rules, where the pieces came from, and actions: the engine makes the same game of them, on every machine.
//! Beside them stand the lines of every landing and how the game ended, so that a replay can be checked. A [`Recorder`] makes
//! one, action by action, and takes actions back. A [`Replay`] walks through one, forward and back.
//!
//! The engine's playfield knows full and empty cells only. Here the cells know which piece they came from: a
//! [`Course`] is a game with its colours, and a [`Scene`] is all that a viewer draws of it.
//!
//! This module knows no files, no messages, no colours of a screen, and not who played.
//!
//! The surprising decision: a replay plays the whole game once before anything is shown. So it knows how far it can be walked,
//! and walking never fails.

mod cells;
mod course;
mod record;
mod recorder;
mod replay;
mod scene;
mod timeline;

pub use cells::{Cell, Cells, SceneCells, remaining, risen};
pub use course::{ActionRefused, Course};
pub use record::{Outcome, Pieces, Recording, RecordingError, Setup};
pub use recorder::Recorder;
pub use replay::{Difference, Replay};
pub use scene::{CurrentPiece, Scene};
